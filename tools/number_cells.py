"""Single numbers of running text, each from a committed file. `make_results.py` puts them there:

    a strategy takes <!-- n exact-10 -->162<!-- /n --> s

`CELLS[KEY]` makes what stands between the marks, which a page does not show. A line must not begin
with a mark: Markdown would end the paragraph there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import number_tables
from speed_tables import measured

import counterplay as cp


def one(file: str, column: str, show: str, scale: float = 1.0, **where: str) -> str:
    """A number of the one row of benchmarks/`file` whose columns have these values."""
    entries = number_tables.rows(f"../benchmarks/{file}")
    chosen = [row for row in entries if all(row[name] == value for name, value in where.items())]
    if len(chosen) != 1:
        raise ValueError(f"{len(chosen)} rows of {file} have {where}, one is wanted")
    return format(scale * float(chosen[0][column]), show)


def outermost(which: Callable[[list[float]], float], file: str, column: str, show: str) -> str:
    """The least or the largest number of a column."""
    entries = number_tables.rows(f"../benchmarks/{file}")
    return format(which([float(row[column]) for row in entries]), show)


def gain(buckets: str, how: str) -> str:
    """The median gain of threads in benchmarks/public_threads.csv."""
    entries = number_tables.rows("../benchmarks/public_threads.csv")
    gains = [
        float(row["gain"]) for row in entries if (row["buckets"], row["how"]) == (buckets, how)
    ]
    return format(median(gains), ".1f")


def certified(name: str) -> str:
    """The exploitability of a shipped strategy in mb/g."""
    return format(next(one.mb_per_game for one in cp.strategies() if one.name == name), ".0f")


def _beside(program: str, show: str, scale: float = 1.0) -> str:
    """The seconds of a program's CFR+ to 0.5% of the pot in benchmarks/spots_beside.csv."""
    entries = number_tables.rows("../benchmarks/spots_beside.csv")
    (name,) = {row["program"] for row in entries if row["program"].startswith(program)}
    where = {"program": name, "algorithm": "cfr+", "target": "0.5"}
    return one("spots_beside.csv", "seconds", show, scale, **where)


def tilted(column: str, **where: str) -> str:
    """A number of benchmarks/tilted.csv in mb/g, a risk with its interval."""
    shown = partial(one, "tilted.csv", **where)
    if column == "won":
        return shown("won_mb_per_game", ".1f")
    return f"{shown('risk_mb_per_game', '.0f')} ± {shown('risk_error', '.0f')}"


def published(row: int, column: str) -> str:
    """A number of benchmarks/published_responses.csv in mb/g."""
    entries = number_tables.rows("../benchmarks/published_responses.csv")
    return format(float(entries[row][f"{column}_mb_per_game"]), ".0f")


_exact = partial(one, "exact.csv")
_published = {"least": 0, "third": 2, "safest": 5}
_tilted = {
    "eq": {"player": "equilibrium", "game": "holdem(buckets=12,kind=nested)"},
    "trusting": {"player": "abstract", "p": "0.8"},
    "real": {"player": "real", "p": "0.35"},
}
_cluster = partial(one, "cluster.csv", "value", ".0f")  # times a scale
_flop_spot = partial(one, "spots.csv", "seconds", ".0f", spot="flop", backend="cpu", threads="2")
_flop = ("exact_cpu.csv", "seconds_of_a_processor", ".0f")

CELLS: dict[str, Callable[[], str]] = {
    "exact-10": partial(
        _exact, "seconds", ".0f", strategy="mccfr-public-10, a minute on the device"
    ),
    "exact-100": partial(
        _exact, "seconds", ".0f", strategy="mccfr-public-100, a minute on the device"
    ),
    "always-fold": partial(_exact, "mb_per_game", ".2f", strategy="always-fold"),
    "always-call": partial(_exact, "mb_per_game", ".2f", strategy="always-call"),
    "safe": partial(certified, "safe"),
    "flop-least": partial(outermost, min, *_flop),
    "flop-most": partial(outermost, max, *_flop),
    "spot-flop": partial(_flop_spot, target="0.5"),
    "spot-flop-mean": partial(_flop_spot, target="1.0"),
    "beside-holdings": lambda: number_tables.rows("../benchmarks/spots_beside.csv")[0]["holdings"],
    "beside-theirs": partial(_beside, "open-spiel", ".1f"),
    "beside-ours": partial(_beside, "counterplay", ".0f", 1e3),
    "sync-leduc": partial(
        _cluster, 1e3, what="a synchronisation", game="leduc", algorithm="mccfr-external"
    ),
    "sync-holdem": partial(
        _cluster,
        1e3,
        what="a synchronisation",
        game="holdem(buckets=10)",
        algorithm="mccfr-external",
    ),
    "packing": partial(_cluster, 1e-6, what="packing and adding, of one processor"),
    "threads-10": partial(gain, "10", "together"),
    "threads-100": partial(gain, "100", "together"),
    "threads-100-apart": partial(gain, "100", "apart"),
    "goof7-memory": partial(measured, "peak memory of that"),
    **{
        f"tilted-{column}-{name}": partial(tilted, column, **where)
        for column in ("won", "risk")
        for name, where in _tilted.items()
    },
    **{
        f"published-{column}-{name}": partial(published, row, column)
        for column in ("won", "risk")
        for name, row in _published.items()
    },
}
