"""Runs in limit hold'em with 10 buckets, measured in sb/h against a pre-computed equilibrium: those
of Figure 4, right, and others beside them.

A curve is float64[points, 4]: iterations, seconds, sb/h and its standard error. Seed k of every
algorithm plays the same deals, other than those of the other seeds, so differences between
algorithms are paired by seed. Seconds are of one thread, without the evaluations.

`bot_job` and `public_job` build tables and compile kernels before the jobs that need them; else one
process would wait for another that builds them, or compile the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.base import SolverVariant, source_version
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve, trained
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.players import bot

GAME = "holdem(buckets=10)"
EPSILON, PAPER_C = 0.6, 17.0
MATCH_SEED = 77
REFERENCE_SEED = 999
#: Iterations a second of one thread (benchmarks/RESULTS.md and public_threads.csv).
RATES = {
    "mcts": 1.6e6,
    "mccfr": 2.4e6,
    "mccfr-external": 1.5e5,
    "mccfr-public": 90.0,
    "mccfr-chance": 1.8e3,
}
EVALUATION_RATE = 2.5e6  # hands a second
PUBLIC = "mccfr-public"
#: Of tables and kernels the first time, on one processor.
PREPARING_SECONDS = {"poki": 35.0, "sparbot": 45.0, PUBLIC: 16.0}
OUTCOME = SolverVariant("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})
MCTS = SolverVariant("MCTS, C = 17", "mcts", {"c": PAPER_C})
EXTERNAL = SolverVariant("MCCFR, external sampling", "mccfr-external", {})
STEPS = (1, 1.5, 2, 3, 5, 7)  # of a decade
#: Variant, seed, and the iterations at which it is measured.
PlannedRun = tuple[SolverVariant, int, list[int]]


class Fig4HoldemScale(NamedTuple):
    iterations: int  # of outcome sampling
    mcts: int
    external: int
    swept: int  # iterations of each C
    seeds: int
    mcts_seeds: int
    swept_seeds: int
    hands: int
    reference: int  # iterations of external sampling for the pre-computed profile


QUICK = (140_000_000, 20_000_000, 500_000, 2_000_000, 3, 5, 1, 300_000, 1_000_000)
PAPER = (200_000_000, 100_000_000, 4_000_000, 10_000_000, 5, 10, 3, 1_000_000, 4_000_000)
SCALES = {
    "quick": Fig4HoldemScale(*QUICK),
    "paper": Fig4HoldemScale(*PAPER),
}
FIRST = 100_000  # iterations at the first evaluation


def points(iterations: int, first: int) -> list[int]:
    """From `first` on, six in a decade, as round numbers; the last is `iterations`."""
    scales = [10**k for k in range(12)]
    found = {int(step * scale) for scale in scales for step in STEPS}
    return [n for n in sorted(found) if first <= n < iterations] + [iterations]


def reference(size: Fig4HoldemScale, store: PieceStore, progress: ProgressCallback) -> Strategy:
    """The pre-computed profile: external sampling with a seed of its own."""
    solver = new_solver(load(GAME), "mccfr-external", REFERENCE_SEED, {"threads": 2})
    return trained(store, solver, size.reference, progress, "pre-computed MCCFR10")


def curve(
    variant: SolverVariant,
    seed: int,
    when: list[int],
    profile: Strategy,
    hands: int,
    store: PieceStore,
    progress: ProgressCallback,
) -> np.ndarray:
    """float64[points, 4]: iterations, seconds, sb/h and its standard error."""
    opponent = strategy_bot(profile, "MCCFR10")

    def against(strategy: Strategy) -> list[float]:
        match = (strategy.game, strategy, opponent, hands, MATCH_SEED + seed)
        result = play_match(*match, processes=1, luck_adjusted=False)
        return [result.mean, result.standard_error]

    new_solver(load(GAME), variant.algorithm, seed, dict(variant.options)).step(1)  # compiles
    solver = new_solver(load(GAME), variant.algorithm, seed, dict(variant.options))
    recipe = {"against": digest(profile.probabilities), "hands": hands, "seed": MATCH_SEED + seed}
    recipe["code"] = source_version(curve)

    def labelled(share: float, what: str) -> None:
        progress(share, f"{variant.label}, seed {seed + 1}: {what}")

    return learning_curve(store, recipe, solver, when, against, labelled)


def curve_jobs(size: Fig4HoldemScale, plan: Sequence[PlannedRun], store: PieceStore) -> list[Job]:
    """The reference, and then the curves of a plan."""
    first = Job(
        "Figure 4: pre-computed MCCFR10",
        partial(reference, size, store),
        size.reference / RATES["mccfr-external"] / 1.8,
        2,
    )

    def job(variant: SolverVariant, seed: int, when: list[int]) -> Job:
        def work(progress: ProgressCallback) -> None:
            profile = reference(size, store, progress)
            curve(variant, seed, when, profile, size.hands, store, progress)

        evaluating = len(when) * size.hands / EVALUATION_RATE
        seconds = 2.0 + when[-1] / RATES[variant.algorithm] + evaluating
        name = f"Figure 4: {variant.label}, seed {seed + 1}, {when[-1]:,} iterations"
        return Job(name, work, seconds, 1, (first.name,))

    return [first, *(job(*one) for one in plan)]


def by_seed(plan: list[PlannedRun]) -> list[PlannedRun]:
    """Seed by seed, so that jobs which begin together compile different kernels."""
    return sorted(plan, key=lambda one: one[1])


def curves_of(
    size: Fig4HoldemScale,
    plan: Sequence[PlannedRun],
    store: PieceStore,
    progress: ProgressCallback,
) -> list[np.ndarray]:
    """The curves of a plan, on as many threads as there are cores."""
    profile = reference(size, store, lambda share, what: progress(0.1 * share, what))
    work = [partial(curve, *one, profile, size.hands, store) for one in plan]
    return in_parallel(work, lambda share, what: progress(0.1 + 0.89 * share, what))


def at(curve: np.ndarray, x: float, axis: int = 0) -> float:
    """sb/h at so many iterations, or seconds (`axis` 1), linear in the logarithm."""
    return float(np.interp(np.log(x), np.log(np.maximum(curve[:, axis], 1e-9)), curve[:, 2]))


def reaches(curve: np.ndarray, level: float, axis: int = 0) -> float:
    """Iterations, or seconds (`axis` 1), after which a curve stays above this level, linear in the
    logarithm; infinity if it ends below."""
    won, x = curve[:, 2], np.log(np.maximum(curve[:, axis], 1e-9))
    below = np.flatnonzero(won <= level)
    k = int(below[-1]) if len(below) else -1
    if k == len(x) - 1:
        return float("inf")
    if k < 0:
        return float(curve[0, axis])
    share = (level - won[k]) / (won[k + 1] - won[k])
    return float(np.exp(x[k] + share * (x[k + 1] - x[k])))


# --- jobs that come first


def bot_job(name: str) -> Job:
    """Poki's or Sparbot's tables, and the kernels of a match."""

    def work(progress: ProgressCallback) -> None:
        game, opponent = load(GAME), bot(name, progress)
        match = (game, Strategy.uniform(game), opponent, 2, 0)
        play_match(*match, processes=1, luck_adjusted=name == "poki")

    return Job(f"tables of {name.title()}", work, PREPARING_SECONDS[name])


def public_job() -> Job:
    """The kernels of public sampling, which take the longest to compile."""

    def work(progress: ProgressCallback) -> None:
        progress(0.0, "compiling")
        new_solver(load(GAME), PUBLIC, 0, {}).step(1)

    return Job("kernels of public sampling", work, PREPARING_SECONDS[PUBLIC])
