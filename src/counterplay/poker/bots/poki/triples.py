"""What Poki does after the flop: nine rules, as probabilities of fold, call and raise.

A re-creation from published descriptions: Papp 1998, Figs 6.2 and 6.3 (the rules), Peña 1999,
chapter 4 (triples with smoothed borders); the authors did not print the formula itself. EHS' is
without, EHS with negative potential (`strength.py`).

1 a semi-bluff is forgotten on the flop and when facing a bet · 2 strong hands raise · 3 good hands
bet · 4 an unopened pot is bet again after a semi-bluff, or before the river where PPot covers its
odds, else checked · 5 pot odds call (EHS on the river, PPot before) · 6 showdown odds call · 7 else
fold · 8 strong hands are sometimes played slowly · 9 the river is sometimes bluffed
"""

from __future__ import annotations

from typing import NamedTuple

from counterplay.poker.bots.poki.settings import Border, PokiSettings, Triple
from counterplay.poker.bots.poki.strength import Strength

RIVER = 3


class Spot(NamedTuple):
    """The betting as a decision sees it, amounts in small bets."""

    round: int  # 1 flop, 2 turn, 3 river
    faced: int  # 0, 1, or 2 and more bets
    bet: float  # size of a bet of the round
    to_call: float
    pot: float
    flag: bool  # a semi-bluff was started and not answered
    last: bool  # nobody acts after a check


def allows_semi_bluff(spot: Spot, strength: Strength, settings: PokiSettings) -> bool:
    """Rule 4: PPot1 >= 2 · bet / (pot + 6 · bet), or started before; only hands that would not
    bet for value."""
    if spot.faced > 0 or strength.optimistic >= sum(settings.bet) / 2:
        return False
    return spot.flag or (
        spot.round < RIVER and strength.ppot >= 2.0 * spot.bet / (spot.pot + 6.0 * spot.bet)
    )


def odds_call(spot: Spot, strength: Strength, settings: PokiSettings) -> bool:
    """Rules 5 and 6: is a call right by pot odds or by showdown odds."""
    odds = spot.to_call / (spot.pot + spot.to_call)
    if spot.round == RIVER:
        return strength.optimistic >= odds
    cost = settings.showdown_bets[spot.round - 1] * spot.bet
    return strength.ppot >= odds or strength.full >= (spot.to_call + cost) / (
        spot.pot + spot.to_call + 2.0 * cost
    )


def triple(spot: Spot, strength: Strength, settings: PokiSettings) -> Triple:
    """Probabilities of fold, call (or check) and raise (or bet)."""
    ehs = strength.optimistic
    if spot.faced == 0:
        waits = settings.slow_play if spot.last else settings.check_raise
        bets = _between(ehs, settings.bet) * (1.0 - waits * _between(ehs, settings.raise_once))
        if allows_semi_bluff(spot, strength, settings):
            bets = max(bets, settings.semi_bluff)
        elif spot.round == RIVER and ehs <= settings.bet[0]:
            bets = settings.river_bluff
        bets = _inside(bets, settings.least)
        return 0.0, 1.0 - bets, bets
    raise_border = settings.raise_once if spot.faced == 1 else settings.raise_again
    call_border = settings.call_one if spot.faced == 1 else settings.call_more
    raises = _inside((1.0 - settings.slow_play) * _between(ehs, raise_border), settings.least)
    stays = 1.0 if odds_call(spot, strength, settings) else _between(ehs, call_border)
    folds = (1.0 - raises) * (1.0 - stays)
    return folds, 1.0 - folds - raises, raises


def _between(value: float, border: Border) -> float:
    """The straight line of a border."""
    low, high = border
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _inside(probability: float, least: float) -> float:
    return min(1.0 - least, max(least, probability))
