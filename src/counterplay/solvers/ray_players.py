"""Players (`player.py`) as actors of a Ray cluster.

An actor that does not answer any more is replaced, begins the round anew from the state that this
process has, and is asked again. Nothing that was asked before has to be repeated by the others:
they give the same answer when asked twice.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

from counterplay.base.errors import CounterplayError
from counterplay.parallel.ray_cluster import Cluster, identity
from counterplay.solvers.exchange import PackedBundle, add_packed
from counterplay.solvers.far_team import sum_tree
from counterplay.solvers.player import Changes, Meeting, Player, Spec

TRIES = 30  # rounds of replacing before it is given up
HELLO_SECONDS = 120.0  # for a process to start and load everything


class PlayerActor(Player):
    """In a process of the cluster."""

    def hello(self) -> tuple[str, str]:
        """Which version, and where."""
        return identity(), socket.gethostname()

    def pid(self) -> int:
        return os.getpid()

    def node(self) -> str:
        """Ray's name of the machine."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def at_round(self) -> int:
        return self.number

    def both_changes(self, number: int) -> tuple[Changes, PackedBundle]:
        """The planes apart, which go through the tree and not to the driver."""
        found = self.changes(number)
        return found._replace(sent=found.sent._replace(planes={})), found.sent


def _add(*parts: PackedBundle) -> PackedBundle:
    return add_packed(parts)


class RayPlayers:
    """All players of a run."""

    placing: Any = "SPREAD"  # over the machines, in Ray's words

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._ray = cluster, cluster.ray
        self._actor = self._ray.remote(PlayerActor)
        self._add = self._ray.remote(num_cpus=0)(_add)  # it must not wait for players to end
        self.actors: list[Any] = []
        self._specs: Sequence[Spec] = ()
        self._state: Callable[[], Meeting] | None = None
        self.replaced = 0

    def start(self, specs: Sequence[Spec]) -> None:
        if not self.actors:
            self._specs = specs
            enough = sum(spec.lanes for spec in specs) <= self._cluster.processors
            self.actors = [self._hire(spec, spec.lanes if enough else 0) for spec in specs]
            for theirs, where in self._ask(lambda actor: actor.hello.remote()):
                self._cluster.check_same(theirs, where)

    def _hire(self, spec: Spec, cpus: int) -> Any:
        """A new actor. With no processors of its own it shares those there are, as one must that
        stands in for another whose machine is gone."""
        options = {"num_cpus": cpus, "max_restarts": 0, "scheduling_strategy": self.placing}
        return self._actor.options(**options).remote(spec)

    def begin(self, state: Meeting) -> None:
        self._state = lambda: state
        packed = self._cluster.put(state)
        self._ask(lambda actor: actor.begin.remote(packed))

    def play(self, number: int, until: int) -> list[int]:
        self._until = until
        return self._ask(lambda actor: actor.play.remote(number, until))

    def changes(self, number: int) -> tuple[list[Changes], PackedBundle]:
        for _ in range(TRIES):
            asked = [
                actor.both_changes.options(num_returns=2).remote(number) for actor in self.actors
            ]
            root = sum_tree([sent for _, sent in asked], lambda parts: self._add.remote(*parts))
            try:
                return self._get([rest for rest, _ in asked]), self._get([root])[0]
            except self._lost():
                self._repair()
                self.play(number, self._until)
        raise self._hopeless()

    def take(self, number: int, total: PackedBundle, state: Callable[[], Meeting]) -> None:
        self._state = state
        packed, done = self._cluster.put(total), state().done
        self._ask(lambda actor: actor.take.remote(number, done, packed))

    def change_form(self, form: Any) -> None:
        self._specs = [spec._replace(form=form) for spec in self._specs]
        packed = self._cluster.put(form)
        self._ask(lambda actor: actor.change_form.remote(packed))

    def stop(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors = []

    def _ask(self, question: Callable[[Any], Any]) -> list[Any]:
        """The answer of everybody, replacing those who are lost."""
        for _ in range(TRIES):
            try:
                return self._get([question(actor) for actor in self.actors])
            except self._lost():
                self._repair()
        raise self._hopeless()

    def _get(self, references: list[Any]) -> list[Any]:
        errors = self._ray.exceptions
        try:
            found: list[Any] = self._ray.get(references)
            return found
        except errors.ObjectStoreFullError:
            raise self._cluster.full() from None
        except errors.RayTaskError as error:
            if isinstance(error, self._lost()):
                raise
            if isinstance(error.cause, CounterplayError):
                raise error.cause from None
            raise CounterplayError(
                f"a worker of the cluster failed: {type(error.cause).__name__}: {error.cause}"
            ) from error

    def _lost(self) -> tuple[type[BaseException], ...]:
        """What says that a process or a machine is gone."""
        errors = self._ray.exceptions
        return (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.LocalRayletDiedError,
        )

    def _repair(self) -> None:
        """Replace whoever does not answer; the new ones begin the round anew."""
        for k, actor in enumerate(self.actors):
            try:
                self._ray.get(actor.at_round.remote(), timeout=HELLO_SECONDS)
            except (*self._lost(), self._ray.exceptions.GetTimeoutError):
                self.replaced += 1
                self.actors[k] = self._hire(self._specs[k], 0)
                if self._state is not None:
                    self.actors[k].begin.remote(self._cluster.put(self._state()))

    def _hopeless(self) -> CounterplayError:
        return CounterplayError(
            f"workers of the cluster were lost {TRIES} times in a row; look at it with `ray status`"
        )
