"""Full-width counterfactual regret minimisation on any full-width form: CFR, CFR+, DCFR and PCFR+.

Section 3.2.2 and Eqs 3, 5. An iteration of one player has three steps: a product
(`payoff_gradient`: the payoff of each of the player's sequences against the other's plan, weighted
by counterfactual reach); a pass children first, which turns payoffs into counterfactual values
v(σ_I→a, I), adds r(I, a) = v(σ_I→a, I) - v(σ, I) to `regret` and applies regret matching; and a
pass parents first, which writes the new plan.

Symbols: r_I → `regret`, s_I → `strategy_sum`, σ → `policy`, v → `payoff` (of sequences) and `value`
(of information sets). The variants differ in the fields of `CFRVariant`: the discount of earlier
regrets, the weight of strategies in the average, whether the last regret is counted twice as a
prediction, and whether players alternate. CFR: Zinkevich et al. 2008. CFR+: Tammelin 2014. DCFR:
Brown & Sandholm 2019, α = 1.5, β = 0, γ = 2. PCFR+: Farina et al. 2021, quadratic averaging.
Deviations: PCFR+ predicts with the regrets of the last iteration as they were, where its authors
recompute the predicted values with the children's new strategies.

On a CUDA device an iteration is recorded once as a graph and repeated. The kernel `learn` is that
of `cfr_kernels.py`, one thread per information set. The CPU computes the weights of many iterations
at once; the device looks them up by its iteration counter. The tables are fetched on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import BadParameter, flag, probability, real
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import FullWidthForm, SequenceForm, tree_gradient, treeplex
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.device_form import DeviceForm
from counterplay.core.parallel.full_width import (
    ComputeOptions,
    KernelThreads,
    RenumberedTables,
    reply_threads,
    thread_count,
    use_device,
)
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.cfr_kernels import (
    DISCOUNTED,
    FIELDS,
    CFRVariant,
    IterationWeights,
    RegretEngine,
    RegretTables,
    average_strategy,
    cfr_iterations,
    cfr_iterations_parallel,
    new_tables,
    player_average,
    player_tables,
    update_player,
    weight_table,
)

COMPUTE = asdict(ComputeOptions())


class RegretMinimiser(RegretEngine):
    """One variant of CFR on any full-width form."""

    def __init__(self, form: FullWidthForm, variant: CFRVariant, threads: int = 1) -> None:
        self._form, self._variant = form, variant
        self.kernel_threads = KernelThreads(form, threads)
        self.replies = reply_threads(form, threads, self.kernel_threads)
        self._tables = RenumberedTables(self.kernel_threads, new_tables(form, variant), FIELDS)

    @property
    def tables(self) -> tuple[RegretTables, RegretTables]:  # type: ignore[override]
        """Both players' tables, in the game's numbering."""
        return self._tables.get()

    def changed(self) -> None:
        self._tables.changed()

    def run(self, done: int, n: int) -> None:
        self._tables.changing()
        arguments = self.kernel_threads.form, *self._tables.own, self._variant, done, n
        if self.kernel_threads.threads == 1:
            cfr_iterations(*arguments)
        else:
            self.kernel_threads.run(cfr_iterations_parallel, *arguments)

    def average(self) -> np.ndarray:
        """The average strategy; the current one at information sets of zero own reach."""
        return average_strategy(self._form, self.tables)


class FullWidth(Solver):
    """A variant of CFR for players with perfect recall. Options: fields of the variant, and
    `threads`, `backend` and `precision` (`ComputeOptions`), for two players; more play on the
    tree."""

    sampled = False
    variant: ClassVar[CFRVariant]

    def __init__(self, problem: Problem, seed: int, **options: Any) -> None:
        game = problem.game
        chosen = {k: options.pop(k, v) for k, v in self.shared_options.items() if k not in COMPUTE}
        compute = ComputeOptions(**options)
        super().__init__(problem, seed, **chosen, **compute.options)
        checks: dict[str, Any] = dict.fromkeys(chosen, real) | {"alternating": flag}
        variant = self.variant._replace(**{k: checks[k](v, k) for k, v in chosen.items()})
        own = getattr(game.rules, "regret_minimiser", None)
        compute.check(any_precision=own is not None)
        self._regrets: RegretEngine
        if own is not None:  # of rules with a form of their own
            self._regrets = own(variant, compute, self.problem)
            return
        if game.n_players != 2:
            if compute.options:
                raise BadParameter(
                    f"{next(iter(compute.options))} is for two players, and {game.name} has "
                    f"{game.n_players}; leave it out"
                )
            self._regrets = TreeRegretMinimiser(game, variant)
            return
        form = self.problem.sequence_form
        if use_device(form, compute.backend, compute.threads):
            self._regrets = DeviceRegretMinimiser(form, variant, compute.precision)
        else:
            self._regrets = RegretMinimiser(form, variant, thread_count(compute.threads))
        self.replies = self._regrets.replies

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        super().restore(saved, source)
        self._regrets.changed()

    def tables(self) -> dict[str, np.ndarray]:
        return self._regrets.arrays()

    def weights(self) -> np.ndarray:
        return self._regrets.weights()

    def regrets(self) -> np.ndarray:
        return self._regrets.regrets()

    def current_strategy(self) -> Strategy:
        """The last iterate, which predictions and lower bounds on probabilities change."""
        return Strategy(self.game, self._regrets.policy())

    def exploitability(self) -> float:
        own = self._regrets.exploitability
        return super().exploitability() if own is None else float(own())

    def discount(self, factor: float) -> None:
        share = probability(factor, "factor")
        for name, array in self.tables().items():
            if name[:-1] in ("regret", "strategy_sum", "predicted"):
                array *= share
        self._regrets.changed()

    def _run(self, n: int) -> int:
        self._regrets.run(self.iterations, n)
        return n * self.game.n_nodes


def options_of_variant(variant: CFRVariant, *fields: str) -> dict[str, Any]:
    """The options of a solver: fields of its variant, and those of `ComputeOptions`."""
    return {field: getattr(variant, field) for field in fields} | COMPUTE


class CFR(FullWidth):
    """`alternating`: player 2 responds to player 1's new strategy within an iteration."""

    name = "cfr"
    summary = "counterfactual regret minimisation, full width"
    variant = CFRVariant(np.inf, np.inf, 0.0, predictive=False, alternating=False)
    shared_options = options_of_variant(variant, "alternating")


class CFRPlus(FullWidth):
    """Regret matching+, alternating, linear averaging."""

    name = "cfr+"
    summary = "CFR+: regret matching+, linear averaging"
    variant = CFRVariant(np.inf, -np.inf, 1.0, predictive=False, alternating=True)
    shared_options = options_of_variant(variant, "alternating")


class DiscountedCFR(FullWidth):
    """Discounts: `alpha` of positive regrets, `beta` of negative ones, `gamma` of the average."""

    name = "dcfr"
    summary = "discounted CFR"
    variant = DISCOUNTED
    shared_options = options_of_variant(variant, "alpha", "beta", "gamma")


class PredictiveCFRPlus(FullWidth):
    """CFR+ that counts the last regret twice, with quadratic averaging."""

    name = "pcfr+"
    summary = "predictive CFR+, quadratic averaging"
    variant = CFRVariant(np.inf, -np.inf, 2.0, predictive=True, alternating=True)
    shared_options = COMPUTE


class TreeRegretMinimiser(RegretEngine):
    """One variant of CFR on a tree of n players with perfect recall. The payoffs of a player's
    sequences come from one pass over all histories (`tree_gradient`) instead of a product with the
    payoff matrix of two players."""

    def __init__(self, game: Game, variant: CFRVariant) -> None:
        if not game.capabilities.full_width:
            raise BadParameter(f"{game.name} is too large for solvers at full width")
        self._tree, self._variant, self._plexes = game.tree, variant, game.treeplexes
        players = range(game.n_players)
        self._sequences = [treeplex(game.tree, player)[1] for player in players]
        self._slots = [game.slots(player) for player in players]
        self._weight = np.empty(game.n_nodes)
        self.tables: tuple[RegretTables, ...] = tuple(
            player_tables(plex, variant.predictive) for plex in self._plexes
        )

    def run(self, done: int, n: int) -> None:
        policy = np.concatenate([tables.policy for tables in self.tables])
        for t in range(done + 1, done + n + 1):
            if not self._variant.alternating:
                for player in range(len(self.tables)):
                    self._gradient(player, policy)
            for player, tables in enumerate(self.tables):
                if self._variant.alternating:
                    self._gradient(player, policy)
                update_player(self._plexes[player], tables, self._variant, t)
                policy[self._slots[player]] = tables.policy

    def _gradient(self, player: int, policy: np.ndarray) -> None:
        """Fills the payoffs of a player's sequences against the others' `policy`."""
        sequence, payoff = self._sequences[player], self.tables[player].payoff
        tree_gradient(self._tree, policy, player, sequence, self._weight, payoff)

    def average(self) -> np.ndarray:
        """The average strategy; the current one at information sets of zero own reach."""
        pairs = zip(self._plexes, self.tables, strict=True)
        return np.concatenate([player_average(plex, tables) for plex, tables in pairs])


SOLVER = (CFR, CFRPlus, DiscountedCFR, PredictiveCFRPlus)


# --- on a CUDA device

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
