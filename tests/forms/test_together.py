"""Full width by several threads: the same bits, whoever does what, and one thread where the game is
small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.base.errors import BadParameter
from counterplay.base.processors import cores
from counterplay.forms import together
from counterplay.forms.sequence import Treeplex
from counterplay.forms.together import Together, check_threads, shares_of, stages_of
from counterplay.solvers.algorithms import new_solver

FULL_WIDTH = ("cfr", "cfr+", "dcfr", "pcfr+", "egt")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as are asked for, however small the game, and as many stages as there are."""
    monkeypatch.setattr(together, "LEAST_WORK", 1)
    monkeypatch.setattr(together, "LEAST_REPLY", 1)
    monkeypatch.setattr(together, "LEAST_STAGE", 10)
    monkeypatch.setattr(together, "cores", lambda: 8)


def _random_plex(rng: np.random.Generator) -> Treeplex:
    """Parents first, otherwise as it comes."""
    m = int(rng.integers(1, 60))
    first = np.concatenate([[0], np.cumsum(rng.integers(1, 4, size=m))]).astype(np.int32)
    parent = [int(rng.integers(0, first[i] + 1)) for i in range(m)]
    return Treeplex(np.array(parent, dtype=np.int32), first)


@given(seed=st.integers(0, 2**32), threads=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_every_information_set_has_one_thread_and_children_a_later_stage(
    seed: int, threads: int
) -> None:
    plex = _random_plex(np.random.default_rng(seed))
    before, together.LEAST_STAGE = together.LEAST_STAGE, 20
    try:
        shares = shares_of(plex, None, threads)
    finally:
        together.LEAST_STAGE = before
    m = len(plex.parent)
    owner = np.repeat(np.arange(m), np.diff(plex.first))
    thread, stage = np.full(m, -1), np.cumsum(shares.begins) - 1
    where = np.empty(m, int)
    for row, (low, high) in enumerate(zip(shares.low, shares.high, strict=True)):
        for k in range(threads):
            assert (thread[low[k] : high[k]] == -1).all()
            thread[low[k] : high[k]], where[low[k] : high[k]] = k, stage[row]
    assert (thread >= 0).all()
    assert np.array_equal(shares.ends, np.append(shares.begins[1:], True))
    for i in range(m):
        if plex.parent[i] > 0:
            above = owner[plex.parent[i] - 1]
            alone = thread[above] == thread[i] == 0 and above < i
            assert where[above] < where[i] or (where[above] == where[i] and alone)
    for q in range(int(plex.first[-1]) + 1):
        after = shares.after[shares.below[q] : shares.below[q + 1]]
        assert after.tolist() == np.flatnonzero(plex.parent == q)[::-1].tolist()
    assert np.all(np.diff(stages_of(plex)) > 0)


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
    for key, array in one.arrays().items():
        assert np.array_equal(array, two.arrays()[key]), key


@pytest.mark.parametrize("algorithm", ["rnr", "dbr"])
def test_responses_have_the_same_bits(algorithm: str, eager: None) -> None:
    game = cp.load("leduc")
    model = cp.Strategy.uniform(game)
    found = [
        cp.respond(
            game, model, player=0, p=0.5, algorithm=algorithm, iterations=20, engine="cfr+", **more
        )
        for more in ({}, {"threads": 2})
    ]
    one, two = (response.strategy.probabilities for response in found)
    assert np.array_equal(one, two)
    assert found[0].exploitability == found[1].exploitability


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
    monkeypatch.setattr(together, "cores", lambda: 8)
    small, large = (cp.load(name).sequence_form for name in ("leduc", "bluff(1,1,6)"))
    assert Together(small, 8).threads == 1
    assert 2 <= Together(large, 8).threads <= 8
    monkeypatch.setattr(together, "cores", lambda: 1)
    assert Together(large, 8).threads == 1


def test_a_run_says_what_was_asked_for() -> None:
    run = cp.solve("kuhn", "cfr+", iterations=5, threads=2)
    assert run.parameters == {"alternating": True, "threads": 2}
    assert cp.solve("kuhn", "cfr+", iterations=5).parameters == {"alternating": True}
    assert check_threads("auto") == min(cores(), together.MOST_THREADS)


@pytest.mark.parametrize("threads", [0, 65, 1.5, True, "all", None])
def test_bad_threads_are_refused(threads: object) -> None:
    with pytest.raises(BadParameter, match="threads must be a whole number from 1 to 64 or auto"):
        cp.solve("kuhn", "cfr", iterations=1, threads=threads)
    with pytest.raises(BadParameter, match="threads must be a whole number from 1 to 64 or auto"):
        cp.exploitability("kuhn", cp.Strategy.uniform(cp.load("kuhn")), threads=threads)
