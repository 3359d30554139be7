"""A seat that follows a model at each information set with a probability of its own.

Data-biased responses (Johanson & Bowling 2009, footnote 9 of the article): at information set I of
the model the restricted player plays Pconf(I) · σ_fix(I, a) + (1 - Pconf(I)) · σ(I, a), with σ of
its own choice. The model's products Pconf · σ_fix are lower bounds of its probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.street import RowStrategy, follow_row, new_row_strategy
from counterplay.poker.vector.traversal import (
    BestSeat,
    BoardLevel,
    FixedSeat,
    LearnerSeat,
    PlainSeat,
)

_LANES = index(LANES)


@jit
def mix_bounds(
    street: Street, player: int, used: np.ndarray, bound_row: np.ndarray, bound: np.ndarray,
    free: np.ndarray, out: RowStrategy,
) -> None:  # fmt: skip
    """Fills the strategy of the rows in `used`: the lower bounds of row `bound_row[r]`, and what
    they leave times the policy `free`."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            low_row, own = bound[g, index(bound_row[r])], free[g, r]
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
                for lane in range(_LANES):
                    rest = 1.0
                    for c in range(low, high):
                        rest -= low_row[c * _LANES + lane]
                    for c in range(low, high):
                        at = c * _LANES + lane
                        out.policy[g, r, at] = low_row[at] + max(rest, 0.0) * own[at]
            follow_row(street, player, g, r, out)


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

    def set_board(self, level: BoardLevel) -> None:
        k = level.k
        self._seat.set_board(level)
        self._model.set_board(level)
        used = np.unique(self.row[k][level.holdings()])
        mix_bounds(
            level.street, self.player, used, self._model.row[k], self._model.strategy[k].policy,
            self._seat.strategy[k].policy, self.strategy[k],
        )  # fmt: skip
