"""Opponent models of Section 4.3.1: profiles of MCCFR (ε = 0.6), stopped early or late, and uniform play."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from counterplay.evaluation.exact import exploitability
from counterplay.experiments.training import kept_strategy
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.solvers.run import solve

EPSILON = 0.6
TARGET = 0.1  # Figure 7: fixed profiles are run until their exploitability is at most this
EARLY = 20_000  # iterations of the early snapshot
#: The games of Figures 6 and 7. The sizes of Goofspiel and PAM did not survive; these are the largest that run in the time.
GAMES = {
    "quick": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
    "paper": ("ocp(500)", "goofspiel(7)", "bluff(1,1,6)", "pam(3,3,13)"),
}


class Model(NamedTuple):
    """A profile to respond to, and how exploitable it is (b1 + b2)."""

    label: str
    strategy: Strategy
    exploitability: float


def trained(game: Game, seconds: float, folder: Path, seed: int = 0) -> Model:
    """MCCFR until its exploitability is at most TARGET, or the time is over; learnt once per result folder."""

    def learn() -> Strategy:
        return solve(game, "mccfr", target=TARGET, seconds=seconds, seed=seed, epsilon=EPSILON).strategy

    strategy = kept_strategy(folder, f"model-{game.name}-{seconds:g}", learn, game)
    return Model("MCCFR", strategy, exploitability(game, strategy))


def early(game: Game, seed: int = 0) -> Model:
    """MCCFR after EARLY iterations."""
    run = solve(game, "mccfr", iterations=EARLY, seed=seed, epsilon=EPSILON)
    return Model(f"MCCFR after {EARLY:,} iterations", run.strategy, run.exploitability)


def uniform(game: Game) -> Model:
    strategy = Strategy.uniform(game)
    return Model("uniform play", strategy, exploitability(game, strategy))
