"""Figure 8: playing Poki while the response is being learnt, about 6 million iterations for every
1,000 games; and what more observed games are worth.

As in the article the model (a decision tree from 20,000 observed games) is given and the response
to it improves: `mcdbr`, outcome sampling, Pconf = 0.75, 10 buckets. The games of one block have an
error of ± 0.3 sb/h, so each policy is also frozen and measured in more, luck-adjusted hands. Beyond
the article, at paper scale, the model too is learnt while playing, from nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction import table1, table2
from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    source_version,
)
from counterplay.app.reproduction.harness.judge import Claim, above, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.holdem_runs import bot_job
from counterplay.app.reproduction.players import (
    MODEL_SECONDS,
    POKI_RATE,
    RECREATED,
    SIZES,
    P,
    PlayerFactory,
    Sizes,
    rate,
)
from counterplay.app.reproduction.table1 import Plan, TableRow, by_key, observing_job
from counterplay.core.base.plotting import COLOURS, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, stage
from counterplay.core.parallel.jobs import Job
from counterplay.poker.adaptive.play import play_adaptive
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.response import ResponseLearner

ITERATIONS = 6_000_000  # per 1,000 games, both seats
EVERY = 1_000
GIVEN, LEARNT = "model learnt before", "model learnt while playing"


class Fig8Scale(NamedTuple):
    games: int
    measured: int
    modes: tuple[str, ...]


SCALES = {
    "quick": Fig8Scale(4_000, 8_000, (GIVEN,)),
    "paper": Fig8Scale(8_000, 20_000, (GIVEN, LEARNT)),
}
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "iterations per 1,000 games": "of the response, between two blocks of play",
    "measured": "luck-adjusted hands of each frozen policy, in each seed",
    "modes": "when the model is learnt",
}

# the rules

TARGET, TOLERANCE = 20e6, 5e6  # iterations: "about 20 million"


class FrozenPolicy(NamedTuple):
    """Games and iterations before the policy was frozen; what each seed of it wins from Poki."""

    games: int
    iterations: int
    won: Sequence[float]
    in_block: Sequence[float] = ()


def exploits(fixed: Sequence[FrozenPolicy], mccfr: Sequence[float]) -> Claim:
    """Claim 21; `mccfr`: what each seed of MCCFR10 wins from Poki."""
    near = min(fixed, key=lambda one: abs(one.iterations - TARGET))
    margin, won = judge.paired(near.won, mccfr), judge.mean_over(near.won)
    measured = (
        f"After {near.iterations / 1e6:.0f} M sampled iterations MCRNR10 wins {won} sb/h from "
        f"Poki, {margin} more than the converged MCCFR10."
    )
    rule = (
        "The policy nearest to 20 million iterations of outcome sampling wins more than MCCFR10 "
        "by public sampling, the whole 95% interval being above zero."
    )
    part = judge.only_if(abs(near.iterations - TARGET) <= TOLERANCE, above(margin, 0.0))
    return claim(21, measured, decide(part), rule)


def more_games(by_games: Mapping[int, Sequence[float]]) -> Claim:
    """Claim 22: what each seed of MCRNR10 wins from Poki by the number of observed games."""
    steps = {
        pair: judge.paired(by_games[pair[1]], by_games[pair[0]])
        for pair in itertools.pairwise(sorted(by_games))
    }
    listed = ", ".join(f"{many:,} instead of {few:,} {x} sb/h" for (few, many), x in steps.items())
    rule = (
        "MCRNR10 (public sampling) with each larger number of observed games wins more from Poki, "
        "with the whole 95% interval; in part if at some steps."
    )
    verdict = decide(*(above(one, 0.0) for one in steps.values()))
    return claim(22, f"More observed games bring: {listed}.", verdict, rule)


# the games


def _play(
    mode: str, size: Fig8Scale, players: PlayerFactory, seed: int
) -> list[tuple[float, float, float, float]]:
    """A row per block: games, iterations, sb/h in the block, measured sb/h."""
    game, poki = players.game(10), players.bot("poki")
    learner = ResponseLearner(game, p_max=P, seed=2 * seed)
    if mode == GIVEN:
        spec = table2.response("MCRNR10", players.size, "poki")
        learner.replace_model(players.model(spec, seed), np.full(game.n_infosets, P))
    rows: list[tuple[float, float, float, float]] = []
    player = Adaptive(learner=learner, every=EVERY, iterations=ITERATIONS, relearn=mode == LEARNT)
    how: dict[str, Any] = {"player": player, "every": EVERY, "progress": players.progress}
    for block in play_adaptive(poki, size.games, seed, **how):
        won = players.won(block.strategy, "poki", size.measured, seed)
        rows.append((block.hands, block.iterations, block.won, won.mean))
    return rows


def _cached_play(mode: str, size: Fig8Scale, players: PlayerFactory, seed: int) -> list[Any]:
    recipe = {"games": size.games, "measured": size.measured, "mode": mode, "every": EVERY}
    recipe |= {"iterations": ITERATIONS, "P": P, "seed": seed, "observed": players.size.observed}
    recipe["code"] = source_version(_play)
    found: list[Any] = players.store.value(
        "online", recipe, lambda: _play(mode, size, players, seed)
    )
    return found


def _seeds(mode: str, size: Sizes) -> int:
    """Fewer for what is not judged."""
    return size.seeds if mode == GIVEN else min(size.seeds, 3)


def _policies(mode: str, size: Fig8Scale, players: PlayerFactory) -> list[FrozenPolicy]:
    """The policies of all seeds, block by block."""
    runs = [_cached_play(mode, size, players, k) for k in range(_seeds(mode, players.size))]
    return [
        FrozenPolicy(blocks[0][0], blocks[0][1], [b[3] for b in blocks], [b[2] for b in blocks])
        for blocks in zip(*runs, strict=True)
    ]


def _plans(scale: str) -> dict[int, Plan]:
    """MCRNR10 against Poki by number of observed games; one of them is Table 2's."""
    size = SIZES[scale]
    spec, seeds = table2.response("MCRNR10", size, "poki"), size.seeds
    return {
        games: Plan(
            spec._replace(games=games),
            ("poki",),
            size.poki if games == size.observed else size.beside,
            seeds,
        )
        for games in size.games
    }


def _mccfr(scale: str) -> Plan:
    """MCCFR10 of Table 1."""
    return next(plan for plan in table1.plans(scale) if plan.spec.name == "MCCFR10")


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    players = PlayerFactory(scale, store, progress)
    policies = {}
    for k, mode in enumerate(size.modes):
        players.progress = stage(progress, k, len(size.modes) + 1)
        policies[mode] = _policies(mode, size, players)
    rows = {games: plan.rows(players)[0] for games, plan in _plans(scale).items()}
    mccfr = by_key(_mccfr(scale).rows(players))["MCCFR10", "public", "poki"]
    _picture(policies, rows, mccfr, folder / "fig8.png")
    header = "part mode games iterations won_in_block sb_per_hand low high"
    lines: list[tuple[Any, ...]] = []
    for mode, some in policies.items():
        for one in some:
            block = float(np.mean(one.in_block))
            won = judge.mean_over(one.won)
            lines.append(("online", mode, one.games, one.iterations, block, *won))
    for games, row in rows.items():
        lines.append(("observed games", "MCRNR10, public", games, "", "", *row.interval))
    lines.append(("mark", "MCCFR10, public", "", mccfr.spec.iterations, "", *mccfr.interval))
    setting = {
        **size._asdict(),
        "iterations per 1,000 games": ITERATIONS,
        "Pconf": P,
        "seeds": SIZES[scale].seeds,
    }
    judged = [
        exploits(policies[GIVEN], mccfr.means),
        more_games({games: row.means for games, row in rows.items()}),
    ]
    table = [[f"{games:,}", str(row.interval)] for games, row in rows.items()]
    header_row = ["observed games", "sb/h"]
    tables = [ResultTable("MCRNR10 against Poki by observed games", header_row, table)]
    return EXPERIMENT.outcome(
        scale, folder, judged, setting, header, lines, tables, notes=[RECREATED]
    )


def _picture(
    policies: dict[str, list[FrozenPolicy]], rows: dict[int, TableRow], mccfr: TableRow, path: Path
) -> None:
    figure, axes = new_figure(1, 2, 11, 4.6)
    left, right = axes[0]
    for k, (mode, some) in enumerate(policies.items()):
        x, won = [one.games for one in some], [judge.mean_over(one.won) for one in some]
        bars = {"yerr": [one.half for one in won], "marker": "o", "capsize": 3}
        left.errorbar(x, [one.value for one in won], color=COLOURS[k], label=mode, **bars)
        for one in some:
            many = [one.games] * len(one.in_block)
            left.plot(many, one.in_block, "x", color=COLOURS[k], alpha=0.4)
    left.plot([], [], "x", color="0.5", label="won in a block of 1,000 games, by seed")
    left.axvline(1_000 + EVERY * TARGET / ITERATIONS, color="0.6", linestyle=":", linewidth=1)
    left.set(xlabel="games played (6 million iterations for every 1,000)")
    games = list(rows)
    won = [rows[n].interval for n in games]
    bars = {"yerr": [one.half for one in won], "marker": "o", "capsize": 3, "color": COLOURS[2]}
    right.errorbar(games, [one.value for one in won], label="MCRNR10, public sampling", **bars)
    right.plot([20_000], [0.369], "D", color="0.55", label="the article's MCRNR10")
    right.set(xscale="log", xlabel="observed games")
    right.set_xticks(games, [f"{n:,}" for n in games], minor=False)
    right.minorticks_off()
    for axis in (left, right):
        axis.set_ylabel("won from Poki (re-created), sb/h")
        axis.axhline(0.0, color="0.4", linewidth=0.8)
        level = mccfr.interval.value
        axis.axhline(level, color=COLOURS[3], linestyle="--", label="MCCFR10, public sampling")
    handles: dict[str, Any] = {}
    for axis in (left, right):
        handles |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    where = {"loc": "outside lower center", "ncols": 3, "frameon": False, "fontsize": 9}
    figure.legend(handles.values(), handles.keys(), **where)
    title = "Learning while playing against Poki (95% intervals over seeds; dotted: 20 million)"
    save_figure(figure, path, title)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    blocks = size.games // EVERY
    seconds = blocks * (ITERATIONS / rate("outcome", 10) + size.measured / POKI_RATE)
    poki, spec = bot_job("poki"), table2.response("MCRNR10", SIZES[scale], "poki")

    def job(mode: str, seed: int) -> list[Job]:
        learning = MODEL_SECONDS * (1 if mode == GIVEN else blocks)

        def work(progress: ProgressCallback) -> None:
            _cached_play(mode, size, PlayerFactory(scale, store, progress), seed)

        seen = [observing_job(spec, seed, scale, store)] if mode == GIVEN else []
        after = (poki.name, *(one.name for one in seen))
        name = f"Figure 8: {mode}, seed {seed + 1}"
        return [*seen, Job(name, work, seconds + learning + 5.0, 1, after)]

    plans = [*_plans(scale).values(), _mccfr(scale)]
    runs = [(mode, k) for mode in size.modes for k in range(_seeds(mode, SIZES[scale]))]
    played = [one for run in runs for one in job(*run)]
    return [poki, *played, *table1.jobs_of(plans, scale, store)]


TITLE = "Figure 8: online play against Poki"
SECONDS = {"quick": 90, "paper": 900}  # on two cores
STORY = """An online MCRNR10 with 6 million iterations for every 1,000 games exploits Poki after
about 20 million iterations; Table 2 has its final +0.369 sb/h.

The response is learnt while it plays, to a model from 20,000 games observed before. It is compared
with MCCFR10, which never adapts, on the same hands. The second panel has the winnings by number of
observed games."""
EXPERIMENT = Experiment(
    "fig8", TITLE, run, SECONDS, _jobs, order=9, priority=6, meaning=MEANING, story=STORY
)
