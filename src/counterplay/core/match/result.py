"""What a match says: the mean per hand and how sure that is.

The error is that of independent pieces: of deals, or, where players remember and there are enough
of them, of whole sessions. A deal played in both seats is one piece, whose value is the mean of the
two. Where every deal is played once, the mean is that of the two seats, and each seat has its own
spread: that one seat wins more than the other is no luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular, one_row
from counterplay.core.match.tally import Tally, add_up

LEVEL = 0.95
#: From so many sessions on, players who remember are judged by the spread of their sessions.
ENOUGH_SESSIONS = 10
_TWICE, _ONCE = 0, 3  # rows of a tally


@dataclass(frozen=True)
class Adjusted:
    """What `a` won per hand with luck taken out (AIVAT)."""

    mean: float
    standard_error: float
    degrees: float = math.inf

    @classmethod
    def of(cls, found: Estimate) -> Adjusted:
        return cls(found.mean, found.standard_error, found.degrees)

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold the true mean."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class MatchResult(Tabular):
    """Result of `a` against `b`; in hold'em in small bets per hand (sb/h)."""

    game: str
    a: str
    b: str
    hands: int  # played; a duplicate deal is two hands
    duplicate: bool  # every deal played twice, seats swapped
    mean: float  # won by `a` per hand, the mean of both seats
    standard_error: float  # NaN where a single deal leaves it open
    by_seat: tuple[
        float, float
    ]  # won by `a` per hand as player 1 (in hold'em the dealer) and as player 2
    seed: int
    seconds: float
    degrees: float = math.inf  # of freedom: how well the standard error is known (Student's t)
    stopped: bool = False  # before all hands were played
    seat: int | None = None  # the only one `a` played in, where a response is for one seat
    adjusted: Adjusted | None = None  # the same with the luck taken out, where that was done

    @classmethod
    def of(
        cls, game: str, names: tuple[str, str], whole: Estimate, seed: int, **more: Any
    ) -> MatchResult:
        """What an estimate says; `more`: the other fields."""
        hands, twice, degrees = whole.hands, whole.twice, whole.degrees
        mean, error, seats = whole.mean, whole.standard_error, whole.by_seat
        return cls(game, *names, hands, twice, mean, error, seats, seed, degrees=degrees, **more)

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold the true mean; infinite where a single deal leaves it open."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half

    def columns(self) -> Columns:
        """One row, the interval as `low` and `high`, seats as `as_player_1` and `as_player_2`."""
        low, high = self.interval
        facts = {name: getattr(self, name) for name in ("game", "a", "b", "hands", "duplicate")}
        facts |= {"mean": self.mean, "standard_error": self.standard_error}
        facts |= {"low": low, "high": high, "as_player_1": self.by_seat[0]}
        return one_row(facts | {"as_player_2": self.by_seat[1], "seed": self.seed})

    def _figure(self) -> Any:
        from counterplay.core.base.plotting import COLOURS, new_figure

        figure, axes = new_figure(1, 1, 6.0, 1.8)
        axis, half = axes[0, 0], (self.interval[1] - self.interval[0]) / 2
        within = half if math.isfinite(half) else None
        axis.axvline(0.0, color="black", linewidth=1)
        axis.errorbar([self.mean], [2], xerr=within, fmt="o", color=COLOURS[0], capsize=4)
        axis.plot(self.by_seat, [1, 0], "s", color=COLOURS[1])
        names = ["as player 2", "as player 1", "mean, 95%"]
        title = f"{self.a} against {self.b}"
        axis.set(yticks=[0, 1, 2], yticklabels=names, xlabel="won per hand", title=title)
        return figure

    def _repr_html_(self) -> str:
        return display.heading(str(self)) + display.picture(
            self._figure(), "the mean and its interval"
        )

    def __str__(self) -> str:
        low, high = self.interval
        kind = "duplicate hands" if self.duplicate else "hands"
        where = "" if self.seat is None else f", {self.a} in player {self.seat + 1}'s seat only"
        won = f"{self.mean:+.4f} ± {(high - low) / 2:.4f} per hand"
        return f"{self.a} against {self.b}: {won} over {self.hands:,} {kind}{where}"


def half_width(standard_error: float, degrees: float) -> float:
    """Half of a 95% interval."""
    from scipy.special import ndtri, stdtrit  # quick to import, unlike scipy.stats

    if math.isnan(standard_error):
        return math.inf
    upper = (1 + LEVEL) / 2
    return float(ndtri(upper) if math.isinf(degrees) else stdtrit(degrees, upper)) * standard_error


@dataclass(frozen=True)
class Estimate:
    """A mean per hand and its error."""

    mean: float
    standard_error: float
    degrees: float
    by_seat: tuple[float, float]
    hands: int
    twice: bool  # whether deals were played in both seats


def estimate(
    parts: Sequence[Tally], sessions: bool = False, seat: int | None = None
) -> Estimate | None:
    """What all parts say; None where no seat can be compared with the other. Deals played twice, if
    any, are what counts.

    `sessions`: players remember within a part, so that its deals are not independent. `seat`: only
    that one was played.
    """
    whole = add_up(parts)
    twice = whole.count[_TWICE] > 0
    rows = [_TWICE] if twice else [_ONCE, _ONCE + 1] if seat is None else [_ONCE + seat]
    if not all(whole.count[rows] > 0):
        return None
    mean = float(whole.mean[rows].mean())
    seats = (whole.mean[_TWICE + 1 : _TWICE + 3] if twice else whole.mean[_ONCE : _ONCE + 2]).copy()
    if seat is not None:
        seats[1 - seat] = math.nan
    error, degrees = _of_deals(whole, rows)
    usable = [part for part in parts if all(part.count[rows] > 0)] if sessions else []
    if len(usable) >= ENOUGH_SESSIONS:
        error, degrees = _of_sessions(usable, rows, mean)
    hands = int(whole.count[_TWICE] * 2 if twice else whole.count[rows].sum())
    return Estimate(mean, error, degrees, (float(seats[0]), float(seats[1])), hands, bool(twice))


def _of_deals(whole: Tally, rows: list[int]) -> tuple[float, float]:
    """Standard error of the mean over `rows`, and its degrees of freedom (Welch &
    Satterthwaite's for two seats)."""
    n, squares = whole.count[rows], whole.squares[rows]
    if min(n) < 2:
        return math.nan, 0.0
    variances = squares / (n - 1) / n
    total = float(variances.sum())
    degrees = (
        total**2 / float((variances**2 / (n - 1)).sum()) if total > 0 else float((n - 1).sum())
    )
    return math.sqrt(total) / len(rows), degrees


def _of_sessions(parts: Sequence[Tally], rows: list[int], mean: float) -> tuple[float, float]:
    n = np.array([part.count[rows].sum() for part in parts])
    apart = np.array([part.mean[rows].mean() for part in parts]) - mean
    spread = float((((n / n.sum()) * apart) ** 2).sum())
    return math.sqrt(spread * len(parts) / (len(parts) - 1)), float(len(parts) - 1)
