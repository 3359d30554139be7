"""Tables that grow (`growing.py`) in the hands of several workers.

They find different information sets in different order: at a meeting they are put together by key,
those of the first worker before those of the second and so on, so that every copy has the same
numbers again. Threads move what they have in place (`unify`); workers that share no memory send
what they found since the last meeting (`since`, `exchange.py`), and all add the sum (`admit`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from counterplay.forms.found import (
    Found,
    add_all,
    counts_of,
    find_all,
    found_from,
    keys_of,
    renumber,
    sets_in,
    slots_in,
    slots_of_sets,
)
from counterplay.forms.found_form import found_in
from counterplay.forms.restricted import Coined
from counterplay.solvers.exchange import NewSets
from counterplay.solvers.growing import Growing, found_of, walk_of, with_found
from counterplay.solvers.teams import Worker


class ByKey(Growing):
    """`Growing` for several workers."""

    def hand_over(self, workers: list[Worker], keep: str) -> None:
        """All that the first worker knows to the others; but what is called `keep` is empty."""
        first = workers[0]
        mine = self.used(first)
        for worker in workers[1:]:
            self._begin_at(first, worker)
            for name, array in mine.items():
                if name != keep:
                    getattr(worker.tables, name)[: len(array)] = array

    def _begin_at(self, base: Worker, worker: Worker) -> None:
        """The information sets that `base` has found, and empty tables for them."""
        worker.chance = with_found(worker.chance, _copied(found_of(base)))
        room = self._sizes(base)
        worker.tables = self._new(room.sets, room.slots)
        for name, array in walk_of(worker).items():
            if name == "pause":  # a walk that waited for room is not gone on with
                array[:] = 0

    def since(self, base: Worker, worker: Worker) -> tuple[Any, NewSets]:
        """Of a worker who began at `base`: tables as they were then, as large as his are now, and
        what he has found since."""
        then, now = found_of(base), found_of(worker)
        before = self._new(sets_in(now), slots_in(now))
        for name, array in self.used(base).items():
            getattr(before, name)[: len(array)] = array
        sets = sets_in(then)
        return before, NewSets(sets, slots_in(then), keys_of(now, sets), counts_of(now, sets))

    def admit(self, base: Worker, new: NewSets) -> bool:
        """Add what was found since `base`; False where memory does not allow it."""
        sets, slots = new.sets + len(new.keys), new.slots + int(new.counts.sum())
        if not self.make_room(base, sets, slots):
            return False
        add_all(found_of(base), new.keys, new.counts, np.empty(len(new.keys), dtype=np.int64))
        return self.make_room(base)

    def follow(self, base: Worker, worker: Worker, keep: Iterable[str]) -> bool:
        """A worker goes on from `base`, which has found all that he has: of what he learnt only the
        tables called `keep` stay, with an entry per information set. False where memory does not
        allow it."""
        found, names = found_of(worker), list(keep)
        kept = {name: self.used(worker)[name] for name in names}
        keys = keys_of(found) if names else np.zeros((0, 1), dtype=np.uint64)
        if not self._allowed(worker, self._sizes(base)):
            return False
        self._begin_at(base, worker)
        numbers = np.empty(len(keys), dtype=np.int64)
        find_all(found_of(base).places, keys, numbers)
        for name, array in kept.items():
            getattr(worker.tables, name)[numbers] = array
        return True

    def unify(self, workers: list[Worker], common: int) -> bool:
        """One numbering for all workers, of whom the first `common` information sets have it; False
        where memory does not allow it."""
        found = [found_of(worker) for worker in workers]
        new = [keys_of(table, common) for table in found]
        counts = [counts_of(table, common) for table in found]
        begin = int(found[0].first[common])
        sets = common + sum(len(keys) for keys in new)
        slots = begin + int(sum(count.sum() for count in counts))
        if not all(self.make_room(worker, sets, slots) for worker in workers):
            return False
        first = found_of(workers[0])
        for worker, keys, count in list(zip(workers, new, counts, strict=True))[1:]:
            numbers = np.empty(len(keys), dtype=np.int64)
            add_all(first, keys, count, numbers)
            self._move(worker, numbers, count, first, (common, begin))
        every = keys_of(first, common), counts_of(first, common)
        for worker in workers[1:]:
            renumber(found_of(worker), common, *every)
        return all(self.make_room(worker) for worker in workers)

    def _move(
        self,
        worker: Worker,
        numbers: np.ndarray,
        counts: np.ndarray,
        first: Found,
        since: tuple[int, int],
    ) -> None:
        """Move a worker's entries since a number of information sets and slots to where the first
        worker has them."""
        common, begin = since
        slots = slots_of_sets(first, numbers, counts)
        blank = self._new(max(sets_in(first) - common, 1), max(slots_in(first) - begin, 1))
        for name, array in worker.tables._asdict().items():
            low, many, to = (
                (common, len(numbers), numbers)
                if name in self._by_set
                else (begin, len(slots), slots)
            )
            mine = array[low : low + many].copy()
            empty = getattr(blank, name)
            array[low : low + len(empty)] = empty
            array[to] = mine

    def aligned(self, workers: list[Worker]) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """Keys, numbers of actions, and copies of all tables with one numbering."""
        found = found_of(workers[0])
        keys, counts = keys_of(found), counts_of(found)
        if len(workers) == 1:
            return keys, counts, [self.used_tables(workers[0])]
        others = [(keys_of(found_of(w)), counts_of(found_of(w))) for w in workers[1:]]
        union = found_from(
            np.concatenate([keys, *(k for k, _ in others)]),
            np.concatenate([counts, *(c for _, c in others)]),
        )
        aligned = []
        for worker in workers:
            own_keys, own_counts = keys_of(found_of(worker)), counts_of(found_of(worker))
            numbers = np.empty(len(own_keys), dtype=np.int64)
            add_all(union, own_keys, own_counts, numbers)
            tables = self._new(sets_in(union), slots_in(union))
            slots = slots_of_sets(union, numbers, own_counts)
            for name, array in self.used(worker).items():
                getattr(tables, name)[numbers if name in self._by_set else slots] = array
            aligned.append(tables)
        return keys_of(union), counts_of(union), aligned


def with_own_found(chance: Any) -> Any:
    """The same scratch with a copy of what was found."""
    inner = chance.inner if isinstance(chance, Coined) else chance
    return with_found(chance, _copied(found_in(inner)))


def _copied(found: Found) -> Found:
    return Found(*(array.copy() for array in found))
