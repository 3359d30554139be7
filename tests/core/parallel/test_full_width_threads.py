"""Full width by several threads: the same bits, whoever does what, and one thread where the game is
small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.sequence import SequenceForm, Side, Treeplex, side_from_entries
from counterplay.core.parallel import full_width, partition
from counterplay.core.parallel.full_width import KernelThreads, thread_count
from counterplay.core.parallel.partition import (
    Partition,
    Renumbering,
    partition_form,
    stages_of,
)
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver

FULL_WIDTH = ("cfr", "cfr+", "dcfr", "pcfr+", "egt")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as are asked for, however small the game."""
    monkeypatch.setattr(full_width, "LEAST_WORK", 1)
    monkeypatch.setattr(full_width, "LEAST_REPLY", 1)
    monkeypatch.setattr(full_width, "cores", lambda: 8)


def _random_plex(rng: np.random.Generator) -> Treeplex:
    """Parents first, otherwise as it comes."""
    m = int(rng.integers(1, 60))
    first = np.concatenate([[0], np.cumsum(rng.integers(1, 4, size=m))]).astype(np.int32)
    parent = [int(rng.integers(0, first[i] + 1)) for i in range(m)]
    return Treeplex(np.array(parent, dtype=np.int32), first)


def _random_form(rng: np.random.Generator) -> SequenceForm:
    plexes = [_random_plex(rng), _random_plex(rng)]
    sizes = [int(plex.first[-1]) + 1 for plex in plexes]
    entries = [rng.integers(0, size, size=200) for size in sizes]
    value = rng.normal(size=200)
    return SequenceForm(
        side_from_entries(plexes[0], entries[0], entries[1], value, sizes[1]),
        side_from_entries(plexes[1], entries[1], entries[0], -value, sizes[0]),
    )


def _owners(found: Partition, m: int, threads: int) -> np.ndarray:
    """int[m]: the thread of each information set; -1: the top."""
    owner = np.full(m, -2)
    for row in (0, 1):
        for k in range(threads):
            low, high = found.low[row, k], found.high[row, k]
            assert (owner[low:high] == -2).all()
            owner[low:high] = k if row else -1
            assert row or k == 0 or low == high
    assert (owner > -2).all()
    return owner


@given(seed=st.integers(0, 2**32), threads=st.integers(2, 5), most=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_every_information_set_has_one_thread_and_children_stay_or_leave_the_top(
    seed: int, threads: int, most: int
) -> None:
    form = _random_form(np.random.default_rng(seed))
    before, partition.MOST_SUBTREES = partition.MOST_SUBTREES, most
    try:
        arranged, result, _ = partition_form(form, threads)
    finally:
        partition.MOST_SUBTREES = before
    for side, mine in zip(arranged, result, strict=True):
        m = len(side.parent)
        owner = _owners(mine, m, threads)
        infoset = np.repeat(np.arange(m), np.diff(side.first))
        for i in np.flatnonzero(side.parent):
            above = infoset[side.parent[i] - 1]
            assert above < i
            assert owner[above] in (-1, owner[i])
        assert mine.begins.tolist() == [True, bool((owner == -1).any())]
        assert np.array_equal(mine.ends, np.append(mine.begins[1:], True))


def _same_side(
    side: Side, arranged: Side, order: Renumbering, other: Renumbering, found: Partition
) -> None:
    sequences, his = order.sequences(), other.sequences()
    assert np.array_equal(np.sort(order.infosets), np.arange(len(side.parent)))
    assert np.array_equal(sequences[arranged.parent], side.parent[order.infosets])
    assert {f: getattr(arranged, f).dtype for f in Side._fields} == {
        f: getattr(side, f).dtype for f in Side._fields
    }
    for i, old in enumerate(order.infosets):
        slots = order.slots[arranged.first[i] : arranged.first[i + 1]]
        assert slots.tolist() == list(range(side.first[old], side.first[old + 1]))
    for q, old in enumerate(sequences):
        new, known = (slice(s.row[k], s.row[k + 1]) for s, k in ((arranged, q), (side, old)))
        assert np.array_equal(his[arranged.column[new]], side.column[known])
        assert np.array_equal(arranged.value[new], side.value[known])
        after = order.infosets[found.after[found.below[q] : found.below[q + 1]]]
        assert after.tolist() == np.flatnonzero(side.parent == old)[::-1].tolist()


@given(seed=st.integers(0, 2**32), threads=st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_the_arranged_form_is_the_same_game_and_adds_up_in_the_same_order(
    seed: int, threads: int
) -> None:
    rng = np.random.default_rng(seed)
    form = _random_form(rng)
    arranged, result, orders = partition_form(form, threads)
    for k in (0, 1):
        _same_side(form[k], arranged[k], orders[k], orders[1 - k], result[k])
        for size in (len(form[k].parent), len(orders[k].slots), len(orders[k].slots) + 1, 0):
            array, back = rng.normal(size=size), np.empty(size)
            orders[k].restore(orders[k].apply(array), back)
            assert np.array_equal(back, array)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_nobody_of_a_stage_is_below_another(seed: int) -> None:
    plex = _random_plex(np.random.default_rng(seed))
    bounds = stages_of(plex)
    assert np.all(np.diff(bounds) > 0)
    infoset = np.repeat(np.arange(len(plex.parent)), np.diff(plex.first))
    stage = np.searchsorted(bounds, np.arange(len(plex.parent)), side="right")
    for i in np.flatnonzero(plex.parent):
        assert stage[infoset[plex.parent[i] - 1]] < stage[i]


def _balance(form: SequenceForm, threads: int) -> tuple[float, float]:
    """The longest share, with the top, over an equal one; and the payoffs that couple
    threads."""
    arranged, result, _ = partition_form(form, threads)
    owners, longest = [], 0.0
    for side, mine in zip(arranged, result, strict=True):
        owner = _owners(mine, len(side.parent), threads)
        own = 12 + 3 * np.diff(side.first) + np.diff(side.row[side.first + 1])
        work = np.bincount(owner + 1, own, minlength=threads + 1)
        longest = max(longest, (work[0] + work[1:].max()) * threads / work.sum())
        owners.append(np.append(-1, np.repeat(owner, np.diff(side.first))))
    mine = np.repeat(owners[0], np.diff(arranged.one.row))
    his = owners[1][arranged.one.column]
    return longest, float(np.mean((mine != his) & (mine >= 0) & (his >= 0)))


@pytest.mark.parametrize("game", ["bluff(1,1,5)", "goofspiel(5)"])
def test_shares_are_even_and_what_meets_has_one_thread(game: str) -> None:
    """Which bids, or which cards, came first decides who meets."""
    form = cp.load(game).sequence_form
    longest, across = _balance(form, 2)
    assert longest < 1.05
    assert across < 0.01
    longest, across = _balance(form, 4)
    assert longest < 1.1
    assert across < 0.02


def test_information_sets_that_cannot_be_cut_are_shared_out() -> None:
    """All work is in few information sets with others below them."""
    roots, actions = 8, 50
    first = np.cumsum([0] + [actions] * roots + [1] * roots).astype(np.int32)
    parent = np.array([0] * roots + [1 + actions * i for i in range(roots)], dtype=np.int32)
    plex = Treeplex(parent, first)
    n = int(first[-1]) + 1
    row, column = (part.ravel() for part in np.meshgrid(np.arange(n), np.arange(n)))
    side = side_from_entries(plex, row, column, np.ones(n * n), n)
    longest, _ = _balance(SequenceForm(side, side), 2)
    assert longest < 1.05


@pytest.mark.parametrize("name", FULL_WIDTH)
def test_same_bits_for_any_number_of_threads(name: str, eager: None) -> None:
    for game in ("kuhn", "leduc", "goofspiel(4)"):
        one = new_solver(cp.load(game), name, 0, {})
        one.step(12)
        for threads in (2, 3):
            many = new_solver(cp.load(game), name, 0, {"threads": threads})
            many.step(5)
            many.step(7)
            assert many.replies is not None
            assert many.replies.threads == threads
            for key, array in one.arrays().items():
                assert np.array_equal(array, many.arrays()[key]), (game, threads, key)
            assert many.measure(many.policy()) == one.measure(one.policy())


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "cfr", "alternating": True},
        pytest.param({"prox": "euclidean"}, marks=pytest.mark.slow),
    ],
)
def test_same_bits_with_other_options(options: dict[str, object], eager: None) -> None:
    options = dict(options)
    name = str(options.pop("algorithm", "egt"))
    one, two = (
        new_solver(cp.load("leduc"), name, 0, {**options, **more}) for more in ({}, {"threads": 3})
    )
    for solver in (one, two):
        solver.step(10)
    assert_same_arrays(one, two)


def assert_same_arrays(one: Solver, two: Solver) -> None:
    for key, array in one.arrays().items():
        assert np.array_equal(array, two.arrays()[key]), key


@pytest.mark.parametrize("name", ["pcfr+", "egt"])
def test_what_is_restored_goes_on_with_any_number_of_threads(name: str, eager: None) -> None:
    game = cp.load("leduc")
    whole = new_solver(game, name, 0, {})
    whole.step(5)
    stored = {key: array.copy() for key, array in whole.arrays().items()}
    whole.step(4)
    for threads in (1, 2, 3):
        again = new_solver(game, name, 0, {"threads": threads})
        again.step(2)  # what is replaced
        again.restore(stored, "a file")
        again.step(4)
        for key, array in whole.arrays().items():
            assert np.array_equal(array, again.arrays()[key]), (threads, key)


def test_a_share_of_what_was_learnt_is_forgotten_with_any_number_of_threads(eager: None) -> None:
    one, many = (new_solver(cp.load("leduc"), "cfr+", 0, {"threads": t}) for t in (1, 2))
    for solver in (one, many):
        solver.step(3)
        solver.discount(0.5)
        solver.step(3)
    assert_same_arrays(one, many)


@pytest.mark.parametrize("algorithm", ["rnr", "dbr"])
def test_responses_have_the_same_bits(algorithm: str, eager: None) -> None:
    game = cp.load("leduc")
    model = cp.Strategy.uniform(game)
    result = [
        cp.respond(
            game, model, player=0, p=0.5, algorithm=algorithm, iterations=20, engine="cfr+", **more
        )
        for more in ({}, {"threads": 2})
    ]
    one, two = (response.strategy.probabilities for response in result)
    assert np.array_equal(one, two)
    assert result[0].exploitability == result[1].exploitability


def test_exploitability_and_best_response_have_the_same_bits(eager: None) -> None:
    game = cp.load("leduc")
    strategy = cp.solve(game, "cfr", iterations=3).strategy
    assert cp.exploitability(game, strategy, threads=2) == cp.exploitability(game, strategy)
    for player in (0, 1):
        one = cp.best_response(game, strategy, player)
        two = cp.best_response(game, strategy, player, threads=3)
        assert one.value == two.value
        assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)


def test_a_small_game_is_one_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_width, "cores", lambda: 8)
    small, large = (cp.load(name).sequence_form for name in ("leduc", "bluff(1,1,6)"))
    assert KernelThreads(small, 8).threads == 1
    assert 2 <= KernelThreads(large, 8).threads <= 8
    monkeypatch.setattr(full_width, "cores", lambda: 1)
    assert KernelThreads(large, 8).threads == 1


def test_a_run_says_what_was_asked_for() -> None:
    run = cp.solve("kuhn", "cfr+", iterations=5, threads=2)
    assert run.parameters == {"alternating": True, "threads": 2}
    assert cp.solve("kuhn", "cfr+", iterations=5).parameters == {"alternating": True}
    assert thread_count("auto") == min(cores(), full_width.MOST_THREADS)


@pytest.mark.parametrize("threads", [0, 65, 1.5, True, "all", None])
def test_bad_threads_are_refused(threads: object) -> None:
    with pytest.raises(BadParameter, match="threads must be a whole number from 1 to 64 or auto"):
        cp.solve("kuhn", "cfr", iterations=1, threads=threads)
    with pytest.raises(BadParameter, match="threads must be a whole number from 1 to 64 or auto"):
        cp.exploitability("kuhn", cp.Strategy.uniform(cp.load("kuhn")), threads=threads)
