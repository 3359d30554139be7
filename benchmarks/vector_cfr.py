"""CFR in vector form over all boards of a game: `LearnerSeat` against `LearnerSeat`.

With a row for every holding (`HoldingRows`) nothing is abstracted. Players are updated in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.vector.chance import Chance
from counterplay.poker.vector.learner_tables import RowMap, average_policy, new_tables
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import BoardLevel, LearnerSeat, Step, Traversal


class VectorCfr:
    """Both players learn, in the same tables."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], row_map: RowMap, dtype: Any = np.float64
    ) -> None:
        self.chance, self.streets = chance, streets
        self.tables = new_tables(streets, row_map, dtype)
        self._seats = [
            LearnerSeat(chance, streets, i, row_map.copy(), self.tables, dtype) for i in (0, 1)
        ]
        self._traversal = Traversal(chance, streets, dtype)

    def iterate(self, step: Step) -> None:
        """Updates player 0, then player 1, on every board."""
        for own, other in (self._seats, self._seats[::-1]):
            level = self._traversal.begin(own, other)
            level.value[own.player][:] = 0.0
            self._update(level, own, other, step, 1.0)

    def average(self) -> tuple[np.ndarray, ...]:
        """Returns the average strategy, as a `FixedSeat` plays it."""
        pairs = zip(self.streets, self.tables.strategy_sum, strict=True)
        return tuple(average_policy(street, sums) for street, sums in pairs)

    def _update(
        self, level: BoardLevel, own: LearnerSeat, other: LearnerSeat, step: Step, times: float
    ) -> None:
        traversal, scale = self._traversal, 1.0
        for seat in (own, other):
            seat.set_board(level)
        own.add_reach(level, times)
        if not level.final:
            for seat in (own, other):
                traversal.pass_down(level, seat)
            traversal.each_child(
                level, own.player, lambda below, size: self._update(below, own, other, step, size)
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        action_value = own.action_value[level.k]
        traversal.evaluate(level, own, other, scale=scale, times=times, action_value=action_value)
        own.update(level, step)
