"""How likely k models made what a player did in a hand, decision by decision, before it was done.

His cards are not known, so each model has a weight for each of his holdings, which his actions
change by Bayes' rule. At a showdown the cards he shows are predicted too. Products of such
predictions compare models at any time: the ratio of two is a test martingale under the second.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.betting.rows import row_of
from counterplay.poker.bots.bot import Ending
from counterplay.poker.cards.cards import N_HOLDINGS, holding
from counterplay.poker.models.holdings import (
    Line,
    Panel,
    Weighing,
    begin,
    board_of,
    line_of,
    new_weighing,
    panel,
    reach_street,
    take_out,
)

LEAST = 0.02  # that a model is taken to give to anything, or one surprise would refute it
_THREE = index(3)


@jit
def predict_hand(
    panel: Panel,
    line: Line,
    board: np.ndarray,
    seen: np.ndarray,
    shown: int,
    weighing: Weighing,
    shares: np.ndarray,
    likelihood: np.ndarray,
) -> None:
    """Fill `shares` (float64[d, 3, k]) with what each model expected at his d decisions and
    `likelihood` (float64[k]) with the logarithm of all that was seen. `seen`: our two cards;
    `shown`: his holding, or -1."""
    n, holdings = index(len(likelihood)), index(N_HOLDINGS)
    begin(weighing, board)
    take_out(weighing, seen[ZERO])
    take_out(weighing, seen[ONE])
    for k in range(n):
        likelihood[k] = 0.0
    street = -1
    for d in range(index(len(line.node))):
        while street < line.street[d]:
            street += 1
            reach_street(panel, weighing, street)
        node, action = index(line.node[d]), index(line.action[d])
        for a in range(_THREE):
            for k in range(n):
                shares[d, a, k] = 0.0
        for h in range(holdings):
            row = index(row_of(panel.first_row, node, weighing.bucket[h]))
            for a in range(_THREE):
                for k in range(n):
                    shares[d, a, k] += weighing.weight[h, k] * panel.policy[row, a, k]
            for k in range(n):
                weighing.weight[h, k] *= max(panel.policy[row, action, k], LEAST)
        for k in range(n):
            total = shares[d, ZERO, k] + shares[d, ONE, k] + shares[d, index(2), k]
            for a in range(_THREE):
                shares[d, a, k] /= total
            likelihood[k] += np.log(max(shares[d, action, k], LEAST))
    if shown >= 0:
        for k in range(n):
            total = 0.0
            for h in range(holdings):
                total += weighing.weight[h, k]
            likelihood[k] += np.log(
                max(weighing.weight[index(shown), k] / total, LEAST / N_HOLDINGS)
            )


class Predictor:
    """k models of one game that predict a player, hand by hand."""

    def __init__(self, game: Game, models: list[Strategy]) -> None:
        self._game, self._k = game, len(models)
        self._panel, self._weighing = panel(game, models), new_weighing(len(models))

    def predict(self, ending: Ending) -> tuple[Line, np.ndarray, np.ndarray]:
        """The other's decisions in a hand that we saw, float64[d, 3, k] what was expected there,
        and float64[k], the log likelihood of all."""
        line = line_of(self._game.rules.betting, ending.betting.history, 1 - ending.seat)
        shares, likelihood = np.empty((len(line.node), 3, self._k)), np.empty(self._k)
        shown = -1
        if ending.betting.folded == NO_FOLD and ending.shown is not None:
            shown = holding(ending.shown)
        seen = np.array(ending.cards, dtype=np.int64)
        predict_hand(
            self._panel,
            line,
            board_of(ending.board),
            seen,
            shown,
            self._weighing,
            shares,
            likelihood,
        )
        return line, shares, likelihood
