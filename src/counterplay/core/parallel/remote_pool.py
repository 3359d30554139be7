"""A pool of workers without shared memory: in other processes or on other machines.

Iteration i belongs to thread i mod T, of all threads of all workers. The whole state is in this
process: the tables of the last synchronisation, the random numbers of all threads and the progress
of the round. A checkpoint is that state, and a lost worker is replaced by one that plays the round
again from it. Every sum is added in the order of the workers, by a tree of a fixed shape. The bits
therefore depend on the seed and the numbers of workers and threads, and not on which worker was
slow, died or was resumed.

Up to `WARM_UP` visits per information set this process plays alone (see `pool.py`). After that a
round has `sync_interval` times as many iterations as were played before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from counterplay.core.base.errors import OutOfMemory
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.changes import SETS, Changes, renumber_rows, union, unpack_changes
from counterplay.core.parallel.pool import (
    LEAST,
    WARM_UP,
    Algorithm,
    PoolProgress,
    TablesFull,
    Worker,
    WorkerPool,
    warmed_up,
)
from counterplay.core.parallel.remote_worker import (
    RemoteWorkers,
    RoundResult,
    SyncState,
    WorkerSpec,
    pack_form,
)

SYNC_INTERVAL = 0.1  # see docs/explanation/beyond-one-machine.md


class RemotePool(WorkerPool):
    """Remote workers with a number of threads each. `new_solver`: makes the solver of a worker."""

    def __init__(
        self,
        solver: Any,
        new_solver: Callable[..., Any],
        remote: RemoteWorkers,
        workers: int,
        threads: int,
        sync_interval: float = SYNC_INTERVAL,
    ) -> None:
        first: Worker = solver.new_worker(0)
        super().__init__([first])
        self._solver, self.remote, self._interval = solver, remote, sync_interval
        self.threads = workers * threads
        self._rng = np.array([new_state(solver.seed, k) for k in range(self.threads)])
        self._hand = np.array([first.buffer for _ in range(self.threads)])
        self._private = self._private_of_all(first)
        # the iteration of the next synchronisation, whether this process still plays alone,
        # the iteration and the number of the last synchronisation
        self._sync = np.array([LEAST * self.threads, 1, 0, 0])
        self._nodes = np.zeros(2, dtype=np.int64)  # up to the last synchronisation, and since
        build = partial(new_solver, solver.game, solver.name, solver.seed, solver.plain_options)
        form = pack_form(solver.game, solver.form)
        self._specs = [
            WorkerSpec(solver.game, build, form, k * threads, threads, self.threads)
            for k in range(workers)
        ]
        self._ready = False  # whether the workers have the state
        self._merged: Worker | None = None  # what all have learnt so far, computed on demand

    def tables(self, algorithm: Algorithm) -> dict[str, np.ndarray]:
        first = self.workers[0]
        arrays: dict[str, np.ndarray] = algorithm.saved(first)
        arrays |= {"threads.rng": self._rng, "sync": self._sync, "nodes": self._nodes}
        if len(first.buffer):
            arrays |= {"hand.0": first.buffer, "threads.hand": self._hand}
        return arrays | {f"threads.{name}": array for name, array in self._private.items()}

    def resize(self, saved: Mapping[str, np.ndarray]) -> None:
        self._private = self._private_of_all(self.workers[0])

    def _private_of_all(self, first: Worker) -> dict[str, np.ndarray]:
        """Returns the private tables of all threads, each equal to those of the first worker."""
        tables = self._solver.used_tables(first)
        return {
            name: np.array([getattr(tables, name)] * self.threads) for name in self._solver.private
        }

    def changed(self) -> None:
        self._ready, self._merged = False, None

    def run(self, algorithm: Algorithm, done: int, n: int) -> PoolProgress:
        begun, end, touched = done, done + n, 0
        self._merged = None
        self.remote.start(self._specs)  # before the clock starts: `solve` begins with no iterations
        if n == 0:
            algorithm.play(self.workers[0], done, 0, 1, 1.0)
        while done < end:
            until = min(end, int(self._sync[0]))
            try:
                if self._sync[1]:
                    nodes = algorithm.play(self.workers[0], done, until - done, 1, 1.0)
                    self._nodes[0] += nodes
                else:
                    nodes = self._play(until)
                touched, done = touched + nodes, until
                if done == self._sync[0]:
                    (self._end_warm_up if self._sync[1] else self._merge)(done)
            except TablesFull as full:
                self._nodes[0] += full.nodes
                return PoolProgress(done + full.played - begun, touched + full.nodes, True)
            except OutOfMemory:  # the round is played again when the run is resumed
                self._ready = False
                return PoolProgress(done - begun, touched, True)
        return PoolProgress(n, touched)

    def _play(self, until: int) -> int:
        self._broadcast()
        nodes = sum(self.remote.play(int(self._sync[3]), until))
        new, self._nodes[1] = nodes - int(self._nodes[1]), nodes
        return new

    def _end_warm_up(self, done: int) -> None:
        """Ends the warm-up, in which this process plays alone, if it is long enough."""
        visits = self._nodes[0] / self._solver.infosets()
        more = max(WARM_UP / max(visits, 1e-9) - 1.0, self._interval)
        if warmed_up(self._solver, int(self._nodes[0])):
            self._sync[1], self._sync[2] = 0, done
            first = self.workers[0]
            self._rng[0], self._hand[:] = first.rng, first.buffer
            self._private = self._private_of_all(first)
            more = self._interval
        self._sync[0] = done + max(LEAST * self.threads, int(min(more, 1.0) * done))

    def _merge(self, done: int) -> None:
        """Adds the changes of all workers to the tables of this process and of the workers."""
        self._broadcast()
        number = int(self._sync[3])
        results, total = self.remote.changes(number)
        changes = unpack_changes(total)
        self._solver.apply_changes(self.workers[0], changes, self.threads)
        for name, array in self._private.items():
            more = 0 if changes.new is None else len(changes.new.keys)
            self._private[name] = np.pad(array, ((0, 0), (0, more)))
        for spec, result in zip(self._specs, results, strict=True):
            own = slice(spec.first_thread, spec.first_thread + spec.threads)
            self._rng[own], self._hand[own] = result.rng, result.hand
            self._update_private(spec.first_thread, result, changes)
        self._nodes[0] += self._nodes[1]
        self._nodes[1] = 0
        self._sync[2:] = done, number + 1
        self._sync[0] = done + max(LEAST * self.threads, int(self._interval * done))
        self.remote.load_merged(number + 1, total, self._state)

    def _update_private(self, first_thread: int, result: RoundResult, changes: Changes) -> None:
        """Updates the private tables of the threads from `first_thread` on."""
        new = unpack_changes(result.changes).new
        to = None
        if changes.new is not None and new is not None and self._private:
            to = union([changes.new, new])[1][1]
        for k, private in enumerate(result.private, first_thread):
            for name, changed in private.items():
                rows = changed.rows
                if to is not None and new is not None:
                    rows = renumber_rows(rows, new, to, SETS)
                self._private[name][k][rows] = changed.values[:, 0]

    def _broadcast(self) -> None:
        """Sends the state to the workers, unless they have it."""
        if not self._ready:
            self.remote.broadcast(self._state())
            self._ready = True

    def _state(self) -> SyncState:
        tables = self._solver.saved(self.workers[0])
        number, done = int(self._sync[3]), int(self._sync[2])
        return SyncState(number, done, tables, self._rng, self._hand, self._private)

    @property
    def playing(self) -> list[Worker]:
        """One worker with what all have learnt so far; the round continues."""
        if self._sync[1] or self._solver.iterations == self._sync[2]:
            return self.workers
        if self._merged is None:
            try:
                self._play(self._solver.iterations)  # a resumed round is played again
                _, total = self.remote.changes(int(self._sync[3]))
                merged: Worker = self._solver.copied(self.workers[0])
                self._solver.apply_changes(merged, unpack_changes(total), self.threads)
                self._merged = merged
            except OutOfMemory:  # the state of the last synchronisation will do
                self._ready = False
                return self.workers
        return [self._merged]

    def settle(self) -> None:
        done = self._solver.iterations
        if not self._sync[1] and done > self._sync[2]:
            try:
                self._play(done)
                self._merge(done)
            except OutOfMemory:
                self._ready = False
                raise self._solver.no_room() from None

    def change_form(self, form: Any) -> None:
        self.settle()
        packed = pack_form(self._solver.game, form)
        self._specs = [spec._replace(form=packed) for spec in self._specs]
        if self._ready:
            self.remote.change_form(packed)

    def stop(self) -> None:
        self.remote.stop()
        self._ready = False
