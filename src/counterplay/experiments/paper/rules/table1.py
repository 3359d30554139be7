"""Table 1. The paper's MCCFR is outcome sampling, and that is what is judged; external and public
sampling are judged beside it as ours."""

from __future__ import annotations

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    above,
    below,
    difference,
    every,
    within,
)
from counterplay.experiments.paper.rules.rows import (
    APART,
    BOTS,
    CELL,
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
    "poki": {"MCTS10": 0.077, "MCCFR10": 0.059, "MCCFR100": 0.191},
    "sparbot": {"MCTS10": -0.103, "MCCFR10": -0.091, "MCCFR100": 0.046},
}
TRAINED = "with what training may still add"  # judge.grown


def claims(rows: Rows) -> list[Claim]:
    """Of every engine that has both MCCFR10 and MCCFR100, the paper's first; each both ways."""
    return both_ways(_claims, rows)


def _claims(rows: Rows) -> list[Claim]:
    made = []
    for engine in NAMES:
        if all(("MCCFR100", engine, bot) in rows for bot in BOTS):
            if all(("MCCFR10", engine, bot) in rows for bot in BOTS):
                made.append(finer(rows, engine))
            made.append(wins_convincingly(rows, engine))
        if ("MCCFR10", engine, "poki") in rows:
            made += [wins(rows, engine), loses(rows, engine)]
    made += [level(rows, APART, "the paper's ± 0.17"), level(rows, EQUAL, "our own 0.02 sb/h")]
    return [*made, cells(rows, PAPER, "MCTS10", "MCCFR10", "MCCFR100")]


def _said(text: str, engine: str) -> str:
    return f"{text} ({NAMES[engine]}, {WHOSE[engine]})"


def finer(rows: Rows, engine: str) -> Claim:
    pairs = {bot: (("MCCFR100", engine, bot), ("MCCFR10", engine, bot)) for bot in BOTS}
    told = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    keys = [key for pair in pairs.values() for key in pair]
    return Claim(
        _said(
            "Finer buckets win more: MCCFR100 does better than MCCFR10 against both bots.", engine
        ),
        f"the 95% interval of the difference, {TRAINED}, is above zero against both",
        f"{told}; {training(rows, *keys)}",
        every([more(rows, *pair) for pair in pairs.values()]),
        _before(rows, engine, "MCCFR100 above MCCFR10 by twice the standard error", _finer_before),
    )


def _finer_before(rows: Rows) -> tuple[str, bool]:
    pairs = [(("MCCFR100", "external", bot), ("MCCFR10", "external", bot)) for bot in BOTS]
    apart = [difference(rows[a].now, rows[b].now) for a, b in pairs]
    return "; ".join(map(str, apart)), all(one.low > 0 for one in apart)


def wins(rows: Rows, engine: str) -> Claim:
    key = ("MCCFR10", engine, "poki")
    return Claim(
        _said("MCCFR10 wins a little from Poki.", engine),
        f"the 95% interval, {TRAINED}, is above zero",
        f"{rows[key].now}; {training(rows, key)}",
        above(rows[key].final, 0.0),
        _before(rows, engine, "the 95% interval is above zero", _wins_before),
    )


def _wins_before(rows: Rows) -> tuple[str, bool]:
    found = rows["MCCFR10", "external", "poki"].now
    return str(found), found.low > 0


def loses(rows: Rows, engine: str) -> Claim:
    key = ("MCCFR10", engine, "sparbot")
    return Claim(
        _said("MCCFR10 loses a little to Sparbot.", engine),
        f"the 95% interval, {TRAINED}, is below zero",
        f"{rows[key].now}; {training(rows, key)}",
        below(rows[key].final, 0.0),
        _before(rows, engine, "the 95% interval is below zero", _loses_before),
    )


def _loses_before(rows: Rows) -> tuple[str, bool]:
    found = rows["MCCFR10", "external", "sparbot"].now
    return str(found), found.high < 0


def wins_convincingly(rows: Rows, engine: str) -> Claim:
    keys = [("MCCFR100", engine, bot) for bot in BOTS]
    told = ", ".join(f"{key[2]} {rows[key].now}" for key in keys)
    return Claim(
        _said("MCCFR100 wins from both bots.", engine),
        f"both 95% intervals, {TRAINED}, are above zero",
        f"{told}; {training(rows, *keys)}",
        every([above(rows[key].final, 0.0) for key in keys]),
        _before(rows, engine, "both 95% intervals are above zero", _convincingly_before),
    )


def _convincingly_before(rows: Rows) -> tuple[str, bool]:
    found = [rows["MCCFR100", "external", bot].now for bot in BOTS]
    return ", ".join(map(str, found)), all(one.low > 0 for one in found)


def level(rows: Rows, bound: float, whose: str) -> Claim:
    """MCTS10 beside the paper's MCCFR10."""
    pairs = {bot: (("MCTS10", "mcts", bot), ("MCCFR10", "outcome", bot)) for bot in BOTS}
    told = "; ".join(f"{bot} {between(rows, *pair)}" for bot, pair in pairs.items())
    apart = [difference(rows[a].final, rows[b].final) for a, b in pairs.values()]
    return Claim(
        f"MCTS10 and MCCFR10 do equally well against the bots, by {whose}.",
        f"MCTS10 less MCCFR10 (outcome sampling), {TRAINED}, is between ± {bound:g} against both",
        f"{told}; {training(rows, pairs['poki'][1])}",
        every([within(one, -bound, bound) for one in apart]),
        _before(
            rows,
            "outcome",
            "MCCFR10 (external) is ahead of MCTS10 by no more than twice the standard error",
            _level_before,
        )
        if bound == EQUAL
        else None,
    )


def _level_before(rows: Rows) -> tuple[str, bool]:
    pairs = [(("MCCFR10", "external", bot), ("MCTS10", "mcts", bot)) for bot in BOTS]
    apart = [difference(rows[a].now, rows[b].now) for a, b in pairs]
    return "; ".join(map(str, apart)), all(one.low <= 0 for one in apart)


def cells(rows: Rows, paper: dict[str, dict[str, float]], *players: str) -> Claim:
    """Every cell of a table beside the paper's own interval; ours by outcome sampling."""
    found: dict[Key, Standing] = {}
    for player in players:
        for bot in BOTS:
            key = (player, "mcts" if player == "MCTS10" else "outcome", bot)
            if key in rows:
                found[key] = rows[key]
    inside = {
        key: within(row.final, paper[key[2]][key[0]] - CELL, paper[key[2]][key[0]] + CELL)
        for key, row in found.items()
    }
    off = [
        f"{player} {bot} {found[player, engine, bot].now} (paper {paper[bot][player]:+.3f})"
        for (player, engine, bot), holds in inside.items()
        if not holds
    ]
    told = f"{sum(map(bool, inside.values()))} of {len(inside)} inside"
    return Claim(
        "Each cell lies inside the paper's own interval.",
        f"ours (outcome sampling, {TRAINED}) is within {CELL:g} of the paper's number in each",
        told + (f"; not, or not surely: {', '.join(off)}" if off else ""),
        every(inside.values()) if len(found) == 2 * len(players) else None,
    )


def _before(rows: Rows, engine: str, rule: str, found: object) -> Reading | None:
    """What the rule used before says of the rows it was made for, external sampling."""
    if engine != "outcome" or not callable(found):
        return None
    try:
        measured, holds = found(rows)
    except KeyError:  # these rows are not at this scale
        return None
    return Reading(f"{rule}, external sampling", measured, holds)
