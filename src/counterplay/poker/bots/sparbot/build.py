"""Building the bot: buckets, chance, the pre-flop model, seven post-flop models, and one table over
the full betting tree.

Published: the pre-flop model's strategy gives the joint probability of buckets at the start of each
post-flop model; the bot never folds before the flop. Chosen here: every bucket keeps some
probability (`TREMBLE`), since the opponent need not play as the model does; and the fourth bet of a
round, which the models lack, is always called and never made.

Bucket splitting is an option of the original while it plays. Published: a bucket is split in halves
by strength, and the mixing shifted so that the bucket's totals are unchanged. Chosen here: shifted
as far as possible, so that the stronger half raises first and the weaker half folds first; halves
have equal numbers of deals.

The table is built once and kept in the store (`core/base/store.py`) under its `parameters`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Cached, Piece
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction import sparbot as abstraction
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.ehs import river_deals
from counterplay.poker.abstraction.sparbot import BUCKETS, N_BUCKETS
from counterplay.poker.betting.betting import LIMIT, Betting, betting_tree
from counterplay.poker.bots.sparbot import chance as chance_module
from counterplay.poker.bots.sparbot import model as model_module
from counterplay.poker.bots.sparbot.chance import BucketChance, sparbot_chance
from counterplay.poker.bots.sparbot.model import (
    COLUMN,
    ModelSolution,
    ThreeRoundModel,
    make_model,
    policy_rows,
    solve,
    starting_pot,
)
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import RIVER_TOTAL
from counterplay.poker.cards.tables import Strengths, strengths
from counterplay.poker.holdem.table import Table, new_table

TREMBLE = 0.25  # probability with which a player is assumed to reach the flop with any bucket
CARRY = (0, 0, N_BUCKETS, N_BUCKETS)  # recall of buckets: the one before the flop is forgotten

#: The fourth bet of a round, which the models lack: always called; answered as the third; or called
#: and also made, with the strongest bucket or with the two strongest.
CALLED, AS_THIRD = "called", "answered as the third"
MADE, MADE_BY_TWO = "made with the strongest", "made with the two strongest"
CAPPING = {MADE: 1, MADE_BY_TWO: 2}  # buckets


@dataclass(frozen=True)
class SparbotOptions:
    """Constants that were never published; `benchmarks/sparbot_search.py` tries other values."""

    borders: abstraction.Borders = field(default_factory=abstraction.Borders)
    tremble: float = field(default_factory=lambda: TREMBLE)
    leaf_bets: float = field(default_factory=lambda: model_module.LEAF_BETS)
    fourth: str = CALLED
    split: bool = False  # bucket splitting while playing
    deals: int = chance_module.N_DEALS
    target: float = model_module.TARGET


Policies = dict[str, np.ndarray]  # by model history: float64[paths, 3]


class ModelRecord(NamedTuple):
    """How well a model is solved."""

    history: str
    pot: float
    exploitability: float
    iterations: int


def parameters() -> dict[str, Any]:
    """All chosen constants."""
    return {
        **abstraction.parameters(),
        "deals": chance_module.N_DEALS,
        "seed": chance_module.SEED,
        "leaf_bets": model_module.LEAF_BETS,
        "target": model_module.TARGET,
        "tremble": TREMBLE,
    }


def sparbot_table(progress: ProgressCallback = no_progress) -> Table:
    """The table of the bot: from memory, from disk, or built now (about a minute on two cores)."""
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
    strengths(lambda share, what: progress(0.0, what))
    buckets = BUCKETS.get(lambda share, what: progress(0.15 * share, "buckets"))
    chance = sparbot_chance(buckets, lambda share: progress(0.15 + 0.15 * share, "chance"))
    policies, records = solve_models(chance, lambda share, what: progress(0.3 + 0.69 * share, what))
    return full_rows(policies, N_BUCKETS), buckets, records


def option_policies(buckets: Buckets, options: SparbotOptions) -> Policies:
    """Strategies of the models with other options, over their buckets."""
    n = options.borders.n_buckets
    chance = sparbot_chance(buckets, n_buckets=n, deals=options.deals)
    return solve_models(chance, options=options)[0]


def option_table(buckets: Buckets, policies: Policies, options: SparbotOptions) -> Table:
    """The table of a bot with other options."""
    n = options.borders.n_buckets
    first_row, policy = full_rows(policies, n, options.fourth, options.split)
    if options.split:
        buckets, n = split_buckets(buckets, strengths()), 2 * n
    return new_table(buckets, first_row, np.array([0, 0, n, n]), policy)


def solve_models(
    chance: BucketChance,
    progress: ProgressCallback = no_progress,
    options: SparbotOptions | None = None,
) -> tuple[Policies, list[ModelRecord]]:
    """Strategies of the pre-flop model before the flop and of the post-flop models after it."""
    chosen = options or SparbotOptions()
    model = make_model(LIMIT.start(), chance.first, chance, chosen.leaf_bets)
    solution = solve(
        model, chosen.target, progress=lambda share: progress(share / 8, "pre-flop model")
    )
    policies = {
        h: never_fold(rows) for h, rows in _all_rows(model, solution).items() if "/" not in h
    }
    records = [_record(model, solution)]
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
    """Folds become calls."""
    fold, call = COLUMN["fold"], COLUMN["call"]
    changed = rows.copy()
    changed[:, call] += changed[:, fold]
    changed[:, fold] = 0.0
    return changed


def flop_prior(
    history: str, policies: Policies, chance: BucketChance, tremble: float = TREMBLE
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
    joint = np.einsum(
        "ab,abcd->cd", chance.first * np.outer(reach[0], reach[1]), chance.transition[0]
    )
    return np.asarray(joint / joint.sum())


def full_rows(
    policies: Policies, n_buckets: int, fourth: str = CALLED, split: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """first_row and policy of a `Table` over the full betting tree; nodes that the models do not
    distinguish share their rows."""
    starts, rows = {}, []
    always_call = np.zeros((n_buckets**3, len(COLUMN)))
    always_call[:, COLUMN["call"]] = 1.0
    blocks = {"": policies[""], **policies, "fourth bet": always_call}
    if raising := CAPPING.get(fourth, 0):
        blocks = {h: _cap(b, n_buckets, raising) if _third(h) else b for h, b in blocks.items()}
    if split:
        blocks = {history: split_rows(block, n_buckets) for history, block in blocks.items()}
    filled = 0
    for history, block in blocks.items():
        starts[history] = filled
        rows.append(block)
        filled += len(block)
    states = betting_tree(LIMIT).states
    first_row = np.zeros(len(states), dtype=np.int64)
    for node, state in enumerate(states):
        if not state.over:
            history = state.history.replace("rrrr", "rrr")
            called = state.round > 0 and state.capped and fourth != AS_THIRD
            first_row[node] = starts["fourth bet" if called else history]
    return first_row, np.concatenate(rows)


def _third(history: str) -> bool:
    """Whether the player to act faces the third bet of a round after the flop."""
    return "/" in history and history.endswith("rrr")


def _cap(rows: np.ndarray, n_buckets: int, raising: int) -> np.ndarray:
    """Calls with the `raising` strongest buckets become raises. On the river the strongest is the
    last bucket, before it the last but one."""
    capped = rows.copy()
    paths = np.arange(len(capped))
    street = round(np.log(len(capped)) / np.log(n_buckets))
    best = n_buckets - 1 if street == 3 else n_buckets - 2
    strong = (paths % n_buckets <= best) & (paths % n_buckets > best - raising)
    capped[strong, COLUMN["raise"]] += capped[strong, COLUMN["call"]]
    capped[strong, COLUMN["call"]] = 0.0
    return capped


def _all_rows(model: ThreeRoundModel, solution: ModelSolution) -> Policies:
    own = np.split(solution.policy, [int(model.form.one.first[-1])])
    return {history: policy_rows(at, own[at.player]) for history, at in model.decision.items()}


def _record(model: ThreeRoundModel, solution: ModelSolution) -> ModelRecord:
    return ModelRecord(
        model.start.history, starting_pot(model), solution.exploitability, solution.iterations
    )


def split_buckets(buckets: Buckets, strengths: Strengths) -> Buckets:
    """Bucket b becomes 2b, its weaker half, and 2b + 1."""
    flop, turn = (np.repeat(boards(size).weight, N_HOLDINGS) for size in (3, 4))
    return Buckets(
        _halved(buckets.preflop, strengths.preflop, np.ones(N_HOLDINGS)),
        _halved(buckets.flop, strengths.flop, flop),
        _halved(buckets.turn, strengths.turn, turn),
        _halved(buckets.river, np.arange(RIVER_TOTAL + 1), river_deals(strengths.river)),
        buckets.river_entry,
    )


def _halved(bucket: np.ndarray, strength: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Splits each bucket at the strength that halves its weight. Strength 0 marks holdings that
    share a card with the board."""
    halved = 2 * bucket.astype(np.uint16)
    flat, counts = bucket.reshape(-1), np.asarray(strength).reshape(-1)
    for b in np.unique(flat):
        members = np.flatnonzero((flat == b) & (counts > 0))
        order = members[np.argsort(counts[members], kind="stable")]
        below = np.cumsum(weight[order])
        if len(order) and below[-1] > 0:
            middle = counts[order[np.searchsorted(below, below[-1] / 2)]]
            halved[(bucket == b) & (np.asarray(strength) >= middle)] += 1
    return halved


def split_rows(rows: np.ndarray, n_buckets: int) -> np.ndarray:
    """Rows by paths of n buckets to rows by paths of 2n, float64[n^k, 3] to float64[(2n)^k, 3].
    Only the half of the last bucket matters."""
    rounds = round(np.log(len(rows)) / np.log(n_buckets))
    weak, strong = halves(rows)
    both = np.stack([weak, strong], axis=1)  # [path, half, action]
    shape: tuple[Any, ...] = (n_buckets,) * rounds
    split = both.reshape(*shape, 2, rows.shape[1])
    for axis in range(rounds - 1):
        split = np.repeat(split, 2, axis=axis)
    return np.ascontiguousarray(split).reshape(-1, rows.shape[1])


def halves(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strategies of the weaker and the stronger half, float64[paths, 3] each; their mean is
    `rows`."""
    fold, call, bet = (COLUMN[name] for name in ("fold", "call", "raise"))
    weak, strong = np.zeros_like(rows), np.zeros_like(rows)
    strong[:, bet] = np.minimum(2 * rows[:, bet], 1.0)
    weak[:, bet] = 2 * rows[:, bet] - strong[:, bet]
    weak[:, fold] = np.minimum(2 * rows[:, fold], 1.0)
    strong[:, fold] = 2 * rows[:, fold] - weak[:, fold]
    for half in (weak, strong):
        half[:, call] = np.maximum(1.0 - half[:, fold] - half[:, bet], 0.0)
    return weak, strong
