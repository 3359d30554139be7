"""Tables of a sampling solver whose information sets are found while it plays (`forms/found.py`).

They double when a kernel returns for want of room. Nothing depends on how large tables were.
`by_key.py` has what several workers do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from counterplay.base import memory
from counterplay.base.errors import BadFile, BadGame, OutOfRoom
from counterplay.forms.compiled import PROBLEMS, Shape
from counterplay.forms.found import (
    LEAST_PLACES,
    MOST,
    MOST_FILLED,
    PROBLEM,
    ROOM_SETS,
    ROOM_SLOTS,
    Found,
    counts_of,
    enlarged,
    found_from,
    keys_of,
    new_found,
    places_for,
    sets_in,
    slots_in,
)
from counterplay.forms.found_form import RulesForm, Situation, found_in
from counterplay.forms.restricted import Coined
from counterplay.kernels.lines import all_apart
from counterplay.solvers.teams import Worker

NewTables = Callable[[int, int], Any]  # tables for so many information sets and slots, empty


class Keyed(NamedTuple):
    """What was learnt, by key: n information sets, s slots."""

    keys: np.ndarray  # uint64[n, words]
    counts: np.ndarray  # int64[n]: actions
    weights: np.ndarray  # float64[s]


def rules_in(form: Any) -> RulesForm:
    """The compiled rules that a form plays, as they are or restricted."""
    rules: RulesForm = getattr(form, "inner", form)
    return rules


def situation_of(worker: Worker) -> Situation:
    chance = worker.chance
    found: Situation = chance.inner if isinstance(chance, Coined) else chance
    return found


def found_of(worker: Worker) -> Found:
    return found_in(situation_of(worker))


class TableRoom(NamedTuple):
    """Room for so many places, information sets and slots."""

    places: int
    sets: int
    slots: int


class Growing:
    """Makes room in the tables of workers. `by_set`: those of `tables` that have an entry per
    information set, and not per slot. `at_once`: histories that a kernel plays between looks."""

    def __init__(self, shape: Shape, new: NewTables, by_set: Iterable[str], at_once: int) -> None:
        self._new, self._by_set = new, frozenset(by_set)
        self._sets = at_once * shape.depth  # that one look must leave room for
        self._slots = self._sets * shape.actions

    def sizes(self, sets: int, slots: int) -> TableRoom:
        """Room for what is found and for one more look: doubled, from the least, until it is
        enough."""
        sets, slots = sets + self._sets, slots + self._slots
        return TableRoom(
            places_for(sets), _doubled(LEAST_PLACES, sets), _doubled(LEAST_PLACES, slots)
        )

    def first_tables(self) -> Any:
        return self._new(*self.sizes(0, 0)[1:])

    def begin(self, worker: Worker) -> None:
        """Nothing is found yet."""
        words, room = found_of(worker).places.shape[1] - 1, self.sizes(0, 0)
        found = all_apart(new_found(words, room.places, room.sets))
        worker.chance = with_found(worker.chance, found)
        self.make_room(worker)

    def make_room(self, worker: Worker, sets: int = 0, slots: int = 0) -> bool:
        """Room for the next look, with at least so many sets and slots found by then; False where
        memory does not allow it."""
        found = found_of(worker)
        needed = self.sizes(max(sets, sets_in(found)), max(slots, slots_in(found)))
        now = self._sizes(worker)
        room = TableRoom(*map(max, needed, now))  # what was made for a meeting stays
        if room != now:
            if not self._allowed(worker, room):
                return False
            found = enlarged(found, room.places, room.sets)
            worker.chance = with_found(worker.chance, found)
            if room[1:] != now[1:]:
                worker.tables = self._enlarged(worker.tables, found, room)
        found.size[ROOM_SETS] = min(int(MOST_FILLED * room.places), room.sets) - self._sets
        found.size[ROOM_SLOTS] = room.slots - self._slots
        return True

    def _sizes(self, worker: Worker) -> TableRoom:
        """The room there is."""
        tables, found = worker.tables._asdict(), found_of(worker)
        slots = next(len(array) for name, array in tables.items() if name not in self._by_set)
        return TableRoom(len(found.places), len(found.first) - 1, slots)

    def _allowed(self, worker: Worker, room: TableRoom) -> bool:
        places, sets, slots = room
        if max(sets, slots) > MOST:
            return False
        found, tables = found_of(worker), worker.tables._asdict()
        words = found.places.shape[1]
        needed = float(places * found.places.itemsize * words + 4 * sets)
        for name, array in tables.items():
            row = array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            needed += row * (sets if name in self._by_set else slots)
        strategy = 8 * ((2 * words + 3) * sets + 3 * slots)  # while it is made, beside the tables
        return bool(needed + strategy <= memory.available_bytes())

    def _enlarged(self, tables: Any, found: Found, room: TableRoom) -> Any:
        """The same tables with more room."""
        larger = self._new(room.sets, room.slots)
        for name, array in tables._asdict().items():
            used = sets_in(found) if name in self._by_set else slots_in(found)
            getattr(larger, name)[:used] = array[:used]
        return larger

    def used(self, worker: Worker) -> dict[str, np.ndarray]:
        """The tables without the room behind them."""
        found = found_of(worker)
        return {
            name: array[: sets_in(found) if name in self._by_set else slots_in(found)]
            for name, array in worker.tables._asdict().items()
        }

    def used_tables(self, worker: Worker) -> Any:
        """The same as tables."""
        return type(worker.tables)(**self.used(worker))

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """What a file keeps of a worker; a walk that waits for room with it."""
        found = found_of(worker)
        arrays = {"keys": keys_of(found), "counts": counts_of(found), **self.used(worker)}
        if getattr(worker.scratch, "pause", np.zeros(1)).any():
            arrays |= {f"walk_{name}": array for name, array in walk_of(worker).items()}
        return arrays

    def restore(self, worker: Worker, saved: Mapping[str, np.ndarray], source: str) -> None:
        """Go on from what `saved` gave."""
        keys, counts = _read(saved, source, found_of(worker))
        slots, room = int(counts.sum()), self.sizes(len(keys), int(counts.sum()))
        if not self._allowed(worker, room):
            raise OutOfRoom(f"{source}: needs more memory than there is")
        found = enlarged(found_from(keys, counts), room.places, room.sets)
        worker.chance = with_found(worker.chance, found)
        worker.tables = self._new(*room[1:])
        self.make_room(worker)
        for name, array in worker.tables._asdict().items():
            given = saved.get(name)
            used = (len(keys) if name in self._by_set else slots, *array.shape[1:])
            if given is None or given.shape != used or given.dtype != array.dtype:
                raise BadFile(f"{source}: does not fit (array {name!r})")
            array[: len(given)] = given
        for name, array in walk_of(worker).items():
            given = saved.get(f"walk_{name}")
            if given is not None and given.shape == array.shape and given.dtype == array.dtype:
                array[:] = given


def check_rules(worker: Worker, name: str) -> None:
    """`BadGame` where a kernel met a mistake in the rules."""
    problem = int(found_of(worker).size[PROBLEM])
    if problem:
        raise BadGame(f"{name}: {PROBLEMS[problem]}; cp.check(game) says in which history")


def walk_of(worker: Worker) -> dict[str, np.ndarray]:
    """Where a walk stopped that a kernel has to finish."""
    if not hasattr(worker.scratch, "pause"):
        return {}
    situation = situation_of(worker)
    stack = {
        name: array
        for name, array in worker.scratch._asdict().items()
        if isinstance(array, np.ndarray)
    }
    coin = {"coin": worker.chance.coin} if isinstance(worker.chance, Coined) else {}
    return {**stack, "states": situation.states, "facts": situation.facts, **coin}


def _read(
    saved: Mapping[str, np.ndarray], source: str, found: Found
) -> tuple[np.ndarray, np.ndarray]:
    keys, counts = saved.get("keys"), saved.get("counts")
    words = found.places.shape[1] - 1
    if (
        keys is None
        or counts is None
        or keys.dtype != np.uint64
        or counts.dtype != np.int64
        or keys.shape != (len(counts), words)
        or np.any(counts < 1)
    ):
        raise BadFile(f"{source}: does not fit (arrays 'keys' and 'counts')")
    return keys.copy(), counts.copy()  # what comes from elsewhere cannot be written


def _doubled(size: int, needed: int) -> int:
    while size < needed:
        size *= 2
    return size


def with_found(chance: Any, found: Found) -> Any:
    """The same scratch with another table."""
    if isinstance(chance, Coined):
        return chance._replace(inner=with_found(chance.inner, found))
    return chance._replace(places=found.places, first=found.first, size=found.size)
