"""The rules of Table 1."""

from __future__ import annotations

from support.rules import Cases, on, row, says_all_three, still_learning, table

from counterplay.app.reproduction import table1
from counterplay.app.reproduction.harness.judge import Winnings, around

CASES: Cases = {
    table1.finer: on(table1.finer, {"MCCFR100_poki": row(0.02)}, "outcome"),
    table1.wins: on(table1.wins, {"MCCFR10_poki": row(-0.02)}, "outcome"),
    table1.loses: on(table1.loses, {"MCCFR10_sparbot": row(0.02)}, "outcome"),
    table1.wins_convincingly: on(
        table1.wins_convincingly, {"MCCFR100_sparbot": row(-0.02)}, "outcome"
    ),
    table1.level: on(table1.level, {"MCTS10_poki": row(0.5)}, table1.APART, "x"),
    table1.cells: on(
        table1.cells,
        {"MCCFR10_poki": row(0.3)},
        table1.PAPER,
        "MCTS10",
        "MCCFR10",
        "MCCFR100",
    ),
}


def test_each_rule_can_say_all_three() -> None:
    says_all_three(table1, CASES)


def test_nothing_fails_for_want_of_training() -> None:
    """Players who still learn fast: nothing is held against them."""
    for rule in (table1.finer, table1.wins, table1.loses, table1.wins_convincingly):
        assert rule(still_learning(), "outcome").holds is None


def test_claims_are_those_of_the_rows_there_are() -> None:
    whole = table()
    texts = [claim.text for claim in table1.claims(whole)]
    assert len(texts) == len(set(texts))
    paper = {key: one for key, one in whole.items() if key[1] in ("outcome", "mcts")}
    assert all("ours" not in claim.text for claim in table1.claims(paper))
    assert {claim.holds for claim in table1.claims(paper)} >= {True}


def test_a_player_who_gains_much_may_still_win() -> None:
    slow = Winnings(around(-0.02, 0.001), around(0.02, 0.001))
    done = Winnings(around(-0.02, 0.001), around(0.001, 0.0005))
    for one, verdict in ((slow, None), (done, False)):
        given = table(MCCFR10_poki=one)
        assert table1.wins(given, "outcome").holds is verdict
        assert table1.wins(given, "outcome").before is not None


def test_each_claim_also_says_what_it_is_without_the_cut_off() -> None:
    """Who gained more than the cut-off in the second half: nothing is known of his end with it,
    and 4.33 times as much at most without."""
    fast = Winnings(around(-0.5, 0.005), around(0.06, 0.001))
    found = table1.claims(table(MCCFR10_poki=fast, MCRNR10_sparbot=fast))
    assert all(claim.also for claim in found)
    wins = next(claim for claim in found if claim.text.startswith("MCCFR10 wins a little"))
    assert wins.holds is None
    assert [one.holds for one in wins.also] == [False]  # -0.5 + 4.33 · 0.06 is below zero
