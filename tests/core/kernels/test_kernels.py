"""Layer 0: regret matching, ε-greedy sampling, normalisation, random numbers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.version import PACKAGE, imported_files
from counterplay.core.kernels.jit import ROOMS, index
from counterplay.core.kernels.policy import normalise, regret_matching, sample_epsilon_greedy
from counterplay.core.kernels.rng import new_state, uniform

MASK = (1 << 64) - 1
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1.0)), min_size=1, max_size=6).filter(
    any
)


def matched(regrets: list[float]) -> list[float]:
    """The kernel on a slice in the middle of larger arrays, whose other entries must stay as
    they are."""
    source = np.array([7.0, 7.0, *regrets, 7.0])
    out = np.full(len(regrets) + 2, 9.0)
    regret_matching(source, index(2), index(len(regrets)), out, index(1))
    assert out[0] == out[-1] == 9.0
    return out[1:-1].tolist()


@pytest.mark.parametrize(
    ("regrets", "expected"),
    [
        ([0.0, 0.0], [0.5, 0.5]),
        ([-1.0, -2.0, -3.0, 0.0], [0.25] * 4),
        ([-1.0, 1.0], [0.0, 1.0]),  # Section 3.2.3
        ([3.0, -5.0, 1.0], [0.75, 0.0, 0.25]),
        ([2.0], [1.0]),
    ],
)
def test_regret_matching_known(regrets: list[float], expected: list[float]) -> None:
    assert matched(regrets) == expected


@given(st.lists(numbers, min_size=1, max_size=8))
def test_regret_matching_is_eq_5(regrets: list[float]) -> None:
    total = sum(r for r in regrets if r > 0)
    expected = [max(r, 0.0) / total if total > 0 else 1 / len(regrets) for r in regrets]
    assert matched(regrets) == pytest.approx(expected, rel=1e-14, abs=0)
    assert sum(matched(regrets)) == pytest.approx(1.0, abs=1e-14)


def sampled(policy: list[float], epsilon: float, u: float) -> tuple[int, float]:
    action, p = sample_epsilon_greedy(
        np.array([5.0, *policy]), index(1), index(len(policy)), epsilon, u
    )
    return int(action), float(p)


@given(weights, st.floats(0, 1), st.floats(0, 1, exclude_max=True))
def test_sampler_inverts_eq_8(weights: list[float], epsilon: float, u: float) -> None:
    """Away from the edges by more than rounding: the action whose interval holds u, with its
    probability (Eq 8)."""
    policy = [w / sum(weights) for w in weights]
    greedy = [epsilon / len(policy) + (1 - epsilon) * p for p in policy]
    edges = np.cumsum(greedy)
    assert edges[-1] == pytest.approx(1.0, abs=1e-14)
    assume(np.abs(edges[:-1] - u).min(initial=1.0) > 1e-12)
    action, p = sampled(policy, epsilon, u)
    assert p == pytest.approx(greedy[action], rel=1e-14)
    if u < edges[-1] - 1e-12:
        assert action == int(np.searchsorted(edges, u, side="right"))


@given(weights, st.floats(0, 1), st.sampled_from([0.0, 0.5, 1 - 2**-53]))
def test_sampler_never_takes_the_impossible(weights: list[float], epsilon: float, u: float) -> None:
    _, p = sampled([w / sum(weights) for w in weights], epsilon, u)
    assert p > 0


def test_sampler_when_u_falls_behind_the_last_action() -> None:
    """Probabilities that sum to less than one by rounding, and a last action that is never
    played."""
    action, p = sampled([0.5, 0.5 - 2**-52, 0.0, 0.0], 0.0, 1 - 2**-53)
    assert (action, p) == (1, 0.5 - 2**-52)


@given(st.lists(st.integers(0, 64), min_size=1, max_size=3), st.integers(0, 16))
@settings(max_examples=60, deadline=None)
def test_sampler_is_exact_on_dyadic_numbers(cuts: list[int], sixteenths: int) -> None:
    """Four actions, everything a multiple of 1/4096: of 4096 equidistant u exactly 4096 p(a)
    give a, in action order."""
    bounds = [0, *sorted([*cuts, *[64] * (3 - len(cuts))]), 64]
    policy = [(high - low) / 64 for low, high in pairwise(bounds)]
    epsilon = sixteenths / 16
    drawn = [sampled(policy, epsilon, k / 4096) for k in range(4096)]
    actions = [action for action, _ in drawn]
    assert actions == sorted(actions)
    probability = [epsilon / 4 + (1 - epsilon) * p for p in policy]
    assert [actions.count(a) for a in range(4)] == [4096 * p for p in probability]
    assert all(p == probability[a] for a, p in set(drawn))


@given(
    st.lists(
        st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=5),
        min_size=1,
        max_size=5,
    )
)
def test_normalise(groups: list[list[float]]) -> None:
    first = np.cumsum([0, *map(len, groups)]).astype(np.int32)
    flat = np.array([w for group in groups for w in group])
    out = np.full(len(flat), np.nan)
    normalise(flat, first, out)
    expected = [w / sum(group) if any(group) else 1 / len(group) for group in groups for w in group]
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=0)


def xoshiro256_plus(state: list[int]) -> float:
    """The published algorithm on Python integers; 53 high bits of the sum."""
    s0, s1, s2, s3 = state
    result = (s0 + s3) & MASK
    t = (s1 << 17) & MASK
    s2, s3 = s2 ^ s0, s3 ^ s1
    s1, s0 = s1 ^ s2, s0 ^ s3
    s2 ^= t
    s3 = ((s3 << 45) | (s3 >> 19)) & MASK
    state[:] = s0, s1, s2, s3
    return (result >> 11) / 2**53


@given(st.integers(0, MASK), st.integers(0, 100))
def test_uniform_is_xoshiro(seed: int, stream: int) -> None:
    state = new_state(seed, stream)
    words = [int(word) for word in state]
    for _ in range(50):
        assert uniform(state) == xoshiro256_plus(words)
    assert [int(word) for word in state] == words


def test_first_state_is_splitmix64() -> None:
    """The first outputs of splitmix64 from 0, as published with it (Vigna, splitmix64.c; also
    Java's SplittableRandom)."""
    assert int(new_state(0)[0]) == 0xE220A8397B1DCDAF
    assert int(new_state(0)[1]) == 0x6E789E6AA1B965F4


def test_numbers_lie_in_the_unit_interval_and_reach_its_ends() -> None:
    assert uniform(np.array([MASK, 0, 0, 0], dtype=np.uint64)) == 1 - 2**-53
    assert uniform(np.array([0, 1, 0, 0], dtype=np.uint64)) == 0.0


def test_reproducible_and_restorable() -> None:
    one, two = new_state(42), new_state(42)
    assert [uniform(one) for _ in range(100)] == [uniform(two) for _ in range(100)]
    saved = one.copy()
    following = [uniform(one) for _ in range(10)]
    assert [uniform(saved) for _ in range(10)] == following


def test_seeds_and_streams_differ() -> None:
    states = {tuple(new_state(seed, stream).tolist()) for seed in range(50) for stream in range(20)}
    assert len(states) == 1000


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True, np.float64(3)])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(BadParameter, match="seed"):
        new_state(seed)  # type: ignore[arg-type]


def test_every_kernel_is_in_a_room_whose_sources_name_the_cache_folder() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in ROOMS:
            assert "kernels.jit" not in path.read_text(), path


def test_the_version_of_code_follows_imports_in_any_spelling(tmp_path: Path) -> None:
    sources = {
        "core/kernels/jit.py": "import os",
        "core/kernels/policy.py": "from counterplay.core.kernels.jit import jit",
        "core/base/sizes.py": "SIZE = 3",
        "core/base/other.py": "SIZE = 4",
        "core/forms/tree.py": "from counterplay.core.kernels.jit import jit\n"
        "from counterplay.core.base import (\n    errors,\n    sizes,\n)\n",
        "core/solvers/one.py": "import counterplay.core.kernels.policy\ndef late():\n    from "
        "counterplay.poker.cards.cards import pairs\n",
        "poker/cards/cards.py": "from counterplay.core.base.other import SIZE",
        "cli.py": "from counterplay.core.solvers.one import late",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    roots = [tmp_path / "core/forms/tree.py", tmp_path / "core/solvers/one.py"]
    found = {path.relative_to(tmp_path).as_posix() for path in imported_files(tmp_path, roots)}
    assert found == set(sources) - {"cli.py"}


def test_kernels_of_a_user_have_linear_algebra() -> None:
    """Numba's array functions are imported without SciPy's linear algebra
    (`core/kernels/cache.py`), which is imported when a kernel calls it."""
    cp.solve("kuhn", "cfr", iterations=1)
    product = numba.njit(lambda a, b: np.dot(a, b))  # of vectors: BLAS, and soon compiled
    assert product(np.ones(3), np.full(3, 2.0)) == 6.0
