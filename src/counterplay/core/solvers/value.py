"""The value of a two-player zero-sum game, kept once it is known."""

from __future__ import annotations

from counterplay.core.evaluation.exact import best_response
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.lp import LinearProgram
from counterplay.core.solvers.run import solve

#: Up to so many slots the linear program is quick and the value exact.
EXACT_SLOTS = 5_000
#: Beyond, an equilibrium to this share of the payoff range.
TOLERANCE = 1e-5
_values: dict[str, float] = {}


def game_value(game: Game | str) -> float:
    """What player 1 gets in equilibrium; exact for small games, otherwise to 1e-5 of the payoff
    range."""
    game = as_game(game)
    if game.fingerprint not in _values:
        if game.n_slots <= EXACT_SLOTS:
            solver = new_solver(game, "lp", 0, {})
            assert isinstance(solver, LinearProgram)
            solver.step(1)
            _values[game.fingerprint] = float(solver.values[0])
        else:
            spread = float(game.tree.payoff.max() - game.tree.payoff.min())
            profile = solve(game, "dcfr", target=TOLERANCE * spread).strategy
            most, least = (
                best_response(game, profile, 0).value,
                -best_response(game, profile, 1).value,
            )
            _values[game.fingerprint] = (most + least) / 2.0
    return _values[game.fingerprint]
