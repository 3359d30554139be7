"""Approximate values of two strategies of one card abstraction, by pairs of buckets; and the
distribution of these pairs on the flop.

The cards are replaced by a Markov chain over pairs of buckets, one for each player: the pair of one
street gives the distribution of the pair of the next (`PairChance`, estimated from a sample of
deals with a fixed seed). One pass over the betting tree, about ten milliseconds, gives the value of
every public node for every pair. The values are not exact, since the cards of hold'em are not a
Markov chain in buckets. They serve as a baseline in luck adjustment
(`poker/match/luck_adjustment.py`), which is unbiased with any values, and to compare strategies.

A matchup is two holdings up to suit permutations: four known cards leave 17,296 flops. There are
93,769 matchups, 47,008 without regard to the players' order. Counting one takes 0.3 ms and is done
when the matchup first occurs; counting all takes about ten seconds of one processor, and the result
is cached.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.base.store import Piece, Slot, cached_store, write_or_warn
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import CardAbstraction
from counterplay.poker.betting.betting import NO_FOLD, PublicNodes, row_of
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import (
    Deal,
    bucket_of,
    compare,
    draw,
    find_board,
    holding_of,
    new_deal,
)

DEALS = 500_000
SEED = 20_110
MOST_BUCKETS = 16  # on a street: transition matrices have its fourth power of entries
STREETS = 4
MOST_CHAINS = 2  # in memory
N_FLOPS = 17_296  # after four known cards
_PIECE = 500  # matchups in one task of a thread


class PairChance(NamedTuple):
    """A Markov chain over pairs of buckets, b on a street; a pair is b0 · b + b1."""

    first: np.ndarray  # float64[b²]: distribution before the flop
    step: np.ndarray  # float64[3, b², b²]: transition probabilities from each street to the next
    back: np.ndarray  # float64[3, b², b²]: the same, transposed
    showdown: np.ndarray  # float64[b²]: expected win of player 1 at a showdown, from -1 to 1
    buckets: int


class PairCounts(NamedTuple):
    """Numbers of sampled deals by pair of buckets, b on a street."""

    first: np.ndarray  # int64[b²]: before the flop
    step: np.ndarray  # int64[3, b², b²]: from each street to the next
    won: np.ndarray  # int64[4, b²]: wins minus losses of player 1, by the pair of each street


def new_pair_counts(b: int) -> PairCounts:
    shapes = (b * b,), (STREETS - 1, b * b, b * b), (STREETS, b * b)
    return PairCounts(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


@jit
def count_pairs(
    cards: Any, deals: int, b: int, rng: np.ndarray, chance: Deal, counts: PairCounts
) -> None:
    """Adds sampled deals to `counts`; `chance` is workspace."""
    for _ in range(deals):
        draw(chance, rng)
        compare(chance)
        before = ZERO
        for street in range(STREETS):
            board = find_board(cards, chance, street)
            one = index(bucket_of(cards, chance, board, 0, street, before // index(b)))
            two = index(bucket_of(cards, chance, board, 1, street, before % index(b)))
            pair = one * index(b) + two
            if street == 0:
                counts.first[pair] += 1
            else:
                counts.step[index(street - 1), before, pair] += 1
            counts.won[index(street), pair] += chance.winner[ZERO]
            before = pair


def _estimate_chain(abstraction: CardAbstraction, cards: Any) -> PairChance:
    b = max(abstraction.counts)
    counts = new_pair_counts(b)
    count_pairs(cards, DEALS, b, new_state(SEED), new_deal(), counts)
    rows = counts.step.sum(axis=2, keepdims=True)
    step = np.where(rows > 0, counts.step / np.maximum(rows, 1), 1.0 / (b * b))
    one, two = np.divmod(np.arange(b * b), b)
    guess = np.sign(one - two)  # for pairs without a showdown in the sample
    shown = counts.step[-1].sum(axis=0)
    win = np.where(shown > 0, counts.won[-1] / np.maximum(shown, 1), guess)
    back = np.ascontiguousarray(step.transpose(0, 2, 1))
    return PairChance(counts.first / counts.first.sum(), step, back, win, b)


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
    abstraction = game.rules.abstraction
    if abstraction not in _CHAINS:
        while len(_CHAINS) >= MOST_CHAINS:
            del _CHAINS[next(iter(_CHAINS))]
        _CHAINS[abstraction] = _estimate_chain(abstraction, game.form.cards)
    return _CHAINS[abstraction]


_CHAINS: dict[CardAbstraction, PairChance] = {}


@jit(inner=True)
def mean_over_cards(chance: PairChance, street: int, at: np.ndarray, before: np.ndarray) -> None:
    """Fills `before` (float64[b²]) with the mean of `at`, values for each pair of a street, for
    each pair of the street before. A loop over the latter inside is one of vector instructions."""
    pairs, back = index(len(at)), chance.back[index(street - 1)]
    before[:] = 0.0
    for q in range(pairs):
        for p in range(pairs):
            before[p] += back[q, p] * at[q]


@jit
def fill_values(
    nodes: PublicNodes,
    starts_street: np.ndarray,
    first_row: np.ndarray,
    first: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    chance: PairChance,
    folds: float,
    value: np.ndarray,
    before: np.ndarray,
    work: np.ndarray,
) -> None:
    """Fills `value` (float64[n, b²]) with the expected win of player 1 at each public node for each
    pair of buckets, and `before` (the same shape) with that at the first node of a street for each
    pair of the street before. They may be one array. `starts_street`: bool[n]: the first node of
    its street. `one`, `two`: policies by slot; `folds`: what a fold wins, in stakes; `work`:
    float64[b²]."""
    b = index(chance.buckets)
    node = index(len(nodes.player))
    while node > ZERO:
        node -= ONE
        player, stake = nodes.player[node], nodes.stake[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            if nodes.folded[node] == NO_FOLD:
                for p in range(b * b):
                    value[node, p] = stake * chance.showdown[p]
            else:
                value[node] = folds * (-stake if nodes.folded[node] == 0 else stake)
            continue
        value[node] = 0.0
        for c in range(low, high):
            new = nodes.player[c] >= 0 and nodes.street[c] != nodes.street[node]
            after = before[c] if new else value[c]
            for k in range(b):
                slot = index(first[index(row_of(first_row, node, np.int64(k)))]) + c - low
                work[k] = one[slot] if player == 0 else two[slot]
            for i in range(b):
                for j in range(b):
                    share = work[i] if player == 0 else work[j]
                    value[node, i * b + j] += share * after[i * b + j]
        if nodes.street[node] > 0 and starts_street[node]:
            mean_over_cards(chance, nodes.street[node], value[node], work)
            for p in range(b * b):
                before[node, p] = work[p]


class PairValues(NamedTuple):
    """Values of two strategies against each other: n public nodes, b² pairs of buckets."""

    value: np.ndarray  # float64[n, b²]: expected win of player 1
    before: np.ndarray  # float64[n, b²]: that before the cards of the street are dealt
    shown: np.ndarray  # float64[n, b²]: on the last street, the expected stake of showdowns
    chance: PairChance

    @property
    def game_value(self) -> float:
        """Value of the game to player 1."""
        return float(self.chance.first @ self.value[0])


def pair_values(game: Game, one: np.ndarray, two: np.ndarray) -> PairValues:
    """Returns the values of two strategies. `one`, `two`: probabilities by slot of player 1 and
    player 2, each a whole profile."""
    chance, shape = pair_chance(game), (game.form.n_nodes, pair_chance(game).buckets ** 2)
    value, before, shown = np.empty(shape), np.zeros(shape), np.empty(shape)
    stakes = chance._replace(showdown=np.ones(shape[1]))
    fill_policy_values(game, one, two, stakes, shown, before, folds=0.0, streets=False)
    fill_policy_values(game, one, two, chance, value, before)
    return PairValues(value, before, shown, chance)


def fill_policy_values(
    game: Game,
    one: np.ndarray,
    two: np.ndarray,
    chance: PairChance,
    value: np.ndarray,
    before: np.ndarray,
    folds: float = 1.0,
    streets: bool = True,
) -> None:
    """`fill_values` of two policies by slot; without `streets` nothing is added to `before`."""
    form, street, work = game.form, game.form.nodes.street, np.empty(chance.buckets**2)
    starts = (street != street[game.rules.tree.parent]) & streets
    policies = form.first_row, form.first, one, two
    fill_values(form.nodes, starts, *policies, chance, folds, value, before, work)


def value_against(game: Game, own: np.ndarray, other: np.ndarray) -> float:
    """Returns the approximate win per hand against another strategy, a mean over both seats."""
    chance = pair_chance(game)
    value, won = np.empty((game.form.n_nodes, chance.buckets**2)), []
    for one, two in ((own, other), (other, own)):
        fill_policy_values(game, one, two, chance, value, value)
        won.append(float(chance.first @ value[0]))
    return 0.5 * (won[0] - won[1])


class Matchups(NamedTuple):
    """m matchups; at most b buckets before and on the flop."""

    number: np.ndarray  # int32[1326 · 1326]: by two holdings; -1 where they share a card
    flops: np.ndarray  # uint16[m, b²]: number of flops with each pair of buckets
    filled: np.ndarray  # bool[m]: whether a matchup was counted
    buckets: int


@cache
def _numbers() -> tuple[np.ndarray, np.ndarray]:
    """Returns `Matchups.number`, and int32[m]: two holdings of each matchup, as one number."""
    cards = HOLDING_CARDS.astype(np.int32)
    shared = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    least = np.full((N_HOLDINGS, N_HOLDINGS), N_HOLDINGS**2, dtype=np.int32)
    for order in permutations(range(4)):
        permuted = np.sort((cards & ~3) | np.array(order, dtype=np.int32)[cards & 3], axis=1)
        image = permuted[:, 1] * (permuted[:, 1] - 1) // 2 + permuted[:, 0]
        np.minimum(least, image[:, None] * N_HOLDINGS + image, out=least)
    canonical = np.zeros(N_HOLDINGS**2, dtype=np.bool_)
    canonical[least[~shared]] = True
    number = np.cumsum(canonical, dtype=np.int32) - np.int32(1)
    return np.where(shared, -1, number[least]).ravel(), np.flatnonzero(canonical).astype(np.int32)


@jit(inner=True)
def count_flop_pairs(cards: Any, b: int, chance: Deal, out: np.ndarray) -> None:
    """Adds all flops that the first four cards of the deck leave to `out` (uint16[b²]). The flop of
    `chance` is restored, but not its canonical board."""
    deck = chance.deck
    a, m, z = deck[4], deck[5], deck[6]
    for high in range(52):
        if high in (deck[0], deck[1], deck[2], deck[3]):
            continue
        for middle in range(high):
            if middle in (deck[0], deck[1], deck[2], deck[3]):
                continue
            for low in range(middle):
                if low in (deck[0], deck[1], deck[2], deck[3]):
                    continue
                deck[4], deck[5], deck[6] = low, middle, high
                board = find_board(cards, chance, 1)
                one = index(bucket_of(cards, chance, board, 0, 1, 0))
                two = index(bucket_of(cards, chance, board, 1, 1, 0))
                out[one * index(b) + two] += 1
    deck[4], deck[5], deck[6] = a, m, z


@jit(inner=True)
def matchup_of(cards: Any, matchups: Matchups, chance: Deal) -> int:
    """Returns the matchup of the first four cards of the deck, with its flops counted."""
    both = holding_of(chance, 0, False) * N_HOLDINGS + holding_of(chance, 1, False)
    number = index(matchups.number[index(both)])
    if not matchups.filled[number]:
        count_flop_pairs(cards, matchups.buckets, chance, matchups.flops[number])
        matchups.filled[number] = True
    return number


@jit
def _count_some(
    cards: Any, matchups: Matchups, pairs: np.ndarray, holdings: np.ndarray, chance: Deal
) -> None:
    for k in range(index(len(pairs))):
        for player in range(index(2)):
            held = pairs[k] // N_HOLDINGS if player == ZERO else pairs[k] % N_HOLDINGS
            for j in range(index(2)):
                chance.deck[index(2) * player + j] = holdings[index(held), j]
        matchup_of(cards, matchups, chance)


_IN_MEMORY: dict[Path, Matchups] = {}


def matchups(
    abstraction: CardAbstraction, cards: Any, whole: bool, progress: ProgressCallback = no_progress
) -> Matchups:
    """Returns the matchups of a card abstraction: from memory, from disk, or empty. `whole`: counts
    all of them and caches them on disk."""
    store = cached_store("matchups", __name__, type(abstraction).__module__)
    slot = store.slot("matchups", {"abstraction": abstraction.key})
    if slot.path not in _IN_MEMORY:
        _IN_MEMORY[slot.path] = _read(slot, abstraction) or _empty(abstraction)
    table = _IN_MEMORY[slot.path]
    if whole and not table.filled.all():
        with progress_bar(progress) as progress:
            _fill(cards, table, progress)
        write_or_warn(slot, Piece(None, {"count": table.flops}), "the flops of matchups stay")
    return table


def _empty(abstraction: CardAbstraction) -> Matchups:
    numbers, pairs = _numbers()
    b = max(abstraction.counts)
    count = np.zeros((len(pairs), b * b), dtype=np.uint16)
    return Matchups(numbers, count, np.zeros(len(pairs), dtype=np.bool_), index(b))


def _fill(cards: Any, table: Matchups, progress: ProgressCallback) -> None:
    """Counts what is missing; of two matchups that differ in the players' order only one is
    counted, and the other one is copied from it."""
    pairs, holdings = _numbers()[1].astype(np.int64), HOLDING_CARDS.astype(np.int64)
    swapped = table.number[pairs % N_HOLDINGS * N_HOLDINGS + pairs // N_HOLDINGS]
    left = pairs[~table.filled & ~table.filled[swapped] & (np.arange(len(pairs)) <= swapped)]
    pieces = [left[k : k + _PIECE] for k in range(0, len(left), _PIECE)]

    def work(piece: np.ndarray) -> None:
        _count_some(cards, table, piece, holdings, new_deal())

    what = "counting the flops of all matchups, once"
    map_in_threads(work, pieces, cores(), lambda share: progress(share, what))
    rest = np.flatnonzero(~table.filled)
    counted = table.flops[swapped[rest]].reshape(-1, table.buckets, table.buckets)
    table.flops[rest] = counted.transpose(0, 2, 1).reshape(len(rest), -1)
    table.filled[rest] = True


def _read(slot: Slot, abstraction: CardAbstraction) -> Matchups | None:
    """Returns the matchups on disk, or None unless all of them are there."""
    new = _empty(abstraction)
    piece = slot.read(most=new.flops.nbytes + (1 << 20))
    count = np.zeros(0) if piece is None else piece.arrays.get("count", np.zeros(0))
    if count.shape != new.flops.shape or not (count.sum(axis=1) == N_FLOPS).all():
        return None
    return new._replace(flops=count, filled=np.ones_like(new.filled))
