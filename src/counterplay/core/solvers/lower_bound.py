"""A lower bound on exploitability by play, for games that cannot be enumerated.

For each player, learners play against the fixed strategy of the other, who is chance to them (a
restricted game with p = 1): outcome sampling, external sampling and MCTS side by side. A response
plays the most frequent action of what was learnt. Learning proceeds in rounds, after which the
learners are compared on games of their own. All play the first two rounds; then those continue that
promise most, if they gain as much again as in their last round, by default while the bound grows.

No best response wins less than the one selected, so the sum over both players is a lower bound on
b1 + b2, up to sampling error. The selection is made on other games than the bound, whose interval
therefore needs no correction for it. A small bound proves nothing: it says what was not found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import (
    BadParameter,
    Interrupted,
    OutOfMemory,
    positive,
    whole_number,
)
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.forms.access import new_chance, play_games
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.infoset_table import PROBLEM
from counterplay.core.forms.restricted import restricted_form
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import clock
from counterplay.core.kernels.rng import check_seed, new_state
from counterplay.core.parallel.jobs import Stop, stop_signals
from counterplay.core.solvers.algorithms import (
    find_solver,
    new_solver,
    options_of,
    sampling_solvers,
)
from counterplay.core.solvers.base import Problem, Solver

ALGORITHMS = ("mccfr", "mccfr-external", "mcts")  # see docs/explanation/lower-bounds.md
SECONDS = 10.0  # of learning, for both players and all learners together
MOST_SECONDS = 80.0  # the same, if the bound still grows
SEEDS = 1
MOST_SEEDS = 1_000
GAMES = 200_000  # of each player's response, if they do not take longer than learning
TRIAL_GAMES = 100  # from which the time of the others is estimated
LEAST_GAMES, MOST_GAMES = 1_000, 1_000_000_000
SELECTION = 4  # learners are compared on 1 / SELECTION as many games
#: The share of the seconds and the number of learners in each round.
ROUNDS = ((0.25, None), (0.25, None), (0.5, 1))
LONGER = 2  # learners in each further round
GROWTH = 0.02  # of the bound, at least, in the last half of the time: it still grows
#: Terminals of a traversal above which external sampling is left out, in games without a tree.
MOST_LEAVES = 100_000
PROBES = 50  # histories from which these are estimated
CHUNK_SECONDS = 0.2
Z_95 = 1.96


class BoundAt(NamedTuple):
    """The bound after some seconds of learning, on games of its own."""

    seconds: float
    bound: float
    error: float


class LowerBound(float):
    """A lower bound on exploitability, 0 if nothing was found. `error`: half its 95% interval;
    `best`: the winnings of each player's learnt response, and half their interval; `history`: the
    bound over time."""

    error: float
    best: tuple[tuple[float, float], ...]
    algorithm: str  # of each player's response
    unit: str  # of payoffs
    iterations: int  # of the longest run
    seconds: float  # of learning
    games: int
    history: tuple[BoundAt, ...]

    def __new__(cls, value: float, **facts: Any) -> LowerBound:
        bound = super().__new__(cls, max(value, 0.0))
        for name, fact in facts.items():
            setattr(bound, name, fact)
        return bound

    @property
    def found(self) -> bool:
        """Whether the bound is above 0 by more than its error."""
        return float(self) > self.error

    def __repr__(self) -> str:
        value = f"at least {float(self):.4g}" if self.found else "nothing found: at least 0"
        return (
            f"{value} ± {self.error:.2g} {self.unit} (a lower bound: best responses learnt by "
            f"{self.algorithm} in {self.seconds:.3g} s, {self.games:,} games each, 95%)"
        )

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(LowerBound, **vars(self)), (float(self),)


@dataclass(frozen=True)
class _Question:
    """Which strategy is answered, and how responses are measured."""

    game: Game
    strategy: Strategy
    games: int
    seed: int
    options: dict[str, Any]
    stop: Stop  # whether Ctrl-C was pressed

    def winnings(self, learnt: Strategy, player: int, n: int, stream: int) -> tuple[float, float]:
        """The mean winnings per game of `learnt` as `player`, and half their 95% interval."""
        pair = (learnt, self.strategy) if player == 0 else (self.strategy, learnt)
        sums, form = np.zeros(2), self.game.form
        one, two = (profile.played for profile in pair)
        chance = new_chance(form)
        play_games(form, chance, one, two, new_state(self.seed, 1 + stream), n, sums)
        if self.game.discovers_infosets:
            self.game.check_rules(int(chance.size[PROBLEM]))
        mean = sums[0] / n
        half = Z_95 * math.sqrt(max(sums[1] / n - mean**2, 0.0) / (n - 1))
        return float(mean if player == 0 else -mean), float(half)

    def affordable_games(self, seconds: float) -> int:
        """The games of a response such that all comparisons of both players take about so many
        seconds; rules in Python may play hundreds of games a second, compiled ones millions."""
        self.winnings(self.strategy, 0, 2, 0)  # compiles
        before = clock()
        self.winnings(self.strategy, 0, TRIAL_GAMES, 0)
        rate = TRIAL_GAMES / max(clock() - before, 1e-9)
        compared = sum((keep or len(ALGORITHMS)) + 1 for _, keep in ROUNDS)
        share = 2 * (1 + compared / SELECTION)
        return int(min(max(rate * seconds / share, LEAST_GAMES), GAMES))


class _Learner:
    """One solver that learns a response of `player` to the other's strategy."""

    def __init__(self, question: _Question, player: int, algorithm: str, seed: int) -> None:
        game = question.game
        form = restricted_form(game.form, question.strategy.played, 1 - player, 1.0)
        problem = Problem(game, form)
        self.solver: Solver = new_solver(game, algorithm, seed, question.options, problem)
        self.solver.step(0)
        self.seconds, self._chunk, self._stop = 0.0, 1, question.stop
        self.mean = self.promise = -math.inf  # of its winnings, now and after another round
        self._full = False

    def learn(self, seconds: float | None, iterations: int | None) -> None:
        """Learns for so many seconds, or up to a number of iterations."""
        end, solver = math.inf if seconds is None else self.seconds + seconds, self.solver
        most = math.inf if iterations is None else iterations
        while not self._full and solver.iterations < most and self.seconds < end:
            if self._stop():
                return
            n, before = int(min(self._chunk, most - solver.iterations)), clock()
            try:
                solver.step(n)
            except OutOfMemory:  # the response learnt so far will do
                self._full = True
            took = clock() - before
            self.seconds += took
            if took < CHUNK_SECONDS / 2:
                self._chunk *= 2


@dataclass
class _Search:
    """The search for a response of one player."""

    question: _Question
    player: int
    learners: list[_Learner]
    best: Strategy | None = None
    by: str = ""
    mean: float = -math.inf  # of the best response, when it was selected
    history: list[BoundAt] = field(default_factory=list)
    streams: int = 0

    @property
    def seconds(self) -> float:
        return sum(learner.seconds for learner in self.learners)

    def play_round(self, keep: int | None, seconds: float | None, iterations: int | None) -> None:
        """The most promising `keep` learners learn, each as long, and are compared."""
        self.learners.sort(key=lambda learner: -learner.promise)
        active = self.learners[:keep]
        for learner in active:
            learner.learn(None if seconds is None else seconds / len(active), iterations)
            response = most_frequent(learner.solver.strategy())
            mean, _ = self._winnings(response)
            gained = max(mean - learner.mean, 0.0) if learner.mean > -math.inf else 0.0
            learner.mean, learner.promise = mean, mean + gained
            if learner.mean > self.mean:
                self.best, self.by, self.mean = response, learner.solver.name, learner.mean
        assert self.best is not None
        self.history.append(BoundAt(self.seconds, *self._winnings(self.best)))

    def _winnings(self, response: Strategy) -> tuple[float, float]:
        """The winnings of a response on games of its own."""
        self.streams += 1
        n = self.question.games // SELECTION
        return self.question.winnings(response, self.player, n, 2 * self.streams + self.player)

    @property
    def grows(self) -> bool:
        """Whether the last round has won more than its error."""
        before, last = self.history[-2:]
        gained = last.bound - before.bound
        return gained > max(math.hypot(before.error, last.error), GROWTH * abs(last.bound))

    def result(self) -> tuple[float, float]:
        """The winnings of the selected response on fresh games."""
        assert self.best is not None
        return self.question.winnings(self.best, self.player, self.question.games, self.player)


def lower_bound(
    game: Game,
    strategy: Strategy,
    *,
    algorithm: str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    seeds: int = SEEDS,
    games: int | None = None,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    **options: Any,
) -> LowerBound:
    """Returns a lower bound on b1 + b2 of `strategy`. `seconds`: of learning, for both players and
    all learners together; None: 10, and longer while the bound grows. `iterations`: of each
    learner, instead. `games`: of each player's response; None: 200,000, and fewer, from 1,000 on,
    of rules so slow that these would take longer than learning. `algorithm` None: all of
    `ALGORITHMS`. Ctrl-C raises `Interrupted`, whose `result` is the bound so far, None before both
    players have learnt."""
    check_seed(seed)
    _check(game, strategy, seconds, iterations, seeds, games)
    budget = max(SECONDS, seconds or 0.0)
    names = _names(game, algorithm, options)
    searches: list[_Search] = []
    with progress_bar(progress) as progress, stop_signals() as stop:
        question = _Question(game, strategy, LEAST_GAMES, int(seed), options, stop)
        question = replace(question, games=games or question.affordable_games(budget))
        for player in (0, 1):
            if not stop():
                learners = _learners(question, player, names, seeds)
                searches.append(_Search(question, player, learners))
                _search(searches, seconds, iterations, progress)
    found = _result(searches) if len(searches) == 2 else None
    if stop():
        raise Interrupted(found)
    assert found is not None
    return found


def _result(searches: list[_Search]) -> LowerBound:
    """The bound of what both players have learnt."""
    best = [search.result() for search in searches]
    return LowerBound(
        sum(mean for mean, _ in best),
        error=math.hypot(*(half for _, half in best)),
        best=tuple(best),
        algorithm=" and ".join(dict.fromkeys(search.by for search in searches)),
        unit=str(searches[0].question.game.unit),
        iterations=max(x.solver.iterations for search in searches for x in search.learners),
        seconds=sum(search.seconds for search in searches),
        games=searches[0].question.games,
        history=_history(searches),
    )


def _names(game: Game, algorithm: str | None, options: dict[str, Any]) -> tuple[str, ...]:
    """The algorithm that was asked for, or all that have these options."""
    if algorithm is not None:
        name, samplers = find_solver(algorithm).name, sampling_solvers(game)
        if name not in samplers:
            raise BadParameter(
                f"{name} learns no response by sampling in {game.name}; take one of "
                f"{', '.join(samplers)}"
            )
        return (name,)
    return tuple(x for x in ALGORITHMS if options.keys() <= options_of(x).keys()) or ALGORITHMS


def _learners(
    question: _Question, player: int, names: tuple[str, ...], seeds: int
) -> list[_Learner]:
    """The learners of a player: each algorithm from each seed."""
    learners: list[_Learner] = []
    for name in names:
        if name == "mccfr-external" and learners and _leaves(learners[0]) > MOST_LEAVES:
            continue
        learners += [_Learner(question, player, name, question.seed + k) for k in range(seeds)]
    return learners


def _leaves(learner: _Learner) -> float:
    """Estimates the terminals of a traversal by external sampling, from histories of outcome
    sampling: the product of the numbers of actions along them. 0 in a game with a tree, whose size
    limits them."""
    solver: Any = learner.solver
    if not solver.game.discovers_infosets:
        return 0.0
    actions = solver.worker.workspace.actions
    products = []
    for _ in range(PROBES):
        actions[:] = 1
        solver.step(1)
        products.append(float(np.prod(actions, dtype=np.float64)))
    return float(np.mean(products))


def _search(
    searches: list[_Search],
    seconds: float | None,
    iterations: int | None,
    progress: ProgressCallback,
) -> None:
    """Runs the rounds of the last search."""
    search = searches[-1]
    if iterations is not None:
        search.play_round(None, None, iterations)
        return
    each = (SECONDS if seconds is None else seconds) / 2
    stop = search.question.stop
    for share, keep in ROUNDS:
        if not stop() or not search.history:
            search.play_round(keep, share * each, None)
            _report(searches, each, progress)
    while (
        seconds is None
        and 2 * search.seconds <= MOST_SECONDS / 2
        and not stop()
        and search.grows  # else it does not pay to learn for as long again
    ):
        search.play_round(LONGER, search.seconds, None)
        _report(searches, each, progress)


def _report(searches: list[_Search], each: float, progress: ProgressCallback) -> None:
    done = (len(searches) - 1 + min(searches[-1].seconds / each, 1.0)) / 2
    last = searches[-1].history[-1]
    text = f"player {searches[-1].player + 1} wins {last.bound:.4g} after {last.seconds:.3g} s"
    progress(min(done, 0.99), text)


def _history(searches: list[_Search]) -> tuple[BoundAt, ...]:
    """The bound of both players together, round by round; of one that has ended, its last."""
    rounds = max(len(search.history) for search in searches)
    points = []
    for k in range(rounds):
        now = [search.history[min(k, len(search.history) - 1)] for search in searches]
        bound, error = sum(x.bound for x in now), math.hypot(*(x.error for x in now))
        points.append(BoundAt(sum(x.seconds for x in now), max(bound, 0.0), error))
    return tuple(points)


def _check(
    game: Game, strategy: Strategy, seconds: Any, iterations: Any, seeds: Any, games: Any
) -> None:
    if game.n_players != 2 or not game.zero_sum:
        raise BadParameter(
            f"a lower bound by play is for two-player zero-sum games, and {game.name} is none"
        )
    if strategy.player is not None:
        raise BadParameter("a response for one seat has no exploitability as a profile")
    whole_number(seeds, 1, MOST_SEEDS, "seeds")
    if games is not None:
        whole_number(games, LEAST_GAMES, MOST_GAMES, "games")
    if iterations is not None:
        whole_number(iterations, 1, None, "iterations")
    if seconds is not None and positive(seconds, "seconds") and iterations is not None:
        raise BadParameter("seconds are of all learners together and iterations of each; give one")


def most_frequent(strategy: Strategy) -> Strategy:
    """The pure strategy of the most probable actions, the first of equal ones; uniform where all
    are equal, since nothing was learnt there."""
    first = strategy.first if isinstance(strategy, HashStrategy) else strategy.game.form.first
    shares, counts = strategy.probabilities, np.diff(first)
    if not len(counts):
        return strategy
    top = np.repeat(np.maximum.reduceat(shares, first[:-1]), counts) == shares
    flat = np.repeat(np.minimum.reduceat(shares, first[:-1]), counts) == shares
    earlier = np.cumsum(top) - np.repeat(np.cumsum(top)[first[:-1]] - top[first[:-1]], counts)
    pure = np.where(top & (earlier == 1), 1.0, 0.0)
    never = np.repeat(np.logical_and.reduceat(top & flat, first[:-1]), counts)
    pure = np.where(never, np.repeat(1.0 / counts, counts), pure)
    if isinstance(strategy, HashStrategy):
        return HashStrategy(strategy.game, strategy.keys, strategy.counts, pure)
    return Strategy(strategy.game, pure)
