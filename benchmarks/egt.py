"""The excessive gap technique against CFR+: exploitability and seconds after 10 to 10,000
iterations.

python -m benchmarks.egt; writes benchmarks/egt.csv
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from counterplay import load
from counterplay.app.reproduction.harness.base import write_csv
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.solvers.algorithms import new_solver

GAMES = ("kuhn", "leduc", "bluff(1,1,4)", "goofspiel(4)")
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("egt", {"prox": "entropy"}),
    ("egt", {"prox": "euclidean"}),
    ("cfr+", {}),
)
CHECKPOINTS = (10, 100, 1000, 10_000)


def curve(name: str, method: str, options: dict[str, Any]) -> list[tuple[float, float]]:
    """Exploitability b1 + b2 and seconds (measuring left out, the first point included) at each
    checkpoint."""
    game = load(name)
    game.sequence_form  # noqa: B018 - built outside the clock
    new_solver(game, method, 0, options).step(1)  # compiled outside the clock
    rows, seconds, before = [], 0.0, time.perf_counter()
    solver = new_solver(game, method, 0, options)
    for checkpoint in CHECKPOINTS:
        solver.step(checkpoint - solver.iterations)
        seconds += time.perf_counter() - before
        rows.append((policy_exploitability(game, solver.policy()), seconds))
        before = time.perf_counter()
    return rows


def main() -> None:
    rows: list[tuple[Any, ...]] = []
    for name in GAMES:
        for method, options in METHODS:
            label = ", ".join([method, *options.values()])
            for n, (epsilon, seconds) in zip(
                CHECKPOINTS, curve(name, method, options), strict=True
            ):
                rows.append((name, label, n, f"{epsilon:.3g}", f"{seconds:.3g}"))
                print(*rows[-1], flush=True)
    header = ("game", "method", "iterations", "exploitability", "seconds")
    write_csv(Path(__file__).with_suffix(".csv"), header, rows)


if __name__ == "__main__":
    main()
