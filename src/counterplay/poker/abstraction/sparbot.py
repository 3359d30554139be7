"""Sparbot's six buckets a street: five by strength and one for weak holdings with high potential.

Published: n - 1 classes by roll-out strength (equity against a random holding), strong classes
smaller, and one class of low strength and high potential. Chosen here: the numbers below; six
classes of strength before the flop and on the river, where potential has no meaning; and potential
as outs, the next cards that make a holding strong. Strength is the exact EHS of
`poker/cards/strength.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress
from counterplay.core.base.store import Cached, Piece
from counterplay.core.kernels.jit import jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import AbstractionSpec, BucketNumbers, Buckets
from counterplay.poker.abstraction.ehs import river_deals
from counterplay.poker.cards.canonical import Boards, boards, find_canonical, permuted_holding
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.cards.strength import RIVER_TOTAL, Strengths, Workspace, in_pieces, strengths

N_BUCKETS = 6
POTENTIAL = 5  # the bucket of weak holdings with many outs, on the flop and the turn

#: Shares of all deals, weakest class first.
SHARES_SIX = (0.20, 0.19, 0.17, 0.16, 0.15, 0.13)  # before the flop and on the river
#: On the flop and the turn, before holdings move to the potential bucket.
SHARES_FIVE = (0.24, 0.22, 0.20, 0.18, 0.16)
WEAK_CLASSES = 2  # classes of strength whose holdings can move to the potential bucket
STRONG_SHARE = 0.20  # after an out the holding is among the best fifth
LEAST_OUTS = 7  # of 47 cards on the flop, 46 on the turn

SAVED = ("preflop", "flop", "turn", "river")


@dataclass(frozen=True)
class Borders:
    """Parameters of the buckets; `benchmarks/sparbot_search.py` tries others."""

    shares_six: tuple[float, ...] = SHARES_SIX  # one for each bucket
    shares_five: tuple[float, ...] = SHARES_FIVE  # without the potential bucket
    weak_classes: int = WEAK_CLASSES
    strong_share: float = STRONG_SHARE
    least_outs: int = LEAST_OUTS

    @property
    def n_buckets(self) -> int:
        return len(self.shares_six)


@dataclass(frozen=True)
class SparbotAbstraction:
    """Sparbot's card abstraction."""

    counts: tuple[int, ...] = (N_BUCKETS,) * 4
    arguments: str = "kind=sparbot"

    @property
    def deck(self) -> Deck:
        return FULL

    @property
    def key(self) -> str:
        return f"sparbot {json.dumps(parameters(), sort_keys=True)}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        """Returns the buckets from memory or disk, or builds them."""
        return BUCKETS.get(lambda share, what: progress(share))


def parameters() -> dict[str, Any]:
    """Returns the parameters of the default buckets."""
    return {
        "shares_six": list(SHARES_SIX),
        "shares_five": list(SHARES_FIVE),
        "weak_classes": WEAK_CLASSES,
        "strong_share": STRONG_SHARE,
        "least_outs": LEAST_OUTS,
    }


def _make(progress: ProgressCallback) -> Buckets:
    return sparbot_buckets(strengths(), lambda share: progress(share, "Sparbot's buckets"))


def _unpack(piece: Piece) -> Buckets | None:
    if set(piece.arrays) != set(SAVED):
        return None
    arrays = {name: piece.arrays[name].astype(np.uint16) for name in SAVED}
    return Buckets(**arrays, river_entry=strengths().river)


BUCKETS = Cached(
    "Sparbot's buckets stay",
    "sparbot-buckets",
    (__name__,),
    make=_make,
    pack=lambda made: Piece(None, {name: getattr(made, name).astype(np.uint8) for name in SAVED}),
    unpack=_unpack,
    recipe=parameters,
)


Outs = tuple[np.ndarray, np.ndarray]  # uint8[boards, 1326]: on the flop and on the turn


def sparbot_buckets(
    strengths: Strengths,
    progress: ShareCallback = no_progress,
    borders: Borders | None = None,
    outs: Outs | None = None,
) -> Buckets:
    """Returns the buckets of every holding on every board (10 s on two cores, mostly `outs`)."""
    borders = borders or Borders()
    six, five = borders.shares_six, borders.shares_five
    turn_weight = np.repeat(boards(4).weight, N_HOLDINGS)
    flop_weight = np.repeat(boards(3).weight, N_HOLDINGS)
    progress(0.1)
    on_flop, on_turn = outs or outs_to(
        borders.strong_share, strengths, lambda share: progress(0.1 + 0.8 * share)
    )
    buckets = Buckets(
        _by_strength(1 + ranks(strengths.preflop), np.ones(N_HOLDINGS), six),
        _with_potential(_by_strength(strengths.flop, flop_weight, five), on_flop, borders),
        _with_potential(_by_strength(strengths.turn, turn_weight, five), on_turn, borders),
        _by_strength(np.arange(RIVER_TOTAL + 1), river_deals(strengths.river), six),
        strengths.river,
    )
    progress(1.0)
    return buckets


def outs_to(share: float, strengths: Strengths, progress: ShareCallback = no_progress) -> Outs:
    """Returns the number of next cards that bring each holding among the best `share`."""
    parts = (1.0 - share, share)
    river_values, deals = np.arange(RIVER_TOTAL + 1), river_deals(strengths.river)
    strong_river = _borders(river_values, deals, parts)[0]
    turn = count_outs(4, strengths.river, int(strong_river), lambda part: progress(0.9 * part))
    weight = np.repeat(boards(4).weight, N_HOLDINGS)
    strong_turn = _borders(strengths.turn, weight, parts)[0]
    flop = count_outs(3, strengths.turn, int(strong_turn), lambda part: progress(0.9 + 0.1 * part))
    return flop, turn


def _borders(counts: np.ndarray, weight: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """Returns the least count of every class but the first, without blocked entries (0)."""
    deals = np.bincount(np.asarray(counts).reshape(-1), weight)
    deals[0] = 0.0
    share = np.cumsum(deals)  # of whole numbers, so exact
    return np.asarray(np.searchsorted(share, np.cumsum(shares)[:-1] * share[-1]))


def ranks(values: np.ndarray) -> np.ndarray:
    """Returns int64, shaped like `values`: 0 for the least, equal for equal ones."""
    return np.asarray(np.searchsorted(np.unique(values), values))


def _by_strength(counts: np.ndarray, weight: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """Returns uint16, shaped like `counts`: class of strength, 0 the weakest."""
    return np.searchsorted(_borders(counts, weight, shares), counts, side="right").astype(np.uint16)


def _with_potential(
    by_strength: np.ndarray, outs: np.ndarray, borders: Borders | None = None
) -> np.ndarray:
    """Moves weak holdings with enough outs to the last bucket."""
    borders = borders or Borders()
    drawing = (by_strength < borders.weak_classes) & (outs >= borders.least_outs)
    return np.where(drawing, np.uint16(borders.n_buckets - 1), by_strength)


@jit
def _count_outs(
    shorter: np.ndarray,
    longer: Boards,
    holdings: np.ndarray,
    counts: np.ndarray,
    strong: int,
    masks: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fills `out` with the number of next cards after which a holding counts at least `strong`.
    `shorter`: masks of the boards; `masks`: workspace, int64[4]."""
    for k in range(len(shorter)):
        out[k] = 0
        for card in range(52):
            suit, bit = card & 3, 1 << (card >> 2)
            if shorter[k, suit] & bit:
                continue
            for s in range(4):
                masks[s] = shorter[k, s]
            masks[suit] |= bit
            link = find_canonical(longer, masks)
            row, permutation = link >> 8, link & 255
            for holding in range(len(holdings)):
                a, b = np.int64(holdings[holding, 0]), np.int64(holdings[holding, 1])
                # counts are 0 where the holding shares a card with the board
                if counts[row, permuted_holding(a, b, permutation)] >= strong:
                    out[k, holding] += 1


def count_outs(
    size: int, later: np.ndarray, strong: int, progress: ShareCallback = no_progress
) -> np.ndarray:
    """Returns uint8[boards, 1326] for boards of `size` cards, from strengths one card later."""
    shorter, longer = boards(size).masks, boards(size + 1)
    out = np.empty((len(shorter), N_HOLDINGS), dtype=np.uint8)

    def count(work: Workspace, low: int, high: int) -> None:
        counts = HOLDING_CARDS, later, strong
        _count_outs(shorter[low:high], longer, *counts, work.masks, out[low:high])

    in_pieces(count, len(out), cores(), progress)
    return out


def _without_numbers(numbers: BucketNumbers, on_board: int) -> SparbotAbstraction:
    if any(number is not None for number in numbers.values()):
        raise BadParameter(
            f"kind=sparbot has {N_BUCKETS} buckets of its own on every street; leave out numbers"
        )
    return SparbotAbstraction()


ABSTRACTION = AbstractionSpec("sparbot", _without_numbers)
