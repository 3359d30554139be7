"""Private holdings and boards of a game: what chance deals, up to suit permutations.

A holding is two card numbers, and holdings that share a card cannot meet (card removal). A holding
of one card gets a second number that no other holding has. A street follows each deal of public
cards: `children` lists one board of each suit-isomorphic class and the size of the class; `sample`
draws one board. The boards of a street are numbered where a table has a block for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.kernels.jit import jit
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD
from counterplay.poker.vector.board import HIGH, LOW, Board
from counterplay.poker.vector.flop_boards import (
    ListingWorkspace,
    list_live_holdings,
    new_listing_workspace,
)
from counterplay.poker.vector.suit_permutations import flops_of, suit_permutations


class DealtBoard(NamedTuple):
    """The public cards of a street."""

    cards: tuple[int, ...]
    number: int  # among the boards of the street; -1 where they are not numbered
    stabilizer: np.ndarray  # int64[s]: rows of `Chance.permutations` that map the board to itself


class Chance(Protocol):
    """The holdings of a game, n of them, and its boards."""

    n_holdings: int
    low: np.ndarray  # int64[n]: lower card of each holding
    high: np.ndarray  # int64[n]
    possible: np.ndarray  # bool[n]: holdings of the deck
    permutations: np.ndarray  # int64[p, n]: image of each holding under each suit permutation
    n_boards: tuple[int, ...]  # numbered boards of each street
    n_deals: tuple[float, ...]  # deals of each street's new cards, given a board and two holdings
    n_pairs: int  # ordered pairs of holdings without a common card

    def root(self) -> DealtBoard:
        """Returns the empty board."""

    def children(self, street: int, board: DealtBoard) -> Iterator[tuple[DealtBoard, int]]:
        """Yields the boards of `street` that follow, one of each class, and the class sizes."""

    def sample(self, street: int, board: DealtBoard, rng: np.random.Generator) -> DealtBoard:
        """Returns one of them, in proportion to the class sizes."""

    def total(self, street: int) -> int:
        """Returns the number of boards of `street` that follow a board, by public cards alone."""

    def classes(self, board: DealtBoard) -> np.ndarray:
        """Returns int64[n]: the least image of each holding under the board's stabilizer."""

    def new_workspace(self) -> Any:
        """Returns a workspace for `lay_out`."""

    def lay_out(self, work: Any, board: DealtBoard, final: bool) -> Board:
        """Returns the possible holdings of a board, weakest first if the street is `final`."""


@jit
def _lay_out(deck: np.ndarray, work: ListingWorkspace, cards: int, final: bool) -> None:
    list_live_holdings(deck, work, cards, final)


class HoldemChance:
    """Two private cards each; `sizes[k]` cards are on the board of street k."""

    def __init__(self, deck: tuple[int, ...], sizes: tuple[int, ...], symmetric: bool) -> None:
        """`symmetric`: suit-isomorphic boards are one board."""
        self.deck, self.sizes = np.array(deck, dtype=np.int64), sizes
        self.low, self.high, self.n_holdings = LOW, HIGH, N_HOLDINGS
        self.possible = np.isin(LOW, self.deck) & np.isin(HIGH, self.deck)
        self.group = group = suit_permutations(deck, symmetric)
        self.permutations, self._card = group.holding, group.card
        self.flops, self.flop_weight = flops_of(deck, group)
        weight = self.flop_weight
        self._flop_share = np.cumsum(weight) / weight.sum()
        self.n_boards = (1, len(self.flops))[: len(sizes)]
        n, before = len(deck), (0, *sizes[:-1])
        self.n_pairs = comb(n, 2) * comb(n - 2, 2)
        streets = list(zip(before, sizes, strict=True))
        self.n_deals = tuple(float(comb(n - 4 - old, new - old)) for old, new in streets)
        self._totals = tuple(comb(n - old, new - old) for old, new in streets)

    def root(self) -> DealtBoard:
        return DealtBoard((), 0, np.arange(len(self._card)))

    def total(self, street: int) -> int:
        return self._totals[street]

    def children(self, street: int, board: DealtBoard) -> Iterator[tuple[DealtBoard, int]]:
        if street == 1:
            for number, weight in enumerate(self.flop_weight.tolist()):
                yield self.flop(number), weight
            return
        for card in self.deck.tolist():
            if card not in board.cards:
                orbit = np.unique(self._card[board.stabilizer, card])
                if orbit[0] == card:
                    yield self._next(board, card), len(orbit)

    def sample(self, street: int, board: DealtBoard, rng: np.random.Generator) -> DealtBoard:
        if street == 1:
            number = int(np.searchsorted(self._flop_share, rng.random(), side="right"))
            return self.flop(min(number, len(self.flops) - 1))
        live = [card for card in self.deck.tolist() if card not in board.cards]
        return self._next(board, live[int(rng.integers(len(live)))])

    def flop(self, number: int) -> DealtBoard:
        """Returns one of `flops`."""
        flop = self.flops[number]
        stable = (np.sort(self._card[:, flop], axis=1) == np.sort(flop)).all(axis=1)
        return DealtBoard(tuple(flop.tolist()), number, np.flatnonzero(stable))

    def _next(self, board: DealtBoard, card: int) -> DealtBoard:
        before = board.stabilizer
        return DealtBoard((*board.cards, card), -1, before[self._card[before, card] == card])

    def classes(self, board: DealtBoard) -> np.ndarray:
        classes: np.ndarray = self.permutations[board.stabilizer].min(axis=0)
        return classes

    def new_workspace(self) -> ListingWorkspace:
        return new_listing_workspace()

    def lay_out(self, work: ListingWorkspace, board: DealtBoard, final: bool) -> Board:
        work.chance.deck[FIRST_OF_BOARD : FIRST_OF_BOARD + len(board.cards)] = board.cards
        _lay_out(self.deck, work, len(board.cards), final)
        return work.board
