"""Matches of hold'em: two strategy tables in kernels, or bots in Python with a referee; and their
hand histories, whose file is tested before a hand is played.

A response for one seat plays in that seat only: its other seat is the model. Another process makes
a player from the name, path or `file.py:Class` it was made from, or receives it pickled.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, CounterplayError
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of
from counterplay.core.match.kernels import tally
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.core.match.play import (
    Block,
    BlockRange,
    BlockResult,
    Match,
    MatchOptions,
    MatchSchedule,
    PlayBlocks,
    block_results,
    common_seat,
    is_adjusted,
)
from counterplay.core.parallel.jobs import Stop, in_processes
from counterplay.core.parallel.processes import JobContext, Setup, Work
from counterplay.poker.betting.betting import LIMIT, BettingRules, PublicNodes, betting_tree
from counterplay.poker.bots.table import TableBot
from counterplay.poker.histories.acpc import write_acpc
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.phh import write_phh
from counterplay.poker.histories.records import RULES, HandRecord, observed_by
from counterplay.poker.match.deals import (
    check_deals,
    new_holdem_workspace,
    play_table_blocks,
    session_deals,
)
from counterplay.poker.match.luck_adjustment import HoldemLuckAdjustment
from counterplay.poker.match.referee import PlayedHand, bot_name, play_session
from counterplay.poker.players import bot

LOGS: dict[str, Callable[[Path, list[HandRecord]], None]] = {
    ".parquet": write_parquet,
    ".phhs": write_phh,
    ".log": write_acpc,
}


class HoldemMatch(Match):
    """A match of strategies, bots by name, and objects with a method `act`."""

    def __init__(
        self, game: Game, a: Any, b: Any, options: MatchOptions, progress: ProgressCallback
    ) -> None:
        super().__init__(game, a, b)
        hands = check_deals(options.cards, options.hands, options.duplicate)
        self._log = new_log(options.log, options.observer)
        betting = game.rules.betting
        if self._log is not None:
            if betting != LIMIT:
                raise BadParameter("only hands with the usual limit betting can be logged")
            self._log.check()
        players = players_of(game)
        bots = players.player(a, progress), players.player(b, progress)
        seat = only_seat(*bots)
        check_betting(betting, bots)
        check_stateless(seat, bots)
        if options.cards is not None and seat is not None:
            raise BadParameter("cards are dealt in both seats, and this is a response for one")
        self.names = _names(bots)
        self._bots, self._cards = bots, options.cards
        applies = seat is None and betting == LIMIT
        if is_adjusted(options.luck_adjusted, applies, hands, game.name):
            self.adjuster = HoldemLuckAdjustment(game, *bots, hands, progress)
        schedule = MatchSchedule.of(options, hands, seat)
        self.schedule = replace(schedule, luck_adjusted=self.adjuster is not None)
        self.stateful = options.cards is not None or not _are_tables(bots)
        if self._log is not None:
            self._log.check(self.names)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayBlocks:
        players = players_of(game)
        bots = players.player(a), players.player(b)
        if _are_tables(bots):
            return partial(_play_tables, game.rules.tree.nodes, bots, schedule)
        play = partial(_play_bots, _separate(bots), schedule, game.rules.betting, None)
        return lambda blocks: [play(block, JobContext()) for block in blocks]

    def results(self, workers: int, stop: Stop) -> Generator[BlockResult, None, None]:
        if not self.stateful:
            self.players = self._bots
            return super().results(workers, stop)
        settings = self.schedule, self.game.rules.betting, self._cards
        play = partial(_play_bots, _separate(self._bots), *settings)
        remake = partial(_remote_setup, self._bots, *settings)
        blocks = self.schedule.all_blocks
        warm = blocks[0][0], min(blocks[0][1], 2)
        return in_processes(play, blocks, workers, stop, remake, warm)

    def write_log(self, hands: list[PlayedHand]) -> None:
        if self._log is not None:
            self._log.write(self.names, hands)


def _are_tables(bots: tuple[Any, Any]) -> bool:
    return all(isinstance(bot, TableBot) for bot in bots)


def _names(bots: tuple[Any, Any]) -> tuple[str, str]:
    one, two = (bot_name(bot) for bot in bots)
    return (one, two) if one != two else (one, f"{two} (2)")


def _separate(bots: tuple[Any, Any]) -> tuple[Any, Any]:
    """The bots, the second copied if it is the same object as the first."""
    return bots if bots[0] is not bots[1] else (bots[0], copy.deepcopy(bots[1]))


def _play_tables(
    nodes: PublicNodes, bots: tuple[TableBot, TableBot], schedule: MatchSchedule, blocks: BlockRange
) -> list[BlockResult]:
    """Plays consecutive blocks; only one where its hands are used afterwards."""
    workspace = new_holdem_workspace(blocks)
    match = workspace.match
    play_table_blocks(nodes, bots[0].table, bots[1].table, schedule.blocks(blocks), workspace)
    results = block_results(blocks, match.tallies)
    raw = PlayedDeals(workspace.cards, match.won, match.ends)
    if schedule.keep_hands:
        results[0].hands.extend(_played_hands(raw))
    return [results[0]._replace(raw=raw)] if schedule.luck_adjusted else results


def _played_hands(raw: PlayedDeals) -> list[PlayedHand]:
    """The hands of a block; `a` is the dealer in the first column, `b` in the second."""
    cards, won, ends = raw
    assert cards is not None
    return [
        PlayedHand(
            dealer,
            tuple(cards[k].tolist()),
            int(ends[k, dealer]),
            float(won[k, dealer] if dealer == 0 else -won[k, dealer]),
        )
        for k in range(len(cards))
        for dealer in (0, 1)
        if not np.isnan(won[k, dealer])
    ]


def _remote_setup(
    bots: tuple[Any, Any], schedule: MatchSchedule, betting: BettingRules, cards: Any
) -> Setup | None:
    """The setup of another process; None where a player cannot be made there."""
    sources = player_sources(bots)
    return None if sources is None else partial(_remote_play, sources, schedule, betting, cards)


def _remote_play(
    sources: tuple[Any, Any], schedule: MatchSchedule, betting: BettingRules, cards: Any
) -> Work:
    return partial(_play_bots, (bot(sources[0]), bot(sources[1])), schedule, betting, cards)


def _play_bots(
    bots: tuple[Any, Any],
    schedule: MatchSchedule,
    betting: BettingRules,
    cards: np.ndarray | None,  # of the caller; None: those of the seed
    block: Block,
    context: JobContext,
) -> BlockResult:
    """Plays a session of bots, in a duplicate again with the seats swapped."""
    number, n = block
    deals = session_deals(schedule.seed, number, n, betting=betting)
    if cards is not None:
        deals = deals._replace(cards=cards)
    logged: list[PlayedHand] = []
    won, ends = np.full((n, 2), np.nan), np.zeros((n, 2), dtype=np.int32)
    for swap in (False, True) if schedule.duplicate else (False,):
        hands: list[PlayedHand] = []
        keep = hands.append if schedule.single_blocks else None
        result = play_session(bots, deals, swap, keep, context.stopped)
        k = np.arange(len(result))
        column = ((deals.first + k) & 1) ^ int(swap)
        won[k, column] = result
        if schedule.luck_adjusted:
            ends[k, column] = [hand.end for hand in hands]
        logged += hands if schedule.keep_hands else []
    raw = PlayedDeals(deals.cards, won, ends) if schedule.luck_adjusted else None
    return BlockResult(number, n, tally(won), logged, raw)


class HandLog(NamedTuple):
    """The file of the hands, and whose view of the cards it has: "a", "b", or None for all."""

    path: Path
    observer: str | None

    def check(self, names: tuple[str, str] = ("a", "b")) -> None:
        """Tests the target by writing a hand of these players beside it."""
        if os.path.isdir(self.path):
            raise CounterplayError(f"cannot write {self.path}: it is a folder")
        hand = HandRecord(0, *names, "f", (), (0, 1), (2, 3), -0.5)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=self.path.parent) as folder:
                trial = Path(folder) / self.path.name
                self._write(trial, names, [hand])
        except CounterplayError as error:
            raise type(error)(str(error).replace(str(trial), str(self.path))) from None
        except (OSError, ValueError) as error:
            raise CounterplayError(
                f"cannot write {self.path}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def write(self, names: tuple[str, str], played: list[PlayedHand]) -> None:
        self._write(self.path, names, records(names, played))

    def _write(self, path: Path, names: tuple[str, str], hands: list[HandRecord]) -> None:
        if self.observer is not None:
            observer = names[0 if self.observer == "a" else 1]
            hands = [observed_by(record, observer) for record in hands]
        LOGS[path.suffix](path, hands)


def new_log(path: str | Path | None, observer: str | None) -> HandLog | None:
    """The log for the options `log` and `observer` of a match; `BadParameter` if invalid."""
    if observer not in (None, "a", "b"):
        raise BadParameter(f"observer must be 'a' or 'b', not {observer!r}")
    if path is None:
        if observer is not None:
            raise BadParameter("observer needs log, the file to write; give both or neither")
        return None
    if Path(path).suffix not in LOGS:
        raise BadParameter(f"hands are written to {', '.join(LOGS)}, not to {path}")
    return HandLog(Path(path), observer)


def records(names: tuple[str, str], played: list[PlayedHand]) -> list[HandRecord]:
    """Played hands as records, numbered from 0 on."""
    states = betting_tree(RULES).states
    return [
        HandRecord(
            k,
            names[hand.dealer],
            names[1 - hand.dealer],
            states[hand.end].history,
            hand.cards[4 : 4 + states[hand.end].on_board],
            (hand.cards[0], hand.cards[1]),
            (hand.cards[2], hand.cards[3]),
            hand.won,
        )
        for k, hand in enumerate(played)
    ]


# --- players: who can meet, and how another process gets them


def only_seat(a: Any, b: Any) -> int | None:
    """The only seat of `a` in a match with `b`; None: both seats."""
    return common_seat(
        *(player.player if isinstance(player, Strategy | TableBot) else None for player in (a, b))
    )


def check_stateless(seat: int | None, players: tuple[Any, Any]) -> None:
    """Refuses a response for one seat against a bot with state, which would learn from hands that
    do not count."""
    stateful = [player for player in players if not isinstance(player, TableBot)]
    if seat is not None and stateful:
        name = bot_name(stateful[0])
        raise BadStrategy(
            f"a response for one seat cannot play {name}, which alternates seats and may keep "
            "state between hands; respond in both seats (--player both, in Python player=None)"
        )


def check_betting(betting: BettingRules, players: tuple[Any, ...]) -> None:
    """Refuses players that were made for other betting than the game's."""
    for player in players:
        if getattr(player, "betting", betting) != betting:
            raise BadStrategy(f"{player.name} was made for other betting than this game's")


def player_sources(players: tuple[Any, Any]) -> tuple[Any, Any] | None:
    """What another process makes the players from (by `bot`): their texts, or the players pickled.
    None where one, such as a notebook's class, stays here."""
    sources = [getattr(player, "made_from", None) or player for player in players]
    for source in sources:
        if type(source).__module__ == "__main__":
            return None
        try:
            ForkingPickler.loads(ForkingPickler.dumps(source))
        except Exception:
            return None
    return sources[0], sources[1]
