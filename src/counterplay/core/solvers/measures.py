"""Exploitability and the value of a game."""

from __future__ import annotations

from typing import Any

from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation import exact
from counterplay.core.evaluation.exact import best_response
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.games.players import as_strategy
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.limits import payoff_range
from counterplay.core.solvers.lower_bound import lower_bound
from counterplay.core.solvers.lp import LinearProgram, is_quick
from counterplay.core.solvers.run import solve

#: `game_value` where the linear program would take long: the exploitability of the equilibrium, as
#: a share of the payoff range.
TOLERANCE = 1e-5
_values: dict[str, float] = {}  # by fingerprint


def exploitability(game: Game | str, strategy: Any, method: str = "exact", **options: Any) -> float:
    """Returns ε = b_1(σ_2) + b_2(σ_1), the sum and not its half. In hold'em 500 times that is the
    usual mb/g. `strategy` is any player that is a table: a strategy or a `Mixture`, `uniform`, the
    path of a saved one, `file.py:Name`, in hold'em the name of a bot, ...

    With more players, or a game that is not zero-sum: the sum over players of what each can gain by
    deviating.

    `method="play"`: a lower bound from best responses that are learnt and played out, for any
    two-player zero-sum game; the only method for a game without a tree. A small one proves nothing.
    Its options are `seconds` (of learning in all; default: from 10 on, while the bound grows) or
    `iterations` (of each learner), `algorithm` (one of "mccfr", "mccfr-external", "mcts"; default:
    all), `seeds` of each (1), `games` for each player (200,000, or fewer where the rules are slow),
    `seed`, `progress`, and those of the algorithm. The result has `error`, half its 95% interval,
    and `history`, the bound over time, and prints as a bound. Ctrl-C raises `Interrupted`, whose
    `result` is the bound so far.
    """
    if method == "exact":
        return exact.exploitability(game, strategy, **options)
    if method != "play":
        raise BadParameter(f"method is 'exact' or 'play', not {method!r}")
    game = as_game(game, strategy)
    return lower_bound(game, as_strategy(game, strategy), **options)


def game_value(game: Game | str) -> float:
    """Returns player 1's value in a two-player zero-sum game; exact where the linear program takes
    about a second at most, otherwise to 1e-5 of the payoff range."""
    game = as_game(game)
    if game.n_players != 2 or not game.zero_sum:
        raise BadParameter(
            f"the value of a game is that of a two-player zero-sum game, and {game.name} is none"
        )
    if game.fingerprint not in _values:
        if is_quick(game):
            solver = new_solver(game, "lp", 0, {})
            assert isinstance(solver, LinearProgram)
            solver.step(1)
            value = float(solver.values[0])
        else:
            profile = solve(game, "dcfr", target=TOLERANCE * payoff_range(game)).strategy
            most, least = (best_response(game, profile, player).value for player in (0, 1))
            value = (most - least) / 2.0
        _values[game.fingerprint] = value
    return _values[game.fingerprint]
