"""Benchmarks use what the package has."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from benchmarks import cfr_br
from counterplay.poker.bots.quantised import digest, read_facts, read_quantised, write_quantised
from counterplay.poker.vector.evaluation import BoardEvaluator

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


def test_earlier_runs_count_by_their_iterations(tmp_path: Path) -> None:
    game, path = cp.load("holdem(buckets=2)"), tmp_path / "earlier.npz"
    one, other = cp.Strategy.random(game, 1), cp.Strategy.random(game, 2)
    facts = {"algorithm": "cfr-br", "seed": 1, "iterations": 300, "seconds": 5.0}
    saved = write_quantised(path, one, facts)
    now = {**facts, "seed": 2, "iterations": 100}
    mean, of_all = cfr_br.with_earlier(other, now, [path])
    expected = 0.75 * saved.probabilities + 0.25 * other.probabilities
    assert np.abs(mean.probabilities - expected).max() < 1e-12
    assert of_all == {**now, "iterations": 400, "seconds": 10.0}
    with pytest.raises(SystemExit, match="the same seed"):
        cfr_br.with_earlier(other, facts, [path])
