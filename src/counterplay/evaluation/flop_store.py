"""What a walk over all flops has done so far, on disk: the same question goes on where it
stopped."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from counterplay.base import files
from counterplay.base.errors import BadFile
from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.walk.flops import Prepared
from counterplay.kernels.jit import cache_root
from counterplay.kernels.simd import LANES

KIND = "flops walked"


class FlopStore:
    """Sums over the flops that are done, in the cache folder; none for short decks."""

    def __init__(self, prepared: list[Prepared]) -> None:
        self._prepared = prepared
        digest = hashlib.sha256()
        for q in prepared:
            digest.update(f"{q.player} {q.best} {q.question.tree.rules} {q.deck.tolist()}".encode())
            asked = q.question
            tables = [asked.against, asked.by or asked.against]
            if asked.instead is not None:
                digest.update(f"instead {asked.instead.share}".encode())
                tables.append(asked.instead.table)
            for table in tables:
                for array in (table.first_row, table.carry, table.policy, table.cards.preflop):
                    digest.update(np.ascontiguousarray(array).data)
                for array in (
                    table.cards.early[::97],
                    table.cards.river,
                    table.cards.river_entry[::997],
                ):
                    digest.update(np.ascontiguousarray(array).data)
        self._path: Path | None = None
        if prepared[0].question.deck.full:
            self._path = cache_root() / "holdem" / "exact" / f"{digest.hexdigest()[:24]}.npz"

    def read(self) -> tuple[list[np.ndarray], np.ndarray]:
        totals = [np.zeros((q.groups, N_HOLDINGS, LANES)) for q in self._prepared]
        done = np.zeros(len(self._prepared[0].flops), dtype=bool)
        if self._path is None or not self._path.exists():
            return totals, done
        with suppress(BadFile):
            kept, _ = files.read_arrays(self._path, KIND)
            found = [kept.get(f"total{k}") for k in range(len(totals))]
            fits = all(
                array is not None and array.shape == total.shape
                for array, total in zip(found, totals, strict=True)
            )
            if fits and kept["done"].shape == done.shape:
                return [np.array(array) for array in found], kept["done"].astype(bool)
        return totals, done

    def write(self, totals: list[np.ndarray], done: np.ndarray) -> None:
        if self._path is None or not done.any():
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            arrays = {f"total{k}": total for k, total in enumerate(totals)}
            files.write_arrays(self._path, KIND, {**arrays, "done": done}, {})

    def remove(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
