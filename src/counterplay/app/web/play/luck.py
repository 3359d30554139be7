"""Luck taken out of hands at a table (AIVAT; `core/match/luck_adjustment.py`, and hold'em's).

The person's strategy is not known, the opponent's is where he is a strategy or a table. In hold'em
what that needs takes seconds to make, so it is made in the background; hands that were played
before are adjusted when it is there.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from counterplay.app.web.play.walk import Walk
from counterplay.poker.bots.table import TableBot


def without_luck(walk: Walk, strategy: Any, seat: int) -> float:
    """The result of a finished hand of the person in `seat`, in a game with a tree."""
    return float(_payoffs(strategy, seat)[walk.node])


@lru_cache(maxsize=8)
def _payoffs(strategy: Any, seat: int) -> np.ndarray:
    from counterplay.core.match.luck_adjustment import adjusted_payoffs

    both = np.stack([strategy.probabilities, strategy.probabilities])
    return adjusted_payoffs(strategy.game, both, seat, known=(1 - seat,))


class BotLuck:
    """What is known of the luck of hands against a bot of hold'em, as soon as it is."""

    def __init__(self, bot: Any) -> None:
        self._bot, self._asked = bot, False
        self._made: Any = None
        self._lock = threading.Lock()

    def make(self) -> None:
        from counterplay.app.web.games import SHOWN, open_game
        from counterplay.poker.match.luck_adjustment import HoldemLuckAdjustment

        with self._lock:
            if self._made is None:
                self._made = HoldemLuckAdjustment(open_game(SHOWN["holdem"]), None, self._bot)

    def adjusted(self, hand: Any) -> float | None:
        """The person's result of a finished hand; None while it is not known."""
        from counterplay.core.match.luck_adjustment import PlayedDeals

        if not self._asked:
            self._asked = True
            threading.Thread(target=self.make, daemon=True).start()
        if self._made is None or not self._lock.acquire(blocking=False):
            return None
        try:
            raw = PlayedDeals(
                np.array([hand.cards], dtype=np.uint8),
                np.full((1, 2), np.nan),
                np.zeros((1, 2), dtype=np.int32),
            )
            raw.won[0, hand.seat], raw.ends[0, hand.seat] = hand.won, hand.node
            return float(self._made.adjusted(raw)[0, hand.seat])
        finally:
            self._lock.release()


_of_programs = BotLuck(None)
_of_tables: WeakKeyDictionary[Any, BotLuck] = WeakKeyDictionary()


def luck_of(bot: Any) -> BotLuck:
    """How luck is taken out of hands against a bot; programs have it in common."""
    if not isinstance(bot, TableBot):
        return _of_programs
    if bot not in _of_tables:
        _of_tables[bot] = BotLuck(bot)
    return _of_tables[bot]
