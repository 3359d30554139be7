"""The rules of Figure 8."""

from __future__ import annotations

from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

from counterplay.app.reproduction import fig8


def seeds(won: float, spread: float = 0.01) -> list[float]:
    return [won - spread, won, won + spread]


def learnt(*won: float, spread: float = 0.01) -> list[fig8.FrozenPolicy]:
    return [
        fig8.FrozenPolicy(1_000 * (k + 1), 6_000_000 * k, seeds(x, spread)[::-1])
        for k, x in enumerate(won)
    ]


MCCFR = seeds(0.1)
CASES: Cases = {
    fig8.exploits: {
        HOLDS: lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.3), MCCFR),
        FAILS: lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.01), MCCFR),
        OPEN: lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.11), MCCFR),
    },
    fig8.more_games: {
        HOLDS: lambda: fig8.more_games({1: seeds(0.1), 2: seeds(0.2)[::-1], 3: seeds(0.3)}),
        IN_PART: lambda: fig8.more_games({1: seeds(0.1), 2: seeds(0.3)[::-1], 3: seeds(0.2)}),
        FAILS: lambda: fig8.more_games({1: seeds(0.3), 2: seeds(0.2)[::-1]}),
        OPEN: lambda: fig8.more_games({1: seeds(0.1), 2: seeds(0.11)[::-1]}),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    check_rules(fig8, CASES, {fig8.exploits: {IN_PART}})


def test_a_run_that_is_too_short_decides_nothing() -> None:
    assert fig8.exploits(learnt(-1, 0.5), MCCFR).verdict is OPEN
