"""Kuhn poker and Leduc hold'em for the traversal of the public tree: one private card each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.vector.board import Board, new_board
from counterplay.poker.vector.chance import DealtBoard

KUHN = BettingRules((1.0, 1.0), (1.0,), (1,), (0,), first=(0,))
LEDUC = BettingRules((1.0, 1.0), (2.0, 4.0), (2, 2), (0, 1), first=(0, 0))


class SingleCardChance:
    """One private card each and at most one public card: Kuhn poker and Leduc hold'em."""

    def __init__(
        self, n_cards: int, streets: int, strength: Callable[[int, int | None], int]
    ) -> None:
        """`strength(card, public)`: the larger one wins."""
        self.n_holdings, self._strength = n_cards, strength
        self.low = np.arange(n_cards, dtype=np.int64)
        self.high = self.low + n_cards
        self.possible = np.ones(n_cards, dtype=bool)
        self.permutations = self.low[None]
        self.n_boards = (1, n_cards)[:streets]
        self.n_deals = (1.0, float(n_cards - 2))[:streets]
        self.n_pairs = n_cards * (n_cards - 1)
        self._identity = np.zeros(1, dtype=np.int64)

    def root(self) -> DealtBoard:
        return DealtBoard((), 0, self._identity)

    def total(self, street: int) -> int:
        return self.n_holdings if street else 1

    def children(self, street: int, board: DealtBoard) -> Iterator[tuple[DealtBoard, int]]:
        for card in range(self.n_holdings):
            yield DealtBoard((card,), card, self._identity), 1

    def sample(self, street: int, board: DealtBoard, rng: np.random.Generator) -> DealtBoard:
        card = int(rng.integers(self.n_holdings))
        return DealtBoard((card,), card, self._identity)

    def classes(self, board: DealtBoard) -> np.ndarray:
        return self.low

    def new_workspace(self) -> Board:
        return new_board((1,))

    def lay_out(self, work: Board, board: DealtBoard, final: bool) -> Board:
        public = board.cards[0] if board.cards else None
        live = [h for h in range(self.n_holdings) if h != public]
        strength = np.array([self._strength(h, public) if final else 0 for h in live])
        order = np.argsort(strength, kind="stable")
        holdings, strength, n = np.array(live)[order], strength[order], len(live)
        work.holding[:n] = holdings
        work.low[:n], work.high[:n] = self.low[holdings], self.high[holdings]
        groups = [0, *(np.flatnonzero(np.diff(strength)) + 1), n]
        work.group[: len(groups)] = groups
        work.size[:] = n, len(groups) - 1
        return work


def rules_and_chance(name: str) -> tuple[BettingRules, SingleCardChance]:
    if name == "kuhn":
        return KUHN, SingleCardChance(3, 1, lambda card, public: card)
    return LEDUC, SingleCardChance(6, 2, _leduc_strength)


def _leduc_strength(card: int, public: int | None) -> int:
    assert public is not None
    rank = card // 2
    return 10 + rank if rank == public // 2 else rank


def _kuhn_label(label: str) -> tuple[str, int, int]:
    card, _, history = label.partition(" ")
    return history.replace("p", "c").replace("b", "r"), 0, "JQK".index(card)


def _leduc_label(label: str) -> tuple[str, int, int]:
    cards, _, history = label.partition(" ")
    private, *public = [
        ["Js", "Jh", "Qs", "Qh", "Ks", "Kh"].index(card) for card in cards.split("|")
    ]
    return history, public[0] if public else 0, private


#: Functions of a label: the betting history, the public card (0 if none) and the private card.
LABELS = {"kuhn": _kuhn_label, "leduc": _leduc_label}
