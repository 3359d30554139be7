"""The rules of Table 2."""

from __future__ import annotations

from support.rules import Cases, on, row, says_all_three, still_learning, table

from counterplay.app.reproduction import table1, table2
from counterplay.app.reproduction.harness.judge import Winnings, around

CASES: Cases = {
    table2.exploits: on(table2.exploits, {"MCRNR10_poki": row(0.1)}, 10, "outcome", table2.PLAIN),
    table2.coarse: on(table2.coarse, {"MCRNR10_poki": row(0.1)}, "outcome"),
    table2.finer: on(table2.finer, {"MCRNR100_poki": row(0.1)}, "outcome"),
    table2.safe: on(table2.safe, {"MCRNR10_sparbot": row(-0.4)}, 10, "outcome", table1.APART, "x"),
}
CASES[table2.improves] = (
    lambda: table2.improves(row(0.05), row(0.0), "x"),
    lambda: table2.improves(row(-0.05), row(0.0), "x"),
    lambda: table2.improves(row(-0.05, half=0.1), row(0.0), "x"),
)
CASES[table2.more_games] = (
    lambda: table2.more_games(around(0.1, 0.02), around(0.2, 0.02), (10, 20)),
    lambda: table2.more_games(around(0.1, 0.02), around(0.0, 0.02), (10, 20)),
    lambda: table2.more_games(around(0.1, 0.02), around(0.11, 0.02), (10, 20)),
)
CASES[table2.one_coin] = (
    lambda: table2.one_coin(around(0.4, 0.01), around(0.41, 0.01)),
    lambda: table2.one_coin(around(0.4, 0.01), around(0.5, 0.01)),
    lambda: table2.one_coin(around(0.4, 0.1), around(0.41, 0.1)),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(table2, CASES)


def test_nothing_fails_for_want_of_training() -> None:
    """Players who still learn fast: nothing is held against them."""
    short = still_learning()
    assert table2.exploits(short, 10, "outcome", table2.PLAIN).holds is None
    assert table2.coarse(short, "outcome").holds is None
    assert table2.finer(short, "outcome").holds is None
    assert table2.safe(short, 10, "outcome", table1.APART, "x").holds is None


def test_claims_are_those_of_the_rows_there_are() -> None:
    texts = [claim.text for claim in table2.claims(table())]
    assert len(texts) == len(set(texts))
    for model in (table2.LITERAL, table2.PLAIN, table2.SEEN):
        assert any(f"model: {model} (outcome sampling, as in the paper)" in text for text in texts)


def test_each_claim_also_says_what_it_is_without_the_cut_off() -> None:
    assert all(claim.also for claim in table2.claims(table()))
    fast = Winnings(around(-0.5, 0.005), around(0.06, 0.001))
    one = table2.by_trust({"control": row(0.1), "x": fast})
    assert [claim.holds for claim in one] == [None]
    assert [claim.also[0].holds for claim in one] == [False]
    assert table2.by_trust({}) == []
