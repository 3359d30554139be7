"""Safe exploitation in Kuhn poker beside the published table: what each method wins per hand from
uniform play in the first seat, cards always shown. Writes benchmarks/safe.csv.
Run: python -m benchmarks.safe"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows

OUT = Path(__file__).parent / "safe.csv"
HANDS, SEEDS = 1_000, 3
#: Ganzfried & Sandholm 2015, against opponents drawn at random.
PUBLISHED = {
    "rwywe": 0.3636, "befewp": 0.3553, "beffe": 0.1995, "best-equilibrium": 0.1450,
    "best-response": 0.4700,
}  # fmt: skip


def won(method: str, seed: int) -> float:
    """The mean over the match of what each hand's strategy is worth."""
    game = cp.load("kuhn")
    uniform, rng = cp.Strategy.uniform(game), np.random.default_rng(seed)
    player = cp.SafePlayer(game, 0, method=method, hands=HANDS, shown="always")
    total = 0.0
    for _ in range(HANDS):
        total += cp.expected_value(game, player.strategy.replace(uniform, 1))[0]
        player.play(uniform, rng)
    return total / HANDS


def main() -> None:
    rows = []
    for method, published in PUBLISHED.items():
        found = [won(method, seed) for seed in range(SEEDS)]
        mean, off = float(np.mean(found)), float(np.std(found, ddof=1) / SEEDS**0.5)
        rows.append((method, published, HANDS, SEEDS, mean, off))
        print(f"{method:18} published {published:.4f}, here {mean:.4f}, standard error {off:.4f}")
    write_rows(OUT, ["method", "published", "hands", "seeds", "won", "standard_error"], rows)


if __name__ == "__main__":
    main()
