"""What the workers of a sampling solver put together at meetings: threads (`teams.py`), or workers
that share no memory (`far_team.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from counterplay.base.errors import OutOfRoom
from counterplay.forms.found import sets_in, slots_in
from counterplay.solvers.base import Solver
from counterplay.solvers.by_key import ByKey, with_own_found
from counterplay.solvers.exchange import SLOTS, Bundle, ChangedRows, changed_rows
from counterplay.solvers.growing import found_of
from counterplay.solvers.teams import Team, Worker, mean_of, part_of


class MeanRegrets(NamedTuple):
    """What workers put together."""

    regret: np.ndarray  # float64[s]


class MeetingSolver(Solver):
    """Play depends on `tables.regret`, which workers put together; what else is in the tables each
    keeps for itself. An algorithm with other tables says otherwise."""

    by_set: ClassVar[tuple[str, ...]] = ()  # tables with an entry per information set, not slot
    private: ClassVar[tuple[str, ...]] = ()  # tables that each worker of a team apart keeps

    _team: Team
    _growing: ByKey | None  # where information sets are found while playing

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # information sets and slots with one numbering in all copies, as of the last meeting
        self._common = np.zeros(2, dtype=np.int64)
        self._mean: Any = None

    def infosets(self) -> int:
        if self._growing is None:
            return self.game.n_infosets
        return max(sets_in(found_of(self._team.workers[0])), 1)

    def unify(self) -> bool:
        if self._growing is None:
            return True
        if not self._growing.unify(self._team.workers, int(self._common[0])):
            return False
        self._note_common()
        return True

    def _note_common(self) -> None:
        found = found_of(self._team.workers[0])
        self._common[:] = sets_in(found), slots_in(found)

    def room(self) -> Any:
        """float64[s]: for the mean of all copies' regrets."""
        self._mean = like(self._mean, MeanRegrets(self._team.workers[0].tables.regret))
        return self._mean.regret

    @property
    def _used(self) -> tuple[int, int]:
        """Information sets and slots that a meeting puts together. (Whoever has gone on from it has
        found more.)"""
        if self._growing is None:
            return self.game.n_infosets, self.game.n_slots
        return int(self._common[0]), int(self._common[1])

    def put_together(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        regrets = tuple(tables.regret for tables in copies)
        mean_of(regrets, *part_of(self._used[1], part, len(copies)), mean)

    def take_over(self, mean: Any, tables: Any) -> None:
        used = self._used[1]
        tables.regret[:used] = mean[:used]

    def found_since(self, base: Worker, worker: Worker) -> Bundle:
        """What a worker found in a round that began at `base`, to be sent."""
        growing = self._growing
        before, new = (base.tables, None) if growing is None else growing.since(base, worker)
        planes = self.changes(before, self.used_tables(worker))
        return Bundle({name: changed_rows(plane) for name, plane in planes.items()}, new)

    def changes(self, before: Any, tables: Any) -> dict[str, np.ndarray]:
        """Planes (`exchange.py`) of what is in tables that were as `before`."""
        columns = (tables.regret - before.regret, tables.strategy_sum)
        return {SLOTS: np.stack(columns, axis=1)}

    def absorb(self, base: Worker, found: Bundle, lanes: int) -> None:
        """Add what all `lanes` found together, in which every sample counts so many times.
        `OutOfRoom` where memory does not allow it, and then nothing is changed."""
        growing, new = self._growing, found.new
        if growing is not None and new is not None and not growing.admit(base, new):
            raise self.no_room()
        for name, rows in found.planes.items():
            self._absorb(base, name, rows, lanes)

    def _absorb(self, base: Worker, plane: str, found: ChangedRows, lanes: int) -> None:
        base.tables.regret[found.rows] += found.values[:, 0] / lanes
        base.tables.strategy_sum[found.rows] += found.values[:, 1]

    def begin_round(self, base: Worker, worker: Worker, keep: bool = True) -> None:
        """A worker's tables, from those of a meeting. `keep`: what is private it has."""
        names = self.private if keep else ()
        if self._growing is not None and not self._growing.follow(base, worker, names):
            raise self.no_room()
        for name in worker.tables._fields:
            if name == "strategy_sum":
                worker.tables.strategy_sum[:] = 0.0
            elif name not in self.private:
                getattr(worker.tables, name)[...] = getattr(base.tables, name)

    def hand_over(self, workers: list[Worker]) -> None:
        """Everything but strategy sums, which each thread keeps for itself."""
        if self._growing is not None:
            self._growing.hand_over(workers, "strategy_sum")
            self._note_common()
            return
        first = workers[0].tables
        for worker in workers[1:]:
            for name in first._fields:
                if name != "strategy_sum":
                    getattr(worker.tables, name)[:] = getattr(first, name)

    def no_room(self) -> OutOfRoom:
        return OutOfRoom(
            f"{self.game.name}: {self.infosets():,} information sets are found, and there is "
            f"no memory for more; all that was learnt in {self.iterations:,} "
            f"iterations is kept, and a run in a folder can be gone on with where there is more"
        )

    def used_tables(self, worker: Worker) -> Any:
        """A worker's tables without the room behind them."""
        return worker.tables if self._growing is None else self._growing.used_tables(worker)

    def copied(self, worker: Worker) -> Worker:
        """The same with tables of its own."""
        tables = type(worker.tables)(*(array.copy() for array in worker.tables))
        chance = worker.chance if self._growing is None else with_own_found(worker.chance)
        return replace(worker, tables=tables, chance=chance)

    def set_tables(self, worker: Worker, saved: Mapping[str, np.ndarray]) -> None:
        """From what `saved` gave."""
        if self._growing is not None:
            self._growing.restore(worker, saved, self.game.name)
            return
        for name, array in saved.items():
            getattr(worker.tables, name)[...] = array

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """What a file keeps of a worker's tables."""
        if self._growing is not None:
            return self._growing.saved(worker)
        return dict(worker.tables._asdict())


def like(made: Any, tables: Any) -> Any:
    """`made`, where all its arrays are as large as those of `tables`; else new ones."""
    if made is not None and all(
        mine.shape == array.shape for mine, array in zip(made, tables, strict=True)
    ):
        return made
    return type(tables)(*(np.empty_like(array) for array in tables))
