"""Figure 4, right: MCCFR and MCTS in limit hold'em with 10 buckets, against a pre-computed MCCFR10
profile.

Every so many iterations the strategy plays duplicate hands against a profile that MCCFR learnt
before, from another seed. That one uses external sampling, which gets further in the same time;
against a profile of outcome sampling that is itself far from converged, "near zero" would say
little. External sampling is also the third curve: the paper's conclusion guesses that it converges
as fast as MCTS. One of its iterations visits about 40 times as many nodes, so it is run for fewer;
one of public chance sampling, the fourth curve, walks all betting on a board.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.base.store import digest
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.harness.training import learning_curve
from counterplay.experiments.paper.cells import Wanted, training_jobs
from counterplay.experiments.paper.players import mccfr
from counterplay.experiments.paper.rules import race as rules
from counterplay.experiments.paper.sizes import SIZES
from counterplay.forms.registry import load
from counterplay.forms.strategy import Strategy
from counterplay.match.play import play_match
from counterplay.opponents.bots.table import strategy_bot
from counterplay.parallel.jobs import Job, in_parallel
from counterplay.solvers.algorithms import new_solver

GAME = "holdem(buckets=10)"
EPSILON, PAPER_C = 0.6, 17.0
#: In small bets; 17 in small blinds is 8.5, and 17 in big bets 34.
SWEEP = (2.0, 4.25, 8.5, 17.0, 34.0, 68.0)
EVERY = 1_000_000
MATCH_SEED = 77


class Scale(NamedTuple):
    iterations: int  # of outcome sampling and of MCTS
    external: int  # of external sampling
    public: int  # of public chance sampling
    every: int  # iterations between evaluations
    swept: int  # iterations of each C
    reference: int  # iterations of the profile played against
    seeds: int
    swept_seeds: int
    hands: int


SCALES = {
    "quick": Scale(
        8_000_000, 500_000, 500, EVERY, 4_000_000, SIZES["quick"].external[0], 3, 1, 200_000
    ),
    "paper": Scale(
        200_000_000,
        4_000_000,
        5_000,
        5 * EVERY,
        50_000_000,
        SIZES["paper"].external[0],
        3,
        3,
        400_000,
    ),
}


class Plan(NamedTuple):
    label: str
    algorithm: str
    options: dict[str, Any]


class Curve(NamedTuple):
    label: str
    algorithm: str
    options: dict[str, Any]
    values: np.ndarray  # float64[seeds, points, 4]: iterations, seconds, sb/h, its standard error


def reference(iterations: int, store: Store, tell: Tell) -> Strategy:
    """The pre-computed profile: MCCFR10 of Tables 1 and 2, external sampling."""
    return mccfr(load(GAME), iterations, store, tell, "pre-computed MCCFR10").whole


def _curve(
    plan: Plan, seed: int, points: list[int], foe: Strategy, hands: int, store: Store, tell: Tell
) -> np.ndarray:
    opponent = strategy_bot(foe, "MCCFR10")

    def against(strategy: Strategy) -> list[float]:
        result = play_match(
            strategy.game, strategy, opponent, hands, MATCH_SEED + seed, luck_adjusted=False
        )
        return [result.mean, result.standard_error]

    solver = new_solver(load(GAME), plan.algorithm, seed, plan.options)
    recipe = {
        "against": digest(foe.probabilities),
        "hands": hands,
        "seed": MATCH_SEED + seed,
        "file": file_version(__file__),
    }
    what = plan.label or f"MCTS, C = {plan.options['c']:g}"
    about: Tell = lambda share, how: tell(share, f"{what}, seed {seed + 1}: {how}")  # noqa: E731
    return learning_curve(store, recipe, solver, points, against, about)


MAIN = [
    Plan("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON}),
    Plan("MCTS, C = 17", "mcts", {"c": PAPER_C}),
    Plan("MCCFR, external sampling", "mccfr-external", {}),
    Plan("MCCFR, public sampling", "mccfr-public", {}),
]


def _plan(size: Scale) -> list[tuple[Plan, int, list[int]]]:
    """Every curve: seed, and the iterations at which it is looked at."""
    found = [(plan, seed, _points(plan, size)) for plan in MAIN for seed in range(size.seeds)]
    return found + [
        (Plan("", "mcts", {"c": c}), seed, [size.swept])
        for c in SWEEP
        for seed in range(size.swept_seeds)
    ]


def _jobs(scale: str, store: Store) -> list[Job]:
    size = SCALES[scale]
    foe = training_jobs(scale, store, Wanted("MCCFR10", "external", 10, "poki"))

    def job(plan: Plan, seed: int, points: list[int]) -> Job:
        def work(tell: Tell) -> None:
            against = reference(size.reference, store, tell)
            _curve(plan, seed, points, against, size.hands, store, tell)

        rates = {"mcts": 1.6e6, "mccfr": 2.0e6, "mccfr-external": 7.9e4, "mccfr-public": 90.0}
        rate = rates[plan.algorithm]  # benchmarks/RESULTS.md and public_threads.csv, one thread
        what = plan.label or f"MCTS, C = {plan.options['c']:g}, for the sweep"
        name = f"Figure 4: {what}, seed {seed + 1}"
        return Job(name, work, 1.2 * points[-1] / rate, 1, (foe[0].name,))

    return [*foe, *(job(*one) for one in _plan(size))]


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    size, folder = SCALES[scale], store.folder
    started = time.perf_counter()
    foe = reference(size.reference, store, lambda share, what: tell(0.15 * share, what))
    main, plan = MAIN, _plan(size)
    results = in_parallel(
        [partial(_curve, one, seed, points, foe, size.hands, store) for one, seed, points in plan],
        lambda share, what: tell(0.15 + 0.84 * share, what),
    )
    curves = [
        Curve(*one, np.array(results[k * size.seeds : (k + 1) * size.seeds]))
        for k, one in enumerate(main)
    ]
    last = np.array([rows[-1] for rows in results[len(main) * size.seeds :]])
    by_c = last.reshape(len(SWEEP), size.swept_seeds, -1)
    ends = dict(zip(SWEEP, by_c, strict=True))
    learnt = _learnt(main[1]), _learnt(main[0])
    _picture(
        curves, by_c.mean(axis=1), foe_iterations=size.reference, path=folder / "fig4-holdem.png"
    )
    rows = [
        (curve.algorithm, curve.options.get("c", ""), seed, *(f"{value:.6g}" for value in row))
        for curve in curves
        for seed, one in enumerate(curve.values)
        for row in one
    ]
    rows += [
        ("mcts", c, seed, *(f"{value:.6g}" for value in row))
        for c, one in ends.items()
        for seed, row in enumerate(one)
    ]
    write_csv(
        folder / "fig4-holdem.csv",
        ("algorithm", "c", "seed", "iterations", "seconds", "sb_per_hand", "standard_error"),
        rows,
    )
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(curves, ends, learnt),
        {
            **size._asdict(),
            "C": list(SWEEP),
            "epsilon": EPSILON,
            "opponent": f"MCCFR10 after {size.reference:,} iterations",
        },
        time.perf_counter() - started,
        ["fig4-holdem.png", "fig4-holdem.csv"],
    )


def _points(plan: Plan, size: Scale) -> list[int]:
    few = {"mccfr-external": size.external, "mccfr-public": size.public}
    if plan.algorithm in few:
        return [few[plan.algorithm] * k // 10 for k in range(1, 11)]
    return list(range(size.every, size.iterations + 1, size.every))


def _claims(
    curves: list[Curve], ends: dict[float, np.ndarray], learnt: tuple[int, int]
) -> list[Claim]:
    """`ends`: for each C float64[seeds, 4], the last row of a curve. `learnt`: bytes of MCTS and of
    MCCFR."""
    mccfr, mcts, external = (curve.values for curve in curves[:3])
    error = float(np.sqrt((mcts[:, -1, 3] ** 2).mean() + (mccfr[:, -1, 3] ** 2).mean()))
    at = int(np.median(external[:, -1, 0]))
    nearest = int(np.argmin(np.abs(mcts[0, :, 0] - at)))
    plain = f"; outcome sampling {np.median(mccfr[:, nearest, 2]):+.3f}"
    swept = int(next(iter(ends.values()))[0, 0])
    won = {c: rows[:, 2].tolist() for c, rows in ends.items()}
    return [
        rules.fast(mcts[:, 0, 2].tolist(), mccfr[:, 0, 2].tolist(), int(mcts[0, 0, 0])),
        rules.surpasses(
            mccfr[:, -1, 2].tolist(), mcts[:, -1, 2].tolist(), int(mcts[0, -1, 0]), 2 * error
        ),
        rules.quicker((mcts[:, -1, 1] / np.maximum(mccfr[:, -1, 1], 1e-9)).tolist()),
        rules.smaller(*learnt),
        rules.external(
            external[:, -1, 2].tolist(),
            mcts[:, nearest, 2].tolist(),
            at,
            f"{plain}; in the same time {_at_time(external, mcts)}",
        ),
        *(rules.constant(won, swept, unit) for unit, c in rules.UNITS.items() if c in won),
    ]


def _learnt(plan: Plan) -> int:
    """Bytes of the arrays that an algorithm learns."""
    solver = new_solver(load(GAME), plan.algorithm, 0, plan.options)
    return sum(array.nbytes for array in solver.tables().values())


def _at_time(external: np.ndarray, mcts: np.ndarray) -> str:
    """MCTS when it has used the seconds that external sampling used."""
    seconds = float(np.median(external[:, -1, 1]))
    k = int(np.argmin(np.abs(np.median(mcts[:, :, 1], axis=0) - seconds)))
    return f"({seconds:.1f} s) MCTS {np.median(mcts[:, k, 2]):+.3f}"


def _picture(curves: list[Curve], ends: np.ndarray, foe_iterations: int, path: Path) -> None:
    figure, axes = new_figure(1, 3, 13, 4.2)
    for order, curve in enumerate(curves):
        iterations, seconds = curve.values[0, :, 0], np.median(curve.values[:, :, 1], axis=0)
        band(axes[0, 0], iterations, curve.values[:, :, 2], curve.label, order)
        band(axes[0, 1], seconds, curve.values[:, :, 2], curve.label, order)
    label = f"won from MCCFR10 ({foe_iterations / 1e6:,.0f} M iterations), sb/h"
    axes[0, 0].set(xscale="log", xlabel="iterations", ylabel=label)
    axes[0, 1].set(xscale="log", xlabel="seconds of one core", ylabel=label)
    for axis in axes[0, :2]:
        axis.xaxis.set_minor_formatter("")
        axis.axhline(0.0, color="0.4", linewidth=0.8)
        axis.legend(frameon=False)
    sweep = axes[0, 2]
    sweep.errorbar(
        SWEEP,
        ends[:, 2],
        yerr=1.96 * ends[:, 3],
        color=COLOURS[1],
        linestyle=STYLES[1],
        marker="o",
        capsize=3,
    )
    sweep.set(
        xscale="log",
        xlabel="exploration constant C of MCTS",
        ylabel=f"sb/h after {ends[0, 0] / 1e6:,.0f} M iterations",
    )
    sweep.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
    sweep.minorticks_off()
    seeds = curves[0].values.shape[0]
    figure.suptitle(f"Limit hold'em, 10 buckets (median and range over {seeds} seeds)")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    "fig4-holdem",
    "Figure 4, right: MCCFR and MCTS in limit hold'em, 10 buckets",
    run,
    {"quick": 100, "paper": 750},
    _jobs,
)
