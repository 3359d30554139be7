"""Full-width computation by several threads or on a device, and the options that choose between
them.

Each thread computes the payoffs of the sequences of its part (`partition.py`) and passes over its
part of the treeplex, children first or parents first, with a barrier between two stages. The thread
of a sequence adds the values of the information sets after it, last one first, as a single thread
does, so the bits do not depend on the number of threads. Small games use one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numba.core import config as _config

from counterplay.core.base.errors import BadParameter, one_of
from counterplay.core.forms.sequence import SequenceForm, Side, Treeplex, choose_best
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.parallel import device_form
from counterplay.core.parallel.barrier import MOST_THREADS, barrier, new_counter
from counterplay.core.parallel.partition import (
    INFOSET,
    SLOT,
    Partition,
    Renumbering,
    partition_form,
    single_partition,
)
from counterplay.core.parallel.processes import cores

#: The least work of a thread in an iteration, in entries (`benchmarks/full_width.csv`).
LEAST_WORK = 75_000
#: The same for a single best reply, since waking a thread may take milliseconds.
LEAST_REPLY = 2_000_000

BACKENDS = ("cpu", "cuda", "auto")
#: Entries of a side from which a device is faster than a CPU (`benchmarks/full_width_gpu.csv`).
LEAST_ENTRIES = 10_000
LEAST_FOR_REPLIES = 300_000  # the same for a single best reply, which has to be copied

config: Any = _config  # its settings are not declared
H = TypeVar("H", bound=tuple[Any, ...])


class ThreadGroup(NamedTuple):
    """The threads that run one kernel: the part of each, and their barrier."""

    one: Partition
    two: Partition
    threads: int
    counter: np.ndarray  # int64[1]: of the barrier


@jit(inline=True)
def collect(part: Partition, value: np.ndarray, q: int, total: float) -> float:
    """Returns `total` plus the values of the information sets after sequence q."""
    for j in range(index(part.below[q]), index(part.below[q + ONE])):
        total += value[index(part.after[j])]
    return total


@jit(inline=True)
def collect_slots(
    part: Partition, value: np.ndarray, payoff: np.ndarray, out: np.ndarray, low: int, high: int
) -> None:
    """Fills `out` at the sequences of the slots from `low` to `high`: the payoff of each, plus the
    values of the information sets after it."""
    for slot in range(low, high):
        out[slot + ONE] = collect(part, value, slot + ONE, payoff[slot + ONE])


@jit(inline=True)
def infoset_range(part: Partition, row: int, k: int) -> tuple[int, int]:
    """Returns the range of thread k's information sets in a row."""
    return index(part.low[row, k]), index(part.high[row, k])


@jit(inline=True)
def sequences_of(plex: Treeplex | Side, part: Partition, row: int, k: int) -> tuple[int, int]:
    """Thread k's sequences in a row; the empty one is in the first row of the first thread."""
    low = index(plex.first[index(part.low[row, k])]) + ONE
    high = index(plex.first[index(part.high[row, k])]) + ONE
    return ZERO if row == 0 and k == 0 else low, high


@jit  # not inner: an iteration would take longer by 3%
def partial_gradient(
    side: Side, plan: np.ndarray, out: np.ndarray, part: Partition, k: int
) -> None:
    """`payoff_gradient` for the sequences of thread k."""
    for row in range(len(part.low)):
        low, high = sequences_of(side, part, row, k)
        for q in range(low, high):
            total = 0.0
            for entry in range(index(side.row[q]), index(side.row[q + ONE])):
                total += side.value[entry] * plan[index(side.column[entry])]
            out[q] = total


@jit
def partial_reply(
    form: SequenceForm,
    player: int,
    policy: np.ndarray,
    plan: np.ndarray,
    payoff: np.ndarray,
    value: np.ndarray,
    out: np.ndarray,
    group: ThreadGroup,
    k: int,
) -> float:
    """Thread k's part of the best reply of `player` to the other's `policy`; returns its value.
    Fills `plan` (the other's), `payoff`, `value` (of information sets) and `out`, the reply."""
    side, other = (form.one, form.two) if player == 0 else (form.two, form.one)
    part, others = (group.one, group.two) if player == 0 else (group.two, group.one)
    partial_plan(other, policy, plan, others, k, group)
    partial_gradient(side, plan, payoff, part, k)
    for row in range(len(part.low) - 1, -1, -1):  # children first
        begin, i = infoset_range(part, row, k)
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            collect_slots(part, value, payoff, payoff, low, high)
            value[i] = choose_best(side, payoff, out, low, high)
        if part.begins[row]:
            barrier(group.counter, group.threads)
    return float(collect(part, value, ZERO, payoff[ZERO]))


@jit  # as `partial_gradient`
def partial_plan(
    plex: Treeplex | Side,
    policy: np.ndarray,
    plan: np.ndarray,
    part: Partition,
    k: int,
    group: ThreadGroup,
) -> None:
    """Thread k's part of `plan_from_policy`; at the end the plan is complete."""
    if k == 0:
        plan[ZERO] = 1.0
    for row in range(len(part.low)):
        for i in range(index(part.low[row, k]), index(part.high[row, k])):
            above = index(plex.parent[i])
            reach = 1.0 if above == ZERO else plan[above]
            for slot in range(index(plex.first[i]), index(plex.first[i + ONE])):
                plan[slot + ONE] = reach * policy[slot]
        if part.ends[row]:
            barrier(group.counter, group.threads)


def thread_count(threads: Any) -> int:
    """Returns the number of threads; "auto" is the number of processors."""
    if threads == "auto":
        return min(cores(), MOST_THREADS)
    if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
        raise BadParameter(
            f"threads must be a whole number from 1 to {MOST_THREADS} or auto, not {threads!r}"
        )
    return threads


def useful_threads(form: Any, threads: int, least: int | None = None) -> int:
    """Returns the number of threads that a form can use: at most the number of processors, and one
    for a small game. `least`: the work that each must have."""
    if threads == 1 or config.DISABLE_JIT or not isinstance(form.one, Side):
        return 1
    work = min(side_work(side) for side in (form.one, form.two))
    return max(1, min(threads, cores(), work // (least or LEAST_WORK)))


def side_work(side: Side) -> int:
    """Returns the work of a player's part of an iteration, in entries."""
    return len(side.value) + SLOT * int(side.first[-1]) + INFOSET * len(side.parent)


class KernelThreads:
    """Threads that run kernels on one form, each as `kernel(..., group, k)`. For several threads
    `form` is renumbered, and `orders` has each player's renumbering."""

    def __init__(self, form: Any, threads: int = 1, least: int | None = None) -> None:
        self.threads = useful_threads(form, threads, least)
        self.orders: tuple[Renumbering, ...] = ()
        if self.threads == 1:
            self.form, parts = form, (single_partition(form.one), single_partition(form.two))
        else:
            self.form, parts, self.orders = partition_form(form, self.threads)
        self.group = ThreadGroup(*parts, self.threads, new_counter())
        self._executor = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the result of the first thread, which is the calling one."""
        if self._executor is None:
            return kernel(*arguments, self.group, 0)
        others = [
            self._executor.submit(partial(kernel, *arguments, self.group, k))
            for k in range(1, self.threads)
        ]
        result = kernel(*arguments, self.group, 0)
        for other in others:
            other.result()
        return result

    def best_value(self, player: int, policy: np.ndarray, out: np.ndarray) -> float:
        """Returns the value of `player`'s best reply to the other's `policy`; fills `out`."""
        sides = (self.form.one, self.form.two)
        side, other = sides[player], sides[1 - player]
        plan, payoff = (np.empty(int(which.first[-1]) + 1) for which in (other, side))
        value, reply = np.empty(len(side.parent)), out
        if self.orders:
            policy, reply = self.orders[1 - player].apply(policy), np.empty_like(out)
        arrays = policy, plan, payoff, value, reply
        best = float(self.run(partial_reply, self.form, player, *arrays))
        if self.orders:
            self.orders[player].restore(reply, out)
        return best


class RenumberedTables(Generic[H]):
    """Both players' arrays (named tuples), in the game's numbering and in that of the threads."""

    def __init__(self, threads: KernelThreads, tables: tuple[H, H], state: Sequence[str]) -> None:
        """`state`: the names of the arrays that are not workspace."""
        self._orders, self._game, self._state = threads.orders, tables, state
        #: In the numbering of the threads.
        self.own = tables
        self._fetched = True
        if threads.orders:
            self.own = tuple(  # type: ignore[assignment]
                type(table)(*map(order.apply, table))
                for table, order in zip(tables, threads.orders, strict=True)
            )

    def changing(self) -> None:
        """Call before the threads write to their arrays."""
        self._fetched = False

    def get(self) -> tuple[H, H]:
        """Returns the arrays in the game's numbering. Call `changed` after writing to them."""
        if not self._fetched:
            for mine, game, order in self._pairs():
                order.restore(mine, game)
            self._fetched = True
        return self._game

    def changed(self) -> None:
        """Copies the arrays in the game's numbering to those of the threads."""
        for mine, game, order in self._pairs():
            mine[:] = order.apply(game)
        self._fetched = True

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray, Renumbering]]:
        """Yields each array in the threads' and in the game's numbering, and the renumbering."""
        for k, order in enumerate(self._orders):
            for name in self._state:
                yield getattr(self.own[k], name), getattr(self._game[k], name), order


def reply_threads(
    form: Any, threads: int, existing: KernelThreads | None = None
) -> KernelThreads | None:
    """Returns threads that compute best replies; None for one thread, which needs no preparation.
    `existing`: threads of the form that can be used."""
    if useful_threads(form, threads, LEAST_REPLY) == 1:
        return None
    if existing is not None and existing.threads > 1:
        return existing
    return KernelThreads(form, threads, LEAST_REPLY)


class Replies(Protocol):
    """Computes best replies in a form."""

    def best_value(self, player: int, policy: np.ndarray, out: np.ndarray) -> float:
        """Returns the value of `player`'s best reply to the other's `policy`; fills `out`."""


@dataclass(frozen=True)
class ComputeOptions:
    """The options of full-width computation. `threads`: a number, or "auto" for all processors;
    fewer are used if more would not help, with the same bits. `backend`: "cpu", "cuda", or "auto"
    for a device if there is one and the game is large. `precision` on a device: "double" or
    "single"."""

    threads: int | str = 1
    backend: str = "cpu"
    precision: str = "double"

    @property
    def options(self) -> dict[str, Any]:
        """Those that differ from the defaults."""
        defaults = asdict(ComputeOptions())
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    def replies(self, form: Any) -> Replies | None:
        """Returns what computes best replies; None for one thread, which needs no preparation."""
        self.check()
        if use_device(form, self.backend, self.threads, LEAST_FOR_REPLIES):
            return device_form.DeviceForm(form, self.precision)
        return reply_threads(form, thread_count(self.threads))

    def check(self, any_precision: bool = False) -> None:
        """`BadParameter` for an invalid value; `any_precision`: on processors too."""
        thread_count(self.threads)
        one_of(self.precision, tuple(device_form.PRECISIONS), "precision")
        if self.precision != "double" and self.backend == "cpu" and not any_precision:
            raise BadParameter("single precision is for a device; use backend=cuda or auto")


def use_device(form: Any, backend: Any, threads: Any, least: int | None = None) -> bool:
    """Whether a backend uses a device for this form; `BadParameter` if it cannot."""
    if one_of(backend, BACKENDS, "backend") == "cpu":
        return False
    if backend == "cuda":
        if threads != 1:
            raise BadParameter("with backend=cuda the device does the work; leave out threads")
        return True
    if max(len(side.value) for side in form) < (least or LEAST_ENTRIES):
        return False
    try:
        device_form.NEW_DEVICE()
        return True
    except BadParameter:
        return False
