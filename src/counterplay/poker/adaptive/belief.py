"""What the adaptive player believes about its opponent, spot by spot.

A spot pools decisions of one kind, as the player's own evidence does (`poker/models/tilted.py`),
with the first decision before the flop apart from those that face a raise. What the opponent did
there is counted; what the equilibrium and the player's present model would have done at the same
decisions is predicted from ranges (`poker/models/predict.py`). Reading it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.poker.adaptive.words import N_SPOTS, OPENING, spot_of
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Ending
from counterplay.poker.models.predict import Predictor
from counterplay.poker.models.tilted import ALPHA, half_width


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
