"""Every holding on every board a bucket of its own: nothing is forgotten. For short decks only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import Deck

MOST = 1 << 16  # buckets of a street


@dataclass(frozen=True)
class LosslessAbstraction:
    """All holdings of a short deck told apart."""

    deck: Deck

    @property
    def counts(self) -> tuple[int, ...]:
        """Buckets of each street."""
        return tuple(int(table.max()) + 1 for table in self._numbers)

    @property
    def arguments(self) -> str:
        return f"view=apart,cards={len(self.deck.cards)}"

    @property
    def key(self) -> str:
        return f"apart {self.deck.cards}"

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """int64[boards, 1326] of each street: numbers of holdings that can be dealt, else -1."""
        links = self.deck.links()
        flops = int((links.flops >= 0).sum())
        boards: list[set[int]] = [set() for _ in range(int(links.next_boards.max() >> 8) + 1)]
        for high in range(52):
            for middle in range(high):
                for low in range(middle):
                    link = links.flops[_flop(low, middle, high)]
                    if link >= 0:
                        boards[link >> 8] = {low, middle, high}
        for row, cards in enumerate(links.next_boards):
            for card in np.flatnonzero(cards >= 0).tolist():
                boards[cards[card] >> 8] = boards[row] | {card}
        turns = flops + int((links.next_boards[:flops] >= 0).sum())
        groups: list[list[set[int]]] = [
            [set()],
            boards[:flops],
            boards[flops:turns],
            boards[turns:],
        ]
        return [self._number(group) for group in groups]

    def _number(self, boards: list[set[int]]) -> np.ndarray:
        dealt = np.zeros((len(boards), 52), dtype=bool)
        dealt[:, list(self.deck.cards)] = True
        for row, board in enumerate(boards):
            dealt[row, list(board)] = False
        live = dealt[:, HOLDING_CARDS].all(axis=2)
        if live.sum() > MOST:
            raise BadParameter(f"{self.arguments}: too many boards to tell all holdings apart")
        return np.where(live, np.cumsum(live.reshape(-1)).reshape(live.shape) - 1, -1)

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        preflop, flop, turn, river = (
            np.maximum(table, 0).astype(np.uint16) for table in self._numbers
        )
        every = np.arange(int(river.max()) + 1, dtype=np.uint16)
        return Buckets(preflop.reshape(N_HOLDINGS), flop, turn, every, river)


def _flop(low: int, middle: int, high: int) -> int:
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low
