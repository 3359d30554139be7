"""Equity histograms, E[HS²] and OCHS against enumeration in plain Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from reference.card_features import earth_movers_distance, histogram, ochs, strength
from support.holdem import class_of, random_deals

from counterplay.poker.abstraction.emd import ochs_points, opponent_groups
from counterplay.poker.abstraction.histograms import (
    BINS,
    SQUARES,
    cumulated,
    final_flop_histograms,
    flop_histograms,
    preflop_histograms,
    turn_histograms,
)
from counterplay.poker.abstraction.kmeans import SCALE
from counterplay.poker.abstraction.numbered import final_flop_strengths, starting_classes
from counterplay.poker.cards.cards import HOLDING_CARDS, cards, holding
from counterplay.poker.cards.strength import strengths

HANDS = [("AsAd", "7h2c9d"), ("8h7h", "9h6c2h"), ("2c3d", "KsKdKh")]


def permuted(own: list[int], board: list[int]) -> tuple[int, int]:
    """Returns the canonical board and the holding there."""
    row, suit_to = class_of(board)
    return row, holding([c // 4 * 4 + suit_to[c % 4] for c in own])


def counted(own: list[int], board: list[int]) -> Fraction:
    """Returns the strength on the river from the exact tables, which have tests of their own."""
    return Fraction(int(strengths().river[permuted(own, board)]), 1980)


def flop_counted(own: list[int], board: list[int]) -> Fraction:
    return Fraction(int(final_flop_strengths()[permuted(own, board)]), 2162)


@pytest.fixture(scope="module")
def turn() -> np.ndarray:
    return turn_histograms()


@pytest.fixture(scope="module")
def flop(turn: np.ndarray) -> np.ndarray:
    return flop_histograms(turn)


@pytest.fixture(scope="module")
def final() -> np.ndarray:
    return final_flop_histograms(final_flop_strengths())


@pytest.mark.slow
def test_turn_histograms(turn: np.ndarray) -> None:
    """One with every opponent enumerated, others with the exact strengths of the river."""
    own, board = cards("8h7h"), cards("9h6c2hKd")
    expected = histogram(own, board, 5, BINS)
    assert turn[permuted(own, board)].tolist() == expected
    for dealt in random_deals(1, 20).tolist():
        own, board = dealt[:2], dealt[4:8]
        assert turn[permuted(own, board)].tolist() == histogram(own, board, 5, BINS, counted)
        assert not turn[permuted([board[0], own[0]], board)].any()  # blocked


@pytest.mark.slow
@pytest.mark.parametrize(("hand", "board"), HANDS)
def test_flop_histograms(hand: str, board: str, flop: np.ndarray) -> None:
    """Turn and river are counted in both orders."""
    expected = histogram(cards(hand), cards(board), 5, BINS, counted)
    assert flop[permuted(cards(hand), cards(board))].tolist() == [2 * n for n in expected]


@pytest.mark.parametrize("hand", ["AsAd", "7h2c"])
def test_histograms_before_the_flop(hand: str, final: np.ndarray) -> None:
    table = preflop_histograms(final)[holding(cards(hand))]
    assert table.tolist() == histogram(cards(hand), [], 3, BINS, flop_counted)
    assert strength(cards(hand), cards("KsKdKh")) == flop_counted(cards(hand), cards("KsKdKh"))


@pytest.mark.slow
def test_histograms_do_not_depend_on_threads(turn: np.ndarray, flop: np.ndarray) -> None:
    assert np.array_equal(flop_histograms(turn, threads=1), flop_histograms(turn, threads=2))
    assert np.array_equal(flop_histograms(turn, threads=2), flop)
    assert (preflop_histograms(flop).sum(axis=1) == 19_600 * 47 * 46).all()


def test_cumulated_histograms_differ_by_the_earth_movers_distance() -> None:
    rng = np.random.default_rng(1)
    rows = np.stack([rng.multinomial(46, rng.dirichlet(np.full(BINS, 0.3))) for _ in range(20)])
    points = cumulated(rows).astype(np.int64)
    assert points.min() >= 0
    assert points.max() <= SCALE
    for one, two, a, b in zip(rows, rows[::-1], points, points[::-1], strict=True):
        expected = earth_movers_distance(one.tolist(), two.tolist())
        # each coordinate is rounded to a half at most
        assert abs(np.abs(a - b).sum() / SCALE - expected) <= (BINS - 1) / SCALE


@pytest.mark.slow
def test_mean_squares() -> None:
    preflop, flop, turn = SQUARES.get()
    for dealt in random_deals(2, 5).tolist():
        own, board = dealt[:2], dealt[4:8]
        left = [card for card in range(52) if card not in (*own, *board)]
        squares = [(1980 * counted(own, [*board, card])) ** 2 for card in left]
        assert turn[permuted(own, board)] == sum(squares)
    own, board = cards("8h7h"), cards("9h6c2h")
    left = [card for card in range(52) if card not in (*own, *board)]
    assert flop[permuted(own, board)] == sum(int(turn[permuted(own, [*board, c])]) for c in left)
    assert preflop[holding(cards("AsAd"))] == preflop.max()
    assert len(np.unique(np.stack([starting_classes(), preflop]), axis=1)[0]) == 169


@pytest.mark.parametrize("size", [3, 5])
def test_ochs_vectors(size: int, final: np.ndarray) -> None:
    group = opponent_groups(preflop_histograms(final))
    assert np.array_equal(np.unique(group), np.arange(8))
    classes = starting_classes()
    assert len({(int(c), int(g)) for c, g in zip(classes, group, strict=True)}) == 169
    pairs = [tuple(pair) for pair in HOLDING_CARDS.tolist()]
    groups = [[pairs[h] for h in np.flatnonzero(group == g)] for g in range(8)]
    points = ochs_points(size, group)
    for dealt in random_deals(3, 6).tolist():
        own, board = dealt[:2], dealt[4 : 4 + size]
        row, image = permuted(own, board)
        found = points(np.array([row]))[0, image]
        expected = [int(SCALE * share + Fraction(1, 2)) for share in ochs(own, board, groups)]
        assert found.tolist() == expected


def test_a_group_without_holdings_counts_a_half() -> None:
    """The board and the own holding block every ace, and group 0 is that of pairs of aces."""
    group = np.ones(1326, dtype=np.uint8)
    for a, b in HOLDING_CARDS.tolist():
        if a // 4 == b // 4 == 12:
            group[holding([a, b])] = 0
    own, board = cards("AsAd"), cards("AhKc2d")
    row, image = permuted(own, board)
    vector = ochs_points(3, group)(np.array([row]))[0, image]
    assert vector[0] == SCALE // 2
    assert vector[1] > 0.9 * SCALE
    assert (vector[2:] == SCALE // 2).all()
