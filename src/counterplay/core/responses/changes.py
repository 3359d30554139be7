"""Whether a player has changed: the recent past against his own past, and against no model of him.

A stream is a sequence of categories, such as the first action of a hand in one kind of decision,
that are independent and identically distributed while a player without memory does not change and
meets the same strategy. With n observations of a stream, of which c_k are k,

    E = Σ_τ w_τ KT(x_1..τ) KT(x_τ+1..n) / max_p Π_k p_k^c_k,

KT the Krichevsky-Trofimov mixture of all distributions and w_τ weights of the moment of the change
that add up to 1. The numerator is a probability of the data that was fixed beforehand, and the
denominator is at least their true probability, so that E is an e-process whatever the distribution
is (universal inference: Wasserman, Ramdas & Balakrishnan 2020). So is a mean of the E of all
streams with weights fixed before they begin, and by Ville's inequality it ever exceeds 1/α with
probability α at most, however long the match is. That a model predicts the player badly raises no
alarm: there is none in it.

Deviations: candidates τ are thinned as a stream grows, which only makes alarms rarer.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy.special import gammaln, xlogy

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
