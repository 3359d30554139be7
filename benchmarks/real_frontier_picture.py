"""The points and the picture of the real frontier: what responses win from a model and what they
risk in the game that is played, with an adversary who sees buckets, one who sees its cards, and as
published.

    python -m benchmarks.real_frontier_picture

Reads benchmarks/holdem_frontier.csv (abstract adversary, 100 buckets), real_frontier.csv (real),
tilted.csv (both, against an equilibrium of tilted payoffs) and published_responses.csv. Writes the
points that come with the package, for `counterplay reproduce fig6-holdem`, and
docs/images/real-frontier.png. Of several measurements of a point the one over every board counts; a
response that a mixture of two others beats, since it was trained for seconds only, is no point of
the frontier. After it, for each scale: `counterplay reproduce fig6-holdem --scale SCALE --out
FOLDER` and `python tools/make_results.py SCALE FOLDER`.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

from benchmarks.measure import write_rows
from counterplay.app.reproduction import fig6_holdem
from counterplay.app.reproduction.fig6_holdem import (
    ABSTRACT,
    BOTS,
    HEADER,
    PUBLISHED,
    REAL,
    TILTED,
    CommittedPoint,
)

HERE = Path(__file__).parent
IMAGE = HERE.parent / "docs" / "images" / "real-frontier.png"
POINTS = Path(fig6_holdem.__file__).with_name(fig6_holdem.POINTS)
GAME, BUCKETS = "holdem(buckets=100,kind=emd)", "100"
TILTED_GAME = "holdem(buckets=12,kind=nested)"  # of responses
MB = 1_000.0  # in a small bet


def read_rows(name: str) -> list[dict[str, str]]:
    with (HERE / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def points() -> list[CommittedPoint]:
    """Of all files."""
    found = [point for model in BOTS for point in [*_real(model), *_abstract(model)]]
    for row in read_rows("tilted"):
        p = "0" if (row["player"], row["game"]) == ("equilibrium", TILTED_GAME) else row["p"]
        if p:
            adversary = REAL if row["player"] == REAL else ABSTRACT
            found.append(_tilted(adversary, p, row))
    for row in read_rows("published_responses"):
        if row["response"].startswith("RNR"):
            found.append(_tilted(PUBLISHED, "", row))
    return found


def _tilted(adversary: str, p: str, row: dict[str, str]) -> CommittedPoint:
    """Published points come without intervals."""
    names = ("won_mb_per_game", "won_error", "risk_mb_per_game", "risk_error")
    numbers = (round(float(row.get(name, 0.0)), 2) for name in names)
    return CommittedPoint(adversary, TILTED, p, *numbers)


def _abstract(model: str) -> list[CommittedPoint]:
    """Responses whose adversary sees buckets."""
    return [
        _point(ABSTRACT, model, row)
        for row in read_rows("holdem_frontier")
        if row["opponent"] == model and row["buckets"] == BUCKETS
    ]


def _real(model: str) -> list[CommittedPoint]:
    """Responses whose adversary sees its cards, the best measurement of each p."""
    found: dict[str, CommittedPoint] = {}
    for row in read_rows("real_frontier"):
        if (row["model"], row["game"]) == (model, GAME) and row["risk_mb_per_game"]:
            point = _point(REAL, model, row)
            if point.p not in found or point.error <= found[point.p].error:
                found[point.p] = point
    every = [found[p] for p in sorted(found, key=float)]
    return [one for one in every if not any(_beaten(one, *two) for two in product(every, every))]


def _beaten(one: CommittedPoint, low: CommittedPoint, high: CommittedPoint) -> bool:
    """Whether a mixture of two responses with the same risk, or the first alone, wins more."""
    if low.risk >= one.risk or high.risk <= one.risk:
        return low.risk < one.risk and low.won >= one.won
    share = (one.risk - low.risk) / (high.risk - low.risk)
    return (1 - share) * low.won + share * high.won > one.won


def _point(adversary: str, model: str, row: dict[str, str]) -> CommittedPoint:
    won, half = (round(MB * float(row[name]), 1) for name in ("won_sb", "won_error"))
    risk, error = (round(float(row[name]), 2) for name in ("risk_mb_per_game", "risk_error"))
    return CommittedPoint(adversary, model, f"{float(row['p']):g}", won, half, risk, error)


if __name__ == "__main__":
    write_rows(POINTS, HEADER.split(), points())
    fig6_holdem.draw(fig6_holdem.committed_points(), IMAGE)
