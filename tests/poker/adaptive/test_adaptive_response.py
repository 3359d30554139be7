"""Learning while playing: what is discounted, which engines can, and the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arena import Caller, from_nothing, holdem

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.solvers.algorithms import ALGORITHMS, new_solver
from counterplay.core.solvers.mcts import ROOT, VALUE, VISITS
from counterplay.poker.adaptive.response import DISCOUNT, ResponseLearner, engines
from counterplay.poker.histories.parquet import read_parquet

SLOW = ("mccfr-chance", "mccfr-public")  # an iteration traverses all betting
THREADED = [  # with two threads one engine does, the others run with make test-slow
    pytest.param(name, threads, marks=[pytest.mark.slow] if threads > 1 and name != "mccfr" else [])
    for name in engines()
    if ALGORITHMS[name].plays(cp.load("leduc"))
    for threads in (1, 2)
    if threads == 1 or name != "mccfr-chance"
]


def trained(engine: str, threads: int, iterations: int = 3_000) -> Any:
    solver = new_solver(cp.load("leduc"), engine, 1, {"threads": threads} if threads > 1 else {})
    solver.step(iterations)
    return solver


@pytest.mark.parametrize(("engine", "threads"), THREADED)
def test_what_fades_is_what_was_learnt(engine: str, threads: int) -> None:
    """The weights count for half, the policy stays what it was, and learning goes on from there."""
    solver, straight = trained(engine, threads), trained(engine, threads)
    weights, policy = solver.weights().copy(), solver.policy()
    solver.discount(DISCOUNT)
    assert weights.sum() > 0
    assert solver.weights() == pytest.approx(DISCOUNT * weights, rel=1e-9, abs=1e-9)
    assert solver.policy() == pytest.approx(policy, abs=1e-9)
    for one in (solver, straight):
        one.step(3_000)
    assert not np.array_equal(solver.policy(), straight.policy())  # what is new weighs more
    assert np.all(np.isfinite(solver.policy()))


@pytest.mark.parametrize(("engine", "threads"), THREADED)
def test_fading_by_one_changes_nothing_and_by_zero_forgets(engine: str, threads: int) -> None:
    solver, straight = trained(engine, threads), trained(engine, threads)
    solver.discount(1.0)
    for one in (solver, straight):
        one.step(500)
    if engine != "mcts":  # there the bound is renewed, which it otherwise is only now and then
        assert np.array_equal(solver.policy(), straight.policy())
    solver.discount(0.0)
    assert solver.policy() == pytest.approx(cp.Strategy.uniform(solver.game).probabilities)
    solver.step(500)
    assert np.all(np.isfinite(solver.policy()))


@pytest.mark.parametrize("factor", [-0.1, 1.5, float("nan"), "half", None, True])
def test_a_factor_is_a_share(factor: Any) -> None:
    with pytest.raises(BadParameter, match="factor"):
        trained("mccfr", 1, 10).discount(factor)


def test_bounds_of_tree_search_follow_the_visits() -> None:
    """Eq 2 after fading: √(1/n_a), C·√(ln n_p), and averages as they were."""
    solver = trained("mcts", 1)
    before = solver.tables()["stats"].copy()
    solver.discount(0.25)
    stats, spread = solver.tables()["stats"], solver.tables()["spread"]
    first = solver.game.form.first
    tried = stats[:, VISITS] > 0
    assert np.array_equal(stats[:, VALUE], before[:, VALUE])
    assert np.array_equal(stats[:, VISITS], before[:, VISITS] / 4)
    assert stats[tried, ROOT] == pytest.approx(stats[tried, VISITS] ** -0.5)
    assert np.all(np.isinf(stats[~tried, ROOT]))
    for k in range(solver.game.n_infosets):
        total = stats[first[k] : first[k + 1], VISITS].sum()
        assert spread[k] == pytest.approx(2.0 * np.sqrt(np.log(max(total, 2.0))))


@pytest.mark.parametrize("engine", [name for name in engines() if name not in SLOW])
def test_every_engine_that_samples_can_learn_while_playing(engine: str) -> None:
    """And what it learnt is discounted: weights are less than twice those of the last update."""
    learner = ResponseLearner(holdem(), engine=engine, kind="frequency")
    discounts = []
    original = [solver.discount for solver in learner._solvers]
    for solver, discount in zip(learner._solvers, original, strict=True):
        solver.discount = lambda factor, discount=discount: (
            discounts.append(factor),
            discount(factor),
        )
    result = list(
        from_nothing(
            "always-call", 400, 1, game=holdem(), every=200, iterations=10_000, learner=learner
        )
    )
    assert [block.hands for block in result] == [200, 400]
    assert discounts == [DISCOUNT] * 4  # two models, two seats
    assert result[1].iterations == 2_000


@pytest.mark.parametrize("engine", [*sorted(set(ALGORITHMS) - set(engines())), "cfr++", None, 3])
def test_an_engine_that_cannot_is_refused_with_those_that_can(engine: Any) -> None:
    with pytest.raises(BadParameter, match="needs an engine that samples") as error:
        ResponseLearner(holdem(), engine=engine)
    assert all(name in str(error.value) for name in engines())
    assert repr(engine) in str(error.value)


@pytest.mark.parametrize(
    ("suffix", "observer"), [(".parquet", None), (".phhs", "a"), (".log", None), (".parquet", "b")]
)
def test_the_log_of_a_learner(suffix: str, observer: str | None, tmp_path: Path) -> None:
    from counterplay.poker.histories.read import read_hands

    log = tmp_path / "new" / f"hands{suffix}"
    result = list(
        from_nothing(
            Caller(), 50, 3, every=20, iterations=10, kind="frequency", log=log, observer=observer
        )
    )
    assert [block.hands for block in result] == [20, 40, 50]  # the last one is shorter
    hands = read_hands(log).hands
    assert len(hands) == 50
    assert {hand.dealer for hand in hands} == {"adaptive", "Caller"}
    seats = [
        np.mean([hand.won("adaptive") for hand in hands if hand.dealer == name])
        for name in ("adaptive", "Caller")
    ]
    assert np.mean(seats) == pytest.approx(result[-1].mean)
    if observer is not None and suffix == ".parquet":
        assert {hand.observer for hand in read_parquet(log).hands} == {
            "adaptive" if observer == "a" else "Caller"
        }


def test_a_bot_called_adaptive_is_told_apart(tmp_path: Path) -> None:
    class Twin(Caller):
        name = "adaptive"

    list(from_nothing(Twin(), 20, every=20, iterations=10, log=tmp_path / "hands.parquet"))
    assert {hand.dealer for hand in read_parquet(tmp_path / "hands.parquet").hands} == {
        "adaptive",
        "adaptive (2)",
    }


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_the_ends_of_the_range_of_seeds(seed: int) -> None:
    assert [block.hands for block in from_nothing("probe", 20, seed, every=10, iterations=0)] == [
        10,
        20,
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hands": 1}, "hands must be"),
        ({"hands": True}, "hands must be"),
        ({"hands": 2.5}, "hands must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 2**64}, "seed must be"),
        ({"iterations": -1}, "iterations must be"),
        ({"iterations": 1.5}, "iterations must be"),
        ({"every": 1}, "at least 2 hands"),
        ({"every": 101}, "at least one block"),
        ({"every": 2.5}, "at least 2 hands"),
        ({"observer": "a"}, "log"),
        ({"log": "x.txt"}, "x.txt"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        next(from_nothing("probe", **{"hands": 100, "every": 50, **options}))
