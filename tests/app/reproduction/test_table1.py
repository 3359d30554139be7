"""Table 1: its rules, and the interval that it prints."""

from __future__ import annotations

import numpy as np
from support.tables import table
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

from counterplay.app.reproduction import table1
from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.table1 import Key, TableRow


def settled(**changes: float) -> dict[Key, TableRow]:
    """MCTS10 has been trained for long."""
    found = table(**changes)
    for bot in ("poki", "sparbot"):
        one = found["MCTS10", "mcts", bot]
        found["MCTS10", "mcts", bot] = one._replace(spec=one.spec._replace(iterations=table1.FLAT))
    return found


CASES: Cases = {
    table1.wins: {
        HOLDS: lambda: table1.wins(table()),
        FAILS: lambda: table1.wins(table(MCCFR10_poki=-0.1)),
        OPEN: lambda: table1.wins(table(0.1)),
    },
    table1.loses: {
        HOLDS: lambda: table1.loses(table()),
        FAILS: lambda: table1.loses(table(MCCFR10_sparbot=0.1)),
        OPEN: lambda: table1.loses(table(0.1)),
    },
    table1.wins_convincingly: {
        HOLDS: lambda: table1.wins_convincingly(table()),
        IN_PART: lambda: table1.wins_convincingly(table(MCCFR100_sparbot=-0.1)),
        FAILS: lambda: table1.wins_convincingly(table(MCCFR100_sparbot=-0.1, MCCFR100_poki=-0.1)),
        OPEN: lambda: table1.wins_convincingly(table(0.1)),
    },
    table1.finer: {
        HOLDS: lambda: table1.finer(table()),
        IN_PART: lambda: table1.finer(table(MCCFR100_poki=0.08)),
        FAILS: lambda: table1.finer(table(MCCFR100_poki=0.08, MCCFR100_sparbot=-0.05)),
        OPEN: lambda: table1.finer(table(0.1)),
    },
    table1.level: {
        HOLDS: lambda: table1.level(table()),
        IN_PART: lambda: table1.level(settled(MCTS10_poki=-0.3)),
        FAILS: lambda: table1.level(settled(MCTS10_poki=-0.3, MCTS10_sparbot=-0.4)),
        OPEN: lambda: table1.level(table(0.1)),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    check_rules(table1, CASES, {table1.wins: {IN_PART}, table1.loses: {IN_PART}})


def test_claims_are_those_of_the_article() -> None:
    assert [one.number for one in table1.claims(table())] == [12, 13, 14, 15, 16]


def test_much_better_is_more_than_better() -> None:
    """+0.02 sb/h is above zero and far from the article's +0.13."""
    given = table(0.001, MCCFR100_poki=0.079, MCCFR100_sparbot=-0.071)
    assert table1.finer(given).verdict is FAILS


def test_mcts_that_still_learns_is_not_found_worse() -> None:
    assert table1.level(table(MCTS10_sparbot=-0.4)).verdict is OPEN
    assert table1.level(settled(MCTS10_sparbot=-0.4)).verdict is IN_PART
    assert table1.level(table(MCTS10_sparbot=0.4)).verdict is IN_PART


def test_outcome_sampling_decides_nothing() -> None:
    """A row of outcome sampling that wins much less changes no verdict."""
    given = table()
    beside = {
        (name, "outcome", bot): row for (name, _, bot), row in table(MCCFR10_poki=-0.5).items()
    }
    assert table1.claims({**given, **beside}) == table1.claims(given)


def test_the_interval_covers_seeds_and_deals_together() -> None:
    """Two players of three seeds each: training moves a seed, and the deals of a seed move both
    players alike. The interval of the mean and of the difference holds the truth in 95% of cases,
    whichever of the two is larger; that of the deals alone in far fewer."""
    rng = np.random.default_rng(0)
    runs, seeds = 4_000, 3
    for training, deals in ((0.01, 0.001), (0.01, 0.01), (0.001, 0.01)):
        shared = rng.normal(0, deals, (runs, seeds))
        a, b = (rng.normal(0, training, (runs, seeds)) + shared for _ in range(2))
        mean = np.mean([abs((x := judge.mean_over(one)).value) <= x.half for one in a])
        apart = np.mean(
            [abs((x := judge.paired(*both)).value) <= x.half for both in zip(a, b, strict=True)]
        )
        assert 0.94 < mean < 0.96
        assert 0.94 < apart < 0.96
    alone = np.mean(abs(a.mean(axis=1)) <= judge.Z * 0.001 / np.sqrt(seeds))
    assert alone < 0.3
