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

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from counterplay.kernels.rng import new_state
from counterplay.solvers.exchange import Packed, add_packed, unpack_planes
from counterplay.solvers.player import Changes, Meeting, Player, Spec, pack_form
from counterplay.solvers.teams import ALONE, LEAST, Algorithm, Team, Worker

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

    def changes(self, number: int) -> tuple[list[Changes], dict[str, Packed]]:
        """Of each, its planes left out, and their sum."""

    def take(self, number: int, total: dict[str, Packed], state: Callable[[], Meeting]) -> None:
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
        self._private = {
            name: np.array([getattr(first.tables, name)] * self.lanes) for name in solver.private
        }
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

    def tables(self) -> dict[str, np.ndarray]:
        first = self.workers[0]
        found: dict[str, np.ndarray] = dict(first.tables._asdict())
        found |= {"lanes.rng": self._rng, "meeting": self._alone, "nodes": self._nodes}
        if len(first.buffer):
            found |= {"hand.0": first.buffer, "lanes.hand": self._hand}
        return found | {f"lanes.{name}": array for name, array in self._private.items()}

    def changed(self) -> None:
        self._ready, self._looked = False, None

    # iterations

    def run(self, algorithm: Algorithm, done: int, n: int) -> int:
        end, touched = done + n, 0
        self._looked = None
        self.players.start(self._specs)  # outside the clock: `solve` begins with no iterations
        while done < end:
            until = min(end, int(self._alone[0]))
            if self._alone[1]:
                nodes = algorithm.play(self.workers[0], done, until - done, 1, 1.0)
                self._nodes[0] += nodes
            else:
                nodes = self._play(until)
            touched, done = touched + nodes, until
            if done == self._alone[0]:
                self._meet(done)
        return touched

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
        visits = self._nodes[0] / self._solver.game.n_infosets
        more = max(ALONE / max(visits, 1e-9) - 1.0, self._news)
        if visits >= ALONE:
            self._alone[1], self._alone[2] = 0, done
            first = self.workers[0]
            self._rng[0], self._hand[:] = first.rng, first.buffer
            for name, array in self._private.items():
                array[:] = getattr(first.tables, name)
            more = self._news
        self._alone[0] = done + max(LEAST * self.lanes, int(min(more, 1.0) * done))

    def _put_together(self, done: int) -> None:
        """A meeting: what all found, into the tables here and everywhere."""
        self._send_state()
        number = int(self._alone[3])
        each, total = self.players.changes(number)
        for name, rows in unpack_planes(total).items():
            self._solver.absorb(self.workers[0].tables, name, rows, self.lanes)
        for spec, changes in zip(self._specs, each, strict=True):
            own = slice(spec.first, spec.first + spec.lanes)
            self._rng[own], self._hand[own] = changes.rng, changes.hand
            for k, private in enumerate(changes.private, spec.first):
                for name, rows in private.items():
                    self._private[name][k][rows.rows] = rows.values[:, 0]
        self._nodes[0] += self._nodes[1]
        self._nodes[1] = 0
        self._alone[2:] = done, number + 1
        self._alone[0] = done + max(LEAST * self.lanes, int(self._news * done))
        self.players.take(number + 1, total, self._state)

    def _send_state(self) -> None:
        if not self._ready:
            self.players.begin(self._state())
            self._ready = True

    def _state(self) -> Meeting:
        tables = dict(self.workers[0].tables._asdict())
        number, done = int(self._alone[3]), int(self._alone[2])
        return Meeting(number, done, tables, self._rng, self._hand, self._private)

    # what others ask for

    @property
    def playing(self) -> list[Worker]:
        """One worker with what all know by now; the round goes on."""
        if self._alone[1] or self._solver.iterations == self._alone[2]:
            return self.workers
        if self._looked is None:
            tables = self.workers[0].tables
            copied = type(tables)(*(array.copy() for array in tables))
            self._play(self._solver.iterations)  # a resumed round begins anew
            _, total = self.players.changes(int(self._alone[3]))
            for name, rows in unpack_planes(total).items():
                self._solver.absorb(copied, name, rows, self.lanes)
            self._looked = self.workers[0]._replace(tables=copied)
        return [self._looked]

    def settle(self) -> None:
        """Meet now."""
        done = self._solver.iterations
        if not self._alone[1] and done > self._alone[2]:
            self._play(done)
            self._put_together(done)

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

    def changes(self, number: int) -> tuple[list[Changes], dict[str, Packed]]:
        each = [player.changes(number) for player in self.players]
        self.sent += sum(part.n_bytes for one in each for part in one.planes.values())
        return each, sum_tree([one.planes for one in each], add_packed)

    def take(self, number: int, total: dict[str, Packed], state: Callable[[], Meeting]) -> None:
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
