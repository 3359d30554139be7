"""The result of an exam: `Exam` and its rows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from counterplay.core.base.display import Columns, Tabular, finite
from counterplay.core.base.errors import CounterplayError
from counterplay.core.match.sequences import LEVEL

WINS, LOSES, EVEN, OPEN = "wins", "loses", "even", "not clear"


@dataclass(frozen=True)
class ExamRow:
    """The match against one opponent, in sb/h."""

    opponent: str
    hands: int  # played; a duplicate deal is two
    mean: float  # luck-adjusted
    low: float  # of the confidence sequence
    high: float
    needed: int | None  # hands after which the answer was clear
    raw: float  # the mean of what was won, with all luck
    deviation: float  # standard deviation of a duplicate deal, luck-adjusted
    seconds: float
    margin: float
    most: float | None = None  # what a best response wins from the opponent, where that is known

    @property
    def verdict(self) -> str:
        """What the interval says: wins, loses, even (within the margin) or not clear."""
        if self.needed is None:
            return OPEN
        return WINS if self.low > 0.0 else LOSES if self.high < 0.0 else EVEN

    @property
    def interval(self) -> str:
        """The interval in words."""
        if not math.isfinite(self.low):
            return "not known yet"
        return f"{self.low:+.4f} to {self.high:+.4f}"

    def __str__(self) -> str:
        clear = "" if self.needed is None else f", clear after {self.needed:,}"
        most = "" if self.most is None else f"; a best response wins {self.most:+.4f}"
        level = f", {LEVEL:.0%}" if math.isfinite(self.low) else ""
        return (
            f"{self.opponent}: {self.mean:+.4f} sb/h ({self.interval}{level}), {self.verdict} "
            f"({self.hands:,} hands{clear}){most}"
        )


@dataclass(frozen=True, repr=False)
class Exam(Tabular):
    """The report of an exam in limit hold'em."""

    player: str
    rows: tuple[ExamRow, ...]
    hands: int  # planned against each opponent
    margin: float
    seed: int
    level: float
    actions: int
    illegal: int
    mean_ms: float  # time of an action
    most_ms: float
    slow_ms: float  # the 99th percentile
    seconds: float
    exploitability: float | None  # b1 + b2 in sb/h
    exploitability_note: str  # how it was measured, or why it was not
    version: str
    stopped: bool = False
    told: bool = False  # whether its actions were drawn from probabilities that it told
    copies: int = 0  # that were asked too
    failure: str = ""  # the error that ended it

    def __repr__(self) -> str:
        return "\n".join([f"Exam of {self.player}:", *(str(row) for row in self.rows)])

    @property
    def mixing(self) -> str:
        """What became of the luck of the player's own draws, in words."""
        if self.told:
            return "taken out: it says its probabilities, and the exam draws its actions"
        if self.copies:
            return f"taken out for the most part: {self.copies} copies were asked too"
        return (
            "part of the luck: it does not say its probabilities; of a player in Python copies "
            "(copies=40, --copies 40) take most of it out"
        )

    def columns(self) -> Columns:
        """A row for each opponent."""
        rows = [asdict(row) | {"verdict": row.verdict} for row in self.rows]
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def _figure(self) -> Any:
        from counterplay.core.base.plotting import COLOURS, new_figure

        figure, axes = new_figure(1, 1, 6.5, 1.2 + 0.35 * len(self.rows))
        axis, places = axes[0, 0], range(len(self.rows))[::-1]
        axis.axvline(0.0, color="black", linewidth=1)
        for place, row in zip(places, self.rows, strict=True):
            ends = None
            if math.isfinite(row.low):
                ends = [[row.mean - row.low], [row.high - row.mean]]
            axis.errorbar([row.mean], [place], xerr=ends, fmt="o", color=COLOURS[0], capsize=4)
        names = [row.opponent for row in self.rows]
        axis.set(yticks=list(places), yticklabels=names, xlabel="won, sb/h", title=self.player)
        return figure

    def _repr_html_(self) -> str:
        from counterplay.poker.exam.report import body

        return body(self)

    def facts(self) -> dict[str, Any]:
        """Everything, for JSON; infinite ends of intervals are null."""
        facts = asdict(self)
        facts["rows"] = [finite(asdict(row)) | {"verdict": row.verdict} for row in self.rows]
        return facts | {"unit": "sb/h"}


class ExamFailed(CounterplayError):
    """An error in a match, such as a program that died; `result` holds the matches before."""

    def __init__(self, message: str, result: Exam) -> None:
        super().__init__(message)
        self.result = result
