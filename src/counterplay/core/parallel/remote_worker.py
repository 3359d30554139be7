"""A remote worker: a process, here or on another machine, that plays a share of the iterations.

A worker has one or more threads, each with its own tables, random numbers and hand. In a round
every thread plays its share of the iterations from the tables of the last synchronisation, and each
sample counts as often as there are threads in all. `changes` adds what the threads changed;
`load_merged` receives what all workers changed, and the next round begins. Until then repeated
calls give the same answer, so a lost worker is replaced by one that plays the round again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import DataBiasedForm, RestrictedForm
from counterplay.core.parallel.changes import (
    SETS,
    ChangedRows,
    PackedChanges,
    add_changes,
    add_packed,
    pack_changes,
    renumber_rows,
    unpack_changes,
)
from counterplay.core.parallel.pool import TablesFull, Worker

FAN_IN = 4  # branches at a node of the tree of sums


class WorkerSpec(NamedTuple):
    """The arguments of a remote worker. Its threads are number first_thread .. first_thread +
    threads - 1 of `all_threads`."""

    game: Game
    new_solver: Callable[[Any], Any]  # makes a solver of the game, on a given form
    form: Any  # packed by `pack_form`
    first_thread: int
    threads: int
    all_threads: int


class SyncState(NamedTuple):
    """The whole state at a synchronisation, of T threads."""

    number: int  # of the round that begins
    done: int  # iterations
    tables: dict[str, np.ndarray]  # as they are saved
    rng: np.ndarray  # uint64[T, 4]
    hand: np.ndarray  # [T, ...]
    private: dict[str, np.ndarray]  # [T, ...]: each thread's own tables


class RoundResult(NamedTuple):
    """The result of a round of a remote worker."""

    changes: PackedChanges
    rng: np.ndarray  # uint64[threads, 4]
    hand: np.ndarray
    private: list[dict[str, ChangedRows]]  # of each thread, numbered as in `changes`
    nodes: np.ndarray  # int64[threads]: touched


class RemoteWorkers(Protocol):
    """All remote workers of a run. Lost workers are replaced."""

    def start(self, specs: Sequence[WorkerSpec]) -> None:
        """Starts all workers."""

    def broadcast(self, state: SyncState) -> None:
        """Begins a round of all workers from this state."""

    def play(self, number: int, until: int) -> list[int]:
        """Plays up to an iteration; returns the nodes that each has touched in this round."""

    def changes(self, number: int) -> tuple[list[RoundResult], PackedChanges]:
        """Returns the result of each, perhaps without planes, and the sum of all changes."""

    def load_merged(
        self, number: int, total: PackedChanges, state: Callable[[], SyncState]
    ) -> None:
        """Sends the sum of all changes to all. `state`: for a worker that is replaced."""

    def change_form(self, form: Any) -> None:
        """Replaces the form of all workers."""

    def stop(self) -> None:
        """Stops all workers."""


def pack_form(game: Game, form: Any) -> Any:
    """Returns a form to send: None for the game's own, a restricted one without the game's form."""
    return None if form is game.form else form._replace(inner=None)


def unpack_form(game: Game, form: Any) -> Any:
    """Returns the form that `pack_form` packed; None for the game's own."""
    if form is None:
        return None
    assert isinstance(form, RestrictedForm | DataBiasedForm)
    return _copied(form)._replace(inner=game.form)


def _copied(sent: Any) -> Any:
    """Copies of all arrays in a tuple: received ones are read-only, another type to kernels."""
    if isinstance(sent, np.ndarray):
        return np.array(sent)
    if isinstance(sent, tuple) and hasattr(sent, "_replace"):
        return type(sent)(*map(_copied, sent))
    return sent


class RemoteWorker:
    """One remote worker."""

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        self.solver = spec.new_solver(unpack_form(spec.game, spec.form))
        numbers = range(spec.first_thread, spec.first_thread + spec.threads)
        self.threads: list[Worker] = [self.solver.new_worker(k) for k in numbers]
        self.base: Worker = self.solver.new_worker(0)  # tables as at the last synchronisation
        self._executor = ThreadPoolExecutor(spec.threads) if spec.threads > 1 else None
        self.number, self.begun, self.done = -1, 0, 0
        self.nodes = np.zeros(spec.threads, dtype=np.int64)
        self._private: list[dict[str, np.ndarray]] = []  # of each thread, when the round began
        self.solver.play(self.base, 0, 0, 1, 1.0)  # compiles

    def begin(self, state: SyncState) -> int:
        """Begins a round from a synchronisation; returns its number."""
        self.solver.set_tables(self.base, state.tables)
        for j, thread in enumerate(self.threads):
            k = self.spec.first_thread + j
            thread.rng[:] = state.rng[k]
            thread.buffer[:] = state.hand[k]
            self.solver.begin_round(self.base, thread, keep=False)
            for name, array in state.private.items():
                getattr(thread.tables, name)[: len(array[k])] = array[k]
        self._begin_round(state.number, state.done)
        return self.number

    def _begin_round(self, number: int, done: int) -> None:
        self.number, self.begun, self.done = number, done, done
        self.nodes[:] = 0
        self._private = [self._private_tables(thread) for thread in self.threads]

    def _private_tables(self, thread: Worker) -> dict[str, np.ndarray]:
        tables = self.solver.used_tables(thread)
        return {name: getattr(tables, name).copy() for name in self.solver.private}

    def play(self, number: int, until: int) -> int:
        """Plays this round up to `until`; returns the nodes touched in the round so far."""
        assert number == self.number
        if until > self.done:
            threads = range(len(self.threads))
            if self._executor is None:
                self._play_share(0, until)
            else:
                list(self._executor.map(self._play_share, threads, [until] * len(threads)))
            self.done = until
        return int(self.nodes.sum())

    def _play_share(self, j: int, until: int) -> None:
        """Plays the iterations of one thread: those with i mod T = k, of all T threads."""
        k, every = self.spec.first_thread + j, self.spec.all_threads
        first = self.done + 1 + (k - self.done - 1) % every
        count = max(0, (until - first) // every + 1)
        try:
            nodes = self.solver.play(self.threads[j], first - 1, count, every, float(every))
        except TablesFull:
            raise self.solver.no_room() from None
        self.nodes[j] += nodes

    def changes(self, number: int) -> RoundResult:
        """Returns what this worker changed in the round."""
        assert number == self.number
        total, numbers_of_parts = add_changes(
            [self.solver.changes_since(self.base, thread) for thread in self.threads]
        )
        now = map(self._private_tables, self.threads)
        private = [
            {name: _difference(old, tables[name]) for name, old in before.items()}
            for tables, before in zip(now, self._private, strict=True)
        ]
        if total.new is not None and numbers_of_parts is not None:
            for mine, to in zip(private, numbers_of_parts, strict=True):
                for name, changed in mine.items():
                    rows = renumber_rows(changed.rows, total.new, to, SETS)
                    mine[name] = changed._replace(rows=rows)
        return RoundResult(
            pack_changes(total),
            np.array([thread.rng for thread in self.threads]),
            np.array([thread.buffer for thread in self.threads]),
            private,
            self.nodes.copy(),
        )

    def load_merged(self, number: int, done: int, total: PackedChanges) -> int:
        """Adds what all workers changed in the last round; returns the number of the new round."""
        if number != self.number:
            self.solver.apply_changes(self.base, unpack_changes(total), self.spec.all_threads)
            for thread in self.threads:
                self.solver.begin_round(self.base, thread)
            self._begin_round(number, done)
        return self.number

    def change_form(self, form: Any) -> None:
        """Replaces the form."""
        self.solver.change_form(unpack_form(self.spec.game, form) or self.spec.game.form)


def _difference(base: np.ndarray, mine: np.ndarray) -> ChangedRows:
    """Returns the changed entries of a private table of integers; new entries were 0."""
    rows = np.flatnonzero(np.pad(base, (0, len(mine) - len(base))) != mine)
    return ChangedRows(rows, mine[rows].astype(np.float64)[:, None])


def sum_tree(parts: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """Adds parts in groups of `FAN_IN` neighbours, then their sums in the same way."""
    while len(parts) > 1:
        groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
        parts = [add(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


class LocalWorkers:
    """All workers in this process, with the results of a cluster; for tests and benchmarks."""

    def __init__(self) -> None:
        self.workers: list[RemoteWorker] = []
        self.sent = 0  # bytes of changes

    def start(self, specs: Sequence[WorkerSpec]) -> None:
        if not self.workers:
            self.workers = [RemoteWorker(spec) for spec in specs]

    def broadcast(self, state: SyncState) -> None:
        for worker in self.workers:
            worker.begin(state)

    def play(self, number: int, until: int) -> list[int]:
        return [worker.play(number, until) for worker in self.workers]

    def changes(self, number: int) -> tuple[list[RoundResult], PackedChanges]:
        results = [worker.changes(number) for worker in self.workers]
        self.sent += sum(result.changes.n_bytes for result in results)
        return results, sum_tree([result.changes for result in results], add_packed)

    def load_merged(
        self, number: int, total: PackedChanges, state: Callable[[], SyncState]
    ) -> None:
        for worker in self.workers:
            worker.load_merged(number, state().done, total)

    def change_form(self, form: Any) -> None:
        for worker in self.workers:
            worker.change_form(form)

    def stop(self) -> None:
        self.workers = []
