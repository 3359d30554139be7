"""Every solver by name. A new one is a file that sets `SOLVER`, and its test."""

from __future__ import annotations

import inspect
from typing import Any

from counterplay.base.errors import BadParameter, UnknownName
from counterplay.base.registry import Registry
from counterplay.forms.game import Game
from counterplay.solvers.base import Solver
from counterplay.solvers.problem import Problem


def _is_solver(spec: Any) -> bool:
    return isinstance(spec, type) and issubclass(spec, Solver) and not inspect.isabstract(spec)


ALGORITHMS: Registry[type[Any]] = Registry("solver", _is_solver)


def solver_names(sampled: bool) -> list[str]:
    """Solvers that sample, or those of full width."""
    return sorted(name for name in ALGORITHMS if ALGORITHMS.fact(name, "sampled", True) == sampled)


def sampling_solvers(game: Game) -> list[str]:
    """Those that sample and play this game."""
    return [name for name in solver_names(sampled=True) if ALGORITHMS[name].plays(game)]


def samplers_of(game: Game) -> str:
    """The same for an error that names them."""
    return ", ".join(sampling_solvers(game))


def default_solver(game: Game) -> str:
    """What is used where nobody names a solver: full width where the game has it, else the
    default sampler."""
    if game.abilities.full_width and game.n_players == 2 and game.perfect_recall:
        return "cfr+"
    return default_sampler(game)


def default_sampler(game: Game) -> str:
    """The same among those that sample: the one that the rules name (`sampler`); without a tree
    outcome sampling, since a game may be deep and walks of external sampling long; otherwise
    external sampling."""
    usual = "mccfr" if game.abilities.keyed else "mccfr-external"
    return str(getattr(game.rules, "sampler", usual))


def find_solver(name: Any) -> type[Any]:
    """The solver called `name`, in small letters or not; where that is something else, the error
    says what."""
    try:
        return ALGORITHMS.find(name, "algorithm")
    except UnknownName as error:
        response = str(name).lower()
        if response not in Registry("response"):
            raise
        raise UnknownName(
            f"{response} responds to a model of an opponent and solves no game; "
            f"counterplay respond MODEL -a {response}, in Python cp.respond"
        ) from error


#: Who plays: options of every solver that samples, and their defaults. `workers` 0: as many as the
#: cluster has processors for; `news`: see `far_team.py`.
TEAMS: dict[str, Any] = {"team": "threads", "workers": 0, "news": 0.1}


def options_of(algorithm: str) -> dict[str, Any]:
    """The algorithm's own options with their defaults."""
    solver = find_solver(algorithm)
    parameters = list(inspect.signature(solver).parameters.values())[
        3:
    ]  # after game, seed, problem
    own = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    return own | TEAMS if solver.sampled else own


def new_solver(
    game: Game,
    algorithm: str,
    seed: int,
    options: dict[str, Any],
    problem: Problem | None = None,
) -> Solver:
    """A solver at iteration 0. `problem`: what to solve, None for an equilibrium of the game."""
    known = options_of(algorithm)
    if "team" in options and not find_solver(algorithm).sampled:
        raise BadParameter(
            f"{algorithm} looks at the whole game, and a team is for solvers that sample: "
            f"{samplers_of(game)}"
        )
    strange = sorted(set(options) - set(known))
    if strange:
        takes = f"its options are {', '.join(known)}" if known else "it has no options"
        raise BadParameter(f"{algorithm} has no option {strange[0]!r}; {takes}")
    who = {name: options[name] for name in TEAMS if name in options}
    own = {name: options[name] for name in options if name not in TEAMS}
    if not who:
        solver: Solver = find_solver(algorithm)(game, seed, problem, **own)
        return solver
    from counterplay.solvers.apart import solver_apart  # which makes solvers itself

    return solver_apart(game, algorithm, seed, own, problem, **{**TEAMS, **who})
