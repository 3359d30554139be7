"""Boards up to suits, in the order they are dealt: 1,755 flops, 63,193 turns, 2,554,656 rivers.

A renaming of suits that leaves the cards on the board where they are turns the next cards into each
other. Of those that become each other one is walked, and counts as often as there are of them; the
values of holdings are then evened out over the renamings (`even_out`).
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.cards.cards import HOLDING_CARDS

FULL_DECK = tuple(range(52))


class Renamings(NamedTuple):
    """Renamings of suits that turn a deck into itself: r of them, the first changes nothing."""

    card: np.ndarray  # int64[r, 52]: what each card becomes
    pair: np.ndarray  # int64[r, 1326]: the same of holdings


def renamings(deck: tuple[int, ...], symmetric: bool = True) -> Renamings:
    """All of them, or only the first where a player tells suits apart."""
    cards = np.arange(52)
    found = []
    for order in permutations(range(4)) if symmetric else [(0, 1, 2, 3)]:
        image = (cards & ~3) | np.array(order)[cards & 3]
        if set(image[list(deck)].tolist()) == set(deck):
            found.append(image)
    card = np.array(found, dtype=np.int64)
    pairs = HOLDING_CARDS.astype(np.int64)
    low, high = np.sort(card[:, pairs], axis=2).transpose(2, 0, 1)
    return Renamings(card, np.ascontiguousarray(high * (high - 1) // 2 + low))


def flops_of(deck: tuple[int, ...], names: Renamings) -> tuple[np.ndarray, np.ndarray]:
    """int64[f, 3] and int64[f]: one of each kind of flop, and how many there are of it."""
    flops = np.array(list(combinations(sorted(deck), 3)), dtype=np.int64)
    weight = np.array([1, 52, 52 * 52])
    least = np.min([np.sort(card[flops], axis=1) @ weight for card in names.card], axis=0)
    kinds, place, count = np.unique(least, return_index=True, return_counts=True)
    chosen = np.searchsorted(kinds, flops @ weight)  # a flop that is the least of its kind
    own = np.flatnonzero(kinds[np.minimum(chosen, len(kinds) - 1)] == flops @ weight)
    order = own[np.argsort((flops @ weight)[own])]
    assert len(order) == len(kinds) == len(place)
    return flops[order], count


@jit
def keep_renamings(card: np.ndarray, before: Any, cards: Any, n: int, kept: np.ndarray) -> int:
    """Of the first `n` renamings numbered in `before` those that leave a set of cards as it is, to
    `kept`; how many."""
    count = 0
    for k in range(index(n)):
        r = index(before[k])
        same = True
        for a in range(index(len(cards))):
            found = False
            for b in range(index(len(cards))):
                found |= card[r, index(cards[a])] == cards[b]
            same &= found
        if same:
            kept[index(count)] = r
            count += 1
    return count


@jit
def times(card: np.ndarray, kept: np.ndarray, n: int, dealt: int) -> int:
    """How many cards the next card `dealt` stands for; 0 where a lower one stands for it."""
    count = 0
    for k in range(index(n)):
        image = card[index(kept[k]), index(dealt)]
        if image < dealt:
            return 0
        seen = False
        for earlier in range(k):
            seen |= card[index(kept[earlier]), index(dealt)] == image
        if not seen:
            count += 1
    return count


@jit
def even_out(
    pair: np.ndarray, kept: np.ndarray, n: int, values: np.ndarray, scratch: np.ndarray
) -> None:
    """Values of holdings ([1326, lanes]) that renamings turn into each other: their mean."""
    if n == 1:
        return
    lanes = index(values.shape[1])
    for h in range(index(len(values))):
        for lane in range(lanes):
            scratch[h, lane] = values[h, lane]
    for h in range(index(len(values))):
        for lane in range(lanes):
            total = 0.0
            for k in range(index(n)):
                total += scratch[index(pair[index(kept[k]), h]), lane]
            values[h, lane] = total / n


def count_boards(deck: tuple[int, ...] = FULL_DECK) -> tuple[int, int, int]:
    """How many flops, turns and rivers there are up to suits."""
    names = renamings(deck)
    flops, _ = flops_of(deck, names)
    turns = rivers = 0
    every = np.arange(len(names.card))
    kept, later = np.zeros_like(every), np.zeros_like(every)
    for flop in flops:
        n = keep_renamings(names.card, every, flop, len(every), kept)
        for turn in deck:
            if turn not in flop and times(names.card, kept, n, turn):
                turns += 1
                m = keep_renamings(names.card, kept, np.array([turn]), n, later)
                gone = {*flop.tolist(), turn}
                rivers += sum(times(names.card, later, m, k) > 0 for k in deck if k not in gone)
    return len(flops), turns, rivers


def class_of_holding() -> np.ndarray:
    """int64[1326]: the least holding that a renaming of suits turns each into: 169 of them."""
    found: np.ndarray = renamings(FULL_DECK).pair.min(axis=0)
    return found
