"""The gadget games that resolve one player of a position, in which the other holds anything.

Before the spot begins the other player may take, with each holding, what a best response to the
blueprint gets with it there (CFR-D, Burch, Johanson & Bowling 2014), or chooses the holding that
gains most above that (max-margin, Moravcik et al. 2016). Deviations: the alternative values are
exact best responses in the spot without abstraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.cfr_kernels import DISCOUNTED, IterationWeights, iteration_weights
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.spots.cards import pair_weights
from counterplay.poker.spots.engine import SpotTraversal, new_tables
from counterplay.poker.spots.game import SpotRules
from counterplay.poker.spots.kernels import LEARN
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.parts import Part, best_values, matched_regrets
from counterplay.poker.spots.rows import strength_rows


class _MayLeave:
    """CFR-D: with each holding the other player enters the spot, or takes its alternative."""

    def __init__(self, alternative: np.ndarray, met: np.ndarray) -> None:
        self._alternative = alternative
        self._regret = np.zeros((2, len(alternative)))  # of entering, and of the alternative
        self.reach = np.ones(len(alternative))

    def update(self, played: np.ndarray, weights: IterationWeights) -> None:
        """Sets the probability to enter, from the values of playing the spot."""
        value = self.reach * played + (1.0 - self.reach) * self._alternative
        self._regret += np.stack([played, self._alternative]) - value
        self._regret *= np.where(self._regret > 0, weights.positive, weights.negative)
        self.reach = matched_regrets(self._regret)[0]


class _ChoosesHolding:
    """Max-margin: the other player chooses one holding, and gets what it gains there above its
    alternative, by hand that it meets."""

    def __init__(self, alternative: np.ndarray, met: np.ndarray) -> None:
        self._live, self._regret = met > 0, np.zeros((int((met > 0).sum()), 1))
        self._alternative, self._met = alternative[self._live], met[self._live]
        self.reach = np.zeros(len(met))
        self._set_reach()

    def _set_reach(self) -> None:
        self._share = matched_regrets(self._regret)[:, 0]
        self.reach[self._live] = self._share / self._met

    def update(self, played: np.ndarray, weights: IterationWeights) -> None:
        """Sets the probability of each holding, from the values of playing the spot."""
        gain = (played[self._live] - self._alternative) / self._met
        self._regret[:, 0] += gain - self._share @ gain
        self._regret *= np.where(self._regret > 0, weights.positive, weights.negative)
        self._set_reach()


ENTRIES: dict[str, Any] = {"safe": _MayLeave, "max-margin": _ChoosesHolding}


class Gadget:
    """The gadget games of one player."""

    def __init__(self, rules: SpotRules, player: int, blueprint: Part, reached: float) -> None:
        """`reached`: the player's largest probability of a holding to come to the spot."""
        self.player = player
        weights = [np.ones(N_HOLDINGS), np.ones(N_HOLDINGS)]
        weights[player] = rules.weights[player]
        one, two = weights
        self._layout = SpotLayout(rules.betting, rules.board, (one, two), suits=rules.layout.suits)
        every = len(self._layout.sides[1 - player].holding)
        pairs = every * (every + 1 - 2 * (52 - len(rules.board)) + 2)
        #: From counterfactual values to payoffs per hand dealt on this board.
        self._scale = reached / pairs
        self.alternative = self.best_values(blueprint)

    def best_values(self, part: Part) -> np.ndarray:
        """[holdings]: what a best response gets with each holding of the other player."""
        return best_values(self._layout, self.player, part)

    def met(self) -> np.ndarray:
        """[holdings]: what each holding of the other player meets of the player's range."""
        sides = self._layout.sides
        return pair_weights(sides[1 - self.player], sides[self.player])

    def leak(self, part: Part) -> float:
        """What the other player can gain by its range, against this part."""
        above = np.maximum(self.best_values(part) - self.alternative, 0.0)
        return float(above.sum()) * self._scale

    def solve(
        self, iterations: int, entry: Any, by_rows: bool = False,
        progress: Callable[[float], None] = lambda share: None,
    ) -> Part:  # fmt: skip
        """The player's part of a gadget game; `entry`: how the other player comes to the spot.
        `by_rows`: with rows by strength on the river, and in single precision."""
        layout, rows = self._layout, None
        if by_rows:
            one, two = (strength_rows(side) for side in layout.sides)
            layout, rows = layout.with_rows(one, two), (one, two)[self.player]
        traversal = SpotTraversal(layout, "single" if by_rows else "double", cores())
        tables = [new_tables(layout, player, traversal.dtype) for player in (0, 1)]
        free = tables[1 - self.player]  # whose average is of no use
        tables[1 - self.player] = free._replace(strategy_sum=free.strategy_sum[:0])
        entered = entry(self.alternative, self.met())
        for t in range(1, iterations + 1):
            weights = iteration_weights(DISCOUNTED, t)
            traversal.set_weights(*weights)
            traversal.run(self.player, (tables[0], tables[1]), LEARN, reach=entered.reach)
            played = traversal.run(1 - self.player, (tables[0], tables[1]), LEARN)
            entered.update(played, weights)
            progress(t / iterations)
        return Part(tables[self.player].strategy_sum, rows)
