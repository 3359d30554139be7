"""How much the bias of optimistic averaging matters: exploitability with both kinds of averaging,
several seeds.

python -m benchmarks.averaging; writes benchmarks/averaging.csv
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterplay import load
from counterplay.app.reproduction.harness.base import write_csv
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.solvers.algorithms import new_solver

GAMES = ("kuhn", "leduc", "bluff(1,1,6)", "goofspiel(4)")
CHECKPOINTS = (10**5, 10**6, 10**7, 5 * 10**7)
SEEDS = 5


def curve(name: str, averaging: str, seed: int) -> list[float]:
    """Exploitability b1 + b2 at each checkpoint."""
    game = load(name)
    solver = new_solver(game, "mccfr", seed, {"averaging": averaging})
    values = []
    for checkpoint in CHECKPOINTS:
        solver.step(checkpoint - solver.iterations)
        values.append(policy_exploitability(game, solver.policy()))
    return values


def main() -> None:
    rows: list[tuple[Any, ...]] = []
    for name in GAMES:
        for averaging in ("optimistic", "stochastic"):
            for seed in range(SEEDS):
                for n, value in zip(CHECKPOINTS, curve(name, averaging, seed), strict=True):
                    rows.append((name, averaging, seed, n, f"{value:.3g}"))
                print(*rows[-1], flush=True)
    header = ("game", "averaging", "seed", "iterations", "exploitability")
    write_csv(Path(__file__).with_suffix(".csv"), header, rows)


if __name__ == "__main__":
    main()
