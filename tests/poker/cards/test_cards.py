"""Cards, strengths and canonical boards, against phevaluator and by counting."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from phevaluator import evaluate_cards

from counterplay.core.base.errors import CounterplayError
from counterplay.poker.cards.canonical import SIZES, boards, find_canonical
from counterplay.poker.cards.cards import HOLDING_CARDS, card, card_text, cards, holding
from counterplay.poker.cards.evaluator import strength, strengths_of_hands


def _values(hands: np.ndarray) -> np.ndarray:
    out = np.empty(len(hands), dtype=np.int64)
    strengths_of_hands(hands, np.zeros(4, dtype=np.int64), out)
    return out


def _same_order(hands: np.ndarray) -> None:
    """Our values and phevaluator's ranks (1 is best) order the hands alike, ties included."""
    ours = _values(hands)
    theirs = np.array([evaluate_cards(*hand) for hand in hands.tolist()])
    pairs = np.unique(np.stack([theirs, ours]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1] == len(np.unique(pairs[1]))
    assert np.all(np.diff(pairs[1]) < 0)  # sorted by their rank, ours falls


def test_cards_and_holdings() -> None:
    assert card("2c") == 0
    assert card("As") == 51
    assert [card_text(number) for number in cards("Td 9h")] == ["Td", "9h"]
    assert [holding(pair) for pair in HOLDING_CARDS.tolist()] == list(range(1326))
    for bad in ("Ax", "1s", "A", ""):
        with pytest.raises(CounterplayError):
            card(bad)
    with pytest.raises(CounterplayError, match="twice"):
        cards("AsAs")


def test_random_hands_of_five_six_and_seven_cards() -> None:
    rng = np.random.default_rng(7)
    for size in (5, 6, 7):
        _same_order(np.argsort(rng.random((60_000, 52)), axis=1)[:, :size])


@pytest.mark.slow
def test_all_hands_of_five_cards() -> None:
    _same_order(np.array(list(combinations(range(52), 5))))


@pytest.mark.slow
def test_a_million_hands_of_seven_cards() -> None:
    rng = np.random.default_rng(11)
    _same_order(
        np.concatenate([np.argsort(rng.random((100_000, 52)), axis=1)[:, :7] for _ in range(10)])
    )


def test_order_of_the_categories() -> None:
    hands = [
        "As Kd 9h 7c 5s",
        "AsAd 9h 7c 5s",
        "AsAd 9h9c 5s",
        "AsAdAh 7c 5s",
        "5s4d3h2cAs",
        "As Ks 9s 7s 5s",
        "AsAdAh 7c7s",
        "AsAdAhAc 7s",
        "5s4s3s2sAs",
        "AsKsQsJsTs",
    ]
    values = [strength(cards(hand)) for hand in hands]
    assert values == sorted(set(values))


@pytest.mark.parametrize("size", SIZES)
def test_canonical_boards(size: int) -> None:
    """Counts of facts/02: 1,755 flops, 16,432 turns, 134,459 rivers as sets."""
    table = boards(size)
    assert len(table.masks) == SIZES[size]
    assert table.weight.sum() == comb(52, size)
    assert len(np.unique(table.masks, axis=0)) == len(table.masks)


@pytest.mark.parametrize("size", SIZES)
def test_a_board_finds_its_canonical_board_under_any_suit_permutation(size: int) -> None:
    rng = np.random.default_rng(size)
    table = boards(size)
    for _ in range(500):
        board = rng.choice(52, size, replace=False)
        masks = np.zeros(4, dtype=np.int64)
        for c in board:
            masks[c % 4] |= 1 << (c // 4)
        link = int(find_canonical(table, masks))
        row, suit_to = link >> 8, [link >> 2 * suit & 3 for suit in range(4)]
        assert sorted(suit_to) == [0, 1, 2, 3]
        assert all(table.masks[row, suit_to[s]] == masks[s] for s in range(4))
        permuted = masks[rng.permutation(4)]
        assert find_canonical(table, permuted) >> 8 == row
