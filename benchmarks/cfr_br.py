"""CFR-BR on a CUDA device: percentile buckets, 169 classes of starting hands before the flop.

    python -m benchmarks.cfr_br [--buckets 100] [--seconds 420] [--flops 24] [--seed 1]

Writes benchmarks/cfr_br.csv: exploitability (mb/g, half the width of the interval beside it), on
sampled flops, after a quarter of the seconds of training and after all of them.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.ehs import PERCENTILE, EhsAbstraction
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.vector.cfr_br_cuda import DeviceCfrBr
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, average_policy, slot_values
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.suit_permutations import FULL_DECK, suit_permutations

OUT = Path(__file__).parent / "cfr_br.csv"
HEADER = ["buckets", "seed", "iterations", "seconds", "mb_per_game", "plus_minus"]
CLASSES = 169  # suit-isomorphic starting hands
CUT = 2  # the adversary best-responds from the turn on
PIECE = 10  # iterations between two looks at the clock
MB = 500.0  # mb/g for 1 sb/h of both seats' sum


@dataclass(frozen=True)
class StartingHandsAbstraction(EhsAbstraction):
    """All classes of starting hands before the flop, then buckets of EHS."""

    @property
    def key(self) -> str:
        return f"starting hands, {super().key}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        least = suit_permutations(FULL_DECK).holding.min(axis=0)
        _, number = np.unique(least, return_inverse=True)
        return super().buckets(progress)._replace(preflop=number.astype(np.uint16))


def average(solver: DeviceCfrBr, game: Game, streets: tuple[Street, ...]) -> cp.Strategy:
    """Returns the average strategy of the learner."""
    sums = zip(streets, solver.strategy_sums(), strict=True)
    blocks = tuple(average_policy(street, block) for street, block in sums)
    form = game.form
    return cp.Strategy(game, slot_values(streets, blocks, form.first_row, form.first, game.n_slots))


def train(buckets: int, seconds: float, flops: int, seed: int) -> None:
    """Train, and measure after a quarter of the seconds and after all."""
    abstraction = StartingHandsAbstraction((CLASSES, buckets, buckets, buckets), PERCENTILE)
    game = Game(f"holdem-starting-hands-{buckets}", HoldemRules(abstraction))
    streets = streets_of(betting_tree(LIMIT), np.float32)
    chance = HoldemChance(FULL_DECK, LIMIT.board, symmetric=True)
    rows = BucketRows(game.form.cards, abstraction.counts)
    solver = DeviceCfrBr(chance, streets, rows, cut=CUT, seed=seed)
    solver.iterate()
    solver.device.wait()
    spent = 0.0
    for until in (seconds / 4, seconds):
        while spent < until:
            before = time.perf_counter()
            for _ in range(PIECE):
                solver.iterate(average=float(solver.iterations + 1))
            solver.device.wait()
            spent += time.perf_counter() - before
        result = cp.exploitability(
            game, average(solver, game, streets), flops=flops, backend="cuda", seed=3
        )
        row = (buckets, seed, solver.iterations, round(spent, 1), MB * float(result))
        write_row([*row, MB * float(getattr(result, "error", 0.0))])


def write_row(row: Sequence[object]) -> None:
    """Add a row to the file."""
    rows: list[Sequence[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = list(csv.reader(file))[1:]
    write_rows(OUT, HEADER, [*rows, row])
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cfr_br", description=summary)
    parser.add_argument("--buckets", type=int, default=100, help="on each street after the first")
    parser.add_argument("--seconds", type=float, default=420.0, help="of training")
    parser.add_argument("--flops", type=int, default=24, help="sampled for the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    train(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
