"""The experiment of Bard, Johanson & Bowling (2014) in limit hold'em: what restricted Nash
responses win from an equilibrium of tilted payoffs, and what they risk in the game that is played.
Needs a CUDA device.

    python -m benchmarks.tilted train --work FOLDER
    python -m benchmarks.tilted measure --work FOLDER --out OUT

The opponent is an equilibrium of 8 buckets with perfect recall (percentiles of E[HS²]) in which
both players count what they win 1.25 times. Responses with 12 such buckets learn against an
adversary with the same buckets (`abstract`: mcrnr); others, with the buckets of `safest`, against
one who sees its cards (`real`: rnr; p = 0 is `safest` itself). Beside them stand equilibria of 5, 8
and 12 buckets.

A file that is there is not made again, nor a row measured again, so that a command that was stopped
goes on; `measure` takes what is there. Files are large (1.2 GB with 12 buckets) and are not meant
to be kept: what remains are the rows of tilted.csv, in the folder and in OUT. A row has the risk in
mb/g averaged over the seats, from `--flops` beside a certified strategy or, with `--exact`, over
every board, and the winnings from the opponent in mb/g, from a match of `--hands`, both with half
their 95% intervals. The seconds of a response are those of both seats, the iterations those of one;
each begins with the regrets of the p before, an `abstract` one also with a part of the average.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.cfr_br import Training
from benchmarks.measure import write_rows
from benchmarks.real_frontier import game_called, risks_of, say, winnings
from counterplay.core.base import files
from counterplay.core.responses.compute import ResponseParameters, compute_response
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.limits import Limits
from counterplay.poker.bots.shipped import digest, strategies
from tools.ship_strategy import exact_value

KIND = "tilted experiment"
GAME, TILT = "holdem(buckets={},kind=nested)", 0.25
REAL_GAME, SAFEST = "holdem(buckets=100,kind=emd)", "safest"
OPPONENT, EQUILIBRIUM, ABSTRACT, REAL = "opponent", "equilibrium", "abstract", "real"
ENGINES = {ABSTRACT: ("mcrnr", "mccfr-public"), REAL: ("rnr", "cfr-br")}
ABSTRACT_PS, REAL_PS = "0.5,0.7,0.8,0.9", "0.2,0.35"
KEPT = 0.05  # of what was learnt with the p before, against an abstract adversary
BATCH = 128  # boards of an update
HEADER = ["player", "game", "p", "seconds", "iterations", "digest", "flops", "hands"]
HEADER += ["risk_mb_per_game", "risk_error", "won_mb_per_game", "won_error"]
SMALL_BET = 1000.0  # mb


@dataclass(frozen=True)
class Piece:
    """A strategy of the experiment."""

    player: str
    name: str  # of the game
    p: float | None = None  # of a response

    @property
    def key(self) -> tuple[str, str, str]:
        return self.player, self.name, "" if self.p is None else f"{self.p:g}"

    @property
    def shipped(self) -> bool:
        return self.player == REAL and self.p == 0.0

    @property
    def game(self) -> cp.Game:
        return game_called(self.name)

    def file(self, folder: Path) -> Path:
        return folder / ("-".join(word for word in self.key if word) + ".npz")

    def is_there(self, folder: Path) -> bool:
        return self.shipped or self.file(folder).exists()

    def read(self, folder: Path) -> tuple[cp.Strategy, dict[str, Any]]:
        """The strategy and the facts of its training."""
        say(f"read {self}")
        if self.shipped:
            (safest,) = (one for one in strategies() if one.name == SAFEST)
            return safest.strategy, {"seconds": 0.0, "iterations": 0}
        arrays, facts = files.read_arrays(self.file(folder), KIND)
        return cp.Strategy.from_weights(self.game, arrays["probabilities"].astype(float)), facts


class Experiment:
    """Its pieces and their files."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.folder = given, given.work
        self._writer = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None
        *first, last = (GAME.format(int(n)) for n in numbers(given.buckets))
        self.opponent = Piece(OPPONENT, GAME.format(given.opponent))
        self.equilibria = [Piece(EQUILIBRIUM, name) for name in (last, *first)]
        self.abstract = [Piece(ABSTRACT, last, p) for p in numbers(given.abstract)]
        self.real = [Piece(REAL, REAL_GAME, p) for p in numbers(given.real)]
        if self.real:
            self.real.insert(0, Piece(REAL, REAL_GAME, 0.0))
        self.training = dict(
            zip((OPPONENT, EQUILIBRIUM, ABSTRACT, REAL), numbers(given.training), strict=True)
        )

    def write(self, piece: Piece, policy: np.ndarray, seconds: float, iterations: int) -> None:
        """Write a strategy while the next one is trained."""
        path, facts = piece.file(self.folder), {"seconds": seconds, "iterations": iterations}
        self.finish()

        def write() -> None:
            files.write_arrays(path, KIND, {"probabilities": policy.astype(np.float32)}, facts)
            say(f"{path}: {iterations:,} iterations in {seconds:.0f} s")

        self._writing = self._writer.submit(write)

    def finish(self) -> None:
        """Wait for the last file."""
        if self._writing is not None:
            self._writing.result()

    # --- training

    def train(self) -> None:
        self.train_alone(self.opponent, tilt=TILT)
        self.train_alone(self.equilibria[0])
        self.finish()
        model, _ = self.opponent.read(self.folder)
        self.train_responses(self.real, model)
        self.train_responses(self.abstract, model)
        for piece in self.equilibria[1:]:
            self.train_alone(piece)
        self.finish()

    def options(self, player: str) -> dict[str, Any]:
        backend = self.given.backend
        return {"backend": backend} | (
            {} if player == REAL or backend == "cpu" else {"batch": BATCH}
        )

    def train_alone(self, piece: Piece, **options: Any) -> None:
        if not piece.is_there(self.folder):
            options |= self.options(piece.player)
            training = Training(piece.game, new_solver(piece.game, "mccfr-public", 1, options))
            training.train(self.training[piece.player])
            solver = training.solver
            self.write(piece, solver.policy(), training.seconds, solver.iterations)

    def train_responses(self, pieces: Sequence[Piece], model: cp.Strategy) -> None:
        started: dict[int, ResponseSolver] = {}
        for piece in pieces:
            if piece.is_there(self.folder):
                continue
            seconds, options = self.training[piece.player], self.options(piece.player)
            parameters = ResponseParameters(
                piece.game, model, None, piece.p, *ENGINES[piece.player], 1, options
            )
            if piece.player == ABSTRACT:
                for solver in started.values():
                    solver.discount(KEPT)
            else:
                seconds *= 1 if started else 2  # the first one has to learn more
            found = compute_response(parameters, Limits(seconds=seconds), started=started)
            policy = found.strategy.probabilities
            self.write(piece, policy, found.seconds, found.iterations)

    # --- measuring

    def measure(self) -> None:
        """Measure what is there, games together."""
        rows = Rows(self.folder / "tilted.csv", self.given.out)
        pieces = [self.opponent, *self.equilibria, *self.abstract, *self.real]
        ready = [one for one in pieces if one.is_there(self.folder)]
        missing = sorted((one for one in ready if not rows.has(one)), key=lambda one: one.name)
        opponent, _ = self.opponent.read(self.folder)
        for _, alike in groupby(missing, lambda one: one.name):
            every = [(piece, *piece.read(self.folder)) for piece in alike]
            for piece, strategy, facts in every:
                won = ()
                if piece != self.opponent:
                    won = winnings(strategy, opponent, self.given.hands)
                rows.add(piece, strategy, facts, self.given.hands if won else "", won)
                if piece.shipped:
                    rows.add_risk(piece, None, (exact_value(strategy), 0.0))
            unknown = [(piece, strategy) for piece, strategy, _ in every if not piece.shipped]
            flops = None if self.given.exact else self.given.flops
            found = risks_of([strategy for _, strategy in unknown], flops, self.given.backend)
            for (piece, _), risk in zip(unknown, found, strict=True):
                rows.add_risk(piece, flops, risk)


class Rows:
    """The rows of a CSV file, one for each piece."""

    def __init__(self, path: Path, out: Path | None) -> None:
        self._path, self._out, self._rows = path, out, dict[tuple[str, ...], dict[str, str]]()
        if path.exists():
            with path.open() as file:
                self._rows = {
                    tuple(row[k] for k in HEADER[:3]): row for row in csv.DictReader(file)
                }

    def has(self, piece: Piece) -> bool:
        return bool(self._rows.get(piece.key, {}).get("risk_error"))

    def add(
        self, piece: Piece, strategy: cp.Strategy, facts: dict[str, Any], hands: object,
        won: Sequence[float],
    ) -> None:  # fmt: skip
        """`won`: winnings and half their interval in sb/h, or nothing."""
        trained = [f"{facts['seconds']:.1f}", str(facts["iterations"]), digest(strategy)]
        mb = [f"{SMALL_BET * number:.2f}" for number in won] or ["", ""]
        row = [*piece.key, *trained, "", str(hands), "", "", *mb]
        self._rows[piece.key] = dict(zip(HEADER, row, strict=True))
        self._write(piece)

    def add_risk(self, piece: Piece, flops: int | None, risk: tuple[float, float]) -> None:
        names = ("flops", "risk_mb_per_game", "risk_error")
        values = (str(flops or "all"), *(f"{number:.2f}" for number in risk))
        self._rows[piece.key] |= dict(zip(names, values, strict=True))
        self._write(piece)

    def _write(self, piece: Piece) -> None:
        say(", ".join(self._rows[piece.key].values()))
        keys = sorted(self._rows, key=_place)
        write_rows(self._path, HEADER, [list(self._rows[key].values()) for key in keys])
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._path, self._out / self._path.name)


def _place(key: tuple[str, ...]) -> tuple[object, ...]:
    """Where a row stands."""
    player, name, p = key
    return (OPPONENT, EQUILIBRIUM, ABSTRACT, REAL).index(player), float(p or 0), len(name), name


def numbers(text: str) -> Iterator[float]:
    return (float(word) for word in text.split(",") if word)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tilted", description=summary)
    parser.add_argument("part", choices=("train", "measure"))
    parser.add_argument("--work", type=Path, required=True, help="a folder for large files")
    parser.add_argument("--out", type=Path, help="a folder that gets the rows, too")
    parser.add_argument(
        "--training", default="75,50,40,50", metavar="SECONDS",
        help="of the opponent, an equilibrium, an abstract and a real response",
    )  # fmt: skip
    parser.add_argument("--abstract", default=ABSTRACT_PS, metavar="PS")
    parser.add_argument("--real", default=REAL_PS, metavar="PS")
    parser.add_argument("--buckets", default="5,8,12", help="of equilibria; the last of responses")
    parser.add_argument("--opponent", type=int, default=8, metavar="BUCKETS")
    parser.add_argument("--flops", type=int, default=64)
    parser.add_argument("--exact", action="store_true", help="risks over every board")
    parser.add_argument("--hands", type=int, default=20_000_000)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    given = parser.parse_args(arguments)
    given.work.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(given)
    experiment.train() if given.part == "train" else experiment.measure()


if __name__ == "__main__":
    main()
