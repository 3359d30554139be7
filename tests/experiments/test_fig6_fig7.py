"""Figures 6 and 7 at toy size: files, verdicts that follow the data."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from counterplay.experiments.harness.registry import reproduce
from counterplay.experiments.paper import fig6, fig7, models

TOYS = ("ocp(10)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)")


def test_fig6_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GAMES, "quick", TOYS)
    monkeypatch.setitem(models.LIMITS, "quick", models.Limit(200_000, 10_000))
    monkeypatch.setitem(fig6.SCALES, "quick", fig6.Scale(1e-4, 1_000, 20_000))
    outcome = reproduce("fig6", "quick", tmp_path)
    assert (tmp_path / "fig6.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "fig6.csv").open()))
    assert (
        len(rows) == len(TOYS) * 4 * 8
    )  # three models at full width and one sampled, eight values of p
    assert {row["algorithm"] for row in rows} == {"rnr", "mcrnr"}
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


def test_fig7_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GAMES, "quick", TOYS[:2])
    monkeypatch.setitem(models.LIMITS, "quick", models.Limit(200_000, 10_000))
    monkeypatch.setitem(fig7.SCALES, "quick", fig7.Scale(1.0, 2))
    for game in TOYS:
        monkeypatch.setitem(fig7.UNITS, game, (200, 200, 100_000, 10_000))
    reproduce("fig7", "quick", tmp_path)
    assert (tmp_path / "fig7.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "fig7.csv").open()))
    assert {row["method"] for row in rows} == {method.label for method in fig7.METHODS}
    assert {row["seed"] for row in rows if row["method"].startswith("MCRNR")} == {"0", "1"}
    for game in TOYS[:2]:
        for method in fig7.METHODS:
            mine = [
                row
                for row in rows
                if row["game"] == game and row["method"] == method.label and row["seed"] == "0"
            ]
            assert float(mine[-1]["gap"]) < 0.5 * float(mine[0]["gap"])
            nodes = [int(row["nodes"]) for row in mine]
            assert nodes == sorted(nodes)


def _trace(label: str, gaps: list[float]) -> fig7.Trace:
    method = next(method for method in fig7.METHODS if method.label == label)
    rows = [fig7.Measured(k, 10**k, 10.0**k, gap, gap) for k, gap in enumerate(gaps)]
    return fig7.Trace("game", method, 0, rows)


@pytest.mark.parametrize("sampling_wins", [True, False])
def test_fig7_verdict_follows_the_data(sampling_wins: bool) -> None:
    good, bad = [1.0, 0.5, 0.1, 0.01], [1.0, 0.9, 0.8, 0.7]
    sampled, full = (good, bad) if sampling_wins else (bad, good)
    traces = [
        _trace(method.label, sampled if method.algorithm == "mcrnr" else full)
        for method in fig7.METHODS
    ]
    assert [claim.holds for claim in fig7._claims(traces)] == [sampling_wins] * 3
