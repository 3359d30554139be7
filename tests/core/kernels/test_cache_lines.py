"""No thread writes to a cache line of another: at every write it would take the line from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.forms.access import new_chance
from counterplay.core.kernels.cache_lines import LINE, aligned_rows, cache_aligned
from counterplay.core.match.kernels import new_workspace
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.match.deals import new_holdem_workspace
from counterplay.poker.spots.kernels import new_work


def arrays(structure: Any) -> Iterator[np.ndarray]:
    """All arrays in a tuple of tuples."""
    if isinstance(structure, np.ndarray):
        yield structure
    elif isinstance(structure, tuple):
        for part in structure:
            yield from arrays(part)


def lines(structure: Any) -> set[int]:
    return {
        line
        for array in arrays(structure)
        if array.nbytes
        for line in range(
            array.ctypes.data // LINE, (array.ctypes.data + array.nbytes - 1) // LINE + 1
        )
    }


def share_nothing(structures: list[Any]) -> None:
    assert all(lines(structure) for structure in structures)
    for one, other in combinations(structures, 2):
        assert not lines(one) & lines(other)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64])
@pytest.mark.parametrize("shape", [0, 1, 16, 17, (5, 3)])
def test_a_copy_on_cache_lines_of_its_own(dtype: type, shape: Any) -> None:
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    copies = [cache_aligned(array) for _ in range(20)]
    for copy in copies:
        assert np.array_equal(copy, array)
        assert copy.dtype == array.dtype
        assert copy.flags.c_contiguous
        assert copy.flags.aligned
        assert copy.flags.writeable
    for one, other in combinations(copies, 2):
        assert not lines(one) & lines(other)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0,), (1,), (5, 3), (2, 7, 33)])
def test_rows_on_cache_lines_of_their_own(shape: tuple[int, ...], dtype: type) -> None:
    array = aligned_rows(shape, dtype)
    assert not array.any()
    assert array.shape[:-1] == shape[:-1]
    assert array.shape[-1] >= shape[-1]
    assert array.flags.c_contiguous
    share_nothing(list(array.reshape(-1, array.shape[-1])) if array.size else [])


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external", "mcts"])
@pytest.mark.parametrize("game", ["bluff(1,1,5)", "holdem(buckets=10)"])
def test_workers_of_a_solver_share_no_line(name: str, game: str) -> None:
    solver: Any = new_solver(cp.load(game), name, 1, {"threads": 3})
    share_nothing([(worker.buffer, *worker.arguments) for worker in solver._pool.workers])


def test_workspaces_of_a_match_share_no_line() -> None:
    form = cp.load("leduc").form
    share_nothing([(new_workspace([(0, 3)]).rng, new_chance(form)) for _ in range(20)])
    workspaces = [new_holdem_workspace([(0, 3)]) for _ in range(20)]
    share_nothing([(workspace.hand, workspace.deck) for workspace in workspaces])


@pytest.mark.parametrize("rows", [False, True])
def test_threads_of_a_spot_share_no_line(rows: bool) -> None:
    share_nothing([new_work(2, 5, 7, 61, 9, rows, np.float32) for _ in range(3)])


def test_rows_of_a_spot_begin_on_cache_lines() -> None:
    work = new_work(2, 5, 7, 61, 9, False, np.float32)
    for array in (work.reach, work.value, work.policy):
        assert (array.ctypes.data % LINE, array.strides[-2] % LINE) == (0, 0)
    for array in arrays(work.sums):  # LANES numbers in a row
        assert (array.ctypes.data % LINE, array.strides[0] % 64) == (0, 0)
