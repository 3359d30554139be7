"""Several threads: the same bits however a run is cut, and counts that add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.pool import (
    LATE,
    LEAST,
    MOST_THREADS,
    VISITS,
    WARM_UP,
    mean_of,
    most_threads,
)
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.mcts import bound_width, mean_of_visits

SOLVERS = ("mccfr", "mccfr-external", "mcts")
OPTIONS: dict[str, dict[str, Any]] = {"mcts": {"c": 13.0}}
#: Past several synchronisations, and not at one.
ITERATIONS = 4_321
#: Iterations of two threads between two synchronisations, at least.
FIRST = 2 * LEAST


def solver(name: str, threads: int = 2, game: str = "leduc", seed: int = 1, **more: Any) -> Any:
    return new_solver(
        cp.load(game), name, seed, {**OPTIONS.get(name, {}), "threads": threads, **more}
    )


def same_state(one: Any, two: Any) -> None:
    first, second = one.arrays(), two.arrays()
    assert first.keys() == second.keys()
    for key in first:
        assert np.array_equal(first[key], second[key]), key
    assert np.array_equal(one.policy(), two.policy())


# --- when threads synchronise


@pytest.mark.parametrize("name", SOLVERS)
def test_they_synchronise_ever_more_rarely(name: str) -> None:
    """The first plays warming_up for a few visits of each information set; then a share of the
    iterations so far, up to a few visits by each, then a smaller one."""
    one = solver(name)
    syncs, warming_up, visits = [LEAST], [1], [0.0]
    while one.iterations < 60_000:
        one.step(syncs[-1] - one.iterations)
        number, first = one.arrays()["sync"].tolist()
        syncs.append(number)
        warming_up.append(first)
        visits.append(one.nodes_touched / one.game.n_infosets)
    gaps, done = np.diff(syncs), np.array(syncs[:-1])
    merged = np.array(warming_up[1:]) == 0
    assert gaps.min() >= LEAST
    assert gaps[merged].min() >= FIRST
    assert np.all(gaps[merged] % 2 == 0)  # as many iterations for both
    assert np.array_equal(merged, np.array(visits[1:]) >= WARM_UP)
    assert np.all(gaps[merged] <= np.maximum(one.early * done[merged], FIRST))
    between = gaps * visits[-1] / one.iterations
    assert np.all((between < 1.2 * 2 * VISITS) | (gaps <= LATE * done))
    assert np.all(gaps[~merged] <= done[~merged])


@pytest.mark.parametrize("threads", [2, 8])
def test_many_threads_synchronise_after_as_many_visits_of_each(threads: int) -> None:
    """So that a synchronisation, which takes longer the more threads there are, stays a small share
    of their time."""
    one = solver("mccfr", threads, "bluff(1,1,6)")
    nodes = 500
    one.play = lambda worker, done, n, stride, scale: n * nodes
    wanted, gaps = VISITS * threads, []
    scale = nodes / one.game.n_infosets  # visits of an information set in an iteration
    while (visits := one.iterations * scale) < 0.5 * wanted / LATE:
        sync = int(one.arrays()["sync"][0])
        one.step(sync - one.iterations)
        if visits > 1.1 * wanted / one.early:
            gaps.append((int(one.arrays()["sync"][0]) - sync) * scale)
    assert len(gaps) > 20
    assert gaps == pytest.approx([wanted] * len(gaps), rel=0.05)


def test_cores() -> None:
    assert cores() >= 1


# --- the same bits


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("threads", [2, 3])
def test_steps_of_any_size_give_the_same_bits(name: str, threads: int) -> None:
    whole, cut = (solver(name, threads, "bluff(1,1,5)") for _ in range(2))
    whole.step(ITERATIONS)
    sizes = np.random.default_rng(3)
    while cut.iterations < ITERATIONS:
        cut.step(min(int(sizes.integers(0, 4_000)), ITERATIONS - cut.iterations))
        if cut.iterations % 3 == 0:
            cut.policy()  # looking changes nothing
    same_state(whole, cut)
    assert whole.nodes_touched == cut.nodes_touched


@pytest.mark.parametrize("name", SOLVERS)
def test_cut_exactly_at_and_around_a_merge(name: str) -> None:
    whole, cut = solver(name), solver(name)
    whole.step(2 * FIRST + 1)
    for n in (FIRST - 1, 1, 0, 1, FIRST - 1, 0, 1):
        cut.step(n)
    same_state(whole, cut)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("cut_at", [4_321, FIRST, FIRST + 1, 2 * FIRST + 77])
def test_run_folder_and_resume(name: str, cut_at: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {**OPTIONS.get(name, {}), "threads": 2, "seed": 5}
    whole = cp.solve("leduc", name, iterations=ITERATIONS, measure_every=ITERATIONS, **options)
    cp.solve(
        "leduc", name, iterations=cut_at, measure_every=1_777, folder=tmp_path / "run", **options
    )
    saved = cp.Strategy.load(tmp_path / "run")
    at_cut = cp.solve("leduc", name, iterations=cut_at, **options)
    assert np.array_equal(saved.probabilities, at_cut.strategy.probabilities)
    resumed = cp.resume(tmp_path / "run", iterations=ITERATIONS, measure_every=3_001)
    same_state(whole._solver, resumed._solver)
    assert np.array_equal(whole.strategy.probabilities, resumed.strategy.probabilities)
    assert np.array_equal(
        cp.Strategy.load(tmp_path / "run").probabilities, whole.strategy.probabilities
    )
    assert resumed.parameters["threads"] == 2
    assert resumed.exploitability == whole.exploitability


@pytest.mark.parametrize("name", SOLVERS)
def test_one_thread_is_the_default(name: str) -> None:
    default = cp.solve("leduc", name, iterations=12_345, seed=2)
    one = cp.solve("leduc", name, iterations=12_345, seed=2, threads=1)
    same_state(default._solver, one._solver)
    assert default.parameters == one.parameters


@pytest.mark.parametrize("name", SOLVERS)
def test_threads_draw_different_numbers(name: str) -> None:
    """Two threads are not the same thread twice, nor one thread."""
    two = solver(name)
    two.step(12_000)
    arrays = two.arrays()
    assert not np.array_equal(arrays["rng"], arrays["rng.1"])
    main = "stats" if name == "mcts" else "strategy_sum"
    assert not np.array_equal(arrays[main], arrays[f"{main}.1"])
    one = solver(name, 1)
    one.step(12_000)
    assert not np.array_equal(one.policy(), two.policy())
    other = solver(name, seed=2)
    other.step(12_000)
    assert not np.array_equal(other.policy(), two.policy())


def test_a_run_of_other_threads_is_not_mixed_in(tmp_path: Path) -> None:
    cp.solve("leduc", "mccfr", iterations=100, threads=2, folder=tmp_path / "run")
    text = (tmp_path / "run" / "config.json").read_text()
    assert '"threads": 2' in text
    (tmp_path / "run" / "config.json").write_text(text.replace('"threads": 2', '"threads": 3'))
    with pytest.raises(cp.CounterplayError):
        cp.resume(tmp_path / "run", iterations=200)


@pytest.mark.parametrize("algorithm", ["mcrnr", "mcdbr"])
def test_responses_take_threads(algorithm: str, tmp_path: Path) -> None:
    game = cp.load("leduc")
    arguments: dict[str, Any] = {"seed": 3, "threads": 2}
    model = cp.Strategy.random(game, 1)
    whole = cp.respond(game, model, None, 0.5, algorithm, iterations=15_000, **arguments)
    cp.respond(
        game, model, None, 0.5, algorithm, iterations=7_000, folder=tmp_path / "run", **arguments
    )
    resumed = cp.resume_response(tmp_path / "run", iterations=15_000)
    assert np.array_equal(whole.strategy.probabilities, resumed.strategy.probabilities)


# --- refusals


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("threads", [0, -1, 1.0, 2.5, True, "2", None, MOST_THREADS + 1])
def test_bad_numbers_of_threads(name: str, threads: Any) -> None:
    with pytest.raises(BadParameter, match="threads"):
        cp.solve("kuhn", name, iterations=10, threads=threads)


@pytest.mark.parametrize(("game", "threads"), [("kuhn", 2), ("leduc", 3), ("pam(3,3,8)", 2)])
def test_games_too_small_for_threads(game: str, threads: int) -> None:
    assert most_threads(cp.load(game)) == threads - 1
    with pytest.raises(BadParameter, match=f"too few for {threads} threads"):
        cp.solve(game, "mcts", iterations=10, threads=threads)


def test_the_linear_program_has_no_threads() -> None:
    with pytest.raises(BadParameter, match="no option 'threads'"):
        cp.solve("kuhn", "lp", iterations=1, threads=2)


# --- nothing is lost


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [7, FIRST, ITERATIONS, 20_123])
def test_visits_of_tree_search_add_up(threads: int, n: int) -> None:
    """A game visits one slot at each decision, whether or not threads have synchronised since."""
    search = solver("mcts", threads)
    search.step(n)
    visits = search.weights()
    assert np.all(visits == np.rint(visits))
    assert visits.sum() == search.nodes_touched - n  # all nodes touched but the ends
    values = search.copies[0].stats[:, 1]
    assert np.all(np.abs(values) <= 13.0 + 1e-9)  # averages of Leduc's payoffs


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external"])
def test_all_go_on_from_the_mean_in_which_every_sample_counts_once(name: str) -> None:
    two = solver(name)
    while two.arrays()["sync"][1]:
        two.step(int(two.arrays()["sync"][0]) - two.iterations)
    two.step(int(two.arrays()["sync"][0]) - two.iterations)
    one, other = two.copies
    assert np.array_equal(one.regret, other.regret)
    assert not np.array_equal(one.strategy_sum, other.strategy_sum)  # each keeps its own
    before, sync = one.regret.copy(), int(two.arrays()["sync"][0])
    two.step(sync - two.iterations - 1)
    assert not np.array_equal(one.regret, other.regret)
    np.testing.assert_array_equal(two.weights(), one.strategy_sum + other.strategy_sum)
    assert not np.array_equal(one.regret, before)
    two.step(1)
    assert np.array_equal(one.regret, other.regret)


def test_a_run_gives_every_thread_as_many_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the last call: of an uneven number some threads would wait for others."""
    calls: list[int] = []
    step = Solver.step
    monkeypatch.setattr(Solver, "step", lambda self, n: [calls.append(n), step(self, n)])
    cp.solve("leduc", "mccfr", threads=2, iterations=3_001, seed=1)
    assert len(calls) > 5
    assert sum(calls) == 3_001
    assert all(n % 2 == 0 for n in calls[:-1])


def test_mean_of_copies() -> None:
    """In blocks, parts and at the edges; what is equal keeps its bits, also where thirds are not
    exact."""
    rng = np.random.default_rng(1)
    copies = tuple(rng.normal(size=1_000) for _ in range(3))
    for copy in copies[1:]:
        copy[300:900] = copies[0][300:900]
    mean = np.full(1_000, 7.0)
    mean_of(copies, 10, 700, mean)
    np.testing.assert_allclose(mean[10:300], np.mean(copies, axis=0)[10:300], atol=1e-15)
    assert np.array_equal(mean[300:700], copies[0][300:700])
    assert np.all(mean[:10] == 7.0)
    assert np.all(mean[700:] == 7.0)


def test_mean_of_visits() -> None:
    """Visits by their mean, rewards by visits, and what is kept of both; what no copy visited
    keeps its bits."""
    rng = np.random.default_rng(2)
    first = np.array([0, 2, 5, 6, 9, 11], dtype=np.int32)
    start = np.empty((11, 3))
    start[:, 0], start[:, 1] = rng.integers(0, 5, 11), rng.normal(size=11)
    start[4, 0] = start[7, 0] = 0.0
    start[start[:, 0] == 0, 1] = 0.0
    with np.errstate(divide="ignore"):
        start[:, 2] = np.sqrt(1.0 / start[:, 0])
    copies = tuple(start.copy() for _ in range(3))
    for k, copy in enumerate(copies):  # information sets 1 and 3; slot 7 by one copy only
        copy[2:5, 0] += 3.0 * (k + 1)
        copy[2:5, 1] = rng.normal(size=3)
    copies[1][7, :2] = 3.0, 0.5
    out, spread, before = np.full((11, 3), 7.0), np.full(5, 7.0), np.full(5, -1.0)
    visits = np.mean([copy[:, 0] for copy in copies], axis=0)
    reward = np.mean([copy[:, 0] * copy[:, 1] for copy in copies], axis=0)
    mean_of_visits(first, 2.0, copies, before, 0, 4, out, spread)
    changed, kept = [2, 3, 4, 7], [0, 1, 5]
    np.testing.assert_allclose(out[changed, 0], visits[changed], atol=1e-15)
    np.testing.assert_allclose(out[changed, 1], (reward / visits)[changed], atol=1e-15)
    np.testing.assert_allclose(out[changed, 2], visits[changed] ** -0.5, atol=1e-15)
    assert np.array_equal(out[kept], start[kept])
    assert np.all(out[9:] == 7.0)
    assert spread.tolist() == [
        -1.0,
        bound_width(2.0, visits[2:5].sum()),
        -1.0,
        bound_width(2.0, visits[6:9].sum()),
        7.0,
    ]


def add_numbers(worker: Any, done: int, n: int, stride: int, scale: float) -> int:
    """A made-up kernel: each iteration adds its number to all regrets, `scale` times."""
    worker.tables.regret[:] += scale * sum(done + 1 + stride * k for k in range(n))
    return n


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_samples_count_once_after_every_synchronisation(threads: int) -> None:
    one = solver("mccfr", threads, "bluff(1,1,5)")
    one.play = add_numbers
    while one.iterations < 80_000:
        one.step(int(one.arrays()["sync"][0]) - one.iterations if threads > 1 else 9_000)
        expected = one.iterations * (one.iterations + 1) / 2
        merged = threads == 1 or one.arrays()["sync"][1] == 0
        assert all(
            np.all(tables.regret == expected)
            for tables in (one.copies if merged else one.copies[:1])
        )
    assert merged


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_every_iteration_is_played_once(threads: int) -> None:
    """`_play` is asked for the numbers 1 .. n, each once, however the run is cut."""
    one = solver("mccfr", threads, "bluff(1,1,5)")
    played: list[int] = []

    def note(worker: Any, done: int, n: int, stride: int, scale: float) -> int:
        played.extend(done + 1 + stride * k for k in range(n))
        return 0

    one.play = note
    for n in (1, 0, 2, 3, 17, 4, FIRST, 1):
        one.step(n)
    assert sorted(played) == list(range(1, one.iterations + 1))


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_chunks_of_a_run_grow(threads: int) -> None:
    """From the first, of an iteration for each thread."""
    reached: list[int] = []
    options = {"threads": threads, "on_chunk": lambda now: reached.append(now.iterations)}
    cp.solve("bluff(1,1,5)", "mccfr", iterations=300_000, seed=1, **options)
    assert reached[-1] == 300_000
    assert len(reached) < 1_000  # a chunk takes a fifth of a second, and there are measurements


# --- an error in one thread


@pytest.mark.parametrize("threads", [2, 4])
def test_an_error_in_one_thread_reaches_the_caller_and_nobody_waits_for_ever(threads: int) -> None:
    one = solver("mccfr", threads, "bluff(1,1,5)")
    one.step(30_000)
    assert one.arrays()["sync"][1] == 0

    def fail(worker: Any, done: int, n: int, stride: int, scale: float) -> int:
        if worker is one._pool.workers[-1]:
            raise MemoryError
        return 0

    one.play = fail
    with pytest.raises((MemoryError, RuntimeError)):
        one.step(10_000)
