"""The adversary of CFR-BR in the trunk, and one that follows a model.

In the trunk it has regrets for single holdings, shrunk to those of buckets. A flop is visited once
in some thousand iterations, so the regrets of its holdings are few and noisy for long. The
adversary therefore plays by regret matching of r(h) + PRIOR_VISITS · m(bucket of h), where m is a
moving average of the mean regret of a bucket's holdings in one iteration, on any board. Regrets r
grow with the visits, and m does not, so it fades.

Data-biased responses (Johanson & Bowling 2009, footnote 9 of the article): at information set I of
the model the restricted player plays Pconf(I) · σ_fix(I, a) + (1 - Pconf(I)) · σ(I, a), with σ of
its own choice. The model's products Pconf · σ_fix are lower bounds of its probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.chance import Chance
from counterplay.poker.vector.learner_tables import LearnerTables, RowMap, match_regrets
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.street import follow_policy, new_row_strategy
from counterplay.poker.vector.traversal import (
    BestSeat,
    BoardLevel,
    FixedSeat,
    LearnerSeat,
    PlainSeat,
    Step,
)

PRIOR_VISITS = 5.0  # visits of a board that the mean regrets of buckets stand for
PRIOR_RATE = 0.02  # the least weight of an iteration in the moving average
_LANES = index(LANES)


def prior_rate(t: int) -> float:
    """Returns the weight of iteration t in the moving average."""
    return max(2.0 / (t + 1), PRIOR_RATE)


def has_prior(rows: RowMap, street: int) -> bool:
    """Whether the adversary has one on a street: the boards are many, and share buckets."""
    return street > 0 and rows.blocks(street) == 1


def action_slots(street: Street, player: int) -> np.ndarray:
    """Returns int64[d, 2]: of each decision of a player in each lane the place of its first action
    in a row of numbers, and behind the last. Actions are LANES apart."""
    nodes, lane = np.flatnonzero(street.player == player), np.arange(LANES)
    ends = street.first_child[nodes], street.first_child[nodes + 1]
    return np.stack([(end[:, None] * LANES + lane).ravel() for end in ends], axis=1)


@jit(inline=True)
def _actions(decisions: Any, d: Any) -> Any:
    """Returns the places of the actions of a decision."""
    return range(index(decisions[d, ZERO]), index(decisions[d, ONE]), _LANES)


@jit
def mix_bounds(
    decisions: np.ndarray, used: np.ndarray, bound_row: np.ndarray, bound: np.ndarray,
    free: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Fills the policy of the rows in `used`: the lower bounds of row `bound_row[r]`, and what they
    leave times the policy `free`."""
    for g in range(index(len(out))):
        for j in range(index(len(used))):
            r = index(used[j])
            least, own = bound[g, index(bound_row[r])], free[g, r]
            for d in range(index(len(decisions))):
                rest = 1.0
                for at in _actions(decisions, d):
                    rest -= least[at]
                for at in _actions(decisions, d):
                    out[g, r, at] = least[at] + max(rest, 0.0) * own[at]


@jit
def add_to_prior(
    decisions: np.ndarray, used: np.ndarray, bucket: np.ndarray, policy: np.ndarray,
    action_value: np.ndarray, rate: float, count: np.ndarray, prior: np.ndarray,
) -> None:  # fmt: skip
    """Moves `prior[g, b]` by `rate` towards the mean of v(I, a) - Σ_b σ(b) v(I, b) over the rows of
    bucket b; `count`: workspace."""
    count[:] = 0
    for j in range(index(len(used))):
        count[index(bucket[index(used[j])])] += 1
    for g in range(index(len(prior))):
        for b in range(index(len(count))):
            if count[b] > 0:
                for d in range(index(len(decisions))):
                    for at in _actions(decisions, d):
                        prior[g, b, at] *= 1.0 - rate
        for j in range(index(len(used))):
            r = index(used[j])
            b = index(bucket[r])
            value, share = action_value[g, r], rate / count[b]
            for d in range(index(len(decisions))):
                mean = 0.0
                for at in _actions(decisions, d):
                    mean += policy[g, r, at] * value[at]
                for at in _actions(decisions, d):
                    prior[g, b, at] += share * (value[at] - mean)


class TrunkSeat(LearnerSeat):
    """`buckets`: the learner's rows; `prior[k]`: [groups, buckets, nodes * LANES] for each street
    that has one, shared by both seats, whose actions differ."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], player: int, row_map: RowMap,
        tables: LearnerTables, dtype: Any, buckets: RowMap, prior: dict[int, np.ndarray],
    ) -> None:  # fmt: skip
        super().__init__(chance, streets, player, row_map, tables, dtype)
        self._buckets, self._prior = buckets, prior
        self._bucket = np.zeros(chance.n_holdings, dtype=np.int64)
        self._decisions = [action_slots(street, player) for street in streets]

    def set_board(self, level: BoardLevel) -> None:
        k = level.k
        if k not in self._prior:
            super().set_board(level)
            return
        self._set_rows(level)
        used = self._used[k] = self._rows_used(level)
        self._buckets.fill(k, level.dealt, self._bucket)
        regret = self._tables.block(k, level.dealt)[0].copy()
        regret[:, used] += PRIOR_VISITS * self._prior[k][:, self._bucket[used]]
        match_regrets(level.street, self.player, regret, used, self.strategy[k])

    def update(self, level: BoardLevel, step: Step) -> None:
        k = level.k
        if k in self._prior and step.prior > 0.0:
            count = np.zeros(self._prior[k].shape[1], dtype=np.int64)
            add_to_prior(
                self._decisions[k], self._used[k], self._bucket, self.strategy[k].policy,
                self.action_value[k], step.prior, count, self._prior[k],
            )  # fmt: skip
        super().update(level, step)


def new_prior(streets: tuple[Street, ...], rows: RowMap) -> dict[int, np.ndarray]:
    """Returns zeros for each street of the trunk that has a prior."""
    return {
        k: np.zeros((len(street.public_node), rows.count(k), len(street.player) * LANES))
        for k, street in enumerate(streets)
        if has_prior(rows, k)
    }


class BiasedSeat(PlainSeat):
    """`seat`, whose rows are holdings, with lower bounds of its probabilities: those of `model`."""

    def __init__(
        self, seat: LearnerSeat | BestSeat, model: FixedSeat, streets: tuple[Street, ...],
        dtype: Any,
    ) -> None:  # fmt: skip
        self.player, self.row = seat.player, seat.row
        self._seat, self._model = seat, model
        self.strategy = [
            new_row_strategy(street, seat.player, len(self.row[0]), dtype) for street in streets
        ]
        self._decisions = [action_slots(street, seat.player) for street in streets]

    def set_board(self, level: BoardLevel) -> None:
        k = level.k
        self._seat.set_board(level)
        self._model.set_board(level)
        used = np.unique(self.row[k][level.holdings()])
        mix_bounds(
            self._decisions[k], used, self._model.row[k], self._model.strategy[k].policy,
            self._seat.strategy[k].policy, self.strategy[k].policy,
        )  # fmt: skip
        follow_policy(level.street, self.player, used, self.strategy[k])
