"""Suit permutations and the boards in the order they are dealt: 1,755 flops, 63,193 turns and
2,554,656 rivers that are not suit-isomorphic.

The stabilizer of a board is the set of suit permutations that map the board to itself. They map
next cards to each other; of each such orbit of cards one card is traversed, weighted by the size of
the orbit, and the values of holdings are averaged over the stabilizer (`average_over_suits`).
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS

FULL_DECK = tuple(range(52))
_symmetric: dict[int, Any] = {}  # abstractions that passed `check_suits`, by id of their table


class SuitPermutations(NamedTuple):
    """The r suit permutations that map a deck to itself; the first is the identity."""

    card: np.ndarray  # int64[r, 52]: image of each card
    holding: np.ndarray  # int64[r, 1326]: image of each holding


def suit_permutations(deck: tuple[int, ...], symmetric: bool = True) -> SuitPermutations:
    """Returns the suit permutations of a deck; only the identity unless `symmetric`."""
    cards = np.arange(52)
    images = []
    for order in permutations(range(4)) if symmetric else [(0, 1, 2, 3)]:
        image = (cards & ~3) | np.array(order)[cards & 3]
        if set(image[list(deck)].tolist()) == set(deck):
            images.append(image)
    card = np.array(images, dtype=np.int64)
    low, high = np.sort(card[:, HOLDING_CARDS.astype(np.int64)], axis=2).transpose(2, 0, 1)
    return SuitPermutations(card, np.ascontiguousarray(high * (high - 1) // 2 + low))


def flops_of(deck: tuple[int, ...], group: SuitPermutations) -> tuple[np.ndarray, np.ndarray]:
    """Returns int64[f, 3] and int64[f]: one flop of each class of suit-isomorphic flops, and the
    size of the class."""
    flops = np.array(list(combinations(sorted(deck), 3)), dtype=np.int64)
    weight = np.array([1, 52, 52 * 52])
    number = flops @ weight
    least = np.min([np.sort(card[flops], axis=1) @ weight for card in group.card], axis=0)
    classes, count = np.unique(least, return_counts=True)
    canonical = np.flatnonzero(least == number)
    order = canonical[np.argsort(number[canonical])]
    assert np.array_equal(number[order], classes)
    return flops[order], count


@jit
def find_stabilizer(card: np.ndarray, among: Any, cards: Any, n: int, out: np.ndarray) -> int:
    """Writes to `out` those of the first `n` permutations in `among` that map a set of cards to
    itself; returns their number."""
    count = 0
    for k in range(index(n)):
        r = index(among[k])
        stable = True
        for a in range(index(len(cards))):
            inside = False
            for b in range(index(len(cards))):
                inside |= card[r, index(cards[a])] == cards[b]
            stable &= inside
        if stable:
            out[index(count)] = r
            count += 1
    return count


@jit
def orbit_size(card: np.ndarray, stabilizer: np.ndarray, n: int, dealt: int) -> int:
    """Returns the number of cards in the orbit of the next card `dealt`, or 0 if it is not the
    lowest card of its orbit."""
    count = 0
    for k in range(index(n)):
        image = card[index(stabilizer[k]), index(dealt)]
        if image < dealt:
            return 0
        counted = False
        for earlier in range(k):
            counted |= card[index(stabilizer[earlier]), index(dealt)] == image
        if not counted:
            count += 1
    return count


@jit
def average_over_suits(
    holding: np.ndarray, stabilizer: np.ndarray, n: int, values: np.ndarray, work: np.ndarray
) -> None:
    """Replaces the values of holdings ([1326, lanes]) by their means over n suit permutations."""
    if n == 1:
        return
    lanes = index(values.shape[1])
    for h in range(index(len(values))):
        for lane in range(lanes):
            work[h, lane] = values[h, lane]
    for h in range(index(len(values))):
        for lane in range(lanes):
            total = 0.0
            for k in range(index(n)):
                total += work[index(holding[index(stabilizer[k]), h]), lane]
            values[h, lane] = total / n


@jit
def _breaks_symmetry(
    table: np.ndarray, masks: np.ndarray, swap: np.ndarray, suits: np.ndarray
) -> bool:
    """Returns whether a swap of two suits with equal masks on a board changes a bucket there."""
    for row in range(index(len(masks))):
        for k in range(index(len(swap))):
            if masks[row, index(suits[k, 0])] == masks[row, index(suits[k, 1])]:
                for h in range(index(table.shape[1])):
                    if table[row, h] != table[row, index(swap[k, h])]:
                        return True
    return False


def check_suits(cards: Cards) -> None:
    """Raises `BadParameter` if suit-isomorphic holdings have different buckets. Short decks, whose
    boards are all traversed, are not checked."""
    if len(cards.deck) < 52 or _symmetric.get(id(cards.early)) is cards.early:
        return
    suits = np.array(list(combinations(range(4), 2)))
    group = suit_permutations(FULL_DECK)
    moved = group.card[:, :4] != np.arange(4)  # which suits each permutation moves
    swap = np.array(
        [group.holding[(moved.sum(axis=1) == 2) & moved[:, pair].all(axis=1)][0] for pair in suits]
    )
    flops = len(boards(3).masks)
    tables = (
        (cards.early[:flops], boards(3).masks),
        (cards.early[flops:], boards(4).masks),
        (cards.river_entry, boards(5).masks),
    )
    broken = bool((cards.preflop[swap] != cards.preflop).any())
    if broken or any(_breaks_symmetry(table, masks, swap, suits) for table, masks in tables):
        raise BadParameter(
            "this card abstraction tells suits apart, and only one of suit-isomorphic boards is "
            "traversed; give suit-isomorphic holdings the same bucket"
        )
    _symmetric[id(cards.early)] = cards.early
