"""What workers that share no memory send each other: rows of tables that changed, packed.

A plane is a table of additive numbers, a row per slot (or node). Only rows that are not all zero
are sent: their numbers, each as the distance to the one before, and their values, byte by byte of
all numbers, so that what is alike stands together; both compressed. Sums of packed planes are added
in the order they are given, so they are the same whoever adds them.

Where information sets are found while playing, those found since the last meeting go with the rows,
by key. Each worker numbers them in its own order of discovery; whoever adds gives them one
numbering, those of the first part before those of the second and so on, and moves the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from counterplay.forms.found import counts_of, find_all, found_from, keys_of, slots_of_sets

LEVEL = 1  # of the compression
SLOTS, SETS = "slots", "sets"  # planes with a row per slot, and per information set


class ChangedRows(NamedTuple):
    """Rows of a plane: r of its n, with c numbers each."""

    rows: np.ndarray  # int64[r], rising
    values: np.ndarray  # float64[r, c]


class Packed(NamedTuple):
    """The same as bytes."""

    many: int  # rows
    columns: int
    rows: bytes
    values: bytes

    @property
    def n_bytes(self) -> int:
        return len(self.rows) + len(self.values)


Planes = Mapping[str, ChangedRows]


class NewSets(NamedTuple):
    """Information sets found in a round: m of them, numbered after those of the last meeting."""

    sets: int  # at the last meeting
    slots: int
    keys: np.ndarray  # uint64[m, words]
    counts: np.ndarray  # int64[m]: actions


class Moves(NamedTuple):
    """Where the information sets and slots of `NewSets` go, counted from the last meeting's."""

    sets: np.ndarray  # int64[m]
    slots: np.ndarray  # int64[...]


class Bundle(NamedTuple):
    """All that is sent."""

    planes: Planes
    new: NewSets | None = None  # where information sets are found while playing


class PackedBundle(NamedTuple):
    """The same as bytes; keys are as good as random and stay as they are."""

    planes: dict[str, Packed]
    new: NewSets | None = None

    @property
    def n_bytes(self) -> int:
        keys = 0 if self.new is None else self.new.keys.nbytes + self.new.counts.nbytes
        return keys + sum(part.n_bytes for part in self.planes.values())


def changed_rows(plane: np.ndarray) -> ChangedRows:
    """float64[n, c]: its rows that are not all zero."""
    rows = np.flatnonzero(plane.any(axis=1))
    return ChangedRows(rows, plane[rows])


def pack(rows: ChangedRows) -> Packed:
    codec = pa.Codec("zstd", compression_level=LEVEL)
    gaps = np.diff(rows.rows, prepend=0).astype(np.uint32)
    values = np.ascontiguousarray(rows.values, dtype=np.float64)
    by_byte = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 8).T)
    return Packed(
        len(rows.rows),
        values.shape[1],
        codec.compress(gaps.tobytes(), asbytes=True),
        codec.compress(by_byte.tobytes(), asbytes=True),
    )


def unpack(packed: Packed) -> ChangedRows:
    codec = pa.Codec("zstd")
    n = packed.many * packed.columns
    gaps = np.frombuffer(codec.decompress(packed.rows, 4 * packed.many, asbytes=True), np.uint32)
    raw = np.frombuffer(codec.decompress(packed.values, 8 * n, asbytes=True), np.uint8)
    values = np.ascontiguousarray(raw.reshape(8, n).T).view(np.float64)
    return ChangedRows(np.cumsum(gaps, dtype=np.int64), values.reshape(packed.many, packed.columns))


def add_rows(parts: Sequence[ChangedRows]) -> ChangedRows:
    """Their sum, in this order. Rows of a part need not rise."""
    size = max((int(part.rows.max()) + 1 for part in parts if len(part.rows)), default=0)
    dense = np.zeros((size, parts[0].values.shape[1]))
    touched = np.zeros(size, dtype=bool)
    for part in parts:
        dense[part.rows] += part.values
        touched[part.rows] = True
    every = np.flatnonzero(touched)
    total = dense[every]
    return ChangedRows(every, total)


def unite(parts: Sequence[NewSets]) -> tuple[NewSets, list[Moves]]:
    """All of them once, in the order they are given; and how the numbers of each part change."""
    keys, counts = [part.keys for part in parts], [part.counts for part in parts]
    found = found_from(np.concatenate(keys), np.concatenate(counts))
    moves = []
    for part in parts:
        numbers = np.empty(len(part.keys), dtype=np.int64)
        find_all(found.places, part.keys, numbers)
        moves.append(Moves(numbers, slots_of_sets(found, numbers, part.counts)))
    return parts[0]._replace(keys=keys_of(found), counts=counts_of(found)), moves


def add_bundles(parts: Sequence[Bundle]) -> tuple[Bundle, list[Moves] | None]:
    """Their sum, in this order; and how the numbers of each part change."""
    first = parts[0]
    if first.new is None:
        planes = {name: add_rows([part.planes[name] for part in parts]) for name in first.planes}
        return Bundle(planes), None
    new, moves = unite([part.new for part in parts if part.new is not None])
    planes = {
        name: add_rows(
            [
                part.planes[name]._replace(rows=moved(part.planes[name].rows, new, move, name))
                for part, move in zip(parts, moves, strict=True)
            ]
        )
        for name in first.planes
    }
    return Bundle(planes, new), moves


def moved(rows: np.ndarray, new: NewSets, move: Moves, plane: str) -> np.ndarray:
    """Numbers of rows after a move; those of the last meeting stay."""
    begin, to = (new.slots, move.slots) if plane == SLOTS else (new.sets, move.sets)
    late = rows >= begin
    found = rows.copy()
    found[late] = begin + to[rows[late] - begin]
    return found


def pack_bundle(bundle: Bundle) -> PackedBundle:
    return PackedBundle({name: pack(rows) for name, rows in bundle.planes.items()}, bundle.new)


def unpack_bundle(packed: PackedBundle) -> Bundle:
    """What comes from elsewhere cannot be written, which is another type to kernels: copies."""
    new = packed.new
    if new is not None:
        new = new._replace(keys=new.keys.copy(), counts=new.counts.copy())
    return Bundle({name: unpack(part) for name, part in packed.planes.items()}, new)


def add_packed(parts: Sequence[PackedBundle]) -> PackedBundle:
    """One branch of a tree of sums."""
    return pack_bundle(add_bundles([unpack_bundle(part) for part in parts])[0])
