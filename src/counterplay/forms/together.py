"""Full width by several threads.

A thread computes the payoffs of the sequences of its share (`shares.py`), row by row, and passes
over its share, children or parents first; between two stages all meet. What lies below a sequence
is added up by whoever has the sequence, last information set first, as one thread alone would add
it. So no number depends on how many work: the same bits for any number of threads.

A game that is too small for several is the first thread's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numba.core import config as _config

from counterplay.base.errors import BadParameter
from counterplay.forms.order import Order
from counterplay.forms.sequence import SequenceForm, Side, Treeplex, choose_best
from counterplay.forms.shares import INFOSET, SLOT, Shares, alone, arrange
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.meeting import meet, new_door
from counterplay.parallel.processes import cores

MOST_THREADS = 64
#: Of each thread in an iteration, in entries: `benchmarks/full_width.csv` has the crossing.
LEAST_WORK = 75_000
#: The same for a single best reply: waking a thread may take milliseconds.
LEAST_REPLY = 2_000_000

config: Any = _config  # its settings are not declared
H = TypeVar("H", bound=tuple[Any, ...])


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
    """Threads for one form. `kernel(..., crew, k)` is called by each of them, with `form`, whose
    order is theirs if there are several."""

    def __init__(self, form: Any, threads: int = 1, least: int | None = None) -> None:
        self.threads = useful_threads(form, threads, least)
        self.orders: tuple[Order, ...] = ()
        if self.threads == 1:
            self.form, shares = form, (alone(form.one), alone(form.two))
        else:
            self.form, shares, self.orders = arrange(form, self.threads)
        self.crew = Gang(*shares, self.threads, new_door())
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
        value, found = np.empty(len(side.parent)), out
        if self.orders:
            policy, found = self.orders[1 - player].take(policy), np.empty_like(out)
        arrays = policy, plan, payoff, value, found
        best = float(self.run(reply_together, self.form, player, *arrays))
        if self.orders:
            self.orders[player].give(found, out)
        return best


class BothHalves(Generic[H]):
    """Both players' arrays, named tuples, of those who work together."""

    def __init__(self, together: Together, halves: tuple[H, H], state: Sequence[str]) -> None:
        """`state`: the arrays that are more than scratch."""
        self._together, self._game, self._state = together, halves, state
        #: In the order of the threads.
        self.own = halves
        self._fetched = True
        if together.orders:
            self.own = tuple(  # type: ignore[assignment]
                type(half)(*map(order.take, half))
                for half, order in zip(halves, together.orders, strict=True)
            )

    def changing(self) -> None:
        """The threads are about to write to theirs."""
        self._fetched = False

    def get(self) -> tuple[H, H]:
        """In the game's order. Whoever writes to them says so with `changed`."""
        if not self._fetched:
            for mine, game, order in self._pairs():
                order.give(mine, game)
            self._fetched = True
        return self._game

    def changed(self) -> None:
        for mine, game, order in self._pairs():
            mine[:] = order.take(game)
        self._fetched = True

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray, Order]]:
        """An array as the threads have it, as the game has it, and the order."""
        for k, order in enumerate(self._together.orders):
            for name in self._state:
                yield getattr(self.own[k], name), getattr(self._game[k], name), order


def replies_together(form: Any, threads: int, together: Together | None = None) -> Together | None:
    """Who works out best replies; None for one thread, which needs no preparation. `together`:
    those who work on the form already."""
    if useful_threads(form, threads, LEAST_REPLY) == 1:
        return None
    if together is not None and together.threads > 1:
        return together
    return Together(form, threads, LEAST_REPLY)
