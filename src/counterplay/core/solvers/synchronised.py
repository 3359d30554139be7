"""What the workers of a sampling solver merge when they synchronise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import OutOfMemory
from counterplay.core.forms.infoset_table import infoset_count, slot_count
from counterplay.core.parallel.changes import SLOTS, ChangedRows, Changes, changed_rows
from counterplay.core.parallel.pool import (
    Worker,
    WorkerPool,
    mean_of,
    part_of,
)
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.hash_tables import (
    HashTables,
    infosets_of,
    with_own_infosets,
)


class SynchronisedSolver(Solver):
    """A solver whose workers merge `tables.regret`, on which play depends; every worker has its own
    other tables. Algorithms with other tables override this."""

    by_set: ClassVar[tuple[str, ...]] = ()  # tables with an entry per information set
    #: Tables that each thread of a remote worker has for itself.
    private: ClassVar[tuple[str, ...]] = ()

    _pool: WorkerPool
    _hash_tables: HashTables | None  # where information sets are discovered while playing

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # information sets and slots that all copies number alike, since the last synchronisation
        self._common = np.zeros(2, dtype=np.int64)
        self._mean: Any = None

    @property
    def visits(self) -> float:
        return self.nodes_touched / self.infosets()

    def infosets(self) -> int:
        if self._hash_tables is None:
            return self.game.n_infosets
        return max(infoset_count(infosets_of(self._pool.workers[0])), 1)

    def align(self) -> bool:
        if self._hash_tables is None:
            return True
        if not self._hash_tables.align(self._pool.workers, int(self._common[0])):
            return False
        self._set_common()
        return True

    def _set_common(self) -> None:
        infosets = infosets_of(self._pool.workers[0])
        self._common[:] = infoset_count(infosets), slot_count(infosets)

    def new_mean(self) -> Any:
        regret = self._pool.workers[0].tables.regret
        if self._mean is None or self._mean.shape != regret.shape:
            self._mean = np.empty_like(regret)
        return self._mean

    @property
    def _used(self) -> tuple[int, int]:
        """Information sets and slots that a synchronisation merges; a worker that has continued has
        discovered more."""
        if self._hash_tables is None:
            return self.game.n_infosets, self.game.n_slots
        return int(self._common[0]), int(self._common[1])

    def merge(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        regrets = tuple(tables.regret for tables in copies)
        mean_of(regrets, *part_of(self._used[1], part, len(copies)), mean)

    def load_merged(self, mean: Any, tables: Any) -> None:
        used = self._used[1]
        tables.regret[:used] = mean[:used]

    def changes_since(self, base: Worker, worker: Worker) -> Changes:
        """Returns the changes of a worker in a round that began at `base`."""
        before, new = base.tables, None
        if self._hash_tables is not None:
            before, new = self._hash_tables.since(base, worker)
        planes = self.changes(before, self.used_tables(worker))
        return Changes({name: changed_rows(plane) for name, plane in planes.items()}, new)

    def changes(self, before: Any, tables: Any) -> dict[str, np.ndarray]:
        """Returns the difference of tables from `before` as planes (`core/parallel/changes.py`)."""
        columns = (tables.regret - before.regret, tables.strategy_sum)
        return {SLOTS: np.stack(columns, axis=1)}

    def apply_changes(self, base: Worker, changes: Changes, threads: int) -> None:
        """Adds the changes of all `threads`, whose samples count `threads` times. `OutOfMemory`,
        with nothing changed, if memory is too small."""
        hash_tables, new = self._hash_tables, changes.new
        if hash_tables is not None and new is not None and not hash_tables.admit(base, new):
            raise self.no_room()
        for name, rows in changes.planes.items():
            self._apply_rows(base, name, rows, threads)

    def _apply_rows(self, base: Worker, plane: str, changed: ChangedRows, threads: int) -> None:
        base.tables.regret[changed.rows] += changed.values[:, 0] / threads
        base.tables.strategy_sum[changed.rows] += changed.values[:, 1]

    def begin_round(self, base: Worker, worker: Worker, keep: bool = True) -> None:
        """Sets a worker's tables to those of a synchronisation, but for private ones with
        `keep`."""
        names = self.private if keep else ()
        if self._hash_tables is not None and not self._hash_tables.follow(base, worker, names):
            raise self.no_room()
        for name in worker.tables._fields:
            if name == "strategy_sum":
                worker.tables.strategy_sum[:] = 0.0
            elif name not in self.private:
                getattr(worker.tables, name)[...] = getattr(base.tables, name)

    def broadcast(self, workers: list[Worker]) -> None:
        """Copies all tables of the first worker to the others, except strategy sums."""
        if self._hash_tables is not None:
            self._hash_tables.broadcast(workers, "strategy_sum")
            self._set_common()
            return
        first = workers[0].tables
        for worker in workers[1:]:
            for name in first._fields:
                if name != "strategy_sum":
                    getattr(worker.tables, name)[:] = getattr(first, name)

    def no_room(self) -> OutOfMemory:
        """Returns the error of a run whose tables cannot grow."""
        return OutOfMemory(
            f"{self.game.name}: {self.infosets():,} information sets are discovered, and there is "
            f"no memory for more; all that was learnt in {self.iterations:,} iterations is kept, "
            f"and a run in a folder can be resumed where there is more"
        )

    def used_tables(self, worker: Worker) -> Any:
        """Returns the used part of a worker's tables."""
        return worker.tables if self._hash_tables is None else self._hash_tables.used_tables(worker)

    def copied(self, worker: Worker) -> Worker:
        """Returns a copy of a worker with its own tables."""
        tables = type(worker.tables)(*(array.copy() for array in worker.tables))
        chance = worker.chance if self._hash_tables is None else with_own_infosets(worker.chance)
        return replace(worker, tables=tables, chance=chance)

    def set_tables(self, worker: Worker, saved: Mapping[str, np.ndarray]) -> None:
        """Sets a worker's tables to what `saved` returned."""
        if self._hash_tables is not None:
            self._hash_tables.restore(worker, saved, self.game.name)
            return
        for name, array in saved.items():
            getattr(worker.tables, name)[...] = array

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        if self._hash_tables is not None:
            return self._hash_tables.saved(worker)
        return dict(worker.tables._asdict())
