"""Figure 7's question by size: time and memory of responses to a given gap, at full width and by
sampling, up to where full width no longer fits. `python -m benchmarks.by_size [SECONDS]` (of each
run, 60), into `benchmarks/by_size.csv` and `docs/images/by-size.png`.

Each run is a process of its own, whose peak memory is that of the game, its forms and the solver.
The gap is the exploitability of the restricted game over the range of payoffs. Without a tree
sampling has the same bits, so it reaches the gap in the iterations that it took on the tree; where
there is no tree at all, the gap cannot be measured, and those runs say what was done in that time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows

FAMILIES = {
    "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 6, 7, 8)],
    "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5, 6, 7, 8)],
    "Bluff(2,1,F)": [f"bluff(2,1,{n})" for n in (2, 3, 4, 5, 6)],
    "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (4, 6, 8, 10, 12)],
}
METHODS = {
    "RNR, CFR": ("rnr", "cfr"),
    "RNR, CFR+": ("rnr", "cfr+"),
    "MCRNR, outcome": ("mcrnr", "mccfr"),
    "MCRNR, external": ("mcrnr", "mccfr-external"),
    "MCRNR, outcome, no tree": ("mcrnr", "mccfr"),
}
GAP = 0.02  # of the range of payoffs
P = 0.75
HEADER = (
    "family",
    "game",
    "size",
    "method",
    "seconds",
    "iterations",
    "gap",
    "build_seconds",
    "peak_gb",
    "note",
)
PATH = Path(__file__).with_suffix(".csv")
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "by-size.png"


def one(name: str, method: str, seconds: float, iterations: int) -> dict[str, Any]:
    """A response of player 1 to uniform play: seconds to the gap, or what there was by then.
    `iterations`: that reach the gap, where it cannot be measured; 0 where nobody knows."""
    import resource

    import counterplay as cp

    before = time.perf_counter()
    algorithm, engine = METHODS[method]
    game = cp.load(name)
    if game.abilities.keyed and "no tree" not in method:
        return {"note": "too large for a tree"}
    if game.has_tree and "no tree" in method:
        game = cp.load(name.rstrip(")") + ",tree=False)")
    model = cp.Strategy.uniform(game)
    span = 1.0
    if game.has_tree:
        span = float(game.tree.payoff.max() - game.tree.payoff.min())
        if algorithm == "rnr":
            _ = game.sequence_form
    built = time.perf_counter() - before
    target: dict[str, Any] = {"target": GAP * span} if game.has_tree else {}
    if iterations:
        target = {"iterations": iterations}
    response = cp.respond(
        game, model, 0, P, algorithm, engine=engine, seconds=seconds, seed=1, **target
    )
    run = response.runs[0]
    return {
        "seconds": run.seconds,
        "iterations": run.iterations,
        "gap": run.exploitability / span,
        "build_seconds": built,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "note": "target" if run.stopped_by == "iterations" else run.stopped_by,
    }


def _rows(seconds: float) -> Iterator[tuple[Any, ...]]:
    for family, games in FAMILIES.items():
        for name in games:
            reached = 0  # iterations of outcome sampling, on the tree
            for method in METHODS:
                command = [sys.executable, "-m", "benchmarks.by_size", name, method]
                command += [str(seconds), str(reached if "no tree" in method else 0)]
                done = subprocess.run(command, capture_output=True, text=True)
                try:
                    found = json.loads(done.stdout.splitlines()[-1])
                except (IndexError, ValueError):
                    found = {"note": (done.stderr.strip().splitlines() or ["no answer"])[-1][:100]}
                if method == "MCRNR, outcome" and found.get("note") == "target":
                    reached = found["iterations"]
                cells = [found.get(key, "") for key in HEADER[4:]]
                row = (family, name, games.index(name), method, *cells)
                print(*row, flush=True)
                yield row


def draw() -> None:
    """Seconds to the gap, building included, and memory, by size; a column for each family.
    Crosses: the time ran out, or the gap cannot be measured."""
    import csv

    from counterplay.base.plotting import COLOURS, new_figure

    with PATH.open() as file:
        rows = list(csv.DictReader(file))
    figure, axes = new_figure(2, len(FAMILIES), 3.2 * len(FAMILIES), 6.0)
    for column, (family, games) in enumerate(FAMILIES.items()):
        for colour, method in zip(COLOURS, METHODS, strict=False):
            mine = [r for r in rows if r["family"] == family and r["method"] == method]
            for axis, key in ((axes[0, column], "seconds"), (axes[1, column], "peak_gb")):
                reached = [r for r in mine if r[key] and r["note"] == "target"]
                short = [r for r in mine if r[key] and r["note"] != "target"]
                xs = [int(r["size"]) for r in reached]
                axis.plot(xs, [_number(r, key) for r in reached], "o-", color=colour, label=method)
                xs = [int(r["size"]) for r in short]
                axis.plot(xs, [_number(r, key) for r in short], "x", color=colour)
        for row_, title in ((0, f"{family}: seconds to the gap"), (1, "peak memory, GB")):
            axis = axes[row_, column]
            axis.set(yscale="log", title=title, xticks=range(len(games)), xlim=(-0.3, 4.3))
            axis.set_xticklabels([name.split("(")[1].rstrip(")") for name in games])
    axes[0, -1].legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(PICTURE, dpi=110, bbox_inches="tight")


def _number(row: dict[str, str], key: str) -> float:
    return float(row[key]) + (float(row["build_seconds"]) if key == "seconds" else 0.0)


def main() -> None:
    if len(sys.argv) == 5:
        found = one(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
        print(json.dumps(found))
        return
    if sys.argv[1:] != ["draw"]:
        seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
        write_rows(PATH, HEADER, list(_rows(seconds)))
    draw()


if __name__ == "__main__":
    main()
