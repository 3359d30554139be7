"""Table 2: robust responses (MCRNR10, MCRNR100) beside MCCFR against Poki and Sparbot; and what
they depend on.

The paper's poker MCRNR is `mcdbr` with Pconf = 0.75 everywhere, outcome sampling, a decision-tree
model (J48), and about 20,000 observed games. Here each seat gets as many iterations as MCCFR, and
MCRNR10 is judged with three models: J48 to the letter, unseen cards inferred (what rows without
further words have), and all cards seen. Beyond the paper: how the gain depends on the number of
observed games, the model, who played while the opponent was observed, and Pconf; and, against
Sparbot, responses with Pconf from 0, the control, upward.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.judge import Range, around
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.cells import Wanted, cell, cell_jobs, won, won_jobs
from counterplay.experiments.paper.players import (
    BOTS,
    RECREATED,
    THREADS,
    Answer,
    Cell,
    Company,
    P,
    as_text,
    half_interval,
    staged,
)
from counterplay.experiments.paper.rules import table2 as rules
from counterplay.experiments.paper.rules.rows import LEARNING
from counterplay.experiments.paper.sizes import SIZES, Sizes
from counterplay.experiments.paper.table1 import HEADER, as_rows, line, sheet, trained
from counterplay.match.result import MatchResult
from counterplay.parallel.jobs import Job

#: What a model is learnt with; how unseen cards are treated, and whether there are any.
MODELS: dict[str, dict[str, Any]] = {
    rules.LITERAL: {"unseen": "fractional", "laplace": False},
    rules.PLAIN: {},
    rules.SEEN: {"unseen": "fractional", "cards": "all"},
}
GAMES = (1_000, 5_000, 20_000, 100_000)
LINEAR = "0-10-linear"
TRUSTS = ("constant", LINEAR)
VARIANTS: tuple[tuple[str, dict[str, Any], str], ...] = (  # name, model, algorithm
    ("tree, observed by MCCFR10 instead of Probe", {"partner": "external"}, "mcdbr"),
    ("tree, mcrnr proper (the coin once per game)", {}, "mcrnr"),
)
Curves = dict[tuple[str, str, int], MatchResult]


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    company, folder = Company(scale, store, tell), store.folder
    size, hands = company.size, company.size.swept_hands
    plan = _plan(size)
    stages = len(plan) + 4
    played = []
    for k, one in enumerate(plan):
        company.tell = staged(tell, k, stages)
        played.append(cell(company, one))
    company.tell = staged(tell, len(plan), stages)
    curves = {key: won(company, one, "poki", hands) for key, one in _by_games(size).items()}
    company.tell = staged(tell, stages - 2, stages)
    variants = [won(company, one, "poki", hands) for one in _variants(size)]
    company.tell = staged(tell, stages - 1, stages)
    swept = {one.player: cell(company, one) for one in _sparbot(size)}
    _picture(curves, played, folder / "table2.png")
    _write(folder / "table2.csv", played, curves, variants, swept, company.size.observed)
    setting = {
        **company.size._asdict(),
        "threads": THREADS,
        "Pconf": P,
        "model": "C4.5, one tree per phase",
        "observed by": "probe",
        **trained(played),
    }
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(played, curves, variants, swept, company.size.observed),
        setting,
        time.perf_counter() - started,
        ["table2.png", "table2.csv"],
        _tables(played, curves, variants, swept, company.size.observed),
        [RECREATED, LEARNING],
    )


def _plan(size: Sizes) -> list[Wanted]:
    """The rows."""
    found = []
    for engine, buckets in size.respond:
        for opponent in BOTS:
            found.append(Wanted(f"MCCFR{buckets}", engine, buckets, opponent))
            models = [rules.PLAIN]
            if (engine, buckets, opponent) == ("outcome", 10, "poki"):
                models = list(MODELS)
            for model in models:
                name = rules.named(f"MCRNR{buckets}", model)
                answer = Answer(
                    f"{name}-{opponent}",
                    opponent,
                    buckets,
                    size.observed,
                    size.of(engine, buckets),
                    MODELS[model],
                    engine=engine,
                )
                found.append(Wanted(name, engine, buckets, opponent, answer))
    return found


def _by_games(size: Sizes) -> dict[tuple[str, str, int], Answer]:
    """MCRNR10 against Poki by model, trust and number of observed games."""
    return {
        (kind, trust, games): Answer(
            f"MCRNR10 ({kind}, {trust}, {games:,} games)",
            "poki",
            10,
            games,
            size.swept,
            {"kind": kind},
            P if trust == "constant" else trust,
        )
        for kind in ("tree", "frequency")
        for games in GAMES
        for trust in TRUSTS
    }


def _variants(size: Sizes) -> list[Answer]:
    return [
        Answer(f"MCRNR10 ({what})", "poki", 10, size.observed, size.swept, options, P, algorithm)
        for what, options, algorithm in VARIANTS
    ]


def _sparbot(size: Sizes) -> list[Wanted]:
    """MCRNR10 against Sparbot by Pconf, at equal budget; the first is the control. None at quick
    scale."""
    if not size.trusts:
        return []
    plan: list[tuple[str, int, dict[str, Any], Any]] = [
        (f"Pconf = {p:g}", size.observed, {}, p) for p in (*size.trusts, P)
    ]
    plan.append(("data-biased Pconf", size.observed, {}, LINEAR))
    near = {"kind": "frequency", "cards": "all", "unseen": "fractional"}
    name = f"a nearly perfect model ({size.many:,} hands, all cards seen)"
    plan.append((name, size.many, near, LINEAR))
    return [
        Wanted(
            name,
            "external",
            10,
            "sparbot",
            Answer(f"MCRNR10, {name}", "sparbot", 10, hands, size.trusted, model, trust),
        )
        for name, hands, model, trust in plan
    ]


def _jobs(scale: str, store: Store) -> list[Job]:
    size = SIZES[scale]
    found = [job for one in _plan(size) for job in cell_jobs(scale, store, one)]
    found += [job for one in _sparbot(size) for job in cell_jobs(scale, store, one)]
    for answer in [*_by_games(size).values(), *_variants(size)]:
        found += won_jobs(scale, store, answer, "poki", size.swept_hands)
    return found


def _won(result: MatchResult) -> Range:
    return around(result.mean, half_interval(result))


def _claims(
    played: list[Cell],
    curves: Curves,
    variants: list[MatchResult],
    swept: dict[str, Cell],
    observed: int,
) -> list[Claim]:
    few, many = (_won(curves["tree", "constant", n]) for n in (GAMES[0], GAMES[-1]))
    made = [
        *rules.claims(as_rows(played)),
        rules.more_games(few, many, (GAMES[0], GAMES[-1])),
        rules.one_coin(_won(variants[-1]), _won(curves["tree", "constant", observed])),
    ]
    rows = as_rows(list(swept.values())).values()
    return made + rules.by_trust(dict(zip(swept, rows, strict=True)))


def _write(
    path: Path,
    played: list[Cell],
    curves: Curves,
    variants: list[MatchResult],
    swept: dict[str, Cell],
    observed: int,
) -> None:
    rows: list[tuple[Any, ...]] = [("table", *line(p, rules.PAPER), observed) for p in played]
    rows += [("sparbot by Pconf", *line(p, rules.PAPER), observed) for p in swept.values()]

    def short(part: str, name: str, games: int, result: MatchResult) -> tuple[Any, ...]:
        numbers = (result.mean, result.standard_error, result.hands)
        return (part, "poki", f"MCRNR10, {name}", "external", "", "", *numbers, "", "", games)

    rows += [short("games", f"{k}, {t}", n, result) for (k, t, n), result in curves.items()]
    for (name, _, _), result in zip(VARIANTS, variants, strict=True):
        rows.append(short("variant", name, observed, result))
    write_csv(path, ("part", *HEADER, "observed_games"), rows)


def _tables(
    played: list[Cell],
    curves: Curves,
    variants: list[MatchResult],
    swept: dict[str, Cell],
    observed: int,
) -> list[Sheet]:
    games = [
        [kind, trust, *(as_text(curves[kind, trust, n]) for n in GAMES)]
        for kind in ("tree", "frequency")
        for trust in TRUSTS
    ]
    plain = curves["tree", "constant", observed]
    other = [["tree, unseen cards inferred, observed by Probe, mcdbr", as_text(plain)]]
    for (name, *_), result in zip(VARIANTS, variants, strict=True):
        other.append([name, as_text(result)])
    made = [
        sheet(played, rules.PAPER),
        Sheet(
            "MCRNR10 against Poki by observed games (external sampling)",
            ["model", f"Pconf (at most {P})", *(f"{n:,}" for n in GAMES)],
            games,
        ),
        Sheet("MCRNR10 against Poki, other choices", ["model", "sb/h"], other),
    ]
    if swept:
        rows = [[name, as_text(p.result), f"{p.iterations:,}"] for name, p in swept.items()]
        header = ["response", "sb/h", "iterations a seat"]
        made.append(Sheet("MCRNR10 against Sparbot (external sampling)", header, rows))
    return made


def _picture(
    curves: Curves,
    played: list[Cell],
    path: Path,
) -> None:
    figure, axes = new_figure(1, 1, 7.2, 4.4)
    axis = axes[0, 0]
    for k, (kind, trust) in enumerate(
        [(kind, trust) for kind in ("tree", "frequency") for trust in TRUSTS]
    ):
        results = [curves[kind, trust, n] for n in GAMES]
        errors = [1.96 * result.standard_error for result in results]
        label = f"{kind}, Pconf {'constant' if trust == 'constant' else 'from counts'}"
        axis.errorbar(
            [n * (1 + 0.03 * k) for n in GAMES],
            [result.mean for result in results],
            yerr=errors,
            color=COLOURS[k],
            linestyle=STYLES[k],
            marker="o",
            capsize=3,
            label=label,
        )
    for p in played:
        if p.player.startswith("MCCFR") and p.opponent == "poki":
            shade = "0.35" if p.player == "MCCFR10" else "0.6"
            axis.axhline(p.result.mean, color=shade, linewidth=1.0)
            axis.annotate(
                f"{p.player} ({p.engine})",
                (GAMES[-1] * 1.15, p.result.mean),
                fontsize=8,
                color=shade,
                va="bottom",
                ha="right",
            )
    axis.set(xscale="log", xlabel="observed games", ylabel="won from Poki (re-created), sb/h")
    axis.set_xticks(GAMES, [f"{n:,}" for n in GAMES], minor=False)
    axis.minorticks_off()
    axis.legend(frameon=False, fontsize=8)
    figure.suptitle("MCRNR10 against Poki by what was observed (95% intervals)")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    "table2",
    "Table 2: robust responses against the bots",
    run,
    {"quick": 245, "paper": 6000},
    _jobs,
)
