"""A pool whose workers share no memory: packed changes, the same bits however a run is cut, what a
round adds up to. The workers are in this process; `tests/cluster/` has them on a cluster."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel import ray_cluster, ray_workers
from counterplay.core.parallel.changes import (
    SLOTS,
    ChangedRows,
    PackedChanges,
    add_packed,
    add_rows,
    changed_rows,
    pack,
    unpack,
)
from counterplay.core.parallel.pool import LEAST
from counterplay.core.parallel.remote_worker import LocalWorkers, sum_tree
from counterplay.core.solvers.algorithms import new_solver

LOCAL: dict[str, Any] = {"pool": "local", "workers": 2}
SOLVERS: dict[str, dict[str, Any]] = {
    "mccfr": {},
    "mccfr-external": {},
    "mccfr-chance": {},
    "mcts": {"c": 13.0, "simulation": "random"},
}


@given(seed=st.integers(0, 2**32), n=st.integers(0, 200), c=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_packed_rows_are_the_rows(seed: int, n: int, c: int) -> None:
    rng = np.random.default_rng(seed)
    planes = [rng.normal(size=(n, c)) * (rng.random((n, 1)) < 0.3) for _ in range(3)]
    rows = [changed_rows(plane) for plane in planes]
    for plane, result in zip(planes, rows, strict=True):
        again = unpack(pack(result))
        assert np.array_equal(again.rows, result.rows)
        assert np.array_equal(again.values, result.values)
        dense = np.zeros_like(plane)
        dense[again.rows] = again.values
        assert np.array_equal(dense, plane)
    total = np.zeros((n, c))
    summed: ChangedRows = add_rows(rows)
    total[summed.rows] = summed.values
    assert np.array_equal(total, (planes[0] + planes[1]) + planes[2])


def test_only_what_changed_is_sent() -> None:
    plane = np.zeros((100_000, 2))
    plane[::1_000] = 1.5
    assert pack(changed_rows(plane)).n_bytes < 500


def test_a_tree_of_sums_has_one_shape() -> None:
    observed: list[tuple[int, ...]] = []

    def add(parts: Any) -> tuple[int, ...]:
        observed.append(tuple(len(part) for part in parts))
        return tuple(k for part in parts for k in part)

    assert sum_tree([(k,) for k in range(9)], add) == tuple(range(9))
    assert observed == [(1, 1, 1, 1), (1, 1, 1, 1), (4, 4, 1)]
    planes = [pack(changed_rows(np.full((3, 1), float(k)))) for k in range(1, 4)]
    total = add_packed([PackedChanges({SLOTS: plane}) for plane in planes])
    assert unpack(total.planes[SLOTS]).values.tolist() == [[6.0]] * 3


@pytest.mark.parametrize("name", SOLVERS)
def test_same_bits_however_it_is_cut(name: str, tmp_path: Path) -> None:
    options = {**SOLVERS[name], **LOCAL}
    n = 400 if name == "mccfr-chance" else 6_000
    whole = cp.solve("leduc", name, iterations=n, seed=1, measure_every=n, **options)
    assert whole.parameters["workers"] == 2
    half = cp.solve(
        "leduc", name, iterations=2 * n // 3, seed=1, measure_every=n // 7, folder=tmp_path / "run",
        **options,
    )  # fmt: skip
    assert half.iterations == 2 * n // 3
    resumed = cp.resume(tmp_path / "run", iterations=n)
    assert resumed._solver._pool.threads == 2
    assert not resumed._solver._pool._sync[1]
    for key, array in whole._solver.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[key]), key
    assert np.array_equal(whole.strategy.probabilities, resumed.strategy.probabilities)


@pytest.mark.parametrize("name", SOLVERS)
def test_it_converges_like_threads(name: str) -> None:
    n = 2_000 if name == "mccfr-chance" else 60_000
    gaps = [
        cp.solve("leduc", name, iterations=n, seed=1, **SOLVERS[name], **who).exploitability
        for who in ({}, LOCAL)
    ]
    assert gaps[1] < 1.5 * gaps[0]


def test_threads_inside_a_worker_count_like_workers() -> None:
    """Two workers of two threads are four threads; so are four workers, with the same bits."""
    result = []
    for workers, threads in ((4, 1), (2, 2)):
        solver = new_solver(
            cp.load("goofspiel(5)"), "mccfr-external", 3,
            {"pool": "local", "workers": workers, "threads": threads},
        )  # fmt: skip
        solver.step(6_000)
        assert not solver._pool._sync[1]
        result.append(solver)
    one, two = (solver.arrays() for solver in result)
    for key in ("regret", "threads.rng"):
        np.testing.assert_allclose(one[key], two[key], rtol=1e-9, atol=1e-9)
    assert np.array_equal(one["threads.rng"], two["threads.rng"])


def test_every_sample_counts_once() -> None:
    """A round of one worker is what the same iterations give alone."""
    game = cp.load("leduc")
    alone = new_solver(game, "mccfr-external", 1, {})
    remote = new_solver(game, "mccfr-external", 1, {"pool": "local", "workers": 1})
    for solver in (alone, remote):
        solver.step(3_000)
    assert not remote._pool._sync[1]
    np.testing.assert_allclose(remote.weights(), alone.weights(), rtol=1e-9)


@pytest.mark.parametrize("algorithm", [pytest.param("mcrnr", marks=pytest.mark.slow), "mcdbr"])
def test_responses_by_workers(algorithm: str) -> None:
    game = cp.load("leduc")
    model = cp.Strategy.uniform(game)
    answers = [
        cp.respond(
            game, model, player=0, p=0.5, algorithm=algorithm, iterations=6_000, seed=2, **who
        )
        for who in ({}, LOCAL)
    ]
    one, two = (answer.exploitation for answer in answers)
    assert two == pytest.approx(one, abs=0.5)
    assert not np.array_equal(*(a.strategy.probabilities for a in answers))


def test_what_was_learnt_fades_everywhere() -> None:
    solver = new_solver(cp.load("leduc"), "mccfr-external", 1, LOCAL)
    solver.step(4_000)
    before = solver.weights().copy()
    solver.discount(0.5)
    np.testing.assert_allclose(solver.weights(), 0.5 * before)
    solver.step(1_000)
    assert solver.weights().sum() > 0.5 * before.sum()


@pytest.mark.parametrize(
    ("name", "n"),
    [("mccfr-external", 4_000), pytest.param("mccfr-public", 60, marks=pytest.mark.slow)],
)
def test_hands_of_holdem_by_workers(name: str, n: int) -> None:
    """The deck as each thread left it is kept; whole tables of the public walk are sent."""
    game = cp.load("holdem(buckets=10)")
    whole = new_solver(game, name, 1, LOCAL)
    whole._pool._sync[1] = 0  # at once, since this game has many information sets
    cut = new_solver(game, name, 1, LOCAL)
    cut._pool._sync[1] = 0
    whole.step(n)
    cut.step(n // 3)
    cut.weights()
    cut.step(n - n // 3)
    assert np.array_equal(whole.weights(), cut.weights())
    assert whole.weights().any()


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        (
            "cfr+",
            {"pool": "ray"},
            "traverses the whole game, and a worker pool is for solvers",
        ),
        ("mccfr", {"pool": "roy"}, "pool must be threads or ray, not 'roy'"),
        ("mccfr", {"pool": "local", "workers": -1}, "workers must be a whole number from 1"),
        ("mccfr", {"pool": "local", "workers": 2.0}, "workers must be a whole number from 1"),
        ("mccfr", {"workers": 2}, "workers and sync_interval are for pool=ray"),
        (
            "mccfr",
            {"pool": "local", "sync_interval": 0},
            "sync_interval must be above 0 and at most 1",
        ),
        ("mccfr", {"pool": "local", "workers": 40}, "too few for 40 threads; use at most 2"),
    ],
)
def test_bad_options_are_refused(algorithm: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        cp.solve("leduc", algorithm, iterations=1, **options)


def test_a_remote_pool_takes_no_device() -> None:
    with pytest.raises(BadParameter, match="leave out backend"):
        cp.solve("holdem(buckets=10)", "mccfr-public", iterations=1, backend="cuda", **LOCAL)


@pytest.mark.parametrize("workers", [128, pytest.param(4_096, marks=pytest.mark.slow)])
def test_more_workers_than_one_process_has_threads(workers: int) -> None:
    """Rounds and merges of all, here one after the other."""
    game = cp.load("goofspiel(3,tree=False)")
    solver: Any = new_solver(game, "mccfr-external", 3, {"pool": "local", "workers": workers})
    solver.step(3 * LEAST * workers)
    assert int(solver._pool._sync[3]) >= 1  # rounds of all
    assert len({tuple(rng) for rng in solver._pool._rng.tolist()}) == workers
    strategy = solver.strategy().on(cp.load("goofspiel(3)"))
    assert cp.exploitability("goofspiel(3)", strategy) < 0.2


def test_too_many_workers_or_threads() -> None:
    with pytest.raises(BadParameter, match="from 1 to 64"):
        cp.solve("goofspiel(3,tree=False)", "mccfr", iterations=1, threads=65)
    with pytest.raises(BadParameter, match="from 1 to 10,000"):
        new_solver(cp.load("goofspiel(3,tree=False)"), "mccfr", 1, {**LOCAL, "workers": 10_001})


@pytest.mark.parametrize(("threads", "workers"), [(1, 2), (2, 1)])
def test_a_cluster_gives_a_game_as_many_workers_as_it_takes(
    monkeypatch: pytest.MonkeyPatch, threads: int, workers: int
) -> None:
    """Leduc poker takes two threads; the cluster has 64 processors, and no number was given."""
    cluster = SimpleNamespace(processors=64, check_room=lambda *_: None)
    monkeypatch.setattr(ray_cluster, "connect", lambda: cluster)
    monkeypatch.setattr(ray_workers, "RayWorkers", lambda _: LocalWorkers())
    run = cp.solve("leduc", "mccfr", iterations=10, pool="ray", threads=threads)
    assert run.parameters["workers"] == workers
