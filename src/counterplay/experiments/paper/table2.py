"""Table 2: robust responses (MCRNR10, MCRNR100) beside MCCFR against Poki and Sparbot; and what
they depend on.

The paper's poker MCRNR is `mcdbr` with Pconf = 0.75 everywhere, a decision-tree model, and about
20,000 observed games. Beyond the paper: how the gain depends on the number of observed games, on
the model, on what is done about cards that were not shown, on who played while the opponent was
observed, and data-biased Pconf from counts.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from counterplay.arena.result import MatchResult
from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import (
    BOTS,
    RECREATED,
    THREADS,
    Company,
    P,
    cell,
    difference,
    staged,
)
from counterplay.experiments.paper.table1 import PAPER as PAPER1

PLAYERS = ("MCCFR10", "MCRNR10", "MCCFR100", "MCRNR100")
PAPER = {
    "poki": {**PAPER1["poki"], "MCRNR10": 0.369, "MCRNR100": 0.482},
    "sparbot": {**PAPER1["sparbot"], "MCRNR10": -0.039, "MCRNR100": 0.061},
}
GAMES = (1_000, 5_000, 20_000, 100_000)
TRUSTS = ("constant", "0-10-linear")
VARIANTS: tuple[tuple[str, dict[str, Any], str, str], ...] = (  # name, model, trust, algorithm
    ("tree as J48 has it: unseen cards fractional", {"unseen": "fractional"}, "constant", "mcdbr"),
    ("tree, observed by MCCFR10 instead of Probe", {"partner": "MCCFR10"}, "constant", "mcdbr"),
    ("tree, mcrnr proper (the coin once per game)", {}, "constant", "mcrnr"),
)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    company, folder = Company(scale, store, tell), store.folder
    stages = len(PLAYERS) + 3
    found: dict[tuple[str, str], MatchResult] = {}
    for k, name in enumerate(PLAYERS):
        company.tell = staged(tell, k, stages)
        for opponent in BOTS:
            found[name, opponent] = company.match(name, _player(company, name, opponent), opponent)
    company.tell = staged(tell, len(PLAYERS), stages)
    curves = _by_games(company)
    company.tell = staged(tell, stages - 1, stages)
    variants = [_variant(company, *variant) for variant in VARIANTS]
    _picture(curves, found, folder / "table2.png")
    rows: list[tuple[Any, ...]] = []
    games = company.size.observed
    for opponent in BOTS:
        rows += [
            ("table", opponent, name, "", "", games, found[name, opponent], PAPER[opponent][name])
            for name in PLAYERS
        ]
    rows += [
        ("games", "poki", "MCRNR10", kind, trust, n, result, "")
        for (kind, trust, n), result in curves.items()
    ]
    for (name, _, trust, _), result in zip(VARIANTS, variants, strict=True):
        rows.append(("variant", "poki", name, "tree", trust, games, result, ""))
    header = (
        "part",
        "opponent",
        "player",
        "model",
        "trust",
        "observed_games",
        "sb_per_hand",
        "standard_error",
        "hands",
        "paper",
    )
    lines = [(*row[:6], row[6].mean, row[6].standard_error, row[6].hands, row[7]) for row in rows]
    write_csv(folder / "table2.csv", header, lines)
    model = "C4.5, one tree per phase, unseen cards inferred"
    setting = {
        **company.size._asdict(),
        "threads": THREADS,
        "Pconf": P,
        "model": model,
        "observed by": "probe",
    }
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(found, curves),
        setting,
        time.perf_counter() - started,
        ["table2.png", "table2.csv"],
        _tables(found, curves, variants, games),
        [RECREATED],
    )


def _player(company: Company, name: str, opponent: str) -> Any:
    if name.startswith("MCCFR"):
        return company.equilibrium(name)
    return company.mcrnr(int(name.removeprefix("MCRNR")), opponent)


def _by_games(company: Company) -> dict[tuple[str, str, int], MatchResult]:
    """MCRNR10 against Poki by model, trust and number of observed games."""
    found = {}
    for kind in ("tree", "frequency"):
        for games in GAMES:
            for trust in TRUSTS:
                name = f"MCRNR10 ({kind}, {trust}, {games:,} games)"
                model = company.model("poki", 10, games, kind)
                player = company.response(name, model, company.size.swept, trust)
                found[kind, trust, games] = company.match(
                    name, player, "poki", company.size.swept_hands
                )
    return found


def _variant(
    company: Company, what: str, options: dict[str, Any], trust: str, algorithm: str
) -> MatchResult:
    name = f"MCRNR10 ({what})"
    model = company.model("poki", 10, company.size.observed, **options)
    player = company.response(name, model, company.size.swept, trust, algorithm)
    return company.match(name, player, "poki", company.size.swept_hands)


def _claims(
    found: dict[tuple[str, str], MatchResult], curves: dict[tuple[str, str, int], MatchResult]
) -> list[Claim]:
    gain10, error10 = difference(found["MCRNR10", "poki"], found["MCCFR10", "poki"])
    gain100, error100 = difference(found["MCRNR100", "poki"], found["MCCFR100", "poki"])
    finer, error = difference(found["MCRNR100", "poki"], found["MCRNR10", "poki"])
    coarse, coarse_error = difference(found["MCRNR10", "poki"], found["MCCFR100", "poki"])
    lost = {
        buckets: difference(
            found[f"MCRNR{buckets}", "sparbot"], found[f"MCCFR{buckets}", "sparbot"]
        )
        for buckets in (10, 100)
    }
    few, many = curves["tree", "constant", GAMES[0]], curves["tree", "constant", GAMES[-1]]
    more, more_error = difference(many, few)
    return [
        Claim(
            "MCRNR wins much more from Poki than MCCFR does.",
            "the difference is above 0.1 sb/h and above twice its standard error, with 10 and "
            "with 100 buckets",
            f"10 buckets {gain10:+.3f} ± {error10:.3f}, "
            f"100 buckets {gain100:+.3f} ± {error100:.3f}",
            gain10 > max(0.1, error10) and gain100 > max(0.1, error100),
        ),
        Claim(
            "Even MCRNR10 wins more from Poki than MCCFR100, with a coarser abstraction.",
            "the difference is above twice its standard error",
            f"{coarse:+.3f} ± {coarse_error:.3f}",
            coarse > coarse_error,
        ),
        Claim(
            "MCRNR loses nothing against Sparbot, beside MCCFR.",
            "MCRNR is behind MCCFR by no more than twice the standard error, with 10 and with 100 "
            "buckets",
            "; ".join(
                f"{buckets} buckets {gain:+.3f} ± {error:.3f}"
                for buckets, (gain, error) in lost.items()
            ),
            all(gain > -error for gain, error in lost.values()),
        ),
        Claim(
            "Finer buckets win more: MCRNR100 wins more from Poki than MCRNR10.",
            "the difference is above twice its standard error",
            f"{finer:+.3f} ± {error:.3f}",
            finer > error,
        ),
        Claim(
            "More observed games make MCRNR better.",
            f"{GAMES[-1]:,} games win more than {GAMES[0]:,} by more than twice the standard error",
            f"{more:+.3f} ± {more_error:.3f}",
            more > more_error,
        ),
    ]


def _tables(
    found: dict[tuple[str, str], MatchResult],
    curves: dict[tuple[str, str, int], MatchResult],
    variants: list[MatchResult],
    observed: int,
) -> list[Sheet]:
    rows = [
        [f"{opponent}, ours", *(cell(found[name, opponent]) for name in PLAYERS)]
        for opponent in BOTS
    ]
    rows += [
        [f"{opponent}, paper (± 0.12)", *(f"{PAPER[opponent][name]:+.3f}" for name in PLAYERS)]
        for opponent in BOTS
    ]
    games = [
        [kind, trust, *(cell(curves[kind, trust, n]) for n in GAMES)]
        for kind in ("tree", "frequency")
        for trust in TRUSTS
    ]
    plain = curves["tree", "constant", observed]
    other = [["tree, unseen cards inferred, observed by Probe, mcdbr", cell(plain)]]
    other += [[name, cell(result)] for (name, *_), result in zip(VARIANTS, variants, strict=True)]
    return [
        Sheet("sb/h won, with 95% intervals", ["opponent", *PLAYERS], rows),
        Sheet(
            "MCRNR10 against Poki by observed games",
            ["model", f"Pconf (at most {P})", *(f"{n:,}" for n in GAMES)],
            games,
        ),
        Sheet("MCRNR10 against Poki, other choices", ["model", "sb/h"], other),
    ]


def _picture(
    curves: dict[tuple[str, str, int], MatchResult],
    found: dict[tuple[str, str], MatchResult],
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
    for name, shade in (("MCCFR10", "0.35"), ("MCCFR100", "0.6")):
        axis.axhline(found[name, "poki"].mean, color=shade, linewidth=1.0)
        axis.annotate(
            name,
            (GAMES[-1] * 1.15, found[name, "poki"].mean),
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
    "table2", "Table 2: robust responses against the bots", run, {"quick": 205, "paper": 20000}
)
