"""Growing tables, for solvers that discover information sets while playing
(`core/forms/infoset_table.py`).

Tables double when a kernel returns because they are full, or grow by an eighth if memory is too
small for that. Results do not depend on their size.

Workers discover different information sets in different order. A synchronisation merges these by
key, those of the first worker first, so that all copies have one numbering again. Threads move
their entries in place (`align`). Workers without shared memory send what they discovered since the
last synchronisation (`since`, `core/parallel/changes.py`) and add the union (`admit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadFile, OutOfMemory
from counterplay.core.forms.compiled import Shape
from counterplay.core.forms.infoset_table import (
    MAX_LOAD,
    MAX_LOAD_SHORT_MEMORY,
    MIN_CELLS,
    MOST,
    SETS_LIMIT,
    SLOTS_LIMIT,
    InfosetTable,
    action_counts,
    add_all,
    cells_for,
    enlarge_table,
    find_all,
    infoset_count,
    keys_of,
    new_infoset_table,
    renumber,
    slot_count,
    slots_of_sets,
    table_from_keys,
)
from counterplay.core.forms.restricted import RestrictedChance
from counterplay.core.forms.rules_form import RulesForm, RulesWorkspace, table_in
from counterplay.core.kernels.cache_lines import cache_aligned_fields
from counterplay.core.parallel.changes import NewInfosets
from counterplay.core.parallel.pool import Worker

NewTables = Callable[[int, int], Any]  # empty tables for m information sets and s slots


def rules_in(form: Any) -> RulesForm:
    """Returns the compiled rules of a form, which may be restricted."""
    rules: RulesForm = getattr(form, "inner", form)
    return rules


def situation_in(worker: Worker) -> RulesWorkspace:
    """Returns the state of a worker's compiled game."""
    return _inner(worker.chance)


def infosets_of(worker: Worker) -> InfosetTable:
    """Returns the information sets that a worker has discovered."""
    return table_in(situation_in(worker))


class TableSize(NamedTuple):
    """The capacity of tables: entries of the hash table, information sets and slots."""

    places: int
    sets: int
    slots: int
    filled: float = MAX_LOAD  # the largest load of the hash table


class HashTables:
    """Enlarges and merges the tables of workers. `by_set`: the tables with an entry per information
    set, and not per slot. `at_once`: histories that a kernel plays between two checks for room."""

    def __init__(self, shape: Shape, new: NewTables, by_set: Iterable[str], at_once: int) -> None:
        self._new, self._by_set = new, frozenset(by_set)
        self._sets = at_once * shape.depth  # free at each check
        self._slots = self._sets * shape.actions

    def sizes(self, sets: int, slots: int) -> TableSize:
        """Returns the least size, doubled until it is enough up to the next check."""
        sets, slots = sets + self._sets, slots + self._slots
        return TableSize(cells_for(sets), _doubled(MIN_CELLS, sets), _doubled(MIN_CELLS, slots))

    def _tight(self, sets: int, slots: int) -> TableSize:
        """The same for scarce memory: an eighth more than is used, and a fuller hash table."""
        sets, slots = sets + sets // 8 + self._sets, slots + slots // 8 + self._slots
        return TableSize(cells_for(sets, MAX_LOAD_SHORT_MEMORY), sets, slots, MAX_LOAD_SHORT_MEMORY)

    def first_tables(self) -> Any:
        """Returns tables of the least size."""
        room = self.sizes(0, 0)
        return self._new(room.sets, room.slots)

    def begin(self, worker: Worker) -> None:
        """Gives a worker an empty set of information sets."""
        words, room = infosets_of(worker).cells.shape[1] - 1, self.sizes(0, 0)
        infosets = cache_aligned_fields(new_infoset_table(words, room.places, room.sets))
        worker.chance = with_infosets(worker.chance, infosets)
        self.make_room(worker)

    def make_room(self, worker: Worker, sets: int = 0, slots: int = 0) -> bool:
        """Makes room up to the next check, for at least `sets` and `slots` in all; False if memory
        is too small."""
        infosets = infosets_of(worker)
        sets, slots = max(sets, infoset_count(infosets)), max(slots, slot_count(infosets))
        room = self._affordable(worker, self.sizes(sets, slots), self._tight(sets, slots))
        if room is None:
            return False
        now = self._sizes(worker)
        if room[:3] != now[:3]:
            worker.chance = with_infosets(
                worker.chance, enlarge_table(infosets_of(worker), room.places, room.sets)
            )
        if (room.sets, room.slots) != (now.sets, now.slots):
            self._enlarge(worker, room)
        size = infosets_of(worker).size
        size[SETS_LIMIT] = min(int(room.filled * room.places), room.sets) - self._sets
        size[SLOTS_LIMIT] = room.slots - self._slots
        return True

    def _affordable(self, worker: Worker, *sizes: TableSize) -> TableSize | None:
        """Returns the first of these sizes that memory allows, at least the present one."""
        now = self._sizes(worker)
        for size in sizes:
            places, sets, slots = map(max, size[:3], now[:3])  # tables never shrink
            room = TableSize(places, sets, slots, size.filled)
            if room[:3] == now[:3] or self._allowed(worker, room):
                return room
        return None

    def _sizes(self, worker: Worker) -> TableSize:
        """Returns the present size."""
        tables, infosets = worker.tables._asdict(), infosets_of(worker)
        slots = next(len(array) for name, array in tables.items() if name not in self._by_set)
        return TableSize(len(infosets.cells), len(infosets.first) - 1, slots)

    def _allowed(self, worker: Worker, room: TableSize) -> bool:
        """Whether memory has room for tables of this size, and for a strategy made of them or a
        second copy of the largest table, since tables are moved one by one."""
        if max(room.sets, room.slots) > MOST:
            return False
        infosets = infosets_of(worker)  # unused parts take no memory yet
        used = TableSize(len(infosets.cells), infoset_count(infosets), slot_count(infosets))
        needed, held = self._bytes(worker, room), self._bytes(worker, used)
        words = infosets.cells.shape[1]
        strategy = 8 * ((words + 5) * room.sets + 1.25 * room.slots)  # while it is made
        most = max(needed.values())
        return memory.fits(sum(needed.values()) + max(strategy, most), sum(held.values()))

    def _bytes(self, worker: Worker, room: TableSize) -> dict[str, float]:
        """Returns the bytes of each table."""
        infosets, tables = infosets_of(worker), worker.tables._asdict()
        sizes = {"cells": 8.0 * room.places * infosets.cells.shape[1], "first": 4.0 * room.sets}
        for name, array in tables.items():
            row = array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            sizes[name] = float(row * (room.sets if name in self._by_set else room.slots))
        return sizes

    def _enlarge(self, worker: Worker, room: TableSize) -> None:
        """Replaces all tables by larger ones, freeing the old ones one by one."""
        larger, used = self._new(room.sets, room.slots), self.used(worker)
        for name in list(used):
            array = used.pop(name)
            getattr(larger, name)[: len(array)] = array
            worker.tables = worker.tables._replace(**{name: getattr(larger, name)})
            del array

    def used(self, worker: Worker) -> dict[str, np.ndarray]:
        """Returns the used part of each table."""
        infosets = infosets_of(worker)
        return {
            name: array[: infoset_count(infosets) if name in self._by_set else slot_count(infosets)]
            for name, array in worker.tables._asdict().items()
        }

    def used_tables(self, worker: Worker) -> Any:
        return type(worker.tables)(**self.used(worker))

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """Returns the saved arrays of a worker, with those of a paused traversal."""
        infosets = infosets_of(worker)
        arrays = {"keys": keys_of(infosets), "counts": action_counts(infosets), **self.used(worker)}
        if getattr(worker.workspace, "pause", np.zeros(1)).any():
            arrays |= {f"paused_{name}": array for name, array in paused_traversal(worker).items()}
        return arrays

    def restore(self, worker: Worker, saved: Mapping[str, np.ndarray], source: str) -> None:
        """Restores what `saved` returned."""
        keys, counts = _read(saved, source, infosets_of(worker))
        slots = int(counts.sum())
        least = TableSize(
            cells_for(len(keys), MAX_LOAD_SHORT_MEMORY), len(keys), slots, MAX_LOAD_SHORT_MEMORY
        )
        room = self._affordable(worker, self.sizes(len(keys), slots), least)
        if room is None:
            raise OutOfMemory(f"{source}: needs more memory than there is")
        infosets = table_from_keys(keys, counts, room.places, room.sets)
        worker.chance = with_infosets(worker.chance, infosets)
        worker.tables = self._new(room.sets, room.slots)
        self.make_room(worker)
        for name, array in worker.tables._asdict().items():
            given = saved.get(name)
            used = (len(keys) if name in self._by_set else slots, *array.shape[1:])
            if given is None or given.shape != used or given.dtype != array.dtype:
                raise BadFile(f"{source}: does not fit (array {name!r})")
            array[: len(given)] = given
        for name, array in paused_traversal(worker).items():
            given = saved.get(f"paused_{name}")
            if given is not None and given.shape == array.shape and given.dtype == array.dtype:
                array[:] = given

    def broadcast(self, workers: list[Worker], keep: str) -> None:
        """Copies the tables of the first worker to the others, except `keep`, which is empty."""
        first = workers[0]
        mine = self.used(first)
        for worker in workers[1:]:
            self._begin_at(first, worker)
            for name, array in mine.items():
                if name != keep:
                    getattr(worker.tables, name)[: len(array)] = array

    def _begin_at(self, base: Worker, worker: Worker) -> None:
        """Gives a worker the information sets of `base`, and empty tables for them."""
        worker.chance = with_infosets(worker.chance, _copied(infosets_of(base)))
        room = self._sizes(base)
        worker.tables = self._new(room.sets, room.slots)
        for name, array in paused_traversal(worker).items():
            if name == "pause":  # a paused traversal is abandoned
                array[:] = 0

    def since(self, base: Worker, worker: Worker) -> tuple[Any, NewInfosets]:
        """Returns the tables of `base`, where the worker began, enlarged to the worker's size, and
        the information sets that it has discovered since."""
        then, now = infosets_of(base), infosets_of(worker)
        before = self._new(infoset_count(now), slot_count(now))
        for name, array in self.used(base).items():
            getattr(before, name)[: len(array)] = array
        sets = infoset_count(then)
        return before, NewInfosets(
            sets, slot_count(then), keys_of(now, sets), action_counts(now, sets)
        )

    def admit(self, base: Worker, new: NewInfosets) -> bool:
        """Adds information sets discovered since `base`; False if memory is too small."""
        sets, slots = new.sets + len(new.keys), new.slots + int(new.counts.sum())
        if not self.make_room(base, sets, slots):
            return False
        add_all(infosets_of(base), new.keys, new.counts, np.empty(len(new.keys), dtype=np.int64))
        return self.make_room(base)

    def follow(self, base: Worker, worker: Worker, keep: Iterable[str]) -> bool:
        """Sets a worker to `base`, which has all of its information sets, except for its tables
        `keep`, which have an entry per information set. False if memory is too small."""
        infosets, names = infosets_of(worker), list(keep)
        kept = {name: self.used(worker)[name] for name in names}
        keys = keys_of(infosets) if names else np.zeros((0, 1), dtype=np.uint64)
        if not self._allowed(worker, self._sizes(base)):
            return False
        self._begin_at(base, worker)
        numbers = np.empty(len(keys), dtype=np.int64)
        find_all(infosets_of(base).cells, keys, numbers)
        for name, array in kept.items():
            getattr(worker.tables, name)[numbers] = array
        return True

    def align(self, workers: list[Worker], common: int) -> bool:
        """Gives all workers one numbering; their first `common` information sets have it already.
        False if memory is too small."""
        infosets = [infosets_of(worker) for worker in workers]
        new = [keys_of(table, common) for table in infosets]
        counts = [action_counts(table, common) for table in infosets]
        begin = int(infosets[0].first[common])
        sets = common + sum(len(keys) for keys in new)
        slots = begin + int(sum(count.sum() for count in counts))
        if not all(self.make_room(worker, sets, slots) for worker in workers):
            return False
        first = infosets_of(workers[0])
        for worker, keys, count in list(zip(workers, new, counts, strict=True))[1:]:
            numbers = np.empty(len(keys), dtype=np.int64)
            add_all(first, keys, count, numbers)
            self._move(worker, numbers, count, first, (common, begin))
        every = keys_of(first, common), action_counts(first, common)
        for worker in workers[1:]:
            renumber(infosets_of(worker), common, *every)
        return all(self.make_room(worker) for worker in workers)

    def _move(
        self,
        worker: Worker,
        numbers: np.ndarray,
        counts: np.ndarray,
        first: InfosetTable,
        since: tuple[int, int],
    ) -> None:
        """Moves a worker's entries, from set and slot `since` on, to the first worker's numbers."""
        common, begin = since
        slots = slots_of_sets(first, numbers, counts)
        blank = self._new(max(infoset_count(first) - common, 1), max(slot_count(first) - begin, 1))
        for name, array in worker.tables._asdict().items():
            low, to = (common, numbers) if name in self._by_set else (begin, slots)
            mine = array[low : low + len(to)].copy()
            empty = getattr(blank, name)
            array[low : low + len(empty)] = empty
            array[to] = mine

    def merged(self, workers: list[Worker]) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """Returns the keys, the numbers of actions, and copies of all tables in one numbering."""
        each = [(keys_of(table), action_counts(table)) for table in map(infosets_of, workers)]
        if len(workers) == 1:
            return *each[0], [self.used_tables(workers[0])]
        all_keys, all_counts = (np.concatenate(part) for part in zip(*each, strict=True))
        union = table_from_keys(all_keys, all_counts)
        copies = []
        for worker, (keys, counts) in zip(workers, each, strict=True):
            numbers = np.empty(len(keys), dtype=np.int64)
            add_all(union, keys, counts, numbers)
            tables = self._new(infoset_count(union), slot_count(union))
            slots = slots_of_sets(union, numbers, counts)
            for name, array in self.used(worker).items():
                getattr(tables, name)[numbers if name in self._by_set else slots] = array
            copies.append(tables)
        return keys_of(union), action_counts(union), copies


def paused_traversal(worker: Worker) -> dict[str, np.ndarray]:
    """Returns the arrays of a traversal that the next call of the kernel continues."""
    if not hasattr(worker.workspace, "pause"):
        return {}
    situation = situation_in(worker)
    stack = {
        name: array
        for name, array in worker.workspace._asdict().items()
        if isinstance(array, np.ndarray)
    }
    coin = {"coin": worker.chance.coin} if isinstance(worker.chance, RestrictedChance) else {}
    return {**stack, "states": situation.states, "facts": situation.facts, **coin}


def _read(
    saved: Mapping[str, np.ndarray], source: str, infosets: InfosetTable
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the saved keys and numbers of actions."""
    keys, counts = saved.get("keys"), saved.get("counts")
    words = infosets.cells.shape[1] - 1
    if (
        keys is None
        or counts is None
        or keys.dtype != np.uint64
        or counts.dtype != np.int64
        or keys.shape != (len(counts), words)
        or np.any(counts < 1)
    ):
        raise BadFile(f"{source}: does not fit (arrays 'keys' and 'counts')")
    return keys.copy(), counts.copy()  # received arrays are read-only


def _doubled(size: int, needed: int) -> int:
    while size < needed:
        size *= 2
    return size


def with_infosets(chance: Any, infosets: InfosetTable) -> Any:
    """Returns a form's workspace with other information sets."""
    if isinstance(chance, RestrictedChance):
        return chance._replace(inner=with_infosets(chance.inner, infosets))
    return chance._replace(cells=infosets.cells, first=infosets.first, size=infosets.size)


def with_own_infosets(chance: Any) -> Any:
    """Returns a form's workspace with a copy of its information sets."""
    return with_infosets(chance, _copied(table_in(_inner(chance))))


def _copied(infosets: InfosetTable) -> InfosetTable:
    return InfosetTable(*(array.copy() for array in infosets))


def _inner(chance: Any) -> RulesWorkspace:
    """Returns the compiled game's part of a form's workspace."""
    inner: RulesWorkspace = chance.inner if isinstance(chance, RestrictedChance) else chance
    return inner
