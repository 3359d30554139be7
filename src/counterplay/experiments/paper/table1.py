"""Table 1: MCTS10, MCCFR10 and MCCFR100 against Poki and Sparbot, in sb/h.

The paper's MCCFR is outcome sampling. Its rows are judged; external and public sampling stand
beside them as ours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.judge import around
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.cells import Wanted, cell, cell_jobs
from counterplay.experiments.paper.players import (
    BOTS,
    RECREATED,
    THREADS,
    Cell,
    Company,
    as_text,
    half_interval,
    staged,
)
from counterplay.experiments.paper.rules import table1 as rules
from counterplay.experiments.paper.rules.rows import LEARNING, NAMES, WHOSE, Key, Standing
from counterplay.experiments.paper.sizes import ENGINES, SIZES
from counterplay.parallel.jobs import Job

HEADER = (
    "opponent",
    "player",
    "engine",
    "iterations",
    "seconds",
    "sb_per_hand",
    "standard_error",
    "hands",
    "gained_in_second_half",
    "paper",
)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    company = Company(scale, store, tell)
    plan, played = _plan(scale), []
    for k, wanted in enumerate(plan):
        company.tell = staged(tell, k, len(plan))
        played.append(cell(company, wanted))
    write_csv(store.folder / "table1.csv", HEADER, [line(p, rules.PAPER) for p in played])
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        rules.claims(as_rows(played)),
        {**company.size._asdict(), "threads": THREADS, "MCTS": "C = 17", **trained(played)},
        time.perf_counter() - started,
        ["table1.csv"],
        [sheet(played, rules.PAPER)],
        [RECREATED, LEARNING],
    )


def _plan(scale: str) -> list[Wanted]:
    players = [("MCTS10", "mcts", 10)]
    players += [
        (f"MCCFR{buckets}", engine, buckets)
        for engine in ENGINES
        for buckets in (10, 100)
        if SIZES[scale].of(engine, buckets)
    ]
    return [Wanted(*player, opponent) for player in players for opponent in BOTS]


def _jobs(scale: str, store: Store) -> list[Job]:
    return [job for wanted in _plan(scale) for job in cell_jobs(scale, store, wanted)]


def as_rows(played: Sequence[Cell]) -> dict[Key, Standing]:
    """What the rules judge."""
    return {
        (p.player, p.engine, p.opponent): Standing(
            around(p.result.mean, half_interval(p.result)), around(*p.gained)
        )
        for p in played
    }


def line(p: Cell, paper: dict[str, dict[str, float]]) -> tuple[object, ...]:
    """A row of the CSV."""
    result = p.result
    return (
        p.opponent,
        p.player,
        p.engine,
        p.iterations,
        f"{p.seconds:.1f}",
        result.mean,
        result.standard_error,
        result.hands,
        p.gained[0],
        paper[p.opponent].get(p.player, "") if p.engine in ("outcome", "mcts") else "",
    )


def sheet(played: Sequence[Cell], paper: dict[str, dict[str, float]]) -> Sheet:
    """Every player with his engine and training, and what he won from each bot."""
    rows = []
    for p in played:
        if p.opponent == BOTS[0] or not any(
            q[:2] == p[:2] and q.opponent == BOTS[0] for q in played
        ):
            won = {q.opponent: as_text(q.result) for q in played if q[:2] == p[:2]}
            whose = WHOSE.get(p.engine, "as in the paper")
            name = NAMES.get(p.engine, p.engine.upper())
            told = [f"{paper[b][p.player]:+.3f}" if p.player in paper[b] else "–" for b in BOTS]
            shown = told if whose == "as in the paper" else ["–", "–"]
            rows.append(
                [
                    p.player,
                    f"{name}, {whose}",
                    f"{p.iterations:,}",
                    f"{p.seconds:,.0f} s",
                    *(won.get(b, "–") for b in BOTS),
                    *shown,
                ]
            )
    return Sheet(
        "sb/h won, with 95% intervals",
        [
            "player",
            "engine",
            "iterations",
            "training",
            *BOTS,
            *(f"{b}, paper (± 0.12)" for b in BOTS),
        ],
        rows,
    )


def trained(played: Sequence[Cell]) -> dict[str, str]:
    """Engine, iterations and seconds of each player, for the setting."""
    return {
        f"{p.player}, {p.engine}, for {p.opponent}"
        if "MCRNR" in p.player
        else (f"{p.player}, {p.engine}"): f"{p.iterations:,} iterations, {p.seconds:.0f} s"
        for p in played
    }


EXPERIMENT = Experiment(
    "table1",
    "Table 1: equilibrium strategies against the bots",
    run,
    {"quick": 75, "paper": 1200},
    _jobs,
)
