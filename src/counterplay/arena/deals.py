"""Deals of real cards by number: the same seed gives the same cards, whoever plays and on however many cores."""

from __future__ import annotations

import numpy as np

from counterplay.holdem.form import N_DEALT, deal
from counterplay.kernels.jit import index, jit
from counterplay.kernels.rng import new_state

#: Deals of one seed come in blocks with a random stream each, so that blocks can be played in any order.
BLOCK = 5_000
DECK = 52 + 16  # a deck with room for what `deal` clears
_CARDS, _PLAY = 0, 1  # streams of one block


@jit
def _deal_many(hand: np.ndarray, rng: np.ndarray, out: np.ndarray) -> None:
    for k in range(len(out)):
        deal(hand, rng)
        for j in range(index(N_DEALT)):
            out[index(k), j] = hand[j]


def deal_block(seed: int, block: int, n: int) -> np.ndarray:
    """uint8[n, 9]: player 1's two cards, player 2's two, the board, for the first n deals of a block."""
    hand = np.zeros(DECK, dtype=np.int64)
    hand[:52] = np.arange(52)
    out = np.empty((n, N_DEALT), dtype=np.uint8)
    _deal_many(hand, new_state(seed, 2 * block + _CARDS), out)
    return out


def play_state(seed: int, block: int) -> np.ndarray:
    """Random numbers of the players in a block."""
    return new_state(seed, 2 * block + _PLAY)


def blocks(deals: int, size: int = BLOCK) -> list[tuple[int, int]]:
    """(number, deals) of every block."""
    return [(k, min(size, deals - k * size)) for k in range(-(-deals // size))]
