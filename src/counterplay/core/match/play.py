"""`play_match`: two players on the same deals, duplicate by default.

A duplicate plays each deal twice with the seats swapped, which takes most of the luck of chance
out of the mean. Deals come in blocks; players with a memory start each block afresh, so the result
does not depend on how many cores play.

Any two-player game is played by its strategies (`StrategyMatch`). Rules that have a method
`match_runner()` are played by the `Match` that it names instead, as hold'em is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, Interrupted, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms.access import new_hand
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import players_of
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.kernels import Blocks, new_workspace, play_policy_blocks
from counterplay.core.match.luck_adjustment import PlayedDeals, TreeLuckAdjustment
from counterplay.core.match.result import Adjusted, MatchResult, estimate
from counterplay.core.match.tally import Tally, tally
from counterplay.core.parallel.jobs import Stop, stop_signals
from counterplay.core.parallel.processes import cores, in_threads
from counterplay.core.parallel.ray_cluster import Cluster, current

MOST_HANDS = 10**9
USUAL_HANDS = 100_000
#: Deals of one seed come in blocks, so that blocks can be played in any order.
BLOCK = 5_000
MOST_BLOCKS = 16  # in a run: all that Python does is done once for so many
_SHARES = 4  # runs of each thread, at least
_WAITING = 4  # runs per thread
#: Matches that are luck-adjusted unless somebody says otherwise: in hold'em it takes a second to
#: begin with, and some 20 µs a hand.
FROM_HANDS, TO_HANDS = 1_000, 1_000_000


Block = tuple[int, int]  # number, deals
Run = list[Block]  # blocks that follow each other, played in one go
PlayRun = Callable[[Run], list["BlockResult"]]


@dataclass(frozen=True)
class MatchOptions:
    """What the caller of `play_match` asked for."""

    hands: int = USUAL_HANDS
    seed: int = 0
    duplicate: bool = True
    cards: np.ndarray | None = None
    log: str | Path | None = None
    observer: str | None = None
    luck_adjusted: bool | None = None


class BlockResult(NamedTuple):
    """What was played of one block."""

    number: int
    deals: int
    tally: Tally
    hands: list[Any]  # as a log takes them; empty unless they are kept
    raw: PlayedDeals | None = None  # where luck is to be taken out
    adjusted: Tally | None = None  # with the luck taken out


@dataclass(frozen=True)
class MatchSchedule:
    """Which deals are played, and whether their hands are kept for a log."""

    seed: int
    deals: int
    duplicate: bool
    keeping: bool = False
    seat: int | None = None  # the only one of `a` that counts
    adjusting: bool = False  # luck is taken out
    one_session: bool = False  # all deals are one block, so that memories last

    @classmethod
    def of(cls, options: MatchOptions, hands: int, seat: int | None) -> MatchSchedule:
        """A response for one seat plays every deal in that seat."""
        both = options.duplicate and seat is None
        deals = -(-hands // 2) if both else hands
        keeping, given = options.log is not None, options.cards is not None
        duplicate = options.duplicate or seat is not None
        return cls(int(options.seed), deals, duplicate, keeping, seat, one_session=given)

    @property
    def work(self) -> Run:
        """Blocks to play."""
        return [(0, self.deals)] if self.one_session else blocks(self.deals)

    @property
    def one_by_one(self) -> bool:
        """Whether hands of a block are looked at before the next is played."""
        return self.keeping or self.adjusting

    def blocks(self, run: Run) -> Blocks:
        """A run as kernels take it."""
        deals = np.array([n for _, n in run], dtype=np.uint64)
        idle = 2 if self.seat is None else 1 - self.seat
        seed = check_seed(self.seed)
        return Blocks(seed, index(run[0][0]), index(BLOCK), deals, self.duplicate, index(idle))


def blocks(deals: int, size: int = BLOCK) -> list[Block]:
    """Every block of so many deals."""
    return [(k, min(size, deals - k * size)) for k in range(-(-deals // size))]


def runs(work: list[Block], threads: int, most: int) -> list[Run]:
    """Blocks cut into runs of at most `most`, enough of them for all threads."""
    size = max(1, min(most, len(work) // (_SHARES * threads)))
    return [work[k : k + size] for k in range(0, len(work), size)]


class Match:
    """How a match of one game is played. Made from what `play_match` was asked, which it checks."""

    names = ("a", "b")
    remembering = False  # whether players may remember within a block
    adjuster: Any = None  # takes the luck out: has a method `adjusted(PlayedDeals)`
    schedule: MatchSchedule

    def __init__(self, game: Game, a: Any, b: Any) -> None:
        self.game, self.players = game, (a, b)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayRun:
        """What plays runs of blocks, in this process or another."""
        raise NotImplementedError

    def results(self, workers: int, stop: Stop) -> Generator[BlockResult, None, None]:
        """All blocks, by so many workers."""
        play = self.runner(self.game, *self.players, self.schedule)
        cut = runs(self.schedule.work, workers, 1 if self.schedule.one_by_one else MOST_BLOCKS)
        for results in in_threads(play, cut, workers, _WAITING * workers, stop):
            yield from results

    def write_log(self, hands: list[Any]) -> None:
        """Keep the hands where the caller asked for a log."""


def play_match(
    game: Game | str,
    a: Any,
    b: Any,
    hands: int = USUAL_HANDS,
    seed: int = 0,
    *,
    cards: np.ndarray | None = None,
    duplicate: bool = True,
    log: str | Path | None = None,
    observer: str | None = None,
    progress: ProgressCallback = no_progress,
    processes: int | None = None,
    luck_adjusted: bool | None = None,
) -> MatchResult:
    """What `a` wins from `b` per hand, with its standard error.

    A player is a strategy, of hold'em with any number of buckets, the path of a saved one, the word
    `uniform`, `file.py:Name`, or in hold'em the name of a bot, the path of a model, or an object
    with a method `act(view)`. `log`: write the hands played there (.parquet, .phhs, or .log for
    ACPC), as `observer` ("a" or "b") saw them, or
    with all cards. Ctrl-C raises a `KeyboardInterrupt` whose `result` is that of the hands played
    so far (None if there are none), after these are logged. A response for one seat plays in that
    seat only. `processes`: how many play at once, threads for tables and processes for bots; by
    default as many as there are cores.

    `cards` (uint8[deals, 9]: player 1's two, player 2's two, the board) are dealt instead of the
    seed's, in hold'em, all of them, and players are asked one by one, as by any other dealer;
    leave out `hands`. `acpc_cards` are those of the competition's.

    `luck_adjusted`: say also what `a` wins with the luck of the cards, and of the actions of
    players whose strategy is known, taken out (AIVAT): `result.adjusted`, with the same mean and
    less noise. By default in matches of 1,000 to 1,000,000 hands where both seats are played.
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
    kind = getattr(game.rules, "match_runner", lambda: StrategyMatch)()
    match: Match = kind(game, a, b, options, progress)
    cluster = current() if processes is None and cards is None else None
    before = time.perf_counter()
    with stop_signals() as stop:
        coming = (
            match.results(processes or cores(), stop)
            if cluster is None
            else _by_cluster(cluster, match, stop)
        )
        results = _collect(coming, match, stop, progress)
    seconds = time.perf_counter() - before
    match.write_log([hand for result in results for hand in result.hands])
    summary = _summary(game.name, match, results, seconds, stop())
    if stop():
        raise Interrupted(summary)
    assert summary is not None
    return summary


def check_hands(hands: int) -> None:
    whole_number(hands, 2, MOST_HANDS, "hands")


def _by_cluster(cluster: Cluster, match: Match, stop: Stop) -> Generator[BlockResult, None, None]:
    """Blocks in order."""
    size = 1 if match.remembering or match.schedule.keeping else MOST_BLOCKS
    work = match.schedule.work
    cut = [work[k : k + size] for k in range(0, len(work), size)]
    remote = RemoteMatch(type(match), match.game, *match.players, match.schedule)
    for results in cluster.spread(_play_remote, cut, remote, _prepare_remote):
        if stop():
            return
        yield from results


class RemoteMatch(NamedTuple):
    """A match that a cluster plays: the players as they were given."""

    kind: type[Match]
    game: Game
    a: Any
    b: Any
    schedule: MatchSchedule


def _prepare_remote(match: RemoteMatch) -> PlayRun:
    """What plays, in a process of the cluster."""
    a, b = _own_copy(match.a), _own_copy(match.b)
    return match.kind.runner(match.game, a, b, match.schedule)


def _own_copy(player: Any) -> Any:
    """What comes from elsewhere cannot be written, which is another type to kernels."""
    if isinstance(player, HashStrategy):
        copied = HashStrategy(player.game, player.keys, player.counts, player.probabilities)
        return copied.for_player(player.player)
    if isinstance(player, Strategy):
        return Strategy(player.game, player.probabilities.copy()).for_player(player.player)
    return player


def _play_remote(play: PlayRun, run: Run) -> list[BlockResult]:
    return play(run)


def _collect(
    coming: Generator[BlockResult, None, None], match: Match, stop: Stop, progress: ProgressCallback
) -> list[BlockResult]:
    """All blocks in order, or those until somebody stopped it."""
    results: list[BlockResult] = []
    schedule, done = match.schedule, 0
    try:
        with closing(coming):
            for result in coming:
                if match.adjuster is not None and result.raw is not None:
                    adjusted = tally(match.adjuster.adjusted(result.raw))
                    result = result._replace(raw=None, adjusted=adjusted)
                results.append(result)
                done += result.deals
                twice = 2 if schedule.duplicate and schedule.seat is None else 1
                progress(done / schedule.deals, f"{done * twice:,} hands")
    except KeyboardInterrupt:  # asked twice, or in another way than by a signal
        stop.ask()
    return sorted(results, key=lambda result: result.number)


def _summary(
    game: str, match: Match, results: list[BlockResult], seconds: float, stopped: bool
) -> MatchResult | None:
    schedule = match.schedule
    whole = estimate([result.tally for result in results], match.remembering, schedule.seat)
    if whole is None:
        return None
    tallies = [result.adjusted for result in results if result.adjusted is not None]
    adjusted = estimate(tallies, match.remembering) if tallies else None
    return MatchResult.of(
        game,
        match.names,
        whole,
        schedule.seed,
        seconds=seconds,
        stopped=stopped,
        seat=schedule.seat,
        adjusted=None if adjusted is None else Adjusted.of(adjusted),
    )


def common_seat(mine: int | None, his: int | None) -> int | None:
    """The one seat in which players can meet who are responses for these seats; None: both."""
    if mine is not None and mine == his:
        raise BadStrategy(
            f"both are responses for player {mine + 1}'s seat only, so they cannot meet"
        )
    if mine is not None:
        return mine
    return None if his is None else 1 - his


def is_adjusted(asked: bool | None, applies: bool, hands: int, game: str) -> bool:
    """Whether the luck is taken out of a match; `applies`: whether it can be."""
    if asked and not applies:
        raise BadParameter(
            f"luck is taken out of matches in both seats, of hold'em with the usual betting and of "
            f"games with a tree; this one of {game} is another"
        )
    return applies and (FROM_HANDS <= hands <= TO_HANDS if asked is None else asked)


class StrategyMatch(Match):
    """Two strategies of any two-player game, on its form."""

    def __init__(
        self, game: Game, a: Any, b: Any, options: MatchOptions, progress: ProgressCallback
    ) -> None:
        known = players_of(game)
        a, b = known.player(a, progress), known.player(b, progress)
        super().__init__(game, a, b)
        if options.log is not None or options.observer is not None:
            raise BadParameter("only hands of hold'em can be logged")
        if options.cards is not None:
            raise BadParameter(f"cards are dealt in hold'em, not in {game.name}")
        if game.n_players != 2:
            raise BadParameter(f"matches are for two players, and {game.name} has {game.n_players}")
        for player in (a, b):
            check_same_game(game, player)
        seat = common_seat(a.player, b.player)
        schedule = MatchSchedule.of(options, options.hands, seat)
        applies = seat is None and game.capabilities.listed
        if is_adjusted(options.luck_adjusted, applies, options.hands, game.name):
            self.adjuster = TreeLuckAdjustment(game, a, b)
        self.schedule = replace(schedule, adjusting=self.adjuster is not None)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayRun:
        return partial(_play_policies, game, (a.played, b.played), schedule)


def _play_policies(
    game: Game, policies: tuple[Any, Any], schedule: MatchSchedule, run: Run
) -> list[BlockResult]:
    """A run is a single block where luck is taken out."""
    workspace = new_workspace(run)
    play_policy_blocks(game.form, new_hand(game.form), *policies, schedule.blocks(run), workspace)
    results = tallied(run, workspace.tallies)
    if schedule.adjusting:
        raw = PlayedDeals(None, workspace.won, workspace.ends)
        return [results[0]._replace(raw=raw)]
    return results


def tallied(run: Run, tallies: np.ndarray) -> list[BlockResult]:
    """A result for each block of a run."""
    return [
        BlockResult(number, n, Tally(*rows), [])
        for (number, n), rows in zip(run, tallies, strict=True)
    ]
