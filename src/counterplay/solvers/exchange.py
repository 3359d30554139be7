"""What workers that share no memory send each other: rows of tables that changed, packed.

A plane is a table of additive numbers, a row per slot (or node). Only rows that are not all zero
are sent: their numbers, each as the distance to the one before, and their values, byte by byte of
all numbers, so that what is alike stands together; both compressed. Sums of packed planes are added
in the order they are given, so they are the same whoever adds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

LEVEL = 1  # of the compression


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
    """Their sum, in this order."""
    if len(parts) == 1:
        return parts[0]
    size = max((int(part.rows[-1]) + 1 for part in parts if len(part.rows)), default=0)
    dense = np.zeros((size, parts[0].values.shape[1]))
    touched = np.zeros(size, dtype=bool)
    for part in parts:
        dense[part.rows] += part.values
        touched[part.rows] = True
    every = np.flatnonzero(touched)
    total = dense[every]
    return ChangedRows(every, total)


def pack_planes(planes: Planes) -> dict[str, Packed]:
    return {name: pack(rows) for name, rows in planes.items()}


def unpack_planes(packed: Mapping[str, Packed]) -> dict[str, ChangedRows]:
    return {name: unpack(part) for name, part in packed.items()}


def add_packed(parts: Sequence[Mapping[str, Packed]]) -> dict[str, Packed]:
    """One branch of a tree of sums."""
    names = parts[0].keys()
    return {name: pack(add_rows([unpack(part[name]) for part in parts])) for name in names}
