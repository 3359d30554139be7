"""Hold'em by pairs of buckets: what two strategies of one view are worth to each other, nearly.

The cards are taken as a chain: a pair of buckets on one street says how likely each pair on the
next is, whatever came before (`PairChance`, counted in a sample of deals with a fixed seed). In
that chain the value of every public node for every pair of buckets is one pass over the betting
tree, some ten milliseconds. It is no exact value of hold'em, since cards remember more than
buckets; matches are adjusted by it (`poker/match/luck_adjustment.py`), which stays right with any
values, and strategies are compared with each other by it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.betting.rows import row_of
from counterplay.poker.cards.deal import (
    Deal,
    bucket_of,
    compare,
    draw,
    find_board,
    new_deal,
)

DEALS = 500_000
SEED = 20_110
MOST_BUCKETS = 16  # of a street: pairs of pairs are counted
STREETS = 4


class PairChance(NamedTuple):
    """How pairs of buckets follow each other, b of them on a street: pairs are b0 · b + b1."""

    first: np.ndarray  # float64[b²]: before the flop
    step: np.ndarray  # float64[3, b², b²]: from a street to the next; rows add up to one
    shown: np.ndarray  # float64[b²]: what player 1 wins of one at a showdown
    buckets: int


@jit
def _count(
    cards: Any,
    deals: int,
    b: int,
    chance: Deal,
    rng: np.ndarray,
    first: np.ndarray,
    step: np.ndarray,
    shown: np.ndarray,
) -> None:
    for _ in range(deals):
        draw(chance, rng)
        before = ZERO
        for street in range(STREETS):
            board = find_board(cards, chance, street)
            one = index(bucket_of(cards, chance, board, 0, street))
            two = index(bucket_of(cards, chance, board, 1, street))
            pair = one * index(b) + two
            if street == 0:
                first[pair] += 1.0
            else:
                step[index(street - 1), before, pair] += 1.0
            before = pair
        compare(chance)
        shown[before, ZERO] += chance.winner[ZERO]
        shown[before, ONE] += 1.0


@lru_cache(maxsize=2)
def _chance_of(view: Any, cards_of_view: _Held) -> PairChance:
    """Counted once for each view."""
    b = max(view.counts)
    first, step = np.zeros(b * b), np.zeros((STREETS - 1, b * b, b * b))
    shown = np.zeros((b * b, 2))
    _count(cards_of_view.cards, DEALS, b, new_deal(), new_state(SEED), first, step, shown)
    rows = step.sum(axis=2, keepdims=True)
    step = np.where(rows > 0, step / np.maximum(rows, 1.0), 1.0 / (b * b))
    one, two = np.divmod(np.arange(b * b), b)
    guess = np.sign(one - two)  # of a pair that was never shown
    known = shown[:, 1] > 0
    win = np.where(known, shown[:, 0] / np.maximum(shown[:, 1], 1.0), guess)
    return PairChance(first / first.sum(), step, win, b)


class _Held:
    """The cards of a view, equal to all others of the same view."""

    def __init__(self, cards: Any) -> None:
        self.cards = cards

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)

    def __hash__(self) -> int:
        return 0


def can_pair(game: Game) -> bool:
    """Whether pairs of a game's buckets can be counted."""
    return (
        game.can("boards")
        and max(game.rules.view.counts) <= MOST_BUCKETS
        and game.rules.betting.n_streets == STREETS
        and game.rules.view.deck.full
    )


def pair_chance(game: Game) -> PairChance:
    """How pairs of buckets of a hold'em game follow each other."""
    if not can_pair(game):
        raise BadParameter(
            f"pairs of buckets are for hold'em with at most {MOST_BUCKETS} buckets on four "
            f"streets, not for {game.name}"
        )
    return _chance_of(game.rules.view, _Held(game.form.cards))


class OpenNodes(NamedTuple):
    """`PublicNodes` with what is needed here."""

    player: np.ndarray
    first_child: np.ndarray
    street: np.ndarray
    folded: np.ndarray
    stake: np.ndarray
    opens: np.ndarray  # bool[n]: the first node of its street


@jit
def fill_values(
    nodes: OpenNodes,
    first_row: np.ndarray,
    first: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    chance: PairChance,
    value: np.ndarray,
    before: np.ndarray,
) -> None:
    """What player 1 wins from each public node on, for each pair of buckets there: `value`
    (float64[n, b²]); at the first node of a street also for each pair of the street before it:
    `before` (the same shape). `one`, `two`: policies by slot."""
    b = index(chance.buckets)
    pairs = b * b
    node = index(len(nodes.player))
    while node > ZERO:
        node -= ONE
        player = nodes.player[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            folded = nodes.folded[node]
            for p in range(pairs):
                won = chance.shown[p] if folded == NO_FOLD else (-1.0 if folded == 0 else 1.0)
                value[node, p] = nodes.stake[node] * won
            continue
        for p in range(pairs):
            bucket = p // b if player == 0 else p % b
            row = index(row_of(first_row, node, np.int64(bucket)))
            slot = index(first[row])
            total = 0.0
            for c in range(low, high):
                share = one[slot + c - low] if player == 0 else two[slot + c - low]
                new = nodes.player[c] >= 0 and nodes.street[c] != nodes.street[node]
                total += share * (before[c, p] if new else value[c, p])
            value[node, p] = total
        street = nodes.street[node]
        if street > 0 and nodes.opens[node]:
            step = chance.step[index(street - 1)]
            for p in range(pairs):
                total = 0.0
                for q in range(pairs):
                    total += step[p, q] * value[node, q]
                before[node, p] = total


class PairValues(NamedTuple):
    """Values of two strategies against each other: n public nodes, b² pairs of buckets."""

    value: np.ndarray  # float64[n, b²]: what player 1 wins from here on
    before: np.ndarray  # float64[n, b²]: the same before the street of its first node is dealt
    chance: PairChance

    @property
    def worth(self) -> float:
        """Of the whole game to player 1."""
        return float(self.chance.first @ self.value[0])


def pair_values(game: Game, one: np.ndarray, two: np.ndarray) -> PairValues:
    """`one`, `two`: probabilities by slot of player 1 and player 2, each a whole profile."""
    chance = pair_chance(game)
    form, pairs = game.form, chance.buckets**2
    value = np.zeros((form.n_nodes, pairs))
    before = np.zeros((form.n_nodes, pairs))
    fill_values(_opened(game), form.first_row, form.first, one, two, chance, value, before)
    return PairValues(value, before, chance)


@lru_cache(maxsize=4)
def _opens(tree: Any) -> np.ndarray:
    parent = np.zeros(len(tree.states), dtype=np.int64)
    first = tree.nodes.first_child
    for node in range(len(tree.states)):
        parent[first[node] : first[node + 1]] = node
    found: np.ndarray = tree.nodes.street != tree.nodes.street[parent]
    return found


def _opened(game: Game) -> OpenNodes:
    nodes = game.rules.tree.nodes
    return OpenNodes(
        nodes.player,
        nodes.first_child,
        nodes.street,
        nodes.folded,
        nodes.stake,
        _opens(game.rules.tree),
    )


def worth_against(game: Game, mine: np.ndarray, his: np.ndarray) -> float:
    """What a strategy wins from another per hand, the mean of both seats, nearly."""
    return 0.5 * (pair_values(game, mine, his).worth - pair_values(game, his, mine).worth)
