"""AIVAT in matches of hold'em (Burch et al. 2018); for games with a tree see
`core/match/luck_adjustment.py`.

u(h) is the value of a public node for a pair of buckets (`poker/holdem/bucket_pairs.py`), from the
strategies of the players if they are tables of few buckets, else from one of them for both, else
from checking and calling; on the river with the true winner in place of the expected one.
Corrections are made for the deal, for the flop over all 17,296 of them,
for the turn and the river over all remaining cards, and for the actions of players that are tables.
The estimate is unbiased for any u. Deviations: the dealer knows both hands, so there are no
imaginary observations."""

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
from counterplay.poker.betting.betting import PublicNodes, row_of
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.deal import N_DEALT, Deal, bucket_of, compare, find_board, new_deal
from counterplay.poker.holdem.bucket_pairs import (
    N_FLOPS,
    Matchups,
    can_pair,
    matchup_of,
    matchups,
    pair_values,
)
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.match.deals import reach_street
from counterplay.poker.match.river import RiverPlay, mean_river, no_river, river_now, walks
from counterplay.poker.players import DEFAULT_GAME

ALL_FLOPS = 20_000  # hands from which counting the flops of all matchups pays
MOST_STRATEGIES = 4  # whose values are in memory: 50 MB each
LAST_STREET = 3
DEEPEST = 64  # most decisions of a hand
#: Parts of a correction: for the cards of each street, for actions; and the probability of actions.
ACTION, REACH, PARTS = index(4), index(5), 6
NOBODY = -1  # says its probabilities itself


class PlayerValues(NamedTuple):
    """The values u, with `a` as player 1 and then as player 2."""

    value: np.ndarray  # float64[2, n, b²]: payoff of player 1, as in `PairValues`
    before: np.ndarray  # float64[2, n, b²]
    start: np.ndarray  # float64[2]: the mean of `value` at the start over all deals
    known: np.ndarray  # bool[2]: whether `a`, `b` have known strategies
    shown: np.ndarray  # float64[2, n, b²]: as in `PairValues`
    showdown: np.ndarray  # float64[b²]: expected win of player 1 at a showdown, from -1 to 1


class PairGame(NamedTuple):
    """The public tree with pairs of buckets."""

    nodes: PublicNodes
    parent: np.ndarray  # int32[n]
    cards: Any  # of the card abstraction of the values
    matchups: Matchups
    buckets: int


class LuckWorkspace(NamedTuple):
    """Arrays of one thread."""

    chance: Deal
    path: np.ndarray  # int64[DEEPEST]
    code: np.ndarray  # int64[2]: each player's buckets so far, as one number


@jit(inner=True)
def _pair(pairs: PairGame, chance: Deal, street: int, board: int, before: int) -> int:
    """The pair of buckets as one index; `before`: that of the street before."""
    b = index(pairs.buckets)
    one = index(bucket_of(pairs.cards, chance, board, 0, street, before // b))
    two = index(bucket_of(pairs.cards, chance, board, 1, street, before % b))
    return one * b + two


@jit(inner=True)
def is_dealt(chance: Deal, card: int, known: int) -> bool:
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
def compare_on_river(chance: Deal, street: int) -> None:
    """Finds the winner once all cards are dealt."""
    if street == LAST_STREET:
        compare(chance)


@jit(inner=True)
def _u(values: PlayerValues, side: int, node: int, pair: int, chance: Deal) -> float:
    """u of a node. On the last street the winner is known: in place of the expected win at a
    showdown the true one counts; elsewhere `shown` is 0."""
    s, n, p = index(side), index(node), index(pair)
    stake = values.shown[s, n, p]
    won = float(values.value[s, n, p])
    return won if stake == 0.0 else won + stake * (chance.winner[ZERO] - values.showdown[p])


@jit(inner=True)
def _mean_next(
    pairs: PairGame,
    chance: Deal,
    values: PlayerValues,
    side: int,
    node: int,
    street: int,
    pair: int,
) -> float:
    """The mean of u over all cards of the turn or river; `pair`: of the street before."""
    place = index(5 + street)
    card, total, count = chance.deck[place], 0.0, 0
    board, permutation = chance.board[ZERO], chance.permutation[ZERO]
    for other in range(52):
        if is_dealt(chance, other, 5 + street):
            continue
        chance.deck[place] = other
        chance.board[ZERO], chance.permutation[ZERO] = board, permutation
        seen = find_board(pairs.cards, chance, street)
        compare_on_river(chance, street)
        total += _u(values, side, node, _pair(pairs, chance, street, seen, pair), chance)
        count += 1
    chance.deck[place] = card
    chance.board[ZERO], chance.permutation[ZERO] = board, permutation
    return total / count


@jit(inner=True)
def _action_probability(table: Table, node: int, code: int, facing: bool, action: int) -> float:
    """The probability of child `action` of a node; folding comes first where it is legal."""
    row = index(row_of(table.first_row, index(node), code))
    return float(table.policy[row, index(action) if facing else index(action + 1)])


@jit(inner=True)
def _value_after(
    pairs: PairGame, values: PlayerValues, side: int, node: int, child: int, pair: int, chance: Deal
) -> float:
    """u after an action, before the cards of a new street are dealt."""
    nodes = pairs.nodes
    opens = nodes.player[index(child)] >= 0 and (
        nodes.street[index(child)] != nodes.street[index(node)]
    )
    if opens:
        return float(values.before[index(side), index(child), index(pair)])
    return _u(values, side, child, pair, chance)


@jit(inner=True)
def _after(
    pairs: PairGame, values: PlayerValues, river: RiverPlay, side: int, node: int, child: int,
    pair: int, chance: Deal,
) -> float:  # fmt: skip
    """The same; on a river that is walked its value."""
    if walks(river) and pairs.nodes.street[index(node)] == LAST_STREET:
        return float(river.value[index(child)])
    return _value_after(pairs, values, side, node, child, pair, chance)


@jit(inner=True)
def hand_correction(
    pairs: PairGame,
    one: Table,
    two: Table,
    values: PlayerValues,
    river: RiverPlay,
    side: int,
    end: int,
    teller: int,
    told: np.ndarray,
    workspace: LuckWorkspace,
    parts: np.ndarray,
) -> float:
    """The correction of player 1's payoff in the hand with the cards of `workspace.chance`.
    `side`: 0 where `a` is player 1. `river`: walks the river, with a model of `a`. `told`: the
    probabilities of fold, call and raise at each decision of the player `teller` in this hand;
    there may be no such player. Fills `parts` (float64[PARTS]): the corrections for the cards of
    each street and for actions, and the probability of the known players' actions; it stops where
    that is 0."""
    nodes, chance, path, code = pairs.nodes, workspace.chance, workspace.path, workspace.code
    value = values.value[index(side)]
    length, node = ZERO, end
    while node > 0:
        path[length] = node
        length += ONE
        node = pairs.parent[index(node)]
    code[0] = code[1] = 0
    for j in range(ACTION + ONE):
        parts[j] = 0.0
    parts[REACH] = 1.0
    street, pair, correction = -1, ZERO, 0.0
    node, decision = 0, ZERO
    step = length
    while True:
        if nodes.player[index(node)] >= 0 and nodes.street[index(node)] != street:
            street = int(nodes.street[index(node)])
            b = index(pairs.buckets)
            before, known = int(pair // b if side == 0 else pair % b), int(code[index(1 - side)])
            walked = walks(river) and street == LAST_STREET
            if street == 0:
                mean = values.start[index(side)]
            elif street == 1:
                mean = _mean_flop(pairs, chance, value, node)
            elif walked:
                mean = mean_river(pairs.cards, nodes, river, chance, node, side, before, known)
            else:
                mean = _mean_next(pairs, chance, values, side, node, street, pair)
            compare_on_river(chance, street)
            board = find_board(pairs.cards, chance, street)
            pair = _pair(pairs, chance, street, board, pair)
            if walked:
                now = river_now(pairs.cards, nodes, river, chance, node, side, board, before, known)
            else:
                now = _u(values, side, node, pair, chance)
            parts[index(street)] = mean - now
            correction += parts[index(street)]
            reach_street(one, chance, board, 0, street, code)
            reach_street(two, chance, board, 1, street, code)
        if step == ZERO:
            return correction
        step -= ONE
        below = path[step]
        player = int(nodes.player[index(node)])
        if player == teller or values.known[index(player ^ side)]:
            first = int(nodes.first_child[index(node)])
            facing = nodes.passive[index(nodes.decision[index(node)])] == 1
            mean = 0.0
            for c in range(first, int(nodes.first_child[index(node) + ONE])):
                if player == teller:
                    share = told[decision, index(c - first if facing else c - first + 1)]
                elif player == 0:
                    share = _action_probability(one, node, code[0], facing, c - first)
                else:
                    share = _action_probability(two, node, code[1], facing, c - first)
                mean += share * _after(pairs, values, river, side, node, c, pair, chance)
                if c == below:
                    parts[REACH] *= share
            if parts[REACH] == 0.0:
                return 0.0
            mean -= _after(pairs, values, river, side, node, below, pair, chance)
            parts[ACTION] += mean
            correction += mean
            decision += ONE if player == teller else ZERO
        node = int(below)


@jit
def adjust_deals(
    pairs: PairGame,
    a: Table,
    b: Table,
    values: PlayerValues,
    river: RiverPlay,
    cards: np.ndarray,
    ends: np.ndarray,
    won: np.ndarray,
    workspace: LuckWorkspace,
    parts: np.ndarray,
) -> None:
    """Adds the correction of every hand to `won`."""
    told = parts.reshape((1, len(parts)))  # by nobody
    for k in range(index(len(cards))):
        for j in range(index(N_DEALT)):
            workspace.chance.deck[j] = cards[k, j]
        if won[k, ZERO] == won[k, ZERO]:  # not NaN
            won[k, ZERO] += hand_correction(
                pairs, a, b, values, river, 0, ends[k, ZERO], NOBODY, told, workspace, parts
            )
        if won[k, ONE] == won[k, ONE]:
            won[k, ONE] -= hand_correction(
                pairs, b, a, values, river, 1, ends[k, ONE], NOBODY, told, workspace, parts
            )


class HoldemLuckAdjustment:
    """Luck-adjusted payoffs of two players of hold'em."""

    def __init__(
        self, game: Game, a: Any, b: Any, hands: int = 0, progress: ProgressCallback = no_progress
    ) -> None:
        tables = [_table(player) for player in (a, b)]
        self._known = np.array([table is not None for table in tables])
        view, one, two = _value_players(game, a, b)
        blank = strategy_table(simple_strategy("always-call", view))
        self._a, self._b = (blank if table is None else table for table in tables)
        side = pair_values(view, one, two)
        sides = [side, side if one is two else pair_values(view, two, one)]
        first = exact_first(view)
        self._values = PlayerValues(
            np.stack([side.value for side in sides]),
            np.stack([side.before for side in sides]),
            np.array([float(first @ side.value[0]) for side in sides]),
            self._known,
            np.stack([side.shown for side in sides]),
            sides[0].chance.showdown,
        )
        tree = view.rules.tree
        buckets = sides[0].chance.buckets
        flops = matchups(view.rules.abstraction, view.form.cards, hands >= ALL_FLOPS, progress)
        self._pairs = PairGame(tree.nodes, tree.parent, view.form.cards, flops, index(buckets))
        self._workspace = LuckWorkspace(
            new_deal(), np.zeros(DEEPEST, dtype=np.int64), np.zeros(2, dtype=np.int64)
        )

    def adjusted(self, raw: PlayedDeals) -> np.ndarray:
        """float64[n, 2]: the luck-adjusted payoff of `a`."""
        won = raw.won.copy()
        assert raw.cards is not None
        adjust_deals(
            self._pairs,
            self._a,
            self._b,
            self._values,
            no_river(self._b),
            raw.cards,
            raw.ends,
            won,
            self._workspace,
            np.zeros(PARTS),
        )
        return won


class HandLuckAdjustment:
    """Luck-adjusted payoffs hand by hand, for a player `a` whose known strategy changes."""

    def __init__(self, game: Game, opponent: Any, hands: int = 0) -> None:
        self._game, self._opponent, self._hands = game, opponent, hands
        self._by_strategy: dict[int, tuple[Strategy, HoldemLuckAdjustment]] = {}

    def adjusted(self, strategy: Strategy, seat: int, cards: Any, end: int, won: float) -> float:
        """The luck-adjusted payoff of `a` in a hand, in `seat` with `strategy`."""
        if id(strategy) not in self._by_strategy:
            player = strategy_bot(strategy)
            adjustment = HoldemLuckAdjustment(self._game, player, self._opponent, self._hands)
            while len(self._by_strategy) >= MOST_STRATEGIES:
                self._by_strategy.pop(next(iter(self._by_strategy)))
            self._by_strategy[id(strategy)] = (strategy, adjustment)
        raw = PlayedDeals.of_hand(cards, seat, won, end)
        return float(self._by_strategy[id(strategy)][1].adjusted(raw)[0, seat])


def _table(player: Any) -> Table | None:
    return player.table if isinstance(player, TableBot) else None


def _value_players(game: Game, a: Any, b: Any) -> tuple[Game, np.ndarray, np.ndarray]:
    """The game of u, and the strategies of `a` and `b` for it: float64[slots] each."""
    played = (getattr(player, "strategy", None) for player in (a, b))
    strategies = [one for one in played if isinstance(one, Strategy)]
    games = [one.game for one in strategies if one.player is None and _has_pairs(one.game)]
    if not games:
        game = game if _has_pairs(game) else load(DEFAULT_GAME)
        calls = simple_strategy("always-call", game).probabilities
        return game, calls, calls
    game = games[0]
    same = [one.probabilities for one in strategies if one.game.fingerprint == game.fingerprint]
    return game, same[0], same[-1]


def _has_pairs(game: Game) -> bool:
    return can_pair(game) and min(game.rules.abstraction.counts) > 1


@lru_cache(maxsize=2)
def exact_first(view: Game) -> np.ndarray:
    """float64[b²]: the exact probability of each pair of buckets before the flop."""
    bucket = view.rules.buckets.preflop.astype(np.int64)
    held = np.zeros((len(bucket), 52))
    held[np.arange(len(bucket))[:, None], HOLDING_CARDS] = 1.0
    b = max(view.rules.abstraction.counts)
    one = np.eye(b)[bucket]
    disjoint = (held @ held.T == 0).astype(np.float64)
    pairs = (one.T @ disjoint @ one).reshape(-1)
    shares: np.ndarray = pairs / pairs.sum()
    return shares
