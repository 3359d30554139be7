"""Figure 6: its rules, and the experiment on toy games."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from support.rules import Cases, says_all_three

from counterplay.app.reproduction import fig6, fig6_rules, models, sizes
from counterplay.app.reproduction.harness.reproduce import reproduce

CASES: Cases = {}
TOYS = ("ocp(10)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)")


def curve(*risks: float, gap: float = 0.001, gains: Any = (0, 0.05, 0.08, 0.09, 0.1)) -> Any:
    ps = (0.0, 0.5, 0.8, 0.97, 1.0)
    points = [models.ResponsePoint(p, g, r, gap) for p, g, r in zip(ps, gains, risks, strict=True)]
    return fig6_rules.ResponseCurve(points, 0.1)


LATE, EVEN = (0, 0.01, 0.02, 0.3, 1.0), (0, 0.01, 0.02, 0.9, 1.0)  # when the risk comes
GAMES = {"ocp": curve(*LATE), "bluff": curve(*EVEN)}
FALLING = {"ocp": curve(*LATE[::-1])}
ROUGH = {"ocp": curve(*LATE, gap=0.05), "bluff": curve(*EVEN)}
RISKY = {"ocp": curve(0, 0.5, 0.9, 0.95, 1.0)}
CASES[fig6_rules.grow] = (
    lambda: fig6_rules.grow(GAMES, GAMES, "m"),
    lambda: fig6_rules.grow(FALLING, FALLING, "m"),
    lambda: fig6_rules.grow(ROUGH, ROUGH, "m"),
)
CASES[fig6_rules.boost] = (
    lambda: fig6_rules.boost(GAMES, GAMES, "m"),
    lambda: fig6_rules.boost(RISKY, RISKY, "m"),
    lambda: fig6_rules.boost(ROUGH, GAMES, "m"),
)
CASES[fig6_rules.jump] = (
    lambda: fig6_rules.jump(GAMES, GAMES, "m"),
    lambda: fig6_rules.jump({"ocp": curve(*LATE), "bluff": curve(*LATE)}, GAMES, "m"),
    lambda: fig6_rules.jump(ROUGH, GAMES, "m"),
)
CASES[fig6_rules.similar] = (
    lambda: fig6_rules.similar(GAMES, GAMES, "m"),
    lambda: fig6_rules.similar({"ocp": curve(*LATE)}, {"ocp": curve(*EVEN)}, "m"),
    lambda: fig6_rules.similar(ROUGH, ROUGH, "m"),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(fig6_rules, CASES)


def test_bluff_is_tested_too_and_must_be_there() -> None:
    only = {"ocp": curve(*LATE)}
    assert fig6_rules.jump(only, only, "m").holds is None
    high = {"ocp": curve(*LATE), "bluff": curve(*LATE)}
    found = fig6_rules.jump(high, high, "m")
    assert found.holds is False
    assert found.before is not None
    assert found.before.holds is True


def test_points_that_have_not_converged_decide_nothing() -> None:
    rough = {name: one._replace(available=0.001) for name, one in GAMES.items()}
    for claim in fig6_rules.claims({"m": rough}, {"m": rough}):
        assert claim.holds is None
        assert "not converged: ocp, bluff" in claim.measured


def test_fig6_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GAMES, "quick", TOYS)
    monkeypatch.setitem(sizes.LIMITS, "quick", sizes.ModelLimit(200_000, 10_000, 20_000, 2_000))
    monkeypatch.setitem(fig6.SCALES, "quick", fig6.Fig6Scale(1e-4, 1_000, 0.04, 20_000, 0.04))
    outcome = reproduce("fig6", "quick", tmp_path)
    assert (tmp_path / "fig6.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "fig6.csv").open()))
    # four models at full width and one sampled for eight values of p; outcome sampling and two
    # finer models for the five that are judged; the footnote
    assert len(rows) == len(TOYS) * (5 * 8 + 3 * 5 + 2)
    assert {row["algorithm"] for row in rows} == {"rnr", "dbr", "mcrnr", "mcrnr (outcome)"}
    assert all(float(row["gap"]) >= 0 for row in rows)
    for row in rows:
        if row["algorithm"] == "rnr" and row["p"] == "1.0":
            # against the model nobody wins more than its exploitability (facts/01)
            assert float(row["exploitation"]) == pytest.approx(
                float(row["model_exploitability"]), abs=5e-3
            )
    assert (
        json.loads((tmp_path / "fig6.json").read_text())["claims"][0]["holds"]
        == outcome.claims[0].holds
    )
