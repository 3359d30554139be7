"""Goof(7) in a separate process: seconds to build, seconds per CFR iteration, peak memory."""

from __future__ import annotations

import json
import resource
import time

from counterplay import load
from counterplay.core.solvers.algorithms import new_solver

if __name__ == "__main__":
    new_solver(load("goofspiel(3)"), "cfr", 0, {}).step(1)  # compile first
    before = time.perf_counter()
    game = load("goofspiel(7)")
    nodes = game.n_nodes
    built = time.perf_counter() - before
    solver = new_solver(game, "cfr", 0, {})
    converted = time.perf_counter() - before - built
    times = []
    for _ in range(5):
        before = time.perf_counter()
        solver.step(1)
        times.append(time.perf_counter() - before)
    print(
        json.dumps(
            {
                "nodes": nodes,
                "build": built,
                "sequence_form": converted,
                "cfr": sorted(times),
                "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            }
        )
    )
