"""`exploitability`: exactly (`evaluation/exact.py`), or from below by play (`lower_bound.py`)."""

from __future__ import annotations

from typing import Any

from counterplay.base.errors import BadParameter
from counterplay.evaluation import exact
from counterplay.forms.game import Game
from counterplay.forms.mixture import Mixture
from counterplay.forms.registry import as_game
from counterplay.forms.strategy import Strategy, check_same_game
from counterplay.solvers.lower_bound import lower_bound


def exploitability(
    game: Game | str, strategy: Strategy | Mixture, method: str = "exact", **options: Any
) -> float:
    """ε = b_1(σ_2) + b_2(σ_1), the sum and not its half. In hold'em 500 times that is the usual
    mb/g.

    With more players, or a game that is not zero-sum: the sum over players of what each can gain by
    deviating.

    `method="play"`: a lower bound from best responses that are learnt and played out, for any
    two-player zero-sum game, and the only one where a game is played without a tree. It takes the
    options `seconds` (of learning in all, 10) or `iterations` (of each), `algorithm` ("mccfr",
    "mcts", "mccfr-external"), `seeds` (3), `games` (200,000 for each player), `seed`, and those
    of the algorithm; the result has `error`, half its 95% interval, and prints as a bound.
    """
    if method == "exact":
        return exact.exploitability(game, strategy, **options)
    if method != "play":
        raise BadParameter(f"method is 'exact' or 'play', not {method!r}")
    if isinstance(strategy, Mixture):
        strategy = strategy.strategy()
    game = as_game(game, strategy)
    check_same_game(game, strategy)
    return lower_bound(game, strategy, **options)
