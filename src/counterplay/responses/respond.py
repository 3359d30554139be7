"""`respond`: win the most from an opponent who plays like `model`, while risking little against one who does not.

Section 4, Algorithm 2 and footnote 9. Four algorithms, each a transform of a form (`forms/restricted.py`) and a solver as engine:

| name | transform | engines |
|---|---|---|
| rnr | with probability p the opponent follows the model throughout | cfr+ (default), cfr, dcfr, pcfr+, egt, lp |
| mcrnr | the same, sampled: Algorithm 2 | mccfr (default), mccfr-external, mccfr-chance, mcts |
| dbr | at each of his information sets the opponent follows the model with probability Pconf(I) | cfr+, cfr, dcfr, pcfr+, lp |
| mcdbr | the same, sampled; what the paper calls MCRNR in hold'em | as mcrnr |

Deviations of mcrnr from Algorithm 2: the model's actions are drawn on-policy and not ε-greedily (a model that never plays an
action needs no support for it; the unrestricted subtree explores it), and one run restricts one player.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter, Interrupted, unknown
from counterplay.evaluation.exact import form_exploitability
from counterplay.forms.game import SAMPLERS, Game
from counterplay.forms.restricted import (
    data_biased_form,
    data_biased_sequence_form,
    restricted_form,
    restricted_sequence_form,
)
from counterplay.forms.sequence import SequenceForm, player_infosets
from counterplay.forms.strategy import Strategy, check_same_game, check_seat
from counterplay.games.registry import load
from counterplay.responses.folder import save_model, seat_folder
from counterplay.responses.result import Response, assemble
from counterplay.solvers.algorithms import ALGORITHMS, new_solver, solver_names
from counterplay.solvers.base import Solver, probability
from counterplay.solvers.folder import check_free
from counterplay.solvers.limits import DEFAULT_SECONDS, Progress, check_limits, check_target
from counterplay.solvers.run import Run, run_solver

DEFAULT_P = 0.75
DEFAULT_TARGET = 2e-5  # of the payoff range
DEFAULT_ENGINE = {"rnr": "cfr+", "mcrnr": "mccfr", "dbr": "cfr+", "mcdbr": "mccfr"}
SAMPLERS.append(lambda: [name for name in DEFAULT_ENGINE if name.startswith("mc")])


def respond(
    game: Game | str,
    model: Strategy,
    player: int | None = None,
    p: float | np.ndarray = DEFAULT_P,
    algorithm: str = "rnr",
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
    **options: Any,
) -> Response:
    """A robust response to `model`. `player` responds (0 or 1); None computes both seats and returns a profile.

    `p`: how far the model is trusted, a number, or for dbr and mcdbr an array with one number per information set (see
    `confidence`). With `max_exploitability` p is searched instead: win the most while risking at most that much per game (below
    the value of the game; for both seats b1 + b2). `target` is the exploitability of the restricted game at which to stop. The
    other arguments are as in `solve`. A `folder` can be gone on with by `resume_response`. Ctrl-C raises `Interrupted`, whose
    `result` is the response so far (of the first seat alone where the second was not begun), with `max_exploitability` the
    best one found within the limit, or None.
    """
    game = game if isinstance(game, Game) else load(game)
    check_response(game, model, player, algorithm)
    check_target(game, target)
    if max_exploitability is not None:
        check_measurable(game, "no limit on it can be kept; give p")
        if np.ndim(p) != 0 or p != DEFAULT_P:
            raise BadParameter("max_exploitability searches for p; give one or the other")
        if callback is not None or measure_every is not None:
            raise BadParameter(
                "max_exploitability tries many values of p; callback and measure_every are for one"
            )
        from counterplay.responses.frontier import safest_best

        if folder is not None:
            raise BadParameter(
                "max_exploitability tries many values of p; give p to keep a run folder"
            )
        bounds = {"iterations": iterations, "seconds": seconds, "target": target}
        return safest_best(
            game,
            model,
            player,
            max_exploitability,
            algorithm,
            engine,
            seed,
            bounds,
            on_chunk,
            options,
        )
    if iterations is None and seconds is None and target is None:
        seconds, target = DEFAULT_SECONDS, default_target(game) if game.has_tree else None
    limits = check_limits(iterations, seconds, target, measure_every, callback, on_chunk)
    place = None if folder is None else Path(folder)
    if place is not None:
        check_free(place)

    def work(seat: int) -> Run:
        solver = response_solver(game, model, seat, p, algorithm, engine, seed, options)
        where = None if place is None else seat_folder(place, seat, player)
        if where is not None:
            save_model(where, model, trust_array(game, p, algorithm))
        return run_solver(solver, limits, where)

    return in_seats(game, model, player, p, algorithm, work, place)


def in_seats(
    game: Game,
    model: Strategy,
    player: int | None,
    p: float | np.ndarray,
    algorithm: str,
    work: Callable[[int], Run],
    folder: Path | None,
) -> Response:
    """`work` for each seat, put together; both seats have their profile in `folder`. `Interrupted` has what there is."""
    seats = (0, 1) if player is None else (player,)
    runs: list[Run] = []
    stopped = False
    for seat in seats:
        try:
            runs.append(work(seat))
        except KeyboardInterrupt as stop:
            if isinstance(stop, Interrupted) and isinstance(stop.result, Run):
                runs.append(stop.result)
            if not runs:
                raise
            stopped = True
            break
    response = assemble(
        game, model, player if len(runs) == len(seats) else seats[0], p, algorithm, runs
    )
    if folder is not None and response.player is None:
        response.strategy.save(folder / "strategy.npz")
    if stopped:
        raise Interrupted(response)
    return response


def default_target(game: Game) -> float:
    """Exploitability of a restricted game that is good enough when nobody says otherwise."""
    return DEFAULT_TARGET * float(game.tree.payoff.max() - game.tree.payoff.min())


def check_measurable(game: Game, so: str) -> None:
    """Refuse what needs exploitability where there is none."""
    if not game.has_tree:
        raise BadParameter(
            f"the exploitability of {game.name} cannot be measured yet, so {so} and play a match"
        )


def check_response(game: Game, model: Strategy, player: int | None, algorithm: str) -> None:
    """Whether there is anything to respond to."""
    if not isinstance(algorithm, str) or algorithm not in DEFAULT_ENGINE:
        raise unknown("response algorithm", algorithm, DEFAULT_ENGINE)
    check_same_game(game, model)
    if game.n_players != 2:
        raise BadParameter(
            f"robust responses are for two players, and {game.name} has {game.n_players}"
        )
    if not game.zero_sum:
        raise BadParameter(f"robust responses are for zero-sum games, and {game.name} is none")
    for seat in (0, 1) if player is None else (player,):
        game.check_player(seat)
        check_seat(model, 1 - seat)


def response_solver(
    game: Game,
    model: Strategy,
    player: int,
    p: float | np.ndarray,
    algorithm: str,
    engine: str | None,
    seed: int,
    options: dict[str, Any],
) -> Solver:
    """The engine on the restricted game in which the opponent of `player` is tied to `model`."""
    game.check_player(player)
    engine = engine or DEFAULT_ENGINE[algorithm]
    sampling = algorithm.startswith("mc")
    if ALGORITHMS.find(engine, "engine").sampled != sampling:
        fitting = solver_names(sampling)
        raise BadParameter(
            f"{algorithm} needs one of the engines {', '.join(fitting)}, not {engine}"
        )
    restricted = 1 - player
    trust = trust_array(game, p, algorithm)
    once, fixed = algorithm.endswith("rnr"), model.probabilities
    full = (
        _full_width(game, model, restricted, trust, once) if game.has_tree or not sampling else None
    )
    form: Any = full
    if sampling and once:
        form = restricted_form(game.form, fixed, restricted, float(trust[0]))
    elif sampling:
        form = data_biased_form(game.form, fixed, restricted, trust)
    solver = new_solver(game, engine, seed, options, form)
    if full is not None:
        solver.measure = partial(
            _gap, full, game.slots(restricted), restricted, sampling and not once
        )
    solver.complete = partial(_beside, model, player)
    solver.setting = {
        "response": algorithm,
        "player": player,
        "p": float(trust[0])
        if np.ndim(p) == 0
        else hashlib.sha256(trust.tobytes()).hexdigest()[:16],
        "model": hashlib.sha256(fixed.tobytes()).hexdigest()[:16],
    }
    return solver


def _beside(model: Strategy, player: int, response: Strategy) -> Strategy:
    """`response` in its seat, the model in the other."""
    return model.replace(response, player).for_player(player)


def _full_width(
    game: Game, model: Strategy, restricted: int, trust: np.ndarray, once: bool
) -> SequenceForm:
    """The restricted game as a sequence form; `once`: the coin is thrown once per game, not at every information set."""
    if once:
        return restricted_sequence_form(
            game.sequence_form, model.plan(restricted), restricted, float(trust[0])
        )
    low, high = player_infosets(game.form, restricted)
    fixed = model.probabilities[game.slots(restricted)]
    return data_biased_sequence_form(game.sequence_form, fixed, restricted, trust[low:high])


def _gap(
    full: SequenceForm, slots: slice, restricted: int, only_free: bool, policy: np.ndarray
) -> float:
    """Exploitability of a policy in the restricted game; `only_free`: it leaves out the model's share of his behaviour."""
    if only_free:
        side = full[restricted]
        free = np.maximum(1.0 - np.add.reduceat(side.floor, side.first[:-1]), 0.0)
        policy = policy.copy()
        policy[slots] = side.floor + np.repeat(free, np.diff(side.first)) * policy[slots]
    return form_exploitability(full, policy)


def trust_array(game: Game, p: float | np.ndarray, algorithm: str) -> np.ndarray:
    """float64[information sets]: p everywhere, or the array that was given."""
    if isinstance(p, int | float | np.number | str) or p is None:
        return np.full(game.n_infosets, probability(p, "p"))
    if algorithm.endswith("rnr"):
        raise BadParameter(
            f"{algorithm} takes one number p; an array per information set is for dbr and mcdbr"
        )
    try:
        trust = np.asarray(p)
        if trust.dtype.kind not in "fiu":
            raise ValueError("not real numbers")
        trust = trust.astype(np.float64)
    except (TypeError, ValueError):
        raise BadParameter("p must be a number, or one number per information set") from None
    if trust.shape != (game.n_infosets,):
        raise BadParameter(
            f"p needs one number for each of the {game.n_infosets} information sets; got shape {trust.shape}"
        )
    if not np.all((trust >= 0.0) & (trust <= 1.0)):
        raise BadParameter("p must be from 0 to 1 at every information set")
    return trust
