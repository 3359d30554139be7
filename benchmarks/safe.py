"""Safe exploitation compared with the published table (Ganzfried & Sandholm 2015): winnings per
hand of each method in the first seat, cards always shown, a linear program after each of the first
hands, then after every tenth.

Three kinds of opponents: random (every probability uniform from 0 to 1), sophisticated (uniform
among the probabilities within 0.2 of a central equilibrium's) and dynamic (a random one for 100
hands, then a best response to the player's current strategy). A new one is drawn for each match;
matches of all methods have the same. Two more rows are what a player wins from these opponents who
knows them: by the best response, and by the best of the equilibria. Leduc hold'em, for which
nothing was published, with fewer hands and programs. Writes benchmarks/safe.csv, row by row; a row
that has these matches already stays, and so do all that were not asked for.

    python -m benchmarks.safe --processes 16 --games kuhn --kinds random --matches 1000
    python -m benchmarks.safe --processes 16 --games kuhn --kinds sophisticated,dynamic
    python -m benchmarks.safe --processes 16 --games leduc
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.forms.sequence import gradient
from counterplay.core.responses.safe import SLACK, SafePlayer
from counterplay.core.solvers.lp import best_plan_within

OUT = Path(__file__).parent / "safe.csv"
RANDOM, SOPHISTICATED, DYNAMIC = "random", "sophisticated", "dynamic"
KINDS = (RANDOM, SOPHISTICATED, DYNAMIC)
WITHIN = 0.2  # of the equilibrium's probabilities
MERCY = 100  # hands of a dynamic opponent before it responds
#: Winnings per hand in Kuhn poker, against each of `KINDS`.
PUBLISHED = {
    "rwywe": (0.3636, -0.0110, -0.0204),
    "befewp": (0.3553, -0.0115, -0.0214),
    "beffe": (0.1995, -0.0131, -0.0397),
    "best-equilibrium": (0.1450, -0.0148, -0.0352),
    "best-response": (0.4700, 0.0548, -0.1209),
}
KNOWING = {f"{method}, knowing": method for method in ("best-equilibrium", "best-response")}


class Setting(NamedTuple):
    """A game, and the size of its matches."""

    game: str
    hands: int
    early: int  # hands, each with a program after it
    every: int  # hands between two programs from then on
    part: float  # of the matches


SETTINGS = (Setting("kuhn", 1_000, 50, 10, 1.0), Setting("leduc", 500, 5, 25, 0.25))


Work = tuple[Setting, str, str, int]


def opponent(game: cp.Game, kind: str, near: cp.Strategy, rng: np.random.Generator) -> cp.Strategy:
    """Another strategy of each kind; a dynamic one begins as a random one."""
    low, high = np.zeros(game.n_slots), np.ones(game.n_slots)
    if kind == SOPHISTICATED:
        low = np.maximum(near.probabilities - WITHIN, low)
        high = np.minimum(near.probabilities + WITHIN, high)
    weights = rng.uniform(low, high)
    if game.n_slots == 2 * game.n_infosets:  # two actions: a uniform probability
        weights[1::2] = 1.0 - weights[0::2]
    return cp.Strategy.from_weights(game, weights)


def won(work: Work) -> float:
    """Mean over the match of the value of each hand's strategy."""
    setting, method, kind, seed = work
    game, rng = cp.load(setting.game), np.random.default_rng(seed)
    options = {"method": KNOWING.get(method, method), "hands": setting.hands, "shown": "always"}
    player = SafePlayer(game, 0, every=setting.every, **options)  # type: ignore[arg-type]
    foe, total = opponent(game, kind, player.equilibrium, rng), 0.0
    if method in KNOWING:
        return best_of(player, foe)
    for hand in range(setting.hands):
        player.every = 1 if hand < setting.early else setting.every
        if kind == DYNAMIC and hand >= MERCY:
            answer = cp.best_response(game, player.strategy, 1).strategy
            assert answer is not None
            foe = answer
        total += cp.expected_value(game, player.strategy.replace(foe, 1))[0]
        player.play(foe, rng)
    return total / setting.hands


def best_of(player: SafePlayer, foe: cp.Strategy) -> float:
    """What the best plan of a method wins from an opponent that it knows."""
    own, other = player.game.sequence_form
    payoff = np.empty(own.n_sequences)
    gradient(own, foe.plan(1), payoff)
    risk = 0.0 if player.method == "best-equilibrium" else np.inf
    least = max(player.value - SLACK - risk, float(player.game.tree.payoff[:, 0].min()) - 1.0)
    return float(payoff @ best_plan_within(own, other, payoff, least)[1])


def work_of(games: Iterable[str], kinds: Iterable[str], matches: int) -> Iterator[Work]:
    """The rows to play: the setting, the method, the kind, the published winnings, the matches."""
    for setting in (one for one in SETTINGS if one.game in games):
        n = max(int(setting.part * matches), 2)
        for method, kind in product((*PUBLISHED, *KNOWING), KINDS):
            if kind in kinds and not (kind == DYNAMIC and method in KNOWING):
                yield setting, method, kind, n


def main() -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.safe", description=summary)
    parser.add_argument("--matches", type=int, default=250)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--games", default="kuhn,leduc")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--again", action="store_true", help="also rows that are there")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    header = ("game", "method", "against", "published", "matches", "hands", "won", "standard_error")
    with (options.out if options.out.exists() else OUT).open(encoding="utf-8") as lines:
        rows = {tuple(row[:3]): tuple(row) for row in list(csv.reader(lines))[1:]}
    order = list(product((one.game for one in SETTINGS), (*PUBLISHED, *KNOWING), KINDS))
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for setting, method, kind, n in work_of(
            options.games.split(","), options.kinds.split(","), options.matches
        ):
            key, hands = (setting.game, method, kind), 0 if method in KNOWING else setting.hands
            there = rows.get(key)
            if there and there[4:6] == (str(n), str(hands)) and not options.again:
                continue
            found = pool.map(won, [(setting, method, kind, seed) for seed in range(n)], 1)
            error, mean = float(np.std(found, ddof=1) / n**0.5), float(np.mean(found))
            of_kuhn = setting.game == "kuhn" and method in PUBLISHED
            known = PUBLISHED[method][KINDS.index(kind)] if of_kuhn else ""
            rows[key] = (*key, known, n, hands, round(mean, 5), round(error, 5))
            write_rows(options.out, header, [rows[one] for one in order if one in rows])
            print(f"[{time.monotonic() - started:6.1f}]", *rows[key], flush=True)


if __name__ == "__main__":
    main()
