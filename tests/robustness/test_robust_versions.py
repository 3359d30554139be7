"""Files that 0.1.0 wrote are read: strategies, runs, responses, models and hands."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp

DATA = Path(__file__).parent.parent / "data" / "v0.1"


def test_a_strategy() -> None:
    found = cp.Strategy.load(DATA / "strategy.npz")
    assert np.array_equal(found.probabilities, cp.Strategy.random(cp.load("kuhn"), 1).probabilities)


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external", "mccfr-chance", "mcts", "cfr+"])
def test_a_run_goes_on_as_if_it_had_not_stopped(name: str, tmp_path: Path) -> None:
    shutil.copytree(DATA / f"run-{name}", tmp_path / "run")
    more = 80 if name == "cfr+" else 2_500
    options = {"c": 13.0} if name == "mcts" else {}
    whole = cp.solve("kuhn", name, iterations=more, seed=3, **options)
    gone_on = cp.resume(tmp_path / "run", iterations=more)
    assert np.array_equal(gone_on.strategy.probabilities, whole.strategy.probabilities)


@pytest.mark.parametrize(
    ("folder", "player", "algorithm", "more"),
    [("response-both", None, "mcrnr", 900), ("response-one", 1, "dbr", 60)],
)
def test_a_response_goes_on(
    folder: str, player: int | None, algorithm: str, more: int, tmp_path: Path
) -> None:
    shutil.copytree(DATA / folder, tmp_path / "run")
    model = cp.Strategy.random(cp.load("kuhn"), 1)
    whole = cp.respond("kuhn", model, player, 0.6, algorithm, iterations=more, seed=3)
    gone_on = cp.resume_response(tmp_path / "run", iterations=more)
    assert np.array_equal(gone_on.strategy.probabilities, whole.strategy.probabilities)


@pytest.mark.filterwarnings("ignore:.*no checksum")
def test_a_model_and_hands() -> None:
    assert cp.load_model(DATA / "model.json").strategy.game.name == "holdem(buckets=10)"
    read = [
        cp.read_hands(DATA / f"hands{suffix}").hands for suffix in (".parquet", ".phhs", ".log")
    ]
    assert [len(hands) for hands in read] == [60, 60, 60]
