"""Hold'em groundwork: seconds and size of the exact EHS tables, and iterations per second on the betting form, one thread.

python -m benchmarks.holdem
"""

from __future__ import annotations

import os
import time

import numpy as np

from benchmarks.measure import REPEATS, rate
from counterplay.forms.access import new_hand
from counterplay.holdem.betting import betting_tree
from counterplay.holdem.buckets import make_buckets
from counterplay.holdem.form import betting_game
from counterplay.holdem.strength import count_earlier, count_preflop, count_rivers
from counterplay.holdem.tables import size_on_disk, strengths, table_folder
from counterplay.kernels.rng import new_state
from counterplay.solvers import mccfr, mcts

DEPTH = 32  # more decisions than any hand has


def main() -> None:
    threads = os.cpu_count() or 1
    tables = strengths()
    before = time.perf_counter()
    turn = count_earlier(4, count_rivers(threads), threads)
    count_preflop(count_earlier(3, turn, threads))
    print(f"exact EHS of every hand on every board, {threads} threads: {time.perf_counter() - before:.1f} s", flush=True)
    print(f"size on disk: {size_on_disk(table_folder()) / 1e6:.0f} MB")
    for n in (10, 100):
        form = betting_game(betting_tree(), make_buckets(tables, n, "width"), n)
        hand, rng = new_hand(form), new_state(1)
        slots, sets = form.n_slots, form.n_infosets
        learned = mccfr.Tables(np.zeros(slots), np.zeros(slots), np.zeros(sets, dtype=np.int64))
        path = mccfr.new_path(DEPTH, 3, 2)
        counted = mcts.Tables(np.zeros(slots), np.zeros(slots, np.int64), np.zeros(sets, np.int64), np.zeros(0, np.uint8))
        walk = mcts.Path(np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int8))

        def outcome(k: int, form=form, hand=hand, learned=learned, path=path, rng=rng) -> None:  # type: ignore[no-untyped-def]
            mccfr.outcome_sampling(form, hand, learned, path, rng, 0, k, 0.6, True)

        def search(k: int, form=form, hand=hand, counted=counted, walk=walk, rng=rng) -> None:  # type: ignore[no-untyped-def]
            mcts.tree_search(form, hand, counted, walk, rng, k, 17.0, 0)

        outcome(1)
        search(1)
        pairs = [(rate(outcome), rate(search)) for _ in range(REPEATS)]
        for name, values in zip(("mccfr", "mcts"), zip(*pairs, strict=True), strict=True):
            print(
                f"{name}, {n} buckets: {np.median(values):,.0f} iterations/s ({min(values):,.0f}-{max(values):,.0f})", flush=True
            )


if __name__ == "__main__":
    main()
