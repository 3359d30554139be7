"""Benchmarks use what the package has."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from benchmarks import cfr_br, members, positions, real_frontier, spots, tilted
from counterplay.core.parallel.processes import cores
from counterplay.poker.bots.shipped import (
    digest,
    quantised,
    read_facts,
    read_quantised,
    write_quantised,
)
from counterplay.poker.spots import device
from counterplay.poker.spots.positions import HoldemPosition
from counterplay.poker.vector.evaluation import BoardEvaluator
from tests.support.emulate import EmulatedDevice
from tests.support.spots import naive_game

ROOT = Path(__file__).parent.parent


def test_every_benchmark_can_be_imported() -> None:
    """All in one process of its own: some change settings of the process they run in."""
    names = [path.stem for path in sorted((ROOT / "benchmarks").glob("[a-z]*.py"))]
    assert len(names) > 10
    code = "\n".join(f"import benchmarks.{name}" for name in names)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_spots_are_measured_on_a_device_and_by_all_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a tiny spot. One that is out of time is kept, and one that cannot be is said."""
    monkeypatch.setattr(device, "Device", EmulatedDevice)
    monkeypatch.setattr(spots, "PRECISION", "double")  # which other tests compile
    tiny = {"board": "QsJh2c5d8s", "pot": 20, "stacks": 40, "ranges": ("AA,KTs", "QQ"), "bets": 50}
    monkeypatch.setattr(spots, "SPOTS", {"turn": tiny | {"pot": 0}, "river": tiny})
    out, common = tmp_path / "rows.csv", ["river", "turn", "--device", "--out"]
    spots.main([*common, str(out), "--minutes", "1"])
    assert capsys.readouterr().out.count("pot must be above 0") == 2
    spots.main(["river", "--threads", "1", "--seconds", "1e-9", "--out", str(out)])
    with out.open() as file:
        rows = list(csv.DictReader(file))
    found = [(row["backend"], row["threads"], row["target"]) for row in rows]
    everyone = ("cpu", str(cores()))
    assert found == sorted([
        ("cpu", "1", "1.0"), ("cpu", "1", ""), *((*who, target) for who in (everyone, ("cuda", ""))
        for target in ("1.0", "0.5", "0.1")),
    ], key=lambda row: row[:2])  # fmt: skip
    for row in rows:
        assert float(row["percent_of_pot"]) <= float(row["target"] or 100)


def test_openspiel_solves_the_same_spot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exploitability of uniform play is ours, and all solvers reach their targets."""
    spiel: Any = pytest.importorskip("pyspiel")
    from benchmarks import spots_beside

    tiny = {"board": "QsJh2c5d8s", "pot": 20, "stacks": 20, "bets": "50", "symmetric": False}
    monkeypatch.setattr(
        spots_beside, "SPOT", tiny | {"ranges": ("AhAd,KsTs,9d9h", "QhQd,KhKd:0.5")}
    )
    game = cp.spot(**spots_beside.SPOT)
    peer = spots_beside.peer_of(naive_game(game))
    theirs = spiel.nash_conv(peer, spiel.UniformRandomPolicy(peer))
    assert cp.exploitability(game, "uniform") == pytest.approx(theirs, abs=1e-9)
    spots_beside.main(["--out", str(tmp_path / "rows.csv")])
    with (tmp_path / "rows.csv").open() as file:
        assert [row["target"] for row in csv.DictReader(file)] == ["0.5", "0.1"] * 3


def test_a_player_is_trained_saved_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two commands. Values of best responses, which take minutes, are replaced."""
    monkeypatch.setattr(cfr_br, "OUT", tmp_path / "rows.csv")
    asked: list[Any] = []

    def values(evaluator: Any, queries: Any, **options: Any) -> list[float]:
        asked.append((len(queries), options))
        return [0.1 * (k + 1) for k in range(len(queries))]

    monkeypatch.setattr(BoardEvaluator, "values", values)
    train = ["holdem(buckets=10)", "--algorithm", "mcts", "--seconds", "0.01", "--backend", "cpu"]
    out = tmp_path / "out"
    cfr_br.main([*train, "--points", "1", "--out", str(out)])
    (path,) = out.glob("*.npz")
    cfr_br.main([*train, "--points", "1", "--flops", "0", "--seed", "2", "--out", str(out)])
    cfr_br.main(["--exact", str(path), str(path), "--backend", "cpu"])
    sampled, full = {"backend": "cpu", "flops": 48, "seed": 3}, {"backend": "cpu"}
    assert asked == [(2, sampled), (2, sampled), (4, full)]
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["flops"] for row in rows] == ["48", "48", "all", "all"]
    assert [row["steps"] for row in rows] == ["0", "255", "255", "255"]
    assert [float(row["mb_per_game"]) for row in rows] == [150.0, 150.0, 150.0, 350.0]
    facts = read_facts(path)
    assert rows[-1]["digest"] == digest(read_quantised(path))
    assert [rows[-1][name] for name in cfr_br.TRAINED] == [str(facts[n]) for n in cfr_br.TRAINED]
    assert facts["command"].startswith("python -m benchmarks.cfr_br 'holdem(buckets=10)' --algo")
    assert "out" not in facts["command"]


def test_a_number_of_iterations_gives_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `counterplay solve -n` does."""
    monkeypatch.setattr(cfr_br, "OUT", tmp_path / "rows.csv")
    train = ["holdem(buckets=10)", "--algorithm", "mcts", "--iterations", "2000", "--threads", "1"]
    cfr_br.main([*train, "--flops", "0", "--out", str(tmp_path)])
    (path,) = tmp_path.glob("*.npz")
    solved = cp.solve("holdem(buckets=10)", "mcts", c=17, iterations=2000, seed=1).strategy
    facts = read_facts(path)
    assert facts["iterations"] == 2000
    packed = quantised(solved, facts["steps"])
    assert np.array_equal(read_quantised(path).probabilities, packed.probabilities)


def test_responses_are_trained_saved_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two commands: matches are played; training and values of boards, which take minutes, are
    replaced."""
    game = cp.load("holdem(buckets=10)")
    model = tmp_path / "caller.npz"
    write_quantised(model, cp.Strategy.random(game, 1), {})
    trained: list[float] = []

    def respond(parameters: Any, limits: Any, started: dict[int, Any]) -> Any:
        assert parameters.options == {"backend": "cpu", "ramp": 1}
        trained.append(parameters.p)
        started[0] = limits.seconds
        answer = cp.Strategy.random(game, int(10 * parameters.p))
        return SimpleNamespace(strategy=answer, seconds=2.0, iterations=7)

    asked: list[Any] = []

    def values(evaluator: Any, queries: Any, **options: Any) -> list[float]:
        asked.append(([query.by is None for query in queries], options))
        return [0.1 * (k + 1) for k in range(len(queries))]

    monkeypatch.setattr(real_frontier, "compute_response", respond)
    monkeypatch.setattr(BoardEvaluator, "values", values)
    out = tmp_path / "out"
    common = ["--backend", "cpu", "--hands", "2000", "--out", str(out)]
    games = ["--game", game.name, "--model-game", game.name]
    train = [str(model), "--ps", "0.6,0.4", "--seconds", "3", *games, "--flops", "0", *common]
    real_frontier.main(train)
    real_frontier.main([*train[:2], "0.4,0.8", *train[3:]])  # what is there is not trained again
    assert trained == [0.4, 0.6, 0.8]
    files = [out / f"caller-p{p}.npz" for p in (0.4, 0.6)]
    assert not asked
    real_frontier.main(["--exact", *map(str, files), "--backend", "cpu", "--out", str(out)])
    assert asked == [([True] * 4, {"backend": "cpu"}), ([False] * 4, {"backend": "cpu"})]
    real_frontier.main([str(files[0]), "--exact", "--payoff", "match", *common])
    with (out / "real_frontier.csv").open() as file:
        rows = {(row["p"], row["flops"]): row for row in csv.DictReader(file)}
    assert sorted(rows) == [("0.4", "all"), ("0.6", "all"), ("0.8", "none")]
    assert rows["0.6", "all"]["digest"] == digest(read_quantised(files[1]))
    exact = rows["0.6", "all"]
    names = ("model", "won_sb", "won_error", "risk_mb_per_game", "risk_error", "won_from_bot")
    expected = ["caller", "0.35000", "0.00000", "350.00000", "0.00000", ""]
    assert [exact[name] for name in names] == expected
    assert rows["0.8", "none"]["risk_mb_per_game"] == ""
    assert float(rows["0.8", "none"]["won_error"]) > 0.0


def test_a_risk_beside_a_named_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def values(game: cp.Game, queries: list[Any], **options: Any) -> list[float]:
        asked.update(options, seats=[query.player for query in queries])
        return [0.3, 0.5]

    monkeypatch.setattr(real_frontier, "vector_values", values)
    uniform = cp.Strategy.uniform(cp.load("holdem(buckets=1)"))
    assert real_frontier.risks_of([uniform], 24, "cpu", "small") == [(400.0, 0.0)]
    assert (asked["known"].name, asked["flops"], asked["seats"]) == ("small", 24, [0, 1])
    certified = next(one for one in cp.strategies() if one.name == "small")
    assert asked["known"].exploitability == certified.exploitability


def test_the_experiment_of_tilted_payoffs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With tiny abstractions and times; it is stopped, and goes on with what is there. The risk,
    which takes minutes on processors, is replaced."""
    asked: list[str] = []

    def risks(strategies: list[cp.Strategy], *_: Any) -> list[tuple[float, float]]:
        asked.extend(one.game.name for one in strategies)
        return [(100.0, 2.5)] * len(strategies)

    monkeypatch.setattr(tilted, "risks_of", risks)
    monkeypatch.setattr(tilted, "GAME", "holdem(buckets={})")  # whose tables are there
    work = tmp_path / "work"
    sizes = ["--buckets", "1,2", "--opponent", "1", "--abstract", "0.4,0.7", "--real", ""]
    common = ["--work", str(work), "--training", "0.3,0.1,0.2,0.1", *sizes]
    common += ["--backend", "cpu", "--hands", "2000", "--out", str(tmp_path)]
    tilted.main(["train", *common])
    made = sorted(path.name for path in work.iterdir())
    assert made == [
        "abstract-holdem(buckets=2)-0.4.npz", "abstract-holdem(buckets=2)-0.7.npz",
        "equilibrium-holdem(buckets=1).npz", "equilibrium-holdem(buckets=2).npz",
        "opponent-holdem(buckets=1).npz",
    ]  # fmt: skip
    for name in made[1:3]:
        (work / name).rename(tmp_path / name)
    tilted.main(["measure", *common])
    assert asked == [f"holdem(buckets={n})" for n in (1, 2, 2)]
    for name in made[1:3]:
        (tmp_path / name).rename(work / name)
    before = (work / made[0]).read_bytes()
    tilted.main(["train", *common])
    assert (work / made[0]).read_bytes() == before  # nothing again
    tilted.main(["measure", *common])
    assert asked[3:] == [f"holdem(buckets={n})" for n in (1, 2)]
    with (tmp_path / "tilted.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["player"], row["p"]) for row in rows] == [
        ("opponent", ""), ("equilibrium", ""), ("equilibrium", ""), ("abstract", "0.4"),
        ("abstract", "0.7"),
    ]  # fmt: skip
    assert rows[0]["won_mb_per_game"] == ""
    assert all(row["risk_error"] == "2.50" for row in rows)
    assert all(0 < float(row["won_error"]) < 500 for row in rows[1:])
    tilted.main(["measure", *common])
    assert len(asked) == 5  # nothing again


def test_hands_that_tell_two_arms_apart() -> None:
    """Of three arms, 1 sb/h apart twice and 0.05 once, in two matches: of which one tells the
    first two at once, and one after 100 hands and wrongly."""
    values, pairs = np.array([0.0, 1.0, 1.05]), 3
    looks = np.zeros((1, 4, pairs))
    looks[0, 0], looks[0, 1], looks[0, 3] = (-1.0, -1.0, 0.0), 0.1, 0.01
    told = np.array([[25.0, 25.0, np.inf], [100.0, 25.0, np.inf]])
    sign = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    squares = np.full((3, pairs), 9.0)
    matches = [members.Match(squares, *one, looks) for one in zip(told, sign, strict=True)]
    found = members.compared(values, matches)
    assert found.hands.tolist() == [
        *[pytest.approx([36.0, 36.0 / 1.05**2])] * 3,
        [62.5, 25.0],
    ]
    row = dict(zip(members.HEADER, members.row_of("x", [found], 2), strict=True))
    assert (row["pairs"], row["told"], row["right"]) == (2, 1.0, 0.75)
    assert (row["player_within"], row["believed_within"]) == (1.0, 0.0)
    assert row["times_plain"] == round(float(np.median([36 / 62.5, 36 / 1.05**2 / 25])), 1)


def test_positions_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for each position and kind, the last one measured."""
    game = cp.spot("Qs8s2c5d3h", 8, ranges=("AK,QTs", "AQ,88"), bets=2, limit=True, cap=1)
    uniform = cp.Strategy.uniform(game)
    position = HoldemPosition(game, "", uniform, (1.0, 1.0))
    monkeypatch.setattr(positions, "find_strategy", lambda name: name)
    monkeypatch.setattr(positions, "hold_position", lambda *_: position)
    out = ["--out", str(tmp_path / "rows.csv")]
    for words in (["unsafe"], ["safe", "--iterations", "3"], ["safe", "--iterations", "5"]):
        positions.main(["Qs8s2c5d3h", "rc/rc/rc/", *words, *out])
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["iterations"]) for row in rows][1:] == [("safe", "5")]
    assert float(rows[0]["percent"]) <= 0.1 < float(rows[0]["blueprint_percent"])
    assert rows[0]["blueprint_leak"] == "0.0"
