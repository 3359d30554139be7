"""`SpotTraversal`: traversals of a spot by several threads; `SpotRegrets`: CFR by them.

Section 3.2.2 of the article, in vector form: the variants of `core/solvers/cfr.py`, players always
in turn. Deviation: the average takes player 1's strategies after its updates (`kernels.py`).

Threads share the boards of the second street; each writes its own, and one thread adds them in
order, so the bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.restricted import RestrictedPlayer
from counterplay.core.parallel.full_width import ComputeOptions, thread_count
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.cfr_kernels import CFRVariant, RegretEngine, iteration_weights
from counterplay.poker.spots.columns import FLOOR
from counterplay.poker.spots.decisions import NEGATIVE, POSITIVE, WEIGHT, SpotForm
from counterplay.poker.spots.kernels import (
    BEST,
    BOARDS,
    FINISH,
    FIXED,
    LEARN,
    START,
    Seats,
    Tables,
    new_reach,
    new_work,
    traverse,
)
from counterplay.poker.spots.layout import SMALLER, SpotLayout, TwofoldLayout
from counterplay.poker.spots.row_kernels import RowWork

PRECISIONS: dict[str, Any] = {"double": np.float64, "single": np.float32}


def on_all_processors(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a solver, with all processors where they do not say what does the work."""
    return dict(options) if options.get("backend") == "cuda" else {"threads": "auto", **options}


class SpotTraversal:
    """Buffers of all threads, for one spot and precision. `form`: that of a locked spot."""

    def __init__(
        self, layout: SpotLayout, precision: str, threads: int, form: SpotForm | None = None
    ) -> None:
        self.layout, self.dtype = layout, PRECISIONS[precision]
        #: Without locks, and with them.
        self.forms = tuple(
            one._replace(payoff=one.payoff.astype(self.dtype), floor=one.floor.astype(self.dtype))
            for one in (layout.form, form or layout.form)
        )
        tree, first = layout.tree, layout.boards.first
        boards = int(first[2] - first[1]) if len(first) > 2 else 0
        self.threads = max(1, min(threads, cores(), boards))
        self._end = int(tree.first_node[1])
        nodes, sequences = int(np.diff(tree.first_node).max()), int(tree.n_sequences.max())
        holdings = max(len(side.holding) for side in layout.sides)
        by_rows = boards > 0 and all(len(side.kernel.row) for side in layout.sides)
        rows, levels = layout.most_rows, len(first) - 1
        self._work = [
            new_work(levels, sequences, nodes, holdings, rows, by_rows, self.dtype)
            for _ in range(self.threads)
        ]
        self._root = new_reach(1, sequences, holdings, self.dtype)[0]
        self._below = np.zeros((boards, self._end, holdings), dtype=self.dtype)
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def set_weights(self, *weights: float) -> None:
        """What an iteration needs: its weight in the average, and the discounts of regrets."""
        for work in self._work:
            work.number[[WEIGHT, POSITIVE, NEGATIVE]] = weights

    def run(
        self,
        player: int,
        tables: tuple[Tables, Tables],
        mode: int,
        locked: bool = False,
        reach: np.ndarray | None = None,
    ) -> np.ndarray:
        """Returns [holdings]: the player's counterfactual values; changes what `mode` says. If
        `locked`, locks add to the strategies of the tables. `reach`: with which the other player's
        holdings come to the spot, if not with the weights of its range."""
        side, other = self.layout.sides[player], self.layout.sides[1 - player]
        if len(side.kernel.row) > 0:
            learns, known = isinstance(self._work[0].rows, RowWork), len(tables[player].source) > 0
            if (mode == LEARN and not learns) or (mode == BEST and known):
                raise ValueError("rows of the river: both learn by rows, after an earlier street")
        seats = Seats(tables[player], tables[1 - player], side.kernel, other.kernel)
        self._root[0, : len(other.holding)] = other.weight if reach is None else reach

        def part(which: int, k: int = 0) -> None:
            traverse(
                self.forms[locked], seats, player, mode, which, self._end, k, self.threads,
                self._root, self._below, self._work[k],
            )  # fmt: skip

        part(START)
        if len(self._below):
            others = range(1, self.threads) if self._pool else ()
            waiting = [self._pool.submit(part, BOARDS, k) for k in others]  # type: ignore[union-attr]
            part(BOARDS)
            for one in waiting:
                one.result()
        part(FINISH)
        values: np.ndarray = self._work[0].value[0, 0, : len(side.holding)]
        return values

    def value(
        self, player: int, tables: tuple[Tables, Tables], mode: int, locked: bool = False
    ) -> float:
        """Returns the player's payoff per hand: by its strategy (`FIXED`), or the largest
        (`BEST`), whose choices replace `tables[player].source` if it is not empty."""
        values = self.run(player, tables, mode, locked).astype(np.float64)
        return float(values @ self.layout.sides[player].weight) / self.layout.total_weight


class SpotRegrets(RegretEngine):
    """One variant of CFR in vector form."""

    def __init__(
        self, layout: SpotLayout, variant: CFRVariant, compute: ComputeOptions,
        form: SpotForm | None = None, locked: int = -1,
    ) -> None:  # fmt: skip
        """`form`: with the locks of player `locked`."""
        if variant.predictive:
            raise BadParameter("pcfr+ is not for spots; take dcfr or cfr+")
        advice = SMALLER + ", or precision=single" * (compute.precision == "double")
        memory.require(layout.bytes_needed(compute.precision), "solving this spot", advice)
        self._layout, self._variant, self._locked = layout, variant, locked
        self._zero_sum = layout.betting.rake == 0.0
        threads = thread_count(compute.threads)
        self._traversal = SpotTraversal(layout, compute.precision, threads, form)
        one, two = (new_tables(layout, player, self._traversal.dtype) for player in (0, 1))
        #: Those that are read, and those that a traversal changes.
        self._tables = self._working = (one, two)

    def _host_tables(self) -> tuple[Tables, Tables]:
        """Both players' tables, as they are now."""
        return self._tables

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            f"{name}{k}": array
            for k, tables in enumerate(self._host_tables(), 1)
            for name, array in (("regret", tables.source), ("strategy_sum", tables.strategy_sum))
        }

    def run(self, done: int, n: int) -> None:
        for t in range(done + 1, done + n + 1):
            self._traversal.set_weights(*iteration_weights(self._variant, t))
            for player in (0, 1):
                self._traversal.run(player, self._working, LEARN, locked=True)

    def exploitability(self) -> float:
        """Returns what the players can gain by deviating from the average strategy, where locks
        allow it."""
        averages = [table._replace(source=table.strategy_sum) for table in self._working]
        total = 0.0
        for player in (0, 1):
            if not self._zero_sum:
                total -= self._traversal.value(player, (averages[0], averages[1]), FIXED)
            own = nothing(averages[player])
            pair = (own, averages[1]) if player == 0 else (averages[0], own)
            total += self._traversal.value(player, pair, BEST, locked=player == self._locked)
        return total

    def weights(self) -> np.ndarray:
        return self._layout.slots(*(tables.strategy_sum for tables in self._host_tables()))

    def regrets(self) -> np.ndarray:
        return self._layout.slots(*(tables.source for tables in self._host_tables()))

    def policy(self) -> np.ndarray:
        return self._layout.slots(*(self._current(player) for player in (0, 1)))

    def _current(self, player: int) -> np.ndarray:
        """Returns a player's table of current probabilities."""
        source, form = self._host_tables()[player].source, self._traversal.forms[True]
        out = np.empty(len(source))
        for k, where, shape in self._layout.blocks(player):
            share = np.maximum(source[where], 0.0).reshape(shape).astype(np.float64)
            total = share.sum(axis=1, keepdims=True)
            share = np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / shape[1])
            low = int(form.nodes[k, FLOOR])
            if low >= 0:
                floor = form.floor[low : low + share.size].reshape(shape)
                share = floor + (1.0 - floor.sum(axis=1, keepdims=True)) * share
            out[where] = share.ravel()
        return out


def restricted_spot(
    layout: SpotLayout, restriction: RestrictedPlayer
) -> tuple[SpotLayout, SpotForm]:
    """The layout and the form of a response. RNR: the restricted player comes as one who follows
    the model, or as one who is free; DBR: it is bound at each information set by itself."""
    if restriction.p is None:
        return layout, biased_form(layout, restriction)
    bound = restriction._replace(trust=np.ones_like(restriction.trust))
    both = TwofoldLayout(layout, restriction.player, restriction.p)
    return both, both.locked_form(biased_form(layout, bound))


def biased_form(layout: SpotLayout, restriction: RestrictedPlayer) -> SpotForm:
    """Returns the form of a data-biased response: where the restricted player's model is trusted,
    its probabilities times the trust are the least."""
    counts = np.diff(restriction.model.game.form.first)
    least = np.repeat(restriction.trust, counts) * restriction.model.probabilities
    nodes, blocks, used = layout.form.nodes.copy(), [np.zeros(0)], 0
    floor = layout.table(restriction.player, least, np.float64)
    for node, where, _ in layout.blocks(restriction.player):
        if floor[where].any():
            nodes[node, FLOOR], used = used, used + where.stop - where.start
            blocks.append(floor[where])
    return layout.form._replace(nodes=nodes, floor=np.concatenate(blocks))


def nothing(tables: Tables) -> Tables:
    """Empty tables like these: of a best response that is not recorded."""
    return Tables(tables.source[:0], tables.strategy_sum[:0])


def new_tables(layout: SpotLayout, player: int, dtype: Any) -> Tables:
    """Returns tables of zeros."""
    n = layout.n_slots[player]
    return Tables(np.zeros(n, dtype=dtype), np.zeros(n, dtype=dtype))
