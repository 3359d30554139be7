"""Tables of a sampling solver whose information sets are found while it plays (`forms/found.py`).

They double when a kernel returns for want of room, and grow by an eighth where memory is too short
for that. Nothing depends on how large tables were.
`by_key.py` has what several workers do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from counterplay.base import machine
from counterplay.base.errors import BadFile, BadGame, OutOfRoom
from counterplay.forms.compiled import PROBLEMS, Shape
from counterplay.forms.found import (
    LEAST_PLACES,
    MOST,
    MOST_FILLED,
    PROBLEM,
    ROOM_SETS,
    ROOM_SLOTS,
    SHORT_FILLED,
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
    filled: float = MOST_FILLED  # how full places may be


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

    def _tight(self, sets: int, slots: int) -> TableRoom:
        """The same where memory is short: an eighth more than there is, and fuller places."""
        sets, slots = sets + sets // 8 + self._sets, slots + slots // 8 + self._slots
        return TableRoom(places_for(sets, SHORT_FILLED), sets, slots, SHORT_FILLED)

    def first_tables(self) -> Any:
        room = self.sizes(0, 0)
        return self._new(room.sets, room.slots)

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
        sets, slots = max(sets, sets_in(found)), max(slots, slots_in(found))
        room = self._room(worker, self.sizes(sets, slots), self._tight(sets, slots))
        if room is None:
            return False
        now = self._sizes(worker)
        if room[:3] != now[:3]:
            worker.chance = with_found(
                worker.chance, enlarged(found_of(worker), room.places, room.sets)
            )
        if (room.sets, room.slots) != (now.sets, now.slots):
            self._enlarge(worker, room)
        size = found_of(worker).size
        size[ROOM_SETS] = min(int(room.filled * room.places), room.sets) - self._sets
        size[ROOM_SLOTS] = room.slots - self._slots
        return True

    def _room(self, worker: Worker, *sizes: TableRoom) -> TableRoom | None:
        """The first of these that memory allows, at least what there is."""
        now = self._sizes(worker)
        for size in sizes:
            places, sets, slots = map(max, size[:3], now[:3])  # what was made for a meeting stays
            room = TableRoom(places, sets, slots, size.filled)
            if room[:3] == now[:3] or self._allowed(worker, room):
                return room
        return None

    def _sizes(self, worker: Worker) -> TableRoom:
        """The room there is."""
        tables, found = worker.tables._asdict(), found_of(worker)
        slots = next(len(array) for name, array in tables.items() if name not in self._by_set)
        return TableRoom(len(found.places), len(found.first) - 1, slots)

    def _allowed(self, worker: Worker, room: TableRoom) -> bool:
        """Whether memory has so much room beside a strategy made of it, and one more of the largest
        table: they are moved one by one."""
        if max(room.sets, room.slots) > MOST:
            return False
        found = found_of(worker)
        used = TableRoom(len(found.places), sets_in(found), slots_in(found))  # of the rest nothing
        needed, held = self._bytes(worker, room), self._bytes(worker, used)
        words = found.places.shape[1]
        strategy = 8 * ((words + 5) * room.sets + 1.25 * room.slots)  # while it is made
        most = max(needed.values())
        return machine.fits(sum(needed.values()) + max(strategy, most), sum(held.values()))

    def _bytes(self, worker: Worker, room: TableRoom) -> dict[str, float]:
        """Of each table."""
        found, tables = found_of(worker), worker.tables._asdict()
        sizes = {"places": 8.0 * room.places * found.places.shape[1], "first": 4.0 * room.sets}
        for name, array in tables.items():
            row = array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
            sizes[name] = float(row * (room.sets if name in self._by_set else room.slots))
        return sizes

    def _enlarge(self, worker: Worker, room: TableRoom) -> None:
        """More room in all tables, which let go of the old one by one."""
        larger, used = self._new(room.sets, room.slots), self.used(worker)
        for name in list(used):
            array = used.pop(name)
            getattr(larger, name)[: len(array)] = array
            worker.tables = worker.tables._replace(**{name: getattr(larger, name)})
            del array

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
        slots = int(counts.sum())
        least = TableRoom(places_for(len(keys), SHORT_FILLED), len(keys), slots, SHORT_FILLED)
        room = self._room(worker, self.sizes(len(keys), slots), least)
        if room is None:
            raise OutOfRoom(f"{source}: needs more memory than there is")
        found = found_from(keys, counts, room.places, room.sets)
        worker.chance = with_found(worker.chance, found)
        worker.tables = self._new(room.sets, room.slots)
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
