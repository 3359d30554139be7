"""`play_match`: two players on the same deals, duplicate by default.

A duplicate plays each deal twice with the seats swapped, which removes most of the variance of
chance. Deals come in blocks; players with state restart at each block, so that the result does not
depend on the number of cores.

`StrategyMatch` plays strategies of any two-player game. Rules with a method `match_runner()`, such
as hold'em's, name the `Match` that plays them instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, Interrupted, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.forms.access import new_chance
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.infoset_table import PROBLEM
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import learns, players_of
from counterplay.core.kernels.jit import clock, index
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.kernels import Blocks, Tally, new_workspace, play_policy_blocks, tally
from counterplay.core.match.luck_adjustment import PlayedDeals, TreeLuckAdjustment
from counterplay.core.match.result import Adjusted, MatchResult, estimate
from counterplay.core.match.several import play_several
from counterplay.core.parallel.jobs import Stop, in_threads, stop_signals
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import Cluster, current

MOST_HANDS = 10**9
DEFAULT_HANDS = 100_000
#: Deals of a block. Blocks of one seed can be played in any order.
BLOCK = 5_000
MOST_BLOCKS = 16  # per kernel call
_CALLS_PER_THREAD = 4  # at least
_QUEUE_PER_THREAD = 4  # kernel calls
#: Hands of matches that are luck-adjusted by default: in hold'em it takes a second to set up, and
#: some 20 µs a hand.
LEAST_ADJUSTED, MOST_ADJUSTED = 1_000, 1_000_000

Block = tuple[int, int]  # number, deals
BlockRange = list[Block]  # consecutive blocks, played in one call
PlayBlocks = Callable[[BlockRange], list["BlockResult"]]


@dataclass(frozen=True)
class MatchOptions:
    """The arguments of `play_match` that a `Match` checks."""

    hands: int = DEFAULT_HANDS
    seed: int = 0
    duplicate: bool = True
    cards: np.ndarray | None = None
    log: str | Path | None = None
    observer: str | None = None
    luck_adjusted: bool | None = None


class BlockResult(NamedTuple):
    """The outcome of one block."""

    number: int
    deals: int
    tally: Tally
    hands: list[Any]  # for the log; empty without one
    raw: PlayedDeals | None = None  # for the luck adjustment
    adjusted: Tally | None = None  # luck-adjusted


@dataclass(frozen=True)
class MatchSchedule:
    """The deals of a match, and what is recorded of them."""

    seed: int
    deals: int
    duplicate: bool
    keep_hands: bool = False  # for a log
    seat: int | None = None  # the only seat of `a` that counts
    luck_adjusted: bool = False
    one_session: bool = False  # all deals are one block, in which players keep their state

    @classmethod
    def of(cls, options: MatchOptions, hands: int, seat: int | None) -> MatchSchedule:
        """The schedule of a match; a response for one seat plays every deal in that seat."""
        both = options.duplicate and seat is None
        deals = -(-hands // 2) if both else hands
        keep_hands, given = options.log is not None, options.cards is not None
        duplicate = options.duplicate or seat is not None
        return cls(int(options.seed), deals, duplicate, keep_hands, seat, one_session=given)

    @property
    def all_blocks(self) -> BlockRange:
        """The blocks of the match."""
        return [(0, self.deals)] if self.one_session else blocks(self.deals)

    @property
    def single_blocks(self) -> bool:
        """Whether every block is played by itself, because its hands are used afterwards."""
        return self.keep_hands or self.luck_adjusted

    def blocks(self, block_range: BlockRange) -> Blocks:
        """Consecutive blocks for the kernels."""
        deals = np.array([n for _, n in block_range], dtype=np.uint64)
        idle = 2 if self.seat is None else 1 - self.seat
        seed = check_seed(self.seed)
        return Blocks(
            seed, index(block_range[0][0]), index(BLOCK), deals, self.duplicate, index(idle)
        )


def blocks(deals: int, size: int = BLOCK) -> list[Block]:
    """The blocks of `deals` deals."""
    return [(k, min(size, deals - k * size)) for k in range(-(-deals // size))]


def block_ranges(work: list[Block], threads: int, most: int) -> list[BlockRange]:
    """Blocks split into ranges of at most `most`, enough of them for all threads."""
    return _split(work, max(1, min(most, len(work) // (_CALLS_PER_THREAD * threads))))


def _split(work: list[Block], size: int) -> list[BlockRange]:
    return [work[k : k + size] for k in range(0, len(work), size)]


class Match:
    """A match of one game; the constructor checks the players and options of `play_match`."""

    names = ("a", "b")
    stateful = False  # whether players may keep state within a block
    one_process = False  # whether all hands are played here, by the players themselves
    adjuster: Any = None  # has a method `adjusted(PlayedDeals)`; None: no luck adjustment
    schedule: MatchSchedule

    def __init__(self, game: Game, a: Any, b: Any) -> None:
        self.game, self.players = game, (a, b)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayBlocks:
        """A function that plays blocks, in this process or another."""
        raise NotImplementedError

    def results(self, workers: int, stop: Stop) -> Generator[BlockResult, None, None]:
        """The results of all blocks, in order."""
        play = self.runner(self.game, *self.players, self.schedule)
        most = 1 if self.schedule.single_blocks else MOST_BLOCKS
        ranges = block_ranges(self.schedule.all_blocks, workers, most)
        for results in in_threads(play, ranges, workers, _QUEUE_PER_THREAD * workers, stop):
            yield from results

    def write_log(self, hands: list[Any]) -> None:
        """Writes the hands to the log, if there is one."""


def play_match(
    game: Game | str,
    a: Any,
    b: Any,
    hands: int = DEFAULT_HANDS,
    seed: int = 0,
    *,
    cards: np.ndarray | None = None,
    duplicate: bool = True,
    log: str | Path | None = None,
    observer: str | None = None,
    progress: ProgressCallback = no_progress,
    processes: int | None = None,
    luck_adjusted: bool | None = None,
    others: Sequence[Any] = (),
) -> MatchResult:
    """The payoff of `a` against `b` per hand, with its standard error.

    A player is a strategy, in hold'em with any card abstraction, the path of a saved one, the word
    `uniform`, `file.py:Name`, in hold'em the name of a bot, the path of a model, or an object with
    a method `act(view)`; in a game with a tree one that learns (`SafePlayer`, `Adaptive`), which
    plays every deal once, all in one session. `log`: the file for the hands (.parquet, .phhs, or
    .log for ACPC), as `observer` ("a" or "b") saw them, or with all cards. Ctrl-C raises a
    `KeyboardInterrupt` whose `result` is that of the hands played so far (None if there are none),
    after these are logged. A response for one seat plays in that seat only. `processes`: the number
    of threads for tables, or of processes for bots; by default the number of cores.

    `cards` (uint8[deals, 9]: player 1's two, player 2's two, the board), in hold'em, are dealt
    instead of the seed's, all of them in one session; leave out `hands`. `acpc_cards` gives those
    of the competition.

    `luck_adjusted`: also estimate the payoff without the luck of the cards and of the actions of
    players with a known strategy (AIVAT): `result.adjusted`, with the same mean and less variance.
    By default in matches of 1,000 to 1,000,000 hands where both seats are played.

    `others`: the third player and so on, of a game of more than two. Every deal is then played in
    each rotation of the seats, and `result.each` has what every player won.
    """
    if cards is None:
        check_hands(hands)
    if processes is not None:
        whole_number(processes, 1, None, "processes")
    check_seed(seed)
    if luck_adjusted is not None and not isinstance(luck_adjusted, bool):
        raise BadParameter(f"luck_adjusted is True, False or None, not {luck_adjusted!r}")
    options = MatchOptions(hands, seed, duplicate, cards, log, observer, luck_adjusted)
    game = as_game(game, a)
    if others or game.n_players > 2:
        if luck_adjusted or (log, observer, cards) != (None, None, None):
            raise BadParameter(
                "log, observer and cards are for hold'em, and luck is taken out of matches of two"
            )
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise BadParameter(f"others is a list of players, not {others!r}")
        with progress_bar(progress) as progress:
            players, threads = (a, b, *others), processes or cores()
            return play_several(game, players, hands, seed, duplicate, progress, threads)
    a, b, kind = _kind_of_match(game, a, b)
    cluster = current() if processes is None and cards is None and not kind.one_process else None
    with progress_bar(progress) as progress, stop_signals() as stop:
        match: Match = kind(game, a, b, options, progress)
        before = clock()
        if cluster is None:
            stream = match.results(processes or cores(), stop)
        else:
            stream = _cluster_results(cluster, match, stop)
        results = _collect(stream, match, stop, progress)
    seconds = clock() - before
    match.write_log([hand for result in results for hand in result.hands])
    summary = _summary(game.name, match, results, seconds, stop())
    if stop():
        raise Interrupted(summary)
    assert summary is not None
    return summary


def _kind_of_match(game: Game, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The players, and the class of their match: the one that the rules name, by default that of
    strategies, or of players that learn."""
    runner = getattr(game.rules, "match_runner", None)
    if runner is not None:
        return a, b, runner()
    players = players_of(game)
    a, b = players.player(a), players.player(b)
    if learns(a) or learns(b):
        from counterplay.core.match.learning import LearningMatch

        return a, b, LearningMatch
    return a, b, StrategyMatch


def check_hands(hands: int) -> None:
    whole_number(hands, 2, MOST_HANDS, "hands")


def _cluster_results(
    cluster: Cluster, match: Match, stop: Stop
) -> Generator[BlockResult, None, None]:
    """The results of all blocks, in order, played by a cluster."""
    size = 1 if match.stateful or match.schedule.keep_hands else MOST_BLOCKS
    ranges = _split(match.schedule.all_blocks, size)
    shared = (type(match), match.game, match.players, match.schedule)
    for results in cluster.spread(operator.call, ranges, shared, _prepare_remote):
        if stop():
            return
        yield from results


def _prepare_remote(shared: tuple[type[Match], Game, Any, MatchSchedule]) -> PlayBlocks:
    """The function that plays blocks, in a process of the cluster."""
    kind, game, players, schedule = shared
    a, b = map(_writable_copy, players)
    return kind.runner(game, a, b, schedule)


def _writable_copy(player: Any) -> Any:
    """A player with writable arrays; a cluster sends read-only ones, another type to kernels."""
    if isinstance(player, HashStrategy):
        copied = HashStrategy(player.game, player.keys, player.counts, player.probabilities)
        return copied.for_player(player.player)
    if isinstance(player, Strategy):
        return Strategy(player.game, player.probabilities.copy()).for_player(player.player)
    return player


def _collect(
    stream: Generator[BlockResult, None, None], match: Match, stop: Stop, progress: ProgressCallback
) -> list[BlockResult]:
    """The blocks in order, luck-adjusted; after a stop, those that were played."""
    results: list[BlockResult] = []
    schedule, done = match.schedule, 0
    told: list[Any] = [0.0, "0 hands"]
    if match.stateful:  # a block of bots may take minutes
        stop.look(lambda: progress(*told))
    try:
        with closing(stream):
            for result in stream:
                if match.adjuster is not None and result.raw is not None:
                    adjusted = tally(match.adjuster.adjusted(result.raw))
                    result = result._replace(raw=None, adjusted=adjusted)
                results.append(result)
                done += result.deals
                twice = 2 if schedule.duplicate and schedule.seat is None else 1
                told[:] = done / schedule.deals, f"{done * twice:,} hands"
                progress(*told)
    except KeyboardInterrupt:  # a second one, or not from a signal
        stop.ask()
    return sorted(results, key=lambda result: result.number)


def _summary(
    game: str, match: Match, results: list[BlockResult], seconds: float, stopped: bool
) -> MatchResult | None:
    schedule = match.schedule
    whole = estimate([result.tally for result in results], match.stateful, schedule.seat)
    if whole is None:
        return None
    tallies = [result.adjusted for result in results if result.adjusted is not None]
    adjusted = estimate(tallies, match.stateful, schedule.seat) if tallies else None
    return MatchResult.of(
        game,
        match.names,
        whole,
        schedule.seed,
        seconds=seconds,
        stopped=stopped,
        seat=schedule.seat,
        adjusted=None if adjusted is None else Adjusted.of(adjusted, str(match.game.unit)),
        unit=str(match.game.unit),
    )


def common_seat(a: int | None, b: int | None) -> int | None:
    """The only seat of `a` in a match of responses for these seats; None: both seats."""
    if a is not None and a == b:
        raise BadStrategy(f"both are responses for player {a + 1}'s seat only, so they cannot meet")
    if a is not None:
        return a
    return None if b is None else 1 - b


def is_adjusted(requested: bool | None, applies: bool, hands: int, game: str) -> bool:
    """Whether a match is luck-adjusted; `applies`: whether it can be."""
    if requested and not applies:
        raise BadParameter(
            f"luck is taken out of matches in both seats, of hold'em with the usual betting and of "
            f"games with a tree; this one of {game} is another"
        )
    return applies and (
        LEAST_ADJUSTED <= hands <= MOST_ADJUSTED if requested is None else requested
    )


class StrategyMatch(Match):
    """Two strategies of any two-player game, on its form."""

    def __init__(
        self, game: Game, a: Any, b: Any, options: MatchOptions, progress: ProgressCallback
    ) -> None:
        players = players_of(game)
        a, b = players.player(a, progress), players.player(b, progress)
        super().__init__(game, a, b)
        if options.log is not None or options.observer is not None:
            raise BadParameter("only hands of hold'em can be logged")
        if options.cards is not None:
            raise BadParameter(f"cards are dealt in hold'em, not in {game.name}")
        if game.n_players != 2:
            raise BadParameter(f"a match needs two players, and {game.name} has {game.n_players}")
        for player in (a, b):
            check_same_game(game, player)
        seat = common_seat(a.player, b.player)
        schedule = MatchSchedule.of(options, options.hands, seat)
        applies = seat is None and game.capabilities.listed
        if is_adjusted(options.luck_adjusted, applies, options.hands, game.name):
            self.adjuster = TreeLuckAdjustment(game, a, b)
        self.schedule = replace(schedule, luck_adjusted=self.adjuster is not None)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayBlocks:
        return partial(_play_policies, game, (a.played, b.played), schedule)


def _play_policies(
    game: Game, policies: tuple[Any, Any], schedule: MatchSchedule, block_range: BlockRange
) -> list[BlockResult]:
    """Plays consecutive blocks; only one where the match is luck-adjusted."""
    workspace, chance = new_workspace(block_range), new_chance(game.form)
    play_policy_blocks(game.form, chance, *policies, schedule.blocks(block_range), workspace)
    if game.discovers_infosets:
        game.check_rules(int(chance.size[PROBLEM]))
    results = block_results(block_range, workspace.tallies)
    if schedule.luck_adjusted:
        raw = PlayedDeals(None, workspace.won, workspace.ends)
        return [results[0]._replace(raw=raw)]
    return results


def block_results(block_range: BlockRange, tallies: np.ndarray) -> list[BlockResult]:
    """The results of consecutive blocks."""
    return [
        BlockResult(number, n, Tally(*rows), [])
        for (number, n), rows in zip(block_range, tallies, strict=True)
    ]
