"""Tables of limit hold'em by card abstraction, and of shipped strategies; and a picture:

    python tools/ladder_tables.py    draws docs/images/card-abstractions.png

From benchmarks/cfr_br.csv, exact.csv and ladder.csv, the index of shipped strategies, and
benchmarks/published.csv: Johanson, Bard, Burch & Bowling (2012) and Johanson, Burch, Valenzano &
Bowling (2013).
"""

from __future__ import annotations

import re
from typing import NamedTuple

import number_tables
from number_tables import DOCS, Row, table

import counterplay as cp
from counterplay.poker.bots.shipped import FOLDER

IMAGE = DOCS / "images" / "card-abstractions.png"
CFR, CFR_BR = "CFR", "CFR-BR"
#: By algorithm of a solver or of a publication. MCTS is neither.
NAMES = {"mccfr-public": CFR, "cfr": CFR, "cfr-br": CFR_BR}
KINDS = ("equal width", "percentiles", "k-means")
OURS = {"equal-width": KINDS[0], "percentile": KINDS[1], "classes": KINDS[1], "squared": KINDS[1]}
PERFECT = "perfect"
DEFAULT_KIND = "equal-width"
TICKS = (50, 75, 100, 150, 300, 450)


class Point(NamedTuple):
    """An exact exploitability."""

    recall: str
    kind: str  # of KINDS
    buckets: int
    algorithm: str
    mb_per_game: float
    approximate: bool = False  # read off a figure


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def published_points() -> list[Point]:
    """Points of the literature."""
    return [
        Point(
            row["recall"],
            row["kind"],
            int(row["buckets"]),
            NAMES[row["algorithm"]],
            float(row["mb_per_game"]),
            "figure" in row["read"],
        )
        for row in _rows("published")
    ]


def our_points() -> list[Point]:
    """The best exact value of each game and algorithm."""
    found = [
        (row["game"], NAMES[row["algorithm"]], float(row["mb_per_game"]))
        for row in _rows("cfr_br")
        if row["flops"] == "all" and row["algorithm"] in NAMES
    ]
    for row in _rows("exact"):
        if name := re.match(r"mccfr-public-(\d+)", row["strategy"]):
            found.append((f"holdem(buckets={name[1]})", CFR, float(row["mb_per_game"])))
    best: dict[tuple[str, str], Point] = {}
    for game, algorithm, value in sorted(found, key=lambda one: -one[2]):
        best[game, algorithm] = _point(game, algorithm, value)
    return sorted(best.values())


def _point(game: str, algorithm: str, value: float) -> Point:
    kind = re.search(r"kind=([\w-]+)", game)
    word = kind[1] if kind else DEFAULT_KIND
    plain = word.removeprefix("nested-").replace("nested", "squared")
    buckets = re.search(r"buckets=(\d+)", game)
    recall = PERFECT if word.startswith("nested") else "imperfect"
    name = OURS.get(plain, KINDS[2])
    return Point(recall, name, int(buckets[1]) if buckets else 0, algorithm, value)


def limit_table() -> str:
    """Exploitability by kind, recall and buckets, for CFR and CFR-BR, ours and published."""
    cells: dict[tuple[str, str, int], dict[tuple[str, str], str]] = {}
    for who, points in (("here", our_points()), ("published", published_points())):
        for one in points:
            key = (one.recall, one.kind, one.buckets)
            text = f"≈ {one.mb_per_game:.0f}" if one.approximate else f"{one.mb_per_game:.1f}"
            cells.setdefault(key, {})[one.algorithm, who] = text
    columns = [(name, who) for name in (CFR, CFR_BR) for who in ("here", "published")]
    lines = [
        [f"{kind}{', perfect recall' if recall == PERFECT else ''}", f"{buckets:,}"]
        + [cells[recall, kind, buckets].get(column, "") for column in columns]
        for recall, kind, buckets in sorted(cells, key=lambda k: (k[0], KINDS.index(k[1]), k[2]))
    ]
    header = ["kind", "buckets", *(f"{name} {who}" for name, who in columns)]
    return table(header, lines)


def shipped_table() -> str:
    """The shipped strategies."""
    lines = [
        [
            f"`{one.name}`",
            f"`{one.game}`",
            f"`{one.algorithm}`",
            f"{one.iterations:,}",
            f"{one.mb_per_game:.1f}",
            f"{(FOLDER / f'{one.name}.npz').stat().st_size / 1e6:.2f}",
            one.date,
        ]
        for one in cp.strategies()
    ]
    header = ["name", "game", "algorithm", "iterations", "exploitability, mb/g"]
    header += ["MB", "date"]
    return table(header, lines)


def ladder_table() -> str:
    """What a row wins from a column, in mb/h."""
    won: dict[tuple[str, str], str] = {}
    for row in _rows("ladder"):
        mean, half = (float(row["sb_per_hand"]), (float(row["high"]) - float(row["low"])) / 2)
        pair = row["player"], row["opponent"]
        for names, sign in ((pair, 1.0), (pair[::-1], -1.0)):
            won[names] = f"{1000 * sign * mean:+.0f} ± {1000 * half:.1f}"
    players = list(dict.fromkeys(name for pair in won for name in pair))
    listed = [one.name for one in cp.strategies()]
    players.sort(key=lambda name: listed.index(name) if name in listed else len(listed))
    rows = [one for one in players if one in listed]
    lines = [[f"`{one}`", *(won.get((one, other), "") for other in players)] for one in rows]
    return table(["mb/h", *(f"`{name}`" for name in players)], lines)


LADDER = {"limit-holdem": limit_table, "shipped": shipped_table, "ladder": ladder_table}


def draw() -> None:
    """Exploitability by buckets, imperfect recall: ours and published."""
    from counterplay.core.base.plotting import COLOURS, new_figure, save_figure

    figure, axes = new_figure(1, 1, 7.5, 4.5)
    axis, seen = axes[0, 0], list[tuple[str, str]]()
    for who, points in (("published", published_points()), ("here", our_points())):
        for name in (CFR, CFR_BR):
            for kind in KINDS:
                line = sorted(
                    (one.buckets, one.mb_per_game)
                    for one in points
                    if (one.recall, one.kind, one.algorithm) == ("imperfect", kind, name)
                )
                if not line:
                    continue
                if (name, kind) not in seen:
                    seen.append((name, kind))
                ours, colour = who == "here", COLOURS[seen.index((name, kind))]
                style = {"linestyle": "-" if ours else ":", "marker": "o" if ours else "x"}
                label = f"{name}, {kind}, {who}"
                axis.plot(*zip(*line, strict=True), color=colour, label=label, **style)
    axis.set(xscale="log", yscale="log", xlabel="buckets after the flop")
    axis.set(
        ylabel="exploitability, mb/g averaged over the seats", yticks=[50, 75, 100, 150, 300, 450]
    )
    axis.set(yticklabels=["50", "75", "100", "150", "300", "450"])
    axis.yaxis.set_minor_formatter("")
    axis.legend(fontsize=8)
    save_figure(figure, IMAGE)


if __name__ == "__main__":
    draw()
