"""Full-width counterfactual regret minimisation on any full-width form: CFR, CFR+, DCFR and PCFR+.

Section 3.2.2 and Eqs 3, 5. An iteration of one player is a product (`payoff_gradient`, the payoff
of each of his sequences against the other's plan), a pass children first that turns payoffs into
counterfactual values v(σ_I→a, I) and adds r(I, a) = v(σ_I→a, I) - v(σ, I) to `regret` and applies
regret matching, and a pass parents first that writes his new plan.

The family differs in four numbers (`Variant`): how old regrets are kept, how strategies are
weighted in the average, whether the last regret is counted twice as a prediction, and whether
players take turns within an iteration. CFR: Zinkevich et al. 2008. CFR+: Tammelin 2014. DCFR: Brown
& Sandholm 2019, α = 1.5, β = 0, γ = 2. PCFR+: Farina et al. 2021, quadratic averaging. Deviations:
none, except that PCFR+ predicts with the regrets of the last iteration as they were, where its
authors work out the predicted values again with the children's new strategies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter, shown
from counterplay.forms.game import Game
from counterplay.forms.sequence import SequenceForm, Side, Treeplex, plan_from_policy
from counterplay.forms.width import FullWidthForm, payoff_gradient
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.policy import normalise, regret_matching
from counterplay.solvers.algorithms import samplers_of
from counterplay.solvers.base import Solver, probability, real


class Variant(NamedTuple):
    """Where the members of the family differ."""

    alpha: float  # positive regrets are multiplied by t^α / (t^α + 1); infinity keeps them
    beta: float  # the same for negative regrets; minus infinity forgets them (regret matching+)
    gamma: float  # iteration t has weight t^γ in the average
    predictive: bool
    alternating: bool


DISCOUNTED = Variant(alpha=1.5, beta=0.0, gamma=2.0, predictive=False, alternating=True)


class Half(NamedTuple):
    """One player's arrays: s slots, s + 1 sequences."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]: weighted sum of plans, without the empty sequence
    policy: np.ndarray  # float64[s]: behaviour, never below the side's floor
    plan: np.ndarray  # float64[s + 1]
    predicted: np.ndarray  # float64[s]: regret plus its prediction; empty unless predictive
    payoff: np.ndarray  # float64[s + 1]: scratch


@jit
def _kept(t: int, exponent: float) -> float:
    """t^x / (t^x + 1), and its limits: all for infinity, nothing for minus infinity."""
    if np.isinf(exponent):
        return 1.0 if exponent > 0.0 else 0.0
    return 1.0 / float(1.0 + float(t) ** -exponent)


@jit
def update_half(side: Treeplex | Side, half: Half, variant: Variant, t: int) -> None:
    """One player's part of iteration t, given the gradient in `half.payoff`. Changes every array
    of `half`."""
    weight = float(t) ** variant.gamma
    keep_positive = _kept(t, variant.alpha)
    keep_negative = _kept(t, variant.beta)
    bound = len(side.floor) > 0
    source = half.predicted if variant.predictive else half.regret
    i = index(len(side.parent))
    while i > ZERO:  # children first
        i -= ONE
        low, high = index(side.first[i]), index(side.first[i + ONE])
        value = 0.0
        for slot in range(low, high):
            value += half.policy[slot] * half.payoff[slot + ONE]
        half.payoff[index(side.parent[i])] += value
        free = 1.0
        if bound:  # regret concerns the free part of the behaviour only
            fixed = 0.0
            for slot in range(low, high):
                free -= side.floor[slot]
                fixed += side.floor[slot] * half.payoff[slot + ONE]
            free = max(free, 0.0)  # rounding
            value = (value - fixed) / free if free > 0.0 else value
        for slot in range(low, high):
            regret = half.payoff[slot + ONE] - value
            total = half.regret[slot] + regret
            total *= keep_positive if total > 0.0 else keep_negative
            half.regret[slot] = total
            if variant.predictive:
                half.predicted[slot] = total + regret
            half.strategy_sum[slot] += weight * half.plan[slot + ONE]
        regret_matching(source, low, high - low, half.policy, low)
        if bound:
            for slot in range(low, high):
                half.policy[slot] = side.floor[slot] + free * half.policy[slot]
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


class Regrets:
    """A run of one variant on any full-width form: both players' arrays."""

    def __init__(self, form: FullWidthForm, variant: Variant) -> None:
        self._form, self._variant = form, variant
        self.halves = (
            _new_half(form.one, variant.predictive),
            _new_half(form.two, variant.predictive),
        )

    def run(self, done: int, n: int) -> None:
        """Iterations done + 1 .. done + n."""
        cfr_iterations(self._form, *self.halves, self._variant, done, n)

    def weights(self) -> np.ndarray:
        """float64[slots of both]: what normalises to the average strategy."""
        return np.concatenate([half.strategy_sum for half in self.halves])

    def average(self) -> np.ndarray:
        """The average strategy; the last one where a player never comes by his own choice."""
        found = [
            _average(plex, half)
            for plex, half in zip((self._form.one, self._form.two), self.halves, strict=True)
        ]
        return np.concatenate(found)


class FullWidth(Solver):
    """CFR with given variant; two players with perfect recall."""

    sampled = False

    def __init__(
        self, game: Game, seed: int, form: SequenceForm | None, variant: Variant, **options: Any
    ) -> None:
        super().__init__(game, seed, **options)
        if game.n_players != 2:
            raise BadParameter(
                f"{self.name} is for two players and {game.name} has {game.n_players}; "
                f"take one of {samplers_of(game)}"
            )
        self._regrets = Regrets(form or game.sequence_form, variant)

    def tables(self) -> dict[str, np.ndarray]:
        fields = ("regret", "strategy_sum", "policy", "plan", "predicted")
        return {
            f"{name}{k}": getattr(half, name)
            for k, half in enumerate(self._regrets.halves, 1)
            for name in fields
        }

    def weights(self) -> np.ndarray:
        return self._regrets.weights()

    def fade(self, factor: float) -> None:
        share = probability(factor, "factor")
        for name, array in self.tables().items():
            if name[:-1] in ("regret", "strategy_sum", "predicted"):
                array *= share

    def _run(self, n: int) -> int:
        self._regrets.run(self.iterations, n)
        return n * self.game.n_nodes


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
    )
    plan_from_policy(side, half.policy, half.plan)
    return half


def _yes(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise BadParameter(f"{what} must be True or False, not {shown(value)}")
    return value


class CFR(FullWidth):
    """`alternating`: player 2 answers player 1's new strategy within an iteration."""

    name = "cfr"
    summary = "counterfactual regret minimisation, full width"

    def __init__(
        self, game: Game, seed: int, form: SequenceForm | None = None, *, alternating: bool = False
    ) -> None:
        variant = Variant(np.inf, np.inf, 0.0, False, _yes(alternating, "alternating"))
        super().__init__(game, seed, form, variant, alternating=alternating)


class CFRPlus(FullWidth):
    """Regret matching+, alternating, linear averaging."""

    name = "cfr+"
    summary = "CFR+: regret matching+, linear averaging"

    def __init__(
        self, game: Game, seed: int, form: SequenceForm | None = None, *, alternating: bool = True
    ) -> None:
        variant = Variant(np.inf, -np.inf, 1.0, False, _yes(alternating, "alternating"))
        super().__init__(game, seed, form, variant, alternating=alternating)


class DiscountedCFR(FullWidth):
    """Old regrets are discounted: `alpha` the positive, `beta` the negative; `gamma` the
    average."""

    name = "dcfr"
    summary = "discounted CFR"

    def __init__(
        self,
        game: Game,
        seed: int,
        form: SequenceForm | None = None,
        *,
        alpha: float = DISCOUNTED.alpha,
        beta: float = DISCOUNTED.beta,
        gamma: float = DISCOUNTED.gamma,
    ) -> None:
        variant = Variant(
            real(alpha, "alpha"), real(beta, "beta"), real(gamma, "gamma"), False, True
        )
        super().__init__(game, seed, form, variant, alpha=alpha, beta=beta, gamma=gamma)


class PredictiveCFRPlus(FullWidth):
    """CFR+ that counts the last regret twice, with quadratic averaging."""

    name = "pcfr+"
    summary = "predictive CFR+, quadratic averaging"

    def __init__(self, game: Game, seed: int, form: SequenceForm | None = None) -> None:
        super().__init__(game, seed, form, Variant(np.inf, -np.inf, 2.0, True, True))


SOLVER = (CFR, CFRPlus, DiscountedCFR, PredictiveCFRPlus)
