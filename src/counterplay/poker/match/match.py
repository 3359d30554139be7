"""Matches of hold'em: two tables in kernels on numbered deals, or bots before a referee."""

from __future__ import annotations

import copy
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.games.players import players_of
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.core.match.play import (
    Block,
    BlockResult,
    Match,
    MatchOptions,
    MatchSchedule,
    PlayRun,
    Run,
    is_adjusted,
    tallied,
)
from counterplay.core.match.tally import tally
from counterplay.core.parallel.jobs import Stop
from counterplay.core.parallel.processes import JobContext, Setup, Work, in_processes
from counterplay.poker.betting.betting import LIMIT, BettingRules, PublicNodes
from counterplay.poker.bots.table import TableBot
from counterplay.poker.match.deals import (
    check_deals,
    new_holdem_workspace,
    play_table_blocks,
    session_deals,
)
from counterplay.poker.match.log import new_log
from counterplay.poker.match.luck_adjustment import HoldemLuckAdjustment
from counterplay.poker.match.players import (
    Recipe,
    check_betting,
    check_no_memory,
    only_seat,
    recipes,
)
from counterplay.poker.match.referee import PlayedHand, bot_name, play_session


class HoldemMatch(Match):
    """Strategies, bots by name, and whoever has a method `act`, on real cards."""

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
        known = players_of(game)
        bots = known.player(a, progress), known.player(b, progress)
        seat = only_seat(*bots)
        check_betting(betting, bots)
        check_no_memory(seat, bots)
        if options.cards is not None and seat is not None:
            raise BadParameter("cards are dealt in both seats, and this is a response for one")
        self.names = _names(bots)
        self._bots, self._cards = bots, options.cards
        applies = seat is None and betting == LIMIT
        if is_adjusted(options.luck_adjusted, applies, hands, game.name):
            self.adjuster = HoldemLuckAdjustment(game, *bots, hands, progress)
        schedule = MatchSchedule.of(options, hands, seat)
        self.schedule = replace(schedule, adjusting=self.adjuster is not None)
        self.remembering = options.cards is not None or not _are_tables(bots)
        if self._log is not None:
            self._log.check(self.names)

    @classmethod
    def runner(cls, game: Game, a: Any, b: Any, schedule: MatchSchedule) -> PlayRun:
        known = players_of(game)
        bots = known.player(a), known.player(b)
        if _are_tables(bots):
            return partial(_play_tables, game.rules.tree.nodes, bots, schedule)
        play = partial(_play_bots, _separate(bots), schedule, game.rules.betting, None)
        return lambda run: [play(block, JobContext()) for block in run]

    def results(self, workers: int, stop: Stop) -> Generator[BlockResult, None, None]:
        if not self.remembering:
            self.players = self._bots
            return super().results(workers, stop)
        rest = self.schedule, self.game.rules.betting, self._cards
        play = partial(_play_bots, _separate(self._bots), *rest)
        remake = partial(_remake, self._bots, *rest)
        number, n = self.schedule.work[0]
        warm = number, min(n, 2)
        return in_processes(play, self.schedule.work, workers, stop, remake, warm)

    def write_log(self, hands: list[PlayedHand]) -> None:
        if self._log is not None:
            self._log.write(self.names, hands)


def _are_tables(bots: tuple[Any, Any]) -> bool:
    return all(isinstance(bot, TableBot) for bot in bots)


def _names(bots: tuple[Any, Any]) -> tuple[str, str]:
    one, two = (bot_name(bot) for bot in bots)
    return (one, two) if one != two else (one, f"{two} (2)")


def _separate(bots: tuple[Any, Any]) -> tuple[Any, Any]:
    """One object in both seats becomes two."""
    return bots if bots[0] is not bots[1] else (bots[0], copy.deepcopy(bots[1]))


def _play_tables(
    nodes: PublicNodes, bots: tuple[TableBot, TableBot], schedule: MatchSchedule, run: Run
) -> list[BlockResult]:
    """A run is a single block where hands are kept or luck is taken out."""
    workspace = new_holdem_workspace(run)
    match = workspace.match
    play_table_blocks(nodes, bots[0].table, bots[1].table, schedule.blocks(run), workspace)
    results = tallied(run, match.tallies)
    raw = PlayedDeals(workspace.cards, match.won, match.ends)
    if schedule.keeping:
        results[0].hands.extend(_played_hands(raw))
    return [results[0]._replace(raw=raw)] if schedule.adjusting else results


def _played_hands(raw: PlayedDeals) -> list[PlayedHand]:
    """Hands of a block, `a` being the dealer in the first column and `b` in the second."""
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


def _remake(
    bots: tuple[Any, Any], schedule: MatchSchedule, betting: BettingRules, cards: Any
) -> Setup | None:
    """How another process plays, where both players can be made there."""
    known = recipes(bots)
    return None if known is None else partial(_make_and_play, known, schedule, betting, cards)


def _make_and_play(
    known: tuple[Recipe, Recipe], schedule: MatchSchedule, betting: BettingRules, cards: Any
) -> Work:
    return partial(_play_bots, (known[0].made(), known[1].made()), schedule, betting, cards)


def _play_bots(
    bots: tuple[Any, Any],
    schedule: MatchSchedule,
    betting: BettingRules,
    cards: np.ndarray | None,  # of the caller; None: those of the seed
    block: Block,
    context: JobContext,
) -> BlockResult:
    """Bots that think in Python: a session, and in a duplicate the same with the seats swapped."""
    number, n = block
    deals = session_deals(schedule.seed, number, n, betting=betting)
    if cards is not None:
        deals = deals._replace(cards=cards)
    kept: list[PlayedHand] = []
    won, ends = np.full((n, 2), np.nan), np.zeros((n, 2), dtype=np.int32)
    for swap in (False, True) if schedule.duplicate else (False,):
        hands: list[PlayedHand] = []
        keep = hands.append if schedule.one_by_one else None
        result = play_session(bots, deals, swap, keep, context.stopped)
        k = np.arange(len(result))
        column = ((deals.first + k) & 1) ^ int(swap)
        won[k, column] = result
        if schedule.adjusting:
            ends[k, column] = [hand.end for hand in hands]
        kept += hands if schedule.keeping else []
    raw = PlayedDeals(deals.cards, won, ends) if schedule.adjusting else None
    return BlockResult(number, n, tally(won), kept, raw)
