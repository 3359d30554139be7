"""Figures 6 and 7 at toy size: files, verdicts that follow the data."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.experiments.harness.registry import reproduce
from counterplay.experiments.paper import fig6, fig7, models, sizes

TOYS = ("ocp(10)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)")


@pytest.mark.slow
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


def test_fig7_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(models.GAMES, "quick", TOYS[:2])
    monkeypatch.setitem(sizes.LIMITS, "quick", sizes.ModelLimit(200_000, 10_000, 20_000, 2_000))
    monkeypatch.setitem(fig7.SCALES, "quick", fig7.Fig7Scale(1.0, 2))
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


@pytest.mark.parametrize("name", ["ocp(6)", "goofspiel(3)", "bluff(1,1,3)", "pam(3,3,4)"])
def test_no_player_acts_twice_in_a_row(name: str) -> None:
    """So a sampled walk passes over at most one node of the model for each that it counts."""
    tree = cp.load(name).tree
    waiting = [(0, -1)]
    while waiting:
        node, last = waiting.pop()
        player = int(tree.player[node])
        assert player < 0 or player != last
        first, after = int(tree.first_child[node]), int(tree.first_child[node + 1])
        waiting += [(child, player if player >= 0 else last) for child in range(first, after)]
