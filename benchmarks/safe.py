"""Safe exploitation in Kuhn poker compared with the published table: winnings per hand of each
method in the first seat, with cards always shown and a linear program every tenth hand, from
opponents drawn at random (every probability uniform from 0 to 1, one opponent per match) and from
uniform play. Many plans are equally good against a model that is still the equilibrium; `ties` is
the choice among them: the nearest to the equilibrium, as in the library, or, against uniform play,
as bounds, the worst and the best against the true opponent. Writes benchmarks/safe.csv.

Run: python -m benchmarks.safe"""

from __future__ import annotations

import multiprocessing
from functools import partial
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.forms.sequence import plan_from_policy
from counterplay.core.responses.safe import SafePlayer

OUT = Path(__file__).parent / "safe.csv"
HANDS, EVERY = 1_000, 10
DRAWN, UNIFORM = "drawn at random", "uniform play"
MATCHES = {DRAWN: 100, UNIFORM: 20}
#: Ganzfried & Sandholm 2015.
PUBLISHED = {
    "rwywe": 0.3636, "befewp": 0.3553, "beffe": 0.1995, "best-equilibrium": 0.1450,
    "best-response": 0.4700,
}  # fmt: skip
TIES = {"near the equilibrium": 0.0, "against us": -1.0, "for us": 1.0}
CASES = [(DRAWN, "near the equilibrium"), *((UNIFORM, ties) for ties in TIES)]
SMALL = 1e-3  # weight of the true opponent relative to the model: it only breaks ties


class TieBreakingPlayer(SafePlayer):
    """Among plans that are equally good against the model, takes the best (`sign` 1) or the worst
    (-1) against the true opponent, which a player would not know."""

    def __init__(self, truth: cp.Strategy, sign: float, **options: object) -> None:
        self._truth, self._sign, self._planning = truth, sign, False
        super().__init__("kuhn", 0, **options)  # type: ignore[arg-type]

    def _replan(self) -> None:
        self._planning = True
        super()._replan()
        self._planning = False

    def _model_plan(self) -> np.ndarray:
        if not self._planning:
            return super()._model_plan()
        true = np.empty(self._other.n_sequences)
        plan_from_policy(self._other, self._truth.probabilities[self._slots], true)
        return super()._model_plan() + self._sign * SMALL * true  # payoffs are linear in it


def opponent(game: cp.Game, whom: str, rng: np.random.Generator) -> cp.Strategy:
    if whom == UNIFORM:
        return cp.Strategy.uniform(game)
    first = rng.random(game.n_slots // 2)  # every information set of Kuhn poker has two actions
    return cp.Strategy.from_weights(game, np.column_stack([first, 1.0 - first]).ravel())


def won(work: tuple[str, str, str, int]) -> float:
    """Mean over the match of the value of each hand's strategy."""
    method, whom, ties, seed = work
    game, rng = cp.load("kuhn"), np.random.default_rng(seed)
    truth = opponent(game, whom, rng)
    options = {"method": method, "hands": HANDS, "shown": "always", "every": EVERY}
    make = (
        partial(TieBreakingPlayer, truth, TIES[ties])
        if TIES[ties]
        else partial(SafePlayer, game, 0)
    )
    player, total = make(**options), 0.0
    for _ in range(HANDS):
        total += cp.expected_value(game, player.strategy.replace(truth, 1))[0]
        player.play(truth, rng)
    return total / HANDS


def main() -> None:
    rows = []
    with multiprocessing.get_context("spawn").Pool() as pool:
        for method, published in PUBLISHED.items():
            for whom, ties in CASES:
                n = MATCHES[whom]
                results = pool.map(won, [(method, whom, ties, seed) for seed in range(n)], 1)
                mean, off = float(np.mean(results)), float(np.std(results, ddof=1) / n**0.5)
                rows.append(
                    (method, published, whom, ties, n, HANDS, round(mean, 5), round(off, 5))
                )
                print(*rows[-1], flush=True)
    header = ["method", "published", "against", "ties", "matches", "hands", "won", "standard_error"]
    write_rows(OUT, header, rows)


if __name__ == "__main__":
    main()
