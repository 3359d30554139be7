"""The experiment of Bard, Johanson & Bowling (2014) in limit hold'em: what restricted Nash
responses win from an equilibrium of tilted payoffs, and what they risk in the game that is played.

    python -m benchmarks.tilted tables --work FOLDER
    python -m benchmarks.tilted opponent --work FOLDER --threads 11
    python -m benchmarks.tilted responses --seat 0 --work FOLDER
    python -m benchmarks.tilted responses --seat 1 --work FOLDER
    python -m benchmarks.tilted measure --work FOLDER --out OUT
    python -m benchmarks.tilted all --backend cpu --work FOLDER ...

The opponent is an equilibrium of 8 buckets with perfect recall (percentiles of E[HS²]) in which
both players count what they win 1.25 times. Responses have 12 such buckets: `abstract` ones learnt
against an adversary with the same buckets (mcrnr), `real` ones against one who sees its cards
(rnr). Beside them stand equilibria of 5, 8 and 12 buckets. The first command makes the tables of
cards and buckets; the next four run side by side, the opponent on processors, the others on a CUDA
device, and wait for each other's files in the folder. `all` does everything one after the other.

A file that is there is not made again, nor a row measured again, so that a command that was stopped
goes on. Files are large (1.2 GB with 12 buckets) and are not meant to be kept: what remains are the
rows of tilted.csv, in the folder and in OUT. A row has the risk in mb/g averaged over the seats,
from `--flops`, beside a certified strategy, and the winnings from the opponent in mb/g, from a
match of `--hands`, both with half their 95% intervals. The seconds and iterations of a response are
those of both seats together; an `abstract` one begins with what was learnt with the p before.
"""

from __future__ import annotations

import argparse
import csv
import gc
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.cfr_br import Training
from benchmarks.measure import write_rows
from benchmarks.real_frontier import game_called, risks_on_flops, say, winnings
from counterplay.core.base import files
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver
from counterplay.poker.bots.shipped import digest

KIND = "tilted experiment"
GAME, TILT = "holdem(buckets={},kind=nested)", 0.25
OPPONENT, EQUILIBRIUM, ABSTRACT, REAL = "opponent", "equilibrium", "abstract", "real"
ENGINES = {ABSTRACT: ("mcrnr", "mccfr-public"), REAL: ("rnr", "cfr-br")}
PARTS = ("tables", "opponent", "responses", "measure", "all")
ABSTRACT_PS, REAL_PS = "0.3,0.5,0.7,0.8,0.9,0.97", "0.3,0.45"
KEPT = 0.05  # of what was learnt with the p before, against an abstract adversary
WRITING = 25.0  # seconds until a large strategy is there
BATCH = 256  # boards of an update on a device: one with many buckets takes long
HEADER = ["player", "buckets", "p", "seconds", "iterations", "digest", "flops", "hands"]
HEADER += ["risk_mb_per_game", "risk_error", "won_mb_per_game", "won_error"]
SMALL_BET = 1000.0  # mb


class Late(Exception):
    """There is no time left."""


@dataclass(frozen=True)
class Piece:
    """A strategy of both seats, from one file, or from one for each."""

    player: str
    buckets: int
    p: float | None = None  # of a response

    @property
    def game(self) -> cp.Game:
        return game_called(GAME.format(self.buckets))

    def files(self, folder: Path) -> list[Path]:
        """Where it is, seat by seat."""
        name = f"{self.player}-{self.buckets}"
        if self.p is None:
            return [folder / f"{name}.npz"]
        return [folder / f"{name}-p{self.p:g}-seat{seat}.npz" for seat in (0, 1)]

    def read(self, folder: Path) -> tuple[cp.Strategy, list[dict[str, Any]]]:
        """The strategy, and the facts of each file."""
        whole, facts = np.zeros(0), []
        for seat, path in enumerate(self.files(folder)):
            arrays, header = files.read_arrays(path, KIND)
            facts.append(header)
            if seat == 0:
                whole = arrays["probabilities"].astype(np.float64)
            else:
                slots = self.game.slots(seat)
                whole[slots] = arrays["probabilities"][slots]
        return cp.Strategy.from_weights(self.game, whole), facts


class Experiment:
    """Its pieces, and the files and seconds that it has."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.folder = given, given.work
        self._end = time.monotonic() + given.seconds
        self._writer = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None
        *first, last = numbers(given.buckets)
        self.opponent = Piece(OPPONENT, int(given.opponent))
        self.equilibria = (
            [Piece(EQUILIBRIUM, int(n)) for n in first],
            [Piece(EQUILIBRIUM, int(last))],
        )
        self.responses = [Piece(ABSTRACT, int(last), p) for p in numbers(given.abstract)]
        self.responses += [Piece(REAL, int(last), p) for p in numbers(given.real)]
        self.training = dict(
            zip((OPPONENT, EQUILIBRIUM, ABSTRACT, REAL), numbers(given.training), strict=True)
        )

    @property
    def pieces(self) -> list[Piece]:
        """All, in the order in which they are measured."""
        return [self.opponent, *self.equilibria[1], *self.equilibria[0], *self.responses]

    def left(self, needed: float = 0.0) -> float:
        """The seconds left; `Late` if they are fewer than are needed."""
        left: float = self._end - time.monotonic()
        if left < needed:
            raise Late
        return left

    def wait_for(self, piece: Piece) -> None:
        while not all(path.exists() for path in piece.files(self.folder)):
            self.left(1.0)
            time.sleep(0.5)

    def write(self, path: Path, training: Training) -> None:
        """Write the average strategy, while the next one is trained."""
        policy, facts = training.solver.policy(), training.facts
        if self._writing is not None:
            self._writing.result()

        def write() -> None:
            files.write_arrays(path, KIND, {"probabilities": policy.astype(np.float32)}, facts)
            say(f"{path}: {facts['iterations']:,} iterations in {facts['seconds']} s")

        self._writing = self._writer.submit(write)

    def finish(self) -> None:
        """Wait for the last file."""
        if self._writing is not None:
            self._writing.result()

    # --- the parts

    def make_tables(self) -> None:
        for piece in self.pieces[: 1 + sum(map(len, self.equilibria))]:
            piece.game.rules.prepare()
            say(f"tables of {piece.game.name}")

    def train_opponent(self) -> None:
        self._train_alone(self.opponent, {"tilt": TILT, "threads": self.given.threads})

    def train_responses(self, seat: int) -> None:
        """The equilibria of this command, then the responses of a seat."""
        options = {"backend": "cuda", "batch": BATCH}
        if self.given.backend != "cuda":
            options = {"threads": self.given.threads}
        for piece in self.equilibria[seat]:
            self._train_alone(piece, options)
        self.wait_for(self.opponent)
        model, _ = self.opponent.read(self.folder)
        say("read the opponent")
        solver: ResponseSolver | None = None
        for piece in self.responses:
            path = piece.files(self.folder)[seat]
            if path.exists():
                continue
            p, algorithm, seconds = piece.p or 0.0, ENGINES[piece.player], self.seconds_of(piece)
            if solver is not None and piece.player == ABSTRACT:
                solver.replace_model(model, p)
                solver.discount(KEPT)
            else:
                solver = None
                gc.collect()  # frees many GB
                more = {"backend": self.given.backend} if piece.player == REAL else options
                solver = ResponseSolver(piece.game, model, seat, p, *algorithm, 1, more)
            self._train(solver.engine, piece.game, path, seconds)

    def seconds_of(self, piece: Piece) -> float:
        """The seconds in which it is trained; `Late` if fewer are left."""
        seconds = self.training[piece.player]
        self.left(seconds + WRITING)
        return seconds

    def _train_alone(self, piece: Piece, options: dict[str, Any]) -> None:
        (path,) = piece.files(self.folder)
        if not path.exists():
            seconds = self.seconds_of(piece)
            solver = new_solver(piece.game, "mccfr-public", 1, options)
            self._train(solver, piece.game, path, seconds)

    def _train(self, solver: Solver, game: cp.Game, path: Path, seconds: float) -> None:
        training = Training(game, solver)
        training.train(min(seconds, self.left()))
        self.write(path, training)

    def measure(self) -> None:
        """Measure what is there until all is."""
        rows, opponent = Rows(self.folder / "tilted.csv", self.given.out), None
        while missing := [one for one in self.pieces if not rows.has(one)]:
            self.left(5.0)
            ready = [one for one in missing if all(p.exists() for p in one.files(self.folder))]
            if not ready:
                time.sleep(0.5)
                continue
            strategy, facts = ready[0].read(self.folder)
            say(f"read {ready[0]}")
            flops, hands = self.given.flops, self.given.hands
            (risk,) = risks_on_flops([strategy], flops, self.given.backend)
            say(f"it risks {risk[0]:.0f} mb/g")
            won: tuple[float, ...] = ()
            if ready[0] != self.opponent:
                if opponent is None:
                    opponent, _ = self.opponent.read(self.folder)
                won = winnings(strategy, opponent, hands)
            rows.add(ready[0], strategy, facts, [flops, hands if won else ""], [*risk, *won])


class Rows:
    """The rows of a CSV file, one for each piece."""

    def __init__(self, path: Path, out: Path | None) -> None:
        self._path, self._out, self._rows = path, out, dict[tuple[str, ...], list[str]]()
        if path.exists():
            with path.open() as file:
                self._rows = {tuple(row[:3]): row for row in list(csv.reader(file))[1:]}

    def has(self, piece: Piece) -> bool:
        return self._key(piece) in self._rows

    def _key(self, piece: Piece) -> tuple[str, ...]:
        return piece.player, str(piece.buckets), "" if piece.p is None else f"{piece.p:g}"

    def add(
        self, piece: Piece, strategy: cp.Strategy, facts: Sequence[dict[str, Any]],
        sizes: Sequence[object], numbers: Sequence[float],
    ) -> None:  # fmt: skip
        """Risk and its error in mb/g; winnings and their error in sb/h, if they were measured."""
        risk = [f"{number:.2f}" for number in numbers[:2]]
        won = [f"{SMALL_BET * number:.2f}" for number in numbers[2:]] or ["", ""]
        trained = [f"{sum(one['seconds'] for one in facts):.1f}"]
        trained += [str(sum(one["iterations"] for one in facts)), digest(strategy)]
        key = self._key(piece)
        self._rows[key] = [*key, *trained, *map(str, sizes), *risk, *won]
        say(", ".join(self._rows[key]))
        write_rows(self._path, HEADER, self._rows.values())
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._path, self._out / self._path.name)


def numbers(text: str) -> Iterator[float]:
    return (float(word) for word in text.split(",") if word)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tilted", description=summary)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--work", type=Path, required=True, help="a folder for large files")
    parser.add_argument("--out", type=Path, help="a folder that gets the rows, too")
    parser.add_argument("--seat", type=int, choices=(0, 1), help="of responses")
    parser.add_argument("--seconds", type=float, default=500.0, help="after which nothing begins")
    parser.add_argument(
        "--training", default="80,40,15,150", metavar="SECONDS",
        help="of the opponent, an equilibrium, a seat of an abstract, of a real response",
    )  # fmt: skip
    parser.add_argument("--abstract", default=ABSTRACT_PS, metavar="PS")
    parser.add_argument("--real", default=REAL_PS, metavar="PS")
    parser.add_argument("--buckets", default="5,8,12", help="of equilibria; the last of responses")
    parser.add_argument("--opponent", type=int, default=8, metavar="BUCKETS")
    parser.add_argument("--threads", type=int, default=1, help="that train on processors")
    parser.add_argument("--flops", type=int, default=48)
    parser.add_argument("--hands", type=int, default=20_000_000)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    given = parser.parse_args(arguments)
    if given.part == "responses" and given.seat is None:
        parser.error("say which seat responds: --seat 0 or --seat 1")
    given.work.mkdir(parents=True, exist_ok=True)
    experiment, part = Experiment(given), given.part
    try:
        if part in ("tables", "all"):
            experiment.make_tables()
        if part in ("opponent", "all"):
            experiment.train_opponent()
        for seat in (0, 1) if part == "all" else (given.seat,) if part == "responses" else ():
            experiment.train_responses(seat)
        experiment.finish()
        if part in ("measure", "all"):
            experiment.measure()
    except Late:
        experiment.finish()
        say(f"{part}: no time is left")


if __name__ == "__main__":
    main()
