"""`Question`: whom to respond to, and how. `answer` works it out, seat by seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy, check_same_game, check_seat
from counterplay.core.responses.algorithms import response_algorithm
from counterplay.core.responses.result import Response, assemble, check_measure
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.responses.trust import Trust
from counterplay.core.solvers.folder import check_free, seat_folder
from counterplay.core.solvers.limits import DEFAULT_SECONDS, Limits
from counterplay.core.solvers.run import Run, run_solver

DEFAULT_TARGET = 2e-5  # of the payoff range
LEAST_SECONDS = 1e-12  # of a piece of work, where an earlier one took too long


@dataclass(frozen=True)
class Question:
    """Everything about a response but when to stop. `player`: who responds; None for both seats."""

    game: Game
    model: Strategy
    player: int | None
    p: Trust
    algorithm: str
    engine: str | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """`BadParameter` where there is nothing to respond to."""
        game = self.game
        response_algorithm(self.algorithm)
        check_same_game(game, self.model)
        if game.n_players != 2:
            raise BadParameter(
                f"robust responses are for two players, and {game.name} has {game.n_players}"
            )
        if not game.zero_sum:
            raise BadParameter(f"robust responses are for zero-sum games, and {game.name} is none")
        for seat in self.seats:
            game.check_player(seat)
            check_seat(self.model, 1 - seat)

    @property
    def seats(self) -> tuple[int, ...]:
        return (0, 1) if self.player is None else (self.player,)

    def at(self, p: Trust) -> Question:
        """The same with the model trusted so far."""
        return replace(self, p=p)

    def solver(self, seat: int) -> ResponseSolver:
        """Of one seat, at iteration 0."""
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


def answer(question: Question, limits: Limits, folder: Path | None = None) -> Response:
    """Each seat until the limits, the seconds being those of all seats together; without any
    limits, those of `default_limits`."""
    limits = limits if limits.bounded else default_limits(question.game, limits)
    if folder is not None:
        check_free(folder)

    def work(seat: int, until: Limits) -> Run:
        where = None if folder is None else seat_folder(folder, seat, question.player)
        return run_solver(question.solver(seat).engine, until, where)

    return in_seats(question, work, folder, limits)


class Budget:
    """Seconds for several pieces of work: each gets its share of what is left."""

    def __init__(self, limits: Limits, pieces: int) -> None:
        self._limits, self._left, self._pieces = limits, limits.seconds, pieces

    def next(self) -> Limits:
        """The limits of the next piece."""
        if self._left is None:
            return self._limits
        share = self._left / max(self._pieces, 1)
        return replace(self._limits, seconds=max(share, LEAST_SECONDS))

    def spend(self, seconds: float) -> None:
        self._pieces -= 1
        if self._left is not None:
            self._left -= seconds


def measured(response: Response, measure: Mapping[str, Any] | None) -> Response:
    """With the numbers that were asked for; after Ctrl-C `Interrupted` has it without them."""
    if measure is None:
        return response
    try:
        return response.measured(**measure)
    except KeyboardInterrupt:
        raise Interrupted(response) from None


def in_seats(
    question: Question,
    work: Callable[[int, Limits], Run],
    folder: Path | None,
    limits: Limits,
) -> Response:
    """`work` for each seat, which share the seconds of `limits`, put together; both seats have
    their profile in `folder`. `Interrupted` has what there is."""
    runs: list[Run] = []
    budget = Budget(limits, len(question.seats))
    stopped = False
    for seat in question.seats:
        try:
            runs.append(work(seat, budget.next()))
            budget.spend(runs[-1].seconds)
        except KeyboardInterrupt as stop:
            if isinstance(stop, Interrupted) and isinstance(stop.result, Run):
                runs.append(stop.result)
            if not runs:
                raise
            stopped = True
            break
    if len(runs) < len(question.seats):
        question = replace(question, player=question.seats[0])
    response = put_together(question, runs)
    if folder is not None and response.player is None:
        response.strategy.save(folder / "strategy.npz")
    if stopped:
        raise Interrupted(response)
    return response


def put_together(question: Question, runs: list[Run]) -> Response:
    """The finished runs, one per seat, as a response."""
    return assemble(
        question.game, question.model, question.player, question.p, question.algorithm, runs
    )


def default_limits(game: Game, limits: Limits, target: float | None = None) -> Limits:
    """A minute, or an exploitability of the restricted game that is good enough when nobody says
    otherwise."""
    if target is None and game.evaluator.immediate:
        target = default_target(game)
    return replace(limits, seconds=DEFAULT_SECONDS, target=target)


def default_target(game: Game) -> float:
    return DEFAULT_TARGET * float(game.tree.payoff.max() - game.tree.payoff.min())


def check_measurable(
    game: Game, player: int | None, measure: Mapping[str, Any] | None, so: str
) -> None:
    """Refuse what needs exploitability where there is none."""
    asked, evaluator = check_measure(game, player, measure), game.evaluator
    if evaluator.immediate:
        return
    if not evaluator.on_request:
        raise BadParameter(
            f"the exploitability of {game.name} cannot be measured yet, so {so} and play a match"
        )
    if not asked:
        raise BadParameter(f"the exploitability of {game.name} {evaluator.how}")
    if player is not None:
        raise BadParameter(
            f"the exploitability of one seat is relative to the value of the game, and that of "
            f"{game.name} is not known; respond in both seats"
        )
