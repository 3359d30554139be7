"""How much the bias of optimistic averaging matters: exploitability with both kinds of averaging,
several seeds.

python -m benchmarks.averaging
"""

from __future__ import annotations

import numpy as np

from counterplay import load
from counterplay.evaluation.exact import policy_exploitability
from counterplay.solvers.algorithms import new_solver

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
    print("| game | averaging | " + " | ".join(f"{n:.0e}" for n in CHECKPOINTS) + " |")
    print("|---|---|" + "---|" * len(CHECKPOINTS))
    for name in GAMES:
        for averaging in ("optimistic", "stochastic"):
            values = np.array([curve(name, averaging, seed) for seed in range(SEEDS)])
            cells = [f"{np.median(v):.2g} ({v.min():.2g}-{v.max():.2g})" for v in values.T]
            print(f"| {name} | {averaging} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
