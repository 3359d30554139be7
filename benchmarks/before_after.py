"""Speed of this tree beside an earlier revision: `python -m benchmarks.before_after REVISION`,
half an hour, into `benchmarks/before_after.csv`.

Two processes, one for each tree, take turns at each piece of work, which uses the public interface
only. A ratio above 1 means that this tree is faster. One pair of processes can repeat a ratio to 1%
that another pair does not show (`mccfr, kuhn`: 0.81 and 1.04 for the same sources), so each piece
of work is measured by several pairs. Seconds are those of the processor, or, for work on several
threads, of the clock.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import write_rows

ROOT = Path(__file__).parent.parent
PATH = Path(__file__).with_suffix(".csv")
HEADER = ("work", "ratio", "least", "most", "seconds")
PAIRS, TURNS = 5, 3  # of processes, and of each pair


class Work(NamedTuple):
    """Statements that prepare, a statement that is timed, and whose seconds."""

    prepare: str
    timed: str
    clock: str = "process_time"


def _solving(game: str, algorithm: str, iterations: int, **options: Any) -> Work:
    """A solver that goes on for `iterations`, after as many for its tables to be filled."""
    words = "".join(f", {key}={value!r}" for key, value in options.items())
    call = f"cp.solve(game, {algorithm!r}, iterations={iterations}, seed=1{words})"
    clock = "perf_counter" if options.get("threads", 1) > 1 else "process_time"
    return Work(f"game = cp.load({game!r}); {call}", call, clock)


WORK = {
    **{
        f"{algorithm}, {game}": _solving(game, algorithm, n)
        for algorithm, game, n in (
            ("mccfr", "kuhn", 3_000_000),
            ("mccfr", "leduc", 2_000_000),
            ("mccfr", "bluff(1,1,6)", 1_000_000),
            ("mccfr", "goofspiel(6)", 1_000_000),
            ("mccfr", "holdem(buckets=10)", 1_500_000),
            ("mccfr", "holdem(buckets=100)", 1_000_000),
            ("mccfr-external", "leduc", 300_000),
            ("mccfr-external", "holdem(buckets=10)", 30_000),
            ("mccfr-chance", "leduc", 60_000),
            ("mccfr-public", "holdem(buckets=10)", 80),
            ("mccfr-public", "holdem(buckets=100)", 30),
            ("mcts", "leduc", 1_500_000),
            ("mcts", "holdem(buckets=10)", 1_500_000),
            ("cfr", "leduc", 3_000),
            ("cfr+", "bluff(1,1,6)", 100),
            ("dcfr", "goofspiel(5)", 200),
            ("egt", "leduc", 500),
            ("lp", "leduc", 1),
        )
    },
    "mccfr without a tree, bluff(1,1,6)": _solving("bluff(1,1,6,tree=False)", "mccfr", 500_000),
    "mccfr, holdem(buckets=10), two threads": _solving(
        "holdem(buckets=10)", "mccfr", 3_000_000, threads=2
    ),
    "cfr+, bluff(1,1,6), two threads": _solving("bluff(1,1,6)", "cfr+", 400, threads=2),
    "mccfr-public, holdem(buckets=10), two threads": _solving(
        "holdem(buckets=10)", "mccfr-public", 200, threads=2
    ),
    "tree of goofspiel(6)": Work(
        "cp.load('goofspiel(6)').tree", "[cp.load('goofspiel(6)').tree for _ in range(3)]"
    ),
    "tree of bluff(1,1,6)": Work(
        "cp.load('bluff(1,1,6)').tree", "[cp.load('bluff(1,1,6)').tree for _ in range(20)]"
    ),
    "exploitability, bluff(1,1,6)": Work(
        "game = cp.load('bluff(1,1,6)'); uniform = cp.Strategy.uniform(game); "
        "cp.exploitability(game, uniform)",
        "[cp.exploitability(game, uniform) for _ in range(200)]",
    ),
    "rnr, leduc": Work(
        "game = cp.load('leduc'); model = cp.Strategy.uniform(game); "
        "cp.respond(game, model, p=0.5, algorithm='rnr', iterations=100)",
        "cp.respond(game, model, p=0.5, algorithm='rnr', iterations=1500)",
    ),
    "mcrnr, leduc": Work(
        "game = cp.load('leduc'); model = cp.Strategy.uniform(game); "
        "cp.respond(game, model, p=0.5, algorithm='mcrnr', iterations=1000, seed=1)",
        "cp.respond(game, model, p=0.5, algorithm='mcrnr', iterations=600_000, seed=1)",
    ),
    "match of two tables, holdem(buckets=10)": Work(
        "game = cp.load('holdem(buckets=10)'); a = cp.Strategy.uniform(game); "
        "cp.play_match(game, a, a, hands=2000, seed=1, processes=1)",
        "cp.play_match(game, a, a, hands=4_000_000, seed=1, processes=1)",
    ),
    "match with Poki": Work(
        "game = cp.load('holdem'); cp.play_match(game, 'poki', 'always-call', hands=200, seed=1, "
        "processes=1)",
        "cp.play_match(game, 'poki', 'always-call', hands=6000, seed=1, processes=1)",
    ),
}

WORKER = """
import sys, time
import counterplay as cp
names = {"cp": cp}
for line in sys.stdin:
    clock, code = line.rstrip("\\n").split("\\t")
    before = getattr(time, clock)()
    try:
        exec(code, names)
        print("ok", getattr(time, clock)() - before, flush=True)
    except Exception as error:
        print("error", repr(error).replace("\\n", " "), flush=True)
"""


class Tree:
    """A process with the sources of one tree."""

    def __init__(self, source: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # its input ends

    def run(self, code: str, clock: str = "process_time") -> float:
        """Seconds of the code; `ValueError` where it fails."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        to.write(f"{clock}\t{code}\n")
        to.flush()
        word, _, said = back.readline().strip().partition(" ")
        if word != "ok":
            raise ValueError(said)
        return float(said)


@contextmanager
def _checked_out(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["git", "worktree", "add", "--quiet", "--detach", folder, revision],
            cwd=ROOT,
            check=True,
        )
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def _seconds(work: Work, sources: tuple[Path, Path]) -> list[tuple[float, float]]:
    """Seconds of each turn of one pair of processes."""
    with Tree(sources[0]) as first, Tree(sources[1]) as second:
        for tree in (first, second):
            tree.run(work.prepare)
        pairs = []
        for turn in range(TURNS):
            order = (first, second) if turn % 2 == 0 else (second, first)
            seconds = {tree: tree.run(work.timed, work.clock) for tree in order}
            pairs.append((seconds[first], seconds[second]))
        return pairs


def _compare(name: str, work: Work, sources: tuple[Path, Path]) -> tuple[Any, ...]:
    """The median, the least and the most of the ratios of all pairs of processes. The ratio of one
    pair is that of its shortest turns: others wait for what else the machine does."""
    pairs = [
        [min(turns) for turns in zip(*_seconds(work, sources), strict=True)] for _ in range(PAIRS)
    ]
    ratios = [then / here for here, then in pairs]
    numbers = (statistics.median(ratios), min(ratios), max(ratios))
    return name, *(f"{x:.3f}" for x in numbers), f"{statistics.median(p[0] for p in pairs):.3f}"


def main(revision: str, *chosen: str) -> None:
    rows = []
    with _checked_out(revision) as folder:
        sources = ROOT / "src", folder / "src"
        for name, work in WORK.items():
            if chosen and not any(word in name for word in chosen):
                continue
            try:
                rows.append(_compare(name, work, sources))
            except ValueError as error:
                rows.append((name, "", "", "", f"not compared: {error}"))
            print(*rows[-1], sep="  ", flush=True)
    if not chosen:
        write_rows(PATH, HEADER, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
