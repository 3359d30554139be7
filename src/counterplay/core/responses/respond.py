"""`respond` and `resume_response`: win the most against an opponent who plays like `model`, while
risking little against any other.

Section 4, Algorithm 2 and footnote 9. Four algorithms (`algorithms.py`), each a transform of a form
(`core/forms/restricted.py`) and a solver as engine (`solver.py`):

| name | transform | engines |
|---|---|---|
| rnr | with probability p the opponent follows the model throughout | cfr+, ..., egt, lp |
| mcrnr | the same, sampled: Algorithm 2 | mccfr, mccfr-external, mccfr-chance, mcts, ... |
| dbr | at each of its information sets, with probability Pconf(I) | cfr+, cfr, dcfr, pcfr+, lp |
| mcdbr | the same, sampled; what the paper calls MCRNR in hold'em | as mcrnr |

Deviations of mcrnr from Algorithm 2: the model's actions are drawn on-policy and not ε-greedily (a
model that never plays an action needs no support for it; the unrestricted subtree explores it), and
one run restricts one player. With `max_exploitability` and the engine lp the answer is one linear
program: the most that is won from the model at a worst case within the limit. Otherwise p is
searched (Section 4.3.1): bisection over p, then a mixture of the two responses on either side of
the limit. In hold'em rnr and dbr have the engine cfr-br, whose adversary has no card abstraction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter, Interrupted, real
from counterplay.core.base.progress import (
    ProgressCallback,
    ShareCallback,
    no_progress,
    part,
    progress_bar,
)
from counterplay.core.evaluation.estimate import upper_end
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game, load
from counterplay.core.forms.sequence import gradient
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.algorithms import (
    choose_adversary,
    default_response,
    exact_engine,
    response_algorithm,
)
from counterplay.core.responses.compute import (
    DEFAULT_TARGET,
    TRAVERSING,
    ResponseParameters,
    TimeBudget,
    check_measurable,
    compute_response,
    measure_response,
    model_of,
    response_of_runs,
    run_seats,
    solvers_to_continue,
    training_share,
)
from counterplay.core.responses.result import (
    Response,
    check_measure,
    mix_responses,
    responder_value,
)
from counterplay.core.responses.solver import load_model
from counterplay.core.solvers import folder as run_folder
from counterplay.core.solvers.limits import (
    DEFAULT_SECONDS,
    Limits,
    Progress,
    check_target,
    default_limits,
    payoff_range,
)
from counterplay.core.solvers.lp import best_plans_within
from counterplay.core.solvers.run import Run, resume_solver, run_solver

DEFAULT_P = 0.75
SEARCH_STEPS = 12
MEASURED_SEARCH_STEPS = 4  # where every step is a pass over the boards
SEARCH_QUERIES = 2 * (MEASURED_SEARCH_STEPS + 2) + 4  # of a search: worst cases, two payoffs
MIXING_STEPS = 40
SLACK = 1e-10  # of the payoff range: the tolerance of the linear program
LEAST_LIMIT = 1e-4  # of the payoff range, where exploitability is reached by iterations


def respond(
    game: Game | str,
    model: Any,
    player: int | None = None,
    p: float | np.ndarray = DEFAULT_P,
    algorithm: str | None = None,
    *,
    engine: str | None = None,
    adversary: str = "abstract",
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
    progress: ProgressCallback = no_progress,
    **options: Any,
) -> Response:
    """A robust response to `model`. `player` responds (0 or 1); None computes both seats and
    returns a profile. `model` is any player that is a table: a strategy or a result that has one (a
    run, an `OpponentModel`), `uniform`, a path, in hold'em the name of a bot, ...
    In a game of more than two players it is a profile, or a list with a model for each other seat
    in order; one seat responds by mcrnr, in which each other player follows its model with
    probability p, and the result is a `SeveralResponse`.

    `algorithm` is by default rnr, or mcrnr in a game too large for a tree; `engine` lp, which is
    exact, where it takes about a second at most and neither iterations nor a target are asked for;
    otherwise cfr+, for sampling mccfr, or the default sampler of `solve` in a game too large for a
    tree. `p`: how far the model is trusted, a number, or for dbr and mcdbr an array with one number
    per information set (see `confidence`). With `max_exploitability` instead of p: win the most
    while risking at most that much per game (below the value of the game; for both seats b1 + b2).
    0 asks for the best equilibrium against the model; without lp, for one within 0.01% of the
    payoff range.
    `adversary`: whom the response is robust against, one of the same card abstraction ("abstract")
    or one without ("real", by rnr or dbr with the engine cfr-br; the model may have another card
    abstraction than the responder); in a game without card abstractions both are the same.
    `target` is the exploitability of the restricted game at which to stop, `seconds` are those of
    all seats, and of all p tried, together. The other arguments are as in `solve`. A run in
    `folder` is continued by `resume_response`. Ctrl-C raises `Interrupted`, whose `result` is the
    response so far (of the first seat alone where the second was not begun), with
    `max_exploitability` the best one within the limit, or None.

    In hold'em payoffs are measured by a traversal of the boards, and only on request: `measure` has
    the options of `Response.measured`, as `{"flops": 40}` or `{"backend": "cuda"}`.
    `max_exploitability` needs it there, and both seats. At most six values of p are tried, of which
    `progress` is told; the result is a `Mixture` of the two next to the limit, one of which is
    drawn for every hand, with a bound on its exploitability. An estimate is within the limit when
    the upper end of its interval is.
    """
    limits = Limits(iterations, seconds, target, measure_every, callback, on_chunk)
    game = as_game(game, model)
    algorithm, engine = choose_adversary(game, adversary, algorithm, engine)
    model = model_of(game, model, algorithm, engine, player)
    kind = response_algorithm(algorithm or default_response(game))
    engine = engine or exact_engine(game, kind, limits, bool(options))
    parameters = ResponseParameters(game, model, player, p, kind.name, engine, seed, options)
    check_target(game, target)
    path = None if folder is None else Path(folder)
    if max_exploitability is None:
        check_measure(game, player, measure)
        return measure_response(compute_response(parameters, limits, path), measure)
    if game.n_players > 2:
        raise BadParameter(
            f"max_exploitability is for two players, and {game.name} has {game.n_players}; give p"
        )
    check_measurable(game, player, measure, "no limit on it can be kept; give p")
    if np.ndim(p) != 0 or p != DEFAULT_P:
        raise BadParameter("max_exploitability searches for p; give one or the other")
    many = "max_exploitability tries many values of p"
    if callback is not None or measure_every is not None:
        raise BadParameter(f"{many}; callback and measure_every are for one")
    if path is not None:
        raise BadParameter(f"{many}; give p to keep a run folder")
    if searches_by_measuring(game):
        with progress_bar(progress) as progress:
            asked = (max_exploitability, limits, dict(measure or {}), progress)
            return respond_within_measured(parameters, *asked)
    return respond_within(parameters, max_exploitability, limits)


def resume_response(
    folder: str | Path,
    *,
    game: Game | str | None = None,
    measure: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Response:
    """Continues the response in `folder`, bit for bit as without the interruption; limits as in
    `resume`, Ctrl-C and `measure` as in `respond`. A seat that was not started is started. With
    `measure` and no limit the response is measured without further iterations."""
    until = Limits(**limits)
    only_measure = measure is not None and not until.bounded
    path = Path(folder)
    game = game if game is None or isinstance(game, Game) else load(game)
    seats = run_folder.seat_folders(path)
    if seats is None and not run_folder.holds_run(path):
        raise BadFile(f"{path}: no such run folder")
    game, config, model, trust = load_model(path if seats is None else seats[0], game)
    check_target(game, limits.get("target"))
    parameters = ResponseParameters(
        game,
        model,
        config["player"] if seats is None else None,
        config["p"] if isinstance(config["p"], float | int) else trust,
        config["response"],
        config["algorithm"],
        config["seed"],
        config["options"],
    )
    check_measure(parameters.game, parameters.player, measure)
    until = default_limits(parameters.game, until, DEFAULT_TARGET)
    if only_measure:
        until = Limits(iterations=1)  # every started run has one

    def run_seat(seat: int, until: Limits) -> Run:
        where = run_folder.seat_folder(path, seat, parameters.player)
        solver = parameters.solver(seat).engine
        if run_folder.has_checkpoint(where):
            return resume_solver(where, solver, until)
        if only_measure:
            raise BadParameter(
                f"{where}: this seat has no iterations yet; give a limit to continue it"
            )
        run_folder.discard_config(where)  # stopped before its first checkpoint: it starts again
        return run_solver(solver, until, where)

    return measure_response(run_seats(parameters, run_seat, path, until), measure)


# --- max_exploitability: a search over p


def respond_within(parameters: ResponseParameters, limit: float, limits: Limits) -> Response:
    """The response that wins the most among those that risk at most `limit`.

    Between the largest p within the limit and the smallest beyond it lies an edge of the frontier;
    mixtures of the two responses move along it.
    """
    game = parameters.game
    if real(limit, "max_exploitability") < 0:
        raise BadParameter(f"max_exploitability must be at least 0, not {limit!r}")
    if parameters.engine == "lp" and parameters.algorithm == "rnr":
        return _exact_within(parameters, limit, limits)
    limit = max(limit, LEAST_LIMIT * payoff_range(game))
    if not limits.bounded:
        limits = default_limits(game, limits, DEFAULT_TARGET)
        seconds = (SEARCH_STEPS + 2) * DEFAULT_SECONDS
        limits = replace(limits, seconds=seconds, target=min(limits.target or limit, limit / 4.0))
    search = _Bisection(limit, _response_at(parameters, TimeBudget(limits, SEARCH_STEPS + 2)))
    try:
        safe, risky = search.run(SEARCH_STEPS)
        return safe if risky is None else _mix_to(parameters, limit, safe, risky)
    except KeyboardInterrupt:
        raise Interrupted(search.safe) from None


def _exact_within(parameters: ResponseParameters, limit: float, limits: Limits) -> Response:
    """`respond_within` by one linear program, exact. The response is the restricted Nash response
    of the p that is reported, or of several that are equally good at that p."""
    game, model = parameters.game, parameters.model
    form, scale = game.sequence_form, payoff_range(game)
    sides = [(form[seat], form[1 - seat]) for seat in parameters.seats]
    value = responder_value(game, parameters.player)
    against = []
    for seat, (own, _) in zip(parameters.seats, sides, strict=True):
        against.append(np.empty(own.n_sequences))
        gradient(own, model.plan(1 - seat), against[-1])
    plans, price = best_plans_within(sides, against, value - limit - SLACK * scale)
    parameters, runs = parameters.with_p(1.0 / (1.0 + max(price, 0.0))), []
    for seat, plan in zip(parameters.seats, plans, strict=True):
        run = run_solver(parameters.solver(seat).engine, limits)
        weights = model.probabilities.copy()
        weights[game.slots(seat)] = plan[1:]
        learnt = model.replace(Strategy.from_weights(game, weights), seat)
        runs.append(replace(run, strategy=learnt.for_player(seat)))
    return response_of_runs(parameters, runs)


def searches_by_measuring(game: Game) -> bool:
    """Whether a limit is searched for by `respond_within_measured`: in hold'em."""
    return game.evaluator.on_request or not game.capabilities.listed


def respond_within_measured(
    parameters: ResponseParameters, limit: float, limits: Limits, measure: Mapping[str, Any],
    progress: ProgressCallback = no_progress,
) -> Response:  # fmt: skip
    """`respond_within` where every measurement is a traversal of boards: the mixture of the two
    sides of a short bisection over p. Payoffs are measured for these two alone."""
    if real(limit, "max_exploitability") <= 0:
        raise BadParameter(f"max_exploitability must be above 0 in hold'em, not {limit!r}")
    tries = MEASURED_SEARCH_STEPS + 2
    pieces, done = 2 * tries + 2, 0  # trainings, worst cases, and two payoffs
    response_at = _response_at(parameters, TimeBudget(limits, tries))

    def measured(which: Callable[..., Response], p: float) -> Response:
        nonlocal done
        if not parameters.game.evaluator.on_request:  # it came with its payoffs
            return which()
        share = part(progress, done / pieces, (done + 1) / pieces, f"p = {p:g}, {TRAVERSING}")
        done += 1
        return which(**{"progress": share, **measure})

    def at(p: float) -> Response:
        nonlocal done
        share = part(progress, done / pieces, (done + 1) / pieces, f"p = {p:g}")
        share(0.0)
        response = response_at(p, share)
        done += 1
        return measured(response.with_worst_case, p)

    search = _Bisection(limit, at)
    try:
        safe, risky = search.run(MEASURED_SEARCH_STEPS)
        done = pieces - 2
        search.safe = safe = measured(safe.with_payoff, _p(safe))
        if risky is None:
            return safe
        return mix_responses(safe, measured(risky.with_payoff, _p(risky)), limit)
    except KeyboardInterrupt:
        raise Interrupted(search.safe) from None


def _response_at(parameters: ResponseParameters, budget: TimeBudget) -> Callable[..., Response]:
    """The response as a function of p and a callback for the share done, within its share of the
    seconds. A real adversary goes on from one p to the next."""
    started = solvers_to_continue(parameters)

    def response_at(p: float, progress: ShareCallback | None = None) -> Response:
        limits = budget.next_limits()
        if progress is not None:
            on_chunk = training_share(limits, len(parameters.seats), progress)
            limits = replace(limits, on_chunk=on_chunk)
        response = compute_response(parameters.with_p(p), limits, started=started)
        budget.spend(response.seconds)
        return response

    return response_at


class _Bisection:
    """Bisection over p. `safe`: the response with the largest p so far within the limit."""

    def __init__(self, limit: float, at: Callable[[float], Response]) -> None:
        self.limit, self.at = limit, at
        self.safe: Response | None = None

    def run(self, steps: int) -> tuple[Response, Response | None]:
        """The responses with the largest p within the limit and the smallest beyond it, if any."""
        risky = self.at(1.0)
        if self._within(risky):
            self.safe = risky
            return risky, None
        safe = self.at(0.0)
        if not self._within(safe):
            raise BadParameter(
                f"even the safest strategy found risks {upper_end(safe.exploitability):.3g} "
                f"{safe.game.unit}, more than {self.limit:g}; allow more, or give more iterations"
            )
        self.safe = safe
        for _ in range(steps):
            middle = self.at((_p(safe) + _p(risky)) / 2.0)
            if self._within(middle):
                self.safe = safe = middle
            else:
                risky = middle
        return safe, risky

    def _within(self, response: Response) -> bool:
        return upper_end(response.exploitability) <= self.limit


def _p(response: Response) -> float:
    return response.p or 0.0


def _mix_to(
    parameters: ResponseParameters, limit: float, safe: Response, risky: Response
) -> Response:
    """The mixture that risks `limit`; exploitability is convex in the weight, winnings linear."""
    best = safe
    low, high = 0.0, 1.0  # weight of the risky response
    for _ in range(MIXING_STEPS):
        weight = (low + high) / 2.0
        mixed = _mixture(parameters, safe, risky, weight)
        if mixed.exploitability <= limit:
            low = weight
            if mixed.exploitation > best.exploitation:
                best = mixed
        else:
            high = weight
    return best


def _mixture(
    parameters: ResponseParameters, safe: Response, risky: Response, weight: float
) -> Response:
    model, runs = parameters.model, []
    for one, two in zip(safe.runs, risky.runs, strict=True):
        seat = one.strategy.player
        assert seat is not None
        mixed = model.replace(two.strategy.mix(one.strategy, weight), seat).for_player(seat)
        runs.append(replace(one, strategy=mixed))
    p = _p(safe) * (1.0 - weight) + _p(risky) * weight
    return response_of_runs(parameters.with_p(p), runs)
