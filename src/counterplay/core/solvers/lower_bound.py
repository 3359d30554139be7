"""A lower bound on exploitability where nothing can be enumerated: best responses are learnt, and
what they win is played out.

For each player a solver plays against the fixed strategy of the other, who is chance to it (a
restricted game with p = 1), from several seeds. Of what it learnt the most frequent action is kept.
The best seed is chosen on games of its own; the bound is its mean in games that played no part in
the choice, so nobody's luck is chosen. No best response wins less than the one found: the sum over
both players is a lower bound on b1 + b2, but for the luck of those games, which the interval tells.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, OutOfMemory, whole_number
from counterplay.core.forms.access import new_hand, play_games
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.restricted import restricted_form
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.rng import check_seed, new_state
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.problem import Problem

ALGORITHM = "mccfr"  # see docs/explanation/lower-bounds.md
SECONDS = 10.0  # for both players and all seeds together
SEEDS = 3
GAMES = 200_000  # of each player's best response
CHOICE = 4  # a seed is chosen by so many times fewer
CHUNK_SECONDS = 0.2
WIDE = 1.96


class LowerBound(float):
    """At least how exploitable a strategy is, as play has shown. `error`: half the 95% interval of
    the games played; `best`: what each player's learnt response won, and its half interval."""

    error: float
    best: tuple[tuple[float, float], ...]
    algorithm: str
    iterations: int  # of the longest run
    seconds: float  # of learning
    games: int

    def __new__(cls, value: float, **facts: Any) -> LowerBound:
        made = super().__new__(cls, value)
        for name, fact in facts.items():
            setattr(made, name, fact)
        return made

    def __repr__(self) -> str:
        return (
            f"at least {float(self):.4g} ± {self.error:.2g} (a lower bound: best responses learnt "
            f"by {self.algorithm}, {self.games:,} games each, 95%)"
        )

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (float(self), dict(vars(self)))


def _again(value: float, facts: dict[str, Any]) -> LowerBound:
    return LowerBound(value, **facts)


def lower_bound(
    game: Game,
    strategy: Strategy,
    *,
    algorithm: str = ALGORITHM,
    seconds: float | None = None,
    iterations: int | None = None,
    seeds: int = SEEDS,
    games: int = GAMES,
    seed: int = 0,
    **options: Any,
) -> LowerBound:
    """b1 + b2 of `strategy` from below. `seconds` are those of learning, of all seeds and both
    players together (10 where nothing is said); `iterations` are those of each seed and player."""
    _check(game, strategy, seconds, iterations, seeds, games, check_seed(seed))
    if seconds is None and iterations is None:
        seconds = SECONDS
    share = None if seconds is None else seconds / (2 * seeds)
    best, spent, most = [], 0.0, 0
    for player in (0, 1):
        found = []
        for k in range(seeds):
            learnt, used, done = _learn(
                game, strategy, player, algorithm, int(seed) + k, share, iterations, options
            )
            spent, most = spent + used, max(most, done)
            stream = 8 * k + player
            mean, _ = _won(game, strategy, learnt, player, games // CHOICE, seed, stream)
            found.append((mean, learnt))
        chosen = max(found, key=lambda pair: pair[0])[1]
        best.append(_won(game, strategy, chosen, player, games, seed, 8 * seeds + player))
    return LowerBound(
        sum(mean for mean, _ in best),
        error=math.hypot(*(half for _, half in best)),
        best=tuple(best),
        algorithm=algorithm,
        iterations=most,
        seconds=spent,
        games=games,
    )


def _check(
    game: Game, strategy: Strategy, seconds: Any, iterations: Any, seeds: Any, games: Any, _: int
) -> None:
    if game.n_players != 2 or not game.zero_sum:
        raise BadParameter(
            f"a lower bound by play is for two players and zero-sum games, and {game.name} is none"
        )
    if strategy.player is not None:
        raise BadParameter("a response for one seat has no exploitability as a profile")
    least = {"seeds": (seeds, 1), "games": (games, 1000)}
    if iterations is not None:
        least["iterations"] = (iterations, 1)
    for name, (value, low) in least.items():
        whole_number(value, low, None, name)
    if seconds is not None and (not isinstance(seconds, int | float) or not seconds > 0):
        raise BadParameter(f"seconds must be above 0, not {seconds!r}")


def _learn(
    game: Game,
    strategy: Strategy,
    player: int,
    algorithm: str,
    seed: int,
    seconds: float | None,
    iterations: int | None,
    options: dict[str, Any],
) -> tuple[Strategy, float, int]:
    """A response of `player` to the other's strategy: what it does, seconds and iterations."""
    form = restricted_form(game.form, strategy.played, 1 - player, 1.0)
    solver = new_solver(game, algorithm, seed, options, Problem(game, form))
    solver.step(0)
    chunk, used = 100, 0.0
    while (iterations is None or solver.iterations < iterations) and (
        seconds is None or used < seconds
    ):
        n = chunk if iterations is None else min(chunk, iterations - solver.iterations)
        before = time.perf_counter()
        try:
            solver.step(n)
        except OutOfMemory:  # what was learnt so far is a response too
            break
        took = time.perf_counter() - before
        used += took
        if took < CHUNK_SECONDS / 2:
            chunk *= 2
    return most_frequent(solver.strategy()), used, solver.iterations


def most_frequent(strategy: Strategy) -> Strategy:
    """The action that a strategy plays most, at every information set; the first of several."""
    discovered = isinstance(strategy, HashStrategy)
    first = strategy.first if isinstance(strategy, HashStrategy) else strategy.game.form.first
    shares, counts = strategy.probabilities, np.diff(first)
    if not len(counts):
        return strategy
    top = np.repeat(np.maximum.reduceat(shares, first[:-1]), counts) == shares
    flat = np.repeat(np.minimum.reduceat(shares, first[:-1]), counts) == shares
    earlier = np.cumsum(top) - np.repeat(np.cumsum(top)[first[:-1]] - top[first[:-1]], counts)
    pure = np.where(top & (earlier == 1), 1.0, 0.0)
    never = np.repeat(np.logical_and.reduceat(top & flat, first[:-1]), counts)
    pure = np.where(never, np.repeat(1.0 / counts, counts), pure)  # all alike: nothing was learnt
    if discovered:
        assert isinstance(strategy, HashStrategy)
        return HashStrategy(strategy.game, strategy.keys, strategy.counts, pure)
    return Strategy(strategy.game, pure)


def _won(
    game: Game, strategy: Strategy, learnt: Strategy, player: int, n: int, seed: int, stream: int
) -> tuple[float, float]:
    """What `learnt` wins in a seat per game, and half its 95% interval."""
    pair = (learnt, strategy) if player == 0 else (strategy, learnt)
    sums = np.zeros(2)
    one, two = (profile.played for profile in pair)
    play_games(game.form, new_hand(game.form), one, two, new_state(seed, 1 + stream), n, sums)
    mean = sums[0] / n
    half = WIDE * math.sqrt(max(sums[1] / n - mean**2, 0.0) / (n - 1))
    return float(mean if player == 0 else -mean), float(half)
