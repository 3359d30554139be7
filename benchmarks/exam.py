"""How many hands an exam needs: programs that lose more than 0.05 sb/h against tables, in exams of
3,000 hands. A noisy player is the table `safe` with a share of uniform actions, played as a program
whose table nobody knows; its loss is known from 4,000,000 hands of tables. Poki's is the mean of
its exams. Writes benchmarks/exam.csv. Run: python -m benchmarks.exam [--exams 8] [--against NAME],
the latter for the rows of one opponent."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.match.sequences import BlendedSamples, ConfidenceSequence
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.exam.candidate import two_of
from counterplay.poker.exam.holdem import HANDS, SCALE, luck_adjuster, played_blocks

OUT = Path(__file__).parent / "exam.csv"
PAIRS = (("noisy 5%", "safe"), ("noisy 7%", "safe"), ("noisy 5%", "sparbot"), ("poki", "safe"))
KNOWN_HANDS = 4_000_000


class Hidden:
    """A table as a program."""

    def __init__(self, bot: TableBot) -> None:
        self.name, self._bot = bot.name, bot

    def start(self, seed: int) -> None:
        self._bot.start(seed)

    def seed(self, seed: int) -> None:
        self._bot.seed(seed)

    def act(self, view: cp.View) -> str:
        return self._bot.act(view)


def noisy(percent: int) -> cp.Strategy:
    """`safe` with a share of uniform actions."""
    safe = cp.strategies()[0].strategy
    share, uniform = percent / 100, cp.Strategy.uniform(safe.game)
    return cp.Strategy(safe.game, (1 - share) * safe.probabilities + share * uniform.probabilities)


def played(program: Any, opponent: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Luck-adjusted payoffs of the deals of an exam that is not stopped, and those with luck."""
    lanes = two_of(program)
    adjuster = luck_adjuster(program, opponent, lambda share, what: None)
    adjusted, raw, blend = [], [], BlendedSamples(SCALE)
    for deals in played_blocks(lanes, opponent, HANDS // 2, seed):
        raw.append(deals.won.mean(axis=1))
        adjusted.append(blend.add(adjuster.adjusted(deals).mean(axis=1), raw[-1]))
        adjuster.learn(deals)
    return np.concatenate(adjusted), np.concatenate(raw)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exams", type=int, default=8)
    parser.add_argument("--against", default=None)
    given = parser.parse_args()
    exams, rows = given.exams, dict[tuple[str, str], tuple[Any, ...]]()
    if given.against is not None and OUT.exists():
        with OUT.open(newline="") as file:
            rows = {(row[0], row[1]): tuple(row) for row in list(csv.reader(file))[1:]}
    for name, against in PAIRS:
        if given.against not in (None, against):
            continue
        opponent = cp.bot(against)
        truth = error = np.nan
        program: Any = cp.bot(name) if " " not in name else None
        if program is None:
            strategy = noisy(int(name.split()[1].rstrip("%")))
            known = cp.play_match(
                strategy.game, strategy, against, KNOWN_HANDS, seed=1, luck_adjusted=False
            )
            truth, error = known.mean, known.standard_error
            program = Hidden(strategy_bot(strategy, name))
        samples, raw = zip(*(played(program, opponent, seed) for seed in range(exams)), strict=True)
        everything = np.concatenate(samples)
        if np.isnan(truth):
            truth, error = everything.mean(), everything.std() / len(everything) ** 0.5
        told, wrong, needed = 0, 0, []
        for one in samples:
            intervals = ConfidenceSequence(len(one), SCALE).add(one)
            first = next((interval for interval in intervals if interval.excludes(0.0)), None)
            if first is not None:
                right = first.mean * truth > 0
                told, wrong = told + right, wrong + (not right)
                needed.append(2 * first.samples)
        spread, luck = everything.std(), np.concatenate(raw).std()
        rows[name, against] = (
            name, against, exams, truth, error, everything.mean(),
            everything.std() / len(everything) ** 0.5, told, wrong,
            float(np.median(needed)) if needed else np.nan, spread, luck,
        )  # fmt: skip
        print(f"{name} against {against}: {truth:+.4f} sb/h, {told} of {exams} told apart", spread)
        header = ["player", "opponent", "exams", "value", "value_error", "exam_mean",
                  "exam_error", "told_apart", "wrong", "median_hands", "deviation",
                  "deviation_with_luck"]  # fmt: skip
        write_rows(OUT, header, rows.values())


if __name__ == "__main__":
    main()
