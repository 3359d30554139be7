"""`SpotTraversal`: traversals of a spot by several threads; `SpotRegrets`: CFR by them.

Section 3.2.2 of the article, in vector form: the variants of `core/solvers/cfr.py`, players always
in turn. Deviation: the average takes player 1's strategies after its updates (`kernels.py`).

Threads share the boards of the second street; each writes its own, and one thread adds them in
order, so the bits do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.full_width import ComputeOptions, thread_count
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.cfr_kernels import CFRVariant, RegretEngine, iteration_weights
from counterplay.poker.spots.kernels import (
    BEST,
    FIXED,
    LEARN,
    NEGATIVE,
    POSITIVE,
    WEIGHT,
    SpotForm,
    Tables,
    finish,
    new_work,
    start,
    visit_boards,
)
from counterplay.poker.spots.layout import SpotLayout

PRECISIONS: dict[str, Any] = {"double": np.float64, "single": np.float32}


class Locks:
    """The least probabilities of one player's actions, in the layout of tables."""

    def __init__(self, floor: np.ndarray, floor_at: np.ndarray) -> None:
        self.floor, self.floor_at = floor, floor_at


class SpotTraversal:
    """Buffers of all threads, for one spot and precision."""

    def __init__(self, layout: SpotLayout, precision: str, threads: int) -> None:
        self.layout, self.dtype = layout, PRECISIONS[precision]
        self.form: SpotForm = layout.form._replace(payoff=layout.form.payoff.astype(self.dtype))
        boards = int(layout.boards.child_first[1] - layout.boards.child_first[0])
        self.threads = max(1, min(threads, cores(), boards))
        self._work = [new_work(self.form, layout.sides, self.dtype) for _ in range(self.threads)]
        nodes, holdings = self._work[0].value.shape[1:]
        self._below = np.zeros((boards, nodes, holdings), dtype=self.dtype)
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def set_weights(self, *weights: float) -> None:
        """What an iteration needs: its weight in the average, and the discounts of regrets."""
        for work in self._work:
            work.number[[WEIGHT, POSITIVE, NEGATIVE]] = weights

    def run(self, player: int, tables: tuple[Tables, Tables], mode: int) -> np.ndarray:
        """Returns [holdings]: the player's counterfactual values; changes what `mode` says."""
        side, other = self.layout.sides[player], self.layout.sides[1 - player]
        own, others = tables[player], tables[1 - player]
        first = self._work[0]
        start(self.form, others, other, player, mode == LEARN, first)
        if len(self._below):
            root = first.reach[0].copy()  # the first thread goes on with its buffers

            def visit(k: int) -> None:
                visit_boards(
                    self.form, own, others, side, other, player, mode, root, k, self.threads,
                    self._work[k], self._below,
                )  # fmt: skip

            others_boards = range(1, self.threads)
            waiting = [self._pool.submit(visit, k) for k in others_boards] if self._pool else []
            visit(0)
            for one in waiting:
                one.result()
        finish(self.form, own, side, other, player, mode, first, self._below)
        values: np.ndarray = first.value[0, 0, : len(side.holding)]
        return values

    def value(self, player: int, tables: tuple[Tables, Tables], mode: int) -> float:
        """Returns the player's payoff per hand: by its strategy (`FIXED`), or the largest
        (`BEST`), which replaces `tables[player].source`."""
        values = self.run(player, tables, mode).astype(np.float64)
        return float(values @ self.layout.sides[player].weight) / self.layout.total_weight


class SpotRegrets(RegretEngine):
    """One variant of CFR in vector form."""

    def __init__(
        self, layout: SpotLayout, variant: CFRVariant, compute: ComputeOptions,
        locks: tuple[Locks | None, Locks | None] = (None, None),
    ) -> None:  # fmt: skip
        if compute.backend == "cuda":
            raise BadParameter("spots are solved on processors; leave out backend")
        if variant.predictive:
            raise BadParameter("pcfr+ is not for spots; take dcfr or cfr+")
        memory.require(layout.bytes_needed(compute.precision), "the tables of this spot")
        self._layout, self._variant = layout, variant
        self._traversal = SpotTraversal(layout, compute.precision, thread_count(compute.threads))
        self._tables = tuple(
            new_tables(layout, player, self._traversal.dtype, locks[player]) for player in (0, 1)
        )

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            f"{name}{k}": array
            for k, tables in enumerate(self._tables, 1)
            for name, array in (("regret", tables.source), ("strategy_sum", tables.strategy_sum))
        }

    def run(self, done: int, n: int) -> None:
        for t in range(done + 1, done + n + 1):
            self._traversal.set_weights(*iteration_weights(self._variant, t))
            for player in (0, 1):
                self._traversal.run(player, self._tables, LEARN)

    def weights(self) -> np.ndarray:
        return self._layout.slots(*(tables.strategy_sum for tables in self._tables))

    def regrets(self) -> np.ndarray:
        return self._layout.slots(*(tables.source for tables in self._tables))

    def policy(self) -> np.ndarray:
        return self._layout.slots(*(self._current(player) for player in (0, 1)))

    def _current(self, player: int) -> np.ndarray:
        """Returns a player's table of current probabilities."""
        tables = self._tables[player]
        out = np.empty(len(tables.source))
        for k, where, shape in self._layout.blocks(player):
            share = np.maximum(tables.source[where], 0.0).reshape(shape).astype(np.float64)
            total = share.sum(axis=1, keepdims=True)
            share = np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / shape[1])
            if tables.floor_at[k] >= 0:
                low = int(tables.floor_at[k])
                floor = tables.floor[low : low + share.size].reshape(shape)
                share = floor + (1.0 - floor.sum(axis=1, keepdims=True)) * share
            out[where] = share.ravel()
        return out


def new_tables(layout: SpotLayout, player: int, dtype: Any, locks: Locks | None) -> Tables:
    """Returns tables of zeros."""
    n, nodes = layout.n_slots[player], len(layout.form.base)
    floor, floor_at = np.zeros(0, dtype=dtype), np.full(nodes, -1)
    if locks is not None:
        floor, floor_at = locks.floor.astype(dtype), locks.floor_at
    return Tables(np.zeros(n, dtype=dtype), np.zeros(n, dtype=dtype), floor, floor_at)
