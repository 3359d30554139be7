"""Values, best responses and exploitability in spots, by one traversal each (`kernels.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Evaluator, Game
from counterplay.core.forms.mixture import Mixture, single_strategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.full_width import thread_count
from counterplay.poker.spots.engine import SpotTraversal, new_tables, nothing
from counterplay.poker.spots.kernels import BEST, FIXED, Tables


class SpotEvaluator(Evaluator):
    """Evaluation by traversing boards, in double precision."""

    name = "spots"
    needs_recall = False  # a spot has perfect recall, and no treeplex

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._layout = game.rules.layout

    @property
    def immediate(self) -> bool:
        return True

    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        traversal, tables = self._prepared(strategy, options)
        return np.array([traversal.value(player, tables, FIXED) for player in (0, 1)])

    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, Strategy]:
        traversal, tables = self._prepared(strategy, options)
        value = traversal.value(player, tables, BEST)
        slots = self._layout.slots(*(table.source for table in tables))
        return value, Strategy(self.game, slots)

    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        traversal, tables = self._prepared(strategy, options)
        total = 0.0
        for player in (0, 1):
            none = nothing(tables[player])
            pair = (none, tables[1]) if player == 0 else (tables[0], none)
            total += traversal.value(player, pair, BEST)
            if not self.game.zero_sum:
                total -= traversal.value(player, tables, FIXED)
        return total

    def _prepared(
        self, strategy: Strategy | Mixture, options: dict[str, Any]
    ) -> tuple[SpotTraversal, tuple[Tables, Tables]]:
        threads = thread_count(options.pop("threads", "auto"))
        if options:
            raise BadParameter(f"{next(iter(options))} is no option of spots; threads is one")
        profile = single_strategy(strategy)
        if ("spot", threads) not in self.game.cache:
            self.game.cache["spot", threads] = SpotTraversal(self._layout, "double", threads)
        traversal: SpotTraversal = self.game.cache["spot", threads]
        one, two = (
            new_tables(self._layout, player, np.float64)._replace(
                source=self._layout.table(player, profile.probabilities, np.float64)
            )
            for player in (0, 1)
        )
        return traversal, (one, two)


EVALUATOR = SpotEvaluator
