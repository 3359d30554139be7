"""Classes of holdings with the same codes, which a CUDA device multiplies as one row or column.

The exact traversal lists the classes of all turns and rivers of a flop (`list_classes`); those of
random boards are in `dealt_boards.py`. On a board the holdings stand class by class, as words: both
cards, and the group of equal strength.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.board import HIGH, LOW
from counterplay.poker.vector.flop_boards import (
    LAST,
    MOST_RIVERS,
    MOST_TURNS,
    ON_RIVER,
    ON_TURN,
    FlopBoards,
)

MAX_CLASSES = 1_184  # more than there are holdings on a flop, and one more
NO_HOLDING = 65_535


class ClassWorkspace(NamedTuple):
    """Buffers of one thread."""

    number: np.ndarray  # int32[k]: class of a key, -1 where there is none
    key: np.ndarray  # int64[n]
    of: np.ndarray  # int64[3, n]: class of each holding on the flop, the turn and this board
    at: np.ndarray  # int64[...]: position of the next member of a class or bucket
    code: np.ndarray  # int64[2, n]: codes in both tables on a river, by holding


def new_class_workspace(codes: int, first: int, buckets: int = 0) -> ClassWorkspace:
    """Returns a workspace for tables with at most `codes` codes on a street, `first` of them before
    the flop."""

    def longs(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return ClassWorkspace(
        number=np.full(max(MAX_CLASSES, first) * codes, -1, dtype=np.int32),
        key=longs(N_HOLDINGS),
        of=longs(3, N_HOLDINGS),
        at=longs(max(N_HOLDINGS, buckets) + 1),
        code=longs(2, N_HOLDINGS),
    )


@jit(inner=True)
def count_members(of: Any, members: Any, n: Any, count: Any, at: Any) -> None:
    """Sets `at[c]` to the first position of class c when n members stand class by class. Member k
    is `members[k] % LAST`."""
    for c in range(count + ONE):
        at[c] = 0
    for k in range(n):
        at[index(of[index(np.int64(members[k]) % LAST)]) + ONE] += 1
    for c in range(count):
        at[c + ONE] += at[c]


class BoardClasses(NamedTuple):
    """The classes of b boards of n holdings."""

    word: np.ndarray  # uint32[b, n]: holdings, class by class
    first: np.ndarray  # uint16[b, MAX_CLASSES]: first position of each class; n after the last
    holding: np.ndarray  # uint16[b, MAX_CLASSES]: one of each class, NO_HOLDING after the last
    code: np.ndarray  # uint16[b, MAX_CLASSES]: code of the class in the opponent's table
    own: np.ndarray  # uint16[b, n]: code of each holding in the player's own table
    classes: np.ndarray  # int32[b]: number of classes


def _new_classes(boards: int, n: int) -> BoardClasses:
    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return BoardClasses(
        word=np.zeros((boards, n), dtype=np.uint32),
        first=shorts(boards, MAX_CLASSES),
        holding=shorts(boards, MAX_CLASSES),
        code=shorts(boards, MAX_CLASSES),
        own=shorts(boards, n),
        classes=np.zeros(boards, dtype=np.int32),
    )


def turn_classes() -> BoardClasses:
    """Returns empty classes for the turns of a flop."""
    return _new_classes(MOST_TURNS, ON_TURN)


def river_classes() -> BoardClasses:
    """Returns empty classes for the rivers of a flop."""
    return _new_classes(MOST_RIVERS, ON_RIVER)


@jit(inner=True)
def _refine(
    before: Any, code: Any, holdings: Any, n: int, codes: int, of: Any, work: ClassWorkspace
) -> int:
    """Splits the classes `before` by `code`, both by holding; returns the number of classes `of`
    the holdings."""
    number, key = work.number, work.key
    count = ZERO
    for k in range(index(n)):
        h = index(np.int64(holdings[k]) % LAST)
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
    holdings: Any, n: int, count: int, of: Any, code: Any, own: Any, b: int, work: ClassWorkspace,
    out: BoardClasses,
) -> None:  # fmt: skip
    """Writes the holdings of board b in the order of their classes. `holdings`: weakest first, with
    LAST at the end of a group; `code`, `own`: codes in both tables, by holding."""
    at, row = work.at, index(b)
    count_members(of, holdings, index(n), index(count), at)
    for c in range(index(MAX_CLASSES)):
        out.first[row, c] = at[c] if c < index(count) else n
        out.holding[row, c] = NO_HOLDING
    group = 0
    for k in range(index(n)):
        word = np.int64(holdings[k])
        h = index(word % LAST)
        c = index(of[h])
        position = index(at[c])
        at[c] += 1
        out.word[row, position] = LOW[h] | HIGH[h] << 6 | group << 12
        out.own[row, position] = own[h]
        out.holding[row, c] = h
        out.code[row, c] = code[h]
        if word >= LAST:
            group += 1
    out.classes[row] = count


@jit
def list_classes(
    boards: FlopBoards, codes: int, work: ClassWorkspace, turns: BoardClasses, rivers: BoardClasses
) -> None:
    """Fills the classes of the opponent's holdings on all turns and rivers of a flop. Holdings of a
    class have the same codes on every street so far."""
    of, river_code = work.of, work.code
    for h in range(index(N_HOLDINGS)):
        of[2, h] = boards.start_code[0, h]
    n_flop, n_turn, n_river = boards.n_holdings[0], boards.n_holdings[1], boards.n_holdings[2]
    _refine(of[2], boards.flop_code[0], boards.flop_holding, n_flop, codes, of[0], work)
    for turn in range(boards.size[0]):
        t = index(turn)
        code, own, holdings = boards.turn_code[0, t], boards.turn_code[1, t], boards.turn_holding[t]
        count = _refine(of[0], code, holdings, n_turn, codes, of[1], work)
        _write(holdings, n_turn, count, of[1], code, own, turn, work, turns)
        for river in range(boards.first_river[t], boards.first_river[t + ONE]):
            r = index(river)
            holdings = boards.river_holding[r]
            for k in range(index(n_river)):  # codes are listed by strength there
                h = index(np.int64(holdings[k]) % LAST)
                river_code[0, h] = boards.river_code[0, r, k]
                river_code[1, h] = boards.river_code[1, r, k]
            count = _refine(of[1], river_code[0], holdings, n_river, codes, of[2], work)
            _write(
                holdings, n_river, count, of[2], river_code[0], river_code[1], river, work, rivers
            )
