"""What a match says: the mean per hand and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Z95 = 1.959963984540054  # two-sided 95% of a normal distribution


@dataclass(frozen=True)
class MatchResult:
    """Result of `a` against `b`; in hold'em in small bets per hand (sb/h)."""

    game: str
    a: str
    b: str
    hands: int  # played; a duplicate deal is two hands
    duplicate: bool  # every deal played twice, seats swapped
    mean: float  # won by `a` per hand
    standard_error: float
    by_seat: tuple[float, float]  # won by `a` per hand as player 1 (in hold'em the dealer) and as player 2
    seed: int
    seconds: float

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold the true mean."""
        half = Z95 * self.standard_error
        return self.mean - half, self.mean + half

    def __str__(self) -> str:
        low, high = self.interval
        kind = "duplicate hands" if self.duplicate else "hands"
        return f"{self.a} against {self.b}: {self.mean:+.4f} ± {(high - low) / 2:.4f} per hand over {self.hands:,} {kind}"


def summarise(game: str, names: tuple[str, str], won: np.ndarray, duplicate: bool, seed: int, seconds: float) -> MatchResult:
    """`won`: float64[deals, 2], what `a` won as player 1 and as player 2 in each deal; without duplicates every other is NaN."""
    per_deal = np.nanmean(won, axis=1)
    n = len(per_deal)
    error = float(per_deal.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    seats = [float(np.nanmean(won[:, k])) if not np.all(np.isnan(won[:, k])) else math.nan for k in (0, 1)]
    hands = int(np.count_nonzero(~np.isnan(won)))
    return MatchResult(game, *names, hands, duplicate, float(per_deal.mean()), error, (seats[0], seats[1]), seed, seconds)
