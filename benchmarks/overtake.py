"""Whether outcome-sampling MCCFR overtakes MCTS in hold'em, with one seed each: python -m
benchmarks.overtake [iterations]

During training both play duplicate hands against an MCCFR10 profile of external sampling (2 million
iterations).
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from counterplay.app.reproduction.fig4_holdem import EPSILON, GAME, MATCH_SEED, PAPER_C, reference
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.bots.table import strategy_bot

HANDS, REFERENCE, MILLION = 1_000_000, 2_000_000, 1_000_000


def main() -> None:
    most = int(float(sys.argv[1])) if len(sys.argv) > 1 else 300 * MILLION
    points = sorted({round(x) * MILLION for x in np.geomspace(1, most / MILLION, 22)})
    game = load(GAME)
    with tempfile.TemporaryDirectory() as name:
        store = PieceStore(name)
        opponent = strategy_bot(reference(REFERENCE, store, lambda share, what: None), "MCCFR10")

        def against(strategy: Strategy) -> list[float]:
            result = play_match(game, strategy, opponent, HANDS, MATCH_SEED)
            return [result.mean, 1.96 * result.standard_error]

        solvers = [
            new_solver(game, "mccfr", 0, {"epsilon": EPSILON}),
            new_solver(game, "mcts", 0, {"c": PAPER_C}),
        ]
        with ThreadPoolExecutor(2) as pool:
            jobs = [
                pool.submit(learning_curve, store, {}, solver, points, against)
                for solver in solvers
            ]
            curves = [job.result() for job in jobs]
    print("| iterations | MCCFR, sb/h | seconds | MCTS, sb/h | seconds |\n|---|---|---|---|---|")
    for one, two in zip(*curves, strict=True):
        cells = [f"{int(one[0]):,}"]
        for row in (one, two):
            cells += [f"{row[2]:+.3f} ± {row[3]:.3f}", f"{row[1]:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
