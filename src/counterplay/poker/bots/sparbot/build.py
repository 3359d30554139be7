"""Building the bot: buckets, chance, the pre-flop model, seven post-flop models, one table over the
real betting tree.

Published: the pre-flop model's strategy gives the joint probability of hands at the start of each
post-flop model; the bot is hard-wired never to fold before the flop. Chosen here: some of every
hand stays in these probabilities (`TREMBLE`), since the real opponent need not play as the model
does; and the fourth bet of a round, which the models do not know, is heard as if the third had been
called, so that the bot always calls it and never makes it.

Built once, in the store (`core/base/store.py`) under its `parameters`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Cached, Piece
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction import sparbot as view_rules
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.sparbot import BUCKETS, N_BUCKETS
from counterplay.poker.betting.betting import LIMIT, Betting, betting_tree
from counterplay.poker.bots.sparbot import chance as chance_rules
from counterplay.poker.bots.sparbot import model as model_rules
from counterplay.poker.bots.sparbot import solve as solve_rules
from counterplay.poker.bots.sparbot.chance import Chance, sparbot_chance
from counterplay.poker.bots.sparbot.model import (
    COLUMN,
    ThreeRounds,
    make_model,
    policy_rows,
)
from counterplay.poker.bots.sparbot.solve import Solved, solve, starting_pot
from counterplay.poker.bots.sparbot.split import split_buckets, split_rows
from counterplay.poker.cards.tables import strengths
from counterplay.poker.holdem.table import Table, new_table

TREMBLE = 0.25  # so often a player is taken to have come to the flop with any hand
CARRY = (
    0,
    0,
    N_BUCKETS,
    N_BUCKETS,
)  # the bucket before the flop is forgotten, the later ones are remembered

#: The fourth bet of a round, which the models do not know: called always; answered as the third;
#: or called, and also made with the strongest class of hands, or with the two strongest.
CALLED, AS_THIRD = "called", "answered as the third"
MADE, MADE_BY_TWO = "made with the strongest", "made with the two strongest"
CAPPING = {MADE: 1, MADE_BY_TWO: 2}  # classes of hands


@dataclass(frozen=True)
class Choices:
    """What was never published; `benchmarks/sparbot_search.py` tries other values."""

    borders: view_rules.Borders = field(default_factory=view_rules.Borders)
    tremble: float = field(default_factory=lambda: TREMBLE)
    leaf_bets: float = field(default_factory=lambda: model_rules.LEAF_BETS)
    fourth: str = CALLED
    split: bool = False  # buckets while playing (split.py)
    deals: int = chance_rules.N_DEALS
    target: float = solve_rules.TARGET


Policies = dict[str, np.ndarray]  # by model history: float64[paths, 3]


class ModelRecord(NamedTuple):
    """How well a model is solved."""

    history: str
    pot: float
    exploitability: float
    iterations: int


def parameters() -> dict[str, Any]:
    """Everything that was chosen."""
    return {
        **view_rules.parameters(),
        "deals": chance_rules.N_DEALS,
        "seed": chance_rules.SEED,
        "leaf_bets": model_rules.LEAF_BETS,
        "target": solve_rules.TARGET,
        "tremble": TREMBLE,
    }


def sparbot_table(progress: ProgressCallback = no_progress) -> Table:
    """The bot: from memory, from disk, or built now (about a minute on two cores)."""
    return TABLE.get(progress)


def _make(progress: ProgressCallback) -> Table:
    (first_row, policy), buckets, _ = build_sparbot(progress)
    return new_table(buckets, first_row, np.array(CARRY), policy)


def _unpack(piece: Piece) -> Table | None:
    if set(piece.arrays) != {"first_row", "policy"}:
        return None
    arrays = piece.arrays
    return new_table(BUCKETS.get(), arrays["first_row"], np.array(CARRY), arrays["policy"])


TABLE = Cached(
    "sparbot stays",
    "sparbot",
    (__name__,),
    make=_make,
    pack=lambda made: Piece(None, {"first_row": made.first_row, "policy": made.policy}),
    unpack=_unpack,
    recipe=parameters,
)


def build_sparbot(
    progress: ProgressCallback = no_progress,
) -> tuple[tuple[np.ndarray, np.ndarray], Buckets, list[ModelRecord]]:
    """(first_row, policy), the buckets and how well each model is solved."""
    strengths(lambda share, what: progress(0.0, f"hand strengths: {what}"))
    buckets = BUCKETS.get(lambda share, what: progress(0.15 * share, "buckets"))
    chance = sparbot_chance(buckets, lambda share: progress(0.15 + 0.15 * share, "chance"))
    policies, records = solve_models(chance, lambda share, what: progress(0.3 + 0.69 * share, what))
    return real_rows(policies, N_BUCKETS), buckets, records


def chosen_policies(buckets: Buckets, choices: Choices) -> Policies:
    """Strategies of the models of other choices over these buckets, which are its own."""
    n = choices.borders.n_buckets
    chance = sparbot_chance(buckets, n_buckets=n, deals=choices.deals)
    return solve_models(chance, choices=choices)[0]


def chosen_table(buckets: Buckets, policies: Policies, choices: Choices) -> Table:
    """A bot of other choices."""
    n = choices.borders.n_buckets
    first_row, policy = real_rows(policies, n, choices.fourth, choices.split)
    if choices.split:
        buckets, n = split_buckets(buckets, strengths()), 2 * n
    return new_table(buckets, first_row, np.array([0, 0, n, n]), policy)


def solve_models(
    chance: Chance, progress: ProgressCallback = no_progress, choices: Choices | None = None
) -> tuple[Policies, list[ModelRecord]]:
    """Strategies of the pre-flop model before the flop and of the post-flop models after it."""
    chosen = choices or Choices()
    model = make_model(LIMIT.start(), chance.first, chance, chosen.leaf_bets)
    answer = solve(
        model, chosen.target, progress=lambda share: progress(share / 8, "pre-flop model")
    )
    policies = {h: never_fold(rows) for h, rows in _all_rows(model, answer).items() if "/" not in h}
    records = [_record(model, answer)]
    models = [
        make_model(start, flop_prior(start.history, policies, chance, chosen.tremble), chance)
        for start in flop_starts()
    ]
    with ThreadPoolExecutor(cores()) as pool:
        jobs = {pool.submit(solve, model, chosen.target): model for model in models}
        for done, _ in enumerate(as_completed(jobs), 2):
            progress(done / 8, "post-flop models")
    for job, model in jobs.items():
        policies |= _all_rows(model, job.result())
        records.append(_record(model, job.result()))
    return policies, records


def flop_starts() -> list[Betting]:
    """The seven ways to come to the flop."""
    return [state for state in betting_tree(LIMIT).states if state.round == 1 and state.acted == 0]


def never_fold(rows: np.ndarray) -> np.ndarray:
    """What would be folded is called."""
    fold, call = COLUMN["fold"], COLUMN["call"]
    kept = rows.copy()
    kept[:, call] += kept[:, fold]
    kept[:, fold] = 0.0
    return kept


def flop_prior(
    history: str, policies: Policies, chance: Chance, tremble: float = TREMBLE
) -> np.ndarray:
    """float64[n, n]: joint probability of the flop buckets after a pre-flop history, both
    players following the policies."""
    n = len(chance.first)
    reach = np.ones((2, n))
    state = LIMIT.start()
    for letter in history.rstrip("/"):
        action = next(a for a in state.actions() if a[0] == letter)
        reach[state.player()] *= policies[state.history][:, COLUMN[action]]
        state = state.child(action)
    reach = tremble + (1.0 - tremble) * reach
    joint = np.einsum("ab,abcd->cd", chance.first * np.outer(reach[0], reach[1]), chance.step[0])
    return np.asarray(joint / joint.sum())


def real_rows(
    policies: Policies, n_buckets: int, fourth: str = CALLED, split: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """first_row and policy of a `Table`: real nodes that sound alike to the models share their
    rows."""
    starts, rows = {}, []
    always_call = np.zeros((n_buckets**3, len(COLUMN)))
    always_call[:, COLUMN["call"]] = 1.0
    known = {"": policies[""], **policies, "fourth bet": always_call}
    if classes := CAPPING.get(fourth, 0):
        known = {h: _cap(b, n_buckets, classes) if _third(h) else b for h, b in known.items()}
    if split:
        known = {history: split_rows(block, n_buckets) for history, block in known.items()}
    filled = 0
    for history, block in known.items():
        starts[history] = filled
        rows.append(block)
        filled += len(block)
    states = betting_tree(LIMIT).states
    first_row = np.zeros(len(states), dtype=np.int64)
    for node, state in enumerate(states):
        if not state.over:
            heard = state.history.replace("rrrr", "rrr")
            called = state.round > 0 and state.capped and fourth != AS_THIRD
            first_row[node] = starts["fourth bet" if called else heard]
    return first_row, np.concatenate(rows)


def _third(history: str) -> bool:
    """Whether somebody faces the third bet of a round after the flop."""
    return "/" in history and history.endswith("rrr")


def _cap(rows: np.ndarray, n_buckets: int, classes: int) -> np.ndarray:
    """What would be called with the strongest classes is raised. On the river the strongest is
    the last bucket, before it the last but one."""
    kept = rows.copy()
    paths = np.arange(len(kept))
    street = round(np.log(len(kept)) / np.log(n_buckets))
    best = n_buckets - 1 if street == 3 else n_buckets - 2
    strong = (paths % n_buckets <= best) & (paths % n_buckets > best - classes)
    kept[strong, COLUMN["raise"]] += kept[strong, COLUMN["call"]]
    kept[strong, COLUMN["call"]] = 0.0
    return kept


def _all_rows(model: ThreeRounds, answer: Solved) -> Policies:
    own = np.split(answer.policy, [int(model.form.one.first[-1])])
    return {history: policy_rows(at, own[at.player]) for history, at in model.decision.items()}


def _record(model: ThreeRounds, answer: Solved) -> ModelRecord:
    return ModelRecord(
        model.start.history, starting_pot(model), answer.exploitability, answer.iterations
    )
