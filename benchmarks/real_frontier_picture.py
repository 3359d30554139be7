"""The picture of the real frontier: what responses win from a model and what they risk in the game
that is played, with an adversary who sees buckets, one who sees its cards, and as published.

    python -m benchmarks.real_frontier_picture

Reads benchmarks/holdem_frontier.csv (abstract adversary, 100 buckets), real_frontier.csv (real) and
published_responses.csv; writes docs/images/real-frontier.png. Of several measurements of a point
the one over every board counts.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.core.base.plotting import COLOURS, new_figure, save_figure

HERE = Path(__file__).parent
IMAGE = HERE.parent / "docs" / "images" / "real-frontier.png"
MODELS = ("poki", "sparbot")
GAME, BUCKETS = "holdem(buckets=100,kind=emd)", "100"
MOST_RISK = 1_100  # mb/g: beyond it little more is won
MB = 1_000.0  # in a small bet


class Point(NamedTuple):
    """One response, in mb/g."""

    p: float | None
    risk: float
    won: float
    error: float  # half the 95% interval of the risk; 0: exact


def read_rows(name: str) -> list[dict[str, str]]:
    with (HERE / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def abstract_points(model: str) -> list[Point]:
    """Responses whose adversary sees buckets."""
    return [
        _point(row)
        for row in read_rows("holdem_frontier")
        if row["opponent"] == model and row["buckets"] == BUCKETS
    ]


def real_points(model: str) -> list[Point]:
    """Responses whose adversary sees its cards, the best measurement of each p."""
    found: dict[float, Point] = {}
    for row in read_rows("real_frontier"):
        if (row["model"], row["game"]) != (model, GAME) or not row["risk_mb_per_game"]:
            continue
        point = _point(row)
        before = found.get(point.p or 0.0)
        if before is None or point.error <= before.error:
            found[point.p or 0.0] = point
    return [found[p] for p in sorted(found)]


def published_points() -> list[Point]:
    """Of the literature, against an opponent of its own."""
    return [
        Point(None, float(row["risk_mb_per_game"]), float(row["won_mb_per_game"]), 0.0)
        for row in read_rows("published_responses")
        if row["response"].startswith("RNR")
    ]


def _point(row: dict[str, str]) -> Point:
    numbers = [float(row[name]) for name in ("p", "risk_mb_per_game", "won_sb", "risk_error")]
    p, risk, won, error = numbers
    return Point(p, risk, MB * won, error)


def draw_points(axis: Any, points: list[Point], label: str, **style: Any) -> None:
    """A curve with the values of p beside its points."""
    shown = [point for point in points if point.risk <= MOST_RISK]
    x, y = [point.risk for point in shown], [point.won for point in shown]
    axis.errorbar(x, y, xerr=[point.error for point in shown], label=label, **style)
    for point in shown:
        if point.p is not None:
            axis.annotate(
                f"{point.p:g}", (point.risk, point.won), textcoords="offset points",
                xytext=(6, -10), fontsize=8, color=style["color"],
            )  # fmt: skip


def draw() -> None:
    figure, axes = new_figure(1, 2, 11.0, 4.4)
    for axis, model in zip(axes[0], MODELS, strict=True):
        draw_points(
            axis, real_points(model), "adversary sees its cards (real)", color=COLOURS[0],
            marker="o",
        )  # fmt: skip
        draw_points(
            axis, abstract_points(model), "adversary sees buckets (abstract)", color=COLOURS[1],
            marker="s", linestyle="--",
        )  # fmt: skip
        draw_points(
            axis, published_points(), "published, from another opponent", color=COLOURS[2],
            marker="^", linestyle=":",
        )  # fmt: skip
        axis.set(title=f"a model of {model.title()}", xlabel="risk: exploitability, mb/g")
        axis.set(xlim=(0, MOST_RISK), ylim=(0, None))
        axis.legend(fontsize=8, loc="lower right", frameon=False)
    axes[0, 0].set_ylabel("won from the model, mb/g")
    save_figure(figure, IMAGE)


if __name__ == "__main__":
    draw()
