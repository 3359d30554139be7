"""A team whose workers share no memory: players in other processes or on other machines.

Iteration i belongs to lane i mod L. The tables of the last meeting, the random numbers of all lanes
and how far the round is are the whole state, and this process has it: a checkpoint is that state,
and a worker that is lost is replaced by one that begins the round anew from it. Every sum is added
in the order of the workers, by a tree of a fixed shape. So the bits depend on the seed and the
number of workers and threads, not on who was slow, died or was resumed.

Up to `ALONE` visits per information set this process plays alone (see `teams.py`). Then all meet
whenever `news` times as many iterations have been played as before the round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from counterplay.base.errors import OutOfRoom
from counterplay.kernels.rng import new_state
from counterplay.solvers.exchange import (
    SETS,
    Bundle,
    PackedBundle,
    add_packed,
    moved,
    unite,
    unpack_bundle,
)
from counterplay.solvers.player import Changes, Meeting, Player, Spec, pack_form
from counterplay.solvers.teams import (
    ALONE,
    LEAST,
    Algorithm,
    Short,
    Team,
    Turn,
    Worker,
    learnt_enough,
)

FAN = 4  # branches that meet in a node of the tree of sums
NEWS = 0.1  # see docs/explanation/beyond-one-machine.md


class Players(Protocol):
    """Where players are, and how they are asked. Whoever is lost is replaced on the way."""

    def start(self, specs: Sequence[Spec]) -> None:
        """Make them."""

    def begin(self, state: Meeting) -> None:
        """All of them go on from here."""

    def play(self, number: int, until: int) -> list[int]:
        """Each of them up to an iteration; the nodes each has touched in this round."""

    def changes(self, number: int) -> tuple[list[Changes], PackedBundle]:
        """Of each, its planes left out, and the sum of all that was sent."""

    def take(self, number: int, total: PackedBundle, state: Callable[[], Meeting]) -> None:
        """Send everybody what all changed. `state`: for one who is new."""

    def change_form(self, form: Any) -> None:
        """All of them go on with another form."""

    def stop(self) -> None:
        """They are needed no more."""


class FarTeam(Team):
    """`workers` players with `threads` lanes each."""

    def __init__(
        self, solver: Any, players: Players, workers: int, threads: int, news: float = NEWS
    ) -> None:
        first: Worker = solver.new_worker(0)
        super().__init__([first])
        self._solver, self.players, self._news = solver, players, news
        self.lanes = workers * threads
        self._rng = np.array([new_state(solver.seed, k) for k in range(self.lanes)])
        self._hand = np.array([first.buffer for _ in range(self.lanes)])
        self._private = self._each_has(first)
        self._alone = np.array([LEAST * self.lanes, 1, 0, 0])  # next meeting, whether alone,
        self._nodes = np.zeros(2, dtype=np.int64)  # begin of the round, its number; nodes at
        self._specs = [  # meetings and in this round
            Spec(
                solver.game, solver.name, solver.seed, solver.plain_options,
                pack_form(solver.game, solver.form), k * threads, threads, self.lanes,
            )
            for k in range(workers)
        ]  # fmt: skip
        self._ready = False  # whether players have the state
        self._looked: Worker | None = None

    # what files keep

    def tables(self, algorithm: Algorithm) -> dict[str, np.ndarray]:
        first = self.workers[0]
        found = algorithm.saved(first)
        found |= {"lanes.rng": self._rng, "meeting": self._alone, "nodes": self._nodes}
        if len(first.buffer):
            found |= {"hand.0": first.buffer, "lanes.hand": self._hand}
        return found | {f"lanes.{name}": array for name, array in self._private.items()}

    def expect(self, saved: Mapping[str, np.ndarray]) -> None:
        self._private = self._each_has(self.workers[0])

    def _each_has(self, first: Worker) -> dict[str, np.ndarray]:
        """What each lane has to itself, when it is as the first worker has it."""
        tables = self._solver.used_tables(first)
        return {
            name: np.array([getattr(tables, name)] * self.lanes) for name in self._solver.private
        }

    def changed(self) -> None:
        self._ready, self._looked = False, None

    # iterations

    def run(self, algorithm: Algorithm, done: int, n: int) -> Turn:
        begun, end, touched = done, done + n, 0
        self._looked = None
        self.players.start(self._specs)  # outside the clock: `solve` begins with no iterations
        while done < end:
            until = min(end, int(self._alone[0]))
            try:
                if self._alone[1]:
                    nodes = algorithm.play(self.workers[0], done, until - done, 1, 1.0)
                    self._nodes[0] += nodes
                else:
                    nodes = self._play(until)
                touched, done = touched + nodes, until
                if done == self._alone[0]:
                    self._meet(done)
            except Short as short:
                self._nodes[0] += short.nodes
                return Turn(done + short.played - begun, touched + short.nodes, True)
            except OutOfRoom:  # the round is begun anew when it is gone on with
                self._ready = False
                return Turn(done - begun, touched, True)
        return Turn(n, touched)

    def _play(self, until: int) -> int:
        self._send_state()
        nodes = sum(self.players.play(int(self._alone[3]), until))
        new, self._nodes[1] = nodes - int(self._nodes[1]), nodes
        return new

    def _meet(self, done: int) -> None:
        if self._alone[1]:
            self._after_playing_alone(done)
        else:
            self._put_together(done)

    def _after_playing_alone(self, done: int) -> None:
        visits = self._nodes[0] / self._solver.infosets()
        more = max(ALONE / max(visits, 1e-9) - 1.0, self._news)
        if learnt_enough(self._solver, int(self._nodes[0])):
            self._alone[1], self._alone[2] = 0, done
            first = self.workers[0]
            self._rng[0], self._hand[:] = first.rng, first.buffer
            self._private = self._each_has(first)
            more = self._news
        self._alone[0] = done + max(LEAST * self.lanes, int(min(more, 1.0) * done))

    def _put_together(self, done: int) -> None:
        """A meeting: what all found, into the tables here and everywhere."""
        self._send_state()
        number = int(self._alone[3])
        each, total = self.players.changes(number)
        found = unpack_bundle(total)
        self._solver.absorb(self.workers[0], found, self.lanes)
        for name, array in self._private.items():
            more = 0 if found.new is None else len(found.new.keys)
            self._private[name] = np.pad(array, ((0, 0), (0, more)))
        for spec, changes in zip(self._specs, each, strict=True):
            own = slice(spec.first, spec.first + spec.lanes)
            self._rng[own], self._hand[own] = changes.rng, changes.hand
            self._keep(spec.first, changes, found)
        self._nodes[0] += self._nodes[1]
        self._nodes[1] = 0
        self._alone[2:] = done, number + 1
        self._alone[0] = done + max(LEAST * self.lanes, int(self._news * done))
        self.players.take(number + 1, total, self._state)

    def _keep(self, first: int, changes: Changes, found: Bundle) -> None:
        """What lanes from `first` on have to themselves."""
        new = unpack_bundle(changes.sent).new
        move = None
        if found.new is not None and new is not None and self._private:
            move = unite([found.new, new])[1][1]
        for k, private in enumerate(changes.private, first):
            for name, changed in private.items():
                rows = changed.rows
                if move is not None and new is not None:
                    rows = moved(rows, new, move, SETS)
                self._private[name][k][rows] = changed.values[:, 0]

    def _send_state(self) -> None:
        if not self._ready:
            self.players.begin(self._state())
            self._ready = True

    def _state(self) -> Meeting:
        tables = self._solver.saved(self.workers[0])
        number, done = int(self._alone[3]), int(self._alone[2])
        return Meeting(number, done, tables, self._rng, self._hand, self._private)

    # what others ask for

    @property
    def playing(self) -> list[Worker]:
        """One worker with what all know by now; the round goes on."""
        if self._alone[1] or self._solver.iterations == self._alone[2]:
            return self.workers
        if self._looked is None:
            try:
                self._looked = self._look()
            except OutOfRoom:  # what all knew at the last meeting
                self._ready = False
                return self.workers
        return [self._looked]

    def _look(self) -> Worker:
        self._play(self._solver.iterations)  # a resumed round begins anew
        _, total = self.players.changes(int(self._alone[3]))
        looked: Worker = self._solver.copied(self.workers[0])
        self._solver.absorb(looked, unpack_bundle(total), self.lanes)
        return looked

    def settle(self) -> None:
        """Meet now."""
        done = self._solver.iterations
        if not self._alone[1] and done > self._alone[2]:
            try:
                self._play(done)
                self._put_together(done)
            except OutOfRoom:
                self._ready = False
                raise self._solver.no_room() from None

    def change_form(self, form: Any) -> None:
        self.settle()
        packed = pack_form(self._solver.game, form)
        self._specs = [spec._replace(form=packed) for spec in self._specs]
        if self._ready:
            self.players.change_form(packed)

    def stop(self) -> None:
        self.players.stop()
        self._ready = False


class NearPlayers:
    """All players in this process, one after the other: what a cluster would compute."""

    def __init__(self) -> None:
        self.players: list[Player] = []
        self.sent = 0  # bytes of changes

    def start(self, specs: Sequence[Spec]) -> None:
        if not self.players:
            self.players = [Player(spec) for spec in specs]

    def begin(self, state: Meeting) -> None:
        for player in self.players:
            player.begin(state)

    def play(self, number: int, until: int) -> list[int]:
        return [player.play(number, until) for player in self.players]

    def changes(self, number: int) -> tuple[list[Changes], PackedBundle]:
        each = [player.changes(number) for player in self.players]
        self.sent += sum(one.sent.n_bytes for one in each)
        return each, sum_tree([one.sent for one in each], add_packed)

    def take(self, number: int, total: PackedBundle, state: Callable[[], Meeting]) -> None:
        for player in self.players:
            player.take(number, state().done, total)

    def change_form(self, form: Any) -> None:
        for player in self.players:
            player.change_form(form)

    def stop(self) -> None:
        self.players = []


def sum_tree(parts: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """`add` up parts in groups of `FAN` neighbours, and the sums in the same way."""
    while len(parts) > 1:
        groups = [parts[k : k + FAN] for k in range(0, len(parts), FAN)]
        parts = [add(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]
