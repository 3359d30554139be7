"""Opponent models of Section 4.3.1: profiles of MCCFR (ε = 0.6), stopped early or late, and
uniform play."""

from __future__ import annotations

from typing import NamedTuple

from counterplay.base.progress import Tell
from counterplay.evaluation.exact import exploitability
from counterplay.experiments.harness.store import Store
from counterplay.experiments.harness.training import trained
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.solvers.algorithms import new_solver

EPSILON = 0.6
TARGET = 0.1  # Figure 7: fixed profiles are run until their exploitability is at most this
EARLY = 20_000  # iterations of the early snapshot
#: The games of Figures 6 and 7. The sizes of Goofspiel and PAM did not survive; these are the
#: largest that run in the time.
GAMES = {
    "quick": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
    "paper": ("ocp(500)", "goofspiel(7)", "bluff(1,1,6)", "pam(3,3,13)"),
}


class FixedProfile(NamedTuple):
    """A profile to respond to, and how exploitable it is (b1 + b2)."""

    label: str
    strategy: Strategy
    exploitability: float


class Limit(NamedTuple):
    """How long a model is trained, and how often it is looked at."""

    iterations: int  # at most
    every: int  # iterations between measurements


#: Enough for every game to come to TARGET.
LIMITS = {"quick": Limit(80_000_000, 100_000), "paper": Limit(4_000_000_000, 20_000_000)}


def late(game: Game, limit: Limit, store: Store, tell: Tell, seed: int = 0) -> FixedProfile:
    """MCCFR until its exploitability is at most TARGET, or the limit."""
    solver = new_solver(game, "mccfr", seed, {"epsilon": EPSILON})
    what = f"{game.name}: model"
    strategy = trained(store, solver, limit.iterations, tell, what, TARGET, limit.every)
    return FixedProfile("MCCFR", strategy, exploitability(game, strategy))


def early(game: Game, store: Store, tell: Tell, seed: int = 0) -> FixedProfile:
    """MCCFR after EARLY iterations."""
    solver = new_solver(game, "mccfr", seed, {"epsilon": EPSILON})
    strategy = trained(store, solver, EARLY, tell, f"{game.name}: early model")
    return FixedProfile(
        f"MCCFR after {EARLY:,} iterations", strategy, exploitability(game, strategy)
    )


def uniform(game: Game) -> FixedProfile:
    strategy = Strategy.uniform(game)
    return FixedProfile("uniform play", strategy, exploitability(game, strategy))
