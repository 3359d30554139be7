"""Evidence that is valid at any time: confidence sequences on what a player does.

A group pools decisions of a kind (a street, facing a bet or not, and whether a raise is left). At
each decision a reference, such as an equilibrium, expects action a with probability q_t, worked out
before it is seen. What was done less q_t has mean zero under the reference and is sub-Gaussian with
variance 1/4, so by Robbins' normal mixture, with V = n/4,

    |Σ (1[a_t = a] - q_t)| < √((V + ρ) (log((V + ρ)/ρ) + 2 log(1/α)))   for all n at once

with probability 1 - α: whoever looks after every hand, and stops when he likes, is wrong no more
often. The same half width is right for the mean of what the player really does, also when that
depends on the past (Howard, Ramdas, McAuliffe & Sekhon 2021).
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
    """Half of the interval for the mean of n numbers from 0 to 1, at any n; infinite for none."""
    if not 0.0 < alpha < 1.0 or not rho > 0.0:
        raise BadParameter(f"alpha is between 0 and 1 and rho above 0, not {alpha!r}, {rho!r}")
    n = np.asarray(n, dtype=np.float64)
    v = _VARIANCE * n
    square = (v + rho) * (np.log((v + rho) / rho) + 2.0 * np.log(1.0 / alpha))
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.sqrt(square) / n
    return found


class Finding(NamedTuple):
    """What is confirmed: in a group of decisions an action is more or less frequent than the
    reference."""

    group: int
    action: int
    share: float  # how often it was done
    half: float  # half of the interval
    expected: float  # by the reference
    n: int


@dataclass
class Evidence:
    """Counts of g groups and a actions beside what a reference expected."""

    n: np.ndarray  # float64[g]
    done: np.ndarray  # float64[g, a]
    expected: np.ndarray  # float64[g, a]

    @classmethod
    def none(cls, groups: int, actions: int) -> Evidence:
        return cls(np.zeros(groups), np.zeros((groups, actions)), np.zeros((groups, actions)))

    def add(self, group: int, action: int, expected: np.ndarray) -> None:
        """One decision, and what the reference expected of it."""
        self.n[group] += 1.0
        self.done[group, action] += 1.0
        self.expected[group] += expected

    @property
    def _alpha(self) -> float:
        """Of one statement."""
        return ALPHA / self.done.size

    @property
    def half_widths(self) -> np.ndarray:
        """float64[g]: of every share, all statements holding together."""
        return half_width(self.n, self._alpha)

    @property
    def confirmed(self) -> np.ndarray:
        """bool[g]: whether some action deviates for certain."""
        apart = np.abs(self.done - self.expected).max(axis=1)
        seen = np.maximum(self.n, 1.0)
        found: np.ndarray = (self.n > 0) & (apart > half_width(seen, self._alpha) * seen)
        return found

    @property
    def apart(self) -> float:
        """How far what was done is from what was expected, all groups together: the total
        variation, from 0 to 1."""
        return float(np.abs(self.done - self.expected).sum() / max(2.0 * self.n.sum(), 1.0))

    def findings(self) -> list[Finding]:
        """All that is confirmed, the largest deviation first."""
        found = []
        half = self.half_widths
        for group, action in np.argwhere(self.done + self.expected > 0).tolist():
            n = float(self.n[group])
            share, expected = self.done[group, action] / n, self.expected[group, action] / n
            if abs(share - expected) > half[group]:
                found.append(
                    Finding(
                        group, action, float(share), float(half[group]), float(expected), int(n)
                    )
                )
        return sorted(found, key=lambda one: -abs(one.share - one.expected))
