"""The betting strategy: an expert system before the flop, a formula for triples after it.

A re-creation from published descriptions. Before the flop: Papp 1998, Section 6.1 and appendices A
and B. The income rate IR_2 = 1000 · (2 · equity - 1) against one random holding selects one of six
strategies for the hand; it is exact here where Papp rolled out. Deviation: none heads-up, but most
of the strategies coincide: a player without money in never faces two bets, so Call1, Call2 and
Make1 all call.

After the flop: Papp 1998, Figs 6.2 and 6.3 (the rules), Peña 1999, chapter 4 (triples with smoothed
thresholds); the authors did not print the formula itself. EHS' is without, EHS with negative
potential (`strength.py`).

1 a semi-bluff is dropped on the flop and when facing a bet · 2 strong hands raise · 3 good hands
bet · 4 an unopened pot is bet again after a semi-bluff, or before the river where PPot covers its
odds, else checked · 5 pot odds call (EHS on the river, PPot before) · 6 showdown odds call · 7 else
fold · 8 strong hands are sometimes played slowly · 9 the river is sometimes bluffed
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.poker.betting.betting import CALL, FOLD, RAISE
from counterplay.poker.bots.poki.settings import PokiSettings, Threshold, Triple
from counterplay.poker.bots.poki.strength import HandStrength
from counterplay.poker.cards.strength import PREFLOP_TOTAL
from counterplay.poker.cards.tables import strengths

MAKE0, CALL1, MAKE1, CALL2, MAKE2, MAKE4 = "Make0", "Call1", "Make1", "Call2", "Make2", "Make4"
#: A strategy raises while the round has fewer bets than this; the big blind is the first.
RAISES_BELOW = {MAKE0: 0, CALL1: 0, MAKE1: 1, CALL2: 0, MAKE2: 2, MAKE4: 4}
RIVER = 3


@cache
def preflop_equity() -> np.ndarray:
    """float64[1326]: probability to win against a random holding, ties counted half."""
    return strengths().preflop.astype(np.float64) / PREFLOP_TOTAL


@cache
def income_rates() -> np.ndarray:
    """float64[1326]: IR_2 of every holding."""
    return 1000.0 * (2.0 * preflop_equity() - 1.0)


def choose_strategy(rate: float, seat: int, settings: PokiSettings) -> str:
    """The strategy of a hand with this IR_2; seat 0 is the small blind, with one player to act
    after it."""
    position = 1 - seat
    make1, make2, make4 = (
        base + increment * position
        for base, increment in (settings.make1, settings.make2, settings.make4)
    )
    if rate >= make4:
        return MAKE4
    if rate >= make2:
        return MAKE2
    return MAKE1 if rate >= make1 else MAKE0


def preflop_action(strategy: str, bets: int, bets_to_call: int, paid_freely: bool) -> str:
    """The action of a strategy. A raise beyond the cap becomes a call in the caller."""
    if bets < RAISES_BELOW[strategy]:
        return RAISE
    if strategy == MAKE0:
        return FOLD if bets_to_call > 0 else CALL
    if strategy in (CALL1, MAKE1) and bets_to_call >= 2 and not paid_freely:
        return FOLD
    return CALL


class BettingContext(NamedTuple):
    """The public facts of a decision, amounts in small bets."""

    round: int  # 1 flop, 2 turn, 3 river
    faced: int  # 0, 1, or 2 and more bets
    bet: float  # size of a bet of the round
    to_call: float
    pot: float
    semi_bluffing: bool  # a semi-bluff was started and not answered
    last: bool  # a check ends the round


def allows_semi_bluff(
    context: BettingContext, strength: HandStrength, settings: PokiSettings
) -> bool:
    """Rule 4: PPot1 >= 2 · bet / (pot + 6 · bet), or started before; only hands that would not
    bet for value."""
    if context.faced > 0 or strength.ehs_optimistic >= sum(settings.bet) / 2:
        return False
    odds = 2.0 * context.bet / (context.pot + 6.0 * context.bet)
    return context.semi_bluffing or (context.round < RIVER and strength.ppot >= odds)


def odds_call(context: BettingContext, strength: HandStrength, settings: PokiSettings) -> bool:
    """Rules 5 and 6: whether pot odds or showdown odds justify a call."""
    odds = context.to_call / (context.pot + context.to_call)
    if context.round == RIVER:
        return strength.ehs_optimistic >= odds
    cost = settings.showdown_bets[context.round - 1] * context.bet
    return strength.ppot >= odds or strength.ehs >= (context.to_call + cost) / (
        context.pot + context.to_call + 2.0 * cost
    )


def triple(context: BettingContext, strength: HandStrength, settings: PokiSettings) -> Triple:
    """The triple: probabilities of fold, call (or check) and raise (or bet)."""
    ehs = strength.ehs_optimistic
    if context.faced == 0:
        waits = settings.slow_play if context.last else settings.check_raise
        bets = _ramp(ehs, settings.bet) * (1.0 - waits * _ramp(ehs, settings.raise_once))
        if allows_semi_bluff(context, strength, settings):
            bets = max(bets, settings.semi_bluff)
        elif context.round == RIVER and ehs <= settings.bet[0]:
            bets = settings.river_bluff
        bets = _clip(bets, settings.least)
        return 0.0, 1.0 - bets, bets
    raise_at = settings.raise_once if context.faced == 1 else settings.raise_again
    call_at = settings.call_one if context.faced == 1 else settings.call_more
    raises = _clip((1.0 - settings.slow_play) * _ramp(ehs, raise_at), settings.least)
    stays = 1.0 if odds_call(context, strength, settings) else _ramp(ehs, call_at)
    folds = (1.0 - raises) * (1.0 - stays)
    return folds, 1.0 - folds - raises, raises


def _ramp(value: float, threshold: Threshold) -> float:
    """0 below, 1 above, linear within a smoothed threshold."""
    low, high = threshold
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _clip(probability: float, least: float) -> float:
    return min(1.0 - least, max(least, probability))
