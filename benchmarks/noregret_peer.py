"""CFR of noregret, the package that the registry has, beside ours, in one run: ms an iteration.

    pip install noregret && python -m benchmarks.noregret_peer

What can be installed (0.0.0.dev3) has no code for a GPU. Both get the same sequence form, and
both average strategies must be as exploitable as each other. Writes benchmarks/noregret.csv.
"""

from __future__ import annotations

import statistics
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.sequence import Side
from counterplay.core.solvers.algorithms import new_solver

GAMES = ("kuhn", "leduc", "bluff(1,1,4)")
ITERATIONS, REPEATS = 20, 5
OUT = Path(__file__).parent / "noregret.csv"


def decisions(side: Side) -> Any:
    """A player's treeplex as theirs: sequence q > 0 is (information set, action)."""
    from noregret.utilities import TreeFormSequentialDecisionProcess as Process

    kinds = Process.NodeType
    first = side.first.astype(int)
    below: dict[int, list[int]] = {}
    for i, parent in enumerate(side.parent.tolist()):
        below.setdefault(parent, []).append(i)
    moves: dict[tuple[Any, ...], Any] = {}
    types: dict[Any, Any] = {}

    def after(edge: tuple[Any, ...], sequence: int) -> None:
        node = ("after", sequence)
        moves[edge] = node
        ends = sequence not in below
        types[node] = kinds.END_OF_THE_DECISION_PROCESS if ends else kinds.OBSERVATION_POINT
        for i in below.get(sequence, ()):
            moves[node, i] = i
            types[i] = kinds.DECISION_POINT
            for a in range(first[i + 1] - first[i]):
                after((i, a), int(first[i]) + a + 1)

    after((), 0)
    return Process(moves, types)


def numbers(process: Any, side: Side) -> np.ndarray:
    """Our number of each of their sequences."""
    return np.array([0 if not s else int(side.first[s[0]]) + s[1] + 1 for s in process.sequences])


class Theirs:
    def __init__(self, game: cp.Game) -> None:
        from noregret.regret_minimizers import CounterfactualRegretMinimization as Minimizer

        form = game.sequence_form
        self.game, self.sides = game, (form.one, form.two)
        processes = [decisions(side) for side in self.sides]
        self.place = [numbers(p, side) for p, side in zip(processes, self.sides, strict=True)]
        one = form.one
        shape = (one.n_sequences, form.two.n_sequences)
        payoff = csr_array((one.value, one.column, one.row), shape=shape)
        self.payoff = payoff[self.place[0]][:, self.place[1]].tocsr()
        self.turned = self.payoff.T.tocsr()
        self.players = [Minimizer(p, is_time_symmetric=True) for p in processes]

    def step(self, n: int) -> None:
        for _ in range(n):
            x, y = (player.next_strategy() for player in self.players)
            self.players[0].observe_utility(self.payoff @ y)
            self.players[1].observe_utility(-(self.turned @ x))

    def policy(self) -> np.ndarray:
        plans = []
        for player, place, side in zip(self.players, self.place, self.sides, strict=True):
            plan = np.empty(side.n_sequences)
            plan[place] = player.average_strategy
            plans.append(plan[1:])
        strategy = cp.Strategy.from_weights(self.game, np.concatenate(plans))
        return strategy.probabilities


def milliseconds(solver: Any, n: int) -> float:
    before = time.perf_counter()
    solver.step(n)
    return 1e3 * (time.perf_counter() - before) / n


def main() -> None:
    rows = []
    for name in GAMES:
        game = cp.load(name)
        ours, theirs = new_solver(game, "cfr", 0, {}), Theirs(game)
        for solver in (ours, theirs):
            solver.step(ITERATIONS)
        gaps = [policy_exploitability(game, solver.policy()) for solver in (ours, theirs)]
        assert np.isclose(*gaps, rtol=1e-9), (name, gaps)
        turns = [
            (milliseconds(ours, 50 * ITERATIONS), milliseconds(theirs, ITERATIONS))
            for _ in range(REPEATS)
        ]
        mine, other = (statistics.median(column) for column in zip(*turns, strict=True))
        ratios = [b / a for a, b in turns]
        rows.append((name, mine, other, statistics.median(ratios), min(ratios), max(ratios)))
        print(
            f"{name}: ours {mine:.4f} ms an iteration, noregret {version('noregret')} "
            f"{other:.1f} ms, {statistics.median(ratios):,.0f} times "
            f"({min(ratios):,.0f}-{max(ratios):,.0f})"
        )
    header = ["game", "ours_ms", "noregret_ms", "times", "least", "most"]
    write_rows(OUT, header, rows)


if __name__ == "__main__":
    main()
