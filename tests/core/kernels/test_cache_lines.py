"""No thread writes to a cache line of another: at every write it would take the line from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.forms.access import new_chance
from counterplay.core.kernels.cache_lines import LINE, cache_aligned
from counterplay.core.match.kernels import new_workspace
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.match.deals import new_holdem_workspace


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
