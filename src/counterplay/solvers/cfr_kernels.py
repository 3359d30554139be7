"""The kernels of the CFR family: by one thread, and by several (`forms/together.py`), which give
the same bits. `cfr.py` says what is computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.sequence import SequenceForm, Side, Treeplex, plan_from_policy
from counterplay.forms.shares import Shares
from counterplay.forms.together import Gang, collect, share_of_gradient, share_of_plan
from counterplay.forms.width import FullWidthForm, payoff_gradient
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.meeting import meet
from counterplay.kernels.policy import normalise, regret_matching


class Variant(NamedTuple):
    """Where the members of the family differ."""

    alpha: float  # positive regrets are multiplied by t^α / (t^α + 1); infinity keeps them
    beta: float  # the same for negative regrets; minus infinity forgets them (regret matching+)
    gamma: float  # iteration t has weight t^γ in the average
    predictive: bool
    alternating: bool


DISCOUNTED = Variant(alpha=1.5, beta=0.0, gamma=2.0, predictive=False, alternating=True)


FIELDS = ("regret", "strategy_sum", "policy", "plan", "predicted")  # of a half: what files keep


class Half(NamedTuple):
    """One player's arrays: s slots, s + 1 sequences."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]: weighted sum of plans, without the empty sequence
    policy: np.ndarray  # float64[s]: behaviour, never below the side's floor
    plan: np.ndarray  # float64[s + 1]
    predicted: np.ndarray  # float64[s]: regret plus its prediction; empty unless predictive
    payoff: np.ndarray  # float64[s + 1]: scratch
    value: np.ndarray  # float64[m]: scratch, of the information sets


@jit
def _kept(t: int, exponent: float) -> float:
    """t^x / (t^x + 1), and its limits: all for infinity, nothing for minus infinity."""
    if np.isinf(exponent):
        return 1.0 if exponent > 0.0 else 0.0
    return 1.0 / float(1.0 + float(t) ** -exponent)


class Pace(NamedTuple):
    """What iteration t does with the past."""

    weight: float  # of its strategy in the average
    positive: float  # what is kept of positive regrets
    negative: float


@jit(inline=True)
def pace_of(variant: Variant, t: int) -> Pace:
    return Pace(float(t) ** variant.gamma, _kept(t, variant.alpha), _kept(t, variant.beta))


@jit
def _fill_paces(variant: Variant, done: int, out: np.ndarray) -> None:
    for j in range(len(out)):
        out[j, 0], out[j, 1], out[j, 2] = pace_of(variant, done + 1 + j)


def paces(variant: Variant, done: int, n: int) -> np.ndarray:
    """float64[n, 3]: the `Pace` of iterations done + 1 .. done + n."""
    out = np.empty((n, len(Pace._fields)))
    _fill_paces(variant, done, out)
    return out


@jit(inline=True)
def _learn(
    side: Treeplex | Side, half: Half, pace: Pace, predictive: bool, low: int, high: int, value: Any
) -> None:
    """Regrets, sums and the new policy of the information set with slots low .. high - 1, whose
    `payoff` is that of all below; `value`: v(σ, I)."""
    free = 1.0
    if len(side.floor) > 0:  # regret concerns the free part of the behaviour only
        fixed = 0.0
        for slot in range(low, high):
            free -= side.floor[slot]
            fixed += side.floor[slot] * half.payoff[slot + ONE]
        free = max(free, 0.0)  # rounding
        value = (value - fixed) / free if free > 0.0 else value
    for slot in range(low, high):
        regret = half.payoff[slot + ONE] - value
        total = half.regret[slot] + regret
        total *= pace.positive if total > 0.0 else pace.negative
        half.regret[slot] = total
        if predictive:
            half.predicted[slot] = total + regret
        half.strategy_sum[slot] += pace.weight * half.plan[slot + ONE]
    source = half.predicted if predictive else half.regret
    regret_matching(source, low, high - low, half.policy, low)
    if len(side.floor) > 0:
        for slot in range(low, high):
            half.policy[slot] = side.floor[slot] + free * half.policy[slot]


@jit
def update_half(side: Treeplex | Side, half: Half, variant: Variant, t: int) -> None:
    """One player's part of iteration t, given the gradient in `half.payoff`. Changes every array
    of `half`."""
    pace = pace_of(variant, t)
    i = index(len(side.parent))
    while i > ZERO:  # children first
        i -= ONE
        low, high = index(side.first[i]), index(side.first[i + ONE])
        value = 0.0
        for slot in range(low, high):
            value += half.policy[slot] * half.payoff[slot + ONE]
        half.payoff[index(side.parent[i])] += value
        _learn(side, half, pace, variant.predictive, low, high, value)
    plan_from_policy(side, half.policy, half.plan)


@jit
def cfr_iterations(
    form: FullWidthForm, one: Half, two: Half, variant: Variant, done: int, n: int
) -> None:
    """Iterations done + 1 .. done + n of both players."""
    for t in range(done + 1, done + n + 1):
        payoff_gradient(form, 0, two.plan, one.payoff)
        if variant.alternating:
            update_half(form.one, one, variant, t)
            payoff_gradient(form, 1, one.plan, two.payoff)
        else:
            payoff_gradient(form, 1, one.plan, two.payoff)
            update_half(form.one, one, variant, t)
        update_half(form.two, two, variant, t)


@jit(inner=True)
def share_of_half(
    side: Side, half: Half, variant: Variant, t: int, shares: Shares, crew: Gang, k: int
) -> None:
    """Thread k's part of `update_half`; at the end all of it is done."""
    pace = pace_of(variant, t)
    row = len(shares.low)
    while row > 0:  # children first
        row -= 1
        begin = index(shares.low[row, k])
        i = index(shares.high[row, k])
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            value = 0.0
            for slot in range(low, high):
                earned = collect(shares, half.value, slot + ONE, half.payoff[slot + ONE])
                half.payoff[slot + ONE] = earned
                value += half.policy[slot] * earned
            half.value[i] = value
            _learn(side, half, pace, variant.predictive, low, high, value)
        if row > 0 and shares.begins[row]:
            meet(crew.door, crew.threads)
    share_of_plan(side, half.policy, half.plan, shares, k, crew)


@jit
def cfr_together(
    form: SequenceForm,
    one: Half,
    two: Half,
    variant: Variant,
    done: int,
    n: int,
    crew: Gang,
    k: int,
) -> None:
    """Thread k's part of `cfr_iterations`."""
    for t in range(done + 1, done + n + 1):
        share_of_gradient(form.one, two.plan, one.payoff, crew.one, k)
        if variant.alternating:
            share_of_half(form.one, one, variant, t, crew.one, crew, k)
            share_of_gradient(form.two, one.plan, two.payoff, crew.two, k)
        else:
            share_of_gradient(form.two, one.plan, two.payoff, crew.two, k)
            meet(crew.door, crew.threads)  # before anybody changes the plan
            share_of_half(form.one, one, variant, t, crew.one, crew, k)
        share_of_half(form.two, two, variant, t, crew.two, crew, k)


def new_halves(form: FullWidthForm, variant: Variant) -> tuple[Half, Half]:
    """Both players' arrays at iteration 0."""
    return _new_half(form.one, variant.predictive), _new_half(form.two, variant.predictive)


def average_of(form: FullWidthForm, halves: tuple[Half, Half]) -> np.ndarray:
    """The average strategy; the last one where a player never comes by his own choice."""
    pairs = zip((form.one, form.two), halves, strict=True)
    return np.concatenate([_average(plex, half) for plex, half in pairs])


def _average(plex: Treeplex | Side, half: Half) -> np.ndarray:
    out = np.empty(len(half.policy))
    normalise(half.strategy_sum, plex.first, out)
    counts = np.diff(plex.first)
    never = np.repeat(np.add.reduceat(half.strategy_sum, plex.first[:-1]) <= 0.0, counts)
    return np.where(never, half.policy, out)


def _new_half(side: Treeplex | Side, predictive: bool) -> Half:
    n_slots = int(side.first[-1])
    counts = np.diff(side.first)
    policy = np.repeat(1.0 / counts, counts)
    if len(side.floor):
        free = np.maximum(1.0 - np.add.reduceat(side.floor, side.first[:-1]), 0.0)
        policy = side.floor + np.repeat(free, counts) * policy
    half = Half(
        regret=np.zeros(n_slots),
        strategy_sum=np.zeros(n_slots),
        policy=policy,
        plan=np.empty(n_slots + 1),
        predicted=np.zeros(n_slots if predictive else 0),
        payoff=np.empty(n_slots + 1),
        value=np.empty(len(counts)),
    )
    plan_from_policy(side, half.policy, half.plan)
    return half
