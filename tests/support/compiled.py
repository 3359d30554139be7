"""A small game of one's own as compiled rules, with a chance that is not uniform and three words
of what a player knows; and ways to break it."""

from __future__ import annotations

from typing import Any

import counterplay as cp


class Auction(cp.CompiledRules):
    """Each player draws a card 0, 1, 2 with chances 1/2, 1/3, 1/6, then they bid in turn, 0 to 2
    more than before, until a player bids nothing more; the higher card wins the last bid.

    State: cards dealt, card of player 1, of player 2, bids made, the last bid, over.
    """

    state_size = 6
    known_size = 1
    max_actions = 3
    depth = 4

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[0] < 2:
            return cp.CHANCE
        return cp.TERMINAL if state[5] == 1 else int(state[3] % 2)

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        return 3 if state[0] < 2 or state[3] < 2 else 2

    @staticmethod
    def chance(c: Any, state: Any, action: int) -> float:
        return (3 - action) / 6.0

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        if state[0] < 2:
            state[1 + state[0]] = action
            state[0] += 1
            return
        state[4] = state[4] * 3 + action
        state[3] += 1
        if action == 0 or state[3] == 4:
            state[5] = 1

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        known[0] = (state[1 + state[3] % 2] * 5 + state[3]) * 81 + state[4]

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        stake = 1.0 + state[4]
        payoff[0] = stake * ((state[1] > state[2]) - (state[1] < state[2]))
        payoff[1] = -payoff[0]


class WideAuction(Auction):
    """The same with keys that are hashed."""

    known_size = 3

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        known[0] = state[1 + state[3] % 2]
        known[1] = state[3]
        known[2] = state[4]
