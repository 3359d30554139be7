"""Deals by number: the same seed gives the same cards and random numbers, whoever plays and on
however many cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.holdem.betting import LIMIT, BettingRules
from counterplay.holdem.cards import N_CARDS
from counterplay.holdem.deal import N_DEALT, new_deal
from counterplay.holdem_match.kernels import deal_cards
from counterplay.kernels.jit import index, jit
from counterplay.kernels.rng import check_seed
from counterplay.match.kernels import deal_state
from counterplay.match.play import BLOCK, USUAL_HANDS

_1 = np.uint64(1)


class SessionDeals(NamedTuple):
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
        seeds: list[tuple[int, int]] = self.seeds[:, 2:].tolist()
        return seeds


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


def session_deals(
    seed: int, block: int, n: int, size: int = BLOCK, betting: BettingRules = LIMIT
) -> SessionDeals:
    """The first n deals of a block; blocks have `size` deals."""
    seeds = deal_seeds(seed, block * size, n)
    return SessionDeals(block * size, deal_block(seed, block, n), seeds, betting)


def deal_seeds(seed: int, first: int, n: int) -> np.ndarray:
    """uint64[n, 4]: of the bots in n deals, as in `SessionDeals`."""
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


def check_deals(cards: np.ndarray | None, hands: int, duplicate: bool) -> int:
    """How many hands to play, of the seed's cards or of the caller's; or `BadParameter`."""
    if cards is None:
        return hands
    fine = isinstance(cards, np.ndarray) and cards.ndim == 2 and cards.shape[1] == N_DEALT
    if not fine or len(cards) == 0 or not np.issubdtype(cards.dtype, np.integer):
        raise BadParameter(f"cards are whole numbers in an array of deals by {N_DEALT}")
    ordered = np.sort(cards, axis=1)
    if ordered.min() < 0 or ordered.max() >= N_CARDS or (ordered[:, 1:] == ordered[:, :-1]).any():
        raise BadParameter(f"the cards of a deal are different numbers from 0 to {N_CARDS - 1}")
    most = len(cards) * (2 if duplicate else 1)
    if hands not in (USUAL_HANDS, most):
        raise BadParameter(f"these cards are {most:,} hands; leave out hands, or say so")
    return most
