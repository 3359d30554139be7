"""Table 1: MCTS10, MCCFR10 and MCCFR100 against Poki and Sparbot, in sb/h.

MCCFR by public chance sampling, which has converged, is judged; outcome sampling, the article's
engine, stands beside it at the iterations it got.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import stdev
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import Experiment, Outcome, ResultTable
from counterplay.app.reproduction.harness.judge import Claim, Interval, above, below, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.holdem_runs import bot_job, public_job
from counterplay.app.reproduction.players import (
    BOTS,
    MEANING,
    POKI_RATE,
    RECREATED,
    SEEN,
    SET_UP_SECONDS,
    SIZES,
    C,
    PlayerFactory,
    PlayerSpec,
    Won,
)
from counterplay.core.base.plotting import COLOURS, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, stage
from counterplay.core.parallel.jobs import Job

ARTICLE = {
    "poki": {"MCTS10": 0.077, "MCCFR10": 0.059, "MCCFR100": 0.191},
    "sparbot": {"MCTS10": -0.103, "MCCFR10": -0.091, "MCCFR100": 0.046},
}
#: The article's 95% interval of a cell, and of the difference of two (slips.md).
CELL, APART = 0.12, 0.17
#: "Much": at least this share of the article's own difference.
MUCH = 0.5
FLAT = 100_000_000  # iterations after which MCTS has settled
BY = "seeds, deals and observed games vary together; 95% intervals by Student's t over seeds"
HEADER = (
    "part opponent player engine iterations observed_games seconds sb_per_hand standard_error "
    "low high seeds hands paper"
)

# rows, shared with Table 2 and Figure 8


class TableRow(NamedTuple):
    """What a player won from a bot, seed by seed."""

    spec: PlayerSpec
    opponent: str
    won: Sequence[Won]
    seconds: float  # of training, mean over seeds

    @property
    def means(self) -> list[float]:
        return [one.mean for one in self.won]

    @property
    def interval(self) -> judge.Interval:
        return judge.mean_over(self.means)


class Plan(NamedTuple):
    """A player, whom it plays, in how many hands of Poki, and how many seeds of it."""

    spec: PlayerSpec
    opponents: tuple[str, ...]
    poki: int
    seeds: int

    def rows(self, players: PlayerFactory) -> list[TableRow]:
        found = [players.play(*self[:3], seed) for seed in range(self.seeds)]
        seconds = sum(one[0] for one in found) / self.seeds
        return [
            TableRow(self.spec, bot, [Won(*one[k + 1]) for one in found], seconds)
            for k, bot in enumerate(self.opponents)
        ]

    def jobs(self, seed: int, scale: str, store: PieceStore) -> list[Job]:
        """Training and matches of a seed, and before it what prepares them."""
        spec = self.spec
        bots = [name for name in BOTS if name in (*self.opponents, spec.opponent)]
        first = [bot_job(name) for name in bots]
        first += [public_job()] if spec.engine == "public" else []
        first += [observing_job(spec, seed, scale, store)] if spec.opponent else []
        seconds = spec.seconds + self.poki / POKI_RATE * ("poki" in self.opponents)

        def work(progress: ProgressCallback) -> None:
            PlayerFactory(scale, store, progress).play(*self[:3], seed)

        against = f" against {spec.opponent}" if spec.opponent else ""
        how = f"{spec.engine}, {spec.iterations:,} iterations, {spec.games:,} games"
        name = f"{spec.name} ({how}{against}), seed {seed + 1}"
        after = tuple(one.name for one in first)
        return [*first, Job(name, work, seconds + SET_UP_SECONDS, 1, after)]


def jobs_of(plans: Sequence[Plan], scale: str, store: PieceStore) -> list[Job]:
    """Seed by seed, so that jobs which begin together compile different kernels."""
    most = max(plan.seeds for plan in plans)
    runs = [(plan, seed) for seed in range(most) for plan in plans if seed < plan.seeds]
    return [job for plan, seed in runs for job in plan.jobs(seed, scale, store)]


def observing_job(spec: PlayerSpec, seed: int, scale: str, store: PieceStore) -> Job:
    """The hands that responses of this seed observe."""

    def work(progress: ProgressCallback) -> None:
        PlayerFactory(scale, store, progress).observed(spec, seed)

    how = ", all cards seen" if spec.model == SEEN else ""
    name = f"{spec.games:,} games of {spec.opponent} observed{how}, seed {seed + 1}"
    return Job(name, work, spec.observing, 1, (bot_job(str(spec.opponent)).name,))


Key = tuple[str, str, str]  # player, engine, opponent
Rows = Mapping[Key, TableRow]


def by_key(rows: Sequence[TableRow]) -> dict[Key, TableRow]:
    return {(row.spec.name, row.spec.engine, row.opponent): row for row in rows}


def less(rows: Rows, a: Key, b: Key) -> judge.Interval:
    """What a wins more than b, seed by seed."""
    return judge.paired(rows[a].means, rows[b].means)


# the rules


def claims(rows: Rows) -> list[Claim]:
    return [rule(rows) for rule in (wins, loses, wins_convincingly, finer, level)]


def key(player: str, bot: str) -> Key:
    """The row of a player that is judged."""
    return player, "mcts" if player == "MCTS10" else "public", bot


def wins(rows: Rows) -> Claim:
    won = rows[key("MCCFR10", "poki")].interval
    measured = f"MCCFR10 wins {won} sb/h from Poki (article +0.059)."
    rule = "The 95% interval of what MCCFR10 (public sampling) wins is above zero."
    return claim(12, measured, decide(above(won, 0.0)), rule)


def loses(rows: Rows) -> Claim:
    won = rows[key("MCCFR10", "sparbot")].interval
    measured = f"MCCFR10 wins {won} sb/h from Sparbot (article -0.091)."
    rule = "The 95% interval of what MCCFR10 (public sampling) wins is below zero."
    return claim(13, measured, decide(below(won, 0.0)), rule)


def wins_convincingly(rows: Rows) -> Claim:
    won = {bot: rows[key("MCCFR100", bot)].interval for bot in BOTS}
    measured = f"MCCFR100 wins {won['poki']} sb/h from Poki and {won['sparbot']} from Sparbot."
    rule = "Both 95% intervals of MCCFR100 (public sampling) are above zero; in part if one is."
    return claim(14, measured, decide(*(above(one, 0.0) for one in won.values())), rule)


def finer(rows: Rows) -> Claim:
    margin = {bot: less(rows, key("MCCFR100", bot), key("MCCFR10", bot)) for bot in BOTS}
    published = {bot: ARTICLE[bot]["MCCFR100"] - ARTICLE[bot]["MCCFR10"] for bot in BOTS}
    measured = "; ".join(
        f"{bot.title()} {margin[bot]} sb/h (article {published[bot]:+.3f})" for bot in BOTS
    )
    rule = (
        f"MCCFR100 less MCCFR10 (public sampling) is above {MUCH:g} of the article's difference "
        f"of +0.13 against both bots; in part if against one."
    )
    parts = [above(margin[bot], MUCH * published[bot]) for bot in BOTS]
    return claim(15, f"100 buckets less 10: {measured}.", decide(*parts), rule)


def level(rows: Rows) -> Claim:
    margin = {bot: less(rows, key("MCTS10", bot), key("MCCFR10", bot)) for bot in BOTS}
    measured = ", ".join(f"{margin[bot]} sb/h against {bot.title()}" for bot in BOTS)
    rule = (
        f"MCTS10 less MCCFR10 (public sampling) is within the article's ± {APART:g} with its whole "
        f"95% interval against both bots; in part if against one; MCTS10 is not found worse before "
        f"{FLAT / 1e6:.0f} million iterations, while it still learns."
    )
    trained = rows[key("MCTS10", BOTS[0])].spec.iterations >= FLAT
    parts = [
        judge.only_if(trained or one.value > 0, False)
        if (part := judge.within(one, -APART, APART)) is False
        else part
        for one in margin.values()
    ]
    return claim(16, f"MCTS10 less MCCFR10: {measured}.", decide(*parts), rule)


# the matches


def plans(scale: str) -> list[Plan]:
    size = SIZES[scale]
    judged = (BOTS, size.poki, size.seeds)
    settled = size.poki if size.mcts >= FLAT else size.beside  # before, nothing is decided by it
    found = [Plan(PlayerSpec("MCTS10", "mcts", 10, size.mcts), BOTS, settled, size.seeds)]
    for k, buckets in enumerate((10, 100)):
        name = f"MCCFR{buckets}"
        found.append(Plan(PlayerSpec(name, "public", buckets, size.public[k]), *judged))
    for buckets in (10, 100):
        spec = PlayerSpec(f"MCCFR{buckets}", "outcome", buckets, size.outcome)
        found.append(Plan(spec, BOTS, size.beside, 3))
    return found


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    rows = played(plans(scale), PlayerFactory(scale, store, progress))
    picture(rows, ARTICLE, store.folder / "table1.png", TITLE)
    setting = {**SIZES[scale]._asdict(), "MCTS": f"C = {C:g}", "intervals": BY}
    lines = [csv_row("table", row, ARTICLE) for row in rows]
    shown = ([result_table(rows, ARTICLE)], [RECREATED])
    judged = claims(by_key(rows))
    return EXPERIMENT.outcome(scale, store.folder, judged, setting, HEADER, lines, *shown)


def played(plan: Sequence[Plan], players: PlayerFactory) -> list[TableRow]:
    """The rows of all plans."""
    progress, rows = players.progress, []
    for k, one in enumerate(plan):
        players.progress = stage(progress, k, len(plan))
        rows += one.rows(players)
    return rows


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    return jobs_of(plans(scale), scale, store)


# results as tables and pictures, shared with Table 2

Published = Mapping[str, Mapping[str, float]]


def csv_row(part: str, row: TableRow, article: Published) -> tuple[Any, ...]:
    spec, won = row.spec, row.interval
    trained = (spec.name, spec.engine, spec.iterations, spec.games, f"{row.seconds:.1f}")
    error = stdev(row.means) / math.sqrt(len(row.won)) if len(row.won) > 1 else math.inf
    numbers = (won.value, error, won.low, won.high, len(row.won), sum(x.hands for x in row.won))
    published = article[row.opponent].get(spec.name, "")
    return (part, row.opponent, *trained, *numbers, published)


def result_table(rows: Sequence[TableRow], article: Published) -> ResultTable:
    """Every player with its engine and training, and what it won from each bot."""
    lines: dict[tuple[Any, ...], dict[str, Interval]] = {}
    for row in rows:
        how = (row.spec.name, row.spec.engine, f"{row.spec.iterations:,}")
        lines.setdefault(how, {})[row.opponent] = row.interval
    body = []
    for how, won in lines.items():
        published = [article[b].get(str(how[0])) for b in BOTS]
        body.append(
            [
                *map(str, how),
                *(str(won[b]) if b in won else "–" for b in BOTS),
                *("–" if x is None else f"{x:+.3f}" for x in published),
            ]
        )
    header = ["player", "sampling", "iterations", *BOTS, *(f"{b}, article (± 0.12)" for b in BOTS)]
    return ResultTable("sb/h won, with 95% intervals over seeds and deals", header, body)


def _judged(name: tuple[str, str], article: Mapping[str, float]) -> bool:
    """Whether this player and engine are those that stand for the article's."""
    return name[0] in article and name[1] != "outcome"


def _label(player: str, engine: str) -> str:
    return player if engine == "mcts" else f"{player}, {engine} sampling"


def picture(rows: Sequence[TableRow], article: Published, path: Path, title: str) -> None:
    """What each player won from each bot, the article's numbers beside it."""
    names = list(dict.fromkeys((row.spec.name, row.spec.engine) for row in rows))[::-1]
    figure, axes = new_figure(1, 2, 10.5, 1.4 + 0.42 * len(names))
    for axis, bot in zip(axes[0], BOTS, strict=True):
        for y, name in enumerate(names):
            for row in rows:
                if (row.spec.name, row.spec.engine, row.opponent) == (*name, bot):
                    colour = COLOURS[0 if _judged(name, article[bot]) else 1]
                    bar = {"fmt": "o", "color": colour, "capsize": 3}
                    axis.errorbar([row.interval.value], [y], xerr=row.interval.half, **bar)
            if _judged(name, article[bot]):
                where = ([article[bot][name[0]]], [y + 0.25])
                axis.errorbar(*where, xerr=CELL, fmt="D", color="0.55", markersize=4, capsize=2)
        axis.axvline(0.0, color="0.3", linewidth=0.8)
        axis.set_yticks(range(len(names)), [_label(*name) for name in names])
        axis.set_xlabel(f"won from {bot.title()} (re-created), sb/h")
        axis.set_ylim(-0.6, len(names) - 0.2)
    axes[0, 1].set_yticklabels([])
    marks = [("o", COLOURS[0], "judged"), ("o", COLOURS[1], "not judged")]
    marks.append(("D", "0.55", "the article, ± 0.12"))
    for marker, colour, label in marks:
        axes[0, 0].plot([], [], marker, color=colour, label=label)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save_figure(figure, path, title)


TITLE = "Table 1: equilibrium strategies against the bots"
SECONDS = {"quick": 150, "paper": 1500}  # on two cores
STORY = """sb/h over 10,000 games, ± 0.12: MCTS10 +0.077 from Poki and -0.103 from Sparbot, MCCFR10
+0.059 and -0.091, MCCFR100 +0.191 and +0.046.

Equilibrium strategies of three abstractions play the two bots. The bots are re-creations of
commercial programs, so numbers compare in tendency only. Players that have converged (public
sampling) are judged; outcome sampling, the article's engine, is beside them at the iterations it
got."""
EXPERIMENT = Experiment(
    "table1", TITLE, run, SECONDS, _jobs, order=4, priority=4, meaning=MEANING, story=STORY
)
