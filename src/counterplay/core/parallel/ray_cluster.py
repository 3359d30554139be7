"""Ray clusters: connecting to or starting one, and running jobs on it.

Inside `on_ray()` the cluster does all work that consists of independent jobs: matches, frontiers,
exploitability by flops, tables of hold'em, `reproduce all`. A job whose process or machine is lost
is repeated elsewhere. Results come in the order of the jobs and do not depend on timing.
"""

from __future__ import annotations

import platform
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.version import code_hash, version
from counterplay.core.parallel.jobs import in_order
from counterplay.core.parallel.processes import (
    DONE,
    FAILED,
    JobContext,
    Report,
    Setup,
    Work,
    cores,
)

T = TypeVar("T")
RETRIES = 4  # of a lost job
WAITING = 3  # jobs per processor that are submitted ahead
ANSWER_SECONDS = 5.0  # timeout of a connection


def identity() -> str:
    """What must be equal on all machines for the same bits."""
    return f"Counterplay {version()} ({code_hash()}) on Python {platform.python_version()}"


class Cluster:
    """A connection to a cluster. `ray`: the library."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    @property
    def processors(self) -> int:
        """The processors of all machines."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def check_room(self, n_bytes: int, what: str) -> None:
        """`BadParameter` if the object store of a machine is too small."""
        stores = [
            int(node["Resources"].get("object_store_memory", 0))
            for node in self.ray.nodes()
            if node["Alive"]
        ]
        least = min(stores, default=0)
        if n_bytes > least:
            needed = -(-n_bytes // 1_000_000)
            raise BadParameter(
                f"{what} take {needed:,} MB and Ray's object store of one machine holds "
                f"{least // 1_000_000:,} MB; start Ray there with "
                f"--object-store-memory={2 * needed}000000"
            )

    @staticmethod
    def check_same(theirs: str, where: str, ours: str = "") -> None:
        """`BadParameter` if a worker has another version."""
        ours = ours or identity()
        if theirs != ours:
            raise BadParameter(
                f"the worker on {where} has {theirs} and this is {ours}; install the same on all "
                f"machines"
            )

    def put(self, value: Any) -> Any:
        """Copies a value to the object store, for all machines."""
        try:
            return self.ray.put(value)
        except self.ray.exceptions.ObjectStoreFullError:
            raise self.full() from None

    def full(self) -> BadParameter:
        return BadParameter(
            "Ray's object store is full; start Ray with more --object-store-memory, or use fewer "
            "workers"
        )

    def spread(
        self,
        work: Callable[..., T],
        pieces: Iterable[Any],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
    ) -> Iterator[T]:
        """Yields `work(shared, piece)` for each piece, in order. `shared` is sent to every machine
        once; `prepare(shared)` replaces it in each process."""
        return in_order(RayPool(self, partial(_prepared, work, shared, prepare)), pieces)

    def get(self, reference: Any) -> Any:
        """Returns the result of a job, or raises its error in one sentence."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, CounterplayError):
                raise cause from None
            if isinstance(cause, errors.ObjectStoreFullError):
                raise self.full() from None
            raise CounterplayError(
                f"a piece of work failed on the cluster: {type(cause).__name__}: {cause}"
            ) from error
        except errors.OutOfMemoryError:
            raise CounterplayError(
                "a worker of the cluster ran out of memory; use fewer at once on each machine"
            ) from None
        except errors.RayError as error:
            lost = type(error).__name__
            raise CounterplayError(
                f"a piece of work was lost {RETRIES + 1} times ({lost}); look at the cluster with "
                f"`ray status`"
            ) from None


class RayPool:
    """A `JobPool` of the processes of a cluster. `force`: closing kills running jobs."""

    def __init__(self, cluster: Cluster, setup: Setup, force: bool = False) -> None:
        self._cluster, self._force, self._processors = cluster, force, cluster.processors
        self._common = cluster.put(Common(identity(), uuid.uuid4().hex, setup))
        self._task = cluster.ray.remote(_do)
        self._running: dict[Any, Any] = {}  # keys by Ray's references

    @property
    def busy(self) -> int:
        return len(self._running)

    def room(self, threads: int = 0) -> bool:
        return self.busy < WAITING * self._processors

    def submit(self, key: Any, job: Any, threads: int = 0) -> None:
        task = self._task.options(
            num_cpus=min(max(threads, 1), self._processors),
            max_retries=RETRIES,
            scheduling_strategy="SPREAD",
        )
        self._running[task.remote(self._common, job)] = key

    def wait(self, timeout: float | None) -> list[Report]:
        waited = self._cluster.ray.wait(list(self._running), num_returns=1, timeout=timeout)
        return [self._report(reference) for reference in waited[0]]

    def _report(self, reference: Any) -> Report:
        key = self._running.pop(reference)
        try:
            return Report(key, DONE, self._cluster.get(reference))
        except CounterplayError as error:
            return Report(key, FAILED, error)

    def stop(self) -> None:
        for reference in self._running:
            self._cluster.ray.cancel(reference, force=self._force)
        self._running = {}

    close = stop


class Common(NamedTuple):
    """What all jobs of a pool share."""

    identity: str
    token: str  # identifies the pool
    setup: Setup


_WORK: dict[str, Work] = {}  # by token, in a process of the cluster


def _do(common: Common, job: Any) -> Any:
    """Runs a job in a process of the cluster."""
    Cluster.check_same(identity(), socket.gethostname(), common.identity)
    if common.token not in _WORK:
        _WORK.clear()
        _WORK[common.token] = common.setup()
    return _WORK[common.token](job, JobContext())


def _prepared(work: Callable[..., Any], shared: Any, prepare: Callable[[Any], Any] | None) -> Work:
    prepared = shared if prepare is None else prepare(shared)
    return lambda piece, context: work(prepared, piece)


_CURRENT: list[Cluster] = []


def current() -> Cluster | None:
    """Returns the cluster of the present `on_ray()`, if any."""
    return _CURRENT[-1] if _CURRENT else None


@contextmanager
def on_ray(address: str | None = None) -> Iterator[Cluster]:
    """Within this context a cluster does all work that consists of independent jobs. `address`:
    host:port of its head; None: the cluster that this process is connected to, one that runs on
    this machine, or a new one of its processors."""
    enter(address)
    try:
        yield _CURRENT[-1]
    finally:
        leave()


def enter(address: str | None) -> None:
    """Begins the context of `on_ray`, until `leave`."""
    _CURRENT.append(connect(address))


def leave() -> None:
    if _CURRENT:
        _CURRENT.pop()


def connect(address: str | None = None) -> Cluster:
    """Returns a connection; `BadParameter` if there is no cluster."""
    try:
        import ray
    except ImportError:
        raise BadParameter("pool=ray needs Ray: pip install '.[ray]' in a clone") from None
    if not ray.is_initialized():
        if address is not None:
            _check_address(address)
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            try:
                ray.init(address="auto", **settings)
            except ConnectionError:  # no cluster on this machine
                ray.init(num_cpus=cores(), include_dashboard=False, **settings)
        else:
            try:
                ray.init(address=address, **settings)
            except Exception as error:
                raise BadParameter(
                    f"no Ray cluster can be used at {address}: {str(error).splitlines()[0]}"
                ) from None
    return Cluster(ray)


def _check_address(address: Any) -> None:
    """`BadParameter` if no server answers; Ray itself would try for minutes."""
    host, _, port = str(address).removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise BadParameter(f"the address of a Ray cluster is host:port, not {address!r}")
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS):
            pass
    except OSError:
        raise BadParameter(
            f"no server answers at {address}; start a cluster there with `ray start --head`, or "
            f"leave out the address"
        ) from None
