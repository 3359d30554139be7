"""The lossless abstraction for short decks: a bucket for every holding on every board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.cards.canonical import flop_number
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import Deck

MOST = 1 << 16  # buckets on a street


@dataclass(frozen=True)
class LosslessAbstraction:
    """A bucket for every holding of a short deck on every board."""

    deck: Deck

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of buckets on each street."""
        return tuple(int(table.max()) + 1 for table in self._numbers)

    @property
    def arguments(self) -> str:
        return f"kind=lossless,cards={len(self.deck.cards)}"

    @property
    def key(self) -> str:
        return f"lossless {self.deck.cards}"

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """int64[boards, 1326] of each street: the bucket of a holding, -1 where it is blocked."""
        links = self.deck.links()
        flops = int((links.flops >= 0).sum())
        boards: list[set[int]] = [set() for _ in range(int(links.next_boards.max() >> 8) + 1)]
        for flop in combinations(sorted(self.deck.cards), 3):
            boards[links.flops[flop_number(*flop)] >> 8] = set(flop)
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
            raise BadParameter(
                f"{self.arguments}: a lossless abstraction has at most {MOST:,} buckets on a street"
            )
        return np.where(live, np.cumsum(live.reshape(-1)).reshape(live.shape) - 1, -1)

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        preflop, flop, turn, river = (
            np.maximum(table, 0).astype(np.uint16) for table in self._numbers
        )
        identity = np.arange(int(river.max()) + 1, dtype=np.uint16)
        return Buckets(preflop.reshape(N_HOLDINGS), flop, turn, identity, river)
