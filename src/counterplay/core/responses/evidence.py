"""Evidence about a player, valid at any time: on his action frequencies, and on whether he has
changed.

**Deviations.** A group pools decisions of one kind. At each decision a reference, such as an
equilibrium, predicts action a with probability q_t. The indicator of the action less q_t has mean
zero under the reference and is sub-Gaussian with variance 1/4, so by Robbins' normal mixture, with
V = n/4,

    |Σ (1[a_t = a] - q_t)| < √((V + ρ) (log((V + ρ)/ρ) + 2 log(1/α)))   for all n at once

with probability 1 - α, also under optional stopping. The same half width holds for the mean of the
player's true probabilities, also when these depend on the past (Howard, Ramdas, McAuliffe & Sekhon
2021).

**Changes.** The recent past is tested against the player's own past, and against no model of him. A
stream is a sequence of categories, such as the first action of a hand in one kind of decision, that
are independent and identically distributed while a player without memory does not change and meets
the same strategy. With n observations of a stream, of which c_k are k,

    E = Σ_τ w_τ KT(x_1..τ) KT(x_τ+1..n) / max_p Π_k p_k^c_k,

KT the Krichevsky-Trofimov mixture of all distributions and w_τ weights of the moment of the change
that add up to 1. The numerator is a probability of the data that was fixed beforehand, and the
denominator is at least their true probability, so that E is an e-process whatever the distribution
is (universal inference: Wasserman, Ramdas & Balakrishnan 2020). So is a mean of the E of all
streams with weights fixed before they begin, and by Ville's inequality it ever exceeds 1/α with
probability α at most, however long the match is. That a model predicts the player badly raises no
alarm: there is none in it. Deviation: candidates τ are thinned as a stream grows, which only makes
alarms rarer.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

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


# --- whether a player has changed

FALSE_ALARMS = 0.01  # α: probability of any alarm, while nothing changes
CANDIDATES = 256  # of τ, at most
_TOTAL = 2.11  # at least Σ 1/(t log² t) over t = 2, 3, ...


class Stream:
    """Categories observed one after the other, and the evidence that they have changed."""

    def __init__(self, categories: int) -> None:
        self.counts = np.zeros(categories)
        self._before = np.zeros((0, categories))  # counts at each candidate τ
        self._fixed = np.zeros((0, 2))  # log KT of these, and -log w_τ
        self._first: list[int] = []  # the hand of the first observation after it
        self.log_e, self.since = 0.0, 0

    def add(self, hand: int, category: int) -> None:
        """Adds an observation; updates log E and the most likely hand of a change, `since`."""
        if self.counts.any():
            t = self.counts.sum() + 1.0
            fixed = log_mixture(self.counts), np.log(_TOTAL * t * np.log(t) ** 2)
            self._before = np.vstack([self._before, self.counts])
            self._fixed = np.vstack([self._fixed, fixed])
            self._first.append(hand)
        self.counts[category] += 1.0
        if not self._first:
            return
        n = self.counts.sum()
        terms = self._fixed[:, 0] + log_mixture(self.counts - self._before)
        terms -= self._fixed[:, 1] + float(xlogy(self.counts, self.counts / n).sum())
        best = int(terms.argmax())
        self.log_e, self.since = float(np.logaddexp.reduce(terms)), self._first[best]
        if len(self._first) > CANDIDATES:
            keep = np.r_[0 : CANDIDATES // 2 : 2, CANDIDATES // 2 : len(self._first)]
            self._before, self._fixed = self._before[keep], self._fixed[keep]
            self._first = [self._first[k] for k in keep]


def log_mixture(counts: np.ndarray) -> np.ndarray:
    """log KT of sequences with these counts (float64[..., k])."""
    k = counts.shape[-1]
    known = gammaln(counts + 0.5).sum(axis=-1) - gammaln(counts.sum(axis=-1) + 0.5 * k)
    return np.asarray(known + gammaln(0.5 * k) - k * gammaln(0.5))


class ChangeDetector:
    """The streams of one player. `false_alarms`: α."""

    def __init__(self, false_alarms: float = FALSE_ALARMS) -> None:
        self.limit = float(np.log(1.0 / false_alarms))
        self._streams: dict[Hashable, tuple[float, Stream]] = {}

    def add(self, hand: int, key: Hashable, weight: float, category: int, categories: int) -> None:
        """Adds an observation to the stream `key`. The weights of all streams that there may be
        add up to 1 at most, and are fixed before their first observation."""
        if key not in self._streams:
            self._streams[key] = float(np.log(weight)), Stream(categories)
        self._streams[key][1].add(hand, category)

    @property
    def log_e(self) -> float:
        """log of the weighted mean of all E."""
        known = [weight + stream.log_e for weight, stream in self._streams.values()]
        return float(np.logaddexp.reduce(known)) if known else 0.0

    @property
    def changed_at(self) -> int | None:
        """The first hand after a change; None without an alarm."""
        if not self._streams or self.log_e <= self.limit:
            return None
        return max(self._streams.values(), key=lambda one: one[0] + one[1].log_e)[1].since
