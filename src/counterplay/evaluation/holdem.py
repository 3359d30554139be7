"""Exact values in hold'em, by walking every board (`holdem/walk/`): what two players who are known
get from each other, and the most anyone can get from one of them.

A strategy that sees buckets plays the real game, so a best response here knows its cards: the
exploitability of Johanson et al. 2011. Flops are worked on by several threads, each by itself.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.base.processors import cores
from counterplay.base.progress import TellShare, untold
from counterplay.holdem.betting import BettingTree
from counterplay.holdem.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.holdem.decks import FULL, Deck
from counterplay.holdem.table import Table
from counterplay.holdem.walk.board import Board
from counterplay.holdem.walk.exact import (
    Desk,
    Seat,
    make_seat,
    new_desk,
    set_codes,
    value_flop,
    value_street,
)
from counterplay.holdem.walk.shape import LANES, Street, streets_of
from counterplay.holdem.walk.symmetry import Renamings, flops_of, renamings


@dataclass(frozen=True)
class Question:
    """What `player` gets from the table `against`: with the table `by`, or at best when that is
    None."""

    tree: BettingTree
    player: int
    against: Table
    by: Table | None = None
    deck: Deck = FULL
    symmetric: bool = True  # whether both see suits alike


class _Prepared:
    """A question in arrays."""

    def __init__(self, question: Question, dtype: Any) -> None:
        self.question, self.dtype = question, dtype
        self.streets: tuple[Street, ...] = streets_of(question.tree, dtype)
        self.names: Renamings = renamings(question.deck.cards, question.symmetric)
        self.flops, self.weight = flops_of(question.deck.cards, self.names)
        self.deck = np.array(question.deck.cards, dtype=np.int64)
        against = question.against
        self.seat: Seat = self._seat(1 - question.player, against)
        by = question.by or against
        self.own: Seat = self._seat(question.player, by)
        self.best = question.by is None
        self.groups = len(self.streets[1].node)

    def _seat(self, player: int, table: Table) -> Seat:
        return make_seat(self.question.tree, self.streets, player, table, self.dtype)

    def value_of_flop(self, number: int, desk: Desk) -> np.ndarray:
        """float64[groups, 1326, LANES]: values at the flop's starts."""
        found = np.empty((self.groups, N_HOLDINGS, LANES))
        for g in range(self.groups):
            value_flop(
                self.streets,
                self.deck,
                self.names,
                self.flops[number],
                g,
                self.question.player,
                self.best,
                self.seat,
                self.own,
                desk,
            )
            found[g] = desk.flop
        return found

    def even(self, values: np.ndarray) -> np.ndarray:
        """Values of holdings that differ by suits alone: their mean."""
        return np.mean([values[:, pairs] for pairs in self.names.pair], axis=0)

    def at_the_start(self, flops: np.ndarray) -> np.ndarray:
        """float64[1326]: values before the flop, from the sum over flops of those behind them
        ([groups, 1326, LANES])."""
        cards = len(self.deck)
        ways = (cards - 4) * (cards - 5) * (cards - 6) // 6
        street, player = self.streets[0], self.question.player
        ends = len(street.onward)
        onward = np.zeros((ends, N_HOLDINGS, LANES))
        onward[:, :, 0] = flops.transpose(0, 2, 1).reshape(-1, N_HOLDINGS)[:ends]
        desk = new_desk(self.streets, self.dtype)
        _list_all(self.deck, desk.board)
        set_codes(self.seat.table, desk, 0, 0)
        set_codes(self.own.table, desk, 1, 0)
        out = np.zeros((N_HOLDINGS, LANES))
        value_street(
            street, 0, player, self.best, desk.code[0, 0], desk.code[1, 0],
            np.ones((N_HOLDINGS, LANES), dtype=self.dtype), self.seat.gone[0], self.own.policy[0],
            onward, 1.0 / ways, desk, out, 1.0,
        )  # fmt: skip
        return out[:, 0]

    def per_hand(self, start: np.ndarray) -> float:
        """The mean over both players' holdings."""
        cards = len(self.deck)
        pairs = cards * (cards - 1) // 2 * ((cards - 2) * (cards - 3) // 2)
        return float(start.sum() / pairs)


def _list_all(deck: np.ndarray, board: Board) -> None:
    """All holdings of a deck, by number."""
    pairs = HOLDING_CARDS.astype(np.int64)
    inside = np.flatnonzero(np.isin(pairs, deck).all(axis=1))
    n = len(inside)
    board.size[:] = n, 0
    board.pair[:n] = inside
    board.low[:n], board.high[:n] = pairs[inside].T


def exact_value(
    question: Question,
    threads: int | None = None,
    dtype: Any = np.float64,
    tell: TellShare = untold,
) -> float:
    """The answer, in payoff per hand to the player who asks."""
    prepared = _Prepared(question, dtype)
    total = np.zeros((prepared.groups, N_HOLDINGS, LANES))
    workers = threads or cores()
    desks = [new_desk(prepared.streets, dtype) for _ in range(workers)]

    def share(k: int) -> list[np.ndarray]:
        return [
            prepared.weight[f] * prepared.value_of_flop(f, desks[k])
            for f in range(k, len(prepared.flops), workers)
        ]

    with ThreadPoolExecutor(workers) as pool:
        for found in pool.map(share, range(workers)):
            for values in found:
                total += values
    return prepared.per_hand(prepared.at_the_start(prepared.even(total)))
