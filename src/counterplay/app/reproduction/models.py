"""The fixed profiles of Section 4.3.1, which MCCFR trains until their exploitability is at most a
target, and responses to them.

The article gives a target of 0.1 for Figure 7 and none for Figure 6. External sampling reaches it
in every game; a profile is the first that is measured at or below the target.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import Piece, digest
from counterplay.core.evaluation.exact import exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.policy import normalise
from counterplay.core.parallel.jobs import Job
from counterplay.core.responses.respond import respond
from counterplay.core.solvers.algorithms import new_solver

EPSILON = 0.6
SEED = 1  # of sampled responses
LEAST = 1e-9  # target of a response to a model that cannot be exploited
TARGET = 0.1  # Figure 7: profiles are run until their exploitability is at most this
LOOK = 1_000  # iterations between two measurements
MOST = 20_000_000  # iterations


class FixedProfile(NamedTuple):
    """A profile to respond to, and how exploitable it is (b1 + b2)."""

    strategy: Strategy
    exploitability: float
    iterations: int


@lru_cache(maxsize=2)
def cached_game(name: str) -> Game:
    """The game, built once for successive pieces of work."""
    return load(name)


def fixed_profile(
    name: str, target: float, store: PieceStore, progress: ProgressCallback
) -> FixedProfile:
    """MCCFR by external sampling at the first measurement of at most `target`."""
    game = cached_game(name)

    def make() -> Piece:
        solver, found = new_solver(game, "mccfr-external", 0, {}), 2 * target
        while found > target:
            progress(0.0, f"{name}: model of {target:g}, {solver.iterations:,} iterations")
            solver.step(LOOK)
            half = solver.policy().astype(np.float16)
            found = exploitability(game, _profile(game, half))
            if solver.iterations > MOST:
                raise CounterplayError(f"{name}: no model of {target:g} in {MOST:,} iterations")
        return Piece([found, solver.iterations], {"probabilities": half})

    recipe = {"game": [game.name, game.fingerprint], "target": target, "every": LOOK}
    piece = store.piece("profile", recipe, make)
    return FixedProfile(_profile(game, piece.arrays["probabilities"]), *piece.value)


def _profile(game: Game, half: np.ndarray) -> Strategy:
    """The profile whose probabilities were rounded to half precision, for smaller files."""
    shares = np.empty(game.n_slots)
    normalise(half.astype(np.float64), game.form.first, shares)
    return Strategy(game, shares)


def model_job(name: str, target: float, store: PieceStore, seconds: float = 5.0) -> Job:
    def work(progress: ProgressCallback) -> None:
        fixed_profile(name, target, store, progress)

    return Job(f"{name}: model of {target:g}", work, seconds)


class ResponseOptions(NamedTuple):
    """A response ends at a gap of `target` in the restricted game, or after `iterations`."""

    algorithm: str
    engine: str
    iterations: int
    target: float
    measure_every: int | None


class ResponsePoint(NamedTuple):
    """A response in both seats: its winnings, risk and gap."""

    p: float
    gain: float  # payoff against the model
    risk: float  # b1 + b2
    gap: float  # of the restricted games, both seats
    iterations: int = 0  # of the seat that needed more
    seconds: float = 0.0


def response_point(
    name: str,
    model: FixedProfile,
    p: float,
    options: ResponseOptions,
    store: PieceStore,
    progress: ProgressCallback,
) -> ResponsePoint:
    """The response to a model for p."""
    game, show = cached_game(name), f"{name}: {options.algorithm.upper()}, p = {p:g}"
    show_progress = partial(progress, 0.0, show)
    show_progress()
    recipe = {"game": [game.name, game.fingerprint], "p": p, "seed": SEED}
    recipe |= {"model": digest(model.strategy.probabilities), "options": options._asdict()}
    own: dict[str, Any] = {"epsilon": EPSILON} if options.engine == "mccfr" else {}
    if options.algorithm.startswith("mc"):
        own["seed"] = SEED

    def make() -> ResponsePoint:
        how = {**options._asdict(), **own, "target": max(options.target, LEAST)}
        response = respond(game, model.strategy, p=p, on_chunk=lambda _: show_progress(), **how)
        gap = sum(run.exploitability for run in response.runs)
        won = (response.exploitation, response.exploitability)
        return ResponsePoint(p, *won, gap, response.iterations, response.seconds)

    return ResponsePoint(*store.value("point", recipe, make))
