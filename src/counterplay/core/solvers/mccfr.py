"""Outcome-sampling Monte-Carlo CFR: Algorithm 1 with Equations 4-6.

Symbols: r_I → `regret`, s_I → `strategy_sum`, c_I → `last_visit`, σ → `trail.policy`, σ' → its
ε-greedy version, π_i(z[I]) → `trail.own`, π_-i(z[I]) → `trail.others`, π^σ'(z) → `drawn`,
π^σ(z[I]a, z) → `tail`, w_I → `weight`.

Each iteration samples one history, ε-greedily at the nodes of all players, and updates all players
from it, with optimistic averaging by t - c_I. Deviations: none. Chance is sampled on-policy, so its
probability cancels in π_-i π / π^σ' and is left out of both.

Option `averaging="stochastic"` replaces line 15 by s_I[a] += π_i(z[I]) σ(I, a) / π^σ'(z[I]), which
is unbiased; optimistic averaging is not, because the strategy at a visit need not be that of the
iterations since the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter, one_of, probability, whole_number
from counterplay.core.forms.access import full, lane_buffer
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.parallel.pool import Worker
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.history import (
    OutcomeTables,
    batch_on,
    batch_size,
    is_valid,
    new_workspace,
    outcome_sampling_interleaved,
    sample_history,
    update_history,
)
from counterplay.core.solvers.sampling import SamplingSolver

MOST_INTERLEAVED = 256


@jit
def outcome_sampling(
    form: Any,
    chance: Any,
    tables: Any,
    trail: Any,
    rng: np.ndarray,
    done: int,
    n: int,
    epsilon: float,
    optimistic: bool,
    stride: int,
    scale: float,
) -> tuple[int, int]:
    """Algorithm 1: n iterations numbered done + 1, done + 1 + stride, ..., whose regrets count
    `scale` times. Changes `tables`, `trail` and `rng`; returns the iterations played, fewer than n
    if the tables are full, and the nodes touched."""
    touched = ZERO
    played = ZERO
    t = done + 1
    while played < index(n) and not full(form, chance):
        node, n_decisions, drawn, forced = sample_history(form, chance, tables, trail, rng, epsilon)
        update_history(form, chance, tables, trail, node, n_decisions, drawn, t, optimistic, scale)
        touched += n_decisions + forced + ONE
        t += stride
        played += ONE
    return int(played), int(touched)


class OutcomeSampling(SamplingSolver):
    """`epsilon`: exploration (the paper: 0.6). `averaging`: "optimistic", as in Algorithm 1, or
    "stochastic". `interleave`: histories that each thread plays at once (`history.py`), faster
    if tables are larger than the caches."""

    name = "mccfr"
    summary = "outcome-sampling MCCFR, Algorithm 1"
    by_set = ("last_visit",)
    discovers = True
    private = ("last_visit",)

    def __init__(
        self,
        problem: Problem,
        seed: int,
        *,
        epsilon: float = 0.6,
        averaging: str = "optimistic",
        threads: int = 1,
        interleave: int = 1,
    ) -> None:
        self._epsilon = probability(epsilon, "epsilon")
        if self._epsilon == 0.0:
            raise BadParameter("epsilon must be above 0, so that every history can be sampled")
        self._optimistic = (
            one_of(averaging, ("optimistic", "stochastic"), "averaging") == "optimistic"
        )
        game = problem.game
        self._history_size = (game.depth, game.max_actions, game.n_players)
        self.at_once = whole_number(interleave, 1, MOST_INTERLEAVED, "interleave")
        if interleave > 1 and problem.transformed:
            raise BadParameter("histories of responses are played one by one; leave out interleave")
        options = {"epsilon": epsilon, "averaging": averaging}
        if interleave > 1:
            options["interleave"] = interleave
        super().__init__(problem, seed, threads, **options)

    def _new_tables(self, infosets: int, slots: int) -> OutcomeTables:
        return OutcomeTables(np.zeros(slots), np.zeros(slots), np.zeros(infosets, dtype=np.int64))

    def _new_workspace(self) -> Any:
        return new_workspace(*self._history_size)

    def _new_buffer(self) -> Any:
        if self.at_once == 1:
            return super()._new_buffer()
        dealt = lane_buffer(self.form, self.at_once)
        self._dealt = len(dealt)
        pending = np.zeros(batch_size(self.at_once, *self._history_size), dtype=np.int64)
        return np.concatenate([dealt, pending])

    def _new_chance(self, buffer: np.ndarray) -> Any:
        return super()._new_chance(buffer if self.at_once == 1 else buffer[: self._dealt])

    def _workspace_on(self, buffer: np.ndarray) -> Any:
        if self.at_once == 1:
            return super()._workspace_on(buffer)
        return batch_on(buffer[self._dealt :], self.at_once, *self._history_size)

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        super().restore(saved, source)
        if self.at_once == 1:
            return
        workers = self._pool.workers
        buffers = [(worker.buffer, worker.tables) for worker in workers]
        buffers += [(row, workers[0].tables) for row in saved.get("threads.hand", ())]  # remote
        for buffer, tables in buffers:
            copy = np.zeros_like(buffer)
            workspace = self._workspace_on(copy)
            copy[:] = buffer
            if not is_valid(workspace, len(tables.last_visit), len(tables.regret)):
                raise BadFile(f"{source}: pending histories are none of {self.game.name}")

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        kernel: Any = outcome_sampling if self.at_once == 1 else outcome_sampling_interleaved
        options = self._epsilon, self._optimistic, stride, scale
        played, touched = kernel(self.form, *worker.arguments, done, n, *options)
        return played, touched


SOLVER = OutcomeSampling
