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

Every constant of Poki is in `PokiSettings`. [published] values name their source: Papp 1998
(Loki-1), Peña 1999 (Loki-2), Davidson 2002 and Billings 2006 (Poki). [guess] values were never
published. Of the guesses, [fitted] ones were chosen so that Poki wins from Always Call and Always
Raise what the authors report (0.51 to 0.54 and 2.14 to 2.29 small bets a hand; Billings 2003,
2004). A threshold (low, high) is smoothed: never below `low`, always above `high`, linear between.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.poker.betting.betting import CALL, FOLD, RAISE
from counterplay.poker.bots.poki.strength import HandStrength
from counterplay.poker.cards.strength import PREFLOP_TOTAL, strengths

MAKE0, CALL1, MAKE1, CALL2, MAKE2, MAKE4 = "Make0", "Call1", "Make1", "Call2", "Make2", "Make4"
#: A strategy raises while the round has fewer bets than this; the big blind is the first.
RAISES_BELOW = {MAKE0: 0, CALL1: 0, MAKE1: 1, CALL2: 0, MAKE2: 2, MAKE4: 4}
RIVER = 3

Threshold = tuple[float, float]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class PokiSettings:
    """The constants of the formulas."""

    # Pre-flop: (base, increment) in IR_2. [published] Papp 1998, appendix B: two players, loose,
    # the default of Loki.
    make1: tuple[float, float] = (-50.0, 50.0)
    make2: tuple[float, float] = (0.0, 0.0)
    make4: tuple[float, float] = (300.0, 0.0)

    # Own decisions after the flop, on the weighted EHS.
    # [published] Papp's smoothing of his 0.50 to bet: 0 % at 0.40, 100 % at 0.60.
    bet: Threshold = (0.40, 0.60)
    # [guess, fitted] Papp and Davidson: always above 0.85.
    raise_once: Threshold = (0.60, 0.75)
    # [guess, fitted] Loki-1 never put in a third bet; Poki does.
    raise_again: Threshold = (0.65, 0.80)
    # [guess] Davidson: almost always folds below 0.25; Papp: 0.50 calls a bet.
    call_one: Threshold = (0.25, 0.50)
    # [guess] Papp's Make(1) calls with 0.50 once it has bet.
    call_more: Threshold = (0.40, 0.60)
    # [published] smallest and largest probability of a triple in play, Peña 1999.
    least: float = 0.01
    # [published] how often a raising hand only calls, or checks in last place: Davidson's example
    # (0, .05, .95).
    slow_play: float = 0.05
    # [guess, fitted] how often a raising hand checks in first place: "some check-raises".
    check_raise: float = 0.45
    # [published] how often a semi-bluff that the odds allow is tried; Papp: always.
    semi_bluff: float = 1.0
    # [guess, fitted] how often a hand below the threshold bets an unopened river: "pure bluffs" of
    # unpublished frequency.
    river_bluff: float = 0.15
    # [published] expected cost of reaching the showdown, in bets of the round, on the flop and the
    # turn: Papp 1998, Fig. 6.3.
    showdown_bets: tuple[float, float] = (4.0, 1.0)

    # The model of the opponent.
    # [published] Davidson 2002, Section 3.3.3: best heads-up.
    noise: float = 0.4
    # [published] smallest weight of a possible holding.
    floor: float = 0.01
    # [published] prior triples for 0, 1 and 2 or more bets faced.
    defaults: tuple[Triple, Triple, Triple] = ((0.0, 0.5, 0.5), (0.5, 0.3, 0.2), (0.7, 0.2, 0.1))
    # [published] observations below which a context borrows from the round before it.
    enough: int = 20
    # [published] actions of each context that are remembered: Davidson's Statistics II.
    memory: int = 40
    # [published] half width of the opponent's threshold mu after the flop: Papp's sigma =
    # 0.4 · (1 - mu).
    sigma: float = 0.4
    # [guess] added to it, so that a threshold at 1 is not a step.
    least_sigma: float = 0.02
    # [guess] half width before the flop, in IR_2: Papp's sigma, published for IR_7.
    preflop_sigma: float = 330.0


@cache
def preflop_equity() -> np.ndarray:
    """float64[1326]: probability to win against a random holding, ties counted half."""
    return strengths().preflop.astype(np.float64) / PREFLOP_TOTAL


@cache
def income_rates() -> np.ndarray:
    """float64[1326]: IR_2 of every holding."""
    return 1000.0 * (2.0 * preflop_equity() - 1.0)


def choose_strategy(rate: float, seat: int, settings: PokiSettings) -> str:
    """The strategy of a hand with this IR_2; seat 0, the small blind, has one player after it."""
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
    """Rule 4: PPot1 >= 2 · bet / (pot + 6 · bet), or started before; not for hands with value."""
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
