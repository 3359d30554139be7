"""Measure speed and memory against their targets, and write `benchmarks/RESULTS.md`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks import holdem, openspiel, responses, startup, without_tree
from benchmarks.measure import REPEATS

RESULTS = Path(__file__).with_name("RESULTS.md")


def _machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":")[1].strip()
            for line in cpuinfo.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("counterplay", "numpy", "numba", "open_spiel")
    )
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {packages}"


class Report:
    """Lines that are printed at once, and kept for the file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def row(self, *cells: str) -> None:
        self.line("| " + " | ".join(cells) + " |")

    def header(self, *cells: str) -> None:
        self.row(*cells)
        self.line("|" + "---|" * len(cells))


def main() -> None:
    report = Report()
    report.line("# Measured speed and memory")
    report.line()
    report.line(
        f"{_machine()}. One thread. Contenders take turns {REPEATS} times; medians, and the range "
        f"of the ratio."
    )
    report.line(
        "An iteration of OpenSpiel's outcome sampling plays a history for each player; ours plays "
        "one and updates both."
    )
    report.line("Written by `make benchmark`.")
    tables: list[tuple[Sequence[str], Iterable[Sequence[str]]]] = [
        (openspiel.HEADER, openspiel.rows()),
        (responses.HEADER, responses.rows()),
        (without_tree.HEADER, without_tree.rows()),
        (holdem.HEADER, holdem.rows()),
        (("work", "measured", "asked for", "reached"), _build_and_start()),
    ]
    for header, rows in tables:
        report.line()
        report.header(*header)
        for row in rows:
            report.row(*row)
    RESULTS.write_text("\n".join(report.lines) + "\n")


def _build_and_start() -> Iterator[tuple[str, str, str, str]]:
    """Building and solving Goof(7), and starting the command."""
    command = [sys.executable, "-m", "benchmarks.goof7"]
    goof = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    cfr, built = goof["cfr"], goof["build"] + goof["sequence_form"]
    seconds = f"{goof['build']:.1f} s, then {goof['sequence_form']:.1f} s (sequence form)"
    yield f"build Goof(7), {goof['nodes']:,} nodes", seconds, "<= 90 s", _reached(built <= 90)
    peak = goof["peak_gb"]
    yield "peak memory of that", f"{peak:.1f} GB", "<= 8 GB", _reached(peak <= 8)
    median = cfr[len(cfr) // 2]
    seconds = f"{median:.2f} s ({cfr[0]:.2f}-{cfr[-1]:.2f})"
    yield "CFR on Goof(7), one iteration", seconds, "<= 1 s", _reached(median <= 1)
    median, least, most = startup.warm_start()
    seconds = f"{median:.2f} s ({least:.2f}-{most:.2f})"
    yield "`counterplay solve kuhn`, warm caches", seconds, "<= 0.8 s", _reached(median <= 0.8)
    for algorithm, cold in startup.cold_starts().items():
        yield f"`solve kuhn -a {algorithm}`, empty cache (compiles)", f"{cold:.1f} s", "", ""


def _reached(holds: bool) -> str:
    return "yes" if holds else "NO"


if __name__ == "__main__":
    main()
