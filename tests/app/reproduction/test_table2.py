"""The rules of Table 2."""

from __future__ import annotations

from support.tables import row, table
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

from counterplay.app.reproduction import table2
from counterplay.app.reproduction.table1 import key

CASES: Cases = {
    table2.exploits: {
        HOLDS: lambda: table2.exploits(table()),
        IN_PART: lambda: table2.exploits(table(MCRNR100_poki=0.2)),
        FAILS: lambda: table2.exploits(table(MCRNR100_poki=0.2, MCRNR10_poki=0.1)),
        OPEN: lambda: table2.exploits(table(0.2)),
    },
    table2.coarse: {
        HOLDS: lambda: table2.coarse(table()),
        FAILS: lambda: table2.coarse(table(MCRNR10_poki=0.2)),
        OPEN: lambda: table2.coarse(table(0.2)),
    },
    table2.finer: {
        HOLDS: lambda: table2.finer(table()),
        FAILS: lambda: table2.finer(table(MCRNR100_poki=0.3)),
        OPEN: lambda: table2.finer(table(0.2)),
    },
    table2.safe: {
        HOLDS: lambda: table2.safe(table()),
        IN_PART: lambda: table2.safe(table(MCRNR10_sparbot=-0.4)),
        FAILS: lambda: table2.safe(table(MCRNR10_sparbot=-0.4, MCRNR100_sparbot=0.4)),
        OPEN: lambda: table2.safe(table(0.1)),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    check_rules(table2, CASES, {table2.coarse: {IN_PART}, table2.finer: {IN_PART}})


def test_claims_are_those_of_the_article() -> None:
    assert [one.number for one in table2.claims(table())] == [17, 18, 19, 20]


def test_j48_to_the_letter_is_a_clause_and_no_verdict() -> None:
    given = table()
    given[key(table2.J48, "poki")] = row(table2.J48, "poki", -0.24)
    plain, told = (table2.exploits(one) for one in (table(), given))
    assert told.verdict is plain.verdict
    assert "; with literal J48 MCRNR10 wins -0.240" in told.measured
    assert "J48" not in plain.measured
