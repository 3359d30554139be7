"""Approximate values of two strategies of one card abstraction, by pairs of buckets.

The cards are replaced by a Markov chain over pairs of buckets, one for each player: the pair of one
street gives the distribution of the pair of the next (`PairChance`, estimated from a sample of
deals with a fixed seed). One pass over the betting tree, about ten milliseconds, gives the value of
every public node for every pair. The values are not exact, since the cards of hold'em are not a
Markov chain in buckets. They serve as a baseline in luck adjustment
(`poker/match/luck_adjustment.py`), which is unbiased with any values, and to compare strategies.
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
MOST_BUCKETS = 16  # on a street: transition matrices have its fourth power of entries
STREETS = 4


class PairChance(NamedTuple):
    """A Markov chain over pairs of buckets, b on a street; a pair is b0 · b + b1."""

    first: np.ndarray  # float64[b²]: distribution before the flop
    step: np.ndarray  # float64[3, b², b²]: transition probabilities from each street to the next
    showdown: np.ndarray  # float64[b²]: expected win of player 1 at a showdown, from -1 to 1
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
    showdown: np.ndarray,
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
        showdown[before, ZERO] += chance.winner[ZERO]
        showdown[before, ONE] += 1.0


@lru_cache(maxsize=2)
def _chance_of(abstraction: Any, cards: _Unhashed) -> PairChance:
    """Estimates the chain of a card abstraction, once for each."""
    b = max(abstraction.counts)
    first, step = np.zeros(b * b), np.zeros((STREETS - 1, b * b, b * b))
    showdown = np.zeros((b * b, 2))
    _count(cards.value, DEALS, b, new_deal(), new_state(SEED), first, step, showdown)
    rows = step.sum(axis=2, keepdims=True)
    step = np.where(rows > 0, step / np.maximum(rows, 1.0), 1.0 / (b * b))
    one, two = np.divmod(np.arange(b * b), b)
    guess = np.sign(one - two)  # for pairs without a showdown in the sample
    win = np.where(showdown[:, 1] > 0, showdown[:, 0] / np.maximum(showdown[:, 1], 1.0), guess)
    return PairChance(first / first.sum(), step, win, b)


class _Unhashed:
    """An argument that `lru_cache` ignores: all are equal."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unhashed)

    def __hash__(self) -> int:
        return 0


def can_pair(game: Game) -> bool:
    """Returns whether a game has few enough buckets for `pair_chance`."""
    return (
        game.can("boards")
        and max(game.rules.abstraction.counts) <= MOST_BUCKETS
        and game.rules.betting.n_streets == STREETS
        and game.rules.abstraction.deck.full
    )


def pair_chance(game: Game) -> PairChance:
    """Returns the chain over pairs of buckets of a hold'em game."""
    if not can_pair(game):
        raise BadParameter(
            f"pairs of buckets are for hold'em with at most {MOST_BUCKETS} buckets on four "
            f"streets, not for {game.name}"
        )
    return _chance_of(game.rules.abstraction, _Unhashed(game.form.cards))


class _Nodes(NamedTuple):
    """The arrays of `PublicNodes` that `fill_values` reads, and starts of streets."""

    player: np.ndarray
    first_child: np.ndarray
    street: np.ndarray
    folded: np.ndarray
    stake: np.ndarray
    starts_street: np.ndarray  # bool[n]: the first node of its street


@jit
def fill_values(
    nodes: _Nodes,
    first_row: np.ndarray,
    first: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    chance: PairChance,
    value: np.ndarray,
    before: np.ndarray,
) -> None:
    """Fills `value` (float64[n, b²]) with the expected win of player 1 at each public node for each
    pair of buckets, and `before` (the same shape) with that at the first node of a street for each
    pair of the street before. `one`, `two`: policies by slot."""
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
                won = chance.showdown[p] if folded == NO_FOLD else (-1.0 if folded == 0 else 1.0)
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
        if street > 0 and nodes.starts_street[node]:
            step = chance.step[index(street - 1)]
            for p in range(pairs):
                total = 0.0
                for q in range(pairs):
                    total += step[p, q] * value[node, q]
                before[node, p] = total


class PairValues(NamedTuple):
    """Values of two strategies against each other: n public nodes, b² pairs of buckets."""

    value: np.ndarray  # float64[n, b²]: expected win of player 1
    before: np.ndarray  # float64[n, b²]: that before the cards of the street are dealt
    chance: PairChance

    @property
    def game_value(self) -> float:
        """Value of the game to player 1."""
        return float(self.chance.first @ self.value[0])


def pair_values(game: Game, one: np.ndarray, two: np.ndarray) -> PairValues:
    """Returns the values of two strategies. `one`, `two`: probabilities by slot of player 1 and
    player 2, each a whole profile."""
    chance = pair_chance(game)
    form, pairs = game.form, chance.buckets**2
    value = np.zeros((form.n_nodes, pairs))
    before = np.zeros((form.n_nodes, pairs))
    fill_values(_nodes_of(game), form.first_row, form.first, one, two, chance, value, before)
    return PairValues(value, before, chance)


def _nodes_of(game: Game) -> _Nodes:
    tree = game.rules.tree
    nodes = tree.nodes
    return _Nodes(
        nodes.player,
        nodes.first_child,
        nodes.street,
        nodes.folded,
        nodes.stake,
        nodes.street != nodes.street[tree.parent],
    )


def value_against(game: Game, own: np.ndarray, other: np.ndarray) -> float:
    """Returns the approximate win per hand of a strategy against another, as a mean over both
    seats."""
    one, two = pair_values(game, own, other), pair_values(game, other, own)
    return 0.5 * (one.game_value - two.game_value)
