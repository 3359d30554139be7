"""`play_match`: two players on real deals, duplicate by default.

A duplicate plays each deal twice with the seats swapped, which takes most of the luck of the cards
out of the mean. Deals come in blocks (`deals.py`); players with a memory start each block afresh,
so the result does not depend on how many cores play.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.arena.amount import USUAL_HANDS, check_deals
from counterplay.arena.crew import (
    MOST_BLOCKS,
    Asked,
    Block,
    Play,
    PlayRun,
    Remake,
    Run,
    in_processes,
    in_threads,
)
from counterplay.arena.deals import BLOCK, blocks, session
from counterplay.arena.kernels import (
    Blocks,
    Desk,
    Scratch,
    play_policy_blocks,
    play_table_blocks,
)
from counterplay.arena.log import new_log
from counterplay.arena.luck import FROM_HANDS, TO_HANDS, HoldemLuck, PlayedDeals, TreeLuck
from counterplay.arena.recipes import Recipe, recipes
from counterplay.arena.referee import Played, play_session
from counterplay.arena.result import Adjusted, MatchResult, estimate
from counterplay.arena.seats import check_betting, check_no_memory, only_seat
from counterplay.arena.tally import SERIES, Tally, tally
from counterplay.base.cluster import Cluster, current
from counterplay.base.errors import BadParameter, Interrupted
from counterplay.base.processors import cores
from counterplay.base.progress import Tell, untold
from counterplay.base.stopping import Stop, stop_signals
from counterplay.forms.access import new_hand
from counterplay.forms.game import Game
from counterplay.forms.keyed import KeyedStrategy
from counterplay.forms.strategy import Strategy, check_same_game
from counterplay.games.registry import as_game
from counterplay.holdem.betting import LIMIT, BettingRules, BettingTree, PublicNodes
from counterplay.holdem.deal import N_DEALT, new_deal
from counterplay.holdem.table import Table
from counterplay.kernels.cache_lines import cache_aligned, cache_aligned_fields
from counterplay.kernels.jit import index
from counterplay.kernels.rng import check_seed
from counterplay.opponents.bots.registry import as_bot
from counterplay.opponents.bots.table import TableBot


class Part(NamedTuple):
    """What was played of one block."""

    number: int
    deals: int
    tally: Tally
    played: list[Played]  # empty unless they are kept
    raw: PlayedDeals | None = None  # where luck is to be taken out
    adjusted: Tally | None = None  # with the luck taken out


@dataclass(frozen=True)
class Plan:
    """Which deals are played, and whether hands are kept for a log."""

    seed: int
    deals: int
    duplicate: bool
    keeping: bool
    seat: int | None = None  # the only one of `a` that counts
    betting: BettingRules = LIMIT  # in hold'em
    cards: np.ndarray | None = None  # uint8[deals, 9]: of the caller; None: those of the seed
    adjusting: bool = False  # luck is taken out

    @property
    def work(self) -> Run:
        """Blocks to play; with cards of the caller one, so that memories last."""
        return blocks(self.deals) if self.cards is None else [(0, self.deals)]

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
    tell: Tell = untold,
    processes: int | None = None,
    luck_adjusted: bool | None = None,
) -> MatchResult:
    """What `a` wins from `b` per hand, with its standard error.

    In hold'em a player is a strategy (of any number of buckets), the name of a bot, or an object
    with a method `act(view)`; in other games both are strategies of that game. `log`: write the
    hands played there (.parquet, .phhs, or .log for ACPC), as `observer` ("a" or "b") saw them, or
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
    hands = check_deals(cards, hands, duplicate)
    if processes is not None and (
        isinstance(processes, bool) or not isinstance(processes, int) or processes < 1
    ):
        raise BadParameter(f"processes must be a whole number above 0, not {processes!r}")
    check_seed(seed)
    target = new_log(log, observer)
    check_adjusted(luck_adjusted)
    game = as_game(game, a)
    if target is not None:
        if not game.abilities.hands:
            raise BadParameter("only hands of hold'em can be logged")
        if game.rules.betting != LIMIT:
            raise BadParameter("only hands with the usual limit betting can be logged")
        target.check()
    dealt = game.abilities.bots
    if cards is not None and not dealt:
        raise BadParameter(f"cards are dealt in hold'em, not in {game.name}")
    players = (as_bot(a, tell), as_bot(b, tell)) if dealt else (a, b)
    seat = only_seat(*players)
    if seat is None:
        plan = Plan(
            int(seed), -(-hands // 2) if duplicate else hands, duplicate, target is not None
        )
    else:
        plan = Plan(int(seed), hands, True, target is not None, seat)
    names, bots = ("a", "b"), False
    if dealt:
        plan = replace(plan, betting=game.rules.betting, cards=cards)
        check_betting(plan.betting, players)
        check_no_memory(seat, players)
        if cards is not None and seat is not None:
            raise BadParameter("cards are dealt in both seats, and this is a response for one")
        names = _names(players)
    else:
        _check_strategies(game, players)
    adjuster = _adjuster(game, players, plan, hands, luck_adjusted, tell)
    plan = replace(plan, adjusting=adjuster is not None)
    if dealt:
        tables = all(isinstance(player, TableBot) for player in players)
        bots = cards is not None or not tables
        if not bots:
            play: PlayRun[Part] = partial(_play_tables, _setting(game.rules.tree, players), plan)
        if target is not None:
            target.check(names)
    else:
        play = _strategies(game, a, b, plan)
    cluster = current() if processes is None and cards is None else None
    before = time.perf_counter()
    with stop_signals() as stop:
        work, crew = plan.work, processes or cores()
        coming = (
            _by_cluster(cluster, FarMatch(game, a, b, plan, bots), stop)
            if cluster is not None
            else in_processes(
                partial(_play_bots, _apart(players), plan),
                work,
                crew,
                stop,
                partial(_anew, players, plan),
            )
            if bots
            else in_threads(play, work, crew, 1 if plan.one_by_one else MOST_BLOCKS, stop)
        )
        parts = _collect(coming, plan, stop, tell, adjuster)
    seconds = time.perf_counter() - before
    if target is not None:
        target.write(names, [hand for part in parts for hand in part.played])
    result = _summary(game.name, names, parts, plan, bots, seconds, stop())
    if stop():
        raise Interrupted(result)
    assert result is not None
    return result


class FarMatch(NamedTuple):
    """A match that a cluster plays: the players as they were given."""

    game: Game
    a: Any
    b: Any
    plan: Plan
    bots: bool


def _by_cluster(cluster: Cluster, match: FarMatch, stop: Stop) -> Generator[Part, None, None]:
    """Blocks in order."""
    size = 1 if match.bots or match.plan.keeping else MOST_BLOCKS
    work = match.plan.work
    runs = [work[k : k + size] for k in range(0, len(work), size)]
    for parts in cluster.spread(_play_far, runs, match, _sit_down):
        if stop():
            return
        yield from parts


def _sit_down(match: FarMatch) -> PlayRun[Part]:
    """What plays, in a process of the cluster."""
    game, plan = match.game, match.plan
    if not game.abilities.bots:
        return _strategies(game, _own_copy(match.a), _own_copy(match.b), plan)
    players = tuple(as_bot(_own_copy(player)) for player in (match.a, match.b))
    if not match.bots:
        return partial(_play_tables, _setting(game.rules.tree, players), plan)
    one, two = _apart(players)
    return lambda run: [_play_bots((one, two), plan, block, lambda: False) for block in run]


def _own_copy(player: Any) -> Any:
    """What comes from elsewhere cannot be written, which is another type to kernels."""
    if isinstance(player, KeyedStrategy):
        copied = KeyedStrategy(player.game, player.keys, player.counts, player.probabilities)
        return copied.for_player(player.player)
    if isinstance(player, Strategy):
        return Strategy(player.game, player.probabilities.copy()).for_player(player.player)
    return player


def _play_far(play: PlayRun[Part], run: Run) -> list[Part]:
    return play(run)


def _names(bots: tuple[Any, Any]) -> tuple[str, str]:
    one, two = (str(getattr(bot, "name", type(bot).__name__)) for bot in bots)
    return (one, two) if one != two else (one, f"{two} (2)")


def _apart(bots: tuple[Any, Any]) -> tuple[Any, Any]:
    """One object in both seats becomes two."""
    return bots if bots[0] is not bots[1] else (bots[0], copy.deepcopy(bots[1]))


def check_adjusted(luck_adjusted: bool | None) -> None:
    if luck_adjusted is not None and not isinstance(luck_adjusted, bool):
        raise BadParameter(f"luck_adjusted is True, False or None, not {luck_adjusted!r}")


def _adjuster(
    game: Game,
    players: tuple[Any, Any],
    plan: Plan,
    hands: int,
    asked: bool | None,
    tell: Tell,
) -> HoldemLuck | TreeLuck | None:
    """Who takes the luck out, if anybody."""
    holdem = game.abilities.bots
    applies = plan.seat is None and (
        game.rules.betting == LIMIT if holdem else game.abilities.listed and game.n_players == 2
    )
    if asked and not applies:
        raise BadParameter(
            f"luck is taken out of matches in both seats, of hold'em with the usual betting and of "
            f"games with a tree; this one of {game.name} is another"
        )
    if asked is False or not applies or (asked is None and not FROM_HANDS <= hands <= TO_HANDS):
        return None
    return HoldemLuck(game, *players, hands, tell) if holdem else TreeLuck(game, *players)


def _collect(
    coming: Generator[Part, None, None],
    plan: Plan,
    stop: Stop,
    tell: Tell,
    adjuster: HoldemLuck | TreeLuck | None = None,
) -> list[Part]:
    """All parts in order, or those until somebody stopped it."""
    parts: list[Part] = []
    done = 0
    try:
        with closing(coming):
            for part in coming:
                if adjuster is not None and part.raw is not None:
                    clean = tally(adjuster.adjusted(part.raw))
                    part = part._replace(raw=None, adjusted=clean)
                parts.append(part)
                done += part.deals
                tell(
                    done / plan.deals,
                    f"{done * (2 if plan.duplicate and plan.seat is None else 1):,} hands",
                )
    except KeyboardInterrupt:  # asked twice, or in another way than by a signal
        stop.ask()
    return sorted(parts, key=lambda part: part.number)


def _summary(
    game: str,
    names: tuple[str, str],
    parts: list[Part],
    plan: Plan,
    sessions: bool,
    seconds: float,
    stopped: bool,
) -> MatchResult | None:
    found = estimate([part.tally for part in parts], sessions, plan.seat)
    if found is None:
        return None
    clean = [part.adjusted for part in parts if part.adjusted is not None]
    adjusted = estimate(clean, sessions) if clean else None
    return MatchResult(
        game,
        *names,
        found.hands,
        found.twice,
        found.mean,
        found.standard_error,
        found.by_seat,
        plan.seed,
        seconds,
        found.degrees,
        stopped,
        plan.seat,
        None if adjusted is None else Adjusted.of(adjusted),
    )


def _check_strategies(game: Game, players: tuple[Any, Any]) -> None:
    if game.n_players != 2:
        raise BadParameter(f"matches are for two players, and {game.name} has {game.n_players}")
    for player in players:
        check_same_game(game, player)


def _strategies(game: Game, a: Any, b: Any, plan: Plan) -> PlayRun[Part]:
    """Two strategies of any other game."""
    return partial(_play_policies, game, (a.played, b.played), plan)


def _desk(run: Run, chance: Any) -> Desk:
    """`chance`: what a form keeps of a game."""
    n = max(n for _, n in run)
    return Desk(
        Scratch(
            chance,
            cache_aligned(np.zeros(2, dtype=np.int64)),
            cache_aligned(np.empty(4, dtype=np.uint64)),
        ),
        cache_aligned_fields(new_deal()),
        np.empty((n, N_DEALT), dtype=np.uint8),
        np.empty((n, 2)),
        np.empty((n, 2), dtype=np.int32),
        np.empty(n),
        np.empty((len(run), 3, SERIES)),
    )


def _parts(run: Run, desk: Desk) -> list[Part]:
    return [
        Part(number, n, Tally(*found), [])
        for (number, n), found in zip(run, desk.tallies, strict=True)
    ]


def _play_policies(game: Game, policies: tuple[Any, Any], plan: Plan, run: Run) -> list[Part]:
    desk = _desk(run, new_hand(game.form))
    play_policy_blocks(game.form, *policies, plan.blocks(run), desk)
    return _with_raw(_parts(run, desk), plan, desk)


class Setting(NamedTuple):
    """What two tables need to play."""

    nodes: PublicNodes
    a: Table
    b: Table


def _setting(tree: BettingTree, bots: tuple[TableBot, TableBot]) -> Setting:
    return Setting(tree.nodes, bots[0].table, bots[1].table)


def _play_tables(setting: Setting, plan: Plan, run: Run) -> list[Part]:
    """A run is a single block where hands are kept."""
    desk = _desk(run, cache_aligned_fields(new_deal()))
    play_table_blocks(*setting, plan.blocks(run), desk)
    parts = _parts(run, desk)
    if plan.keeping:
        parts[0].played.extend(_played(desk.cards, desk.won, desk.ends))
    return _with_raw(parts, plan, desk)


def _with_raw(parts: list[Part], plan: Plan, desk: Desk) -> list[Part]:
    """A run is a single block where luck is taken out."""
    if not plan.adjusting:
        return parts
    return [parts[0]._replace(raw=PlayedDeals(desk.cards, desk.won, desk.ends))]


def _played(cards: np.ndarray, won: np.ndarray, ends: np.ndarray) -> list[Played]:
    """Hands of a block, `a` being the dealer in the first column and `b` in the second."""
    return [
        Played(
            dealer,
            tuple(cards[k].tolist()),
            int(ends[k, dealer]),
            float(won[k, dealer] if dealer == 0 else -won[k, dealer]),
        )
        for k in range(len(cards))
        for dealer in (0, 1)
        if not np.isnan(won[k, dealer])
    ]


def _anew(players: tuple[Any, Any], plan: Plan) -> Remake[Part] | None:
    """How another process plays, where both players can be made there."""
    known = recipes(players)
    return None if known is None else partial(_make_and_play, known, plan)


def _make_and_play(known: tuple[Recipe, Recipe], plan: Plan) -> Play[Part]:
    return partial(_play_bots, (known[0].made(), known[1].made()), plan)


def _play_bots(bots: tuple[Any, Any], plan: Plan, block: Block, stop: Asked) -> Part:
    """Bots that think in Python: a session, and in a duplicate the same with the seats swapped."""
    number, n = block
    deals = session(plan.seed, number, n, betting=plan.betting)
    if plan.cards is not None:
        deals = deals._replace(cards=plan.cards)
    played: list[Played] = []
    won, ends = np.full((n, 2), np.nan), np.zeros((n, 2), dtype=np.int32)
    for swap in (False, True) if plan.duplicate else (False,):
        hands: list[Played] = []
        keep = hands.append if plan.one_by_one else None
        result = play_session(bots, deals, swap, keep, stop)
        k = np.arange(len(result))
        column = ((deals.first + k) & 1) ^ int(swap)
        won[k, column] = result
        if plan.adjusting:
            ends[k, column] = [hand.end for hand in hands]
        played += hands if plan.keeping else []
    raw = PlayedDeals(deals.cards, won, ends) if plan.adjusting else None
    return Part(number, n, tally(won), played, raw)
