"""This project and OpenSpiel's C++ solvers on the same games, one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyspiel

from benchmarks.measure import compare_rates, ratio_text
from counterplay import Strategy, load
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.solvers.algorithms import new_solver

PEERS = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "bluff(1,1,6)": "liars_dice",
    "goofspiel(4)": "turn_based_simultaneous_game(game=goofspiel("
    "num_cards=4,imp_info=True,points_order=descending))",
}
#: Target for the ratio, by game.
OUTCOME_SAMPLING = {"kuhn": 30, "leduc": 30, "bluff(1,1,6)": 30, "goofspiel(4)": 30}
CFR = {"kuhn": 80, "leduc": 400, "bluff(1,1,6)": 200}
EXPLOITABILITY = {"bluff(1,1,6)": 5000}

Row = tuple[str, str, str, str, str, str]
HEADER = ("work", "this project /s", "OpenSpiel /s", "ratio (range)", "asked for", "reached")


def _stepper(game: Game, algorithm: str, **options: Any) -> Callable[[int], None]:
    solver = new_solver(game, algorithm, 0, options)
    return solver.step


def _repeat(call: Callable[[], Any]) -> Callable[[int], None]:
    def work(n: int) -> None:
        for _ in range(n):
            call()

    return work


def _row(name: str, ours: Callable[[int], None], theirs: Callable[[int], None], target: int) -> Row:
    mine, peer = compare_rates(ours, theirs)
    ratio, spread = ratio_text(mine, peer)
    reached = "yes" if ratio >= target else "NO"
    return (
        name,
        f"{mine.median:,.0f}",
        f"{peer.median:,.3g}",
        f"{ratio:,.0f}x ({spread})",
        f">= {target}x",
        reached,
    )


def rows() -> Iterator[Row]:
    """One row per comparison; slow ones last."""
    for name, target in OUTCOME_SAMPLING.items():
        solver = pyspiel.OutcomeSamplingMCCFRSolver(pyspiel.load_game(PEERS[name]), 0.6, 1)
        yield _row(
            f"outcome sampling, {name}",
            _stepper(load(name), "mccfr"),
            _repeat(solver.run_iteration),
            target,
        )
    for name, target in CFR.items():
        full = pyspiel.CFRSolver(pyspiel.load_game(PEERS[name]))
        ours = _stepper(load(name), "cfr", alternating=True)
        yield _row(
            f"CFR (alternating), {name}", ours, _repeat(full.evaluate_and_update_policy), target
        )
    for name, target in EXPLOITABILITY.items():
        game, peer = load(name), pyspiel.load_game(PEERS[name])
        policy = np.array(Strategy.random(game, 1).probabilities)
        random_policy = pyspiel.UniformRandomPolicy(peer)
        yield _row(
            f"exact exploitability, {name}",
            _repeat(lambda game=game, policy=policy: policy_exploitability(game, policy)),
            _repeat(
                lambda peer=peer, random_policy=random_policy: pyspiel.nash_conv(
                    peer, random_policy
                )
            ),
            target,
        )
