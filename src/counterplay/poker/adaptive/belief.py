"""What the adaptive player believes about its opponent, spot by spot, and in words.

A spot pools decisions of one kind, as the player's own evidence does (`poker/models/pooled.py`),
with the first decision before the flop apart from those that face a raise. What the opponent did
there is counted; what the equilibrium and the player's present model would have done at the same
decisions is predicted from ranges (`poker/models/predict.py`). Reading it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.evidence import ALPHA, Deviation, half_width
from counterplay.core.responses.standing import EQUILIBRIUM as EQUILIBRIUM
from counterplay.core.responses.standing import LEARNT as LEARNT
from counterplay.core.responses.standing import PROBING as PROBING
from counterplay.core.responses.standing import arm_text as arm_text
from counterplay.poker.betting.betting import ACTIONS, STREETS, BettingTree
from counterplay.poker.bots.bot import Ending
from counterplay.poker.models.model import decision_kind
from counterplay.poker.models.pooled import N_KINDS
from counterplay.poker.models.predict import Predictor

LEARNT_MODEL = "learnt model"  # among the hypotheses
OPENING = N_KINDS  # the first decision before the flop, apart from those that face a raise
N_SPOTS = N_KINDS + 1
WIDE = 0.3  # half an interval from which on a frequency has too few hands
TOO_FEW = "too few hands"
_OPENS = ("open-folds", "limps in", "open-raises")  # fold, call, raise


def spot_of(tree: BettingTree) -> np.ndarray:
    """int64[n]: the spot of every public node, its kind (`decision_kind`) or `OPENING`."""
    spots: np.ndarray = decision_kind(tree, np.arange(len(tree.states))).copy()
    spots[0] = OPENING
    return spots


def _facing(spot: int) -> tuple[int, bool, bool]:
    """Street, whether a bet is faced, whether a raise is legal."""
    street, legal = (0, 3) if spot == OPENING else divmod(spot, 4)
    return street, legal >= 2, bool(legal % 2)


def spot_text(spot: int) -> str:
    """`flop, facing a bet`."""
    street, facing, raisable = _facing(spot)
    if spot == OPENING:
        return "before the flop, first to act"
    bet = "bet" if street else "raise"
    name = STREETS[street] if street else "before the flop"
    if not facing:
        return f"{name}, nobody has {bet if street else 'raised'}"
    return f"{name}, facing a {bet}{'' if raisable else ', no raise left'}"


def spot_actions(spot: int) -> tuple[str | None, ...]:
    """The names of fold, call and raise in a spot; None where they are not legal."""
    street, facing, raisable = _facing(spot)
    fold, call = ("fold", "call") if facing else (None, "check")
    more = "bet" if street and not facing else "raise"
    return fold, call, more if raisable else None


def finding_text(finding: Deviation) -> str:
    """`folds the river to a bet 61% ± 5% (95%), an equilibrium 34%`. An interval that is wide is
    not shown: only on which side of the equilibrium the frequency is was confirmed."""
    street, facing, raisable = _facing(finding.group)
    where = f" the {STREETS[street]}" if street else " before the flop"
    does = f"{spot_actions(finding.group)[finding.action]}s"
    if finding.group == OPENING:
        what = f"{_OPENS[finding.action]}{where}"
    elif facing:
        capped = "" if raisable else ", where no raise is left"
        what = f"{does}{where} to a {'bet' if street else 'raise'}{capped}"
    else:
        what = f"{does}{where} when nobody has {'bet' if street else 'raised'}"
    shares = (finding.share, finding.half, finding.expected)
    share, half, expected = (round(100 * x) for x in shares)
    if finding.half > WIDE:
        way = "more" if finding.share > finding.expected else "less"
        return f"{what} {way} often than an equilibrium ({expected}%); {TOO_FEW} to say how often"
    return f"{what} {share}% ± {half}% (95%), an equilibrium {expected}%"


def gain_text(gain: Any, scale: float) -> str:
    """`+0.30 ± 0.10 sb/h (95%)`; `scale`: from its standard deviation to half the interval."""
    return f"{gain.gain:+.2f} ± {scale * gain.error:.2f} sb/h (95%)"


@dataclass(frozen=True)
class SpotBelief:
    """One spot: the counts of fold, call and raise, and the mean probabilities there."""

    spot: int
    taken: tuple[int, ...]  # by the opponent
    half: float  # half the interval of a frequency, valid for all spots at any time
    expected: tuple[float, ...]  # of the equilibrium
    believed: tuple[float, ...]  # of the model


@dataclass(frozen=True)
class OpponentBelief:
    """The model of the opponent and what it says."""

    prior: str  # the strategy that the model starts from: the equilibrium or a known player
    learnt_from: int  # hands; 0 before the first update, when the model is the equilibrium
    next_update: int  # the number of hands at which it comes
    model: Strategy = field(repr=False)
    equilibrium: Strategy = field(repr=False)
    spots: tuple[SpotBelief, ...] = ()


def spot_beliefs(
    endings: Iterable[Ending], equilibrium: Strategy, model: Strategy
) -> tuple[SpotBelief, ...]:
    """The spots in which the opponent has decided in these hands."""
    spots = spot_of(equilibrium.game.rules.tree)
    predictor = Predictor(equilibrium.game, [equilibrium, model])
    taken = np.zeros((N_SPOTS, len(ACTIONS)))
    shares = np.zeros((N_SPOTS, len(ACTIONS), 2))
    for ending in endings:
        decisions, predicted, _ = predictor.predict(ending)
        for d, (node, action) in enumerate(zip(decisions.node, decisions.action, strict=True)):
            taken[spots[node], action] += 1
            shares[spots[node]] += predicted[d]
    n = taken.sum(axis=1)
    found = []
    for spot in sorted(np.flatnonzero(n).tolist(), key=lambda spot: (spot != OPENING, spot)):
        half = float(half_width(n[spot], ALPHA / taken.size))
        expected, believed = (tuple((shares[spot, :, k] / n[spot]).tolist()) for k in (0, 1))
        counts = tuple(int(count) for count in taken[spot])
        found.append(SpotBelief(spot, counts, half, expected, believed))
    return tuple(found)
