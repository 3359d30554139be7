"""Every rule of an experiment on made-up numbers: where the claim holds, where it fails, and where
nobody can tell."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from counterplay.app.reproduction import table1, table2
from counterplay.app.reproduction.harness.judge import Claim, Winnings, around
from counterplay.app.reproduction.players import BOTS

Cases = dict[Any, tuple[Callable[[], Claim], ...]]  # by rule: holds, fails, undecided
HIGH, LOW, WIDE = [0.1, 0.11, 0.12], [-0.1, -0.11, -0.12], [-0.3, 0.0, 0.3]


def rules_of(module: ModuleType) -> list[Any]:
    """Every public function of an experiment that makes a claim."""
    return [
        one
        for name, one in inspect.getmembers(module, inspect.isfunction)
        if one.__module__ == module.__name__
        and one.__annotations__.get("return") == "Claim"
        and not name.startswith("_")
    ]


def says_all_three(module: ModuleType, cases: Cases, exact: tuple[Any, ...] = ()) -> None:
    """`exact`: rules of numbers that are known; nothing is undecided."""
    assert rules_of(module)
    for rule in rules_of(module):
        claims = [case() for case in cases[rule]]
        wanted = [True, False] if rule in exact else [True, False, None]
        assert [claim.holds for claim in claims] == wanted, rule.__name__
        assert all(claim.text and claim.rule and claim.measured for claim in claims[:2])


# the tables


def row(won: float, half: float = 0.005, gained: float = -0.01) -> Winnings:
    return Winnings(around(won, half), around(gained, 0.001))


def table(**changes: Winnings) -> dict[table1.Key, Winnings]:
    """The paper's own numbers, well measured, for every engine; `changes` by player_bot."""
    found = {}
    for bot in BOTS:
        for player, won in table2.PAPER[bot].items():
            engines = ("mcts",) if player == "MCTS10" else ("outcome", "external", "public")
            for engine in engines:
                found[player, engine, bot] = changes.get(f"{player}_{bot}", row(won))
    for model in (table2.LITERAL, table2.SEEN):
        for engine in ("outcome", "external", "public"):
            mine = found["MCRNR10", engine, "poki"]
            found[table2.named("MCRNR10", model), engine, "poki"] = mine
    return found


def on(rule: Any, bad: dict[str, Winnings], *arguments: Any) -> tuple[Callable[[], Claim], ...]:
    """The paper's numbers, on which a rule of the tables holds; some on which it fails; and noise,
    which leaves it open."""
    noisy = {name: Winnings(around(r.now.value, 0.5), r.gained) for name, r in bad.items()}
    return tuple(
        (lambda given=given: rule(table(**given), *arguments)) for given in ({}, bad, noisy)
    )


def still_learning() -> dict[table1.Key, Winnings]:
    """All players lose, and gained much in the second half of their training."""
    short = Winnings(around(-0.3, 0.005), around(0.2, 0.005))
    return table(**{f"{player}_{bot}": short for bot in BOTS for player in table2.PAPER[bot]})
