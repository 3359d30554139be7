"""Full width on a device: what a processor gives. Its kernels are compiled for a processor here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice, has_device

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel import device_form, full_width
from counterplay.core.solvers.algorithms import new_solver

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")
needs_device = pytest.mark.skipif(not has_device(), reason="needs a CUDA device")
FAMILY = ("cfr", "cfr+", "dcfr", "pcfr+")


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_form, "NEW_DEVICE", EmulatedDevice)


def _both(game: str, name: str, n: int, **options: Any) -> tuple[Any, Any]:
    solvers = [
        new_solver(cp.load(game), name, 0, {**options, **more})
        for more in ({}, {"backend": "cuda"})
    ]
    for solver in solvers:
        solver.step(n)
    return solvers[0], solvers[1]


def _check(game: str, name: str, n: int, near: float, **options: Any) -> None:
    one, other = _both(game, name, n, **options)
    for key, array in one.arrays().items():
        computed = other.arrays()[key]
        np.testing.assert_allclose(computed, array, rtol=near, atol=near, err_msg=key)
    gap = one.measure(one.policy())
    assert other.measure(one.policy()) == pytest.approx(gap, abs=near, rel=near)


@needs_compiler
@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("game", ["kuhn", "leduc", "goofspiel(4)"])
def test_the_same_bits_as_a_processor(game: str, name: str, emulated: None) -> None:
    """No row of these games is cut."""
    _check(game, name, 20, 0.0)


@needs_compiler
def test_the_same_with_turns(emulated: None) -> None:
    _check("leduc", "cfr", 20, 0.0, alternating=True)


@needs_compiler
def test_the_same_where_rows_are_cut(emulated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One product and one pass: rounding grows with iterations."""
    monkeypatch.setattr(device_form, "LONGEST", 3)
    _check("leduc", "dcfr", 1, 1e-12)


@needs_compiler
@pytest.mark.parametrize("algorithm", ["rnr", "dbr"])
def test_responses_are_the_same(algorithm: str, emulated: None) -> None:
    """A restricted game has the one long row there is; data-biased ones have floors."""
    game = cp.load("leduc")
    model = cp.solve(game, "cfr", iterations=3).strategy
    responses = [
        cp.respond(
            game, model, player=1, p=0.5, algorithm=algorithm, iterations=30, engine="cfr+", **more
        )
        for more in ({}, {"backend": "cuda"})
    ]
    one, two = (response.strategy.probabilities for response in responses)
    np.testing.assert_allclose(two, one, atol=1e-9)
    assert responses[1].exploitability == pytest.approx(responses[0].exploitability, abs=1e-9)


@needs_compiler
def test_exploitability_and_best_response_are_the_same(emulated: None) -> None:
    game = cp.load("leduc")
    strategy = cp.solve(game, "cfr", iterations=3).strategy
    gap = cp.exploitability(game, strategy)
    assert cp.exploitability(game, strategy, backend="cuda") == pytest.approx(gap, abs=1e-12)
    single = cp.exploitability(game, strategy, backend="cuda", precision="single")
    assert single != gap
    assert single == pytest.approx(gap, rel=1e-5)
    for player in (0, 1):
        one = cp.best_response(game, strategy, player)
        two = cp.best_response(game, strategy, player, backend="cuda")
        assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "single"])
def test_same_bits_however_it_is_cut(precision: str, emulated: None, tmp_path: Path) -> None:
    options = {"backend": "cuda", "precision": precision}
    whole = new_solver(cp.load("kuhn"), "pcfr+", 0, options)
    whole.step(1_500)  # more than paces are worked out at once
    cut = cp.solve("kuhn", "pcfr+", iterations=700, folder=tmp_path / "run", **options)
    asked = {"backend": "cuda"} | ({} if precision == "double" else {"precision": precision})
    assert cut.parameters == asked
    resumed = cp.resume(tmp_path / "run", iterations=1_500)
    for key, array in whole.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[key]), key


@needs_compiler
def test_single_precision_converges_less_far(emulated: None) -> None:
    one, other = _both("kuhn", "cfr+", 400)
    single = new_solver(cp.load("kuhn"), "cfr+", 0, {"backend": "cuda", "precision": "single"})
    single.step(400)
    game = cp.load("kuhn")
    gaps = [cp.exploitability(game, solver.strategy()) for solver in (one, other, single)]
    assert gaps[1] == gaps[0]
    assert gaps[2] != gaps[0]
    assert gaps[2] < 1e-2


@needs_compiler
def test_a_device_forgets_a_share(emulated: None) -> None:
    solver = new_solver(cp.load("kuhn"), "cfr", 0, {"backend": "cuda"})
    solver.step(3)
    before = solver.tables()["regret1"].copy()
    solver.discount(0.5)
    solver._regrets._fetched = False  # what the device has now
    np.testing.assert_allclose(solver.tables()["regret1"], 0.5 * before)


@needs_compiler
def test_auto_takes_a_device_for_a_large_game(
    emulated: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = cp.load("leduc").sequence_form
    assert not full_width.use_device(form, "auto", 1)
    assert full_width.use_device(form, "cuda", 1)
    monkeypatch.setattr(full_width, "LEAST_ENTRIES", 100)
    assert full_width.use_device(form, "auto", 2)
    monkeypatch.undo()
    monkeypatch.setattr(full_width, "LEAST_ENTRIES", 100)
    if not has_device():
        assert not full_width.use_device(form, "auto", 1)


@needs_device
@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("game", ["leduc", "bluff(1,1,5)", "goofspiel(5)", "pam(3,3,8)"])
def test_the_same_on_a_device_after_1000_iterations(game: str, name: str) -> None:
    _check(game, name, 1_000, 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "gpu"}, "backend must be one of cpu, cuda, auto, not 'gpu'"),
        ({"precision": "half"}, "precision must be one of double, single, not 'half'"),
        ({"precision": "single"}, "single precision is for a device; use backend=cuda or auto"),
        ({"backend": "cuda", "threads": 2}, "leave out threads"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        cp.solve("kuhn", "cfr", iterations=1, **options)
    with pytest.raises(BadParameter, match=message):
        cp.exploitability("kuhn", cp.Strategy.uniform(cp.load("kuhn")), **options)


@pytest.mark.skipif(has_device(), reason="there is a CUDA device")
def test_without_a_device_it_says_so() -> None:
    with pytest.raises(BadParameter, match=r"CuPy|CUDA device"):
        cp.solve("kuhn", "cfr", iterations=1, backend="cuda")
    assert cp.solve("kuhn", "cfr", iterations=1, backend="auto").iterations == 1
