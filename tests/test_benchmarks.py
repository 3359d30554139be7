"""Benchmarks use what the package has."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cfr_br
from counterplay.poker.bots.quantised import digest, read_facts, read_quantised
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
