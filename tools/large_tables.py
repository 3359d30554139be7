"""Tables of the page on games without a tree, each from a committed CSV of benchmarks/."""

from __future__ import annotations

import number_tables
from number_tables import Row, table


def _rows(name: str) -> list[Row]:
    return number_tables.rows(f"../benchmarks/{name}.csv")


def lower_bounds_table() -> str:
    """Bounds by play beside exact numbers, by seconds of learning."""
    groups: dict[tuple[str, str, str, str], dict[float, Row]] = {}
    for row in _rows("lower_bounds"):
        key = (row["game"], row["strategy"], f"{float(row['exact']):.3f}", row["algorithm"])
        groups.setdefault(key, {})[float(row["seconds"])] = row
    points = sorted({seconds for group in groups.values() for seconds in group})
    lines = [
        [
            f"`{key[0]}`",
            *key[1:],
            *(f"{float(group[n]['bound']):.3f} ± {float(group[n]['error']):.3f}" for n in points),
        ]
        for key, group in groups.items()
    ]
    names = [f"at least, after {n:g} s" for n in points]
    return table(["game", "strategy", "exact b1 + b2", "learnt by", *names], lines)


def interleaved_table() -> str:
    """Mean exploitability after equally many iterations, by interleaved histories."""
    groups: dict[tuple[str, str, str], dict[int, Row]] = {}
    for row in _rows("interleaved"):
        key = (f"`{row['game']}`", f"{int(row['iterations']):,}", row["seeds"])
        groups.setdefault(key, {})[int(row["interleave"])] = row
    points = sorted({n for group in groups.values() for n in group})
    lines = [
        [
            *key,
            *(
                f"{float(group[n]['exploitability']):.3f} ± {float(group[n]['standard_error']):.3f}"
                for n in points
            ),
        ]
        for key, group in groups.items()
    ]
    names = ["one by one" if n == 1 else f"{n} interleaved" for n in points]
    return table(["game", "iterations", "seeds", *names], lines)


def interleaved_speed_table() -> str:
    """Iterations per second by interleaved histories, and over one by one."""
    groups: dict[str, dict[int, str]] = {}
    others = []
    for row in _rows("interleaved_speed"):
        group = groups.setdefault(f"`{row['game']}`", {})
        if row["what"] == "iterations per second" and row["interleave"] == "1":
            group[1] = f"{float(row['value']):,.0f}"
        elif row["what"] == "over one by one" and row["interleave"] != "1":
            low, mid, high = (float(row[name]) for name in ("least", "value", "most"))
            group[int(row["interleave"])] = f"{mid:.2f} ({low:.2f} to {high:.2f})"
        elif row["what"].startswith("sb/h"):
            low, mid, high = (float(row[name]) for name in ("least", "value", "most"))
            others.append(
                [
                    f"`{row['game']}`, won interleaved from one by one, sb/h",
                    "",
                    "",
                    f"{mid:+.3f} ({low:+.3f} to {high:+.3f})",
                    "",
                ]
            )
    points = sorted({n for group in groups.values() for n in group})
    lines = [[game, *(group[n] for n in points)] for game, group in groups.items()]
    names = ["one by one, a second" if n == 1 else f"{n} interleaved" for n in points]
    return table(["game", *names], [*lines, *others])


def large_table() -> str:
    """Games that fit in no tree, solved for ten minutes."""
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    for row in _rows("large"):
        key = (
            f"`{row['game']}`",
            row["algorithm"],
            f"{int(row['iterations']):,}",
            f"{int(row['information_sets']):,}",
            f"{float(row['peak_gb']):.1f}",
        )
        won = f"{float(row['won']):+.3f} ± {float(row['half_interval']):.3f}"
        groups.setdefault(key, {})[row["against"]] = won
    header = ["game", "algorithm", "iterations", "information sets discovered", "GB at most"]
    against = ("uniform", "its earlier self", "exploitability at least")
    lines = [[*key, *(group.get(name, "") for name in against)] for key, group in groups.items()]
    names = ["wins from uniform play", "from itself after a minute", "exploitability at least"]
    return table([*header, *names], lines)


LARGE = {
    "lower-bounds": lower_bounds_table,
    "interleaved": interleaved_table,
    "interleaved-speed": interleaved_speed_table,
    "large": large_table,
}
