"""Matches of hold'em without the luck of what is known: AIVAT (Burch et al. 2018).

In games with a tree see `core/match/luck_adjustment.py`. In hold'em whoever deals knows both
holdings; u(h) is the value of a public node for a pair of buckets (`poker/vector/pairs.py`), from
the strategies of the players where they are tables of few buckets, else of one for both, else of
checking and calling. Corrected are the deal, the flop over all 17,296 of them, the turn and the
river over all cards that are left, and the actions of players who are tables. The mean stays right
with any u. Deviations: holdings are known, so nothing is averaged over them (imaginary
observations)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.poker.abstraction.matchups import N_FLOPS, Matchups, matchup_of, matchups
from counterplay.poker.betting.betting import BettingTree, PublicNodes
from counterplay.poker.betting.rows import row_of
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.deal import N_DEALT, Deal, bucket_of, find_board, new_deal
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.vector.pairs import can_pair, pair_values

ALL_FLOPS = 20_000  # hands from which on it pays to count the flops of all matchups
DEFAULT_GAME = "holdem(buckets=10)"
MOST_STRATEGIES = 4  # whose values are held at once: 50 MB each
DEEPEST = 64  # decisions of a hand, at most


class PlayerValues(NamedTuple):
    """Who plays, `a` as player 1 and then as player 2, and what is known of them."""

    value: np.ndarray  # float64[2, n, b²]: of `PairValues`, what player 1 wins
    before: np.ndarray  # float64[2, n, b²]
    start: np.ndarray  # float64[2]: the mean of `value` at the start over all deals
    known: np.ndarray  # bool[2]: whether `a`, `b` are tables


class PairGame(NamedTuple):
    """The public tree, and cards seen as pairs of buckets."""

    nodes: PublicNodes
    parent: np.ndarray  # int32[n]
    cards: Any  # of the card abstraction of the values
    matchups: Matchups
    buckets: int


class LuckWorkspace(NamedTuple):
    """Of one thread."""

    chance: Deal
    path: np.ndarray  # int64[DEEPEST]
    code: np.ndarray  # int64[2]: what tables remember


@jit(inner=True)
def _pair(pairs: PairGame, chance: Deal, street: int, board: int) -> int:
    """Both players' buckets as one number."""
    one = index(bucket_of(pairs.cards, chance, board, 0, street))
    two = index(bucket_of(pairs.cards, chance, board, 1, street))
    return one * index(pairs.buckets) + two


@jit(inner=True)
def _dealt(chance: Deal, card: int, known: int) -> bool:
    """Whether a card is among the first `known` of the deck."""
    found = False
    for j in range(index(known)):
        found = found or chance.deck[j] == card
    return found


@jit(inner=True)
def _mean_flop(pairs: PairGame, chance: Deal, value: np.ndarray, node: int) -> float:
    """The mean of `value[node]` over all flops."""
    number, total = index(matchup_of(pairs.cards, pairs.matchups, chance)), 0.0
    for pair in range(index(pairs.buckets) * index(pairs.buckets)):
        total += pairs.matchups.flops[number, pair] * value[index(node), pair]
    return total / N_FLOPS


@jit(inner=True)
def _mean_next(pairs: PairGame, chance: Deal, value: np.ndarray, node: int, street: int) -> float:
    """The mean of `value[node]` over all cards of the turn or river."""
    place = index(5 + street)
    card, total, count = chance.deck[place], 0.0, 0
    board, renaming = chance.board[ZERO], chance.renaming[ZERO]
    for other in range(52):
        if _dealt(chance, other, 5 + street):
            continue
        chance.deck[place] = other
        chance.board[ZERO], chance.renaming[ZERO] = board, renaming
        seen = find_board(pairs.cards, chance, street)
        total += value[index(node), _pair(pairs, chance, street, seen)]
        count += 1
    chance.deck[place] = card
    chance.board[ZERO], chance.renaming[ZERO] = board, renaming
    return total / count


@jit(inner=True)
def _row(table: Table, node: int, code: int, facing: bool, action: int) -> float:
    """The probability of child `action` of a node: folding comes first where it is possible."""
    row = index(row_of(table.first_row, index(node), code))
    return float(table.policy[row, index(action) if facing else index(action + 1)])


@jit(inner=True)
def _value_after(
    pairs: PairGame, values: PlayerValues, side: int, node: int, child: int, pair: int
) -> float:
    """u after an action: before the cards of a new street are dealt."""
    nodes = pairs.nodes
    opens = nodes.player[index(child)] >= 0 and (
        nodes.street[index(child)] != nodes.street[index(node)]
    )
    if opens:
        return float(values.before[index(side), index(child), index(pair)])
    return float(values.value[index(side), index(child), index(pair)])


@jit
def hand_correction(
    pairs: PairGame,
    one: Table,
    two: Table,
    values: PlayerValues,
    side: int,
    end: int,
    workspace: LuckWorkspace,
) -> float:
    """What is added to player 1's winnings of the hand with the cards of `workspace.chance`.
    `side`: 0 where `a` is player 1."""
    nodes, chance, path, code = pairs.nodes, workspace.chance, workspace.path, workspace.code
    value = values.value[index(side)]
    length, node = ZERO, end
    while node > 0:
        path[length] = node
        length += ONE
        node = pairs.parent[index(node)]
    code[0] = code[1] = 0
    street, pair, correction = -1, ZERO, 0.0
    node = 0
    step = length
    while True:
        if nodes.player[index(node)] >= 0 and nodes.street[index(node)] != street:
            street = int(nodes.street[index(node)])
            if street == 0:
                mean = values.start[index(side)]
            elif street == 1:
                mean = _mean_flop(pairs, chance, value, node)
            else:
                mean = _mean_next(pairs, chance, value, node, street)
            board = find_board(pairs.cards, chance, street)
            pair = _pair(pairs, chance, street, board)
            correction += mean - value[index(node), pair]
            bucket = np.int64(bucket_of(one.cards, chance, board, 0, street))
            code[0] = code[0] * one.carry[street] + bucket
            bucket = np.int64(bucket_of(two.cards, chance, board, 1, street))
            code[1] = code[1] * two.carry[street] + bucket
        if step == ZERO:
            return correction
        step -= ONE
        below = path[step]
        player = int(nodes.player[index(node)])
        if values.known[index(player ^ side)]:
            first = int(nodes.first_child[index(node)])
            facing = nodes.passive[index(nodes.decision[index(node)])] == 1
            mean = 0.0
            for c in range(first, int(nodes.first_child[index(node) + ONE])):
                if player == 0:
                    share = _row(one, node, code[0], facing, c - first)
                else:
                    share = _row(two, node, code[1], facing, c - first)
                mean += share * _value_after(pairs, values, side, node, c, pair)
            correction += mean - _value_after(pairs, values, side, node, below, pair)
        node = int(below)


@jit
def adjust_deals(
    pairs: PairGame,
    a: Table,
    b: Table,
    values: PlayerValues,
    cards: np.ndarray,
    ends: np.ndarray,
    won: np.ndarray,
    workspace: LuckWorkspace,
) -> None:
    """Add to `won` what the luck of every hand that was played took away."""
    for k in range(index(len(cards))):
        for j in range(index(N_DEALT)):
            workspace.chance.deck[j] = cards[k, j]
        if won[k, ZERO] == won[k, ZERO]:  # not NaN
            won[k, ZERO] += hand_correction(pairs, a, b, values, 0, ends[k, ZERO], workspace)
        if won[k, ONE] == won[k, ONE]:
            won[k, ONE] -= hand_correction(pairs, b, a, values, 1, ends[k, ONE], workspace)


class HoldemLuckAdjustment:
    """Takes the luck out of hands of two players of hold'em."""

    def __init__(
        self, game: Game, a: Any, b: Any, hands: int = 0, progress: ProgressCallback = no_progress
    ) -> None:
        tables = [_table(player) for player in (a, b)]
        self._known = np.array([table is not None for table in tables])
        view, one, two = _value_players(game, a, b)
        blank = strategy_table(simple_strategy("always-call", view))
        self._a, self._b = (blank if table is None else table for table in tables)
        sides = [pair_values(view, *pair) for pair in ((one, two), (two, one))]
        first = exact_first(view)
        self._values = PlayerValues(
            np.stack([side.value for side in sides]),
            np.stack([side.before for side in sides]),
            np.array([float(first @ side.value[0]) for side in sides]),
            self._known,
        )
        tree = view.rules.tree
        buckets = sides[0].chance.buckets
        flops = matchups(view.rules.view, view.form.cards, hands >= ALL_FLOPS, progress)
        self._pairs = PairGame(tree.nodes, _parents(tree), view.form.cards, flops, index(buckets))
        self._workspace = LuckWorkspace(
            new_deal(), np.zeros(DEEPEST, dtype=np.int64), np.zeros(2, dtype=np.int64)
        )

    def adjusted(self, raw: PlayedDeals) -> np.ndarray:
        """float64[n, 2]: what `a` won, luck taken out."""
        won = raw.won.copy()
        assert raw.cards is not None
        adjust_deals(
            self._pairs, self._a, self._b, self._values, raw.cards, raw.ends, won, self._workspace
        )
        return won


class HandLuckAdjustment:
    """The same hand by hand, for a player whose strategy changes and is known: `a`."""

    def __init__(self, game: Game, foe: Any, hands: int = 0) -> None:
        self._game, self._foe, self._hands = game, foe, hands
        self._by_strategy: dict[int, tuple[Strategy, HoldemLuckAdjustment]] = {}

    def adjusted(self, strategy: Strategy, seat: int, cards: Any, end: int, won: float) -> float:
        """What `a`, who sat at `seat` and played `strategy`, won in a hand, luck taken out."""
        if id(strategy) not in self._by_strategy:
            adjustment = HoldemLuckAdjustment(
                self._game, strategy_bot(strategy), self._foe, self._hands
            )
            while len(self._by_strategy) >= MOST_STRATEGIES:
                self._by_strategy.pop(next(iter(self._by_strategy)))
            self._by_strategy[id(strategy)] = (strategy, adjustment)
        raw = PlayedDeals(
            np.array([cards], dtype=np.uint8), np.full((1, 2), np.nan), np.zeros((1, 2), np.int32)
        )
        raw.won[0, seat], raw.ends[0, seat] = won, end
        return float(self._by_strategy[id(strategy)][1].adjusted(raw)[0, seat])


def _table(player: Any) -> Table | None:
    return player.table if isinstance(player, TableBot) else None


def _value_players(game: Game, a: Any, b: Any) -> tuple[Game, np.ndarray, np.ndarray]:
    """The game of the values, and whose strategies they are about: slots of `a` and `b`."""
    strategies = [getattr(player, "strategy", None) for player in (a, b)]
    views = [
        one.game
        for one in strategies
        if isinstance(one, Strategy) and one.player is None and _has_pairs(one.game)
    ]
    if not views:
        view = game if _has_pairs(game) else load(DEFAULT_GAME)
        calls = simple_strategy("always-call", view).probabilities
        return view, calls, calls
    view = views[0]
    fine = [
        one.probabilities
        for one in strategies
        if isinstance(one, Strategy) and one.game.fingerprint == view.fingerprint
    ]
    return view, fine[0], fine[-1]


def _has_pairs(game: Game) -> bool:
    return can_pair(game) and min(game.rules.view.counts) > 1


@lru_cache(maxsize=2)
def _parents(tree: BettingTree) -> np.ndarray:
    parent = np.zeros(len(tree.states), dtype=np.int32)
    first = tree.nodes.first_child
    for node in range(len(tree.states)):
        parent[first[node] : first[node + 1]] = node
    return parent


def exact_first(view: Game) -> np.ndarray:
    """float64[b²]: how likely each pair of buckets is before the flop, exactly."""
    bucket = view.rules.buckets.preflop.astype(np.int64)
    held = np.zeros((len(bucket), 52))
    held[np.arange(len(bucket))[:, None], HOLDING_CARDS] = 1.0
    b = max(view.rules.view.counts)
    one = np.eye(b)[bucket]
    apart = (held @ held.T == 0).astype(np.float64)
    pairs = (one.T @ apart @ one).reshape(-1)
    shares: np.ndarray = pairs / pairs.sum()
    return shares
