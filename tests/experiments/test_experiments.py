"""Experiments: names, files, verdicts; Figure 4 at a tenth of its quick size."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.experiments.harness.registry import experiments, reproduce
from counterplay.experiments.paper import fig4_kuhn


def test_each_experiment_is_found_by_its_name() -> None:
    assert "fig4-kuhn" in experiments()


def test_all_experiments_together_take_no_longer_than_is_said() -> None:
    """By what they declare, on two cores."""
    for scale, most in (("quick", 14 * 60), ("paper", 5 * 3600)):
        assert sum(one.seconds[scale] for one in experiments().values()) <= most


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
