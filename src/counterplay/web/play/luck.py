"""What a hand was worth without luck, in games with a tree (Burch et al. 2018, AIVAT, Eqs 5-6).

At every node where chance or the known strategy drew, what the draw was worth beyond its mean is
taken out: v(child drawn) - Σ p(child) · v(child). Each of these has mean zero whatever v is, so the
mean stays that of the raw winnings; v is the value of the node when both sides play the strategy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from counterplay.web.explore.values import node_values
from counterplay.web.play.walk import Walk


def without_luck(walk: Walk, strategy: Any, seat: int) -> float:
    """The result of a finished hand of the person in `seat`, luck taken out."""
    values, again = _values(strategy, seat), Walk(walk.game)
    result = walk.payoff(seat)
    for move in walk.moves:
        if move.player != seat:
            shares = again.shares(strategy.probabilities)
            low = int(walk.game.tree.first_child[again.node])
            below = values[low : low + len(shares)]
            result -= float(below[move.child] - shares @ below)
        again.node = int(walk.game.tree.first_child[again.node]) + move.child
    return result


@lru_cache(maxsize=8)
def _values(strategy: Any, seat: int) -> np.ndarray:
    return node_values(strategy.game.tree, strategy.probabilities, seat)
