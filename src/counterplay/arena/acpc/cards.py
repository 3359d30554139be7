"""The cards of the competition's dealer: the same seed gives the same cards.

Its generator is MT19937 with `init_genrand(seed)`, whose 32-bit words are those of NumPy's
`RandomState`. Every hand takes nine words and a fresh deck ordered by suits: word k modulo the
cards left says which one is taken, and the last one left moves into its place. The big blind gets
the first two, the dealer the next two, then come flop, turn and river.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.holdem.cards import N_CARDS
from counterplay.holdem.deal import N_DEALT

MOST_SEED = 2**32
CHUNK = 2_000  # hands dealt at once
_ORDERED = np.array([4 * (k % 13) + k // 13 for k in range(N_CARDS)], dtype=np.uint8)
_OUR_PLACES = [2, 3, 0, 1, 4, 5, 6, 7, 8]  # the dealer's cards before the big blind's


def acpc_cards(seed: int, hands: int) -> np.ndarray:
    """uint8[hands, 9]: the dealer's two cards, the big blind's two, the board, as the competition's
    dealer gives them with that seed; for `cards` of `play_match`."""
    whole_number(hands, 1, None, "hands")
    return np.concatenate(list(_chunks(seed, hands)))


def deals_of(seed: int, hands: int) -> Iterator[list[int]]:
    """The same, deal by deal."""
    for chunk in _chunks(seed, hands):
        yield from chunk.tolist()


def _chunks(seed: int, hands: int) -> Iterator[np.ndarray]:
    words = np.random.RandomState(check_acpc_seed(seed))
    for done in range(0, hands, CHUNK):
        n = min(CHUNK, hands - done)
        yield _deal(words.randint(0, 2**32, (n, N_DEALT), dtype=np.uint32))


def _deal(words: np.ndarray) -> np.ndarray:
    """uint8[n, 9] from uint32[n, 9]."""
    n = len(words)
    row, decks = np.arange(n), np.tile(_ORDERED, (n, 1))
    dealt = np.empty((n, N_DEALT), dtype=np.uint8)
    for k in range(N_DEALT):
        left = N_CARDS - k
        place = words[:, k] % np.uint32(left)
        dealt[:, k] = decks[row, place]
        decks[row, place] = decks[:, left - 1]
    return dealt[:, _OUR_PLACES]


def check_acpc_seed(seed: int) -> int:
    """The seed as that dealer takes it, or `BadParameter`."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadParameter(f"seed must be a whole number from 0, not {seed!r}")
    return int(seed) % MOST_SEED
