"""Table 2: robust responses (MCRNR10, MCRNR100) and MCCFR against Poki and Sparbot.

The article's poker MCRNR is `mcdbr` with Pconf = 0.75 everywhere and a decision-tree model (J48)
from about 20,000 observed games. Where no cards were shown they are inferred; that reading of the
model is judged, with public sampling, which has converged. Beyond the article, at paper scale: J48
to the letter, a model that saw all cards, and smaller Pconf against Sparbot.
"""

from __future__ import annotations

from dataclasses import replace

from counterplay.app.reproduction import table1
from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import Experiment, Outcome
from counterplay.app.reproduction.harness.judge import Claim, above, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.players import (
    LITERAL,
    MEANING,
    RECREATED,
    SEEN,
    SIZES,
    P,
    PlayerFactory,
    PlayerSpec,
    Sizes,
)
from counterplay.app.reproduction.table1 import APART, MUCH, Plan, Rows, by_key, key, less
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job

ARTICLE = {
    "poki": {**table1.ARTICLE["poki"], "MCRNR10": 0.369, "MCRNR100": 0.482},
    "sparbot": {**table1.ARTICLE["sparbot"], "MCRNR10": -0.039, "MCRNR100": 0.061},
}
TRUSTS = (0.25, 0.5)  # further values of Pconf against Sparbot
J48 = f"MCRNR10, {LITERAL}"

# the rules


def claims(rows: Rows) -> list[Claim]:
    return [rule(rows) for rule in (exploits, coarse, finer, safe)]


def exploits(rows: Rows) -> Claim:
    pairs = {n: (f"MCRNR{n}", f"MCCFR{n}") for n in (10, 100)}
    margin = {n: less(rows, *(key(one, "poki") for one in pair)) for n, pair in pairs.items()}
    published = {n: ARTICLE["poki"][a] - ARTICLE["poki"][b] for n, (a, b) in pairs.items()}
    parts = [above(margin[n], MUCH * published[n]) for n in pairs]
    listed = " and ".join(
        f"{margin[n]} sb/h with {n} buckets (article {published[n]:+.3f})" for n in pairs
    )
    literal = rows.get(key(J48, "poki"))
    caveat = f"; with {LITERAL} MCRNR10 wins {literal.interval}" if literal else ""
    rule = (
        f"MCRNR less MCCFR (public sampling, unseen cards inferred) is above {MUCH:g} of the "
        f"article's difference; in part if so with one number of buckets."
    )
    return claim(17, f"MCRNR less MCCFR: {listed}{caveat}.", decide(*parts), rule)


def coarse(rows: Rows) -> Claim:
    margin = less(rows, key("MCRNR10", "poki"), key("MCCFR100", "poki"))
    published = ARTICLE["poki"]["MCRNR10"] - ARTICLE["poki"]["MCCFR100"]
    measured = f"MCRNR10 less MCCFR100: {margin} sb/h (article {published:+.3f})."
    rule = f"The difference is above {MUCH:g} of the article's with its whole 95% interval."
    return claim(18, measured, decide(above(margin, MUCH * published)), rule)


def finer(rows: Rows) -> Claim:
    margin = less(rows, key("MCRNR100", "poki"), key("MCRNR10", "poki"))
    measured = f"MCRNR100 less MCRNR10: {margin} sb/h (article +0.113)."
    rule = "The 95% interval of the difference is above zero."
    return claim(19, measured, decide(above(margin, 0.0)), rule)


def safe(rows: Rows) -> Claim:
    margin = {
        n: less(rows, key(f"MCRNR{n}", "sparbot"), key(f"MCCFR{n}", "sparbot"))
        for n in (10, 100)
        if key(f"MCRNR{n}", "sparbot") in rows  # 100 buckets are left out at quick scale
    }
    listed = " and ".join(f"{one} sb/h with {n} buckets" for n, one in margin.items())
    rule = (
        f"MCRNR less MCCFR (public sampling) against Sparbot is within the article's ± {APART:g} "
        f"with its whole 95% interval; in part if so with one number of buckets."
    )
    parts = [judge.within(one, -APART, APART) for one in margin.values()]
    return claim(20, f"MCRNR less MCCFR: {listed}.", decide(*parts), rule)


# the matches


def response(name: str, size: Sizes, bot: str, **changes: object) -> PlayerSpec:
    """MCRNR10 or MCRNR100 by public sampling, against a bot."""
    buckets = 100 if "100" in name else 10
    spec = PlayerSpec(name, "public", buckets, size.respond[buckets == 100], bot, size.observed)
    return spec._replace(**changes)  # type: ignore[arg-type]


def plans(scale: str) -> list[Plan]:
    """The responses of the table; MCCFR's players are Table 1's."""
    size = SIZES[scale]
    cells = [(10, "poki"), (10, "sparbot"), (100, "poki"), (100, "sparbot")]
    found = [
        Plan(response(f"MCRNR{n}", size, bot), (bot,), size.poki, size.seeds)
        for n, bot in cells[: 4 if size.further else 3]
    ]
    if not size.further:
        return found
    found.append(Plan(response(J48, size, "poki", model=LITERAL), ("poki",), size.beside, 3))
    how = {"engine": "outcome", "iterations": size.outcome}
    outcome = [response(f"MCRNR{n}", size, bot, **how) for n, bot in cells[:3]]
    return [*found, *(Plan(spec, (str(spec.opponent),), size.beside, 3) for spec in outcome)]


def further(scale: str) -> list[Plan]:
    """Beyond the article."""
    size = SIZES[scale]
    if not size.further:
        return []
    seen = response(f"MCRNR10, {SEEN}", size, "poki", model=SEEN)
    found = [Plan(seen, ("poki",), size.beside, 3)]
    for p in TRUSTS:
        spec = response(f"MCRNR10, Pconf = {p:g}", size, "sparbot", trust=p)
        found.append(Plan(spec, ("sparbot",), size.beside, 3))
    return found


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    players = PlayerFactory(scale, store, progress)
    mccfr = [plan for plan in table1.plans(scale) if plan.spec.name != "MCTS10"]
    rows = table1.played([*mccfr, *plans(scale)], players)
    others = table1.played(further(scale), players)
    table1.picture(rows, ARTICLE, store.folder / "table2.png", TITLE)
    setting = {**SIZES[scale]._asdict(), "Pconf": P, "intervals": table1.BY}
    setting |= {"model": "C4.5, one tree per phase", "observed by": "probe"}
    lines = [table1.csv_row("table", row, ARTICLE) for row in rows]
    lines += [table1.csv_row("beyond", row, ARTICLE) for row in others]
    tables = [table1.result_table(rows, ARTICLE)]
    if others:
        beyond = table1.result_table(others, ARTICLE)
        tables.append(replace(beyond, title="Beyond the article: sb/h won, with 95% intervals"))
    judged = claims(by_key(rows))
    shown = (tables, [RECREATED])
    return EXPERIMENT.outcome(scale, store.folder, judged, setting, table1.HEADER, lines, *shown)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    every = [*table1.plans(scale)[1:], *plans(scale), *further(scale)]
    return table1.jobs_of(every, scale, store)


TITLE = "Table 2: robust responses against the bots"
SECONDS = {"quick": 130, "paper": 2000}  # on two cores
SETTINGS = {
    **MEANING,
    "model": "how the opponent's model was learnt",
    "observed by": "who played the observed hands against the opponent",
}
STORY = """sb/h over 10,000 games, ± 0.12: MCRNR10 +0.369 from Poki and -0.039 from Sparbot,
MCRNR100 +0.482 and +0.061; MCCFR as in Table 1. Models are learnt from about 20,000 games.

Robust responses to a model of each bot play against it. The bots are re-creations of commercial
programs, so numbers compare in tendency only. How the model treats cards that were never shown
decides what the response wins: taken literally, J48 cannot represent that weak hands fold."""
EXPERIMENT = Experiment(
    "table2", TITLE, run, SECONDS, _jobs, order=5, priority=5, meaning=SETTINGS, story=STORY
)
