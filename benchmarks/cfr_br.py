"""Players of limit hold'em: training, mostly on a CUDA device, and exploitability over time.

    python -m benchmarks.cfr_br GAME [--algorithm cfr-br] [--seconds 300] [--points 4] [--out OUT]
    python -m benchmarks.cfr_br GAME --iterations 1000 [--backend cpu] [--threads 1] [--out OUT]
    python -m benchmarks.cfr_br --exact FILE [FILE ...] [--out OUT]
    python -m benchmarks.cfr_br --on-flops FILE [FILE ...] [--out OUT]

The first trains a player, for example of `holdem(buckets=100,kind=classes)`, and measures its
average strategy on the same sampled flops after 1/8, 1/4, 1/2 and all of the time (`--points 4`);
`--flops 0` measures nothing. The strategy goes to the folder OUT with its probabilities in the
finest steps that fit into 5 MB, measured once more so. `--checkpoint FILE`: training goes on from
that file if it is there, and leaves its state in it. The second trains for a number of iterations,
measures once, and gives the same bits wherever it runs on processors, with one thread.

The third measures such files over every board; those of one game share a traversal. With `--flops`
it estimates from so many flops, beside a certified player as `counterplay evaluate` does, or
without (`--alone`), which is quicker and has a wider interval. The last
writes to benchmarks/flop_values.csv what best responses of both seats would win, in sb/h, if every
flop were like one of a few; a slow test compares that with processors in double precision.

The others add a row for each measurement to benchmarks/cfr_br.csv: mb/g averaged over the seats,
half the width of the interval beside it (0: exact). Steps 0: not quantised. Both files are copied
to OUT.
"""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.base import files
from counterplay.core.forms.game import Payoff
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver
from counterplay.poker.bots.shipped import digest, read_facts, read_quantised, write_quantised
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.vector.evaluation import vector_values
from counterplay.poker.vector.flop_values import (
    PreparedQuery,
    ValueQuery,
    values_on_cpu,
    values_on_device,
)

OUT = Path(__file__).parent / "cfr_br.csv"
VALUES = OUT.with_name("flop_values.csv")
FLOPS = (0, 1100)  # of 1,755
HEADER = ["game", "algorithm", "seed", "iterations", "seconds", "steps", "digest", "flops"]
HEADER += ["mb_per_game", "plus_minus"]
TRAINED = ("algorithm", "seed", "iterations", "seconds")  # facts of a file
ALGORITHMS = ("cfr-br", "mccfr-public", "mcts")
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
MEASURING_SEED = 3
PIECE_SECONDS = 0.4  # of training between two looks at the clock
SAY_SECONDS = 20.0  # between two lines of progress
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


def options_of(algorithm: str, backend: str, threads: int | None = None) -> dict[str, Any]:
    """Return the options of a solver."""
    if algorithm == "mcts":
        return {"c": 17.0, "threads": threads or cores()}  # the article's C
    return {"backend": backend} | ({} if threads is None else {"threads": threads})


class Training:
    """A solver and the seconds that it has had."""

    def __init__(self, game: cp.Game, solver: Solver) -> None:
        self.game, self.solver = game, solver
        say(f"{self.game.name}: {self.game.n_slots:,} slots")
        self.seconds, self.piece = 0.0, 1

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint, where there is one."""
        if path.exists():
            arrays, header = files.read_arrays(path, "checkpoint")
            self.solver.restore(arrays, str(path))
            self.seconds = float(header["seconds"])
            say(f"goes on after {self.seconds:.0f} s, {self.solver.iterations:,} iterations")

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        header = {"seconds": self.seconds}
        files.write_arrays(path, "checkpoint", self.solver.arrays(), header)

    def train_for(self, iterations: int) -> None:
        """Train until it has had so many iterations."""
        before = time.monotonic()
        self.solver.step(iterations - self.solver.iterations)
        self.seconds += time.monotonic() - before

    def train(self, seconds: float) -> None:
        """Train until it has had so many seconds."""
        self.solver.step(1)  # kernels are compiled
        say("training")
        said, done = time.monotonic(), self.solver.iterations
        while self.seconds < seconds:
            before = time.monotonic()
            self.solver.step(self.piece)
            now = time.monotonic()
            self.seconds += now - before
            self.piece = 1 + int(self.piece * min(2.0, PIECE_SECONDS / max(now - before, 1e-6)))
            if now - said > SAY_SECONDS:
                rate = (self.solver.iterations - done) / (now - said)
                say(f"{self.seconds:.0f} s, {self.solver.iterations:,} iterations, {rate:.1f}/s")
                said, done = now, self.solver.iterations

    @property
    def facts(self) -> dict[str, Any]:
        solver = self.solver
        values = (solver.name, solver.seed, solver.iterations, round(self.seconds, 1))
        return dict(zip(TRAINED, values, strict=True))


def measure(
    strategies: Sequence[cp.Strategy], facts: Sequence[dict[str, Any]], flops: int, backend: str,
    alone: bool = False,
) -> None:  # fmt: skip
    """Measure strategies of one game on so many flops, or on all (0), and add rows to the file.
    `alone`: on flops without a certified player beside them."""
    game = strategies[0].game
    options: dict[str, Any] = {"flops": flops, "seed": MEASURING_SEED} if flops else {}
    asked = [Payoff(player, one) for one in strategies for player in (0, 1)]
    if alone:
        tables = [(player, strategy_table(one)) for player, one, _ in asked]
        queries = [ValueQuery(player, table) for player, table in tables]
        values = vector_values(game, queries, backend=backend, **options)
    else:
        values = game.evaluator.payoffs(asked, backend=backend, **options)
    for k, (strategy, one) in enumerate(zip(strategies, facts, strict=True)):
        total = values[2 * k] + values[2 * k + 1]
        mean, error = MB * float(total), MB * float(getattr(total, "error", 0.0))
        row = [game.name, *(one[name] for name in TRAINED), one.get("steps", 0)]
        row += [digest(strategy), flops or "all", round(mean, 2), round(error, 2)]
        add_row(row)


def add_row(row: Sequence[object]) -> None:
    """Add a row to the file."""
    rows: list[Sequence[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = list(csv.reader(file))[1:]
    write_rows(OUT, HEADER, [*rows, row])
    say("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)))


def train(given: argparse.Namespace) -> None:
    """Train a player, measure it on its way, and save it."""
    options = options_of(given.algorithm, given.backend, given.threads)
    game = cp.load(given.game)
    training = Training(game, new_solver(game, given.algorithm, given.seed, options))
    if given.checkpoint is not None:
        training.restore(given.checkpoint)
    if given.iterations is not None:
        training.train_for(given.iterations)
    for point in range(given.points - 1, -1, -1) if given.iterations is None else ():
        if training.seconds < given.seconds / 2**point:
            training.train(given.seconds / 2**point)
            if given.flops:
                strategy = training.solver.strategy()
                measure([strategy], [training.facts], given.flops, given.backend)
    if given.checkpoint is not None:
        training.save(given.checkpoint)
    if given.out is not None:
        words = [word for word in given.words if word not in ("--out", str(given.out))]
        command = shlex.join(["python", "-m", "benchmarks.cfr_br", *words])
        name = re.sub(r"\W+", "-", f"{training.game.name} {given.algorithm}").strip("-")
        path = given.out / f"{name}.npz"
        facts = {**training.facts, "command": command}
        strategy = write_quantised(path, training.solver.strategy(), facts)
        facts = read_facts(path)
        say(f"{path}: {path.stat().st_size:,} bytes, {facts['steps']} steps")
        if given.flops:
            measure([strategy], [facts], given.flops, given.backend)


def measure_files(given: argparse.Namespace) -> None:
    """Measure files of players over every board, or on so many flops as are given."""
    by_game: dict[str, list[Path]] = {}
    for path in given.exact:
        by_game.setdefault(read_facts(path)["game"], []).append(path)
    for paths in by_game.values():
        say(", ".join(map(str, paths)))
        facts = [read_facts(path) for path in paths]
        game = cp.load(facts[0]["game"])
        strategies = [read_quantised(path, game) for path in paths]
        measure(strategies, facts, given.flops or 0, given.backend, given.alone)


def on_flops(paths: Sequence[Path], backend: str) -> None:
    """Measure files of players on `FLOPS`, one by one."""
    rows: list[Sequence[object]] = []
    if VALUES.exists():
        with VALUES.open() as file:
            rows = list(csv.reader(file))[1:]
    for path in paths:
        strategy = read_quantised(path)
        name = digest(strategy)
        rows = [row for row in rows if row[0] != name]
        for flop, values in flop_values(strategy, FLOPS, backend):
            rows.append([name, flop, *(round(value, 7) for value in values), backend])
            say(f"{path} flop {flop} {values}")
    write_rows(VALUES, ["digest", "flop", "best_response_1", "best_response_2", "backend"], rows)


def flop_values(
    strategy: cp.Strategy, flops: Sequence[int], backend: str
) -> Iterator[tuple[int, list[float]]]:
    """Yield flops with what best responses of both seats win if every flop is like this one."""
    table, tree = strategy_table(strategy), strategy.game.rules.tree
    asked = [PreparedQuery(ValueQuery(player, table), tree) for player in (0, 1)]
    every = float(asked[0].weight.sum())
    values_on = values_on_device if backend == "cuda" else values_on_cpu
    for flop, found in values_on(asked, list(flops)):
        pairs = zip(asked, found, strict=True)
        yield flop, [query.game_value(values * every) for query, values in pairs]


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cfr_br", description=summary)
    parser.add_argument("game", nargs="?", help="for example holdem(buckets=100,kind=classes)")
    parser.add_argument("--exact", type=Path, nargs="+", metavar="FILE", help="players to measure")
    parser.add_argument("--on-flops", type=Path, nargs="+", metavar="FILE", help="the same")
    parser.add_argument("--algorithm", default="cfr-br", choices=ALGORITHMS)
    parser.add_argument("--seconds", type=float, default=300.0, help="of training")
    parser.add_argument("--iterations", type=int, help="of training, instead of seconds")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--points", type=int, default=4, help="measurements, each time doubled")
    parser.add_argument("--flops", type=int, help="of a measurement: 48 in training, else all")
    parser.add_argument("--alone", action="store_true", help="--exact --flops: half of the time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--checkpoint", type=Path, help="to go on from, and to write")
    parser.add_argument("--out", type=Path, help="a folder for the strategy and the file")
    given = parser.parse_args(arguments)
    given.words = sys.argv[1:] if arguments is None else [*arguments]
    if sum(one is not None for one in (given.game, given.exact, given.on_flops)) != 1:
        parser.error("give a game to train a player, or --exact or --on-flops with files")
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
    if given.on_flops is not None:
        on_flops(given.on_flops, given.backend)
    elif given.exact is None:
        given.flops = 48 if given.flops is None else given.flops
        train(given)
    else:
        measure_files(given)
    if given.out is not None:
        for file in (OUT, VALUES):
            if file.exists():
                shutil.copy(file, given.out / file.name)


if __name__ == "__main__":
    main()
