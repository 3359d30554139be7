"""Tables of the page on threads, GPU and cluster, each from a committed CSV of benchmarks/."""

from __future__ import annotations

import number_tables
from number_tables import Row, table

WAYS = ("one thread", "all processors", "cuda double", "cuda single")


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def gpu_table() -> str:
    """Iterations per second, by entries of the game."""
    groups: dict[tuple[int, str], dict[str, float]] = {}
    for row in _rows("full_width_gpu"):
        if row["what"] == "iterations":
            key = int(row["entries"]), row["game"]
            groups.setdefault(key, {})[row["way"]] = float(row["value"])
    lines = [
        [
            f"`{game}`",
            f"{entries:,}",
            *(f"{group[way]:,.3g}" if group[way] < 100 else f"{group[way]:,.0f}" for way in WAYS),
            f"{group['cuda double'] / group['one thread']:.3g}",
        ]
        for (entries, game), group in sorted(groups.items())
    ]
    header = ["one thread", "all processors", "GPU, double", "GPU, single", "GPU over one thread"]
    return table(["game", "entries of a side", *header], lines)


def precision_table() -> str:
    """Exploitability in double and in single precision."""
    groups: dict[str, dict[str, list[str]]] = {}
    for row in _rows("full_width_gpu"):
        if row["what"].startswith("exploitability after"):
            group = groups.setdefault(row["game"], {})
            group.setdefault(row["way"], []).append(f"{float(row['value']):.3g}")
    lines = [
        [f"`{game}`", *(", ".join(group[way]) for way in WAYS[2:])]
        for game, group in groups.items()
    ]
    return table(["game", "double", "single"], lines)


def sent_table() -> str:
    """What a worker of two sends."""
    groups: dict[tuple[str, str], dict[str, float]] = {}
    for row in _rows("cluster"):
        if row["unit"].startswith("bytes") and row["game"] != "noise":
            groups.setdefault((row["game"], row["algorithm"]), {})[row["what"]] = float(
                row["value"]
            )
    names = ("its tables", "sent by a worker at a synchronisation", "sent per second of playing")
    lines = [
        [f"`{game}`", algorithm, *(f"{group[name] / 1e6:,.3g}" for name in names)]
        for (game, algorithm), group in groups.items()
    ]
    return table(
        ["game", "solver", "tables, MB", "sent at a synchronisation, MB", "MB/s of playing"], lines
    )


def _by_workers(begins: str, show: str, scale: float = 1.0) -> str:
    groups: dict[str, dict[tuple[str, str], str]] = {}
    for row in _rows("cluster"):
        if row["what"].startswith(begins):
            cell = format(scale * float(row["value"]), show)
            groups.setdefault(row["workers"], {})[row["algorithm"], row["sync_interval"]] = cell
    keys = list(dict.fromkeys(key for group in groups.values() for key in group))
    lines = [[n, *(group.get(key, "") for key in keys)] for n, group in groups.items()]
    return table(["workers", *(f"{name}, {interval}" for name, interval in keys)], lines)


def sync_table() -> str:
    """Exploitability of Leduc over one worker's."""
    return _by_workers("exploitability over", ".2f")


def sync_holdem_table() -> str:
    """Thousandths of a small bet per hand."""
    return _by_workers("won from a reference", "+.0f", 1000.0)


def machines_table() -> str:
    """The share of the time that machines play, and what a synchronisation of 100 takes."""
    groups: dict[str, dict[tuple[str, str], float]] = {}
    for row in _rows("cluster"):
        if row["algorithm"] == "any":
            groups.setdefault(row["game"], {})[row["what"], row["workers"]] = float(row["value"])
    share = "share of the time that machines play in {} h"
    lines = [
        [
            f"`{game}`",
            *(
                ", ".join(f"{group[share.format(hours), n]:.2f}" for hours in (1, 24))
                for n in ("10", "100", "1000")
            ),
            f"{group['a synchronisation', '100']:.0f} s",
        ]
        for game, group in groups.items()
    ]
    return table(["game", "10 machines", "100", "1,000", "a synchronisation of 100"], lines)


def noregret_table() -> str:
    """CFR of noregret beside ours."""
    lines = [
        [
            f"`{row['game']}`",
            f"{float(row['ours_ms']):.4f}",
            f"{float(row['noregret_ms']):.1f}",
            f"{float(row['times']):,.0f} ({float(row['least']):,.0f} to {float(row['most']):,.0f})",
        ]
        for row in _rows("noregret")
    ]
    return table(["game", "ours, ms", "noregret, ms", "times"], lines)


def two_threads_table() -> str:
    """Two threads of full width over one: the ratio in each run."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in _rows("full_width"):
        groups.setdefault((row["game"], row["algorithm"]), []).append(row)
    lines = [
        [
            f"`{game}`",
            algorithm,
            f"{float(group[-1]['us_one']):,.0f}",
            f"{float(group[-1]['us_many']):,.0f}",
            *(f"{float(row['ratio']):.2f}" for row in group),
            group[-1]["chosen"],
        ]
        for (game, algorithm), group in groups.items()
    ]
    runs = max(len(group) for group in groups.values())
    names = [f"run {k + 1}" for k in range(runs)]
    header = ["game", "solver", "µs, one thread, last run", "µs, two threads", *names, "taken"]
    return table(header, lines)


SCALE = {
    "two-threads": two_threads_table,
    "noregret": noregret_table,
    "gpu": gpu_table,
    "gpu-precision": precision_table,
    "cluster-sent": sent_table,
    "cluster-sync": sync_table,
    "cluster-holdem": sync_holdem_table,
    "cluster-machines": machines_table,
}
