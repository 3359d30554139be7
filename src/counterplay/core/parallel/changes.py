"""The changes that workers without shared memory send: changed rows of tables, packed.

A plane is a table of additive numbers with one row per slot (or node). Only rows that are not all
zero are sent: their indices, each as the difference from the one before, and their values, grouped
by byte so that similar bytes are adjacent; both compressed. Packed planes are added in a given
order, so the sum does not depend on where it is computed.

Information sets discovered since the last synchronisation are sent with the rows, by key. Each
worker numbers them in its own order of discovery. `add_changes` gives them one numbering, those of
the first part before those of the second and so on, and renumbers the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.infoset_table import (
    action_counts,
    find_all,
    keys_of,
    slots_of_sets,
    table_from_keys,
)

LEVEL = 1  # of compression
SLOTS, SETS = "slots", "sets"  # planes with a row per slot, and per information set


class ChangedRows(NamedTuple):
    """The changed rows of a plane: r rows of c numbers each."""

    rows: np.ndarray  # int64[r], sorted
    values: np.ndarray  # float64[r, c]


class PackedRows(NamedTuple):
    """`ChangedRows` as bytes."""

    many: int  # rows
    columns: int
    rows: bytes
    values: bytes

    @property
    def n_bytes(self) -> int:
        return len(self.rows) + len(self.values)


Planes = Mapping[str, ChangedRows]


class NewInfosets(NamedTuple):
    """The m information sets discovered in a round, numbered after those known before it."""

    sets: int  # at the last synchronisation
    slots: int  # at the last synchronisation
    keys: np.ndarray  # uint64[m, words]
    counts: np.ndarray  # int64[m]: actions


class NewNumbers(NamedTuple):
    """New numbers of the sets and slots of `NewInfosets`, from the last synchronisation on."""

    sets: np.ndarray  # int64[m]
    slots: np.ndarray  # int64[...]


class Changes(NamedTuple):
    """All changes that are sent together."""

    planes: Planes
    new: NewInfosets | None = None  # if information sets are discovered


class PackedChanges(NamedTuple):
    """`Changes` as bytes; keys are nearly random and not compressed."""

    planes: dict[str, PackedRows]
    new: NewInfosets | None = None

    @property
    def n_bytes(self) -> int:
        keys = 0 if self.new is None else self.new.keys.nbytes + self.new.counts.nbytes
        return keys + sum(part.n_bytes for part in self.planes.values())


def changed_rows(plane: np.ndarray) -> ChangedRows:
    """Returns the rows of a plane, float64[n, c], that are not all zero."""
    rows = np.flatnonzero(plane.any(axis=1))
    return ChangedRows(rows, plane[rows])


def pack(rows: ChangedRows) -> PackedRows:
    import pyarrow as pa  # runs of one process need none

    codec = pa.Codec("zstd", compression_level=LEVEL)
    gaps = np.diff(rows.rows, prepend=0).astype(np.uint32)
    values = np.ascontiguousarray(rows.values, dtype=np.float64)
    by_byte = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 8).T)
    return PackedRows(
        len(rows.rows),
        values.shape[1],
        codec.compress(gaps.tobytes(), asbytes=True),
        codec.compress(by_byte.tobytes(), asbytes=True),
    )


def unpack(packed: PackedRows) -> ChangedRows:
    import pyarrow as pa

    codec = pa.Codec("zstd")
    n = packed.many * packed.columns
    gaps = np.frombuffer(codec.decompress(packed.rows, 4 * packed.many, asbytes=True), np.uint32)
    raw = np.frombuffer(codec.decompress(packed.values, 8 * n, asbytes=True), np.uint8)
    values = np.ascontiguousarray(raw.reshape(8, n).T).view(np.float64)
    return ChangedRows(np.cumsum(gaps, dtype=np.int64), values.reshape(packed.many, packed.columns))


def add_rows(parts: Sequence[ChangedRows]) -> ChangedRows:
    """Returns the sum of the parts, added in this order; rows need not be sorted."""
    size = max((int(part.rows.max()) + 1 for part in parts if len(part.rows)), default=0)
    dense = np.zeros((size, parts[0].values.shape[1]))
    touched = np.zeros(size, dtype=bool)
    for part in parts:
        dense[part.rows] += part.values
        touched[part.rows] = True
    every = np.flatnonzero(touched)
    return ChangedRows(every, dense[every])


def union(parts: Sequence[NewInfosets]) -> tuple[NewInfosets, list[NewNumbers]]:
    """Returns the union of the parts, in this order, and the new numbers of each part."""
    keys, counts = [part.keys for part in parts], [part.counts for part in parts]
    table = table_from_keys(np.concatenate(keys), np.concatenate(counts))
    numbers_of_parts = []
    for part in parts:
        numbers = np.empty(len(part.keys), dtype=np.int64)
        find_all(table.cells, part.keys, numbers)
        numbers_of_parts.append(NewNumbers(numbers, slots_of_sets(table, numbers, part.counts)))
    return parts[0]._replace(keys=keys_of(table), counts=action_counts(table)), numbers_of_parts


def add_changes(parts: Sequence[Changes]) -> tuple[Changes, list[NewNumbers] | None]:
    """Returns the sum of the parts, added in this order, and the new numbers of each part."""
    first = parts[0]
    if first.new is None:
        planes = {name: add_rows([part.planes[name] for part in parts]) for name in first.planes}
        return Changes(planes), None
    new, numbers_of_parts = union([part.new for part in parts if part.new is not None])
    planes = {}
    for name in first.planes:
        renumbered = []
        for part, to in zip(parts, numbers_of_parts, strict=True):
            rows, values = part.planes[name]
            renumbered.append(ChangedRows(renumber_rows(rows, new, to, name), values))
        planes[name] = add_rows(renumbered)
    return Changes(planes, new), numbers_of_parts


def renumber_rows(rows: np.ndarray, new: NewInfosets, to: NewNumbers, plane: str) -> np.ndarray:
    """Returns renumbered rows; those of the last synchronisation keep their number."""
    begin, numbers = (new.slots, to.slots) if plane == SLOTS else (new.sets, to.sets)
    late = rows >= begin
    renumbered = rows.copy()
    renumbered[late] = begin + numbers[rows[late] - begin]
    return renumbered


def pack_changes(changes: Changes) -> PackedChanges:
    return PackedChanges({name: pack(rows) for name, rows in changes.planes.items()}, changes.new)


def unpack_changes(packed: PackedChanges) -> Changes:
    """Unpacks into copies: received arrays are read-only, which is another type to kernels."""
    new = packed.new
    if new is not None:
        new = new._replace(keys=new.keys.copy(), counts=new.counts.copy())
    return Changes({name: unpack(part) for name, part in packed.planes.items()}, new)


def add_packed(parts: Sequence[PackedChanges]) -> PackedChanges:
    """Returns the packed sum of packed parts."""
    return pack_changes(add_changes([unpack_changes(part) for part in parts])[0])
