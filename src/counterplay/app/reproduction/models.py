"""Opponent models of Section 4.3.1, profiles of MCCFR and uniform play, and responses to them.

The paper's models are trained by MCCFR with ε = 0.6 until their exploitability is at most 0.1
(Figure 7). For Figure 6 the paper gives no exploitability, and the shape of the curves depends on
it, so there are three models: of 0.1 by outcome sampling, as in the paper, and of 0.03 and 0.01 by
external sampling, which reaches them.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.store import PieceStore, trained
from counterplay.app.reproduction.sizes import ModelLimit
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.evaluation.exact import exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.jobs import Job
from counterplay.core.responses.respond import respond
from counterplay.core.solvers.algorithms import new_solver

EPSILON = 0.6
SEED = 1  # of sampled responses
LEAST = 1e-9  # target of a response to a model that cannot be exploited
MODEL_SECONDS = 30.0  # of training a model, roughly
TARGET = 0.1  # Figure 7: fixed profiles are run until their exploitability is at most this
FINER = (0.03, 0.01)  # Figure 6 also has models that are less exploitable
#: The games of Figures 6 and 7. The paper's sizes of Goofspiel and PAM are not known; at these
#: sizes models of 0.01 and converged responses are feasible.
GAMES = {
    "quick": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
    "paper": ("ocp(500)", "goofspiel(5)", "bluff(1,1,6)", "pam(3,3,8)"),
}


class FixedProfile(NamedTuple):
    """A profile to respond to, and how exploitable it is (b1 + b2)."""

    label: str
    strategy: Strategy
    exploitability: float


@lru_cache(maxsize=2)
def cached_game(name: str) -> Game:
    """The game, built once for successive pieces of work."""
    return load(name)


def fixed_profile(
    name: str,
    target: float | None,
    limit: ModelLimit,
    store: PieceStore,
    progress: ProgressCallback,
) -> FixedProfile:
    """MCCFR until its exploitability is at most `target`, or the limit: outcome sampling for
    TARGET, external sampling for the finer ones. Without a target, uniform play."""
    game = cached_game(name)
    if target is None:
        uniform = Strategy.uniform(game)
        return FixedProfile(label(None), uniform, exploitability(game, uniform))
    how: tuple[str, dict[str, Any], int, int] = (
        ("mccfr", {"epsilon": EPSILON}, limit.iterations, limit.every)
        if target == TARGET
        else ("mccfr-external", {}, limit.external, limit.external_every)
    )
    algorithm, options, iterations, every = how
    solver = new_solver(game, algorithm, 0, options)
    what = f"{name}: model of {target:g}"
    strategy = trained(store, solver, iterations, progress, what, target, every)
    return FixedProfile(label(target), strategy, exploitability(game, strategy))


def model_job(name: str, target: float, limit: ModelLimit, store: PieceStore) -> Job:
    def work(progress: ProgressCallback) -> None:
        fixed_profile(name, target, limit, store, progress)

    return Job(f"{name}: {label(target)}", work, MODEL_SECONDS)


def label(target: float | None) -> str:
    """Label of the model of this exploitability; None: uniform play."""
    if target is None:
        return "uniform play"
    return f"model of {target:g}, {'outcome' if target == TARGET else 'external'} sampling"


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
    game, pair = cached_game(name), f"{options.algorithm.upper()} against {model.label}"
    show_progress = partial(progress, 0.0, f"{name}: {pair}, p = {p:g}")
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
