"""Evidence about a player: confidence sequences on his action frequencies, valid at any time.

A group pools decisions of one kind. At each decision a reference, such as an equilibrium, predicts
action a with probability q_t. The indicator of the action less q_t has mean zero under the
reference and is sub-Gaussian with variance 1/4, so by Robbins' normal mixture, with V = n/4,

    |Σ (1[a_t = a] - q_t)| < √((V + ρ) (log((V + ρ)/ρ) + 2 log(1/α)))   for all n at once

with probability 1 - α, also under optional stopping. The same half width holds for the mean of the
player's true probabilities, also when these depend on the past (Howard, Ramdas, McAuliffe & Sekhon
2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter

ALPHA = 0.05  # of all statements together
RHO = 10.0  # V at which the sequence is about tightest
_VARIANCE = 0.25


def half_width(n: np.ndarray | float, alpha: float = ALPHA, rho: float = RHO) -> np.ndarray:
    """Half width of the interval for the mean of n numbers from 0 to 1, valid for all n at once."""
    if not 0.0 < alpha < 1.0 or not rho > 0.0:
        raise BadParameter(f"alpha is between 0 and 1 and rho above 0, not {alpha!r}, {rho!r}")
    n = np.asarray(n, dtype=np.float64)
    v = _VARIANCE * n
    square = (v + rho) * (np.log((v + rho) / rho) + 2.0 * np.log(1.0 / alpha))
    with np.errstate(divide="ignore"):
        half: np.ndarray = np.sqrt(square) / n
    return half


class Deviation(NamedTuple):
    """A confirmed deviation: in a group of decisions an action is more or less frequent than under
    the reference."""

    group: int
    action: int
    share: float  # frequency of the action
    half: float  # half width of the interval
    expected: float  # frequency under the reference
    n: int


@dataclass
class Evidence:
    """Counts in g groups of a actions, and their expectation under a reference."""

    n: np.ndarray  # float64[g]
    taken: np.ndarray  # float64[g, a]
    expected: np.ndarray  # float64[g, a]

    @classmethod
    def none(cls, groups: int, actions: int) -> Evidence:
        return cls(np.zeros(groups), np.zeros((groups, actions)), np.zeros((groups, actions)))

    def add(self, group: int, action: int, expected: np.ndarray) -> None:
        """Adds one decision and the probabilities (float64[a]) that the reference predicted."""
        self.n[group] += 1.0
        self.taken[group, action] += 1.0
        self.expected[group] += expected

    @property
    def _alpha(self) -> float:
        """Error probability of one statement."""
        return ALPHA / self.taken.size

    @property
    def confirmed(self) -> np.ndarray:
        """bool[g]: whether the deviation of some action is confirmed."""
        largest = np.abs(self.taken - self.expected).max(axis=1)
        n = np.maximum(self.n, 1.0)
        confirmed: np.ndarray = (self.n > 0) & (largest > half_width(n, self._alpha) * n)
        return confirmed

    def deviations(self) -> list[Deviation]:
        """All confirmed deviations, the largest first."""
        confirmed = []
        half = half_width(self.n, self._alpha)  # simultaneously valid
        for group, action in np.argwhere(self.taken + self.expected > 0).tolist():
            n = float(self.n[group])
            share, expected = self.taken[group, action] / n, self.expected[group, action] / n
            if abs(share - expected) > half[group]:
                numbers = float(share), float(half[group]), float(expected), int(n)
                confirmed.append(Deviation(group, action, *numbers))
        return sorted(confirmed, key=lambda one: -abs(one.share - one.expected))
