"""Figure 4, left: its rules, and the experiment at a tenth of its quick size."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from support.rules import Cases, says_all_three

import counterplay as cp
from counterplay.app.reproduction import fig4_kuhn
from counterplay.app.reproduction.harness.judge import Interval
from counterplay.app.reproduction.harness.reproduce import reproduce

CASES: Cases = {}
GOOD = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.full(3, 0.001))
BAD = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.full(3, 0.02))
MIXED = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.array([0.001, 0.002, 0.03]))
CASES[fig4_kuhn.learns] = (
    lambda: fig4_kuhn.learns({"SQR-E": GOOD}, 10**6),
    lambda: fig4_kuhn.learns({"SQR-E": BAD}, 10**6),
    lambda: fig4_kuhn.learns({"SQR-E": MIXED}, 10**6),
)
CASES[fig4_kuhn.off] = (
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": BAD}, "x", "text"),
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": GOOD}, "x", "text"),
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": MIXED}, "x", "text"),
)
CASES[fig4_kuhn.unlearns] = (
    lambda: fig4_kuhn.unlearns(GOOD),
    lambda: fig4_kuhn.unlearns(fig4_kuhn.SeedErrors(GOOD.end, GOOD.tenth)),
    lambda: fig4_kuhn.unlearns(MIXED),
)
CASES[fig4_kuhn.loses_little] = (
    lambda: fig4_kuhn.loses_little(Interval(0.003, 0.001, 0.005), 10**6),
    lambda: fig4_kuhn.loses_little(Interval(0.03, 0.02, 0.05), 10**6),
    lambda: fig4_kuhn.loses_little(Interval(0.009, 0.005, 0.02), 10**6),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(fig4_kuhn, CASES)


def test_more_seeds_do_not_make_it_harder_to_learn() -> None:
    """One seed in twenty that is off says little of the median; all were asked for before."""
    end = np.full(20, 0.001)
    end[7] = 0.015
    found = fig4_kuhn.learns({"SQR-E": fig4_kuhn.SeedErrors(np.full(20, 0.02), end)}, 10**6)
    assert found.holds is True
    assert found.also[0].holds is None
    half = np.where(np.arange(20) % 2, 0.001, 0.02)
    assert (
        fig4_kuhn.learns({"SQR-E": fig4_kuhn.SeedErrors(np.full(20, 0.02), half)}, 10**6).holds
        is None
    )


def test_fig4_kuhn_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fig4_kuhn.SCALES, "quick", (100_000, 2))
    told: list[float] = []
    outcome = reproduce("fig4-kuhn", "quick", tmp_path, lambda share, what: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert (tmp_path / "fig4-kuhn.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "fig4-kuhn.csv").open()))
    assert len(rows) == (1 + len(fig4_kuhn.SWEEP)) * 2 * 10
    assert {row["algorithm"] for row in rows} == {"mccfr", "mcts"}
    saved = json.loads((tmp_path / "fig4-kuhn.json").read_text())
    assert [claim["holds"] for claim in saved["claims"]] == [
        claim.holds for claim in outcome.claims
    ]


def test_the_verdict_follows_the_data() -> None:
    falling = np.geomspace(0.1, 1e-5, 100)[None, :, None] * np.ones((3, 1, 4))
    stuck = np.full((3, 100, 4), 0.2)
    stuck[:, :, 1] = np.linspace(0.4, 0.1, 100)
    assert [claim.holds for claim in fig4_kuhn.claims(falling, stuck)] == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert [claim.holds for claim in fig4_kuhn.claims(stuck, falling)] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_the_equilibria_of_kuhn_poker_are_equilibria() -> None:
    game = cp.load("kuhn")
    for gamma in fig4_kuhn.GAMMAS:
        strategy = fig4_kuhn.equilibrium(gamma)
        assert cp.exploitability(game, strategy) == pytest.approx(0.0, abs=1e-12)
        assert fig4_kuhn.loss(game, strategy, strategy) == pytest.approx(0.0, abs=1e-12)
    nobody = cp.Strategy.uniform(game)
    assert fig4_kuhn.loss(game, nobody, fig4_kuhn.equilibrium(0.0)) > 0.05


def test_a_long_run_writes_a_hundred_of_its_measurements_the_first_and_the_last() -> None:
    assert fig4_kuhn.written(10) == list(range(10))
    some = fig4_kuhn.written(1_000)
    assert 50 < len(some) <= fig4_kuhn.WRITTEN
    assert (some[0], some[-1]) == (0, 999)
