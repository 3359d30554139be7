"""Figure 4, left: its rules, and the experiment at a small size."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

import counterplay as cp
from counterplay.app.reproduction import fig4_kuhn
from counterplay.app.reproduction.fig4_kuhn import Errors
from counterplay.app.reproduction.harness.reproduce import reproduce

SEEDS = 8


def some(level: float, slope: float, spread: float = 1.1, swing: float = 0.01) -> Errors:
    """Levels within a factor, and slopes within a distance."""
    ends = level * np.geomspace(1 / spread, spread, SEEDS)
    return Errors(ends, np.linspace(slope - swing, slope + swing, SEEDS))


def by(**named: Errors) -> fig4_kuhn.By:
    """The numbers of MCCFR in Kuhn poker, but for those named."""
    usual = {m: some(1e-4, -1.0) for m in fig4_kuhn.MEASURES}
    return {**usual, **{name.replace("_", "-"): one for name, one in named.items()}}


GOOD, STUCK, WIDE = some(1e-4, -0.9), some(0.3, 0.0), some(0.01, 0.0, 100.0, 1.0)
MCCFR = by()
CASES: Cases = {
    fig4_kuhn.learns: {
        HOLDS: lambda: fig4_kuhn.learns(MCCFR),
        FAILS: lambda: fig4_kuhn.learns(dict.fromkeys(fig4_kuhn.MEASURES, STUCK)),
        IN_PART: lambda: fig4_kuhn.learns(by(DOM_E=STUCK)),
        OPEN: lambda: fig4_kuhn.learns(by(DOM_E=WIDE)),
    },
    fig4_kuhn.settles: {
        HOLDS: lambda: fig4_kuhn.settles(MCCFR, by(SQR_E=some(0.005, 0.1))),
        FAILS: lambda: fig4_kuhn.settles(MCCFR, by(SQR_E=some(2e-4, -1.0))),
        IN_PART: lambda: fig4_kuhn.settles(MCCFR, by(SQR_E=some(0.005, -1.0))),
        OPEN: lambda: fig4_kuhn.settles(MCCFR, by(SQR_E=some(0.005, 0.3, swing=0.2))),
    },
    fig4_kuhn.depends: {
        HOLDS: lambda: fig4_kuhn.depends({1.0: some(0.1, 0).end, 2.0: some(0.2, 0).end}),
        FAILS: lambda: fig4_kuhn.depends(
            {1.0: some(0.1, 0, 1.01).end, 2.0: some(0.101, 0, 1.01).end}
        ),
        OPEN: lambda: fig4_kuhn.depends({1.0: some(0.1, 0).end, 2.0: some(0.2, 0, 9.0).end}),
    },
    fig4_kuhn.unlearns: {
        HOLDS: lambda: fig4_kuhn.unlearns(MCCFR, by(DOM_E=some(0.005, -0.4))),
        FAILS: lambda: fig4_kuhn.unlearns(MCCFR, by(DOM_E=some(1e-4, 0.1))),
        IN_PART: lambda: fig4_kuhn.unlearns(MCCFR, by(DOM_E=some(0.005, 0.1))),
        OPEN: lambda: fig4_kuhn.unlearns(MCCFR, by(DOM_E=some(0.005, 0.0))),
    },
    fig4_kuhn.loses_little: {
        HOLDS: lambda: fig4_kuhn.loses_little(MCCFR, by(ε=some(0.04, 0), loss=some(4e-4, 0))),
        FAILS: lambda: fig4_kuhn.loses_little(MCCFR, by(loss=some(0.05, 0))),
        IN_PART: lambda: fig4_kuhn.loses_little(MCCFR, by()),
        OPEN: lambda: fig4_kuhn.loses_little(MCCFR, by(ε=some(0.04, 0), loss=WIDE)),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    check_rules(fig4_kuhn, CASES, {fig4_kuhn.depends: {IN_PART}})


def test_levels_and_slopes_are_those_of_the_curves() -> None:
    x = np.geomspace(1e4, 1e7, 31)
    curve = np.stack([x**-1.0, x**-0.5, x**0.0, 2 * x**0.2], axis=1)
    found = fig4_kuhn.errors(x, np.stack([curve] * 3))
    slopes = [float(one.trend.value) for one in found.values()]
    assert slopes == pytest.approx([-1.0, -0.5, 0.0, 0.2], abs=1e-9)
    assert found["SQR-E"].level.value == pytest.approx(1e-7)


def test_fig4_kuhn_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fig4_kuhn.SCALES, "quick", (100_000, 2))
    told: list[float] = []
    outcome = reproduce("fig4-kuhn", "quick", tmp_path, lambda share, what: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert (tmp_path / "fig4-kuhn.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "fig4-kuhn.csv").open()))
    assert len(rows) == (1 + len(fig4_kuhn.SWEEP)) * 2 * len(fig4_kuhn.points(100_000))
    assert {row["algorithm"] for row in rows} == {"mccfr", "mcts"}
    assert [claim.number for claim in outcome.claims] == [1, 2, 3, 4, 5]


def test_the_equilibria_of_kuhn_poker_are_equilibria() -> None:
    game = cp.load("kuhn")
    for gamma in fig4_kuhn.GAMMAS:
        strategy = fig4_kuhn.equilibrium(gamma)
        assert cp.exploitability(game, strategy) == pytest.approx(0.0, abs=1e-12)
        assert fig4_kuhn.loss(game, strategy, strategy) == pytest.approx(0.0, abs=1e-12)
    nobody = cp.Strategy.uniform(game)
    assert fig4_kuhn.loss(game, nobody, fig4_kuhn.equilibrium(0.0)) > 0.05


def test_measurements_are_multiples_of_the_articles_and_the_last_is_the_end() -> None:
    assert fig4_kuhn.points(30_000) == [10_000, 20_000, 30_000]
    many = fig4_kuhn.points(20_000_000)
    assert (many[0], many[-1]) == (10_000, 20_000_000)
    assert all(point % fig4_kuhn.EVERY == 0 for point in many)
    assert 20 < len(many) <= fig4_kuhn.MEASUREMENTS
