"""Table 1: MCTS10, MCCFR10 and MCCFR100 against Poki and Sparbot, in sb/h.

The paper's MCCFR is outcome sampling, and its rows are judged; external and public sampling are
judged beside it as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    staged,
)
from counterplay.app.reproduction.harness.judge import (
    Claim,
    Range,
    RuleVariant,
    Verdict,
    Winnings,
)
from counterplay.app.reproduction.harness.store import Store
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
#: What counts as equal where we can resolve it, in sb/h.
EQUAL = 0.02
PAPERS_OWN = "as in the paper"
WHOSE = {"outcome": PAPERS_OWN, "external": "ours", "public": "ours"}
TRAINED = "with what training may still add"  # judge.grown
HEADER = (
    "opponent player engine iterations seconds sb_per_hand standard_error hands "
    "gained_in_second_half paper"
)
Key = tuple[str, str, str]  # player, engine, opponent
Rows = Mapping[Key, Winnings]

# the rules, shared with Table 2


def more(rows: Rows, a: Key, b: Key, by: float = 0.0) -> Verdict:
    """Whether one wins more than the other by more than so much, however long both are trained."""
    return judge.above(judge.difference(rows[a].final, rows[b].final), by)


def between(rows: Rows, a: Key, b: Key) -> Range:
    """The difference as measured."""
    return judge.difference(rows[a].now, rows[b].now)


def training(rows: Rows, *keys: Key) -> str:
    """What the second half of the training gave, in words; the largest over bots."""
    most: dict[tuple[str, str], Range] = {}
    for key in keys:
        one, name = rows[key].gained, key[:2]
        most[name] = max(most.get(name, one), one, key=lambda gain: gain.value)
    said = ", ".join(f"{player} {gain}" for (player, _), gain in most.items())
    return f"the second half of training gave {said}"


def sampling(engine: str) -> str:
    """The engine in words, and whose it is."""
    return f"({engine} sampling, {WHOSE[engine]})"


def cells(rows: Rows, paper: Mapping[str, Mapping[str, float]], *players: str) -> Claim:
    """Every cell of a table beside the paper's own interval; ours by outcome sampling."""
    inside, off = [], []
    for player in players:
        for bot in BOTS:
            row = rows.get((player, "mcts" if player == "MCTS10" else "outcome", bot))
            if row is None:
                continue
            said = paper[bot][player]
            inside.append(judge.within(row.final, said - CELL, said + CELL))
            if not inside[-1]:
                off.append(f"{player} {bot} {row.now} (paper {said:+.3f})")
    told = f"{inside.count(True)} of {len(inside)} inside"
    return Claim(
        "Each cell lies inside the paper's own interval.",
        f"ours (outcome sampling, {TRAINED}) is within {CELL:g} of the paper's number in each",
        told + (f"; not, or not surely: {', '.join(off)}" if off else ""),
        judge.every(inside) if len(inside) == 2 * len(players) else None,
    )


# the rules of Table 1


def claims(rows: Rows) -> list[Claim]:
    """Of every engine that has both MCCFR10 and MCCFR100, the paper's first; each both ways."""
    return judge.both_ways(_claims, rows)


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
    told = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    keys = [key for pair in pairs.values() for key in pair]

    def apart() -> list[Range]:
        ours = [(("MCCFR100", "external", bot), ("MCCFR10", "external", bot)) for bot in BOTS]
        return [between(rows, *pair) for pair in ours]

    return Claim(
        "Finer buckets win more: MCCFR100 does better than MCCFR10 against both bots. "
        + sampling(engine),
        f"the 95% interval of the difference, {TRAINED}, is above zero against both",
        f"{told}; {training(rows, *keys)}",
        judge.every([more(rows, *pair) for pair in pairs.values()]),
        _before(
            engine,
            "MCCFR100 above MCCFR10 by twice the standard error",
            apart,
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
    side_of: Callable[[Range, float], Verdict],
) -> Claim:
    """MCCFR10 and a bot: on which `side` of zero it ends."""
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
    told = ", ".join(f"{key[2]} {rows[key].now}" for key in keys)
    return Claim(
        f"MCCFR100 wins from both bots. {sampling(engine)}",
        f"both 95% intervals, {TRAINED}, are above zero",
        f"{told}; {training(rows, *keys)}",
        judge.every([judge.above(rows[key].final, 0.0) for key in keys]),
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
    told = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    apart = [judge.difference(rows[a].final, rows[b].final) for a, b in pairs.values()]

    def ahead() -> list[Range]:
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
        f"{told}; {training(rows, pairs['poki'][1])}",
        judge.every([judge.within(one, -bound, bound) for one in apart]),
        before,
    )


def _before(
    engine: str,
    rule: str,
    ranges: Callable[[], list[Range]],
    holds: Callable[[Range], bool],
    comma: str = ", ",
) -> RuleVariant | None:
    """What the rule used before says of the rows it was made for, external sampling; it stands
    beside the paper's engine."""
    if engine != "outcome":
        return None
    try:
        measured = ranges()
    except KeyError:  # these rows are not at this scale
        return None
    told = comma.join(map(str, measured))
    return RuleVariant(f"{rule}, external sampling", told, all(map(holds, measured)))


# the matches


def run(scale: str, store: Store, progress: ProgressCallback) -> Outcome:
    players = PlayerFactory(scale, store, progress)
    plan, played = _plan(scale), []
    for k, pairing in enumerate(plan):
        players.progress = staged(progress, k, len(plan))
        played.append(pairing.play(players))
    setting = {**players.size._asdict(), "threads": THREADS, "MCTS": "C = 17"}
    setting |= training_settings(played)
    judged, rows = claims(winnings(played)), [csv_row(p, PAPER) for p in played]
    shown = ([result_table(played, PAPER)], [RECREATED, judge.LEARNING])
    return EXPERIMENT.outcome(scale, store.folder, judged, setting, HEADER, rows, *shown)


def _plan(scale: str) -> list[Pairing]:
    players = [("MCTS10", "mcts", 10)]
    players += [
        (f"MCCFR{buckets}", engine, buckets)
        for engine in ENGINES
        for buckets in (10, 100)
        if SIZES[scale].of(engine, buckets)
    ]
    return [Pairing(*player, opponent) for player in players for opponent in BOTS]


def _jobs(scale: str, store: Store) -> list[Job]:
    return [job for pairing in _plan(scale) for job in pairing_jobs(scale, store, pairing)]


# what is shown, shared with Table 2


def winnings(played: Sequence[PairingResult]) -> dict[Key, Winnings]:
    """What the rules judge."""
    return {
        (p.player, p.engine, p.opponent): Winnings(
            judge.around(p.result.mean, half_interval(p.result)), judge.around(*p.gained)
        )
        for p in played
    }


def csv_row(p: PairingResult, paper: Mapping[str, Mapping[str, float]]) -> tuple[object, ...]:
    trained = (p.opponent, p.player, p.engine, p.iterations, f"{p.seconds:.1f}")
    said = paper[p.opponent].get(p.player, "") if p.engine in ("outcome", "mcts") else ""
    won = (p.result.mean, p.result.standard_error, p.result.hands)
    return (*trained, *won, p.gained[0], said)


def result_table(
    played: Sequence[PairingResult], paper: Mapping[str, Mapping[str, float]]
) -> ResultTable:
    """Every player with his engine and training, and what he won from each bot."""
    by_player: dict[tuple[str, str], dict[str, PairingResult]] = {}
    for p in played:
        by_player.setdefault(p[:2], {})[p.opponent] = p
    rows = []
    for (player, engine), by in by_player.items():
        one = by.get(BOTS[0]) or next(iter(by.values()))
        whose = WHOSE.get(engine, PAPERS_OWN)
        how = f"{engine} sampling" if engine in WHOSE else engine.upper()
        said = [paper[b].get(player) if whose == PAPERS_OWN else None for b in BOTS]
        rows.append(
            [
                player,
                f"{how}, {whose}",
                f"{one.iterations:,}",
                f"{one.seconds:,.0f} s",
                *(as_text(by[b].result) if b in by else "–" for b in BOTS),
                *("–" if x is None else f"{x:+.3f}" for x in said),
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


EXPERIMENT = Experiment(
    "table1",
    "Table 1: equilibrium strategies against the bots",
    run,
    {"quick": 75, "paper": 1200},
    _jobs,
    order=4,
    priority=1,
    meaning=MEANING,
)
