"""`play_match`: two players on real deals, duplicate by default.

A duplicate plays each deal twice with the seats swapped, which takes most of the luck of the cards out of the mean. Deals come in
blocks (`deals.py`); players with a memory start each block afresh, so the result does not depend on how many cores play.
"""

from __future__ import annotations

import copy
import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.arena.deals import BLOCK, blocks, deal_block, play_state
from counterplay.arena.kernels import play_policies, play_tables
from counterplay.arena.referee import Played, play_session
from counterplay.arena.result import MatchResult, summarise
from counterplay.base.errors import BadParameter
from counterplay.forms.access import new_hand
from counterplay.forms.game import Game
from counterplay.forms.strategy import check_all_seats, check_same_game
from counterplay.games.registry import load
from counterplay.holdem.betting import BOARD_CARDS, betting_histories, betting_tree
from counterplay.holdem.form import HAND_SIZE
from counterplay.holdem.game import HoldemRules
from counterplay.holdem.tables import board_links
from counterplay.opponents.acpc import write_acpc
from counterplay.opponents.hand_files import write_hands
from counterplay.opponents.hands import HandRecord, seen_by
from counterplay.opponents.phh import write_phh
from counterplay.opponents.registry import as_bot
from counterplay.opponents.table import TableBot
from counterplay.solvers.sampling import cores

Tell = Callable[[float, str], None]
LOGS: dict[str, Callable[[Path, list[HandRecord]], None]] = {
    ".parquet": write_hands,
    ".phhs": write_phh,
    ".log": write_acpc,
}
MOST_HANDS = 10**9


def play_match(
    game: Game | str,
    a: Any,
    b: Any,
    hands: int = 100_000,
    seed: int = 0,
    *,
    duplicate: bool = True,
    log: str | Path | None = None,
    observer: str | None = None,
    tell: Tell = lambda share, what: None,
    processes: int | None = None,
) -> MatchResult:
    """What `a` wins from `b` per hand, with its standard error.

    In hold'em a player is a strategy (of any number of buckets), the name of a bot, or an object with a method `act(view)`; in
    other games both are strategies of that game. `log`: write the hands played there (.parquet, .phhs, or .log for ACPC), as
    `observer` ("a" or "b") saw them, or with all cards.
    """
    game = game if isinstance(game, Game) else load(game)
    if isinstance(hands, bool) or not isinstance(hands, int) or not 2 <= hands <= MOST_HANDS:
        raise BadParameter(f"hands must be a whole number from 2 to {MOST_HANDS:,}, not {hands!r}")
    if observer not in (None, "a", "b"):
        raise BadParameter(f"observer must be 'a' or 'b', not {observer!r}")
    if processes is not None and (isinstance(processes, bool) or not isinstance(processes, int) or processes < 1):
        raise BadParameter(f"processes must be a whole number above 0, not {processes!r}")
    if log is not None and Path(log).suffix not in LOGS:
        raise BadParameter(f"hands are written to {', '.join(LOGS)}, not to {log}")
    before = time.perf_counter()
    deals = -(-hands // 2) if duplicate else hands
    play_state(seed, 0)  # refuses a bad seed
    if not isinstance(game.rules, HoldemRules):
        if log is not None:
            raise BadParameter("only hands of hold'em can be logged")
        won, names = _play_strategies(game, a, b, deals, seed, duplicate), ("a", "b")
    else:
        bots = (as_bot(a, tell), as_bot(b, tell))
        names = _names(bots)
        if all(isinstance(bot, TableBot) for bot in bots):
            won, played = _play_tables(bots, deals, seed, duplicate, tell, log is not None)
        else:
            if bots[0] is bots[1]:
                bots = (bots[0], copy.deepcopy(bots[1]))
            won, played = _play_bots(bots, deals, seed, duplicate, tell, processes or cores(), log is not None)
        if log is not None:
            _write_log(Path(log), names, played, observer)
    return summarise(game.name, names, won, duplicate, seed, time.perf_counter() - before)


def _names(bots: tuple[Any, Any]) -> tuple[str, str]:
    one, two = (str(getattr(bot, "name", type(bot).__name__)) for bot in bots)
    return (one, two) if one != two else (one, f"{two} (2)")


def _play_strategies(game: Game, a: Any, b: Any, deals: int, seed: int, duplicate: bool) -> np.ndarray:
    """Two strategies of a game with a tree."""
    if game.n_players != 2:
        raise BadParameter(f"matches are for two players, and {game.name} has {game.n_players}")
    for player in (a, b):
        check_same_game(game, player)
        check_all_seats(player)
    won = np.empty((deals, 2))
    hand, kept = new_hand(game.form), np.empty(4, dtype=np.uint64)
    play_policies(game.form, hand, a.probabilities, b.probabilities, play_state(seed, 0), kept, duplicate, won)
    return won


def _play_tables(
    bots: tuple[Any, Any], deals: int, seed: int, duplicate: bool, tell: Tell, keeping: bool
) -> tuple[np.ndarray, list[Played]]:
    """Two tables: kernels, one block per thread."""
    won, ends = np.empty((deals, 2)), np.empty((deals, 2), dtype=np.int32)
    links, tree = board_links(), betting_tree()

    def play(block: tuple[int, int]) -> tuple[int, list[Played]]:
        number, n = block
        scratch = np.zeros(HAND_SIZE, dtype=np.int64), np.zeros(2, dtype=np.int64)
        rng, kept = play_state(seed, number), np.empty(4, dtype=np.uint64)
        cards = deal_block(seed, number, n)
        here = slice(number * BLOCK, number * BLOCK + n)
        tables = (bots[0].table, bots[1].table)
        play_tables(tree, *links, *tables, cards, *scratch, rng, kept, duplicate, won[here], ends[here])
        return n, _played(cards, won[here], ends[here]) if keeping else []

    done, played = 0, []
    with ThreadPoolExecutor(cores()) as pool:
        for n, hands in pool.map(play, blocks(deals)):
            done += n
            played += hands
            tell(done / deals, f"{done * (2 if duplicate else 1):,} hands")
    return won, played


def _played(cards: np.ndarray, won: np.ndarray, ends: np.ndarray) -> list[Played]:
    """Hands of a block, `a` being the dealer in the first column and `b` in the second."""
    return [
        Played(dealer, tuple(cards[k].tolist()), int(ends[k, dealer]), float(won[k, dealer] if dealer == 0 else -won[k, dealer]))
        for k in range(len(cards))
        for dealer in (0, 1)
        if not np.isnan(won[k, dealer])
    ]


_job: Any = None  # what forked workers play; set just before they start


def _play_block(block: tuple[int, int]) -> tuple[int, np.ndarray, list[Played]]:
    bots, seed, duplicate, keeping = _job
    number, n = block
    cards = deal_block(seed, number, n)
    state = play_state(seed, number)
    seeds = int(state[0] >> np.uint64(1)), int(state[1] >> np.uint64(1))
    played: list[Played] = []
    keep = played.append if keeping else None
    won = np.full((n, 2), np.nan)
    for swap in (False, True) if duplicate else (False,):
        result = play_session(bots, cards, seeds, swap, keep)
        as_dealer = (np.arange(n) & 1) == int(swap)
        won[as_dealer, 0] = result[as_dealer]
        won[~as_dealer, 1] = result[~as_dealer]
    return number, won, played


def _play_bots(
    bots: tuple[Any, Any], deals: int, seed: int, duplicate: bool, tell: Tell, processes: int, keeping: bool
) -> tuple[np.ndarray, list[Played]]:
    """Bots that think in Python: processes, one block each."""
    global _job
    _job = (bots, seed, duplicate, keeping)
    won, played, done = [], [], 0
    try:
        for _, result, hands in _map(blocks(deals), processes):
            won.append(result)
            played += hands
            done += len(result)
            tell(done / deals, f"{done * (2 if duplicate else 1):,} hands")
    finally:
        _job = None
    return np.concatenate(won), played


def _map(work: list[tuple[int, int]], processes: int) -> Iterator[tuple[int, np.ndarray, list[Played]]]:
    """Results in order. Workers are forked, so that bots need not be pickled; without fork one process plays."""
    if processes == 1 or len(work) == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(_play_block, work)
        return
    _play_warm()
    with multiprocessing.get_context("fork").Pool(min(processes, len(work))) as pool:
        yield from pool.imap(_play_block, work)


def _play_warm() -> None:
    """Two deals before the fork: everything is compiled and loaded once."""
    _play_block((0, 2))


def records(names: tuple[str, str], played: list[Played], first: int = 0) -> list[HandRecord]:
    """Hands played as records, numbered from `first` on."""
    histories, rounds = betting_histories(), betting_tree().round
    return [
        HandRecord(
            first + k, names[hand.dealer], names[1 - hand.dealer], histories[hand.end],
            hand.cards[4 : 4 + BOARD_CARDS[rounds[hand.end]]], _pair(hand.cards, 0), _pair(hand.cards, 2), hand.won,
        )
        for k, hand in enumerate(played)
    ]  # fmt: skip


def _write_log(path: Path, names: tuple[str, str], played: list[Played], observer: str | None) -> None:
    found = records(names, played)
    if observer is not None:
        found = [seen_by(record, names[0 if observer == "a" else 1]) for record in found]
    LOGS[path.suffix](path, found)


def _pair(cards: tuple[int, ...], k: int) -> tuple[int, int]:
    return cards[k], cards[k + 1]
