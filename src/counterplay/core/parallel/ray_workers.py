"""Remote workers (`remote_worker.py`) as actors of a Ray cluster.

An actor that does not answer is replaced by one that plays the round again from the state of this
process. The others repeat nothing, since repeated calls give the same answer.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

from counterplay.core.base.errors import CounterplayError
from counterplay.core.parallel.changes import PackedChanges, add_packed
from counterplay.core.parallel.ray_cluster import Cluster, identity
from counterplay.core.parallel.remote_worker import (
    RemoteWorker,
    RoundResult,
    SyncState,
    WorkerSpec,
    sum_tree,
)

TRIES = 30  # times that lost workers are replaced in a row
HELLO_SECONDS = 120.0  # for a process to start and load everything


class RayWorker(RemoteWorker):
    """A remote worker in a process of the cluster."""

    def hello(self) -> tuple[str, str]:
        """Returns its version and its machine."""
        return identity(), socket.gethostname()

    def pid(self) -> int:
        return os.getpid()

    def node(self) -> str:
        """Returns Ray's id of the machine."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def at_round(self) -> int:
        return self.number

    def split_changes(self, number: int) -> tuple[RoundResult, PackedChanges]:
        """Returns the result without planes, for the driver, and all changes, for the sum."""
        result = self.changes(number)
        changes = result.changes
        return result._replace(changes=changes._replace(planes={})), changes


def _add(*parts: PackedChanges) -> PackedChanges:
    return add_packed(parts)


class RayWorkers:
    """All remote workers of a run."""

    placing: Any = "SPREAD"  # Ray's scheduling strategy: over the machines

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._ray = cluster, cluster.ray
        self._actor = self._ray.remote(RayWorker)
        self._add = self._ray.remote(num_cpus=0)(_add)  # not delayed by busy workers
        self.actors: list[Any] = []
        self._specs: Sequence[WorkerSpec] = ()
        self._state: Callable[[], SyncState] | None = None
        self.replaced = 0

    def start(self, specs: Sequence[WorkerSpec]) -> None:
        if not self.actors:
            self._specs = specs
            enough = sum(spec.threads for spec in specs) <= self._cluster.processors
            self.actors = [self._new_actor(spec, spec.threads if enough else 0) for spec in specs]
            for theirs, where in self._call(lambda actor: actor.hello.remote()):
                self._cluster.check_same(theirs, where)

    def _new_actor(self, spec: WorkerSpec, cpus: int) -> Any:
        """A new actor; with `cpus` 0 it shares processors, as a replacement has to."""
        options = {"num_cpus": cpus, "max_restarts": 0, "scheduling_strategy": self.placing}
        return self._actor.options(**options).remote(spec)

    def broadcast(self, state: SyncState) -> None:
        self._state = lambda: state
        packed = self._cluster.put(state)
        self._call(lambda actor: actor.begin.remote(packed))

    def play(self, number: int, until: int) -> list[int]:
        self._until = until
        return self._call(lambda actor: actor.play.remote(number, until))

    def changes(self, number: int) -> tuple[list[RoundResult], PackedChanges]:
        for _ in range(TRIES):
            answers = [
                actor.split_changes.options(num_returns=2).remote(number) for actor in self.actors
            ]
            root = sum_tree(
                [changes for _, changes in answers], lambda parts: self._add.remote(*parts)
            )
            try:
                return self._get([result for result, _ in answers]), self._get([root])[0]
            except self._lost():
                self._repair()
                self.play(number, self._until)
        raise self._too_many_losses()

    def load_merged(
        self, number: int, total: PackedChanges, state: Callable[[], SyncState]
    ) -> None:
        self._state = state
        packed, done = self._cluster.put(total), state().done
        self._call(lambda actor: actor.load_merged.remote(number, done, packed))

    def change_form(self, form: Any) -> None:
        self._specs = [spec._replace(form=form) for spec in self._specs]
        packed = self._cluster.put(form)
        self._call(lambda actor: actor.change_form.remote(packed))

    def stop(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors = []

    def _call(self, method: Callable[[Any], Any]) -> list[Any]:
        """Calls all actors and returns their answers; lost ones are replaced and called again."""
        for _ in range(TRIES):
            try:
                return self._get([method(actor) for actor in self.actors])
            except self._lost():
                self._repair()
        raise self._too_many_losses()

    def _get(self, references: list[Any]) -> list[Any]:
        errors = self._ray.exceptions
        try:
            answers: list[Any] = self._ray.get(references)
            return answers
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
        """The errors for a lost process or machine."""
        errors = self._ray.exceptions
        return (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.LocalRayletDiedError,
        )

    def _repair(self) -> None:
        """Replaces actors that do not answer; the new ones play the round again."""
        for k, actor in enumerate(self.actors):
            try:
                self._ray.get(actor.at_round.remote(), timeout=HELLO_SECONDS)
            except (*self._lost(), self._ray.exceptions.GetTimeoutError):
                self.replaced += 1
                self.actors[k] = self._new_actor(self._specs[k], 0)
                if self._state is not None:
                    self.actors[k].begin.remote(self._cluster.put(self._state()))

    def _too_many_losses(self) -> CounterplayError:
        return CounterplayError(
            f"workers of the cluster were lost {TRIES} times in a row; look at it with `ray status`"
        )
