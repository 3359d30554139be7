"""What a player wins from Sparbot, by matches and by boards: which is more certain for its time?

    python -m benchmarks.by_board FILE [boards, 60]

FILE has a policy for 10 buckets, as `python -m benchmarks.exploitability` keeps them. A board gives
the value of every holding against every holding; a duplicate hand is one pair. Writes
benchmarks/by_board.csv.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.exploitability import kept
from benchmarks.measure import write_rows
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.players import bot
from counterplay.poker.vector.exact_traversal import new_exact_workspace
from counterplay.poker.vector.flop_boards import FlopBoards, new_flop_boards, new_listing_workspace
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery

OUT = Path(__file__).parent / "by_board.csv"
HANDS = 2_000_000
TURNS, RIVERS = 49, 48  # cards that may come


def _one_of(listing: FlopBoards, rng: np.random.Generator) -> None:
    """Leave one turn and one river of a listing, drawn by weight; it stands for all of them."""
    turns = int(listing.size[0])
    t = int(rng.choice(turns, p=listing.turn_times[:turns] / listing.turn_times[:turns].sum()))
    low, high = (int(k) for k in listing.first_river[t : t + 2])
    many = listing.river_times[low:high]
    r = int(rng.choice(np.arange(low, high), p=many / many.sum()))
    listing.turn_pair[0], listing.turn_code[:, 0] = listing.turn_pair[t], listing.turn_code[:, t]
    listing.river_pair[0] = listing.river_pair[r]
    listing.river_code[:, 0] = listing.river_code[:, r]
    listing.size[:] = 1
    listing.first_river[:2] = 0, 1
    listing.turn_times[0], listing.river_times[0] = TURNS, RIVERS
    listing.n_kept[0], listing.kept[0, 0], listing.flop_kept[:2] = 1, 0, (1, 0)


def main(path: Path, boards: int) -> None:
    player = kept(path)[3]
    mine, his = strategy_table(player), bot("sparbot").table
    asked = [PreparedQuery(ValueQuery(seat, his, mine), player.game.rules.tree) for seat in (0, 1)]
    rng, listing, scratch = np.random.default_rng(1), new_flop_boards(), new_listing_workspace()
    desk, weight = new_exact_workspace(asked[0].streets, asked[0].dtype), asked[0].weight
    found, spent = [], 0.0
    for k in range(boards + 1):  # the first time to compile
        flop = int(rng.choice(len(weight), p=weight / weight.sum()))
        asked[0].listed(flop, scratch, listing)
        _one_of(listing, rng)
        before = time.process_time()
        values = [q.answer(q.value(listing, desk) * weight.sum()) for q in asked]
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
