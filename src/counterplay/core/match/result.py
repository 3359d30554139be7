"""`MatchResult`: the mean per hand and its standard error.

The standard error is that of independent samples: of deals, or, where players keep state between
hands and there are enough of them, of whole sessions. A deal played in both seats is one sample,
the mean of the two. Where every deal is played once, the mean is that of the two seats, and the
variance is taken within each seat. Where all of fewer than `LEAST` deals were equal, their spread
says nothing, and there is no standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular, one_row
from counterplay.core.evaluation.estimate import half_width
from counterplay.core.match.kernels import Tally, merge_tallies
from counterplay.core.match.sequences import LEAST

#: With this many sessions, the error of players with state is that of their sessions.
ENOUGH_SESSIONS = 10
_TWICE, _ONCE = 0, 3  # rows of a tally


class WithInterval:
    """A mean, its standard error and the degrees of freedom of that."""

    mean: float
    standard_error: float
    degrees: float
    unit: str

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the mean; infinite for a single deal or few equal ones."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half

    @property
    def text(self) -> str:
        """The mean with its unit and the half width of its 95% interval."""
        half = half_width(self.standard_error, self.degrees)
        if not math.isfinite(half):
            return f"{self.mean:+.4f} {self.unit} (too few deals for an interval)"
        return f"{self.mean:+.4f} ± {half:.4f} {self.unit} (95%)"


@dataclass(frozen=True, repr=False)
class Adjusted(WithInterval):
    """The luck-adjusted payoff of `a` per hand (AIVAT)."""

    mean: float
    standard_error: float
    degrees: float = math.inf
    unit: str = "per game"  # of what is won

    def __repr__(self) -> str:
        return f"luck-adjusted {self.text}"

    @classmethod
    def of(cls, estimate: Estimate, unit: str = "per game") -> Adjusted:
        return cls(estimate.mean, estimate.standard_error, estimate.degrees, unit)


class PlayerMean(NamedTuple):
    """What a player of a match of several won per hand, in all seats and in each."""

    name: str
    mean: float
    standard_error: float
    by_seat: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class MatchResult(WithInterval, Tabular):
    """Result of `a` against `b`, or against all `others`; in hold'em in small bets per hand
    (sb/h)."""

    game: str
    a: str
    b: str
    hands: int  # played; a duplicate deal is two hands
    duplicate: bool  # every deal played twice, seats swapped
    mean: float  # won by `a` per hand, the mean of both seats
    standard_error: float  # NaN for a single deal or few equal ones
    by_seat: tuple[float, ...]  # the same as player 1 (in hold'em the dealer), as player 2, ...
    seed: int
    seconds: float
    degrees: float = math.inf  # of freedom of the standard error (Student's t)
    stopped: bool = False  # before all hands were played
    seat: int | None = None  # the only seat of `a`, for a response of one seat
    adjusted: Adjusted | None = None  # luck-adjusted, where that was requested
    each: tuple[PlayerMean, ...] = ()  # all players, where there are more than two
    unit: str = "per game"  # of what is won; a hand is one game

    @classmethod
    def of(
        cls, game: str, names: tuple[str, str], whole: Estimate, seed: int, **more: Any
    ) -> MatchResult:
        """The result of an estimate; `more`: the other fields."""
        hands, twice, degrees = whole.hands, whole.twice, whole.degrees
        mean, error, seats = whole.mean, whole.standard_error, whole.by_seat
        return cls(game, *names, hands, twice, mean, error, seats, seed, degrees=degrees, **more)

    def of_player(self, one: PlayerMean) -> Adjusted:
        """The mean of one of several players, with its interval."""
        return Adjusted(one.mean, one.standard_error, self.degrees, self.unit)

    def columns(self) -> Columns:
        """One row; the interval as `low` and `high`, seats as `as_player_1` and `as_player_2`."""
        low, high = self.interval
        facts = {name: getattr(self, name) for name in ("game", "a", "b", "hands", "duplicate")}
        facts |= {"mean": self.mean, "standard_error": self.standard_error}
        facts |= {"low": low, "high": high}
        facts |= {f"as_player_{k}": won for k, won in enumerate(self.by_seat, 1)}
        return one_row(facts | {"seed": self.seed})

    def _figure(self) -> Any:
        from counterplay.core.base.plotting import COLOURS, new_figure

        figure, axes = new_figure(1, 1, 6.0, 1.8)
        axis, half = axes[0, 0], (self.interval[1] - self.interval[0]) / 2
        within = half if math.isfinite(half) else None
        axis.axvline(0.0, color="black", linewidth=1)
        axis.errorbar([self.mean], [2], xerr=within, fmt="o", color=COLOURS[0], capsize=4)
        axis.plot(self.by_seat[:2], [1, 0], "s", color=COLOURS[1])
        names = ["as player 2", "as player 1", "mean, 95%"]
        title, label = f"{self.a} against {self.b}", f"won, {self.unit}"
        axis.set(yticks=[0, 1, 2], yticklabels=names, xlabel=label, title=title)
        return figure

    def _repr_html_(self) -> str:
        figure = display.picture(self._figure(), "the mean and its interval")
        return display.heading(str(self)) + figure

    def __str__(self) -> str:
        kind = "duplicate hands" if self.duplicate else "hands"
        where = "" if self.seat is None else f", {self.a} in player {self.seat + 1}'s seat only"
        over = f"over {self.hands:,} {kind}{where}"
        if self.each:
            parts = (f"{one.name}: {self.of_player(one).text}" for one in self.each)
            return f"{', '.join(parts)} {over}"
        adjusted = "" if self.adjusted is None else f"; {self.adjusted}"
        return f"{self.a} against {self.b}: {self.text} {over}{adjusted}"

    __repr__ = __str__


@dataclass(frozen=True)
class Estimate:
    """A mean per hand and its standard error."""

    mean: float
    standard_error: float
    degrees: float
    by_seat: tuple[float, float]
    hands: int
    twice: bool  # whether deals were played in both seats


def estimate(
    parts: Sequence[Tally], sessions: bool = False, seat: int | None = None
) -> Estimate | None:
    """The estimate from all parts; None where a seat was not played. If any deals were played
    twice, only those count.

    `sessions`: players keep state within a part, so that its deals are not independent. `seat`: the
    only seat that was played.
    """
    whole = merge_tallies(parts)
    twice = whole.count[_TWICE] > 0
    rows = [_TWICE] if twice else [_ONCE, _ONCE + 1] if seat is None else [_ONCE + seat]
    if not all(whole.count[rows] > 0):
        return None
    mean = float(whole.mean[rows].mean())
    seats = (whole.mean[_TWICE + 1 : _TWICE + 3] if twice else whole.mean[_ONCE : _ONCE + 2]).copy()
    if seat is not None:
        seats[1 - seat] = math.nan
    error, degrees = _error_of_deals(whole, rows)
    usable = [part for part in parts if all(part.count[rows] > 0)] if sessions else []
    if len(usable) >= ENOUGH_SESSIONS:
        error, degrees = _error_of_sessions(usable, rows, mean)
    hands = int(whole.count[_TWICE] * 2 if twice else whole.count[rows].sum())
    return Estimate(mean, error, degrees, (float(seats[0]), float(seats[1])), hands, bool(twice))


def _error_of_deals(whole: Tally, rows: list[int]) -> tuple[float, float]:
    """Standard error of the mean over `rows`, and its degrees of freedom (Welch)."""
    n, squares = whole.count[rows], whole.squares[rows]
    if min(n) < 2:
        return math.nan, 0.0
    variances = squares / (n - 1) / n
    total = float(variances.sum())
    degrees = float((n - 1).sum())
    if total > 0:
        degrees = total**2 / float((variances**2 / (n - 1)).sum())
    elif min(n) < LEAST:
        return math.nan, 0.0
    return math.sqrt(total) / len(rows), degrees


def _error_of_sessions(parts: Sequence[Tally], rows: list[int], mean: float) -> tuple[float, float]:
    """Standard error of the mean over sessions, and its degrees of freedom."""
    n = np.array([part.count[rows].sum() for part in parts])
    deviation = np.array([part.mean[rows].mean() for part in parts]) - mean
    variance = float((((n / n.sum()) * deviation) ** 2).sum())
    return math.sqrt(variance * len(parts) / (len(parts) - 1)), float(len(parts) - 1)
