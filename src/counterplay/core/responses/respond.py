"""`respond`: win the most from an opponent who plays like `model`, while risking little against one
who does not.

Section 4, Algorithm 2 and footnote 9. Four algorithms (`algorithms.py`), each a transform of a form
(`core/forms/restricted.py`) and a solver as engine (`solver.py`):

| name | transform | engines |
|---|---|---|
| rnr | with probability p the opponent follows the model throughout | cfr+, ..., egt, lp |
| mcrnr | the same, sampled: Algorithm 2 | mccfr, mccfr-external, mccfr-chance, mcts, ... |
| dbr | at each of his information sets, with probability Pconf(I) | cfr+, cfr, dcfr, pcfr+, lp |
| mcdbr | the same, sampled; what the paper calls MCRNR in hold'em | as mcrnr |

Deviations of mcrnr from Algorithm 2: the model's actions are drawn on-policy and not ε-greedily (a
model that never plays an action needs no support for it; the unrestricted subtree explores it), and
one run restricts one player. Where nobody names one, the algorithm is rnr, in a game too large for
a tree mcrnr; the engine is cfr+, for sampling mccfr, in a game too large for a tree the default
sampler of `solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.games.players import as_strategy
from counterplay.core.responses.algorithms import default_response, response_algorithm
from counterplay.core.responses.question import Question, answer, check_measurable, measured
from counterplay.core.responses.result import Response, check_measure
from counterplay.core.responses.within import safest_best, safest_by_board
from counterplay.core.solvers.limits import Limits, Progress, check_target

DEFAULT_P = 0.75


def respond(
    game: Game | str,
    model: Any,
    player: int | None = None,
    p: float | np.ndarray = DEFAULT_P,
    algorithm: str | None = None,
    *,
    engine: str | None = None,
    max_exploitability: float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    seed: int = 0,
    measure_every: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    on_chunk: Callable[[Progress], None] | None = None,
    folder: str | Path | None = None,
    measure: Mapping[str, Any] | None = None,
    **options: Any,
) -> Response:
    """A robust response to `model`. `player` responds (0 or 1); None computes both seats and
    returns a profile. `model` is any kind of player that is a table: a strategy or what has one
    (a run, an `OpponentModel`), `uniform`, a path, in hold'em the name of a bot, ...

    `p`: how far the model is trusted, a number, or for dbr and mcdbr an array with one number per
    information set (see `confidence`). With `max_exploitability` p is searched instead: win the
    most while risking at most that much per game (below the value of the game; for both seats b1 +
    b2). `target` is the exploitability of the restricted game at which to stop, `seconds` are those
    of all seats, and of all p tried, together. The other arguments are as in `solve`. A `folder`
    can be gone on with by `resume_response`. Ctrl-C raises `Interrupted`, whose `result` is the
    response so far (of the first seat alone where the second was not begun), with
    `max_exploitability` the best one found within the limit, or None.

    In hold'em payoffs are measured by walking boards, and only when asked for: `measure` has the
    options of `Response.measured`, as `{"flops": 40}` or `{"backend": "cuda"}`.
    `max_exploitability` needs it there, and both seats. At most six values of p are tried, the one
    chosen is the most trusting that was safe (two responses cannot be mixed into one strategy where
    players forget), and an estimate is safe when the upper end of its interval is.
    """
    limits = Limits(iterations, seconds, target, measure_every, callback, on_chunk)
    game = as_game(game, model)
    model = as_strategy(game, model)
    algorithm = response_algorithm(algorithm or default_response(game)).name
    question = Question(game, model, player, p, algorithm, engine, seed, options)
    check_target(game, target)
    place = None if folder is None else Path(folder)
    if max_exploitability is None:
        check_measure(game, player, measure)
        return measured(answer(question, limits, place), measure)
    check_measurable(game, player, measure, "no limit on it can be kept; give p")
    if np.ndim(p) != 0 or p != DEFAULT_P:
        raise BadParameter("max_exploitability searches for p; give one or the other")
    many = "max_exploitability tries many values of p"
    if callback is not None or measure_every is not None:
        raise BadParameter(f"{many}; callback and measure_every are for one")
    if place is not None:
        raise BadParameter(f"{many}; give p to keep a run folder")
    if game.evaluator.on_request:
        return safest_by_board(question, max_exploitability, limits, dict(measure or {}))
    return safest_best(question, max_exploitability, limits)
