"""Mistakes with robust responses that are easy to make: each gets a sentence. And a seat stopped
before its first checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterplay as cp

KUHN = cp.load("kuhn")
MODEL = cp.Strategy.uniform(KUHN)


@pytest.mark.parametrize(
    "arguments",
    [
        {"algorithm": 5},
        {"algorithm": ["rnr"]},
        {"engine": 5},
        {"p": [[1], [2, 3]]},
        {"p": "half"},
        {"p": None},
        {"p": np.full(12, 0.5j), "algorithm": "dbr"},
        {"max_exploitability": 0.1, "callback": print},
    ],
)
def test_respond_refuses(arguments: dict[str, object]) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.respond(KUHN, MODEL, 0, **{"iterations": 5, **arguments})


def test_games_by_name_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.respond(5, MODEL)
    with pytest.raises(cp.CounterplayError):
        cp.solve(5, "cfr", iterations=1)
    cp.respond("kuhn", MODEL, 0, 0.5, iterations=5, folder=tmp_path / "run")
    assert cp.resume_response(tmp_path / "run", iterations=10, game="kuhn").iterations == 10


@pytest.mark.parametrize("name", ["p", "max_exploitability"])
def test_a_frontier_takes_no_single_p(name: str, tmp_path: Path) -> None:
    with pytest.raises(cp.CounterplayError, match="many runs"):
        cp.frontier(KUHN, MODEL, iterations=5, folder=tmp_path / "run", **{name: 0.5})
    assert not (tmp_path / "run").exists()


def test_a_seat_stopped_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    whole = cp.respond(KUHN, MODEL, None, 0.5, "mcrnr", iterations=500)
    cp.respond(KUHN, MODEL, None, 0.5, "mcrnr", iterations=200, folder=tmp_path / "run")
    (tmp_path / "run" / "seat2" / "checkpoint.npz").unlink()
    resumed = cp.resume_response(tmp_path / "run", iterations=500)
    assert np.array_equal(resumed.strategy.probabilities, whole.strategy.probabilities)


def test_lp_is_exact_at_tiny_p() -> None:
    game = cp.load("bluff(1,1,3)")
    run = cp.respond(game, cp.Strategy.random(game, 1), 1, 1e-6, engine="lp").runs[0]
    assert run.exploitability < 1e-9
