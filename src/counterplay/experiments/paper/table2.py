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

from counterplay.arena.result import MatchResult
from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.judge import Range, around
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import (
    BOTS,
    RECREATED,
    THREADS,
    Cell,
    Company,
    P,
    cell,
    half_interval,
    staged,
)
from counterplay.experiments.paper.rules import table2 as rules
from counterplay.experiments.paper.rules.rows import LEARNING, Standing
from counterplay.experiments.paper.table1 import HEADER, as_rows, line, sheet, trained

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
    plan = _plan(company)
    stages = len(plan) + 4
    played = []
    for k, one in enumerate(plan):
        company.tell = staged(tell, k, stages)
        played.append(_play(company, *one))
    company.tell = staged(tell, len(plan), stages)
    curves = _by_games(company)
    company.tell = staged(tell, stages - 2, stages)
    variants = [_variant(company, *variant) for variant in VARIANTS]
    company.tell = staged(tell, stages - 1, stages)
    swept = _sparbot(company)
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


def _plan(company: Company) -> list[tuple[str, str, int, str, str]]:
    """Player, engine, buckets, opponent and model of each row."""
    found = []
    for engine, buckets in company.size.respond:
        for opponent in BOTS:
            found.append((f"MCCFR{buckets}", engine, buckets, opponent, ""))
            models = [rules.PLAIN]
            if (engine, buckets, opponent) == ("outcome", 10, "poki"):
                models = list(MODELS)
            found += [(f"MCRNR{buckets}", engine, buckets, opponent, m) for m in models]
    return found


def _play(
    company: Company, player: str, engine: str, buckets: int, opponent: str, model: str
) -> Cell:
    if not model:
        return company.play(player, engine, company.equilibrium(buckets, engine), opponent)
    learnt = company.model(opponent, buckets, company.size.observed, **MODELS[model])
    name = rules.named(player, model)
    iterations = company.size.of(engine, buckets)
    response = company.response(f"{name}-{opponent}", learnt, iterations, engine=engine)
    return company.play(name, engine, response, opponent, learnt.strategy)


def _by_games(company: Company) -> Curves:
    """MCRNR10 against Poki by model, trust and number of observed games."""
    found = {}
    for kind in ("tree", "frequency"):
        for games in GAMES:
            for trust in TRUSTS:
                name = f"MCRNR10 ({kind}, {trust}, {games:,} games)"
                model = company.model("poki", 10, games, kind)
                believed = P if trust == "constant" else trust
                player = company.response(name, model, company.size.swept, believed).whole
                hands = company.size.swept_hands
                found[kind, trust, games] = company.match(name, player, "poki", hands)
    return found


def _variant(company: Company, what: str, options: dict[str, Any], algorithm: str) -> MatchResult:
    name = f"MCRNR10 ({what})"
    model = company.model("poki", 10, company.size.observed, **options)
    player = company.response(name, model, company.size.swept, P, algorithm).whole
    return company.match(name, player, "poki", company.size.swept_hands)


def _sparbot(company: Company) -> dict[str, Cell]:
    """MCRNR10 against Sparbot by Pconf, at equal budget; the first is the control. Empty at quick
    scale."""
    size, found = company.size, {}
    if not size.trusts:
        return {}
    model = company.model("sparbot", 10, size.observed)
    plan: list[tuple[str, Any, Any]] = [(f"Pconf = {p:g}", model, p) for p in (*size.trusts, P)]
    plan.append(("data-biased Pconf", model, LINEAR))
    near = company.model("sparbot", 10, size.many, "frequency", cards="all", unseen="fractional")
    plan.append((f"a nearly perfect model ({size.many:,} hands, all cards seen)", near, LINEAR))
    for name, learnt, trust in plan:
        response = company.response(f"MCRNR10, {name}", learnt, size.swept, trust)
        found[name] = company.play(name, "external", response, "sparbot", learnt.strategy)
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
    rows: list[Standing] = list(as_rows(list(swept.values())).values())
    return made + [
        rules.improves(row, rows[0], name) for name, row in list(zip(swept, rows, strict=True))[1:]
    ]


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

    def short(part: str, name: str, games: int, won: MatchResult) -> tuple[Any, ...]:
        numbers = (won.mean, won.standard_error, won.hands)
        return (part, "poki", f"MCRNR10, {name}", "external", "", "", *numbers, "", "", games)

    rows += [short("games", f"{k}, {t}", n, won) for (k, t, n), won in curves.items()]
    for (name, _, _), won in zip(VARIANTS, variants, strict=True):
        rows.append(short("variant", name, observed, won))
    write_csv(path, ("part", *HEADER, "observed_games"), rows)


def _tables(
    played: list[Cell],
    curves: Curves,
    variants: list[MatchResult],
    swept: dict[str, Cell],
    observed: int,
) -> list[Sheet]:
    games = [
        [kind, trust, *(cell(curves[kind, trust, n]) for n in GAMES)]
        for kind in ("tree", "frequency")
        for trust in TRUSTS
    ]
    plain = curves["tree", "constant", observed]
    other = [["tree, unseen cards inferred, observed by Probe, mcdbr", cell(plain)]]
    other += [[name, cell(result)] for (name, *_), result in zip(VARIANTS, variants, strict=True)]
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
        rows = [[name, cell(p.result), f"{p.iterations:,}"] for name, p in swept.items()]
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
    "table2", "Table 2: robust responses against the bots", run, {"quick": 245, "paper": 5500}
)
