"""`compute_response`: the response described by a `ResponseParameters`, seat by seat."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.base.progress import ShareCallback
from counterplay.core.forms.game import Game, Payoff
from counterplay.core.forms.strategy import Strategy, check_same_game, check_seat
from counterplay.core.games.players import players_of
from counterplay.core.responses.algorithms import (
    SEVERAL,
    Trust,
    faces_real_adversary,
    response_algorithm,
    takes_other_models,
)
from counterplay.core.responses.result import Response, check_measure, seat_value_known
from counterplay.core.responses.several import SeveralResponse, models_of_others, several_risks
from counterplay.core.responses.solver import ResponseSolver, profile_of
from counterplay.core.solvers.folder import check_free, seat_folder
from counterplay.core.solvers.limits import Limits, Progress, default_limits
from counterplay.core.solvers.run import Run, run_solver

DEFAULT_TARGET = 2e-5  # of the payoff range
QUERIES = 4  # of a response in both seats: what it wins, and what it risks
TRAVERSING = "traversing the boards"
LEAST_SECONDS = 1e-12  # of a task, where earlier ones took longer than their share


@dataclass(frozen=True)
class ResponseParameters:
    """A response without its limits. `player`: the responder; None: both seats."""

    game: Game
    model: Strategy
    player: int | None
    p: Trust
    algorithm: str
    engine: str | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises `BadParameter` where no robust response is defined."""
        game = self.game
        response_algorithm(self.algorithm)
        if takes_other_models(game, self.algorithm, self.engine):
            players_of(game).check_model(self.model)
        else:
            check_same_game(game, self.model)
        if game.n_players != 2:
            self._check_several()
        if not game.zero_sum:
            raise BadParameter(f"robust responses are for zero-sum games, and {game.name} is none")
        for seat in self.seats:
            game.check_player(seat)
            if game.n_players == 2:
                check_seat(self.model, 1 - seat)

    def _check_several(self) -> None:
        """`BadParameter` for what is defined for two players only."""
        game = self.game
        if self.algorithm != SEVERAL:
            raise BadParameter(
                f"with {game.n_players} players the algorithm is {SEVERAL}, not {self.algorithm}"
            )
        if self.player is None:
            raise BadParameter(
                f"{game.name} has {game.n_players} players, and one of them responds: give its "
                f"seat (player=0, on the command line --player 1)"
            )
        if not game.capabilities.listed or not game.perfect_recall:
            raise BadParameter(
                f"responses of several players need a tree and perfect recall; {game.name} is "
                f"another game"
            )
        if self.model.player is not None:
            raise BadParameter("a response for one seat is no model of the other players")

    @property
    def seats(self) -> tuple[int, ...]:
        return (0, 1) if self.player is None else (self.player,)

    def with_p(self, p: Trust) -> ResponseParameters:
        """The same response with another p."""
        return replace(self, p=p)

    def solver(self, seat: int) -> ResponseSolver:
        """The solver of one seat, at iteration 0."""
        return ResponseSolver(
            self.game,
            self.model,
            seat,
            self.p,
            self.algorithm,
            self.engine,
            self.seed,
            self.options,
        )


def model_of(
    game: Game, model: Any, algorithm: str | None, engine: str | None, player: int | None = None
) -> Strategy:
    """The model of an opponent, however given, as an engine takes it; of a game of several players
    a profile, or a list with a model for each other seat than that of `player`."""
    players = players_of(game)
    if isinstance(model, list | tuple):
        return models_of_others(game, model, player)
    any_cards = takes_other_models(game, algorithm, engine)
    return players.model(model) if any_cards else players.strategy(model)


def compute_response(
    parameters: ResponseParameters, limits: Limits, folder: Path | None = None,
    started: dict[int, ResponseSolver] | None = None,
) -> Response:  # fmt: skip
    """Runs each seat until the limits, or the default ones; seats share `limits.seconds`.
    `started`: the solver of each seat for another p, which goes on, or an empty dictionary that
    gets them."""
    limits = default_limits(parameters.game, limits, DEFAULT_TARGET)
    if folder is not None:
        check_free(folder)

    def run_seat(seat: int, until: Limits) -> Run:
        path = None if folder is None else seat_folder(folder, seat, parameters.player)
        solver = None if started is None else started.get(seat)
        if solver is None:
            solver = parameters.solver(seat)
        else:
            solver.replace_model(parameters.model, parameters.p)
        if started is not None:
            started[seat] = solver
        return run_solver(solver.engine, until, path)

    return run_seats(parameters, run_seat, folder, limits)


def solvers_to_continue(parameters: ResponseParameters) -> dict[int, ResponseSolver] | None:
    """`started` of `compute_response` for several values of p: a real adversary is continued from
    one to the next."""
    return {} if faces_real_adversary(parameters.game, parameters.engine) else None


def training_share(
    limits: Limits, seats: int, progress: ShareCallback
) -> Callable[[Progress], None]:
    """An `on_chunk` that also reports the share of the iterations or seconds of all seats."""
    seen: list[Any] = []  # solvers, one for each seat

    def on_chunk(at: Progress) -> None:
        if limits.on_chunk is not None:
            limits.on_chunk(at)
        if not any(at.solver is solver for solver in seen):
            seen.append(at.solver)
        done = at.iterations / limits.iterations if limits.iterations else 0.0
        if limits.seconds:
            done = max(done, at.seconds * seats / limits.seconds)
        progress((len(seen) - 1 + min(done, 1.0)) / max(seats, len(seen)))

    return on_chunk


class TimeBudget:
    """Divides `limits.seconds` among several tasks: each gets its share of what is left."""

    def __init__(self, limits: Limits, tasks: int) -> None:
        self._limits, self._left, self._tasks = limits, limits.seconds, tasks

    def next_limits(self) -> Limits:
        """The limits of the next task."""
        if self._left is None:
            return self._limits
        share = self._left / max(self._tasks, 1)
        return replace(self._limits, seconds=max(share, LEAST_SECONDS))

    def spend(self, seconds: float) -> None:
        self._tasks -= 1
        if self._left is not None:
            self._left -= seconds


def measure_response(response: Response, measure: Mapping[str, Any] | None) -> Response:
    """`response.measured(**measure)`, or unchanged for None; Ctrl-C keeps the response."""
    if measure is None:
        return response
    try:
        return response.measured(**measure)
    except KeyboardInterrupt:
        raise Interrupted(response) from None


def run_seats(
    parameters: ResponseParameters,
    run_seat: Callable[[int, Limits], Run],
    folder: Path | None,
    limits: Limits,
) -> Response:
    """The response assembled from `run_seat` of each seat; the seats share `limits.seconds`. The
    profile of both seats is saved in `folder`. Ctrl-C raises `Interrupted` with the seats that
    were run."""
    runs: list[Run] = []
    budget = TimeBudget(limits, len(parameters.seats))
    stopped = False
    for seat in parameters.seats:
        try:
            runs.append(run_seat(seat, budget.next_limits()))
            budget.spend(runs[-1].seconds)
        except KeyboardInterrupt as stop:
            if isinstance(stop, Interrupted) and isinstance(stop.result, Run):
                runs.append(stop.result)
            if not runs:
                raise
            stopped = True
            break
    if len(runs) < len(parameters.seats):
        parameters = replace(parameters, player=parameters.seats[0])
    response = response_of_runs(parameters, runs)
    if folder is not None and response.player is None:
        response.strategy.save(folder / "strategy.npz")
    if stopped:
        raise Interrupted(response)
    return response


def response_of_runs(parameters: ResponseParameters, runs: list[Run]) -> Response:
    """Finished runs, one per seat, with their payoffs in the original game."""
    strategy, payoffs = profile_of(parameters.game, parameters.model), []
    for seat, run in zip(parameters.seats, runs, strict=True):
        payoffs.append(_payoffs(parameters.game, parameters.model, run.strategy, seat))
        strategy = strategy.replace(run.strategy, seat)
    gains, least = zip(*payoffs, strict=True)
    parts: dict[str, Any] = {}
    kind: type[Response] = Response
    if parameters.game.n_players > 2:
        assert parameters.player is not None
        kind, parts = SeveralResponse, several_risks(strategy, parameters.player)
        least = (parts["coalition"].bound,)
    return kind(
        game=parameters.game,
        algorithm=parameters.algorithm,
        engine=runs[0].algorithm,
        player=parameters.player,
        p=float(parameters.p) if np.ndim(parameters.p) == 0 else None,
        strategy=strategy.for_player(parameters.player),
        payoffs=gains,
        worst_cases=least,
        runs=tuple(runs),
        model=parameters.model,
        **parts,
    )


def _payoffs(game: Game, model: Strategy, response: Strategy, player: int) -> tuple[float, float]:
    """What `player` gets against the model by playing `response`, and its least payoff against
    any opponent; NaN where they are measured on request only."""
    if not game.evaluator.immediate:
        return math.nan, math.nan
    queries = [Payoff(player, model, response), Payoff(1 - player, response)]
    if game.n_players > 2:
        return game.evaluator.payoffs(queries[:1])[0], math.nan
    gain, risk = game.evaluator.payoffs(queries)
    return gain, -risk


def check_measurable(
    game: Game, player: int | None, measure: Mapping[str, Any] | None, advice: str
) -> None:
    """Raises `BadParameter` where the exploitability of a response cannot be measured."""
    on_request, evaluator = check_measure(game, player, measure), game.evaluator
    if not evaluator.immediate:
        if not evaluator.on_request:
            raise BadParameter(
                f"the exploitability of {game.name} cannot be measured yet, so {advice} and play a "
                "match"
            )
        if not on_request:
            raise BadParameter(f"the exploitability of {game.name} {evaluator.how}")
    if player is not None and not seat_value_known(game):
        raise BadParameter(
            f"the exploitability of one seat is relative to the value of the game, and that of "
            f"{game.name} is not known; respond in both seats"
        )
