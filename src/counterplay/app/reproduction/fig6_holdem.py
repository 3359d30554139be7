"""Figure 6 for limit hold'em: what responses to models of Poki and Sparbot win, and what they risk
in the game that is played, with an adversary who sees buckets and one who sees its cards; and the
same of responses to an equilibrium of tilted payoffs, beside published points.

Nothing is computed: the points were trained and measured on a GPU, and are committed with the
package (`frontier_points.csv`, written by `python -m benchmarks.real_frontier_picture`).
"""

from __future__ import annotations

import csv
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.base import Experiment, Outcome, ResultTable
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.plotting import COLOURS, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback

POINTS = "frontier_points.csv"
BOTS, TILTED = ("poki", "sparbot"), "tilted"
#: Whom responses are to: the titles of the panels.
OPPONENTS = {
    "poki": "a model of Poki",
    "sparbot": "a model of Sparbot",
    TILTED: "a nearly perfect player",
}
REAL, ABSTRACT, PUBLISHED = "real", "abstract", "published"
#: The adversary of a curve: its label, marker and line.
CURVES = {
    REAL: ("adversary sees its cards (real)", "o", "-"),
    ABSTRACT: ("adversary sees buckets (abstract)", "s", "--"),
    PUBLISHED: ("Bard et al. 2014 (published)", "^", ":"),
}
MOST_RISK = 1_100  # mb/g in the picture: those who trust most risk up to seven times as much
HEADER = "adversary model p won_mb_per_game won_error risk_mb_per_game risk_error"


class CommittedPoint(NamedTuple):
    """One response, in mb/g."""

    adversary: str
    model: str  # one of OPPONENTS
    p: str  # empty where it is not known
    won: float
    won_error: float  # half the 95% interval; 0: as published
    risk: float
    error: float  # half the 95% interval of the risk; 0: exact, or as published

    @classmethod
    def of(cls, row: dict[str, str]) -> CommittedPoint:
        numbers = (float(row[name]) for name in HEADER.split()[3:])
        return cls(row["adversary"], row["model"], row["p"], *numbers)


def committed_points() -> list[CommittedPoint]:
    """The points in the package."""
    text = resources(__package__).joinpath(POINTS).read_text(encoding="utf-8")
    return [CommittedPoint.of(row) for row in csv.DictReader(text.splitlines())]


def curve(points: list[CommittedPoint], adversary: str, model: str) -> list[CommittedPoint]:
    """Those of a curve, by p or by risk."""
    found = [one for one in points if (one.adversary, one.model) == (adversary, model)]
    return sorted(found, key=lambda one: (float(one.p or 0.0), one.risk))


def draw(points: list[CommittedPoint], path: Path) -> None:
    figure, axes = new_figure(1, len(OPPONENTS), 14.0, 4.4)
    for axis, (model, title) in zip(axes[0], OPPONENTS.items(), strict=True):
        for colour, (adversary, (label, marker, line)) in zip(
            COLOURS, CURVES.items(), strict=False
        ):
            shown = [one for one in curve(points, adversary, model) if one.risk <= MOST_RISK]
            if shown:
                _draw_curve(axis, shown, color=colour, label=label, marker=marker, linestyle=line)
        axis.set(title=title, xlabel="risk: exploitability, mb/g")
        axis.set(xlim=(0, MOST_RISK), ylim=(0, None))
        axis.legend(fontsize=8, loc="lower right", frameon=False)
    axes[0, 0].set_ylabel("won, mb/g")
    save_figure(figure, path)


def _draw_curve(axis: Any, points: list[CommittedPoint], **style: Any) -> None:
    """A curve with the values of p beside its points."""
    x, y = [one.risk for one in points], [one.won for one in points]
    axis.errorbar(x, y, xerr=[one.error for one in points], **style)
    text = {"textcoords": "offset points", "xytext": (6, -10), "fontsize": 8}
    for one in points:
        if one.p:
            axis.annotate(f"{float(one.p):g}", (one.risk, one.won), color=style["color"], **text)


def table(points: list[CommittedPoint]) -> ResultTable:
    rows = []
    for one in points:
        within = f" ± {one.error:.0f}" if one.error else ""
        exact = "" if one.error or one.adversary == PUBLISHED else ", exact"
        risk = f"{one.risk:,.0f}{within}{exact}"
        won = f"{one.won:,.0f}" + (f" ± {one.won_error:.0f}" if one.won_error else "")
        rows.append([one.adversary, one.model, one.p, won, risk])
    header = ["adversary", "response to", "p", "won, mb/g", "risk, mb/g"]
    return ResultTable("committed points, not computed in this run", header, rows)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    points, folder = committed_points(), store.folder
    draw(points, folder / "fig6-holdem.png")
    rows = [tuple(one) for one in points]
    setting = {"points": len(points), "models": list(BOTS)}
    note = "These points are committed with the package; they were trained and measured on a GPU."
    return EXPERIMENT.outcome(scale, folder, [], setting, HEADER, rows, [table(points)], [note])


TITLE = "Beyond the article: Figure 6 for limit hold'em, from committed points"
MEANING = {"points": "that are committed", "models": "of which bots, learnt from 20,000 hands"}
STORY = """

The curve of Figure 6 in limit hold'em, from committed points: trained and measured on a GPU, not
here. A response that learnt against an adversary who sees its cards risks far less."""
SECONDS = {"quick": 5, "paper": 5}
EXPERIMENT = Experiment(
    "fig6-holdem", TITLE, run, SECONDS, order=21.5, priority=40, meaning=MEANING, story=STORY
)
