"""`exploitability`: exactly (`core/evaluation/exact.py`), or from below by play
(`lower_bound.py`)."""

from __future__ import annotations

from typing import Any

from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation import exact
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.games.players import as_strategy
from counterplay.core.solvers.lower_bound import lower_bound


def exploitability(game: Game | str, strategy: Any, method: str = "exact", **options: Any) -> float:
    """ε = b_1(σ_2) + b_2(σ_1), the sum and not its half. In hold'em 500 times that is the usual
    mb/g. `strategy` is any kind of player that is a table: a strategy or a `Mixture`, `uniform`,
    the path of a saved one, `file.py:Name`, in hold'em the name of a bot, ...

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
    game = as_game(game, strategy)
    return lower_bound(game, as_strategy(game, strategy), **options)
