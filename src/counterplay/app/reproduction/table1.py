"""Table 1: MCTS10, MCCFR10 and MCCFR100 against Poki and Sparbot, in sb/h.

The paper's MCCFR is outcome sampling, and its rows are judged; external and public sampling are
judged beside it as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import (
    Claim,
    Interval,
    RuleVariant,
    Verdict,
    Winnings,
)
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.players import (
    BOTS,
    RECREATED,
    THREADS,
    Pairing,
    PairingResult,
    PlayerFactory,
    as_text,
    half_interval,
    pairing_jobs,
)
from counterplay.app.reproduction.sizes import ENGINES, MEANING, SIZES
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job

PAPER = {
    "poki": {"MCTS10": 0.077, "MCCFR10": 0.059, "MCCFR100": 0.191},
    "sparbot": {"MCTS10": -0.103, "MCCFR10": -0.091, "MCCFR100": 0.046},
}
#: The paper's 95% interval of a cell, and of the difference of two (slips.md).
CELL, APART = 0.12, 0.17
#: Differences up to this (sb/h) count as equal where the resolution allows.
EQUAL = 0.02
PAPERS_OWN = "as in the paper"
WHOSE = {"outcome": PAPERS_OWN, "external": "ours", "public": "ours"}
TRAINED = "with what training may still add"  # judge.when_trained
HEADER = (
    "opponent player engine iterations seconds sb_per_hand standard_error hands "
    "gained_in_second_half paper"
)
Key = tuple[str, str, str]  # player, engine, opponent
Rows = Mapping[Key, Winnings]

# the rules, shared with Table 2


def more(rows: Rows, a: Key, b: Key, by: float = 0.0) -> Verdict:
    """Whether a wins more than b by more than `by`, however long both are trained."""
    return judge.above(judge.difference(rows[a].final, rows[b].final), by)


def between(rows: Rows, a: Key, b: Key) -> Interval:
    """The difference as measured."""
    return judge.difference(rows[a].now, rows[b].now)


def training(rows: Rows, *keys: Key) -> str:
    """Gain of the second half of training as text; the largest over bots."""
    most: dict[tuple[str, str], Interval] = {}
    for key in keys:
        one, name = rows[key].gained, key[:2]
        most[name] = max(most.get(name, one), one, key=lambda gain: gain.value)
    gains = ", ".join(f"{player} {gain}" for (player, _), gain in most.items())
    return f"the second half of training gave {gains}"


def sampling(engine: str) -> str:
    """The engine as text, and whether it is the paper's."""
    return f"({engine} sampling, {WHOSE[engine]})"


def cells(rows: Rows, paper: Mapping[str, Mapping[str, float]], *players: str) -> Claim:
    """Every cell of a table beside the paper's own interval; ours by outcome sampling."""
    inside, off = [], []
    for player in players:
        for bot in BOTS:
            row = rows.get((player, "mcts" if player == "MCTS10" else "outcome", bot))
            if row is None:
                continue
            published = paper[bot][player]
            inside.append(judge.within(row.final, published - CELL, published + CELL))
            if not inside[-1]:
                off.append(f"{player} {bot} {row.now} (paper {published:+.3f})")
    details = f"{inside.count(True)} of {len(inside)} inside"
    return Claim(
        "Each cell lies inside the paper's own interval.",
        f"ours (outcome sampling, {TRAINED}) is within {CELL:g} of the paper's number in each",
        details + (f"; not, or not surely: {', '.join(off)}" if off else ""),
        judge.all_hold(inside) if len(inside) == 2 * len(players) else None,
    )


# the rules of Table 1


def claims(rows: Rows) -> list[Claim]:
    """The claims for every engine, the paper's first, with and without the cut-off."""
    return judge.with_and_without_cutoff(_claims, rows)


def _claims(rows: Rows) -> list[Claim]:
    made = []
    for engine in WHOSE:
        if all(("MCCFR100", engine, bot) in rows for bot in BOTS):
            if all(("MCCFR10", engine, bot) in rows for bot in BOTS):
                made.append(finer(rows, engine))
            made.append(wins_convincingly(rows, engine))
        if ("MCCFR10", engine, "poki") in rows:
            made += [wins(rows, engine), loses(rows, engine)]
    made += [level(rows, APART, "the paper's ± 0.17"), level(rows, EQUAL, "our own 0.02 sb/h")]
    return [*made, cells(rows, PAPER, "MCTS10", "MCCFR10", "MCCFR100")]


def finer(rows: Rows, engine: str) -> Claim:
    pairs = {bot: (("MCCFR100", engine, bot), ("MCCFR10", engine, bot)) for bot in BOTS}
    details = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    keys = [key for pair in pairs.values() for key in pair]

    def margin() -> list[Interval]:
        ours = [(("MCCFR100", "external", bot), ("MCCFR10", "external", bot)) for bot in BOTS]
        return [between(rows, *pair) for pair in ours]

    return Claim(
        "Finer buckets win more: MCCFR100 does better than MCCFR10 against both bots. "
        + sampling(engine),
        f"the 95% interval of the difference, {TRAINED}, is above zero against both",
        f"{details}; {training(rows, *keys)}",
        judge.all_hold([more(rows, *pair) for pair in pairs.values()]),
        _before(
            engine,
            "MCCFR100 above MCCFR10 by twice the standard error",
            margin,
            lambda one: one.low > 0,
            "; ",
        ),
    )


def wins(rows: Rows, engine: str) -> Claim:
    return _one_bot(rows, engine, "poki", "wins a little from Poki", "above", judge.above)


def loses(rows: Rows, engine: str) -> Claim:
    return _one_bot(rows, engine, "sparbot", "loses a little to Sparbot", "below", judge.below)


def _one_bot(
    rows: Rows,
    engine: str,
    bot: str,
    text: str,
    side: str,
    side_of: Callable[[Interval, float], Verdict],
) -> Claim:
    """MCCFR10 against a bot: on which `side` of zero its winnings are."""
    key = ("MCCFR10", engine, bot)
    return Claim(
        f"MCCFR10 {text}. {sampling(engine)}",
        f"the 95% interval, {TRAINED}, is {side} zero",
        f"{rows[key].now}; {training(rows, key)}",
        side_of(rows[key].final, 0.0),
        _before(
            engine,
            f"the 95% interval is {side} zero",
            lambda: [rows["MCCFR10", "external", bot].now],
            lambda one: one.low > 0 if side == "above" else one.high < 0,
        ),
    )


def wins_convincingly(rows: Rows, engine: str) -> Claim:
    keys = [("MCCFR100", engine, bot) for bot in BOTS]
    details = ", ".join(f"{key[2]} {rows[key].now}" for key in keys)
    return Claim(
        f"MCCFR100 wins from both bots. {sampling(engine)}",
        f"both 95% intervals, {TRAINED}, are above zero",
        f"{details}; {training(rows, *keys)}",
        judge.all_hold([judge.above(rows[key].final, 0.0) for key in keys]),
        _before(
            engine,
            "both 95% intervals are above zero",
            lambda: [rows["MCCFR100", "external", bot].now for bot in BOTS],
            lambda one: one.low > 0,
        ),
    )


def level(rows: Rows, bound: float, whose: str) -> Claim:
    """MCTS10 beside the paper's MCCFR10."""
    pairs = {bot: (("MCTS10", "mcts", bot), ("MCCFR10", "outcome", bot)) for bot in BOTS}
    details = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    margin = [judge.difference(rows[a].final, rows[b].final) for a, b in pairs.values()]

    def ahead() -> list[Interval]:
        ours = [(("MCCFR10", "external", bot), ("MCTS10", "mcts", bot)) for bot in BOTS]
        return [between(rows, *pair) for pair in ours]

    before = _before(
        "outcome" if bound == EQUAL else "",
        "MCCFR10 (external) is ahead of MCTS10 by no more than twice the standard error",
        ahead,
        lambda one: one.low <= 0,
        "; ",
    )
    return Claim(
        f"MCTS10 and MCCFR10 do equally well against the bots, by {whose}.",
        f"MCTS10 less MCCFR10 (outcome sampling), {TRAINED}, is between ± {bound:g} against both",
        f"{details}; {training(rows, pairs['poki'][1])}",
        judge.all_hold([judge.within(one, -bound, bound) for one in margin]),
        before,
    )


def _before(
    engine: str,
    rule: str,
    ranges: Callable[[], list[Interval]],
    holds: Callable[[Interval], bool],
    comma: str = ", ",
) -> RuleVariant | None:
    """The verdict of the earlier rule on the rows it was made for, those of external sampling; it
    is shown beside the paper's engine."""
    if engine != "outcome":
        return None
    try:
        measured = ranges()
    except KeyError:  # this scale has no such rows
        return None
    details = comma.join(map(str, measured))
    return RuleVariant(f"{rule}, external sampling", details, all(map(holds, measured)))


# the matches


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    players = PlayerFactory(scale, store, progress)
    plan, played = _plan(scale), []
    for k, pairing in enumerate(plan):
        players.progress = stage_progress(progress, k, len(plan))
        played.append(pairing.play(players))
    setting = {**players.size._asdict(), "threads": THREADS, "MCTS": "C = 17"}
    setting |= training_settings(played)
    rows = [csv_row(p, PAPER) for p in played]
    shown = ([result_table(played, PAPER)], [RECREATED])
    return EXPERIMENT.outcome(scale, store.folder, [], setting, HEADER, rows, *shown)


def _plan(scale: str) -> list[Pairing]:
    players = [("MCTS10", "mcts", 10)]
    players += [
        (f"MCCFR{buckets}", engine, buckets)
        for engine in ENGINES
        for buckets in (10, 100)
        if SIZES[scale].of(engine, buckets)
    ]
    return [Pairing(*player, opponent) for player in players for opponent in BOTS]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    return [job for pairing in _plan(scale) for job in pairing_jobs(scale, store, pairing)]


# results as tables, shared with Table 2


def winnings(played: Sequence[PairingResult]) -> dict[Key, Winnings]:
    """The numbers that the rules judge."""
    return {
        (p.player, p.engine, p.opponent): Winnings(
            judge.around(p.result.mean, half_interval(p.result)), judge.around(*p.gained)
        )
        for p in played
    }


def csv_row(p: PairingResult, paper: Mapping[str, Mapping[str, float]]) -> tuple[object, ...]:
    trained = (p.opponent, p.player, p.engine, p.iterations, f"{p.seconds:.1f}")
    published = paper[p.opponent].get(p.player, "") if p.engine in ("outcome", "mcts") else ""
    won = (p.result.mean, p.result.standard_error, p.result.hands)
    return (*trained, *won, p.gained[0], published)


def result_table(
    played: Sequence[PairingResult], paper: Mapping[str, Mapping[str, float]]
) -> ResultTable:
    """Every player with its engine and training, and what it won from each bot."""
    by_player: dict[tuple[str, str], dict[str, PairingResult]] = {}
    for p in played:
        by_player.setdefault(p[:2], {})[p.opponent] = p
    rows = []
    for (player, engine), by in by_player.items():
        one = by.get(BOTS[0]) or next(iter(by.values()))
        whose = WHOSE.get(engine, PAPERS_OWN)
        how = f"{engine} sampling" if engine in WHOSE else engine.upper()
        published = [paper[b].get(player) if whose == PAPERS_OWN else None for b in BOTS]
        rows.append(
            [
                player,
                f"{how}, {whose}",
                f"{one.iterations:,}",
                f"{one.seconds:,.0f} s",
                *(as_text(by[b].result) if b in by else "–" for b in BOTS),
                *("–" if x is None else f"{x:+.3f}" for x in published),
            ]
        )
    header = ["player", "engine", "iterations", "training", *BOTS]
    header += [f"{b}, paper (± 0.12)" for b in BOTS]
    return ResultTable("sb/h won, with 95% intervals", header, rows)


def training_settings(played: Sequence[PairingResult]) -> dict[str, str]:
    """Engine, iterations and seconds of each player, for the setting."""
    return {
        f"{p.player}, {p.engine}" + (f", for {p.opponent}" if "MCRNR" in p.player else ""): (
            f"{p.iterations:,} iterations, {p.seconds:.0f} s"
        )
        for p in played
    }


TITLE = "Table 1: equilibrium strategies against the bots"
SECONDS = {"quick": 75, "paper": 1200}  # on two cores
EXPERIMENT = Experiment("table1", TITLE, run, SECONDS, _jobs, order=4, priority=1, meaning=MEANING)
