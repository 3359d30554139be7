"""`Player`: what one worker of a team apart does, in its own process or on its own machine.

A player has lanes, one for each of its threads: a copy of the tables, random numbers and a hand of
its own. In a round every lane plays its share of the iterations, each sample counting as often as
there are lanes in all, from the tables of the last meeting. What the lanes changed is added up and
handed over (`changes`); `take` brings what everybody changed, and the next round begins. Until then
a player can be asked again and gives the same: so a lost one is replaced by another that begins the
round anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.game import Game
from counterplay.forms.restricted import DataBiasedForm, RestrictedForm
from counterplay.solvers.algorithms import new_solver
from counterplay.solvers.exchange import (
    ChangedRows,
    Packed,
    Planes,
    add_rows,
    changed_rows,
    pack_planes,
    unpack_planes,
)
from counterplay.solvers.sampling import SamplingSolver
from counterplay.solvers.teams import Worker


class Spec(NamedTuple):
    """What a player has to know before it begins. Its lanes are first .. first + lanes - 1 of
    `all_lanes`."""

    game: Game
    algorithm: str
    seed: int
    options: dict[str, Any]
    form: Any  # packed by `pack_form`
    first: int
    lanes: int
    all_lanes: int


class Meeting(NamedTuple):
    """Everything at a meeting, of all lanes: L of them."""

    number: int  # of the round that begins
    done: int  # iterations
    tables: dict[str, np.ndarray]
    rng: np.ndarray  # uint64[L, 4]
    hand: np.ndarray  # [L, ...]
    private: dict[str, np.ndarray]  # [L, ...]: what each lane keeps to itself


class Changes(NamedTuple):
    """Of a player in a round."""

    planes: dict[str, Packed]
    rng: np.ndarray  # uint64[lanes, 4]
    hand: np.ndarray
    private: list[dict[str, ChangedRows]]  # of each lane
    nodes: np.ndarray  # int64[lanes]: touched in this round


def pack_form(game: Game, form: Any) -> Any:
    """A form to be sent: None for the game's own, a restricted one without what every player
    has."""
    if form is game.form:
        return None
    return form._replace(inner=None, first=None, passive=None)


def unpack_form(game: Game, form: Any) -> Any:
    if form is None:
        return None
    assert isinstance(form, RestrictedForm | DataBiasedForm)
    own = game.form
    # what comes from elsewhere cannot be written, which is another type to kernels
    sent: dict[str, Any] = {
        name: np.array(value)
        for name, value in form._asdict().items()
        if isinstance(value, np.ndarray)
    }
    return form._replace(inner=own, first=own.first, passive=own.passive, **sent)


class Player:
    """One worker."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        form = unpack_form(spec.game, spec.form)
        made = new_solver(spec.game, spec.algorithm, spec.seed, spec.options, form)
        assert isinstance(made, SamplingSolver)
        self.solver = made
        own = range(spec.first, spec.first + spec.lanes)
        self.lanes: list[Worker] = [self.solver.new_worker(k) for k in own]
        self.base: Any = self.solver.new_worker(0).tables  # as at the last meeting
        self._pool = ThreadPoolExecutor(spec.lanes) if spec.lanes > 1 else None
        self.number, self.begun, self.done = -1, 0, 0
        self.nodes = np.zeros(spec.lanes, dtype=np.int64)
        self._private: list[dict[str, np.ndarray]] = []  # of each lane, when the round began

    def begin(self, state: Meeting) -> int:
        """Go on from a meeting; the round that begins."""
        for name, array in state.tables.items():
            getattr(self.base, name)[...] = array
        for j, lane in enumerate(self.lanes):
            k = self.spec.first + j
            lane.rng[:] = state.rng[k]
            lane.buffer[:] = state.hand[k]
            for name, array in state.private.items():
                getattr(lane.tables, name)[...] = array[k]
        self._begin(state.number, state.done)
        return self.number

    def _begin(self, number: int, done: int) -> None:
        self.number, self.begun, self.done = number, done, done
        self.nodes[:] = 0
        for lane in self.lanes:
            self.solver.begin_round(self.base, lane.tables)
        names = self.solver.private
        self._private = [
            {name: getattr(lane.tables, name).copy() for name in names} for lane in self.lanes
        ]

    def play(self, number: int, until: int) -> int:
        """Iterations of this round up to `until`; the nodes touched in it so far."""
        assert number == self.number
        if until > self.done:
            lanes = range(len(self.lanes))
            if self._pool is None:
                self._share(0, until)
            else:
                list(self._pool.map(self._share, lanes, [until] * len(lanes)))
            self.done = until
        return int(self.nodes.sum())

    def _share(self, j: int, until: int) -> None:
        """Iteration i belongs to lane i mod L."""
        k, every = self.spec.first + j, self.spec.all_lanes
        first = self.done + 1 + (k - self.done - 1) % every
        count = max(0, (until - first) // every + 1)
        lane = self.lanes[j]
        self.nodes[j] += self.solver.play(lane, first - 1, count, every, float(every))

    def changes(self, number: int) -> Changes:
        """What this player found in the round."""
        assert number == self.number
        found = [self._planes(lane.tables) for lane in self.lanes]
        planes = {name: add_rows([each[name] for each in found]) for name in found[0]}
        private = [
            {name: _different(old, getattr(lane.tables, name)) for name, old in before.items()}
            for lane, before in zip(self.lanes, self._private, strict=True)
        ]
        return Changes(
            pack_planes(planes),
            np.array([lane.rng for lane in self.lanes]),
            np.array([lane.buffer for lane in self.lanes]),
            private,
            self.nodes.copy(),
        )

    def _planes(self, tables: Any) -> Planes:
        found = self.solver.changes(self.base, tables)
        return {name: changed_rows(plane) for name, plane in found.items()}

    def take(self, number: int, done: int, total: Mapping[str, Packed]) -> int:
        """What everybody changed in the last round; the round that begins."""
        if number != self.number:
            for name, rows in unpack_planes(total).items():
                self.solver.absorb(self.base, name, rows, self.spec.all_lanes)
            self._begin(number, done)
        return self.number

    def change_form(self, form: Any) -> None:
        self.solver.change_form(unpack_form(self.spec.game, form) or self.spec.game.form)


def _different(base: np.ndarray, mine: np.ndarray) -> ChangedRows:
    """What a lane has to itself, as whole numbers fit into it."""
    rows = np.flatnonzero(base != mine)
    return ChangedRows(rows, mine[rows].astype(np.float64)[:, None])
