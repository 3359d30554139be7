"""Whether the opponent is still the same: an e-detector (Shin, Ramdas & Rinaldo 2023).

The model that is believed predicts every hand before it is seen; so do others: the equilibrium, the
models of the portfolio, and what was done lately, pooled. For each of these the ratio of its
prediction to that of the believed model is an e-value, and

    C_t = max(0, C_{t-1} + log ratio_t)

the CUSUM of it. While the opponent plays as is believed, a C above log(J/α), J the number of
others, comes once in 1/α hands at most, on average. Then everything before the hand where that C
was last 0 is forgotten: nothing is forgotten without evidence. Log ratios above `MOST` are cut,
which only makes alarms rarer.
"""

from __future__ import annotations

import numpy as np

ALPHA = 1e-6  # false alarms per hand, at most
RECENT = 200.0  # decisions that count among the recent ones
MOST = 3.0  # that one hand may say for another: no single surprise is a change
SMALLEST = 1.0  # observations that an even share is worth there


class ChangeDetector:
    """CUSUMs of `others` rival predictions and of recent frequencies in g groups."""

    def __init__(self, others: int, groups: int, hand: int = 0) -> None:
        """`hand`: the number of the next one."""
        self.sums = np.zeros(others + 1)
        self.since = np.full(others + 1, hand)  # the hand where a sum was last 0
        self._recent = np.zeros((groups, 3))

    @property
    def limit(self) -> float:
        return float(np.log(len(self.sums) / ALPHA))

    def recent(self, group: int, action: int, legal: np.ndarray) -> float:
        """How likely an action is by what was done lately; then it is counted. `legal`:
        bool[3]."""
        counts = self._recent[group]
        even = SMALLEST * legal
        share = float((counts[action] + even[action]) / (counts.sum() + even.sum()))
        counts *= 1.0 - 1.0 / RECENT
        counts[action] += 1.0
        return share

    def add(self, hand: int, believed: float, others: np.ndarray, recent: float) -> int | None:
        """One hand with its log likelihoods. The first hand of the new player, if the old one is
        gone. `recent` takes no account of cards that were shown."""
        gains = np.append(others, recent) - believed
        self.sums += np.minimum(gains, MOST)
        gone = self.sums <= 0.0
        self.sums[gone] = 0.0
        self.since[gone] = hand + 1
        best = int(self.sums.argmax())
        return int(self.since[best]) if self.sums[best] > self.limit else None
