"""Who plays the next hands: a bandit over the equilibrium, the members of a portfolio and the
learnt response.

What is estimated of each arm is its gain over the equilibrium, per hand. Two estimates are put
together by their precision. The model's, gain ~ N(g, τ² + s²/n): what the arm wins from the
model of the opponent learnt from n hands so far; it has hardly any noise, and is wrong where the
model is. Importance sampling over all hands since the arm is there (`offpolicy.py`): right on
average, and noisy. An arm is played when its gain is above 0 by more than one standard deviation,
and the best of these plays. The equilibrium's gain is 0, for certain: it plays unless another arm
has earned it. Since every hand speaks for every arm, whoever played it, nothing is explored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MODEL_ERROR = 0.08  # τ, sb/h: of a model learnt from very many hands
HAND_ERROR = 4.5  # s, sb: of one learnt from a single hand
PRIOR_HANDS, PRIOR_SPREAD = 50.0, 20.0  # what is known of importance sampling before the first hand
CAUTION = 1.0  # standard deviations
STAY = 0.03  # sb/h by which another arm must be better before the one that plays is changed


@dataclass
class BanditArm:
    """What is known of the gain of one."""

    name: str
    gain: float = 0.0  # over the equilibrium, by the model
    n: float = 0.0  # hands it was estimated in by importance sampling
    mean: float = 0.0  # of the gain in these
    squares: float = 0.0  # about the mean

    def add(self, gain: float) -> None:
        """The estimate of one hand (Welford)."""
        self.n += 1.0
        apart = gain - self.mean
        self.mean += apart / self.n
        self.squares += apart * (gain - self.mean)

    @property
    def variance(self) -> float:
        """Of the mean by importance sampling; a spread of `PRIOR_SPREAD` is believed at first."""
        if self.n == 0:
            return float("inf")
        spread = PRIOR_HANDS * PRIOR_SPREAD**2 + self.squares
        return float(spread / (PRIOR_HANDS + self.n) / self.n)


@dataclass(frozen=True)
class GainEstimate:
    """The gain of an arm over the equilibrium, per hand."""

    name: str
    gain: float
    error: float  # standard deviation
    by_model: float
    by_hands: float

    @property
    def sure(self) -> float:
        """The gain less `CAUTION` standard deviations."""
        return self.gain - CAUTION * self.error


def gain_of(arm: BanditArm, hands: int) -> GainEstimate:
    """Both estimates together; the model was learnt from so many hands."""
    if hands == 0:
        return GainEstimate(arm.name, 0.0, float("inf"), 0.0, arm.mean)
    prior = MODEL_ERROR**2 + HAND_ERROR**2 / hands
    weight = 1.0 / prior
    gain, total = arm.gain * weight, weight
    if arm.n > 0:
        gain += arm.mean / arm.variance
        total += 1.0 / arm.variance
    return GainEstimate(arm.name, gain / total, float(np.sqrt(1.0 / total)), arm.gain, arm.mean)


def choose(arms: list[BanditArm], hands: int, playing: int) -> tuple[int, list[GainEstimate]]:
    """Which arm plays: 0, the equilibrium, or the best of those that are surely better.
    `playing`: the one that does now."""
    estimates = [GainEstimate(arms[0].name, 0.0, 0.0, 0.0, 0.0)]
    estimates += [gain_of(arm, hands) for arm in arms[1:]]
    better = [k for k in range(1, len(arms)) if estimates[k].sure > 0.0]
    best = max(better, key=lambda k: estimates[k].gain, default=0)
    if playing in better and estimates[best].gain < estimates[playing].gain + STAY:
        best = playing
    return best, estimates
