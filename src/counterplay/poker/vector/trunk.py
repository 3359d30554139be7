"""The adversary of CFR-BR in the trunk: regrets for single holdings, shrunk to those of buckets.

A flop is visited once in some thousand iterations, so the regrets of its holdings are few and noisy
for long. The adversary therefore plays by regret matching of r(h) + PRIOR_VISITS · m(bucket of h),
where m is a moving average of the mean regret of a bucket's holdings in one iteration, on any
board. Regrets r grow with the visits, and m does not, so it fades.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.chance import Chance
from counterplay.poker.vector.learner_tables import LearnerTables, RowMap, match_regrets
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import BoardLevel, LearnerSeat, Step

PRIOR_VISITS = 5.0  # visits of a board that the mean regrets of buckets stand for
PRIOR_RATE = 0.02  # the least weight of an iteration in the moving average
_LANES = index(LANES)


def prior_rate(t: int) -> float:
    """Returns the weight of iteration t in the moving average."""
    return max(2.0 / (t + 1), PRIOR_RATE)


def has_prior(rows: RowMap, street: int) -> bool:
    """Whether the adversary has one on a street: the boards are many, and share buckets."""
    return street > 0 and rows.blocks(street) == 1


@jit
def add_to_prior(
    street: Street, player: int, used: np.ndarray, bucket: np.ndarray, policy: np.ndarray,
    action_value: np.ndarray, rate: float, count: np.ndarray, prior: np.ndarray,
) -> None:  # fmt: skip
    """Moves `prior[g, b]` by `rate` towards the mean of v(I, a) - Σ_b σ(b) v(I, b) over the rows of
    bucket b; `count`: workspace."""
    count[:] = 0
    for j in range(index(len(used))):
        count[index(bucket[index(used[j])])] += 1
    for g in range(index(len(street.public_node))):
        for b in range(index(len(count))):
            if count[b] == 0:
                continue
            for k in range(index(len(street.player))):
                if street.player[k] == player:
                    low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
                    for at in range(low * _LANES, high * _LANES):
                        prior[g, b, at] *= 1.0 - rate
        for j in range(index(len(used))):
            r = index(used[j])
            b = index(bucket[r])
            value, share = action_value[g, r], rate / count[b]
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
                for lane in range(_LANES):
                    mean = 0.0
                    for c in range(low, high):
                        mean += policy[g, r, c * _LANES + lane] * value[c * _LANES + lane]
                    for c in range(low, high):
                        at = c * _LANES + lane
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
                level.street, self.player, self._used[k], self._bucket, self.strategy[k].policy,
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
