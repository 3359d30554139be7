"""Full width by several threads: who does which part of a pass over a treeplex.

A treeplex is cut into stages, ranges of information sets none of which lies below another one of
its range, and every stage into a share for each thread. A thread computes the payoffs of the
sequences of its shares, row by row, and passes over its shares, children or parents first; between
two stages all meet. What lies below a sequence is added up by whoever has the sequence, last
information set first, as one thread alone would add it. So no number depends on how many work: the
same bits for any number of threads.

Stages that are too small for several are the first thread's, and so is a whole game that is.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba.core import config as _config

from counterplay.base.errors import BadParameter
from counterplay.base.processors import cores
from counterplay.forms.sequence import SequenceForm, Side, Treeplex, choose_best
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.meeting import meet, new_door

MOST_THREADS = 64
#: Entries that take as long as a slot, and as an information set, of a pass (measured).
SLOT, INFOSET = 3, 12
#: Of a stage: in the second piece threads take turns the other way round, which evens out what
#: changes along a stage, such as the number of actions.
PIECES = 2
#: Of a stage, in entries: below it a meeting costs more than a second thread saves.
LEAST_STAGE = 3_000
#: Of each thread in an iteration, in entries: `benchmarks/full_width.csv` has the crossing.
LEAST_WORK = 75_000
#: The same for a single best reply: waking a thread may take milliseconds.
LEAST_REPLY = 2_000_000

config: Any = _config  # its settings are not declared


class Shares(NamedTuple):
    """Who does what in a treeplex of m information sets and s slots, by t threads."""

    below: np.ndarray  # int32[s + 2]: after sequence q come after[below[q]] .. after[below[q + 1]]
    after: np.ndarray  # int32[m]: information sets, the last of a sequence first
    # Rows are stages, in `PIECES` each: thread k has low[row, k] .. high[row, k] - 1 of a row.
    low: np.ndarray  # int32[rows, t]
    high: np.ndarray  # int32[rows, t]
    begins: np.ndarray  # bool[rows]: whether a stage begins with the row
    ends: np.ndarray  # bool[rows]: whether it ends there


class Gang(NamedTuple):
    """What the kernels of several threads share."""

    one: Shares
    two: Shares
    threads: int
    door: np.ndarray  # int64[1]: where they meet


@jit(inline=True)
def collect(shares: Shares, value: np.ndarray, q: int, total: float) -> float:
    """`total` and the values of the information sets after sequence q."""
    for j in range(index(shares.below[q]), index(shares.below[q + ONE])):
        total += value[index(shares.after[j])]
    return total


@jit(inline=True)
def sequences_of(plex: Treeplex | Side, shares: Shares, row: int, k: int) -> tuple[int, int]:
    """Thread k's sequences of a row, from and up to; the empty one is in the first row of the first
    thread."""
    low = index(plex.first[index(shares.low[row, k])]) + ONE
    high = index(plex.first[index(shares.high[row, k])]) + ONE
    return ZERO if row == 0 and k == 0 else low, high


@jit(inner=True)
def share_of_gradient(
    side: Side, plan: np.ndarray, out: np.ndarray, shares: Shares, k: int
) -> None:
    """`gradient` for the sequences of thread k."""
    for row in range(len(shares.low)):
        low, high = sequences_of(side, shares, row, k)
        for q in range(low, high):
            total = 0.0
            for entry in range(index(side.row[q]), index(side.row[q + ONE])):
                total += side.value[entry] * plan[index(side.column[entry])]
            out[q] = total


@jit
def reply_together(
    form: SequenceForm,
    player: int,
    policy: np.ndarray,
    plan: np.ndarray,
    payoff: np.ndarray,
    value: np.ndarray,
    out: np.ndarray,
    crew: Gang,
    k: int,
) -> float:
    """Thread k's part of the best reply of `player` to the other's `policy`: its value. Fills
    `plan` (the other's), `payoff`, `value` (of his information sets) and `out`, his policy."""
    side, other = (form.one, form.two) if player == 0 else (form.two, form.one)
    shares, his = (crew.one, crew.two) if player == 0 else (crew.two, crew.one)
    share_of_plan(other, policy, plan, his, k, crew)
    share_of_gradient(side, plan, payoff, shares, k)
    row = len(shares.low)
    while row > 0:  # children first
        row -= 1
        begin = index(shares.low[row, k])
        i = index(shares.high[row, k])
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            for slot in range(low, high):
                payoff[slot + ONE] = collect(shares, value, slot + ONE, payoff[slot + ONE])
            value[i] = choose_best(side, payoff, out, low, high)
        if shares.begins[row]:
            meet(crew.door, crew.threads)
    return float(collect(shares, value, ZERO, payoff[ZERO]))


@jit(inner=True)
def share_of_plan(
    plex: Treeplex | Side,
    policy: np.ndarray,
    plan: np.ndarray,
    shares: Shares,
    k: int,
    crew: Gang,
) -> None:
    """`plan_from_policy` together; at the end it is whole."""
    if k == 0:
        plan[ZERO] = 1.0
    for row in range(len(shares.low)):
        for i in range(index(shares.low[row, k]), index(shares.high[row, k])):
            above = index(plex.parent[i])
            reach = 1.0 if above == ZERO else plan[above]
            for slot in range(index(plex.first[i]), index(plex.first[i + ONE])):
                plan[slot + ONE] = reach * policy[slot]
        if shares.ends[row]:
            meet(crew.door, crew.threads)


def shares_of(plex: Treeplex | Side, row: np.ndarray | None, threads: int) -> Shares:
    """`row`: where the entries of each sequence begin, to give every thread as much to do."""
    m, n_sequences = len(plex.parent), int(plex.first[-1]) + 1
    below = np.zeros(n_sequences + 1, dtype=np.int32)
    np.cumsum(np.bincount(plex.parent, minlength=n_sequences), out=below[1:])
    after = (m - 1 - np.argsort(plex.parent[::-1], kind="stable")).astype(np.int32)
    work = INFOSET * np.arange(m + 1) + SLOT * plex.first.astype(np.int64)
    if row is not None:
        work += row[plex.first + 1] - row[1]
    bounds = stages_of(plex) if threads > 1 else np.array([0, m])
    return Shares(below, after, *_split(bounds, work, threads))


def stages_of(plex: Treeplex | Side) -> np.ndarray:
    """int64[stages + 1]: bounds of the longest ranges in which nobody is below another."""
    owner = np.repeat(np.arange(len(plex.parent)), np.diff(plex.first))
    above = np.where(plex.parent > 0, owner[np.maximum(plex.parent, 1) - 1], -1)
    latest = np.maximum.accumulate(above)  # the last of those above anybody up to here
    bounds = [0]
    while bounds[-1] < len(above):
        bounds.append(int(np.searchsorted(latest, bounds[-1])))
    return np.array(bounds)


def _split(
    bounds: np.ndarray, work: np.ndarray, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Shares of about equal work; neighbours too small for several become one stage of the first
    thread's."""
    low: list[list[int]] = []
    high: list[list[int]] = []
    first: list[bool] = []
    alone = False
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        small = bool(threads == 1 or work[end] - work[begin] < LEAST_STAGE)
        if small and alone:
            low[-1][1:], high[-1] = [end] * (threads - 1), [end] * threads
        elif small:
            low.append([begin] + [end] * (threads - 1))
            high.append([end] * threads)
            first.append(True)
        else:
            parts = PIECES * threads
            wanted = work[begin] + (work[end] - work[begin]) * np.arange(1, parts) / parts
            cuts = [begin, *np.searchsorted(work, wanted).tolist(), end]
            for piece in range(PIECES):
                order = range(threads) if piece % 2 == 0 else range(threads)[::-1]
                low.append([cuts[piece * threads + j] for j in order])
                high.append([cuts[piece * threads + j + 1] for j in order])
                first.append(piece == 0)
        alone = small
    begins = np.array(first)
    bounds_of = (np.array(part, dtype=np.int32) for part in (low, high))
    return (*bounds_of, begins, np.append(begins[1:], True))  # type: ignore[return-value]


def check_threads(threads: Any) -> int:
    """A number of threads; "auto": as many as there are processors."""
    if threads == "auto":
        return min(cores(), MOST_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, int):
        threads = 0 if not isinstance(threads, str) else threads
    if not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:
        raise BadParameter(
            f"threads must be a whole number from 1 to {MOST_THREADS} or auto, not {threads!r}"
        )
    return threads


def useful_threads(form: Any, threads: int, least: int | None = None) -> int:
    """How many of them a form keeps busy: no more than there are processors, and one where the
    game is small. The bits are the same. `least`: work of each."""
    if threads == 1 or config.DISABLE_JIT or not isinstance(form.one, Side):
        return 1
    work = min(work_of(side) for side in (form.one, form.two))
    return max(1, min(threads, cores(), work // (least or LEAST_WORK)))


def work_of(side: Side) -> int:
    """What a player's part of an iteration takes, in entries."""
    return len(side.value) + SLOT * int(side.first[-1]) + INFOSET * len(side.parent)


class Together:
    """Threads for one form. `kernel(..., crew, k)` is called by each of them."""

    def __init__(self, form: Any, threads: int = 1, least: int | None = None) -> None:
        self.form, self.threads = form, useful_threads(form, threads, least)
        one, two = (
            shares_of(side, getattr(side, "row", None), self.threads)
            for side in (form.one, form.two)
        )
        self.crew = Gang(one, two, self.threads, new_door())
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """What the first thread's call gives; the first is this one."""
        if self._pool is None:
            return kernel(*arguments, self.crew, 0)
        others = [
            self._pool.submit(partial(kernel, *arguments, self.crew, k))
            for k in range(1, self.threads)
        ]
        found = kernel(*arguments, self.crew, 0)
        for other in others:
            other.result()
        return found

    def best_value(self, player: int, policy: np.ndarray, out: np.ndarray) -> float:
        """What `player` gets by his best reply to the other's `policy`; `out`: that reply."""
        sides = (self.form.one, self.form.two)
        side, other = sides[player], sides[1 - player]
        plan, payoff = (np.empty(int(which.first[-1]) + 1) for which in (other, side))
        value = np.empty(len(side.parent))
        return float(self.run(reply_together, self.form, player, policy, plan, payoff, value, out))


def replies_together(form: Any, threads: int) -> Together | None:
    """Who works out best replies; None for one thread, which needs no preparation."""
    if useful_threads(form, threads, LEAST_REPLY) == 1:
        return None
    return Together(form, threads, LEAST_REPLY)
