"""Table 2. Rows of outcome sampling, the paper's MCCFR and MCRNR, are judged for three models: J48
to the letter, with unseen cards inferred, and with all cards seen; public sampling beside them as
ours. Against Sparbot the paper found no significant difference, at ± 0.17; we judge that, and what
we can resolve ourselves."""

from __future__ import annotations

from collections.abc import Mapping

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    Range,
    above,
    difference,
    within,
)
from counterplay.experiments.paper.rules import table1
from counterplay.experiments.paper.rules.rows import (
    APART,
    EQUAL,
    NAMES,
    WHOSE,
    Key,
    Rows,
    Standing,
    between,
    both_ways,
    more,
    training,
)

PAPER = {
    "poki": {**table1.PAPER["poki"], "MCRNR10": 0.369, "MCRNR100": 0.482},
    "sparbot": {**table1.PAPER["sparbot"], "MCRNR10": -0.039, "MCRNR100": 0.061},
}
MUCH = 0.1  # sb/h
PLAIN = "inferred cards"  # the model of a row that names none
LITERAL, SEEN = "literal J48", "all cards seen"
TRAINED = table1.TRAINED


def named(player: str, model: str) -> str:
    """The row of a response to a model."""
    return player if model == PLAIN else f"{player}, {model}"


def claims(rows: Rows) -> list[Claim]:
    """Of whatever rows there are; each both ways."""
    return both_ways(_claims, rows)


def _claims(rows: Rows) -> list[Claim]:
    made = [
        exploits(rows, 10, engine, model)
        for engine in NAMES
        for model in (LITERAL, PLAIN, SEEN)
        if (named("MCRNR10", model), engine, "poki") in rows
    ]
    for engine in NAMES:
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
        f"({NAMES[engine]}, {WHOSE[engine]}).",
        f"the difference, {TRAINED}, is above {MUCH:g} sb/h with its whole 95% interval",
        f"{between(rows, response, plain)}; {training(rows, response, plain)}",
        more(rows, response, plain, MUCH),
    )


def coarse(rows: Rows, engine: str) -> Claim:
    pair = ("MCRNR10", engine, "poki"), ("MCCFR100", engine, "poki")
    return Claim(
        f"Even MCRNR10 wins more from Poki than MCCFR100 ({NAMES[engine]}, {WHOSE[engine]}).",
        f"the 95% interval of the difference, {TRAINED}, is above zero",
        f"{between(rows, *pair)}; {training(rows, *pair)}",
        more(rows, *pair),
        _before(rows, engine, pair),
    )


def finer(rows: Rows, engine: str) -> Claim:
    pair = ("MCRNR100", engine, "poki"), ("MCRNR10", engine, "poki")
    return Claim(
        f"Finer buckets win more: MCRNR100 wins more from Poki than MCRNR10 ({NAMES[engine]}, "
        f"{WHOSE[engine]}).",
        f"the 95% interval of the difference, {TRAINED}, is above zero",
        f"{between(rows, *pair)}; {training(rows, *pair)}",
        more(rows, *pair),
        _before(rows, engine, pair),
    )


def _before(
    rows: Rows, engine: str, pair: tuple[tuple[str, str, str], tuple[str, str, str]]
) -> Reading | None:
    """The rule used before looked at the difference as it is, whatever training may still add."""
    if engine != "outcome":
        return None
    apart = difference(rows[pair[0]].now, rows[pair[1]].now)
    return Reading("the difference is above twice its standard error", str(apart), apart.low > 0)


def safe(rows: Rows, buckets: int, engine: str, bound: float, whose: str) -> Claim:
    """MCRNR beside MCCFR against Sparbot, at a resolution."""
    pair = (f"MCRNR{buckets}", engine, "sparbot"), (f"MCCFR{buckets}", engine, "sparbot")
    apart = difference(rows[pair[0]].final, rows[pair[1]].final)
    now = difference(rows[pair[0]].now, rows[pair[1]].now)
    before = Reading(
        "MCRNR is behind MCCFR by no more than twice the standard error", str(now), now.high > 0
    )
    return Claim(
        f"MCRNR{buckets} performs similarly to MCCFR{buckets} against Sparbot, by {whose} "
        f"({NAMES[engine]}, {WHOSE[engine]}).",
        f"the difference, {TRAINED}, is between ± {bound:g} with its whole 95% interval",
        f"{now}; {training(rows, *pair)}",
        within(apart, -bound, bound),
        before if bound == EQUAL and engine == "outcome" else None,
    )


def by_trust(rows: Mapping[str, Standing]) -> list[Claim]:
    """Responses to Sparbot, each beside the first, the control; both ways."""
    keys: dict[Key, Standing] = {(name, "external", "sparbot"): row for name, row in rows.items()}

    def judge(found: Rows) -> list[Claim]:
        control, *others = found.items()
        return [improves(row, control[1], name) for (name, _, _), row in others]

    return both_ways(judge, keys) if keys else []


def improves(response: Standing, control: Standing, what: str) -> Claim:
    """A response to Sparbot beside the same training with Pconf = 0."""
    apart = difference(response.final, control.final)
    return Claim(
        f"Against Sparbot {what} wins at least as much as Pconf = 0, at equal budget.",
        f"the difference, {TRAINED}, is above -{EQUAL:g} sb/h with its whole 95% interval",
        f"{difference(response.now, control.now)}",
        above(apart, -EQUAL),
    )


def more_games(few: Range, many: Range, games: tuple[int, int]) -> Claim:
    apart = difference(many, few)
    return Claim(
        "More observed games make MCRNR better.",
        f"{games[1]:,} games win more than {games[0]:,}, the 95% interval being above zero",
        str(apart),
        above(apart, 0.0) if games[1] > games[0] else None,
    )


def one_coin(once: Range, each: Range) -> Claim:
    """Footnote 10 in hold'em: RNR proper beside a coin at every information set."""
    apart = difference(once, each)
    return Claim(
        "RNR and DBR with a fixed Pconf are similar (footnote 10), here in hold'em against Poki.",
        "the difference is between ± 0.05 sb/h with its whole 95% interval",
        str(apart),
        within(apart, -0.05, 0.05),
    )
