"""The kernels of full-width CFR, for one thread and for several (`core/parallel/full_width.py`),
which give equal bits. `cfr.py` has the algorithm and its symbols."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.sequence import (
    FullWidthForm,
    SequenceForm,
    Side,
    Treeplex,
    payoff_gradient,
    plan_from_policy,
)
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import normalise, regret_matching
from counterplay.core.parallel.barrier import barrier
from counterplay.core.parallel.full_width import (
    ThreadGroup,
    collect,
    infoset_range,
    partial_gradient,
    partial_plan,
)
from counterplay.core.parallel.partition import Partition


class CFRVariant(NamedTuple):
    """The parameters in which the variants of CFR differ."""

    alpha: float  # positive regrets are multiplied by t^α / (t^α + 1); infinity: by 1
    beta: float  # the same for negative regrets; minus infinity: by 0 (regret matching+)
    gamma: float  # iteration t has weight t^γ in the average
    predictive: bool
    alternating: bool


DISCOUNTED = CFRVariant(alpha=1.5, beta=0.0, gamma=2.0, predictive=False, alternating=True)
FIELDS = ("regret", "strategy_sum", "policy", "plan", "predicted")  # that are saved


class RegretTables(NamedTuple):
    """One player's arrays: s slots, s + 1 sequences."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]: weighted sum of plans, without the empty sequence
    policy: np.ndarray  # float64[s]: behaviour, never below the side's floor
    plan: np.ndarray  # float64[s + 1]
    predicted: np.ndarray  # float64[s]: regret plus its prediction; empty unless predictive
    payoff: np.ndarray  # float64[s + 1]: workspace
    value: np.ndarray  # float64[m]: workspace, of the information sets


class RegretEngine:
    """What runs the iterations of a variant of CFR, and what it has learnt; an engine with tables
    of another kind has answers of its own."""

    #: Every player's tables, in the game's numbering.
    tables: tuple[RegretTables, ...]
    replies: Any = None  # what computes best replies; None: one thread does
    exploitability: Any = None  # a function, of an engine that measures its average itself

    def run(self, done: int, n: int) -> None:
        """Runs iterations done + 1 .. done + n."""
        raise NotImplementedError

    def changed(self) -> None:
        """Call after writing to what `arrays` returned."""

    def arrays(self) -> dict[str, np.ndarray]:
        """All that was learnt, not copies."""
        return {
            f"{name}{k}": getattr(tables, name)
            for k, tables in enumerate(self.tables, 1)
            for name in FIELDS
        }

    def weights(self) -> np.ndarray:
        """float64[n_slots]: the average strategy before normalisation."""
        return np.concatenate([tables.strategy_sum for tables in self.tables])

    def regrets(self) -> np.ndarray:
        """float64[n_slots]: the cumulative regrets."""
        return np.concatenate([tables.regret for tables in self.tables])

    def policy(self) -> np.ndarray:
        """float64[n_slots]: the current strategy."""
        return np.concatenate([tables.policy for tables in self.tables])


@jit
def _discount(t: int, exponent: float) -> float:
    """t^x / (t^x + 1), and its limits: 1 for infinity, 0 for minus infinity."""
    if np.isinf(exponent):
        return 1.0 if exponent > 0.0 else 0.0
    return 1.0 / float(1.0 + float(t) ** -exponent)


class IterationWeights(NamedTuple):
    """The weight of iteration t and the discounts of what was learnt before it."""

    weight: float  # of its strategy in the average
    positive: float  # factor of positive regrets
    negative: float  # and of negative ones


@jit(inline=True)
def iteration_weights(variant: CFRVariant, t: int) -> IterationWeights:
    return IterationWeights(
        float(t) ** variant.gamma, _discount(t, variant.alpha), _discount(t, variant.beta)
    )


@jit
def _fill_weights(variant: CFRVariant, done: int, out: np.ndarray) -> None:
    for j in range(len(out)):
        out[j, 0], out[j, 1], out[j, 2] = iteration_weights(variant, done + 1 + j)


def weight_table(variant: CFRVariant, done: int, n: int) -> np.ndarray:
    """float64[n, 3]: the `IterationWeights` of iterations done + 1 .. done + n."""
    out = np.empty((n, len(IterationWeights._fields)))
    _fill_weights(variant, done, out)
    return out


@jit(inline=True)
def _learn(
    side: Treeplex | Side,
    tables: RegretTables,
    weights: IterationWeights,
    predictive: bool,
    low: int,
    high: int,
    value: Any,
) -> None:
    """Updates regrets, strategy sums and the policy of the information set with slots low .. high -
    1. `payoff` has v(σ_I→a, I); `value`: v(σ, I)."""
    free = 1.0
    if len(side.floor) > 0:  # regrets are of the part of the behaviour above the floor
        fixed = 0.0
        for slot in range(low, high):
            free -= side.floor[slot]
            fixed += side.floor[slot] * tables.payoff[slot + ONE]
        free = max(free, 0.0)  # rounding
        value = (value - fixed) / free if free > 0.0 else value
    for slot in range(low, high):
        regret = tables.payoff[slot + ONE] - value
        total = tables.regret[slot] + regret
        total *= weights.positive if total > 0.0 else weights.negative
        tables.regret[slot] = total
        if predictive:
            tables.predicted[slot] = total + regret
        tables.strategy_sum[slot] += weights.weight * tables.plan[slot + ONE]
    source = tables.predicted if predictive else tables.regret
    regret_matching(source, low, high - low, tables.policy, low)
    if len(side.floor) > 0:
        for slot in range(low, high):
            tables.policy[slot] = side.floor[slot] + free * tables.policy[slot]


@jit
def update_player(side: Treeplex | Side, tables: RegretTables, variant: CFRVariant, t: int) -> None:
    """One player's part of iteration t, from the gradient in `tables.payoff`. Changes `tables`."""
    weights = iteration_weights(variant, t)
    i = index(len(side.parent))
    while i > ZERO:  # children first
        i -= ONE
        low, high = index(side.first[i]), index(side.first[i + ONE])
        value = 0.0
        for slot in range(low, high):
            value += tables.policy[slot] * tables.payoff[slot + ONE]
        tables.payoff[index(side.parent[i])] += value
        _learn(side, tables, weights, variant.predictive, low, high, value)
    plan_from_policy(side, tables.policy, tables.plan)


@jit
def cfr_iterations(
    form: FullWidthForm,
    one: RegretTables,
    two: RegretTables,
    variant: CFRVariant,
    done: int,
    n: int,
) -> None:
    """Iterations done + 1 .. done + n of both players."""
    for t in range(done + 1, done + n + 1):
        payoff_gradient(form, 0, two.plan, one.payoff)
        if variant.alternating:
            update_player(form.one, one, variant, t)
            payoff_gradient(form, 1, one.plan, two.payoff)
        else:
            payoff_gradient(form, 1, one.plan, two.payoff)
            update_player(form.one, one, variant, t)
        update_player(form.two, two, variant, t)


@jit  # as `partial_gradient`
def partial_update(
    side: Side,
    tables: RegretTables,
    variant: CFRVariant,
    t: int,
    part: Partition,
    group: ThreadGroup,
    k: int,
) -> None:
    """Thread k's part of `update_player`; returns when all parts are done."""
    weights = iteration_weights(variant, t)
    for row in range(len(part.low) - 1, -1, -1):  # children first
        begin, i = infoset_range(part, row, k)
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            value = 0.0
            for slot in range(low, high):
                earned = collect(part, tables.value, slot + ONE, tables.payoff[slot + ONE])
                tables.payoff[slot + ONE] = earned
                value += tables.policy[slot] * earned
            tables.value[i] = value
            _learn(side, tables, weights, variant.predictive, low, high, value)
        if row > 0 and part.begins[row]:
            barrier(group.counter, group.threads)
    partial_plan(side, tables.policy, tables.plan, part, k, group)


@jit
def cfr_iterations_parallel(
    form: SequenceForm,
    one: RegretTables,
    two: RegretTables,
    variant: CFRVariant,
    done: int,
    n: int,
    group: ThreadGroup,
    k: int,
) -> None:
    """Thread k's part of `cfr_iterations`."""
    for t in range(done + 1, done + n + 1):
        partial_gradient(form.one, two.plan, one.payoff, group.one, k)
        if variant.alternating:
            partial_update(form.one, one, variant, t, group.one, group, k)
            partial_gradient(form.two, one.plan, two.payoff, group.two, k)
        else:
            partial_gradient(form.two, one.plan, two.payoff, group.two, k)
            barrier(group.counter, group.threads)  # before any thread changes the plan
            partial_update(form.one, one, variant, t, group.one, group, k)
        partial_update(form.two, two, variant, t, group.two, group, k)


def new_tables(form: FullWidthForm, variant: CFRVariant) -> tuple[RegretTables, RegretTables]:
    """Both players' arrays at iteration 0."""
    one, two = (player_tables(side, variant.predictive) for side in (form.one, form.two))
    return one, two


def average_strategy(form: FullWidthForm, tables: tuple[RegretTables, RegretTables]) -> np.ndarray:
    """Returns the average strategy; the current one at information sets of zero own reach."""
    pairs = zip((form.one, form.two), tables, strict=True)
    return np.concatenate([player_average(plex, tables) for plex, tables in pairs])


def player_average(plex: Treeplex | Side, tables: RegretTables) -> np.ndarray:
    """Returns one player's part of `average_strategy`."""
    out = np.empty(len(tables.policy))
    normalise(tables.strategy_sum, plex.first, out)
    counts = np.diff(plex.first)
    reach = np.add.reduceat(tables.strategy_sum, plex.first[:-1])
    return np.where(np.repeat(reach <= 0.0, counts), tables.policy, out)


def player_tables(side: Treeplex | Side, predictive: bool) -> RegretTables:
    """One player's arrays at iteration 0."""
    n_slots = int(side.first[-1])
    counts = np.diff(side.first)
    policy = np.repeat(1.0 / counts, counts)
    if len(side.floor):
        free = np.maximum(1.0 - np.add.reduceat(side.floor, side.first[:-1]), 0.0)
        policy = side.floor + np.repeat(free, counts) * policy
    tables = RegretTables(
        regret=np.zeros(n_slots),
        strategy_sum=np.zeros(n_slots),
        policy=policy,
        plan=np.empty(n_slots + 1),
        predicted=np.zeros(n_slots if predictive else 0),
        payoff=np.empty(n_slots + 1),
        value=np.empty(len(counts)),
    )
    plan_from_policy(side, tables.policy, tables.plan)
    return tables
