"""Safe exploitation compared with the published table (Ganzfried & Sandholm 2015): winnings per
hand of each method in the first seat, cards always shown, a linear program every tenth hand.

Three kinds of opponents: random (every probability uniform from 0 to 1), sophisticated (uniform
among the probabilities within 0.2 of a central equilibrium's) and dynamic (a random one for 100
hands, then a best response to the player's current strategy). A new one is drawn for each match;
matches of all methods have the same. Leduc hold'em, for which nothing was published, with fewer
hands and a program every 50th. Writes benchmarks/safe.csv; rows that are not played again stay.

Run: python -m benchmarks.safe --processes 16"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.responses.safe import SafePlayer

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


class Setting(NamedTuple):
    """A game, and the size of its matches."""

    game: str
    hands: int
    every: int
    part: float  # of the matches


SETTINGS = (Setting("kuhn", 1_000, 10, 1.0), Setting("leduc", 500, 50, 0.25))


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


def won(work: tuple[Setting, str, str, int]) -> float:
    """Mean over the match of the value of each hand's strategy."""
    setting, method, kind, seed = work
    game, rng = cp.load(setting.game), np.random.default_rng(seed)
    options = {"method": method, "hands": setting.hands, "shown": "always", "every": setting.every}
    player = SafePlayer(game, 0, **options)  # type: ignore[arg-type]
    foe, total = opponent(game, kind, player.equilibrium, rng), 0.0
    for hand in range(setting.hands):
        if kind == DYNAMIC and hand >= MERCY:
            answer = cp.best_response(game, player.strategy, 1).strategy
            assert answer is not None
            foe = answer
        total += cp.expected_value(game, player.strategy.replace(foe, 1))[0]
        player.play(foe, rng)
    return total / setting.hands


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--games", default="kuhn,leduc")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    header = ("game", "method", "against", "published", "matches", "hands", "won", "standard_error")
    with OUT.open(encoding="utf-8") as lines:
        rows = {tuple(row[:3]): tuple(row) for row in list(csv.reader(lines))[1:]}
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for setting in (one for one in SETTINGS if one.game in options.games.split(",")):
            for method, published in PUBLISHED.items():
                for kind, wins in zip(KINDS, published, strict=True):
                    if kind not in options.kinds.split(","):
                        continue
                    n = max(int(setting.part * options.matches), 2)
                    work = [(setting, method, kind, seed) for seed in range(n)]
                    found = pool.map(won, work, 1)
                    error = round(float(np.std(found, ddof=1) / n**0.5), 5)
                    known = wins if setting.game == "kuhn" else ""
                    mean = round(float(np.mean(found)), 5)
                    key = setting.game, method, kind
                    rows[key] = (*key, known, n, setting.hands, mean, error)
                    print(*rows[key], flush=True)
                    order = product((one.game for one in SETTINGS), PUBLISHED, KINDS)
                    write_rows(OUT, header, [rows[one] for one in order if one in rows])


if __name__ == "__main__":
    main()
