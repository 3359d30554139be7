"""Full-width CFR on a CUDA device: an iteration is recorded once as a graph and repeated.

The kernel `learn` is that of `cfr_kernels.py`, one thread per information set. The CPU computes the
weights of many iterations at once; the device looks them up by its iteration counter. The tables
are on the device and are fetched on demand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterplay.core.forms.sequence import SequenceForm
from counterplay.core.parallel.device_form import DeviceForm
from counterplay.core.solvers.cfr_kernels import (
    FIELDS,
    CFRVariant,
    IterationWeights,
    RegretEngine,
    RegretTables,
    new_tables,
    weight_table,
)

CHUNK = 1_024  # iterations whose weights are computed at once

SOURCE = r"""
extern "C" __global__ void learn(const int low, const int high, const int* __restrict__ first,
    const int* __restrict__ below, const int* __restrict__ after, const int bound,
    const real* __restrict__ floor_, const int predictive, const double* __restrict__ weights,
    const int* __restrict__ counter, const real* __restrict__ plan, real* __restrict__ payoff,
    real* __restrict__ value, real* __restrict__ policy, real* __restrict__ regret,
    real* __restrict__ sum, real* __restrict__ predicted)
{   // one stage of an iteration (stages come children first), one information set per thread
    const int i = low + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= high) return;
    const int from = first[i], to = first[i + 1];
    const double* now = weights + 3 * (size_t)counter[0];
    const real weight = now[0], positive = now[1], negative = now[2];
    real mean = 0;
    for (int slot = from; slot < to; ++slot) {
        const real earned = collect(below, after, value, slot + 1, payoff[slot + 1]);
        payoff[slot + 1] = earned;
        mean += policy[slot] * earned;
    }
    value[i] = mean;
    real free_ = 1, fixed = 0;
    if (bound) {
        for (int slot = from; slot < to; ++slot) {
            free_ -= floor_[slot];
            fixed += floor_[slot] * payoff[slot + 1];
        }
        free_ = free_ > 0 ? free_ : 0;
        mean = free_ > 0 ? (mean - fixed) / free_ : mean;
    }
    real all = 0;
    for (int slot = from; slot < to; ++slot) {
        const real more = payoff[slot + 1] - mean;
        real total = regret[slot] + more;
        total *= total > 0 ? positive : negative;
        regret[slot] = total;
        real source = total;
        if (predictive) source = predicted[slot] = total + more;
        sum[slot] += weight * plan[slot + 1];
        const real chosen = source > 0 ? source : (real)0;
        policy[slot] = chosen;
        all += chosen;
    }
    const real scale = (real)1 / all, share = (real)1 / (real)(to - from);
    for (int slot = from; slot < to; ++slot) {
        policy[slot] = all > 0 ? policy[slot] * scale : share;
        if (bound) policy[slot] = floor_[slot] + free_ * policy[slot];
    }
}

extern "C" __global__ void count(int* __restrict__ counter)
{
    counter[0] += 1;
}
"""


class DeviceRegretMinimiser(RegretEngine):
    """A `RegretMinimiser` whose tables are on a device."""

    def __init__(self, form: SequenceForm, variant: CFRVariant, precision: str) -> None:
        self._variant = variant
        self._tables = new_tables(form, variant)
        self.replies = DeviceForm(form, precision, SOURCE)
        device = self.replies.device
        with device.stream:
            self._counter = device.zeros((1,), np.int32)
            self._weights = device.zeros((CHUNK, len(IterationWeights._fields)), np.float64)
            self._work = [
                {
                    "payoff": self.replies.empty(side.room),
                    "value": self.replies.empty(len(plex.parent)),
                    **{name: self.replies.empty(len(getattr(tables, name))) for name in FIELDS},
                }
                for side, plex, tables in zip(self.replies.sides, form, self._tables, strict=True)
            ]
        self._iteration: Callable[[], None] | None = None
        self._fetched = True
        self.changed()

    @property
    def tables(self) -> tuple[RegretTables, RegretTables]:  # type: ignore[override]
        """Both players' tables, fetched from the device."""
        if not self._fetched:
            with self.replies.device.stream:
                for tables, work in zip(self._tables, self._work, strict=True):
                    for name in FIELDS:
                        array = getattr(tables, name)
                        array[:] = self.replies.get(work[name])[: len(array)]
            self._fetched = True
        return self._tables

    def changed(self) -> None:
        with self.replies.device.stream:
            for tables, work in zip(self._tables, self._work, strict=True):
                for name in FIELDS:
                    array = getattr(tables, name)
                    if len(array):
                        work[name][:] = self.replies.put(array)
        self._fetched = True

    def run(self, done: int, n: int) -> None:
        """Runs iterations done + 1 .. done + n."""
        device = self.replies.device
        if self._iteration is None:
            with device.stream:
                self._launch_iteration()  # loads the kernels, which is impossible while recording
            self.changed()
            self._iteration = device.record(self._launch_iteration)
        self._fetched = self._fetched and n == 0
        for begin in range(done, done + n, CHUNK):
            count = min(CHUNK, done + n - begin)
            with device.stream:
                self._weights[:count] = device.put(weight_table(self._variant, begin, count))
                self._counter[:] = device.put(np.zeros(1, np.int32))
                for _ in range(count):
                    self._iteration()
        device.wait()

    def _launch_iteration(self) -> None:
        """Launches the kernels of one iteration."""
        form, (one, two) = self.replies, self._work
        form.payoffs(0, two["plan"], one["payoff"])
        if self._variant.alternating:
            self._learn(0, one)
            form.payoffs(1, one["plan"], two["payoff"])
        else:
            form.payoffs(1, one["plan"], two["payoff"])
            self._learn(0, one)
        self._learn(1, two)
        form.kernel("count")((1,), (1,), (self._counter,))

    def _learn(self, player: int, work: dict[str, Any]) -> None:
        side = self.replies.sides[player]
        for low, high in reversed(side.stages):
            self.replies.launch(
                "learn", high - low, np.int32(low), np.int32(high), side.first, side.below,
                side.after, np.int32(side.bound), side.floor, np.int32(self._variant.predictive),
                self._weights, self._counter, work["plan"], work["payoff"], work["value"],
                work["policy"], work["regret"], work["strategy_sum"], work["predicted"],
            )  # fmt: skip
        self.replies.plan(player, work["policy"], work["plan"])
