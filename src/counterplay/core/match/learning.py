"""Matches of players that learn, in games with a tree.

A player that learns (`core/games/players.py`) is asked for its strategy before every hand and told
how the hand ended. All hands are one session, each deal is played once, and the seats alternate;
where a player has one seat only, it plays every hand there. Since both strategies are known in
every hand, the luck-adjusted payoff of a hand is its expected payoff.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.access import new_chance
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import learns, players_of
from counterplay.core.kernels.jit import index
from counterplay.core.match.kernels import Blocks, new_workspace, play_policy_blocks, tally
from counterplay.core.match.luck_adjustment import tree_values
from counterplay.core.match.play import (
    BlockResult,
    Match,
    MatchOptions,
    MatchSchedule,
    common_seat,
    is_adjusted,
)
from counterplay.core.match.result import Adjusted, WithInterval, estimate
from counterplay.core.parallel.jobs import Stop
from counterplay.core.responses.standing import Standing

SESSION = 1_000  # hands between two reports


@dataclass(frozen=True, repr=False)
class AdaptiveBlock(WithInterval):
    """The result of one block of hands, and the state of the player after it."""

    hands: int  # played so far, this block included
    won: float  # per hand in this block
    mean: float  # per hand so far
    standard_error: float  # of the mean
    adjusted: Adjusted | None  # luck-adjusted mean so far, if requested
    standing: Standing
    strategy: Strategy = field(repr=False)  # of the last hand
    iterations: int  # of the learnt response so far, both seats
    degrees: float = math.inf  # of freedom of the standard error
    unit: str = "per game"  # of what is won

    def __repr__(self) -> str:
        adjusted = "" if self.adjusted is None else f", {self.adjusted}"
        return (
            f"AdaptiveBlock({self.hands:,} hands, {self.text}{adjusted}, last block "
            f"{self.won:+.4f} {self.unit}; plays {self.standing.plays})"
        )


class LearningReferee:
    """Plays hands one by one, and tells the players how they ended."""

    def __init__(self, game: Game, a: Any, b: Any, seed: int, adjusted: bool = True) -> None:
        self.game, self.players, self.adjusted = game, (a, b), adjusted
        self.seat = common_seat(a.player, b.player)
        self._seed, self._hands = int(seed), 0
        self._workspace, self._chance = new_workspace([(0, 1)]), new_chance(game.form)
        self._policies: list[Any] = [None, None]
        self._value = {0: math.nan, 1: math.nan}
        self._valued: dict[int, tuple[Any, Any]] = {}
        for k, player in enumerate((a, b)):
            if learns(player):
                player.start(2 * self._seed + k)

    def play(self) -> tuple[int, float, float]:
        """Plays the next hand: the seat of `a`, its payoff and its luck-adjusted payoff."""
        k = self._hands
        seat = k % 2 if self.seat is None else self.seat
        policies = self._ask(0, seat), self._ask(1, 1 - seat)
        both = self.seat is not None
        one = np.ones(1, dtype=np.uint64)
        block = Blocks(index(self._seed), index(k), index(1), one, both, index(2))
        workspace = self._workspace
        played = policies[0].played, policies[1].played
        play_policy_blocks(self.game.form, self._chance, *played, block, workspace)
        won, end = float(workspace.won[0, seat]), int(workspace.ends[0, seat])
        value = self._expected(seat, policies) if self.adjusted else math.nan
        for player, its in zip(self.players, (seat, 1 - seat), strict=True):
            if learns(player):
                player.end_hand(its, end)
        self._hands += 1
        return seat, won, value

    def _ask(self, k: int, seat: int) -> Strategy:
        """The strategy of a player in the next hand."""
        player = self.players[k]
        if not learns(player):
            strategy: Strategy = player
            return strategy
        found = player.strategy_for(seat)
        check_same_game(self.game, found)
        if found.player not in (None, seat):
            raise BadStrategy(f"{_name(player)} has answered with a strategy of the other seat")
        return found  # type: ignore[no-any-return]

    def _expected(self, seat: int, policies: tuple[Strategy, Strategy]) -> float:
        """The expected payoff of `a`; the same as before while neither strategy changes."""
        known = self._valued.get(seat)
        if known is None or known[0] is not policies[0] or known[1] is not policies[1]:
            ordered = policies if seat == 0 else policies[::-1]
            stacked = np.stack([one.probabilities for one in ordered])
            self._value[seat] = float(tree_values(self.game, stacked, seat)[0])
            self._valued[seat] = policies
        return self._value[seat]


class LearningMatch(Match):
    """A match in which at least one player learns."""

    stateful = one_process = True

    def __init__(
        self, game: Game, a: Any, b: Any, options: MatchOptions, progress: ProgressCallback
    ) -> None:
        players = players_of(game)
        a, b = players.player(a, progress), players.player(b, progress)
        check_learning(game, a, b)
        super().__init__(game, a, b)
        if (options.log, options.observer, options.cards) != (None, None, None):
            raise BadParameter("hands are logged, and cards dealt, in hold'em only")
        seat = common_seat(a.player, b.player)
        self._adjusted = is_adjusted(options.luck_adjusted, True, options.hands, game.name)
        once: dict[str, Any] = {"duplicate": False, "seat": seat, "one_session": True}
        self.schedule = MatchSchedule(int(options.seed), options.hands, **once)

    def results(self, workers: int, stop: Stop) -> Generator[BlockResult, None, None]:
        referee = LearningReferee(self.game, *self.players, self.schedule.seed, self._adjusted)
        played = 0
        while played < self.schedule.deals and not stop():
            n = min(SESSION, self.schedule.deals - played)
            won, values = np.full((n, 2), np.nan), np.full((n, 2), np.nan)
            for k in range(n):
                if stop():
                    break
                seat, gained, value = referee.play()
                won[k, seat], values[k, seat] = gained, value
            adjusted = tally(values) if self._adjusted else None
            yield BlockResult(played // SESSION, n, tally(won), [], None, adjusted)
            played += n


def check_learning(game: Game, a: Any, b: Any) -> None:
    """Refuses players of other games, those that lack a part, and one object in both seats."""
    if a is b:
        raise BadStrategy("a player that learns cannot play itself; make a second one")
    for player in (a, b):
        if not learns(player):
            check_same_game(game, player)
            continue
        own, name = getattr(player, "game", None), _name(player)
        if not isinstance(own, Game):
            raise BadStrategy(f"{name}: a player that learns has an attribute game, its game")
        if getattr(player, "player", -1) not in (None, 0, 1):
            raise BadStrategy(f"{name}: its attribute player is its only seat, 0 or 1, or None")
        if not callable(getattr(player, "start", None)):
            raise BadStrategy(f"{name}: a player that learns has a method start(seed)")
        if own.fingerprint != game.fingerprint:
            raise BadStrategy(f"a player of {own.name} cannot play {game.name}")


def _name(player: Any) -> str:
    return str(getattr(player, "name", type(player).__name__))


def adaptive_blocks(
    player: Any, opponent: Any, hands: int, seed: int, every: int, stop: Stop
) -> Iterator[AdaptiveBlock]:
    """A match of an adaptive player with a method `standing()`, block by block, until `stop`."""
    game = player.game
    opponent = players_of(game).player(opponent)
    check_learning(game, player, opponent)
    referee = LearningReferee(game, player, opponent, seed)
    won, values = np.full((hands, 2), np.nan), np.full((hands, 2), np.nan)
    for k in range(hands):
        seat, won_now, value = referee.play()
        won[k, seat], values[k, seat] = won_now, value
        played = k + 1
        if played % every and played != hands and not stop():
            continue
        so_far, adjusted = (
            estimate([tally(array[:played])], seat=referee.seat) for array in (won, values)
        )
        if so_far is not None and adjusted is not None:
            last = won[(k // every) * every : played]
            yield AdaptiveBlock(
                played,
                float(np.nanmean(last)),
                so_far.mean,
                so_far.standard_error,
                Adjusted.of(adjusted, str(referee.game.unit)),
                player.standing(),
                player.strategy,
                0,
                so_far.degrees,
                str(referee.game.unit),
            )
        if stop():
            return
