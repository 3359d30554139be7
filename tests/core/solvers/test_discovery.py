"""Tables that grow while a game is played: growth, threads, files and the end of memory change no
bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.discovered import GAME, MANY, SOLVERS, same

import counterplay as cp
from counterplay.core.base.errors import OutOfMemory
from counterplay.core.forms import infoset_table as tables_of
from counterplay.core.solvers import hash_tables
from counterplay.core.solvers.algorithms import new_solver


def solver(name: str, threads: int = 1, seed: int = 3, game: str = GAME) -> Any:
    return new_solver(cp.load(game), name, seed, {"threads": threads} if threads > 1 else {})


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SOLVERS)
def test_growth_changes_no_bit(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small, steps = [], 25 * MANY[name]
    for least in (8, 1 << 15):
        for module in (hash_tables, tables_of):
            monkeypatch.setattr(module, "MIN_CELLS", least)
        one = solver(name, threads)
        one.step(steps)
        small.append(one)
    same(*small)


@pytest.mark.parametrize("name", SOLVERS)
def test_threads_give_the_same_bits_however_they_are_cut(name: str) -> None:
    one, two, n = solver(name, 2), solver(name, 2), 25 * MANY[name]
    one.step(n)
    for part in (n // 3, 0, n // 5, n - n // 3 - n // 5):
        two.step(part)
    same(one, two)
    assert one.arrays()["sync"][1] == 0  # both have played
    assert cp.exploitability("goofspiel(4)", one.strategy()) < cp.exploitability(
        "goofspiel(4)", cp.Strategy.uniform("goofspiel(4)")
    )


def by_key(worker: Any) -> dict[Any, Any]:
    """What a worker knows: key -> regrets and visits."""
    infosets = hash_tables.infosets_of(worker)
    keys, first = tables_of.keys_of(infosets), infosets.first
    return {
        int(keys[i, 0]): (
            worker.tables.regret[first[i] : first[i + 1]].tolist(),
            int(worker.tables.last_visit[i]),
        )
        for i in range(len(keys))
    }


def test_what_threads_discovered_is_merged_by_key() -> None:
    """One numbering for all: nothing is lost, and entries that a worker never visited are empty."""
    one = solver("mccfr", 2)
    one.step(10_000)
    one._pool.run(one, one.iterations, 7)  # some that are new to one of them
    before = [by_key(worker) for worker in one._pool.workers]
    assert one.align()
    after = [by_key(worker) for worker in one._pool.workers]
    assert list(after[0]) == list(after[1])
    assert list(after[0])[: len(before[0])] == list(before[0])
    for old, new in zip(before, after, strict=True):
        for key, (regret, visit) in new.items():
            assert (regret, visit) == old.get(key, ([0.0] * len(regret), 0))


def test_room_that_was_made_stays() -> None:
    """As after threads that discovered the same have synchronised: all tables keep fitting."""
    one = solver("mcts")
    (worker,) = one._pool.workers
    one.step(50)
    assert one.hash_tables.make_room(worker, sets=5_000)
    large = [array.shape for array in worker.tables]
    assert one.hash_tables.make_room(worker)
    assert [array.shape for array in worker.tables] == large
    assert len(hash_tables.infosets_of(worker).first) - 1 == len(worker.tables.spread)


@pytest.mark.parametrize("more", [{"sets": 3_000}, {"slots": 9_000}])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_mean_has_as_much_room_as_tables(name: str, more: dict[str, int]) -> None:
    """Also where only what there is for each information set has grown, or for each slot."""
    one = solver(name, 2)
    one.new_mean()
    for worker in one._pool.workers:
        assert one.hash_tables.make_room(worker, **more)
    tables, mean = one._pool.workers[0].tables, one.new_mean()
    arrays = [tables.regret] if name != "mcts" else tables
    for array, room in zip(arrays, [mean] if name != "mcts" else mean, strict=True):
        assert array.shape == room.shape


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SOLVERS)
def test_runs_go_on_bit_for_bit(name: str, threads: int, tmp_path: Path) -> None:
    n = 20 * MANY[name]
    options = {"threads": threads} if threads > 1 else {}
    cp.solve(GAME, name, iterations=n // 2, seed=3, folder=tmp_path / "run", **options)
    again = cp.resume(tmp_path / "run", iterations=n)
    whole = cp.solve(GAME, name, iterations=n, seed=3, **options)
    same(again._solver, whole._solver)
    assert cp.Strategy.load(tmp_path / "run").table() == whole.strategy.table()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_end_of_memory_loses_nothing(
    name: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops with what was learnt, in the middle of an iteration too, and goes on where
    there is more as if there had always been."""
    n = 20 * MANY[name]
    options = {"threads": threads} if threads > 1 else {}
    for module in (hash_tables, tables_of):
        monkeypatch.setattr(module, "MIN_CELLS", 64)
    with monkeypatch.context() as little:
        little.setenv("COUNTERPLAY_MEMORY_GB", "0.000015")
        with pytest.warns(UserWarning, match="no memory for more"):
            short = cp.solve(GAME, name, iterations=n, seed=3, folder=tmp_path / "run", **options)
    assert short.stopped_by == "memory"
    assert short.iterations < n
    again = cp.resume(tmp_path / "run", iterations=n)
    whole = cp.solve(GAME, name, iterations=n, seed=3, **options)
    same(again._solver, whole._solver)


def test_what_memory_allows_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and as large a strategy of them take most of 8 MB, however far from a power of two; a
    run that ended there can be gone on with there."""
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.008")
    with pytest.warns(UserWarning, match="no memory for more"):
        run = cp.solve("goofspiel(7,tree=False)", "mccfr", seconds=60, folder=tmp_path / "run")
    solver = run._solver
    (worker,) = solver._pool.workers
    tables = (*worker.tables, *hash_tables.infosets_of(worker)[:2])
    assert 3.2e6 < sum(table.nbytes for table in tables) < 8e6
    sets = len(worker.tables.last_visit)
    assert sets & (sets - 1)
    with pytest.warns(UserWarning, match="no memory for more"):
        again = cp.resume(tmp_path / "run", seconds=60)
    assert again.iterations >= run.iterations
    assert again.stopped_by == "memory"


def test_lower_bounds_make_do_with_the_memory_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    game = cp.load("goofspiel(7,tree=False)")
    weak = cp.solve(game, "mccfr", iterations=2_000, seed=1).strategy
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.002")
    bound = cp.exploitability(game, weak, "play", iterations=10**9, seeds=1, games=20_000)
    assert bound.iterations < 10**6
    assert 0.3 < bound < 2.0


def test_a_solver_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    one = solver("mccfr", game="goofspiel(5,tree=False)")
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.00001")
    with pytest.raises(OutOfMemory, match="information sets are discovered"):
        one.step(100_000)
    assert 0 < one.iterations < 100_000


@pytest.mark.parametrize("name", ["mccfr-chance", "cfr+", "lp"])
def test_solvers_that_need_a_list_refuse(name: str) -> None:
    with pytest.raises(cp.CounterplayError) as error:
        cp.solve(GAME, name, iterations=2)
    assert "mccfr-public" not in str(error.value)  # it needs a list too


@pytest.mark.parametrize("algorithm", ["mcrnr", pytest.param("mcdbr", marks=pytest.mark.slow)])
def test_responses_have_the_bits_of_the_tree(algorithm: str, tmp_path: Path) -> None:
    """Also after being saved and gone on with."""
    tree, discovered = cp.load("goofspiel(3)"), cp.load("goofspiel(3,tree=False)")
    model = cp.Strategy.random(tree, 4)
    ask: dict[str, Any] = {"player": 1, "p": 0.6, "algorithm": algorithm, "seed": 1}
    one = cp.respond(tree, model, iterations=2_000, engine="mccfr", **ask)
    folder = tmp_path / "mine"
    cp.respond(
        discovered, model.on(discovered), iterations=1_000, engine="mccfr", folder=folder, **ask
    )
    two = cp.resume_response(folder, iterations=2_000)
    assert np.array_equal(two.strategy.on(tree).probabilities, one.strategy.probabilities)
    assert two.strategy.player == 1


@pytest.mark.slow  # the command line's match is a quick one
def test_matches_have_the_bits_of_the_tree() -> None:
    tree, discovered = cp.load("goofspiel(3)"), cp.load("goofspiel(3,tree=False)")
    a, b = cp.Strategy.random(tree, 1), cp.Strategy.random(tree, 2)
    one = cp.play_match(tree, a, b, hands=2_000, seed=5)
    two = cp.play_match(discovered, a.on(discovered), b.on(discovered), hands=2_000, seed=5)
    assert (one.mean, one.standard_error, one.by_seat) == (
        two.mean,
        two.standard_error,
        two.by_seat,
    )


def test_a_match_needs_strategies_of_its_game() -> None:
    tree, discovered = cp.load("goofspiel(3)"), cp.load("goofspiel(3,tree=False)")
    a = cp.Strategy.random(tree, 1)
    with pytest.raises(cp.CounterplayError, match="carries it over"):
        cp.play_match(discovered, a, a, hands=100)
