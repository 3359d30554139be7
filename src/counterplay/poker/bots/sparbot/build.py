"""Building the bot: buckets, chance, the pre-flop model, seven post-flop models, and one table over
the full betting tree.

Published: the pre-flop model's strategy gives the joint probability of buckets at the start of each
post-flop model; the bot never folds before the flop. Chosen here: every bucket keeps some
probability (`TREMBLE`), since the opponent need not play as the model does; and the fourth bet of a
round, which the models lack, is always called and never made.

`benchmarks/sparbot_variants.py` has other choices, bucket splitting while playing among them.

The table is built once and kept in the store (`core/base/store.py`) under its `parameters`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.store import Cached, Piece
from counterplay.core.parallel.jobs import in_parallel
from counterplay.poker.abstraction import sparbot as abstraction
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.sparbot import BUCKETS, N_BUCKETS
from counterplay.poker.betting.betting import LIMIT, Betting, betting_tree
from counterplay.poker.bots.sparbot import model as model_module
from counterplay.poker.bots.sparbot.model import (
    COLUMN,
    BucketChance,
    ModelSolution,
    ThreeRoundModel,
    chance_from_counts,
    count_deals,
    make_model,
    policy_rows,
    solve,
)
from counterplay.poker.cards.strength import strengths
from counterplay.poker.holdem.table import Table, new_table

TREMBLE = 0.25  # probability with which a player is assumed to reach the flop with any bucket
CARRY = (0, 0, N_BUCKETS, N_BUCKETS)  # recall of buckets: the one before the flop is forgotten

Policies = dict[str, np.ndarray]  # by model history: float64[paths, 3]


def parameters() -> dict[str, Any]:
    """All chosen constants."""
    return {
        **abstraction.parameters(),
        "deals": model_module.N_DEALS,
        "seed": model_module.SEED,
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
) -> tuple[tuple[np.ndarray, np.ndarray], Buckets, list[ModelSolution]]:
    """(first_row, policy), the buckets and how well each model is solved."""
    strengths(lambda share, what: progress(0.0, what))
    buckets = BUCKETS.get(lambda share, what: progress(0.15 * share, "buckets"))
    counts = count_deals(
        buckets,
        model_module.N_DEALS,
        N_BUCKETS,
        lambda share: progress(0.15 + 0.15 * share, "chance"),
    )
    chance = chance_from_counts(counts)
    policies, solved = solve_models(chance, lambda share, what: progress(0.3 + 0.69 * share, what))
    return full_rows(policies, N_BUCKETS), buckets, solved


def solve_models(
    chance: BucketChance,
    progress: ProgressCallback = no_progress,
    tremble: float | None = None,
    leaf_bets: float | None = None,
    target: float = model_module.TARGET,
) -> tuple[Policies, list[ModelSolution]]:
    """Strategies of the pre-flop model before the flop and of the post-flop models after it."""
    tremble = TREMBLE if tremble is None else tremble
    model = make_model(LIMIT.start(), chance.first, chance, leaf_bets)
    solution = solve(model, target, progress=lambda share: progress(share / 8, "pre-flop model"))
    policies = {}
    for history, rows in _all_rows(model, solution).items():
        if "/" not in history:  # the bot never folds before the flop
            policies[history] = rows * [0.0, 1.0, 1.0]
            policies[history][:, COLUMN["call"]] += rows[:, COLUMN["fold"]]
    solutions = [solution]
    models = [
        make_model(start, flop_prior(start.history, policies, chance, tremble), chance)
        for start in flop_starts()
    ]
    after = part(progress, 1 / 8, 1.0, "post-flop models")
    found = in_parallel([partial(_solved, model, target) for model in models], after)
    for model, solution in zip(models, found, strict=True):
        policies |= _all_rows(model, solution)
        solutions.append(solution)
    return policies, solutions


def _solved(model: ThreeRoundModel, target: float, progress: ProgressCallback) -> ModelSolution:
    return solve(model, target, progress=lambda share: progress(share, ""))


def flop_starts() -> list[Betting]:
    """The seven ways to come to the flop."""
    return [state for state in betting_tree(LIMIT).states if state.round == 1 and state.acted == 0]


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
    policies: Policies, n_buckets: int, called: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """first_row and policy of a `Table` over the full betting tree; nodes that the models do not
    distinguish share their rows. `called`: the fourth bet of a round, which the models lack, is
    always called; else it is answered as the third."""
    always_call = np.tile([0.0, 1.0, 0.0], (n_buckets**3, 1))
    blocks = {"": policies[""], **policies, "fourth bet": always_call}
    ends = np.cumsum([len(block) for block in blocks.values()]).tolist()
    starts = dict(zip(blocks, [0, *ends], strict=False))
    states = betting_tree(LIMIT).states
    first_row = np.zeros(len(states), dtype=np.int64)
    for node, state in enumerate(states):
        if not state.over:
            history = state.history.replace("rrrr", "rrr")
            fourth = called and state.round > 0 and state.capped
            first_row[node] = starts["fourth bet" if fourth else history]
    return first_row, np.concatenate(list(blocks.values()))


def _all_rows(model: ThreeRoundModel, solution: ModelSolution) -> Policies:
    own = np.split(solution.policy, [int(model.form.one.first[-1])])
    return {history: policy_rows(at, own[at.player]) for history, at in model.decision.items()}
