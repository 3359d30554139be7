"""A river with narrow ranges, here and by OpenSpiel's C++ solvers, one thread each.

    python -m benchmarks.spots_beside [--seconds 30]

OpenSpiel (PyPI: open-spiel) gets the same spot as a tree of histories, in a file of Gambit: its own
no-limit hold'em lists all deals of two holdings at the start of a hand, also those that the board
and the ranges exclude, so that its full-width solvers cannot begin. Writes
benchmarks/spots_beside.csv; seconds are those of iterations, without measuring; `target` is empty
where the time was over before it was reached. Exploitability is b1 + b2 in percent of the pot.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyspiel

from benchmarks.measure import write_rows
from counterplay.core.forms.game import Game
from counterplay.core.games.gambit_write import save_game
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.spots.game import spot
from tests.support.spots import naive_game

OUT = Path(__file__).parent / "spots_beside.csv"
HEADER = (
    *("program", "algorithm", "board", "bets", "holdings", "nodes", "iterations_per_second"),
    *("iterations", "percent_of_pot", "target", "seconds"),
)
SPOT: dict[str, Any] = {
    "board": "QsJh2c5d8s", "pot": 20, "stacks": 90, "bets": "50,100", "symmetric": False,
    "ranges": ("AA,QQ,88,AQs,KTs,76s", "KK,TT,55,AKs,QTs,T9s"),
}  # fmt: skip
TARGETS = (0.5, 0.1)

#: A decision of an information set that was named before, and one that names it.
AGAIN, NAMED = re.compile(r'p "" (\d+ \d+) 0'), re.compile(r'p "" (\d+ \d+) ".*')

Step = Callable[[int], None]
Gap = Callable[[], float]


def _repeat_names(file: Path) -> None:
    """Names every information set at each of its decisions, which OpenSpiel wants."""
    named, lines = dict[str, str](), []
    for line in file.read_text().splitlines():
        if found := NAMED.fullmatch(line):
            named[found[1]] = line
        again = AGAIN.fullmatch(line)
        lines.append(named[again[1]] if again else line)
    file.write_text("\n".join(lines) + "\n")


def peer_of(tree: Game) -> Any:
    """OpenSpiel's game of the same tree."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spot.efg"
        save_game(tree, file)
        _repeat_names(file)
        return pyspiel.load_game("efg_game", {"filename": str(file)})


def _ours(game: Game, algorithm: str) -> tuple[Step, Gap]:
    solver = new_solver(game, algorithm, 0, {})
    solver.step(1)  # compiled before the clock starts
    solver.exploitability()
    solver = new_solver(game, algorithm, 0, {})
    return solver.step, solver.exploitability


def _theirs(peer: Any, kind: Any) -> tuple[Step, Gap]:
    solver = kind(peer)

    def step(n: int) -> None:
        for _ in range(n):
            solver.evaluate_and_update_policy()

    return step, lambda: float(pyspiel.nash_conv(peer, solver.average_policy()))


def programs(game: Game, peer: Any) -> Iterator[tuple[str, str, Step, Gap]]:
    """The solvers to be compared: program, algorithm, and how they step and are measured."""
    for algorithm in ("dcfr", "cfr+"):
        yield ("counterplay", algorithm, *_ours(game, algorithm))
    name = f"open-spiel {version('open-spiel')}"
    yield (name, "cfr+", *_theirs(peer, pyspiel.CFRPlusSolver))


def measure(step: Step, gap: Gap, pot: float, most: float) -> Iterator[tuple[Any, ...]]:
    """Yields iterations per second, iterations, percent of the pot, target and seconds for each
    target that is reached in `most` seconds, and for the end of them."""
    done, due, spent, percent = 0, 10, 0.0, 100.0
    for target in TARGETS:
        while percent > target and spent < most:
            before = time.perf_counter()
            step(due - done)
            spent += time.perf_counter() - before
            done, due = due, int(due * 1.1) + 1
            percent = 100 * gap() / pot
        reached = target if percent <= target else ""
        yield round(done / spent, 1), done, round(percent, 3), reached, round(spent, 4)
        if not reached:
            return


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each solver at most")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(words)
    game = spot(**SPOT)
    naive = naive_game(game)
    holdings = "/".join(str(len(side.holding)) for side in game.rules.layout.sides)
    peer, rows = peer_of(naive), []
    for program, algorithm, step, gap in programs(game, peer):
        about = (program, algorithm, SPOT["board"], SPOT["bets"], holdings, naive.n_nodes)
        for found in measure(step, gap, SPOT["pot"], given.seconds):
            rows.append([*about, *found])
            print("  ".join(f"{n} {v}" for n, v in zip(HEADER, rows[-1], strict=True)), flush=True)
    write_rows(given.out, HEADER, rows)


if __name__ == "__main__":
    main()
