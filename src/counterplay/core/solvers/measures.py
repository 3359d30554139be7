"""Exploitability and the value of a game.

Where a game cannot be enumerated, exploitability has a lower bound by play: best responses are
learnt, and their winnings estimated in sampled games. For each player a solver plays against the
fixed strategy of the other, who is chance to it (a restricted game with p = 1), from several seeds.
The response plays the most frequent action of what was learnt. The best seed is selected on
separate games; the bound is its mean over games that had no part in the selection, so it has no
selection bias. No best response wins less than the one learnt, so the sum over both players is a
lower bound on b1 + b2, up to the sampling error of these games, which the interval states.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, OutOfMemory, whole_number
from counterplay.core.evaluation import exact
from counterplay.core.evaluation.exact import best_response
from counterplay.core.forms.access import new_chance, play_games
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.infoset_table import PROBLEM
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.restricted import restricted_form
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import as_strategy
from counterplay.core.kernels.rng import check_seed, new_state
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.lp import LinearProgram
from counterplay.core.solvers.run import solve

#: Slots up to which `game_value` solves the linear program, which is exact.
EXACT_SLOTS = 5_000
#: For larger games: the exploitability of the equilibrium, as a share of the payoff range.
TOLERANCE = 1e-5
_values: dict[str, float] = {}  # by fingerprint

# of the lower bound
ALGORITHM = "mccfr"  # see docs/explanation/lower-bounds.md
SECONDS = 10.0  # for both players and all seeds together
SEEDS = 3
GAMES = 200_000  # of each player's response
SELECTION = 4  # the seed is selected on 1 / SELECTION as many games
CHUNK_SECONDS = 0.2
Z_95 = 1.96


def exploitability(game: Game | str, strategy: Any, method: str = "exact", **options: Any) -> float:
    """Returns ε = b_1(σ_2) + b_2(σ_1), the sum and not its half. In hold'em 500 times that is the
    usual mb/g. `strategy` is any player that is a table: a strategy or a `Mixture`, `uniform`, the
    path of a saved one, `file.py:Name`, in hold'em the name of a bot, ...

    With more players, or a game that is not zero-sum: the sum over players of what each can gain by
    deviating.

    `method="play"`: a lower bound from best responses that are learnt and played out, for any
    two-player zero-sum game; the only method for a game without a tree. Its options are `seconds`
    (of learning in all, 10) or `iterations` (of each response), `algorithm` ("mccfr", "mcts",
    "mccfr-external"), `seeds` (3), `games` (200,000 for each player), `seed`, and those of the
    algorithm; the result has `error`, half its 95% interval, and prints as a bound.
    """
    if method == "exact":
        return exact.exploitability(game, strategy, **options)
    if method != "play":
        raise BadParameter(f"method is 'exact' or 'play', not {method!r}")
    game = as_game(game, strategy)
    return lower_bound(game, as_strategy(game, strategy), **options)


def game_value(game: Game | str) -> float:
    """Returns player 1's value in a two-player zero-sum game; exact for small games, otherwise to
    1e-5 of the payoff range."""
    game = as_game(game)
    if game.fingerprint not in _values:
        if game.n_slots <= EXACT_SLOTS:
            solver = new_solver(game, "lp", 0, {})
            assert isinstance(solver, LinearProgram)
            solver.step(1)
            value = float(solver.values[0])
        else:
            payoffs = game.tree.payoff
            target = TOLERANCE * float(payoffs.max() - payoffs.min())
            profile = solve(game, "dcfr", target=target).strategy
            most, least = (best_response(game, profile, player).value for player in (0, 1))
            value = (most - least) / 2.0
        _values[game.fingerprint] = value
    return _values[game.fingerprint]


class LowerBound(float):
    """A lower bound on exploitability. `error`: half its 95% interval; `best`: the winnings of each
    player's learnt response, and half their interval."""

    error: float
    best: tuple[tuple[float, float], ...]
    algorithm: str
    iterations: int  # of the longest run
    seconds: float  # of learning
    games: int

    def __new__(cls, value: float, **facts: Any) -> LowerBound:
        bound = super().__new__(cls, value)
        for name, fact in facts.items():
            setattr(bound, name, fact)
        return bound

    def __repr__(self) -> str:
        return (
            f"at least {float(self):.4g} ± {self.error:.2g} (a lower bound: best responses learnt "
            f"by {self.algorithm}, {self.games:,} games each, 95%)"
        )

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (float(self), dict(vars(self)))


def _restored(value: float, facts: dict[str, Any]) -> LowerBound:
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
    """Returns a lower bound on b1 + b2 of `strategy`. `seconds`: of learning, for all seeds and
    both
    players together (default 10); `iterations`: of each seed and player."""
    check_seed(seed)
    _check(game, strategy, seconds, iterations, seeds, games)
    if seconds is None and iterations is None:
        seconds = SECONDS
    share = None if seconds is None else seconds / (2 * seeds)
    best, spent, most = [], 0.0, 0
    for player in (0, 1):
        candidates = []
        for k in range(seeds):
            learnt, used, done = _learn(
                game, strategy, player, algorithm, int(seed) + k, share, iterations, options
            )
            spent, most = spent + used, max(most, done)
            stream = 8 * k + player
            mean, _ = _winnings(game, strategy, learnt, player, games // SELECTION, seed, stream)
            candidates.append((mean, learnt))
        selected = max(candidates, key=lambda pair: pair[0])[1]
        best.append(_winnings(game, strategy, selected, player, games, seed, 8 * seeds + player))
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
    game: Game, strategy: Strategy, seconds: Any, iterations: Any, seeds: Any, games: Any
) -> None:
    if game.n_players != 2 or not game.zero_sum:
        raise BadParameter(
            f"a lower bound by play is for two-player zero-sum games, and {game.name} is none"
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
    """Returns a learnt response of `player` to the other's strategy, its seconds and iterations."""
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
        except OutOfMemory:  # the response learnt so far will do
            break
        took = time.perf_counter() - before
        used += took
        if took < CHUNK_SECONDS / 2:
            chunk *= 2
    return most_frequent(solver.strategy()), used, solver.iterations


def most_frequent(strategy: Strategy) -> Strategy:
    """Returns the pure strategy of the most probable actions, the first of equal ones; uniform
    where
    all are equal, since nothing was learnt there."""
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
    pure = np.where(never, np.repeat(1.0 / counts, counts), pure)
    if discovered:
        assert isinstance(strategy, HashStrategy)
        return HashStrategy(strategy.game, strategy.keys, strategy.counts, pure)
    return Strategy(strategy.game, pure)


def _winnings(
    game: Game, strategy: Strategy, learnt: Strategy, player: int, n: int, seed: int, stream: int
) -> tuple[float, float]:
    """Returns the mean winnings per game of `learnt` as `player`, and half their 95% interval."""
    pair = (learnt, strategy) if player == 0 else (strategy, learnt)
    sums = np.zeros(2)
    one, two = (profile.played for profile in pair)
    chance = new_chance(game.form)
    play_games(game.form, chance, one, two, new_state(seed, 1 + stream), n, sums)
    if game.discovers_infosets:
        game.check_rules(int(chance.size[PROBLEM]))
    mean = sums[0] / n
    half = Z_95 * math.sqrt(max(sums[1] / n - mean**2, 0.0) / (n - 1))
    return float(mean if player == 0 else -mean), float(half)
