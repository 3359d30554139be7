"""Kernels are compiled, or loaded, before the clock of a limit in seconds starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.store import cache_root
from counterplay.core.kernels import jit as jit_module
from counterplay.core.kernels.jit import clock, jit, prepare
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver
from counterplay.poker.cards.strength import strengths

#: Every solver, threads, a response, and a game without a tree.
LOADS = """
import json
import counterplay as cp
from counterplay.core.kernels.cache import KernelCache
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import ALGORITHMS, new_solver

loaded, load = [], KernelCache.load_overload
KernelCache.load_overload = lambda self, *_: loaded.append(self._name) or load(self, *_)
leduc, holdem = cp.load("leduc"), cp.load("holdem(buckets=10)")
public = "mccfr-public"
names = [name for name in ALGORITHMS if ALGORITHMS[name].plays(leduc)]
solvers = {name: new_solver(leduc, name, 1, {}) for name in names}
for name in ("mccfr", "mccfr-external", "mcts"):
    solvers[name + " by threads"] = new_solver(leduc, name, 1, {"threads": 2})
model = cp.Strategy.uniform(leduc)
solvers["mcrnr"] = ResponseSolver(leduc, model, 0, 0.5, "mcrnr", "mccfr", 1).engine
solvers[public] = new_solver(holdem, public, 1, {})
late = {}
for name, solver in solvers.items():
    solver.step(0)
    loaded.clear()
    solver.step({public: 1}.get(name, 3_000 if "threads" in name else 5))
    late[name] = list(loaded)
print(json.dumps(late))
"""


def _python(text: str, **more: str) -> Any:
    """The last line that a new process prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **more},
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_no_iterations_load_every_kernel() -> None:
    strengths()
    late = _python(LOADS)
    assert len(late) >= 15
    assert late == {name: [] for name in late}


def test_no_iterations_change_nothing() -> None:
    one, two = (new_solver(cp.load("holdem(buckets=10)"), "mccfr-public", 1, {}) for _ in range(2))
    for _ in range(3):
        two.step(0)
    for solver in (one, two):
        solver.step(2)
    for name, array in one.arrays().items():
        assert np.array_equal(array, two.arrays()[name]), name


def test_the_clock_stands_still_while_a_kernel_is_compiled() -> None:
    def kernel(start: float) -> Any:
        @jit
        def total(numbers: np.ndarray) -> float:
            done = start
            for k in range(len(numbers)):
                done += numbers[k]
            return done

        return total

    now = float(time.time_ns() % 10**12)  # kernels with this constant are in no cache
    numbers = np.arange(4.0)
    prepare(kernel(now), numbers)  # what Numba itself loads at first is no compiling
    total = kernel(now + 1.0)
    before, on_the_wall = clock(), time.perf_counter()
    prepare(total, numbers)
    passed, on_the_wall = clock() - before, time.perf_counter() - on_the_wall
    assert passed < on_the_wall / 2
    assert total(numbers) == now + 7.0
    assert len(total.signatures) == 1


def test_long_compiling_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(jit_module, "say", said.append)

    def compile_two(number: float) -> None:
        @jit(inner=True)
        def add(x: float) -> float:
            return x + number

        @jit(inner=True)
        def subtract(x: float) -> float:
            return x - number

        @jit
        def nothing(x: float) -> float:
            return subtract(add(x))

        assert nothing(0.0) == 0.0

    now = float(time.time_ns() % 10**12)  # kernels with this constant are in no cache
    compile_two(now)
    assert said == []  # it was short
    monkeypatch.setattr(jit_module, "FIRST_SECONDS", -1.0)
    compile_two(now + 1.0)
    assert [line.split(";")[0] for line in said] == ["compiling"]


def test_a_run_loads_its_kernels_before_its_first_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, step = [], Solver.step

    def recorded(solver: Solver, n: int) -> None:
        asked.append(n)
        step(solver, n)

    monkeypatch.setattr(Solver, "step", recorded)
    cp.solve("kuhn", "mccfr", iterations=5)
    assert asked[0] == 0
    assert sum(asked) == 5


@pytest.mark.slow
def test_seconds_in_a_fresh_cache(tmp_path: Path) -> None:
    """The limit holds for playing, however long the kernels take to compile."""
    strengths()
    (tmp_path / "store").symlink_to(cache_root() / "store")
    text = """
import json, counterplay as cp
run = cp.solve("holdem(buckets=10)", "mccfr-public", seconds=2)
print(json.dumps([run.iterations, run.seconds, run.too_few]))
"""
    iterations, seconds, too_few = _python(text, COUNTERPLAY_CACHE=str(tmp_path))
    assert iterations > 20
    assert 1.5 < seconds < 3.5
    assert too_few is None
