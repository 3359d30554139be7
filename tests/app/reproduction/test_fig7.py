"""Figure 7: its rules, and the experiment on toy games."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support.rules import Cases, says_all_three

import counterplay as cp
from counterplay.app.reproduction import fig7, models, sizes
from counterplay.app.reproduction.harness.reproduce import reproduce

CASES: Cases = {}
TOYS = ("ocp(10)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)")


def race_of(nodes: float, start: float = 1.0) -> list[fig7.ConvergencePoint]:
    """The gap halves with every measurement, each of so many nodes and seconds."""
    return [
        fig7.ConvergencePoint(k + 1, nodes * (k + 1), nodes * (k + 1), start / 2**k, start / 2**k)
        for k in range(8)
    ]


FULL, SOON, SLOW = race_of(100), race_of(1), race_of(10_000)
CASES[fig7.ahead] = (
    lambda: fig7.ahead({"g": (FULL, [SOON, SOON])}, "gap", "nodes", "t", fig7.EARLY),
    lambda: fig7.ahead({"g": (FULL, [SLOW, SLOW])}, "gap", "nodes", "t", fig7.EARLY),
    lambda: fig7.ahead({"g": (FULL, [SOON, SLOW])}, "gap", "nodes", "t", fig7.EARLY),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(fig7, CASES)


def test_no_method_is_compared_before_its_first_iteration() -> None:
    """MCRNR that ends above what RNR has after one iteration has nothing to be compared with."""
    never = [fig7.ConvergencePoint(k, k, k, 5.0, 5.0) for k in range(1, 5)]
    assert fig7.ratio(FULL, [never, never], "gap", fig7.EARLY, "nodes") is None
    claim = fig7.ahead({"g": (FULL, [never, never])}, "gap", "nodes", "t", fig7.EARLY)
    assert claim.holds is None
    assert "nothing to compare" in claim.measured
    for left in (fig7.EARLY, fig7.LATE):
        where = fig7.level(FULL, [SOON], "gap", left)
        assert where is not None
        assert FULL[0].gap > where >= FULL[-1].gap


def test_the_models_nodes_are_counted_as_a_factor_of_two() -> None:
    near = race_of(80)  # fewer nodes than RNR, but not by a factor of two
    runs = {"g": (FULL, [near, near])}
    assert fig7.ahead(runs, "gap", "nodes", "t", fig7.EARLY).holds is None
    assert fig7.ahead(runs, "gap", "seconds", "t", fig7.EARLY).holds is True


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
