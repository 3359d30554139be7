"""Every solver by name. A new algorithm is one file, its test and one line here."""

from __future__ import annotations

import inspect
from typing import Any

from counterplay.base.errors import BadParameter, unknown
from counterplay.forms.game import Game
from counterplay.solvers.base import Solver
from counterplay.solvers.cfr import CFR, CFRPlus, DiscountedCFR, PredictiveCFRPlus
from counterplay.solvers.chance import ChanceSampling
from counterplay.solvers.egt import ExcessiveGap
from counterplay.solvers.external import ExternalSampling
from counterplay.solvers.lp import LinearProgram
from counterplay.solvers.mccfr import OutcomeSampling
from counterplay.solvers.mcts import TreeSearch

ALGORITHMS: dict[str, type[Any]] = {
    solver.name: solver
    for solver in (
        CFR,
        CFRPlus,
        DiscountedCFR,
        PredictiveCFRPlus,
        OutcomeSampling,
        ExternalSampling,
        ChanceSampling,
        TreeSearch,
        LinearProgram,
        ExcessiveGap,
    )
}


def options_of(algorithm: str) -> dict[str, Any]:
    """The algorithm's own options with their defaults."""
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    parameters = list(inspect.signature(ALGORITHMS[algorithm]).parameters.values())[
        3:
    ]  # after game, seed and form
    return {parameter.name: parameter.default for parameter in parameters}


def new_solver(
    game: Game, algorithm: str, seed: int, options: dict[str, Any], form: Any = None
) -> Solver:
    """A solver at iteration 0. `form`: a transformed form of the game to solve instead of its own."""
    known = options_of(algorithm)
    strange = sorted(set(options) - set(known))
    if strange:
        takes = f"its options are {', '.join(known)}" if known else "it has no options"
        raise BadParameter(f"{algorithm} has no option {strange[0]!r}; {takes}")
    solver: Solver = ALGORITHMS[algorithm](game, seed, form, **options)
    return solver
