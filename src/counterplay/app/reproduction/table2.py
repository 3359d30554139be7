"""Table 2: robust responses (MCRNR10, MCRNR100) and MCCFR against Poki and Sparbot.

The paper's poker MCRNR is `mcdbr` with Pconf = 0.75 everywhere, outcome sampling, a decision-tree
model (J48), and about 20,000 observed games. Here each seat gets as many iterations as MCCFR, and
MCRNR10 is judged with three models: literal J48, unseen cards inferred (the default), and all cards
seen; public sampling stands beside them as ours. Against Sparbot the paper found no significant
difference, at ± 0.17; that is judged, and the difference at our own resolution.

Beyond the paper: how the gain depends on the number of observed games, the model, the partner in
the observed hands, and Pconf; and, against Sparbot, responses with Pconf from 0, the control,
upward.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction import table1
from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, RuleVariant, Winnings
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.players import (
    BOTS,
    RECREATED,
    THREADS,
    P,
    Pairing,
    PairingResult,
    PlayerFactory,
    ResponseSpec,
    as_text,
    half_interval,
    pairing_jobs,
    response_job,
    response_match,
)
from counterplay.app.reproduction.sizes import MEANING, SIZES, Sizes
from counterplay.app.reproduction.table1 import (
    APART,
    EQUAL,
    TRAINED,
    WHOSE,
    Rows,
    between,
    more,
    sampling,
    training,
)
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.match.result import MatchResult
from counterplay.core.parallel.jobs import Job

PAPER = {
    "poki": {**table1.PAPER["poki"], "MCRNR10": 0.369, "MCRNR100": 0.482},
    "sparbot": {**table1.PAPER["sparbot"], "MCRNR10": -0.039, "MCRNR100": 0.061},
}
PLAIN = "inferred cards"  # the model of a row that names none
LITERAL, SEEN = "literal J48", "all cards seen"
#: Options of each model: how unseen cards are treated, and whether there are any.
MODELS: dict[str, dict[str, Any]] = {
    LITERAL: {"unseen": "fractional", "laplace": False},
    PLAIN: {},
    SEEN: {"unseen": "fractional", "cards": "all"},
}
GAMES = (1_000, 5_000, 20_000, 100_000)
LINEAR = "0-10-linear"
#: Models and kinds of Pconf that are compared by number of games.
SWEPT = tuple((kind, trust) for kind in ("tree", "frequency") for trust in ("constant", LINEAR))
VARIANTS: tuple[tuple[str, dict[str, Any], str], ...] = (  # name, model, algorithm
    ("tree, observed by MCCFR10 instead of Probe", {"partner": "external"}, "mcdbr"),
    ("tree, mcrnr proper (the coin once per game)", {}, "mcrnr"),
)

# the rules

MUCH = 0.1  # sb/h


def named(player: str, model: str) -> str:
    """Name of the response to a model."""
    return player if model == PLAIN else f"{player}, {model}"


def claims(rows: Rows) -> list[Claim]:
    """The claims for the rows of this scale, with and without the cut-off."""
    return judge.with_and_without_cutoff(_claims, rows)


def _claims(rows: Rows) -> list[Claim]:
    made = [
        exploits(rows, 10, engine, model)
        for engine in WHOSE
        for model in MODELS
        if (named("MCRNR10", model), engine, "poki") in rows
    ]
    for engine in WHOSE:
        both = [b for b in (10, 100) if (f"MCRNR{b}", engine, "poki") in rows]
        if 100 in both:
            made.append(exploits(rows, 100, engine, PLAIN))
        if both == [10, 100]:
            made += [coarse(rows, engine), finer(rows, engine)]
        for buckets in both:
            made.append(safe(rows, buckets, engine, APART, "the paper's ± 0.17"))
            made.append(safe(rows, buckets, engine, EQUAL, "our own 0.02 sb/h"))
    return [*made, table1.cells(rows, PAPER, "MCCFR10", "MCRNR10", "MCCFR100", "MCRNR100")]


def exploits(rows: Rows, buckets: int, engine: str, model: str) -> Claim:
    response = (named(f"MCRNR{buckets}", model), engine, "poki")
    plain = (f"MCCFR{buckets}", engine, "poki")
    return Claim(
        f"MCRNR{buckets} wins much more from Poki than MCCFR{buckets} does; model: {model} "
        f"{sampling(engine)}.",
        f"the difference, {TRAINED}, is above {MUCH:g} sb/h with its whole 95% interval",
        f"{between(rows, response, plain)}; {training(rows, response, plain)}",
        more(rows, response, plain, MUCH),
    )


def coarse(rows: Rows, engine: str) -> Claim:
    return _wins_more(rows, engine, "MCRNR10", "MCCFR100", "Even MCRNR10 wins more")


def finer(rows: Rows, engine: str) -> Claim:
    text = "Finer buckets win more: MCRNR100 wins more"
    return _wins_more(rows, engine, "MCRNR100", "MCRNR10", text)


def _wins_more(rows: Rows, engine: str, a: str, b: str, text: str) -> Claim:
    """The earlier rule used the difference as measured, without what training may still add."""
    pair = (a, engine, "poki"), (b, engine, "poki")
    margin, old = between(rows, *pair), "the difference is above twice its standard error"
    return Claim(
        f"{text} from Poki than {b} {sampling(engine)}.",
        f"the 95% interval of the difference, {TRAINED}, is above zero",
        f"{margin}; {training(rows, *pair)}",
        more(rows, *pair),
        RuleVariant(old, str(margin), margin.low > 0) if engine == "outcome" else None,
    )


def safe(rows: Rows, buckets: int, engine: str, bound: float, whose: str) -> Claim:
    """MCRNR and MCCFR against Sparbot, to within `bound`."""
    pair = (f"MCRNR{buckets}", engine, "sparbot"), (f"MCCFR{buckets}", engine, "sparbot")
    margin = judge.difference(rows[pair[0]].final, rows[pair[1]].final)
    now = between(rows, *pair)
    old = "MCRNR is behind MCCFR by no more than twice the standard error"
    before = RuleVariant(old, str(now), now.high > 0)
    return Claim(
        f"MCRNR{buckets} performs similarly to MCCFR{buckets} against Sparbot, by {whose} "
        f"{sampling(engine)}.",
        f"the difference, {TRAINED}, is between ± {bound:g} with its whole 95% interval",
        f"{now}; {training(rows, *pair)}",
        judge.within(margin, -bound, bound),
        before if bound == EQUAL and engine == "outcome" else None,
    )


def by_trust(rows: Mapping[str, Winnings]) -> list[Claim]:
    """Responses to Sparbot compared with the first, the control; with and without the cut-off."""

    def judged(rows: Mapping[Any, Winnings]) -> list[Claim]:
        (_, control), *others = rows.items()
        return [improves(row, control, name) for name, row in others]

    return judge.with_and_without_cutoff(judged, rows) if rows else []


def improves(response: Winnings, control: Winnings, what: str) -> Claim:
    """A response to Sparbot compared with the same training at Pconf = 0."""
    margin = judge.difference(response.final, control.final)
    return Claim(
        f"Against Sparbot {what} wins at least as much as Pconf = 0, at equal budget.",
        f"the difference, {TRAINED}, is above -{EQUAL:g} sb/h with its whole 95% interval",
        f"{judge.difference(response.now, control.now)}",
        judge.above(margin, -EQUAL),
    )


def more_games(few: Interval, many: Interval, games: tuple[int, int]) -> Claim:
    margin = judge.difference(many, few)
    return Claim(
        "More observed games make MCRNR better.",
        f"{games[1]:,} games win more than {games[0]:,}, the 95% interval being above zero",
        str(margin),
        judge.above(margin, 0.0) if games[1] > games[0] else None,
    )


def one_coin(once: Interval, each: Interval) -> Claim:
    """Footnote 10 in hold'em: RNR proper compared with a coin at every information set."""
    margin = judge.difference(once, each)
    return Claim(
        "RNR and DBR with a fixed Pconf are similar (footnote 10), here in hold'em against Poki.",
        "the difference is between ± 0.05 sb/h with its whole 95% interval",
        str(margin),
        judge.within(margin, -0.05, 0.05),
    )


# the matches


class Table2Results(NamedTuple):
    played: list[PairingResult]  # the rows of the table
    by_games: dict[tuple[str, str, int], MatchResult]  # model, trust, observed games
    variants: list[MatchResult]
    trusts: dict[str, PairingResult]  # responses to Sparbot
    observed: int


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    players, folder, size = PlayerFactory(scale, store, progress), store.folder, SIZES[scale]
    plan, played = _plan(size), []
    stages = len(plan) + 4
    for k, pairing in enumerate(plan):
        players.progress = stage_progress(progress, k, stages)
        played.append(pairing.play(players))

    def match(spec: ResponseSpec) -> MatchResult:
        return response_match(players, spec, "poki", size.swept_hands)

    players.progress = stage_progress(progress, len(plan), stages)
    by_games = {key: match(spec) for key, spec in _by_games(size).items()}
    players.progress = stage_progress(progress, stages - 2, stages)
    variants = [match(spec) for spec in _variants(size)]
    players.progress = stage_progress(progress, stages - 1, stages)
    trusts = {one.player: one.play(players) for one in _sparbot(size)}
    results = Table2Results(played, by_games, variants, trusts, size.observed)
    _picture(results, folder / "table2.png")
    setting = {**size._asdict(), "threads": THREADS, "Pconf": P}
    setting |= {"model": "C4.5, one tree per phase", "observed by": "probe"}
    setting |= table1.training_settings(played)
    header, rows = f"part {table1.HEADER} observed_games", _csv_rows(results)
    shown = (_tables(results), [RECREATED])
    return EXPERIMENT.outcome(scale, folder, [], setting, header, rows, *shown)


def _plan(size: Sizes) -> list[Pairing]:
    """The rows of the table."""
    plan = []
    for engine, buckets in size.respond:
        for opponent in BOTS:
            plan.append(Pairing(f"MCCFR{buckets}", engine, buckets, opponent))
            all_models = (engine, buckets, opponent) == ("outcome", 10, "poki")
            for model in MODELS if all_models else (PLAIN,):
                name = named(f"MCRNR{buckets}", model)
                how = (size.observed, size.of(engine, buckets), MODELS[model])
                of = (f"{name}-{opponent}", opponent, buckets)
                response = ResponseSpec(*of, *how, engine=engine)
                plan.append(Pairing(name, engine, buckets, opponent, response))
    return plan


def _by_games(size: Sizes) -> dict[tuple[str, str, int], ResponseSpec]:
    """MCRNR10 against Poki by model, trust and number of observed games."""
    specs = {}
    for kind, trust in SWEPT:
        for games in GAMES:
            name = f"MCRNR10 ({kind}, {trust}, {games:,} games)"
            how = (games, size.swept, {"kind": kind}, P if trust == "constant" else trust)
            specs[kind, trust, games] = ResponseSpec(name, "poki", 10, *how)
    return specs


def _variants(size: Sizes) -> list[ResponseSpec]:
    def spec(name: str, model: dict[str, Any], algorithm: str) -> ResponseSpec:
        budget = (size.observed, size.swept)
        return ResponseSpec(f"MCRNR10 ({name})", "poki", 10, *budget, model, P, algorithm)

    return [spec(*variant) for variant in VARIANTS]


def _sparbot(size: Sizes) -> list[Pairing]:
    """MCRNR10 against Sparbot by Pconf, at equal budget, the control first; none at quick scale."""
    if not size.trusts:
        return []
    exact = {"kind": "frequency", "cards": "all", "unseen": "fractional"}
    plan: list[tuple[str, int, dict[str, Any], Any]] = [
        *((f"Pconf = {p:g}", size.observed, {}, p) for p in (*size.trusts, P)),
        ("data-biased Pconf", size.observed, {}, LINEAR),
        (f"a nearly perfect model ({size.many:,} hands, all cards seen)", size.many, exact, LINEAR),
    ]
    pairings = []
    for name, hands, model, trust in plan:
        how = (hands, size.trusted, model, trust)
        spec = ResponseSpec(f"MCRNR10, {name}", "sparbot", 10, *how)
        pairings.append(Pairing(name, "external", 10, "sparbot", spec))
    return pairings


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SIZES[scale]
    pairings, specs = [*_plan(size), *_sparbot(size)], [*_by_games(size).values(), *_variants(size)]
    jobs = [job for one in pairings for job in pairing_jobs(scale, store, one)]
    return jobs + [response_job(scale, store, one, "poki", size.swept_hands) for one in specs]


# picture and table


def _won(result: MatchResult) -> Interval:
    return judge.around(result.mean, half_interval(result))


def _all_claims(results: Table2Results) -> list[Claim]:
    by = {games: _won(results.by_games["tree", "constant", games]) for games in GAMES}
    ends = (GAMES[0], GAMES[-1])
    once, each = _won(results.variants[-1]), by[results.observed]
    trusts = table1.winnings(list(results.trusts.values())).values()
    others = [more_games(by[ends[0]], by[ends[1]], ends), one_coin(once, each)]
    sparbot = by_trust(dict(zip(results.trusts, trusts, strict=True)))
    return [*claims(table1.winnings(results.played)), *others, *sparbot]


def _csv_rows(results: Table2Results) -> list[tuple[Any, ...]]:
    def short(part: str, name: str, games: int, result: MatchResult) -> tuple[Any, ...]:
        numbers = (result.mean, result.standard_error, result.hands)
        return (part, "poki", f"MCRNR10, {name}", "external", "", "", *numbers, "", "", games)

    parts = [("table", p) for p in results.played]
    parts += [("sparbot by Pconf", p) for p in results.trusts.values()]
    rows = [(part, *table1.csv_row(p, PAPER), results.observed) for part, p in parts]
    rows += [short("games", f"{k}, {t}", n, one) for (k, t, n), one in results.by_games.items()]
    for (name, *_), result in zip(VARIANTS, results.variants, strict=True):
        rows.append(short("variant", name, results.observed, result))
    return rows


def _tables(results: Table2Results) -> list[ResultTable]:
    by = results.by_games
    games = [[*how, *(as_text(by[*how, n]) for n in GAMES)] for how in SWEPT]
    plain = by["tree", "constant", results.observed]
    other = [["tree, unseen cards inferred, observed by Probe, mcdbr", as_text(plain)]]
    for (name, *_), result in zip(VARIANTS, results.variants, strict=True):
        other.append([name, as_text(result)])
    title = "MCRNR10 against Poki by observed games (external sampling)"
    header = ["model", f"Pconf (at most {P})", *(f"{n:,}" for n in GAMES)]
    made = [
        table1.result_table(results.played, PAPER),
        ResultTable(title, header, games),
        ResultTable("MCRNR10 against Poki, other choices", ["model", "sb/h"], other),
    ]
    if results.trusts:
        trusts = results.trusts.items()
        rows = [[name, as_text(p.result), f"{p.iterations:,}"] for name, p in trusts]
        header = ["response", "sb/h", "iterations a seat"]
        made.append(ResultTable("MCRNR10 against Sparbot (external sampling)", header, rows))
    return made


def _picture(results: Table2Results, path: Path) -> None:
    figure, axes = new_figure(1, 1, 7.2, 4.4)
    axis = axes[0, 0]
    for k, (kind, trust) in enumerate(SWEPT):
        matches = [results.by_games[kind, trust, n] for n in GAMES]
        x, y = [n * (1 + 0.03 * k) for n in GAMES], [match.mean for match in matches]
        errors = [1.96 * match.standard_error for match in matches]
        label = f"{kind}, Pconf {'constant' if trust == 'constant' else 'from counts'}"
        line = {"color": COLOURS[k], "linestyle": STYLES[k], "marker": "o", "capsize": 3}
        axis.errorbar(x, y, yerr=errors, label=label, **line)
    for p in results.played:
        if p.player.startswith("MCCFR") and p.opponent == "poki":
            shade, mean = "0.35" if p.player == "MCCFR10" else "0.6", p.result.mean
            axis.axhline(mean, color=shade, linewidth=1.0)
            where = {"fontsize": 8, "color": shade, "va": "bottom", "ha": "right"}
            axis.annotate(f"{p.player} ({p.engine})", (GAMES[-1] * 1.15, mean), **where)
    axis.set(xscale="log", xlabel="observed games", ylabel="won from Poki (re-created), sb/h")
    axis.set_xticks(GAMES, [f"{n:,}" for n in GAMES], minor=False)
    axis.minorticks_off()
    axis.legend(frameon=False, fontsize=8)
    title = "MCRNR10 against Poki by what was observed (95% intervals)"
    save_figure(figure, path, title)


TITLE = "Table 2: robust responses against the bots"
SECONDS = {"quick": 245, "paper": 6000}  # on two cores
SETTINGS = {
    **MEANING,
    "model": "how the opponent's model was learnt",
    "observed by": "who played the observed hands against the opponent",
}
EXPERIMENT = Experiment("table2", TITLE, run, SECONDS, _jobs, order=5, priority=2, meaning=SETTINGS)
