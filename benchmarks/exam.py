"""How many hands an exam needs, and how often its intervals are wrong.

Players that lose more than 0.05 sb/h against tables, in exams of 3,000 hands. A noisy player is the
table `safe` with a share of uniform actions, which says its probabilities, or hides them: a player
whose table nobody knows, alone or with copies that are asked too. Its loss is known from 4,000,000
hands of tables; Poki's is the mean of its exams. Writes benchmarks/exam.csv.

With --coverage: exams of players whose exact value is known, looked at all the time and never
stopped. Writes benchmarks/exam_coverage.csv.

Run: python -m benchmarks.exam [--coverage] [--exams 8]; with --player NAME or --against NAME only
these rows are measured again."""

from __future__ import annotations

import argparse
import csv
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.match.sequences import ConfidenceSequence
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.exam.candidate import two_of
from counterplay.poker.exam.holdem import HANDS, SCALE, played_samples

OUT = Path(__file__).parent / "exam.csv"
COVERAGE = Path(__file__).parent / "exam_coverage.csv"
HIDDEN, COPIES = ", hidden", ", 40 copies"  # that are asked too
PAIRS = (
    ("noisy 5%", "safe"), ("noisy 5%", "sparbot"), ("noisy 5%" + HIDDEN, "safe"),
    ("noisy 5%" + HIDDEN, "sparbot"), ("noisy 5%" + HIDDEN + COPIES, "safe"),
    ("noisy 5%" + HIDDEN + COPIES, "sparbot"), ("noisy 5%" + HIDDEN, "small"), ("poki", "safe"),
)  # fmt: skip
THEN, ILLEGAL = " then ", "illegal"  # one who answers no action, which is played as a call
#: Players, hands of an exam.
COVERED = (
    ("always-call", "uniform", 200), ("always-call" + HIDDEN, "uniform", 200),
    ("always-fold" + HIDDEN, "uniform", 200), ("always-raise" + HIDDEN, "uniform", 200),
    (f"always-fold{THEN}always-raise" + HIDDEN, "uniform", 200), (ILLEGAL, "uniform", 200),
    ("uniform" + HIDDEN, "uniform", 200), ("uniform" + HIDDEN + COPIES, "uniform", 200),
)  # fmt: skip
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


class Illegal:
    """Answers no action."""

    name = ILLEGAL

    def act(self, view: cp.View) -> str:
        return "all-in"


class Switching:
    """Plays as one table in the first half of its hands, then as another."""

    name = "switching"

    def __init__(self, bots: list[TableBot], hands: int) -> None:
        self._bots, self._hands = bots, hands

    def start(self, seed: int) -> None:
        self._seen = -1
        for bot in self._bots:
            bot.start(seed)

    def seed(self, seed: int) -> None:
        for bot in self._bots:
            bot.seed(seed)

    def new_hand(self, seat: int) -> None:
        self._seen += 1

    def act(self, view: cp.View) -> str:
        return self._bots[2 * self._seen >= self._hands].act(view)


@cache
def noisy(word: str) -> cp.Strategy:
    """`safe` with a share of uniform actions; `word`: such as `noisy 5%`."""
    safe, share = cp.strategies()[0].strategy, int(word.split()[1].rstrip("%")) / 100
    mixed = (1 - share) * safe.probabilities
    mixed += share * cp.Strategy.uniform(safe.game).probabilities
    return cp.Strategy(safe.game, mixed)


def played(name: str, opponent: Any, seed: int, hands: int) -> tuple[np.ndarray, np.ndarray]:
    """Luck-adjusted payoffs of the deals of an exam that is not stopped, and those with luck."""
    copies = int(COPIES.split()[1]) if name.endswith(COPIES) else 0
    lanes = two_of(examined(name.removesuffix(COPIES), hands), copies)
    blocks = list(played_samples(lanes, opponent, hands // 2, seed))
    won = [deals.won.mean(axis=1) for deals, _ in blocks]
    return np.concatenate([samples for _, samples in blocks]), np.concatenate(won)


def examined(name: str, hands: int = HANDS) -> Any:
    """A player, hidden in a program if its name says so; `hands`: of the exam."""
    word = name.removesuffix(HIDDEN)
    if word == ILLEGAL:
        return Illegal()
    if THEN in word:
        return Switching([cp.bot(one) for one in word.split(THEN)], hands // 2)
    found = strategy_bot(noisy(word), name) if word.startswith("noisy") else cp.bot(word)
    return found if word == name else Hidden(found)


@cache
def value(word: str, against: str) -> tuple[float, float]:
    """What a player wins, and the standard error of that: of players that do not look at their
    cards exactly, since showdowns are even; else from matches of tables."""
    if word.startswith("noisy"):
        strategy = noisy(word)
        known = cp.play_match(
            strategy.game, strategy, against, KNOWN_HANDS, seed=1, luck_adjusted=False
        )
        return known.mean, known.standard_error
    tree, rows = betting_tree(LIMIT), [cp.bot(word), cp.bot(against)]
    total = 0.0
    for seats in (rows, rows[::-1]):
        reach = np.ones(len(tree.states))
        for node, names in enumerate(tree.actions):
            if not names:
                continue
            seat = tree.states[node].player()
            view = cp.View(seat, (0, 5), (10, 15, 20, 25, 30), tree.states[node], node)
            shares = seats[seat].shares(view._replace(board=view.board[: view.betting.on_board]))
            for action, child in tree.moves[node].items():
                reach[child] = reach[node] * shares[action]
        for node, state in enumerate(tree.states):
            if state.over and state.folded != NO_FOLD:
                winner = seats[1 - state.folded]
                lost = float(tree.nodes.stake[node]) * reach[node]
                total += lost if winner is rows[0] else -lost
    return total / 2, 0.0


def earlier(path: Path) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The rows of a file, by player and opponent."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {(row[0], row[1]): tuple(row) for row in list(csv.reader(file))[1:]}


def coverage(exams: int, only: str | None) -> None:
    """How often an interval of an exam, at any time, excludes the exact value."""
    rows = {} if only is None else earlier(COVERAGE)
    for name, against, hands in COVERED:
        if only not in (None, name):
            continue
        words, deals = name.removesuffix(COPIES).removesuffix(HIDDEN).split(THEN), hands // 2
        values = [value("always-call" if one == ILLEGAL else one, against)[0] for one in words]
        of_deal = np.repeat(values, deals // len(values))
        truth = of_deal.cumsum() / np.arange(1, deals + 1)  # of the mean of the deals so far
        missed = last = 0
        means = []
        for seed in range(exams):
            samples, _ = played(name, cp.bot(against), seed, hands)
            intervals = ConfidenceSequence(len(samples), SCALE).add(samples)
            excluded = [one.excludes(now) for one, now in zip(intervals, truth, strict=True)]
            missed, last = missed + any(excluded), last + excluded[-1]
            means.append(intervals[-1].mean)
        rows[name, against] = (
            name, against, hands, exams, round(float(truth[-1]), 12) + 0.0, 0.0,
            float(np.mean(means)), float(np.std(means) / exams**0.5), missed, last,
        )  # fmt: skip
        print(*rows[name, against], flush=True)
        header = ["player", "opponent", "hands", "exams", "value", "value_error", "exam_mean",
                  "exam_error", "missed_at_any_time", "missed_at_the_end"]  # fmt: skip
        write_rows(COVERAGE, header, rows.values())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exams", type=int)
    parser.add_argument("--against")
    parser.add_argument("--player")
    parser.add_argument("--coverage", action="store_true")
    given = parser.parse_args()
    if given.coverage:
        coverage(given.exams or 100, given.player)
        return
    exams, every = given.exams or 8, given.against is given.player is None
    rows = {} if every else earlier(OUT)
    for name, against in PAIRS:
        if given.against not in (None, against) or given.player not in (None, name):
            continue
        opponent, truth, error = cp.bot(against), np.nan, np.nan
        if name.startswith("noisy"):
            truth, error = value(name.removesuffix(COPIES).removesuffix(HIDDEN), against)
        samples, raw = zip(
            *(played(name, opponent, seed, HANDS) for seed in range(exams)), strict=True
        )
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
