"""Deals by number: the same seed gives the same cards and random numbers, whoever plays and on
however many cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.arena.kernels import deal_cards, deal_state
from counterplay.holdem.betting import LIMIT, BettingRules
from counterplay.holdem.deal import N_DEALT, new_deal
from counterplay.kernels.jit import index, jit
from counterplay.kernels.rng import check_seed

#: Deals of one seed come in blocks, so that blocks can be played in any order.
BLOCK = 5_000
MOST_BLOCKS = 16  # in a run: all that Python does is done once for so many
_SHARES = 4  # runs of each thread, at least
Block = tuple[int, int]  # number, deals
Run = list[Block]  # blocks that follow each other, played in one go
_1 = np.uint64(1)


class Session(NamedTuple):
    """What bots play in one go: n deals, whose numbers begin with `first`."""

    first: int
    cards: np.ndarray  # uint8[n, 9]: player 1's two cards, player 2's two, the board
    seeds: np.ndarray  # uint64[n, 4]: for the bots in each deal; see `start_seeds` and `deal_seeds`
    betting: BettingRules = LIMIT

    @property
    def start_seeds(self) -> tuple[int, int]:
        """For the one who begins in the first seat, and the other."""
        return int(self.seeds[0, 0]), int(self.seeds[0, 1])

    @property
    def deal_seeds(self) -> list[tuple[int, int]]:
        """For each seat in each deal."""
        found: list[tuple[int, int]] = self.seeds[:, 2:].tolist()
        return found


@jit
def _seed_many(seed: int, first: int, rng: np.ndarray, out: np.ndarray) -> None:
    for k in range(index(len(out))):
        deal_state(seed, first + k, rng)
        for j in range(index(4)):
            out[k, j] = rng[j] >> _1  # fits any integer of 64 bits


def deal_block(seed: int, block: int, n: int) -> np.ndarray:
    """uint8[n, 9]: player 1's two cards, player 2's two, the board, for the first n deals of a
    block."""
    out = np.empty((n, N_DEALT), dtype=np.uint8)
    rng = np.empty(4, dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the jit NumPy warns of the wrap-around
        deal_cards(check_seed(seed), index(block), new_deal(), rng, out)
    return out


def session(
    seed: int, block: int, n: int, size: int = BLOCK, betting: BettingRules = LIMIT
) -> Session:
    """The first n deals of a block; blocks have `size` deals."""
    seeds = deal_seeds(seed, block * size, n)
    return Session(block * size, deal_block(seed, block, n), seeds, betting)


def deal_seeds(seed: int, first: int, n: int) -> np.ndarray:
    """uint64[n, 4]: of the bots in n deals, as in `Session`."""
    seeds = np.empty((n, 4), dtype=np.uint64)
    with np.errstate(over="ignore"):
        _seed_many(check_seed(seed), index(first), np.empty(4, dtype=np.uint64), seeds)
    return seeds


def play_state(seed: int, deal: int) -> np.ndarray:
    """Random numbers of the players in a deal."""
    state = np.empty(4, dtype=np.uint64)
    with np.errstate(over="ignore"):
        deal_state(check_seed(seed), index(deal), state)
    return state


def blocks(deals: int, size: int = BLOCK) -> list[Block]:
    """Every block of so many deals."""
    return [(k, min(size, deals - k * size)) for k in range(-(-deals // size))]


def runs(work: list[Block], threads: int, most: int) -> list[Run]:
    """Blocks cut into runs of at most `most`, enough of them for all threads."""
    size = max(1, min(most, len(work) // (_SHARES * threads)))
    return [work[k : k + size] for k in range(0, len(work), size)]
