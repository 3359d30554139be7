"""Holdings that a table plays alike on a board, class by class: what a device multiplies with.

A class has the same codes on every street so far. On a board its holdings stand together, as words
(`device.py`): both cards, and which group of equals a holding is in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.vector.board_list import LAST, MOST_RIVERS, MOST_TURNS, ON_TURN, Listing

ROOM = 1_184  # more than there are holdings on a flop: classes of a board, and one more
NONE = 65_535


class BoardClasses(NamedTuple):
    """b boards: so many turns, or rivers."""

    word: np.ndarray  # uint32[b, n]: holdings, class by class
    first: np.ndarray  # uint16[b, ROOM]: where each class begins; n behind the last
    holding: np.ndarray  # uint16[b, ROOM]: one of each class, NONE behind the last
    code: np.ndarray  # uint16[b, ROOM]: what the opponent knows
    own: np.ndarray  # uint16[b, n]: what he himself knows, holding by holding
    classes: np.ndarray  # int32[b]: how many there are


class Finder(NamedTuple):
    """Scratch."""

    number: np.ndarray  # int32[k]: class of a key, -1 where there is none
    key: np.ndarray  # int64[n]
    of: np.ndarray  # int64[3, n]: class of each holding on the flop, the turn and this board
    at: np.ndarray  # int64[n + 1]: where the next holding of a class goes
    code: np.ndarray  # int64[2, n]: codes of both tables on a river, by holding
    low: np.ndarray  # int64[n]
    high: np.ndarray  # int64[n]


def new_classes(boards: int, n: int) -> BoardClasses:
    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return BoardClasses(
        word=np.zeros((boards, n), dtype=np.uint32),
        first=shorts(boards, ROOM),
        holding=shorts(boards, ROOM),
        code=shorts(boards, ROOM),
        own=shorts(boards, n),
        classes=np.zeros(boards, dtype=np.int32),
    )


def turn_classes() -> BoardClasses:
    """Room for the turns of a flop."""
    return new_classes(MOST_TURNS, ON_TURN)


def river_classes(n: int) -> BoardClasses:
    return new_classes(MOST_RIVERS, n)


def new_finder(codes: int) -> Finder:
    """For tables that tell so many codes apart on a street."""

    def longs(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return Finder(
        number=np.full(max(ROOM, codes) * codes, -1, dtype=np.int32),
        key=longs(N_HOLDINGS),
        of=longs(3, N_HOLDINGS),
        at=longs(N_HOLDINGS + 1),
        code=longs(2, N_HOLDINGS),
        low=HOLDING_CARDS[:, 0].astype(np.int64),
        high=HOLDING_CARDS[:, 1].astype(np.int64),
    )


@jit(inner=True)
def refine(before: Any, code: Any, pair: Any, n: int, codes: int, of: Any, finder: Finder) -> int:
    """Split the classes `before` by what is known now; how many there are. `code` is by holding,
    and `before` too."""
    number, key = finder.number, finder.key
    count = ZERO
    for k in range(index(n)):
        h = index(np.int64(pair[k]) % LAST)
        at = before[h] * np.int64(codes) + np.int64(code[h])
        key[k] = at
        if number[index(at)] < 0:
            number[index(at)] = count
            count += ONE
        of[h] = number[index(at)]
    for k in range(index(n)):
        number[index(key[k])] = -1
    return int(count)


@jit(inner=True)
def _write(
    pair: Any, n: int, count: int, of: Any, code: Any, own: Any, b: int, finder: Finder,
    out: BoardClasses,
) -> None:  # fmt: skip
    """Holdings of a board in the order of their classes. `pair`: weakest first, with LAST behind
    equals; `code`, `own`: what both know, by holding."""
    at, row = finder.at, index(b)
    for c in range(index(count) + ONE):
        at[c] = 0
    for k in range(index(n)):
        at[index(of[index(np.int64(pair[k]) % LAST)]) + ONE] += 1
    for c in range(index(count)):
        at[c + ONE] += at[c]
    for c in range(index(ROOM)):
        out.first[row, c] = at[c] if c < index(count) else n
        out.holding[row, c] = NONE
    group = 0
    for k in range(index(n)):
        word = np.int64(pair[k])
        h = index(word % LAST)
        c = index(of[h])
        place = index(at[c])
        at[c] += 1
        out.word[row, place] = finder.low[h] | finder.high[h] << 6 | group << 12
        out.own[row, place] = own[h]
        out.holding[row, c] = h
        out.code[row, c] = code[h]
        if word >= LAST:
            group += 1
    out.classes[row] = count


@jit
def list_classes(
    listing: Listing, codes: int, finder: Finder, turns: BoardClasses, rivers: BoardClasses
) -> None:
    """Classes of the opponent's holdings on all turns and rivers of a flop."""
    of, known = finder.of, finder.code
    for h in range(index(N_HOLDINGS)):
        of[2, h] = listing.start_code[0, h]
    n_flop, n_turn, n_river = listing.held[0], listing.held[1], listing.held[2]
    refine(of[2], listing.flop_code[0], listing.flop_pair, n_flop, codes, of[0], finder)
    for turn in range(listing.size[0]):
        t = index(turn)
        code, own, pair = listing.turn_code[0, t], listing.turn_code[1, t], listing.turn_pair[t]
        count = refine(of[0], code, pair, n_turn, codes, of[1], finder)
        _write(pair, n_turn, count, of[1], code, own, turn, finder, turns)
        for river in range(listing.first_river[t], listing.first_river[t + ONE]):
            r = index(river)
            cards = listing.river_pair[r]
            for k in range(index(n_river)):  # codes stand by strength there
                h = index(np.int64(cards[k]) % LAST)
                known[0, h] = listing.river_code[0, r, k]
                known[1, h] = listing.river_code[1, r, k]
            count = refine(of[1], known[0], cards, n_river, codes, of[2], finder)
            _write(cards, n_river, count, of[2], known[0], known[1], river, finder, rivers)
