"""`Player`: what one worker of a team apart does, in its own process or on its own machine.

A player has lanes, one for each of its threads: a copy of the tables, random numbers and a hand of
its own. In a round every lane plays its share of the iterations, each sample counting as often as
there are lanes in all, from the tables of the last meeting. What the lanes changed is added up and
handed over (`changes`); `take` brings what everybody changed, and the next round begins. Until then
a player can be asked again and gives the same: so a lost one is replaced by another that begins the
round anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.game import Game
from counterplay.forms.restricted import DataBiasedForm, RestrictedForm
from counterplay.solvers.algorithms import new_solver
from counterplay.solvers.exchange import (
    SETS,
    ChangedRows,
    PackedBundle,
    add_bundles,
    moved,
    pack_bundle,
    unpack_bundle,
)
from counterplay.solvers.problem import Problem
from counterplay.solvers.sampling import SamplingSolver
from counterplay.solvers.teams import Short, Worker


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
    tables: dict[str, np.ndarray]  # as files keep them
    rng: np.ndarray  # uint64[L, 4]
    hand: np.ndarray  # [L, ...]
    private: dict[str, np.ndarray]  # [L, ...]: what each lane keeps to itself


class Changes(NamedTuple):
    """Of a player in a round."""

    sent: PackedBundle
    rng: np.ndarray  # uint64[lanes, 4]
    hand: np.ndarray
    private: list[dict[str, ChangedRows]]  # of each lane, numbered as in `sent`
    nodes: np.ndarray  # int64[lanes]: touched in this round


def pack_form(game: Game, form: Any) -> Any:
    """A form to be sent: None for the game's own, a restricted one without what every player
    has."""
    return None if form is game.form else form._replace(inner=None)


def unpack_problem(game: Game, form: Any) -> Problem | None:
    """What was packed; None for an equilibrium of the game."""
    if form is None:
        return None
    assert isinstance(form, RestrictedForm | DataBiasedForm)
    return Problem(game, _copied(form)._replace(inner=game.form))


def _copied(sent: Any) -> Any:
    """What comes from elsewhere cannot be written, which is another type to kernels: copies of all
    arrays in a tuple."""
    if isinstance(sent, np.ndarray):
        return np.array(sent)
    if isinstance(sent, tuple) and hasattr(sent, "_replace"):
        return type(sent)(*map(_copied, sent))
    return sent


class Player:
    """One worker."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        problem = unpack_problem(spec.game, spec.form)
        made = new_solver(spec.game, spec.algorithm, spec.seed, spec.options, problem)
        assert isinstance(made, SamplingSolver)
        self.solver = made
        own = range(spec.first, spec.first + spec.lanes)
        self.lanes: list[Worker] = [self.solver.new_worker(k) for k in own]
        self.base: Worker = self.solver.new_worker(0)  # tables as at the last meeting
        self._pool = ThreadPoolExecutor(spec.lanes) if spec.lanes > 1 else None
        self.number, self.begun, self.done = -1, 0, 0
        self.nodes = np.zeros(spec.lanes, dtype=np.int64)
        self._private: list[dict[str, np.ndarray]] = []  # of each lane, when the round began

    def begin(self, state: Meeting) -> int:
        """Go on from a meeting; the round that begins."""
        self.solver.set_tables(self.base, state.tables)
        for j, lane in enumerate(self.lanes):
            k = self.spec.first + j
            lane.rng[:] = state.rng[k]
            lane.buffer[:] = state.hand[k]
            self.solver.begin_round(self.base, lane, keep=False)
            for name, array in state.private.items():
                getattr(lane.tables, name)[: len(array[k])] = array[k]
        self._note(state.number, state.done)
        return self.number

    def _note(self, number: int, done: int) -> None:
        """That a round begins."""
        self.number, self.begun, self.done = number, done, done
        self.nodes[:] = 0
        self._private = [self._own_tables(lane) for lane in self.lanes]

    def _own_tables(self, lane: Worker) -> dict[str, np.ndarray]:
        tables = self.solver.used_tables(lane)
        return {name: getattr(tables, name).copy() for name in self.solver.private}

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
        try:
            nodes = self.solver.play(self.lanes[j], first - 1, count, every, float(every))
        except Short:
            raise self.solver.no_room() from None
        self.nodes[j] += nodes

    def changes(self, number: int) -> Changes:
        """What this player found in the round."""
        assert number == self.number
        total, moves = add_bundles(
            [self.solver.found_since(self.base, lane) for lane in self.lanes]
        )
        private = [
            {name: _different(old, now[name]) for name, old in before.items()}
            for now, before in zip(map(self._own_tables, self.lanes), self._private, strict=True)
        ]
        if total.new is not None and moves is not None:
            for mine, move in zip(private, moves, strict=True):
                for name, rows in mine.items():
                    mine[name] = rows._replace(rows=moved(rows.rows, total.new, move, SETS))
        return Changes(
            pack_bundle(total),
            np.array([lane.rng for lane in self.lanes]),
            np.array([lane.buffer for lane in self.lanes]),
            private,
            self.nodes.copy(),
        )

    def take(self, number: int, done: int, total: PackedBundle) -> int:
        """What everybody changed in the last round; the round that begins."""
        if number != self.number:
            self.solver.absorb(self.base, unpack_bundle(total), self.spec.all_lanes)
            for lane in self.lanes:
                self.solver.begin_round(self.base, lane)
            self._note(number, done)
        return self.number

    def change_form(self, form: Any) -> None:
        game = self.spec.game
        self.solver.change_problem(unpack_problem(game, form) or Problem(game))


def _different(base: np.ndarray, mine: np.ndarray) -> ChangedRows:
    """What a lane has to itself, as whole numbers fit into it; what is new was 0."""
    rows = np.flatnonzero(np.pad(base, (0, len(mine) - len(base))) != mine)
    return ChangedRows(rows, mine[rows].astype(np.float64)[:, None])
