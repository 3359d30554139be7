"""The excessive gap technique on a full-width form (Section 3.1; Hoda, Gilpin, Peña & Sandholm
2010; Nesterov 2005).

Player 1 gets x'Ay and player 2 its negative, where x and y are plans. With prox functions d_k ≥ 0
(`prox.py`) and smoothing μ_k, V1(y) = max_x x'Ay - μ1 d1(x) and V2(x) = max_y -x'Ay - μ2
d2(y) are smooth best-response values. The excessive gap condition V1(y) + V2(x) ≤ 0 gives b1 + b2 ≤
μ1 D1 + μ2 D2, D_k the maximum of d_k. An iteration lowers one μ and keeps the condition.

Symbols, for the player whose μ is lowered (roles alternate): x → `plan`, Ay → `payoff`, x̂ → `reply`
(behaviour `reply_policy`), x̃ and x⁺ → `next`, x̆ → `work`, Ay⁺ → `next_payoff`; the other's ŷ and
y⁺ → `next`. μ1, μ2, k → `schedule`.

Deviations. (1) The first μ come from a search, not from operator norms: μ_k = m / D_k with the
smallest m = 2^j times the largest payoff, j ≥ -20, whose initial point satisfies the condition. (2)
The condition is tested at every step, which in theory is unnecessary; if it fails for τ = 2 / (k +
3), τ is halved and k continues from there (k ← 2k + 3). In theory small τ never fail, so k stays
within a factor of the iterations and the bound falls as 1/T. (3) The condition may be violated by
`ROUNDING` times the largest payoff. (4) For the entropy x̆ is computed from Ay + τ / (1 - τ) Aŷ: μ
∇d(x̂) and Ay differ by a constant on the treeplex, and the logarithm of a vanishing probability is
avoided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, one_of
from counterplay.core.forms.sequence import SequenceForm, Side, payoff_gradient, plan_from_policy
from counterplay.core.kernels.jit import ONE, jit
from counterplay.core.parallel.barrier import barrier
from counterplay.core.parallel.full_width import (
    KernelThreads,
    RenumberedTables,
    ThreadGroup,
    partial_gradient,
    partial_plan,
    reply_threads,
    sequences_of,
    thread_count,
)
from counterplay.core.parallel.partition import Partition
from counterplay.core.solvers.algorithms import samplers_of
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.prox import (
    STATE,
    ProxTables,
    add_prox_gradient,
    largest_prox,
    new_tables,
    smoothed_reply,
)

ROUNDING = 1e-14
#: A shorter step would be within rounding; the point stays.
SHORTEST_STEP = 1e-9


@jit(inner=True)
def _mix(
    tau: float, old: np.ndarray, new: np.ndarray, out: np.ndarray, side: Any, part: Any, k: int
) -> None:
    """out = (1 - τ) old + τ new for the sequences of thread k."""
    for row in range(len(part.low)):
        low, high = sequences_of(side, part, row, k)
        for q in range(low, high):
            out[q] = (1.0 - tau) * old[q] + tau * new[q]


@jit(inner=True)
def _copy(source: np.ndarray, out: np.ndarray, side: Any, part: Any, k: int) -> None:
    """out = source for the sequences of thread k."""
    for row in range(len(part.low)):
        low, high = sequences_of(side, part, row, k)
        for q in range(low, high):
            out[q] = source[q]


@jit(inner=True)
def _keep_policy(tables: ProxTables, side: Any, part: Any, k: int) -> None:
    """Copies the policy of thread k's information sets to that of x̂."""
    for row in range(len(part.low)):
        low, high = sequences_of(side, part, row, k)
        for slot in range(max(low, ONE) - ONE, high - ONE):
            tables.reply_policy[slot] = tables.policy[slot]


@jit(inner=True)
def try_decrease(
    side: Side,
    other: Side,
    me: ProxTables,
    you: ProxTables,
    mu: float,
    mu_other: float,
    tau: float,
    euclidean: bool,
    mine: Partition,
    yours: Partition,
    group: ThreadGroup,
    k: int,
) -> float:
    """Writes the point after a step that lowers μ to (1 - τ) μ to the `next` arrays, from x̂ in
    `me.reply`. Returns its V1 + V2, in every thread.

    `side`, `me` and `mine` belong to the player whose μ is lowered, `other`, `you` and `yours` to
    the other.
    """
    _mix(tau, me.plan, me.reply, me.next, side, mine, k)  # x̃ = (1 - τ) x + τ x̂
    barrier(group.counter, group.threads)
    partial_gradient(other, me.next, you.work, yours, k)
    smoothed_reply(other, you, mu_other, euclidean, you.work, yours, group, k)
    partial_plan(other, you.policy, you.next, yours, k, group)  # ŷ = argmax -x̃'Ay - μ2 d2(y)
    partial_gradient(side, you.next, me.work, mine, k)
    _mix(tau, me.payoff, me.work, me.next_payoff, side, mine, k)  # Ay⁺ = (1 - τ) Ay + τ Aŷ
    scale = tau / (1.0 - tau)
    for row in range(len(mine.low)):  # deviation (4)
        low, high = sequences_of(side, mine, row, k)
        for q in range(low, high):
            me.work[q] = scale * me.work[q] + (0.0 if euclidean else me.payoff[q])
    if euclidean:
        add_prox_gradient(side, me, mu, me.reply_policy, me.work, mine, group, k)
    smoothed_reply(side, me, mu, euclidean, me.work, mine, group, k)
    # x̆ = argmax τ / (1 - τ) x'Aŷ - μ (d(x) - d(x̂) - ∇d(x̂)'(x - x̂))
    partial_plan(side, me.policy, me.work, mine, k, group)
    _mix(tau, me.plan, me.work, me.next, side, mine, k)  # x⁺ = (1 - τ) x + τ x̆
    _mix(tau, you.plan, you.next, you.next, other, yours, k)  # y⁺ = (1 - τ) y + τ ŷ
    barrier(group.counter, group.threads)
    partial_gradient(other, me.next, you.next_payoff, yours, k)
    value = smoothed_reply(side, me, (1.0 - tau) * mu, euclidean, me.next_payoff, mine, group, k)
    return value + float(
        smoothed_reply(other, you, mu_other, euclidean, you.next_payoff, yours, group, k)
    )


@jit
def egt_iterations(
    form: SequenceForm,
    one: ProxTables,
    two: ProxTables,
    schedule: np.ndarray,
    slack: float,
    euclidean: bool,
    done: int,
    n: int,
    group: ThreadGroup,
    k: int,
) -> None:
    """Thread k's part of iterations done + 1 .. done + n; player 1's μ is lowered in the odd ones.
    Changes plans, payoffs and `schedule`."""
    mu, mu_other, step = schedule[done % 2], schedule[1 - done % 2], schedule[2]
    for t in range(done, done + n):
        side, other, me, you, mine, yours = (
            (form.one, form.two, one, two, group.one, group.two)
            if t % 2 == 0
            else (form.two, form.one, two, one, group.two, group.one)
        )
        smoothed_reply(side, me, mu, euclidean, me.payoff, mine, group, k)
        _keep_policy(me, side, mine, k)
        # x̂ = argmax x'Ay - μ1 d1(x)
        partial_plan(side, me.reply_policy, me.reply, mine, k, group)
        tau = 2.0 / (step + 3.0)
        while tau >= SHORTEST_STEP:
            excess = try_decrease(
                side, other, me, you, mu, mu_other, tau, euclidean, mine, yours, group, k
            )
            if excess <= slack:
                break
            step = 2.0 * step + 3.0  # the excessive gap condition fails: deviation (2)
            tau *= 0.5
        if tau >= SHORTEST_STEP:
            mu = (1.0 - tau) * mu  # μ1⁺ = (1 - τ) μ1
            step += 1.0
            for tables, whose, part in ((me, side, mine), (you, other, yours)):
                _copy(tables.next, tables.plan, whose, part, k)
                _copy(tables.next_payoff, tables.payoff, whose, part, k)
        mu, mu_other = mu_other, mu
    if k == 0 and n > 0:  # no thread reads it any more
        last = (done + n) % 2
        schedule[last], schedule[1 - last], schedule[2] = mu, mu_other, step


class ExcessiveGap(Solver):
    """`prox`: entropy or euclidean. Two players with perfect recall, zero-sum."""

    name = "egt"
    summary = "excessive gap technique, a smooth first-order method"
    sampled = False

    def __init__(
        self, problem: Problem, seed: int, *, prox: str = "entropy", threads: int | str = 1
    ) -> None:
        given = {} if threads == 1 else {"threads": threads}
        super().__init__(problem, seed, prox=prox, **given)
        self._euclidean = one_of(prox, ("entropy", "euclidean"), "prox") == "euclidean"
        self._form = _checked_form(self.problem)
        self._threads = KernelThreads(self._form, thread_count(threads))
        self._one_thread = KernelThreads(self._form).group
        self.replies = reply_threads(self._form, thread_count(threads), self._threads)
        self._renumbered = RenumberedTables(
            self._threads, (new_tables(self._form.one), new_tables(self._form.two)), STATE
        )
        self._largest = [
            largest_prox(*pair, self._euclidean)
            for pair in zip(self._form, self._tables, strict=True)
        ]
        scale = float(np.abs(self.game.tree.payoff).max()) or 1.0
        self._slack = ROUNDING * scale
        self._schedule = np.zeros(3)  # μ1, μ2, k
        bound = 2.0**-20 * scale
        while self._start(bound) > self._slack:  # deviation (1)
            bound *= 2.0
        self._renumbered.changed()

    @property
    def _tables(self) -> tuple[ProxTables, ProxTables]:
        """Both players' tables, in the game's numbering."""
        return self._renumbered.get()

    def _start(self, bound: float) -> float:
        """Sets the initial point for μ_k = bound / D_k; returns its V1 + V2."""
        (one, two), (mine, yours) = self._form, self._tables
        self._schedule[:2] = [
            bound / largest if largest > 0.0 else bound for largest in self._largest
        ]
        mu1, mu2, _ = self._schedule
        counts = np.diff(one.first)
        plan_from_policy(one, np.repeat(1.0 / counts, counts), mine.plan)  # the centre, argmin d1
        payoff_gradient(self._form, 1, mine.plan, yours.work)
        self._reply(1, mu2, yours.work)
        plan_from_policy(two, yours.policy, yours.plan)  # y = argmax -x'Ay - μ2 d2(y)
        payoff_gradient(self._form, 0, yours.plan, mine.payoff)
        value = self._reply(0, mu1, mine.payoff)
        # x = the Bregman step from the centre, where ∇d1 = 0
        plan_from_policy(one, mine.policy, mine.plan)
        payoff_gradient(self._form, 1, mine.plan, yours.payoff)
        return value + self._reply(1, mu2, yours.payoff)

    def _reply(self, player: int, mu: float, payoff: np.ndarray) -> float:
        """Computes the smoothed reply of one player, by one thread; returns its value."""
        side, tables, group = self._form[player], self._tables[player], self._one_thread
        part = group.two if player else group.one
        return smoothed_reply(side, tables, mu, self._euclidean, payoff, part, group, 0)

    @property
    def bound(self) -> float:
        """μ1 D1 + μ2 D2: the exploitability is at most this."""
        return float(self._schedule[:2] @ self._largest)

    def excess(self) -> float:
        """V1(y) + V2(x), at most 0 up to rounding."""
        return sum(
            self._reply(player, self._schedule[player], self._tables[player].payoff)
            for player in (0, 1)
        )

    def tables(self) -> dict[str, np.ndarray]:
        state = {
            f"{name}{k}": getattr(tables, name)
            for k, tables in enumerate(self._tables, 1)
            for name in STATE
        }
        return {**state, "schedule": self._schedule}

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        super().restore(saved, source)
        self._renumbered.changed()

    def weights(self) -> np.ndarray:
        return np.concatenate([tables.plan[1:] for tables in self._tables])

    def _run(self, n: int) -> int:
        self._renumbered.changing()
        self._threads.run(
            egt_iterations,
            self._threads.form,
            *self._renumbered.own,
            self._schedule,
            self._slack,
            self._euclidean,
            self.iterations,
            n,
        )
        return n * self.game.n_nodes


def _checked_form(problem: Problem) -> SequenceForm:
    game = problem.game
    if game.n_players != 2:
        raise BadParameter(
            f"egt is for two players and {game.name} has {game.n_players}; "
            f"take one of {samplers_of(game)}"
        )
    if not game.perfect_recall:
        raise BadParameter(
            f"egt needs perfect recall, and {game.name} has players who forget; "
            f"take one of {samplers_of(game)}"
        )
    form = problem.sequence_form
    if not (_opposed(form) if problem.transformed else game.zero_sum):
        raise BadParameter(
            f"egt is for zero-sum games, and the payoffs of {game.name} do not add up to zero"
        )
    if any(len(side.floor) for side in form):
        raise BadParameter(
            "egt has no lower bounds on action probabilities (data-biased responses); take cfr+"
        )
    return form


def _opposed(form: SequenceForm) -> bool:
    """Whether player 2's payoffs are the negative transpose of player 1's."""
    from scipy.sparse import csr_array  # slow to load, and seldom needed

    one, two = (
        csr_array((side.value, side.column, side.row), shape=(side.n_sequences, other.n_sequences))
        for side, other in zip(form, reversed(form), strict=True)
    )
    return bool(abs(one + two.T).max() <= 1e-12)


SOLVER = ExcessiveGap
