"""Figure 4, right: its rules, and the experiment at toy size."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from support.rules import HIGH, LOW, WIDE, Cases, says_all_three

from counterplay.app.reproduction import fig4_holdem
from counterplay.app.reproduction.harness.reproduce import reproduce

CASES: Cases = {}
CASES[fig4_holdem.fast] = (
    lambda: fig4_holdem.fast(HIGH, LOW, 1),
    lambda: fig4_holdem.fast(LOW, HIGH, 1),
    lambda: fig4_holdem.fast(WIDE, LOW, 1),
)
CASES[fig4_holdem.surpasses] = (
    lambda: fig4_holdem.surpasses(HIGH, LOW, 1, 0.01),
    lambda: fig4_holdem.surpasses(LOW, HIGH, fig4_holdem.LONG, 0.01),
    lambda: fig4_holdem.surpasses(LOW, HIGH, fig4_holdem.LONG - 1, 0.01),
)
CASES[fig4_holdem.quicker] = (
    lambda: fig4_holdem.quicker([0.8, 0.9]),
    lambda: fig4_holdem.quicker([1.1, 1.2]),
    lambda: fig4_holdem.quicker([0.9, 1.2]),
)
CASES[fig4_holdem.smaller] = (
    lambda: fig4_holdem.smaller(9, 10),
    lambda: fig4_holdem.smaller(11, 10),
)
CASES[fig4_holdem.external] = (
    lambda: fig4_holdem.external(HIGH, LOW, 1),
    lambda: fig4_holdem.external(LOW, HIGH, 1),
    lambda: fig4_holdem.external(WIDE, LOW, 1),
)
CASES[fig4_holdem.constant] = (
    lambda: fig4_holdem.constant({17.0: HIGH, 5.0: LOW}, fig4_holdem.SWEPT, "small bets"),
    lambda: fig4_holdem.constant({17.0: LOW, 5.0: HIGH}, fig4_holdem.SWEPT, "small bets"),
    lambda: fig4_holdem.constant({17.0: LOW, 5.0: HIGH}, fig4_holdem.SWEPT - 1, "small bets"),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(fig4_holdem, CASES, exact=(fig4_holdem.smaller,))


@pytest.mark.slow
def test_fig4_holdem_goes_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = fig4_holdem.Fig4HoldemScale(40_000, 1_000, 10, 20_000, 10_000, 2, 2, 200, 500)
    monkeypatch.setitem(fig4_holdem.SCALES, "quick", size)
    real, calls = fig4_holdem.learning_curve, []

    def stops(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(fig4_holdem, "learning_curve", stops)
    with pytest.raises(KeyboardInterrupt):
        reproduce("fig4-holdem", "quick", tmp_path)
    monkeypatch.setattr(fig4_holdem, "learning_curve", real)
    outcome = reproduce("fig4-holdem", "quick", tmp_path)
    rows = list(csv.DictReader((tmp_path / "fig4-holdem.csv").open()))
    assert len(rows) == 2 * 2 * 2 + 2 * 2 * 10 + 2 * len(fig4_holdem.SWEEP)
    assert len(outcome.claims) == 8
    straight = reproduce("fig4-holdem", "quick", tmp_path / "straight")
    means = [
        [row["sb_per_hand"] for row in csv.DictReader((folder / "fig4-holdem.csv").open())]
        for folder in (tmp_path, tmp_path / "straight")
    ]
    assert means[0] == means[1]
    assert straight.setting == outcome.setting
