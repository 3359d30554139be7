"""Figure 7: its rule, its count of nodes, and the experiment on toy games."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from support.tables import GAMES, small_games
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

import counterplay as cp
from counterplay.app.reproduction import fig7
from counterplay.app.reproduction.harness.reproduce import reproduce
from counterplay.core.responses.solver import ResponseSolver


def run_of(nodes: float, seconds: float = 1.0, points: int = 8) -> list[fig7.ConvergencePoint]:
    """The gap halves after every second measurement, each of so many nodes and seconds."""
    return [
        fig7.ConvergencePoint(2 * k, nodes * k, seconds * k, 2.0 ** (-k / 2), 2.0 ** (-k / 2))
        for k in range(points)
    ]


def race(nodes: float, seconds: float = 0.01, points: int = 8) -> fig7.Race:
    """Against an RNR of 100 nodes, and as many seconds, for each measurement."""
    return fig7.Race(run_of(100), [run_of(nodes, seconds, points)] * 2, 1.0)


CASES: Cases = {
    fig7.sooner: {
        HOLDS: lambda: fig7.sooner({"g": race(1)}),
        IN_PART: lambda: fig7.sooner({"g": race(1), "h": race(10_000, 10_000)}),
        FAILS: lambda: fig7.sooner({"h": race(10_000, 10_000)}),
        OPEN: lambda: fig7.sooner({"g": race(1, points=2), "h": race(90)}),
    }
}


def test_the_rule_gives_each_verdict() -> None:
    check_rules(fig7, CASES, {})


def test_early_begins_at_uniform_play() -> None:
    """Both methods are measured against the gap of uniform play, so MCRNR may have halved it before
    RNR's first pass has ended."""
    found = race(1).ratio(fig7.EARLY, fig7.NODES)
    assert found.value == pytest.approx(0.01)
    assert found.low == pytest.approx(0.005)  # between two measurements
    assert found.high == pytest.approx(0.02)


def test_a_level_that_is_not_reached_gives_a_bound() -> None:
    never = fig7.to_reach(run_of(1, points=2), 0.1, "nodes")
    assert never == (math.inf, 1.0, math.inf)
    assert fig7.as_ratio(race(10_000, points=3).ratio(0.1, fig7.NODES)).startswith("over ")
    slow = fig7.Race(run_of(100, points=3), [run_of(1), run_of(1)], 1.0)
    assert fig7.as_ratio(slow.ratio(0.1, fig7.NODES)) == "below 0.035"
    neither = fig7.Race(run_of(100, points=3), [run_of(1, points=3)], 1.0)
    assert fig7.as_ratio(neither.ratio(0.1, fig7.NODES)) == "–"


def test_seconds_of_rnr_are_those_of_a_walk() -> None:
    one = race(1, seconds=1.0)
    assert one.ratio(fig7.EARLY, fig7.WALK).value == pytest.approx(0.01)  # 100 s a measurement
    assert one.ratio(fig7.EARLY, fig7.OURS).value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["ocp(6)", "goofspiel(3)", "bluff(1,1,3)", "pam(2,2,4)"])
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_nodes_are_counted_exactly(name: str, p: float) -> None:
    """A pass of RNR is the tree twice. At p = 0 the model plays no node; at p = 1 a sampled history
    of a game whose histories are all as long as the tree is deep passes all its nodes."""
    game = cp.load(name)
    model = cp.Strategy.uniform(game)
    full = ResponseSolver(game, model, 0, p, "rnr", "cfr").engine
    full.step(3)
    assert fig7.all_nodes(full, full.nodes_touched) == 3 * 2 * game.n_nodes
    solver = ResponseSolver(game, model, 0, p, "mcrnr", "mccfr", 1).engine
    solver.step(1_000)
    counted = solver.nodes_touched
    nodes = fig7.all_nodes(solver, counted)
    assert fig7.all_nodes(solver, 0) == 0  # counted once
    if p == 0.0:
        assert nodes == counted
    elif name == "goofspiel(3)":
        longest = max(len(path) for path in _paths(game))
        if p == 1.0:
            assert nodes == 1_000 * longest
    else:
        assert counted < nodes < 2 * counted


def _paths(game: cp.Game) -> list[list[int]]:
    """The nodes of players and the end of every history."""
    tree, found = game.tree, []
    waiting: list[tuple[int, list[int]]] = [(0, [])]
    while waiting:
        node, path = waiting.pop()
        own = path if int(tree.player[node]) == -1 and _inner(tree, node) else [*path, node]
        first, after = int(tree.first_child[node]), int(tree.first_child[node + 1])
        if first == after:
            found.append(own)
        waiting += [(child, own) for child in range(first, after)]
    return found


def _inner(tree: object, node: int) -> bool:
    first = tree.first_child  # type: ignore[attr-defined]
    return bool(first[node] < first[node + 1])


def test_fig7_writes_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_games(monkeypatch)
    sizes = dict.fromkeys(GAMES, fig7.GameSize(40, 40_000, 10_000, (1, 1, 1), 1))
    monkeypatch.setitem(fig7.GAMES, "quick", sizes)
    outcome = reproduce("fig7", "quick", tmp_path)
    assert (tmp_path / "fig7.png").read_bytes()[:4] == b"\x89PNG"
    assert [one.number for one in outcome.claims] == [26]
    rows = list(csv.DictReader((tmp_path / "fig7.csv").open()))
    assert {row["method"] for row in rows} == {method.label for method in fig7.METHODS}
    seeds = {row["seed"] for row in rows if row["method"].startswith("MCRNR")}
    assert seeds == {str(k) for k in range(fig7.SEEDS)}
    starts = {(row["game"], row["gap"]) for row in rows if row["iterations"] == "0"}
    assert len(starts) == len(GAMES)  # every run of a game begins at uniform play
    for game in GAMES:
        for method in fig7.METHODS:
            key = (game, method.label, "0")
            mine = [row for row in rows if (row["game"], row["method"], row["seed"]) == key]
            assert float(mine[-1]["gap"]) < 0.5 * float(mine[0]["gap"])
            nodes = [int(row["nodes"]) for row in mine]
            assert nodes == sorted(nodes)
