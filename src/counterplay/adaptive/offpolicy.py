"""What each of k strategies would have won in a hand that one of them played (Bowling, Johanson,
Burch & Szafron 2008; Bard et al. 2013).

Importance sampling over our own actions only: chance and the opponent cancel. Imaginary
observations take most of the noise out: a hand speaks for all our holdings x, not only for the one
that was dealt, and at every decision where we could have folded that end is known as well,

    Σ_x π_m(x, h·fold) v / Σ_x π(x, h)  +  Σ_x π_m(x, z) v(x, z) / Σ_x π(x, z),

π_m the probability of strategy m's own actions, π that of what was played: `mix`, the chances with
which one of the k was drawn for this hand.

Deviations: where the opponent's cards were not shown they are not taken out of x, so the estimate
is not exactly unbiased there (tests/adaptive/test_offpolicy.py measures it).
"""

from __future__ import annotations

import numpy as np

from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.holdem.betting import NO_FOLD
from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.deal import FIRST_OF_BOARD, N_DEALT
from counterplay.holdem.evaluator import strength_of_masks
from counterplay.holdem.rows import row_of
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.opponents.bots.bot import Ending
from counterplay.opponents.models.holdings import (
    NOT_SHOWN,
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


@jit(inner=True)
def _total(weighing: Weighing, mix: np.ndarray) -> float:
    """Σ_x π(x)."""
    total = 0.0
    for h in range(index(N_HOLDINGS)):
        for k in range(index(len(mix))):
            total += mix[k] * weighing.weight[h, k]
    return total


@jit(inner=True)
def _strength(weighing: Weighing, a: int, b: int) -> int:
    masks, deck = weighing.chance.masks, weighing.chance.deck
    for suit in range(index(4)):
        masks[suit] = 0
    for j in range(index(FIRST_OF_BOARD), index(N_DEALT)):
        masks[index(deck[j] & 3)] |= 1 << (deck[j] >> 2)
    masks[index(a & 3)] |= 1 << (a >> 2)
    masks[index(b & 3)] |= 1 << (b >> 2)
    return int(strength_of_masks(masks[0], masks[1], masks[2], masks[3]))


@jit
def weigh_hand(
    panel: Panel,
    line: Line,
    board: np.ndarray,
    shown: np.ndarray,
    stake: float,
    mix: np.ndarray,
    weighing: Weighing,
    out: np.ndarray,
) -> None:
    """Fill `out` (float64[k]) with what each strategy would have won in this hand.

    `board`: int64[5], NOT_SHOWN beyond what lies there; `shown`: the other's cards or NOT_SHOWN;
    `stake`: what we win where the other folded, or what a showdown is about.
    """
    n, holdings = index(len(mix)), index(N_HOLDINGS)
    begin(weighing, board)
    for k in range(n):
        out[k] = 0.0
    known = shown[ZERO] != NOT_SHOWN
    if known:
        take_out(weighing, shown[ZERO])
        take_out(weighing, shown[ONE])
    street = -1
    for d in range(index(len(line.node))):
        while street < line.street[d]:
            street += 1
            reach_street(panel, weighing, street)
        node, action = index(line.node[d]), index(line.action[d])
        if line.cost[d] == line.cost[d]:  # not NaN: folding is legal
            scale = -line.cost[d] / _total(weighing, mix)
            for h in range(holdings):
                row = index(row_of(panel.first_row, node, weighing.bucket[h]))
                for k in range(n):
                    out[k] += scale * weighing.weight[h, k] * panel.policy[row, ZERO, k]
            if action == ZERO:
                return
        for h in range(holdings):
            row = index(row_of(panel.first_row, node, weighing.bucket[h]))
            for k in range(n):
                weighing.weight[h, k] *= panel.policy[row, action, k]
    dealt = 0
    for s in range(1, 4):
        dealt = s if board[index(1 + s)] != NOT_SHOWN else dealt
    while street < dealt:
        street += 1
        reach_street(panel, weighing, street)
    total = _total(weighing, mix)
    if not known:
        for h in range(holdings):
            for k in range(n):
                out[k] += stake * weighing.weight[h, k] / total
        return
    his = _strength(weighing, shown[ZERO], shown[ONE])
    for h in range(holdings):
        busy = False
        for k in range(n):
            busy = busy or weighing.weight[h, k] > 0.0
        if busy:
            mine = _strength(weighing, weighing.holdings[h, ZERO], weighing.holdings[h, ONE])
            won = stake * ((1 if mine > his else 0) - (1 if mine < his else 0)) / total
            for k in range(n):
                out[k] += won * weighing.weight[h, k]


class HandWeigher:
    """Estimates for k strategies, hand by hand."""

    def __init__(self, game: Game, strategies: list[Strategy]) -> None:
        self._panel, self._k = panel(game, strategies), len(strategies)
        self._betting = game.rules.betting
        self._weighing = new_weighing(self._k)

    def weigh(self, ending: Ending, mix: np.ndarray) -> np.ndarray:
        """float64[k]: what each would have won; `mix`: how likely each was to play the hand."""
        line = line_of(self._betting, ending.betting.history, ending.seat)
        if not len(line.node) and ending.betting.folded != NO_FOLD:
            return np.full(self._k, float(ending.won))  # nobody asked us
        shown = np.array(ending.shown or (NOT_SHOWN, NOT_SHOWN), dtype=np.int64)
        stake, out = min(ending.betting.paid), np.empty(self._k)
        board = board_of(ending.board)
        weigh_hand(self._panel, line, board, shown, stake, mix, self._weighing, out)
        return out
