"""A pool whose workers share no memory, in a game whose information sets are discovered while
playing: they are merged by key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.discovered import GAME, MANY, SOLVERS, same

import counterplay as cp
from counterplay.core.base.errors import OutOfMemory
from counterplay.core.forms import infoset_table as tables_of
from counterplay.core.parallel.changes import (
    SETS,
    SLOTS,
    Changes,
    NewInfosets,
    add_changes,
    changed_rows,
    pack_changes,
    unpack_changes,
)
from counterplay.core.solvers import hash_tables
from counterplay.core.solvers.algorithms import new_solver

LOCAL: dict[str, Any] = {"pool": "local", "workers": 2}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that have to grow."""
    for module in (hash_tables, tables_of):
        monkeypatch.setattr(module, "MIN_CELLS", 16)


def solver(name: str, workers: int = 2, **options: Any) -> Any:
    return new_solver(cp.load(GAME), name, 3, {"pool": "local", "workers": workers, **options})


def test_what_was_found_is_added_by_key() -> None:
    """Beside sums in a dictionary: rows of the last synchronisation by number, new ones by key."""
    rng = np.random.default_rng(1)
    old_sets, old_slots = 5, 12
    parts, expected = [], {}
    for _ in range(3):
        keys = rng.permutation(20)[:8].astype(np.uint64)
        counts = 1 + keys.astype(np.int64) % 3
        slots = rng.normal(size=(old_slots + int(counts.sum()), 2))
        slots *= rng.random((len(slots), 1)) < 0.7
        sets = rng.integers(0, 2, (old_sets + len(keys), 1)).astype(float)
        names = [("old", k, 0) for k in range(old_slots)]
        names += [
            ("new", int(key), a) for key, n in zip(keys, counts, strict=True) for a in range(n)
        ]
        marks = [("set", k) for k in range(old_sets)] + [("set", f"new {key}") for key in keys]
        for name, row in zip([*names, *marks], [*slots, *sets], strict=True):
            expected[name] = expected.get(name, 0.0) + row
        planes = {SLOTS: changed_rows(slots), SETS: changed_rows(sets)}
        new = NewInfosets(old_sets, old_slots, keys[:, None], counts)
        parts.append(unpack_changes(pack_changes(Changes(planes, new))))
    total, _ = add_changes(parts)
    assert total.new is not None
    keys = total.new.keys[:, 0]
    order = list(dict.fromkeys(int(k) for part in parts for k in part.new.keys[:, 0]))
    assert keys.tolist() == order
    names = [("old", k, 0) for k in range(old_slots)]
    names += [
        ("new", int(key), a)
        for key, n in zip(keys, total.new.counts, strict=True)
        for a in range(n)
    ]
    marks = [("set", k) for k in range(old_sets)] + [("set", f"new {key}") for key in keys]
    for plane, labels in ((SLOTS, names), (SETS, marks)):
        rows, values = total.planes[plane]
        dense = np.zeros((len(labels), values.shape[1]))
        dense[rows] = values
        assert np.array_equal(dense, np.array([expected[label] for label in labels]))


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] if k else []) for k, x in enumerate(SOLVERS)]
)
def test_same_bits_however_it_is_cut(name: str, tmp_path: Path) -> None:
    """Stopped, looked at in the middle of a round, saved and gone on with."""
    n = 25 * MANY[name]
    whole = cp.solve(GAME, name, iterations=n, seed=3, measure_every=n, **LOCAL)
    cut = cp.solve(GAME, name, iterations=n // 3, seed=3, folder=tmp_path / "run", **LOCAL)
    assert cut._solver._pool.threads == 2
    resumed = cp.resume(tmp_path / "run", iterations=2 * n // 3)
    resumed._solver.step(n // 7)
    resumed._solver.strategy()
    resumed._solver.step(n - 2 * n // 3 - n // 7)
    same(whole._solver, resumed._solver)
    assert not whole._solver._pool._sync[1]
    assert whole.strategy.table() == resumed._solver.strategy().table()
    tree = cp.load("goofspiel(4)")
    assert cp.exploitability(tree, whole.strategy) < cp.exploitability(
        tree, cp.Strategy.uniform(tree)
    )


def weights_by_key(one: Any) -> dict[int, list[float]]:
    keys, counts, (tables,) = one.hash_tables.merged(one._pool.playing)
    first = np.concatenate([[0], np.cumsum(counts)])
    sums = tables.strategy_sum
    return {int(keys[i, 0]): sums[first[i] : first[i + 1]].tolist() for i in range(len(keys))}


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external"])
def test_every_sample_counts_once(name: str) -> None:
    """A round of one worker is what the same iterations give alone, in the middle of it too."""
    alone, remote = new_solver(cp.load(GAME), name, 3, {}), solver(name, workers=1)
    for one in (alone, remote):
        one.step(24 * MANY[name] + 11)
    assert not remote._pool._sync[1]
    expected, actual = weights_by_key(alone), weights_by_key(remote)
    assert list(actual) == list(expected)
    for key, sums in expected.items():
        np.testing.assert_allclose(actual[key], sums, rtol=1e-9)


def test_threads_inside_a_worker_count_like_workers() -> None:
    """With one numbering: thread by thread."""
    solvers = [solver("mccfr", 4), solver("mccfr", 2, threads=2)]
    for one in solvers:
        one.step(12_000)
        assert not one._pool._sync[1]
    one, two = (each.arrays() for each in solvers)
    for key in ("keys", "counts", "threads.rng", "threads.last_visit"):
        assert np.array_equal(one[key], two[key]), key
    np.testing.assert_allclose(one["regret"], two["regret"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external"])
def test_the_end_of_memory_loses_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a round, which is begun anew where there is more."""
    n = 25 * MANY[name]
    whole, short = solver(name), solver(name)
    whole.step(n)
    short.step(2 * n // 3)
    with monkeypatch.context() as little:
        little.setattr(hash_tables.HashTables, "_allowed", lambda self, worker, room: False)
        with pytest.raises(OutOfMemory, match="no memory for more"):
            short.step(n - short.iterations)
        assert len(short.strategy()) > 100
    assert 2 * n // 3 <= short.iterations < n
    short.step(n - short.iterations)
    same(short, whole)


@pytest.mark.slow  # the cluster's tests have one too
def test_responses_by_workers() -> None:
    """A model by key goes along, and believing another one."""
    game = cp.load("goofspiel(4,tree=False)")
    model = cp.solve(game, "mccfr", iterations=500).strategy
    ask: dict[str, Any] = {"player": 0, "p": 0.5, "algorithm": "mcrnr", "seed": 2}
    tree = cp.load("goofspiel(4)")
    one, two = (
        cp.respond(game, model, iterations=12_000, **ask, **who).strategy for who in ({}, LOCAL)
    )
    gains = [cp.expected_value(tree, each.on(tree))[0] for each in (one, two)]
    assert gains[1] == pytest.approx(gains[0], abs=0.3)
    assert one.table() != two.table()
