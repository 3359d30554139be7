"""CFR-BR: a learner in a card abstraction against an adversary in the unabstracted game.

Johanson, Bard, Burch & Bowling (AAAI 2012). The learner plays CFR over the rows of its abstraction;
the adversary distinguishes holdings. The average of the learner converges to the least exploitable
strategy that the abstraction can express. The game is cut at a street. Above the cut, in the
*trunk*, the adversary plays CFR too, with regrets for single holdings; from the cut on it
best-responds to the learner's current strategy. An iteration samples one board at the cut and
visits every board below it. Each seat of the learner is a run of its own, on the same boards.

With models and p the adversary is that of a restricted Nash response (Johanson, Zinkevich & Bowling
2007): with probability p, decided before the hand, it plays the model instead. Both parts are
evaluated separately, since values are linear in the opponent's reach: the adversary starts with
reach 1 - p, the model with reach p.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.vector.chance import Chance
from counterplay.poker.vector.learner_tables import (
    HoldingRows,
    LearnerTables,
    RowMap,
    average_policy,
    new_tables,
)
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import (
    MODEL,
    BestSeat,
    BoardLevel,
    FixedSeat,
    LearnerSeat,
    Seat,
    Traversal,
)


class CfrBr:
    """One learner in both seats. `cut`: the street from which the adversary best-responds;
    `models[j]`: the model of player j."""

    def __init__(
        self,
        chance: Chance,
        streets: tuple[Street, ...],
        row_map: RowMap,
        *,
        cut: int,
        dtype: Any = np.float64,
        models: tuple[FixedSeat, FixedSeat] | None = None,
        p: float = 0.0,
    ) -> None:
        self.chance, self.streets, self.cut = chance, streets, cut
        self.tables: LearnerTables = new_tables(streets, row_map, dtype)
        trunk_rows, trunk = HoldingRows(chance, cut), streets[:cut]
        self.trunk: LearnerTables = new_tables(trunk, trunk_rows, dtype)
        self._models, self._p = models, p
        self._learners = [
            LearnerSeat(chance, streets, i, row_map, self.tables, dtype) for i in (0, 1)
        ]
        self._adversaries = [
            LearnerSeat(chance, trunk, j, trunk_rows, self.trunk, dtype) for j in (0, 1)
        ]
        self._best = [BestSeat(chance, streets, j, dtype) for j in (0, 1)]
        self._traversal = Traversal(chance, streets, dtype)

    def iterate(self, rng: np.random.Generator, *, plus: bool = False, weight: float = 1.0) -> None:
        """Updates both seats on a sampled board. `plus`: regret matching+; `weight`: of this
        iteration in the average."""
        board, boards = self.chance.root(), []
        for k in range(1, self.cut + 1):
            board = self.chance.sample(k, board, rng)
            boards.append(board)
        for i in (0, 1):
            reach = [1.0 - self._p, 1.0 - self._p, self._p]
            reach[i] = 1.0
            path = [self._traversal.begin((reach[0], reach[1], reach[2]))]
            for level, dealt in zip(self._traversal.levels[1:], boards, strict=False):
                level.deal(dealt)
                path.append(level)
            self._update_seat(i, path, plus, weight)

    def average(self) -> tuple[np.ndarray, ...]:
        """Returns the average strategy, as a `FixedSeat` plays it."""
        pairs = zip(self.streets, self.tables.strategy_sum, strict=True)
        return tuple(average_policy(street, sums) for street, sums in pairs)

    def _update_seat(self, i: int, path: list[BoardLevel], plus: bool, weight: float) -> None:
        """Updates the learner in seat i, and its adversary in the trunk."""
        learner, adversary, traversal = self._learners[i], self._adversaries[1 - i], self._traversal
        *trunk, cut = path
        for level in trunk:
            for seat in (learner, adversary):
                seat.set_board(level)
                seat.add_reach(level, 1.0)
                traversal.pass_down(level, seat)
            self._set_model(level, 1 - i)
        for level in path:
            for values in level.value:
                values[:] = 0.0
        self._best[1 - i].clear()
        self._respond(cut, i, 1.0)
        self._evaluate_learner(cut, i, 1.0, 1.0)
        for level in traversal.levels[cut.k :]:
            if level is not cut:
                learner.use_all_rows(level.k)
            learner.update(level, weight, plus)
        for level in reversed(trunk):
            k = level.k + 1
            scale = self.chance.total(k) / self.chance.n_deals[k]  # the board stands for all
            action_value = adversary.action_value[level.k]
            traversal.evaluate(level, adversary, learner, scale=scale, action_value=action_value)
            self._add_values(level, learner, adversary, scale, 1.0)
            adversary.update(level, weight, plus)
            learner.update(level, weight, plus)

    def _respond(self, level: BoardLevel, i: int, times: float) -> None:
        """Computes the adversary's best response from the cut on: values and choices."""
        learner, best, traversal = self._learners[i], self._best[1 - i], self._traversal
        learner.set_board(level)
        scale = 1.0
        if not level.final:
            traversal.pass_down(level, learner)
            traversal.each_child(
                level, best.player, lambda below, size: self._respond(below, i, size)
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        traversal.evaluate(
            level, best, learner, best=True, scale=scale, times=times, record=best.choices(level)
        )

    def _evaluate_learner(self, level: BoardLevel, i: int, times: float, share: float) -> None:
        """Computes the learner's values against these choices. `share`: of this board among the
        boards of its street that follow the cut."""
        learner, best, traversal = self._learners[i], self._best[1 - i], self._traversal
        learner.set_board(level)
        best.set_board(level)
        learner.add_reach(level, share)
        self._set_model(level, best.player)
        scale = 1.0
        if not level.final:
            traversal.pass_down(level, learner)
            traversal.pass_down(level, best)
            per_board = share / self.chance.total(level.k + 1)
            traversal.each_child(
                level,
                i,
                lambda below, size: self._evaluate_learner(below, i, size, size * per_board),
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        self._add_values(level, learner, best, scale, times)

    def _set_model(self, level: BoardLevel, j: int) -> None:
        """Prepares the model of player j on a board, and its reach on the next."""
        if self._models is not None:
            self._models[j].set_board(level)
            if not level.final:
                self._traversal.pass_down(level, self._models[j], MODEL)

    def _add_values(
        self, level: BoardLevel, learner: LearnerSeat, opponent: Seat, scale: float, times: float
    ) -> None:
        """Adds the learner's values against an opponent, and against the model."""
        action_value = learner.action_value[level.k]
        self._traversal.evaluate(
            level, learner, opponent, scale=scale, times=times, action_value=action_value
        )
        if self._models is not None:  # the values of the next level include the model's
            self._traversal.evaluate(
                level, learner, self._models[opponent.player], reach=MODEL, scale=0.0, times=times,
                action_value=action_value,
            )  # fmt: skip
