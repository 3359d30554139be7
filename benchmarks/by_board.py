"""What a player wins from Sparbot, by matches and by boards: which is more certain for its time?

    python -m benchmarks.by_board FILE [boards, 60]

FILE has a policy for 10 buckets, as `python -m benchmarks.exploitability` keeps them. A board gives
the value of every holding against every holding; a duplicate hand is one pair. Writes
benchmarks/by_board.csv.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.exploitability import kept
from benchmarks.measure import write_rows
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.players import bot
from counterplay.poker.vector.chance import DealtBoard, HoldemChance
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.suit_permutations import FULL_DECK
from counterplay.poker.vector.traversal import Traversal

OUT = Path(__file__).parent / "by_board.csv"
HANDS = 2_000_000


class SampledChance(HoldemChance):
    """One board, drawn by weight, stands for all that may follow."""

    rng = np.random.default_rng(1)

    def children(self, street: int, board: DealtBoard) -> Iterator[tuple[DealtBoard, int]]:
        yield self.sample(street, board, self.rng), self.total(street)


def main(path: Path, boards: int) -> None:
    player = kept(path)[3]
    mine, his, tree = strategy_table(player), bot("sparbot").table, player.game.rules.tree
    asked = [PreparedQuery(ValueQuery(seat, his, mine), tree) for seat in (0, 1)]
    chance, every = SampledChance(FULL_DECK, tree.rules.board, True), asked[0].weight.sum()
    traversal = Traversal(chance, asked[0].streets)
    found, spent = [], 0.0
    for k in range(boards + 1):  # the first time to compile
        flop = chance.sample(1, chance.root(), chance.rng).number
        before = time.process_time()
        values = [query.game_value(query.value(flop, traversal) * every) for query in asked]
        if k > 0:
            spent += time.process_time() - before
            found.append(float(np.mean(values)))
    rows = [("boards", boards, np.mean(found), np.std(found, ddof=1) / boards**0.5, spent)]
    for _ in range(2):  # the first time to compile
        before = time.process_time()
        match = cp.play_match(player.game, player, "sparbot", HANDS, 3)
        spent = time.process_time() - before
    error = (match.interval[1] - match.interval[0]) / 2 / 1.96
    rows.append(("duplicate hands", HANDS, match.mean, error, spent))
    work = [row[4] * row[3] ** 2 for row in rows]  # to the same error
    print(f"{rows}\nto the same error boards take {work[0] / work[1]:.0f} times as long")
    write_rows(
        OUT, ["by", "number", "sb_per_hand", "standard_error", "seconds_of_a_processor"], rows
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60)
