"""Opponent models of Section 4.3.1: profiles of MCCFR, and uniform play.

The paper's are of MCCFR with ε = 0.6 until an exploitability of at most 0.1 (Figure 7). How
exploitable those of Figure 6 were is not said, and the shape of the curves depends on it, so there
are three: of 0.1 by outcome sampling, the paper's, and of 0.03 and 0.01 by external sampling, which
gets there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from counterplay.base.progress import Tell
from counterplay.evaluation.exact import exploitability
from counterplay.experiments.harness.store import Store
from counterplay.experiments.harness.training import trained
from counterplay.experiments.paper.sizes import Limit
from counterplay.forms.game import Game
from counterplay.forms.registry import load
from counterplay.forms.strategy import Strategy
from counterplay.parallel.jobs import Job
from counterplay.solvers.algorithms import new_solver

EPSILON = 0.6
MODEL_SECONDS = 30.0  # about, for a job
TARGET = 0.1  # Figure 7: fixed profiles are run until their exploitability is at most this
FINER = (0.03, 0.01)  # Figure 6 also has models that are less exploitable
#: The games of Figures 6 and 7. The sizes of Goofspiel and PAM did not survive; these are sizes at
#: which models of 0.01 and converged responses can be had.
GAMES = {
    "quick": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
    "paper": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
}
#: Iterations of MCRNR by external sampling that took about a second of one core.
RATES = {
    "ocp(500)": 700_000,
    "goofspiel(5)": 100_000,
    "bluff(1,1,6)": 290_000,
    "pam(3,3,8)": 300_000,
}


class FixedProfile(NamedTuple):
    """A profile to respond to, and how exploitable it is (b1 + b2)."""

    label: str
    strategy: Strategy
    exploitability: float


def late(game: Game, limit: Limit, store: Store, tell: Tell, seed: int = 0) -> FixedProfile:
    """MCCFR until its exploitability is at most TARGET, or the limit."""
    solver = new_solver(game, "mccfr", seed, {"epsilon": EPSILON})
    what = f"{game.name}: model"
    strategy = trained(store, solver, limit.iterations, tell, what, TARGET, limit.every)
    return FixedProfile(label(TARGET), strategy, exploitability(game, strategy))


def finer(
    game: Game, target: float, limit: Limit, store: Store, tell: Tell, seed: int = 0
) -> FixedProfile:
    """External sampling until its exploitability is at most `target`, or the limit."""
    solver = new_solver(game, "mccfr-external", seed, {})
    what, every = f"{game.name}: model of {target:g}", limit.external_every
    strategy = trained(store, solver, limit.external, tell, what, target, every)
    return FixedProfile(label(target), strategy, exploitability(game, strategy))


@lru_cache(maxsize=2)
def game_of(name: str) -> Game:
    """The game, built once for some pieces of work in a row."""
    return load(name)


def model(name: str, target: float, limit: Limit, store: Store, tell: Tell) -> FixedProfile:
    """The model of this strength in a game."""
    if target == TARGET:
        return late(game_of(name), limit, store, tell)
    return finer(game_of(name), target, limit, store, tell)


def model_job(name: str, target: float, limit: Limit, store: Store) -> Job:
    return Job(
        f"{name}: {label(target)}",
        lambda tell: model(name, target, limit, store, tell),
        MODEL_SECONDS,
    )


def label(target: float) -> str:
    how = "outcome" if target == TARGET else "external"
    return f"model of {target:g}, {how} sampling"


def uniform(game: Game) -> FixedProfile:
    strategy = Strategy.uniform(game)
    return FixedProfile("uniform play", strategy, exploitability(game, strategy))
