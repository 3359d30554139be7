"""Figure 6: its rules, and the experiment on toy games."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

from counterplay.app.reproduction import fig6, models
from counterplay.app.reproduction.harness.reproduce import reproduce
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.progress import no_progress

TOYS = ("ocp(10)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)")


def curve(*risks: float, gap: float = 0.001, gains: Any = (0, 0.05, 0.07, 0.08, 0.09, 0.1)) -> Any:
    ps = (0.0, 0.5, 0.7, 0.8, 0.97, 1.0)
    points = [models.ResponsePoint(p, g, r, gap) for p, g, r in zip(ps, gains, risks, strict=True)]
    return fig6.ResponseCurve(points, 0.1)


LATE, EVEN = (0, 0.01, 0.02, 0.3, 0.3, 1.0), (0, 0.01, 0.02, 0.3, 0.9, 1.0)  # when the risk comes
RISKY = curve(0, 0.5, 0.7, 0.9, 0.95, 1.0)
GAMES = {"ocp": curve(*LATE), "bluff": curve(*EVEN)}
OTHER = curve(*LATE, gains=(0, 0.02, 0.03, 0.04, 0.09, 0.1))
ROUGH = {"ocp": curve(*LATE, gap=0.1), "bluff": curve(*EVEN, gap=0.1)}
AT = ({"ocp": curve(*LATE)}, {"ocp": curve(*EVEN)})
CASES: Cases = {
    fig6.boost: {
        HOLDS: lambda: fig6.boost(GAMES, GAMES),
        IN_PART: lambda: fig6.boost({"ocp": RISKY, "bluff": curve(*EVEN)}, {}),
        FAILS: lambda: fig6.boost({"ocp": RISKY}, {}),
        OPEN: lambda: fig6.boost(ROUGH, {}),
    },
    fig6.jump: {
        HOLDS: lambda: fig6.jump(GAMES),
        IN_PART: lambda: fig6.jump({"ocp": curve(*LATE), "bluff": curve(*LATE)}),
        FAILS: lambda: fig6.jump({"ocp": curve(*EVEN), "bluff": curve(*LATE)}),
        OPEN: lambda: fig6.jump({"ocp": curve(*LATE, gap=0.5), "bluff": curve(*EVEN)}),
    },
    fig6.similar: {
        HOLDS: lambda: fig6.similar(GAMES, GAMES),
        IN_PART: lambda: fig6.similar(*AT),
        FAILS: lambda: fig6.similar({"ocp": curve(*EVEN)}, {"ocp": OTHER}),
        OPEN: lambda: fig6.similar(ROUGH, ROUGH),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    check_rules(fig6, CASES, {})


def test_the_best_point_of_the_range_decides() -> None:
    """A boost *can be had*: p = 0.5 pays although p = 0.8 does not."""
    late = curve(0, 0.05, 0.6, 0.9, 0.95, 1.0)
    assert fig6.best(late) == 0.5
    assert fig6.boost({"ocp": late}, {}).verdict is HOLDS


def test_both_halves_of_the_step_are_told() -> None:
    found = fig6.jump({"ocp": curve(*LATE), "bluff": curve(*LATE)})
    assert "high elsewhere holds, not in Bluff fails" in found.measured


@pytest.mark.parametrize("name", TOYS)
def test_models_stop_at_the_first_look_below_the_target(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "LOOK", 50)
    target, looks = 0.2, []
    measure = models.exploitability
    monkeypatch.setattr(
        models, "exploitability", lambda *given: looks.append(measure(*given)) or looks[-1]
    )
    found = models.fixed_profile(name, target, PieceStore(tmp_path), no_progress)
    assert found.exploitability == looks[-1] <= target
    assert all(one > target for one in looks[:-1])
    assert found.iterations == 50 * len(looks)
    again = models.fixed_profile(name, target, PieceStore(tmp_path), no_progress)
    assert measure(models.cached_game(name), again.strategy) == pytest.approx(looks[-1], abs=1e-12)


def test_fig6_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fig6, "GAMES", dict.fromkeys(TOYS, 100_000))
    monkeypatch.setattr(models, "LOOK", 50)
    monkeypatch.setitem(fig6.SCALES, "quick", fig6.Fig6Scale(1e-3, 1_000, 0.04, (0.05,)))
    outcome = reproduce("fig6", "quick", tmp_path)
    assert (tmp_path / "fig6.png").read_bytes()[:4] == b"\x89PNG"
    assert [one.number for one in outcome.claims] == [23, 24, 25]
    rows = list(csv.DictReader((tmp_path / "fig6.csv").open()))
    # RNR and MCRNR for eight values of p, RNR to a finer model, and the footnote
    assert len(rows) == len(TOYS) * (3 * 8 + 2)
    assert {row["algorithm"] for row in rows} == {"rnr", "dbr", "mcrnr"}
    assert all(float(row["gap"]) >= 0 for row in rows)
    for row in rows:
        if row["algorithm"] == "rnr" and row["p"] == "1.0":
            # against the model nobody wins more than its exploitability (facts/01)
            assert float(row["exploitation"]) == pytest.approx(
                float(row["model_exploitability"]), abs=5e-3
            )
    (table,) = outcome.tables
    assert len(table.rows) == 3 * len(TOYS)
