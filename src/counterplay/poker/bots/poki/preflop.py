"""Poki before the flop: income rates and six strategies, of which one is chosen for a hand.

A re-creation from published descriptions: Papp 1998, Section 6.1 and appendices A and B.
IR_2 = 1000 · (2 · equity - 1) against one random holding, here exact where Papp rolled out.

Deviation: none heads-up, but most of the strategies meet: two bets to call never stand before a
player without money in, so Call1, Call2 and Make1 all call.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from counterplay.poker.betting.betting import CALL, FOLD, RAISE
from counterplay.poker.bots.poki.settings import PokiSettings
from counterplay.poker.cards.strength import PREFLOP_TOTAL
from counterplay.poker.cards.tables import strengths

MAKE0, CALL1, MAKE1, CALL2, MAKE2, MAKE4 = "Make0", "Call1", "Make1", "Call2", "Make2", "Make4"
#: A strategy raises while the round has fewer bets than this; the big blind is the first.
RAISES_BELOW = {MAKE0: 0, CALL1: 0, MAKE1: 1, CALL2: 0, MAKE2: 2, MAKE4: 4}


@cache
def preflop_equity() -> np.ndarray:
    """float64[1326]: chance to win against a random holding, ties half."""
    return strengths().preflop.astype(np.float64) / PREFLOP_TOTAL


@cache
def income_rates() -> np.ndarray:
    """float64[1326]: IR_2 of every holding."""
    return 1000.0 * (2.0 * preflop_equity() - 1.0)


def choose_strategy(rate: float, seat: int, settings: PokiSettings) -> str:
    """The strategy of a hand with this IR_2; seat 0 is the small blind, with one player to act
    after him."""
    position = 1 - seat
    limits = {
        name: base + increment * position
        for name, (base, increment) in (
            (MAKE1, settings.make1),
            (MAKE2, settings.make2),
            (MAKE4, settings.make4),
        )
    }
    for name, limit in (
        (MAKE4, limits[MAKE4]),
        (MAKE2, limits[MAKE2]),
        (CALL2, limits[MAKE2]),
        (MAKE1, limits[MAKE1]),
    ):
        if rate >= limit and (name != CALL2 or seat == 0):
            return name
    return CALL1 if seat == 0 and rate >= limits[MAKE1] else MAKE0


def preflop_action(strategy: str, bets: int, bets_to_call: int, paid_freely: bool) -> str:
    """What a strategy does. It may raise where the cap forbids it; the caller makes a call of
    that."""
    if bets < RAISES_BELOW[strategy]:
        return RAISE
    if strategy == MAKE0:
        return FOLD if bets_to_call > 0 else CALL
    if strategy in (CALL1, MAKE1) and bets_to_call >= 2 and not paid_freely:
        return FOLD
    return CALL
