"""Tallies of blocks against NumPy's bits, and matches that give the same bits in ranges of
any length on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.match import play as match_module
from counterplay.core.match.kernels import merge_tallies, tally
from counterplay.core.match.play import MOST_BLOCKS, BlockRange, block_ranges, blocks
from counterplay.core.parallel import jobs as jobs_module


def naive(won: np.ndarray) -> np.ndarray:
    """Count, mean, squares of the five series, by NumPy."""
    missing = np.isnan(won)
    both, one, two = won[~missing.any(axis=1)], won[:, 0], won[:, 1]
    series = (
        (both[:, 0] + both[:, 1]) / 2,
        both[:, 0],
        both[:, 1],
        one[missing[:, 1] & ~missing[:, 0]],
        two[missing[:, 0] & ~missing[:, 1]],
    )
    return np.array(
        [
            (len(s), s.mean(), ((s - s.mean()) ** 2).sum()) if len(s) else (0.0, 0.0, 0.0)
            for s in series
        ]
    ).T


def same(won: np.ndarray) -> bool:
    found = tally(won)
    ours = np.array([found.count, found.mean, found.squares])
    return ours.tobytes() == (naive(won) + 0.0).tobytes()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 127, 128, 129, 136, 255, 257, 1_000, 4_999, 5_000])
def test_sums_have_the_bits_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    won = rng.normal(0.1, 3.0, (n, 2)) * 10.0 ** rng.integers(-3, 4, (n, 2))
    assert same(won)
    won[rng.random((n, 2)) < 0.3] = np.nan  # one seat, the other, both or none
    assert same(won)


def test_parts_of_nothing_add_up_to_nothing() -> None:
    assert merge_tallies([]).count.tolist() == [0.0] * 5
    assert merge_tallies([tally(np.empty((0, 2)))] * 3).squares.tolist() == [0.0] * 5


def outcome(result: cp.MatchResult) -> tuple[Any, ...]:
    return result.hands, result.mean, result.standard_error, result.by_seat, result.degrees


@pytest.mark.parametrize("duplicate", [True, False])
@pytest.mark.parametrize("name", ["holdem(buckets=1)", "leduc"])
def test_runs_and_threads_do_not_matter(
    name: str, duplicate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks one by one, in ranges of unequal lengths, on one thread or more than there are
    ranges."""
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    game = cp.load(name)
    players: tuple[Any, Any] = ("probe", "uniform")
    if game.has_tree:
        players = cp.Strategy.random(game, 1), cp.Strategy.random(game, 2)
    found = set()
    for together, shares, threads in ((1, 4, 1), (16, 1, 1), (7, 1, 2), (3, 4, 5), (16, 4, 40)):
        monkeypatch.setattr(match_module, "MOST_BLOCKS", together)
        monkeypatch.setattr(match_module, "_CALLS_PER_THREAD", shares)
        result = cp.play_match(game, *players, 2_005, 3, duplicate=duplicate, processes=threads)
        found.add(outcome(result))
    assert len(found) == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_tables_play_on_as_many_threads_as_asked_for(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Pool(jobs_module.ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(jobs_module, "ThreadPoolExecutor", Pool)
    cp.play_match("holdem(buckets=1)", "probe", "uniform", 100, processes=threads)
    assert asked == [threads]


def test_a_long_match_is_cut_into_few_runs() -> None:
    """What Python does for a run, every other thread waits for; short matches still have work
    for all."""
    sizes = []

    def note(run: BlockRange) -> list[int]:
        sizes.append(len(run))
        return [number for number, _ in run]

    for n, threads in ((1_000, 4), (40, 4), (3, 4)):
        sizes.clear()
        cut = block_ranges(blocks(n, 1), threads, MOST_BLOCKS)
        coming = jobs_module.in_threads(note, cut, threads, 4 * threads)
        found = [number for run in coming for number in run]
        assert found == list(range(n))
        assert max(sizes) <= MOST_BLOCKS
        assert len(sizes) <= max(n / MOST_BLOCKS, 8 * threads) + 1
        assert len(sizes) >= min(n, threads)
