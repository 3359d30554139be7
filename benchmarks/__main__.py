"""Measure everything DESIGN.md asks for and write `benchmarks/RESULTS.md`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks import found, holdem, openspiel, responses, startup
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
    """Lines printed as they come, and kept for the file."""

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
    report.line()
    report.header(*openspiel.HEADER)
    for row in openspiel.rows():
        report.row(*row)
    report.line()
    report.header(*responses.HEADER)
    for cells in responses.rows():
        report.row(*cells)
    report.line()
    report.header(*found.HEADER)
    for line in found.rows():
        report.row(*line)
    report.line()
    report.header(*holdem.HEADER)
    for row in holdem.rows():
        report.row(*row)
    report.line()
    report.header("work", "measured", "asked for", "reached")
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.goof7"], check=True, capture_output=True, text=True
    ).stdout
    goof = json.loads(answer)
    cfr = goof["cfr"]
    report.row(
        f"build Goof(7), {goof['nodes']:,} nodes",
        f"{goof['build']:.1f} s, then {goof['sequence_form']:.1f} s (sequence form)",
        "<= 90 s",
        "yes" if goof["build"] + goof["sequence_form"] <= 90 else "NO",
    )
    report.row(
        "peak memory of that",
        f"{goof['peak_gb']:.1f} GB",
        "<= 8 GB",
        "yes" if goof["peak_gb"] <= 8 else "NO",
    )
    report.row(
        "CFR on Goof(7), one iteration",
        f"{cfr[len(cfr) // 2]:.2f} s ({cfr[0]:.2f}-{cfr[-1]:.2f})",
        "<= 1 s",
        "yes" if cfr[len(cfr) // 2] <= 1 else "NO",
    )
    median, least, most = startup.warm_start()
    report.row(
        "`counterplay solve kuhn`, warm caches",
        f"{median:.2f} s ({least:.2f}-{most:.2f})",
        "<= 1.5 s",
        "yes" if median <= 1.5 else "NO",
    )
    for algorithm, seconds in startup.cold_starts().items():
        report.row(
            f"`solve kuhn -a {algorithm}`, empty cache (compiles)", f"{seconds:.1f} s", "", ""
        )
    RESULTS.write_text("\n".join(report.lines) + "\n")


if __name__ == "__main__":
    main()
