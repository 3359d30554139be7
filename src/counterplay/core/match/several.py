"""Matches of three players and more, on the form of their game.

A sample is one deal in which the players sit in every rotation of the seats, from the same random
numbers; without duplicates, as many deals as there are players, each in another rotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, Interrupted
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.access import (
    child,
    new_chance,
    player_at,
    policy_at,
    sample_policy,
    start,
    utility,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.infoset_table import PROBLEM
from counterplay.core.forms.strategy import check_same_game
from counterplay.core.games.players import players_of
from counterplay.core.kernels.jit import clock, index, jit
from counterplay.core.kernels.rng import check_seed, uniform
from counterplay.core.match.kernels import deal_state
from counterplay.core.match.result import MatchResult, PlayerMean
from counterplay.core.match.sequences import LEAST
from counterplay.core.parallel.jobs import in_threads, stop_signals

BLOCK = 2_000  # samples of one call
QUEUE_PER_THREAD = 4  # calls


class Samples(NamedTuple):
    """Consecutive samples of a match, from number `first` on."""

    seed: int
    first: int
    duplicate: bool


@jit
def play_samples(
    form: Any, chance: Any, policies: Any, samples: Samples, rng: np.ndarray, won: np.ndarray
) -> None:
    """Fills `won` (float64[n, players, seats]) with the payoff of each player in each seat."""
    players = index(len(policies))
    for k in range(index(len(won))):
        for turn in range(players):
            sample = samples.first + k
            deal_state(samples.seed, sample if samples.duplicate else sample * players + turn, rng)
            node = start(form, chance, rng)
            seat = player_at(form, chance, node)
            while seat >= 0:
                policy = policies[(index(seat) + players - turn) % players]
                _, first, count = policy_at(form, chance, policy, node)
                action = sample_policy(form, policy, first, count, uniform(rng))
                node = child(form, chance, node, action, rng)
                seat = player_at(form, chance, node)
            for player in range(players):
                place = (player + turn) % players
                won[k, player, place] = utility(form, chance, node, place)


def several_players(
    game: Game, given: Iterable[Any], progress: ProgressCallback
) -> tuple[Any, ...]:
    """The strategies of the players, one for each seat of the game."""
    players = players_of(game)
    strategies = tuple(players.player(player, progress) for player in given)
    if len(strategies) != game.n_players:
        raise BadParameter(
            f"{game.name} is played by {game.n_players}, and {len(strategies)} players are given"
        )
    for strategy in strategies:
        check_same_game(game, strategy)
        if strategy.player is not None:
            raise BadStrategy("a response for one seat plays matches of two players only")
    return strategies


def play_block(game: Game, strategies: tuple[Any, ...], samples: Samples, n: int) -> np.ndarray:
    """float64[n, players, seats]: the payoffs of n samples."""
    won, chance = np.empty((n, game.n_players, game.n_players)), new_chance(game.form)
    samples = samples._replace(seed=check_seed(samples.seed), first=index(samples.first))
    policies = tuple(strategy.played for strategy in strategies)
    play_samples(game.form, chance, policies, samples, np.empty(4, dtype=np.uint64), won)
    if game.discovers_infosets:
        game.check_rules(int(chance.size[PROBLEM]))
    return won


class SampleSums:
    """Means and variances of the players' payoffs, over all samples so far."""

    def __init__(self, players: int) -> None:
        self.count = 0
        self._mean, self._squares = np.zeros(players), np.zeros(players)
        self._by_seat = np.zeros((players, players))

    def add(self, won: np.ndarray) -> None:
        """Adds samples (Chan et al. 1979)."""
        per_sample, n = won.mean(axis=2), len(won)
        mean = per_sample.mean(axis=0)
        difference, total = mean - self._mean, self.count + n
        self._squares += ((per_sample - mean) ** 2).sum(axis=0)
        self._squares += difference**2 * self.count * n / total
        self._mean += difference * n / total
        self._by_seat += won.sum(axis=0)
        self.count = total

    def result(self, game: str, seed: int, duplicate: bool, **more: Any) -> MatchResult:
        players = len(self._mean)
        errors = np.full(players, np.nan)
        if self.count > 1:
            errors = np.sqrt(self._squares / (self.count - 1) / self.count)
        if self.count < LEAST:  # of few equal deals the spread says nothing
            errors[errors == 0.0] = np.nan
        seats = self._by_seat / self.count
        each = [
            PlayerMean(name, float(mean), float(error), tuple(row))
            for name, mean, error, row in zip(
                "abcdefghij", self._mean, errors, seats.tolist(), strict=False
            )
        ]
        first, second = each[:2]
        return MatchResult(
            game, first.name, second.name, self.count * players, duplicate, first.mean,
            first.standard_error, first.by_seat, seed, degrees=self.count - 1, each=tuple(each),
            **more,
        )  # fmt: skip


def play_several(
    game: Game,
    given: tuple[Any, ...],
    hands: int,
    seed: int,
    duplicate: bool,
    progress: ProgressCallback,
    threads: int,
) -> MatchResult:
    """A match of more than two players; see `play_match`."""
    strategies = several_players(game, given, progress)
    players = len(strategies)
    total, sums, before = -(-hands // players), SampleSums(players), clock()

    def play(first: int) -> np.ndarray:
        n = min(BLOCK, total - first)
        return play_block(game, strategies, Samples(seed, first, duplicate), n)

    with stop_signals() as stop:
        work = list(range(0, total, BLOCK))
        for won in in_threads(play, work, threads, QUEUE_PER_THREAD * threads, stop):
            sums.add(won)
            progress(sums.count / total, f"{sums.count * players:,} hands")
    seconds = clock() - before
    if sums.count == 0:
        raise Interrupted(None)
    more = {"seconds": seconds, "stopped": stop(), "unit": str(game.unit)}
    result = sums.result(game.name, seed, duplicate, **more)
    if stop():
        raise Interrupted(result)
    return result
