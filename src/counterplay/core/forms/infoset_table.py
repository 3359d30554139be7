"""`InfosetTable`: discovered information sets, in a hash table with open addressing.

A key is what a player knows: one word that packs it exactly, or two words that hash it to 128 bits.
Its lowest four bits are the player. Information sets and their slots are numbered in order of
discovery, whatever the size of the table. Kernels add information sets and never allocate: they
return when little room is left (`full`), and the caller enlarges the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit

PLAYER_BITS = 4
#: Bits of a one-word key for what a player knows.
EXACT_BITS = 64 - PLAYER_BITS
#: Largest load factor: look-ups slow down above it. The second applies when memory is short.
MAX_LOAD, MAX_LOAD_SHORT_MEMORY = 5 / 8, 3 / 4
MIN_CELLS = 1024
#: Fields of `size`: information sets and slots so far, how many of each let a kernel go on, and
#: the error of the rules (`PROBLEMS`), 0 for none.
SETS, SLOTS, SETS_LIMIT, SLOTS_LIMIT, PROBLEM = (index(k) for k in range(5))
#: Information sets and slots are numbered with 32 bits.
MOST = 2**32 - 2

_32 = index(32)
_LOW = index(2**32 - 1)
_33 = index(33)
_MIX, _MIX_AGAIN = index(0xFF51AFD7ED558CCD), index(0xC4CEB9FE1A85EC53)


class InfosetTable(NamedTuple):
    """A table of q cells (a power of two) for keys of k words and m information sets."""

    # uint64[q, k + 1]: a key and its entry, number + 1 | first slot << 32; zero in a free cell
    cells: np.ndarray
    first: np.ndarray  # uint32[m + 1]: slots of information set I are first[I] .. first[I + 1] - 1
    size: np.ndarray  # int64[5]


def new_infoset_table(words: int, cells: int = MIN_CELLS, sets: int = MIN_CELLS) -> InfosetTable:
    """An empty table for keys of `words` words."""
    return InfosetTable(
        np.zeros((cells, words + 1), dtype=np.uint64),
        np.zeros(sets + 1, dtype=np.uint32),
        np.zeros(5, dtype=np.int64),
    )


@jit(inline=True)
def home_cell(low: int, high: int, mask: int) -> int:
    """The first cell to probe for a key (MurmurHash3's finaliser)."""
    mixed = low ^ high
    mixed = (mixed ^ (mixed >> _33)) * _MIX
    mixed = (mixed ^ (mixed >> _33)) * _MIX_AGAIN
    return (mixed ^ (mixed >> _33)) & mask


@jit(inline=True)
def find(cells: np.ndarray, low: int, high: int) -> tuple[int, int]:
    """The cell of a key and its entry (0: absent). `high`: 0 for keys of one word."""
    mask = index(cells.shape[0]) - ONE
    last = index(cells.shape[1]) - ONE
    cell = home_cell(low, high, mask)
    entry = cells[cell, last]
    while entry != ZERO:
        if cells[cell, ZERO] == low and (last == ONE or cells[cell, ONE] == high):
            break
        cell = (cell + ONE) & mask
        entry = cells[cell, last]
    return cell, entry


@jit(inline=True)
def entry_infoset(entry: int) -> int:
    """The information set of an entry."""
    return (entry & _LOW) - ONE


@jit(inline=True)
def entry_slot(entry: int) -> int:
    """The first slot of an entry."""
    return entry >> _32


@jit(inline=True)
def find_or_add(table: Any, low: int, high: int, count: int) -> int:
    """The entry of a key, which is added with `count` slots if it is new."""
    cell, entry = find(table.cells, low, high)
    if entry == ZERO:
        number, first = index(table.size[SETS]), index(table.size[SLOTS])
        last = index(table.cells.shape[1]) - ONE
        table.cells[cell, ZERO] = low
        if last > ONE:
            table.cells[cell, ONE] = high
        entry = (number + ONE) | (first << _32)
        table.cells[cell, last] = entry
        table.first[number + ONE] = first + count
        table.size[SETS] = number + ONE
        table.size[SLOTS] = first + count
    return entry


@jit
def add_all(table: Any, keys: np.ndarray, counts: np.ndarray, numbers: np.ndarray) -> None:
    """Adds keys (uint64[n, k]) in order; fills `numbers` (int64[n]). There must be room."""
    for i in range(index(len(keys))):
        high = keys[i, ONE] if keys.shape[1] > 1 else ZERO
        numbers[i] = entry_infoset(find_or_add(table, keys[i, ZERO], high, index(counts[i])))


@jit
def find_all(cells: np.ndarray, keys: np.ndarray, numbers: np.ndarray) -> None:
    """Looks up keys; fills `numbers` (int64[n]), -1 where a key is absent."""
    for i in range(index(len(keys))):
        high = keys[i, ONE] if keys.shape[1] > 1 else ZERO
        _, entry = find(cells, keys[i, ZERO], high)
        numbers[i] = -1 if entry == ZERO else np.int64(entry_infoset(entry))


@jit
def _keys_since(cells: np.ndarray, since: int, keys: np.ndarray) -> None:
    last = index(cells.shape[1]) - ONE
    for cell in range(index(len(cells))):
        entry = cells[cell, last]
        if entry != ZERO and entry_infoset(entry) >= index(since):
            for k in range(last):
                keys[entry_infoset(entry) - index(since), k] = cells[cell, k]


@jit
def renumber(table: Any, since: int, keys: np.ndarray, counts: np.ndarray) -> None:
    """Replaces the numbers from `since` on by those of `keys`, in this order; `keys` contains all
    keys that the table has there. There must be room."""
    last = index(table.cells.shape[1]) - ONE
    number, first = index(since), index(table.first[index(since)])
    for i in range(index(len(keys))):
        high = keys[i, ONE] if last > ONE else ZERO
        cell, _ = find(table.cells, keys[i, ZERO], high)
        for k in range(last):
            table.cells[cell, k] = keys[i, k]
        number += ONE
        table.cells[cell, last] = number | (first << _32)
        first += index(counts[i])
        table.first[number] = first
    table.size[SETS] = number
    table.size[SLOTS] = first


@jit
def _move(old: np.ndarray, new: np.ndarray) -> None:
    last = index(old.shape[1]) - ONE
    mask = index(len(new)) - ONE
    for cell in range(index(len(old))):
        if old[cell, last] != ZERO:
            high = old[cell, ONE] if last > ONE else ZERO
            to = home_cell(old[cell, ZERO], high, mask)
            while new[to, last] != ZERO:
                to = (to + ONE) & mask
            for k in range(last + ONE):
                new[to, k] = old[cell, k]


def infoset_count(table: InfosetTable) -> int:
    """Information sets so far."""
    return int(table.size[SETS])


def slot_count(table: InfosetTable) -> int:
    """Slots so far."""
    return int(table.size[SLOTS])


def keys_of(table: InfosetTable, since: int = 0) -> np.ndarray:
    """uint64[n, k]: the keys in order of discovery, from number `since` on."""
    keys = np.zeros((infoset_count(table) - since, table.cells.shape[1] - 1), dtype=np.uint64)
    _keys_since(table.cells, since, keys)
    return keys


def action_counts(table: InfosetTable, since: int = 0) -> np.ndarray:
    """int64[n]: the number of actions of each information set."""
    return np.diff(table.first[since : infoset_count(table) + 1].astype(np.int64))


def enlarge_table(table: InfosetTable, cells: int, sets: int) -> InfosetTable:
    """The table with more room; numbers stay."""
    grown = table
    if sets > len(table.first) - 1:
        first = np.zeros(sets + 1, dtype=np.uint32)
        first[: len(table.first)] = table.first
        grown = grown._replace(first=first)
    if cells > len(table.cells):
        moved = np.zeros((cells, table.cells.shape[1]), dtype=np.uint64)
        _move(table.cells, moved)
        grown = grown._replace(cells=moved)
    return grown


def cells_for(sets: int, filled: float = MAX_LOAD) -> int:
    """The least power of two that holds `sets` information sets at load factor `filled`."""
    cells = MIN_CELLS
    while sets > filled * cells:
        cells *= 2
    return cells


def table_from_keys(
    keys: np.ndarray, counts: np.ndarray, cells: int = 0, sets: int = 0
) -> InfosetTable:
    """A table of `keys`, numbered in order, with room for `sets`, by default for the least."""
    n = len(keys)
    table = new_infoset_table(keys.shape[1], cells or cells_for(n), max(sets or n, MIN_CELLS))
    add_all(table, keys, counts, np.empty(n, dtype=np.int64))
    return table


def slots_of_sets(table: InfosetTable, numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """int64[...]: the slots of the information sets `numbers`, one set after the other."""
    begin = table.first[numbers].astype(np.int64)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    slots: np.ndarray = np.repeat(begin, counts) + within
    return slots


def owners_of(keys: np.ndarray) -> np.ndarray:
    """int8[n]: the player of each key."""
    return (keys[:, 0] & np.uint64(2**PLAYER_BITS - 1)).astype(np.int8)
