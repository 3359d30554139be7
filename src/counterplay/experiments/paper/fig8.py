"""Figure 8: playing Poki while the response is being learnt, about 6 million iterations for every
1,000 games.

As in the paper the model (a decision tree from 20,000 observed games) is there from the start and
the response to it improves: `mcdbr`, outcome sampling, Pconf = 0.75, 10 buckets. Beside it what the
paper did not do: the model too is learnt while playing, from nothing, with Pconf from the number of
observations; and an adaptive player, who knows nobody either, starts from an equilibrium and leaves
it as evidence comes in (`cp.Adaptive`). The games of one block say little (± 0.3 sb/h), so each
policy is also frozen and measured over more, duplicate, hands. What it is measured by is what
MCCFR10 wins from Poki.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.adaptive.play import play_adaptive
from counterplay.adaptive.player import Adaptive
from counterplay.adaptive.portfolio import portfolio
from counterplay.adaptive.response import ResponseLearner
from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.base.store import digest
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.judge import Z, around
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.cells import Wanted, cell, cell_jobs, training_jobs
from counterplay.experiments.paper.players import (
    MATCH_SEED,
    RECREATED,
    THREADS,
    Cell,
    Company,
    Learnt,
    P,
    staged,
)
from counterplay.experiments.paper.rules import online as rules
from counterplay.experiments.paper.rules.rows import LEARNING
from counterplay.experiments.paper.sizes import POKI_RATE, rate
from counterplay.experiments.paper.table1 import as_rows
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.match.play import play_match
from counterplay.match.result import MatchResult
from counterplay.parallel.jobs import Job

ITERATIONS = 6_000_000  # per 1,000 games
EVERY = 1_000


class Scale(NamedTuple):
    games: int
    measured: int  # duplicate hands for each frozen policy


SCALES = {"quick": Scale(8_000, 10_000), "paper": Scale(20_000, 40_000)}
MCCFR10 = Wanted("MCCFR10", "outcome", 10, "poki")
MODES = ("model learnt before", "model learnt while playing", "adaptive, from an equilibrium")
SAFE = "external"  # engine of the equilibrium that the adaptive player starts from
PER_ITERATION = 40  # nodes that external sampling visits for one of outcome sampling, about


def _play(model: Learnt | None, size: Scale, company: Company) -> list[tuple[float, ...]]:
    """A row per block: games, iterations, won in the block, measured sb/h, its standard error."""
    game, poki = company.game(10), company.bot("poki")
    learner = ResponseLearner(game, threads=THREADS, p_max=P)
    if model is not None:
        learner.believe(model.strategy, np.full(game.n_infosets, P))
    rows: list[tuple[float, ...]] = []
    player = Adaptive(learner=learner, every=EVERY, iterations=ITERATIONS, relearn=model is None)
    for block in play_adaptive(poki, size.games, player=player, every=EVERY, tell=company.tell):
        result = measured(game, block.strategy, poki, size.measured)
        rows.append((block.hands, block.iterations, block.won, result.mean, result.standard_error))
    return rows


def _play_adaptive(size: Scale, company: Company) -> list[tuple[float, ...]]:
    """As `_play`, of an adaptive player who knows nobody; its policy is that after the block."""
    game, poki = company.game(10), company.bot("poki")
    known = portfolio(game, (), equilibrium=company.equilibrium(10, SAFE).whole)
    thinking = max(ITERATIONS // PER_ITERATION, 1)
    player = Adaptive(portfolio=known, every=EVERY, iterations=thinking)
    rows: list[tuple[float, ...]] = []
    for block in play_adaptive(poki, size.games, player=player, every=EVERY, tell=company.tell):
        result = measured(game, player.strategy, poki, size.measured)
        done = 2 * thinking * block.hands // EVERY
        rows.append((block.hands, done, block.won, result.mean, result.standard_error))
    return rows


def measured(game: Game, strategy: Strategy, foe: Any, hands: int) -> MatchResult:
    """A frozen policy."""
    return play_match(game, strategy, foe, hands, MATCH_SEED, luck_adjusted=False)


def _kept_play(mode: str, size: Scale, company: Company) -> np.ndarray:
    """float64[blocks, 5]: `_play`, kept."""
    before = mode == MODES[0]
    model = company.model("poki", 10, company.size.observed) if before else None
    recipe = {
        **size._asdict(),
        "every": EVERY,
        "iterations": ITERATIONS,
        "threads": THREADS,
        "P": P,
        "seed": MATCH_SEED,
        "model": model and digest(model.strategy.probabilities),
        "file": file_version(__file__),
    }
    if mode == MODES[2]:
        safe = company.equilibrium(10, SAFE).whole
        recipe |= {"mode": mode, "equilibrium": digest(safe.probabilities)}
        return np.array(
            company.store.value("online", recipe, lambda: _play_adaptive(size, company))
        )
    return np.array(company.store.value("online", recipe, lambda: _play(model, size, company)))


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    size = SCALES[scale]
    company, folder = Company(scale, store, tell), store.folder
    found = {}
    for k, mode in enumerate(MODES):
        company.tell = staged(tell, k, len(MODES))
        found[mode] = _kept_play(mode, size, company)
    mccfr = cell(company, MCCFR10)
    _picture(found, folder / "fig8.png")
    header = ("mode", "games", "iterations", "won_in_block", "sb_per_hand", "standard_error")
    write_csv(
        folder / "fig8.csv",
        header,
        [(mode, *row) for mode in MODES for row in found[mode].tolist()]
        + [("MCCFR10", "", mccfr.iterations, "", mccfr.result.mean, mccfr.result.standard_error)],
    )
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(found, mccfr),
        {
            **size._asdict(),
            "iterations per 1,000 games": ITERATIONS,
            "Pconf": P,
            "threads": THREADS,
            "MCCFR10": f"outcome sampling, {mccfr.iterations:,} iterations",
        },
        time.perf_counter() - started,
        ["fig8.png", "fig8.csv"],
        [],
        [RECREATED, LEARNING],
    )


def _claims(found: dict[str, np.ndarray], mccfr: Cell) -> list[Claim]:
    fixed, online = (
        [
            rules.LearntCell(row[0], row[1], around(row[3], Z * row[4]))
            for row in found[mode].tolist()
        ]
        for mode in MODES[:2]
    )
    (row,) = as_rows([mccfr]).values()
    return rules.claims(fixed, online, row)


def _picture(found: dict[str, np.ndarray], path: Path) -> None:
    figure, axes = new_figure(1, 1, 7.2, 4.4)
    axis = axes[0, 0]
    for k, (mode, rows) in enumerate(found.items()):
        axis.errorbar(
            rows[:, 0],
            rows[:, 3],
            yerr=1.96 * rows[:, 4],
            color=COLOURS[k],
            linestyle=STYLES[k],
            marker="o",
            capsize=3,
            label=mode,
        )
        axis.plot(rows[:, 0], rows[:, 2], color=COLOURS[k], marker="x", linestyle="none", alpha=0.5)
    axis.plot(
        [], [], color="0.5", marker="x", linestyle="none", label="won in the block of 1,000 games"
    )
    axis.axhline(0.0, color="0.4", linewidth=0.8)
    axis.set(
        xlabel="games played (6 million iterations for every 1,000)",
        ylabel="won from Poki (re-created), sb/h",
    )
    axis.legend(frameon=False, fontsize=8)
    figure.suptitle("Learning while playing against Poki (frozen policies with 95% intervals)")
    save_figure(figure, path)


def _jobs(scale: str, store: Store) -> list[Job]:
    size = SCALES[scale]
    seconds = size.games * ITERATIONS / EVERY / rate("outcome", 10)
    seconds += (size.games // EVERY) * size.measured / POKI_RATE

    trained = training_jobs(scale, store, MCCFR10._replace(engine=SAFE))

    def job(mode: str) -> Job:
        return Job(
            f"Figure 8: {mode}",
            lambda tell: _kept_play(mode, size, Company(scale, store, tell)),
            seconds,
            THREADS,
            tuple(one.name for one in trained) if mode == MODES[2] else (),
        )

    return [*(job(mode) for mode in MODES), *trained, *cell_jobs(scale, store, MCCFR10)]


EXPERIMENT = Experiment(
    "fig8", "Figure 8: online play against Poki", run, {"quick": 110, "paper": 420}, _jobs
)
