"""Information sets found while playing: a hash table with open addressing.

A key is one word, what a player knows packed exactly, or two words, a hash of 128 bits of it. Its
lowest four bits are the player. Information sets and their slots are numbered in order of
discovery; how large the table is changes nothing but time. Kernels add and never allocate: they
return when little room is left (`full`), and the shell makes more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit

PLAYER_BITS = 4
#: A key of one word has so many bits for what a player knows.
EXACT_BITS = 64 - PLAYER_BITS
#: The table of cells is at most so full: more and look-ups take long. And where memory is short.
MAX_LOAD, MAX_LOAD_SHORT_MEMORY = 5 / 8, 3 / 4
MIN_CELLS = 1024
#: Fields of `size`: information sets and slots so far, how many of each let a kernel go on, and
#: what is wrong with the rules (`PROBLEMS`), 0 for nothing.
SETS, SLOTS, SETS_LIMIT, SLOTS_LIMIT, PROBLEM = (index(k) for k in range(5))
#: Information sets and slots are numbered with 32 bits.
MOST = 2**32 - 2

_32 = index(32)
_LOW = index(2**32 - 1)
_33 = index(33)
_MIX, _MIX_AGAIN = index(0xFF51AFD7ED558CCD), index(0xC4CEB9FE1A85EC53)


class InfosetTable(NamedTuple):
    """q cells (a power of two), k words of a key, room for m information sets."""

    # uint64[q, k + 1]: a key, and number + 1 | first slot << 32; zero where the cell is free
    cells: np.ndarray
    first: np.ndarray  # uint32[m + 1]: slots of information set I are first[I] .. first[I + 1] - 1
    size: np.ndarray  # int64[5]


def new_infoset_table(words: int, cells: int = MIN_CELLS, sets: int = MIN_CELLS) -> InfosetTable:
    """An empty table for keys of so many words."""
    return InfosetTable(
        np.zeros((cells, words + 1), dtype=np.uint64),
        np.zeros(sets + 1, dtype=np.uint32),
        np.zeros(5, dtype=np.int64),
    )


@jit(inline=True)
def home_cell(low: int, high: int, mask: int) -> int:
    """Where to begin to look for a key (MurmurHash3's finaliser)."""
    mixed = low ^ high
    mixed = (mixed ^ (mixed >> _33)) * _MIX
    mixed = (mixed ^ (mixed >> _33)) * _MIX_AGAIN
    return (mixed ^ (mixed >> _33)) & mask


@jit(inline=True)
def find(cells: np.ndarray, low: int, high: int) -> tuple[int, int]:
    """The cell of a key, or the free one where it would be; and what stands there. `high`: 0 for
    keys of one word."""
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
    """The number of an information set, of what `find` gave for it."""
    return (entry & _LOW) - ONE


@jit(inline=True)
def entry_slot(entry: int) -> int:
    """Its first slot."""
    return entry >> _32


@jit(inline=True)
def find_or_add(found: Any, low: int, high: int, count: int) -> int:
    """What `find` gives for a key, which is added with `count` slots where it is new."""
    cell, entry = find(found.cells, low, high)
    if entry == ZERO:
        number, first = index(found.size[SETS]), index(found.size[SLOTS])
        last = index(found.cells.shape[1]) - ONE
        found.cells[cell, ZERO] = low
        if last > ONE:
            found.cells[cell, ONE] = high
        entry = (number + ONE) | (first << _32)
        found.cells[cell, last] = entry
        found.first[number + ONE] = first + count
        found.size[SETS] = number + ONE
        found.size[SLOTS] = first + count
    return entry


@jit
def add_all(found: Any, keys: np.ndarray, counts: np.ndarray, numbers: np.ndarray) -> None:
    """Add keys (uint64[n, k]) in their order; fills `numbers` (int64[n]). There must be room."""
    for i in range(index(len(keys))):
        high = keys[i, ONE] if keys.shape[1] > 1 else ZERO
        numbers[i] = entry_infoset(find_or_add(found, keys[i, ZERO], high, index(counts[i])))


@jit
def find_all(cells: np.ndarray, keys: np.ndarray, numbers: np.ndarray) -> None:
    """Look keys up; fills `numbers` (int64[n]), -1 where a key is not there."""
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
def _renumber(found: Any, since: int, keys: np.ndarray, counts: np.ndarray) -> None:
    last = index(found.cells.shape[1]) - ONE
    number, first = index(since), index(found.first[index(since)])
    for i in range(index(len(keys))):
        high = keys[i, ONE] if last > ONE else ZERO
        cell, _ = find(found.cells, keys[i, ZERO], high)
        for k in range(last):
            found.cells[cell, k] = keys[i, k]
        number += ONE
        found.cells[cell, last] = number | (first << _32)
        first += index(counts[i])
        found.first[number] = first
    found.size[SETS] = number
    found.size[SLOTS] = first


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


def infoset_count(found: InfosetTable) -> int:
    return int(found.size[SETS])


def slot_count(found: InfosetTable) -> int:
    return int(found.size[SLOTS])


def keys_of(found: InfosetTable, since: int = 0) -> np.ndarray:
    """uint64[n, k]: in order of discovery, from number `since` on."""
    keys = np.zeros((infoset_count(found) - since, found.cells.shape[1] - 1), dtype=np.uint64)
    _keys_since(found.cells, since, keys)
    return keys


def action_counts(found: InfosetTable, since: int = 0) -> np.ndarray:
    """int64[n]: actions of each."""
    return np.diff(found.first[since : infoset_count(found) + 1].astype(np.int64))


def renumber(found: InfosetTable, since: int, keys: np.ndarray, counts: np.ndarray) -> None:
    """From number `since` on it has these, in this order: whatever it has there now is among
    them. There must be room."""
    _renumber(found, since, keys, counts)


def enlarge_table(found: InfosetTable, cells: int, sets: int) -> InfosetTable:
    """The same with more room. What is in it keeps its numbers."""
    grown = found
    if sets > len(found.first) - 1:
        first = np.zeros(sets + 1, dtype=np.uint32)
        first[: len(found.first)] = found.first
        grown = grown._replace(first=first)
    if cells > len(found.cells):
        moved = np.zeros((cells, found.cells.shape[1]), dtype=np.uint64)
        _move(found.cells, moved)
        grown = grown._replace(cells=moved)
    return grown


def cells_for(sets: int, filled: float = MAX_LOAD) -> int:
    """The least power of two that so many information sets do not fill too much."""
    cells = MIN_CELLS
    while sets > filled * cells:
        cells *= 2
    return cells


def table_from_keys(
    keys: np.ndarray, counts: np.ndarray, cells: int = 0, sets: int = 0
) -> InfosetTable:
    """A table with these keys, numbered in their order, and room for so many, or for a few."""
    n = len(keys)
    found = new_infoset_table(keys.shape[1], cells or cells_for(n), max(sets or n, MIN_CELLS))
    add_all(found, keys, counts, np.empty(n, dtype=np.int64))
    return found


def slots_of_sets(found: InfosetTable, numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """int64[...]: the slots of information sets with so many actions, one after the other."""
    begin = found.first[numbers].astype(np.int64)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    slots: np.ndarray = np.repeat(begin, counts) + within
    return slots


def owners_of(keys: np.ndarray) -> np.ndarray:
    """int8[n]: the player of each key."""
    return (keys[:, 0] & np.uint64(2**PLAYER_BITS - 1)).astype(np.int8)
