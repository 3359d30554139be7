"""Sparbot with other choices: the fourth bet of a round, and bucket splitting, by halves of equal
weight whose mixing keeps the bucket's totals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.holdem import TREE

from benchmarks import sparbot_variants as variants
from benchmarks.sparbot_variants import _halved, halves, split_rows, variant_rows
from counterplay.poker.bots.sparbot.model import model_actions


@given(st.lists(st.tuples(*[st.floats(0.0, 1.0)] * 3), min_size=1, max_size=8))
def test_halves_keep_the_totals_and_are_probabilities(found: list[tuple[float, ...]]) -> None:
    rows = np.array(found) + 1e-3
    rows /= rows.sum(axis=1, keepdims=True)
    weak, strong = halves(rows)
    for half in (weak, strong):
        assert (half >= -1e-12).all()
        np.testing.assert_allclose(half.sum(axis=1), 1.0)
    np.testing.assert_allclose((weak + strong) / 2, rows, atol=1e-12)


def test_the_stronger_half_raises_first_and_the_weaker_folds_first() -> None:
    weak, strong = halves(np.array([[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]]))
    np.testing.assert_allclose(weak, [[0.6, 0.4, 0.0], [0.2, 0.2, 0.6]])
    np.testing.assert_allclose(strong, [[0.0, 0.2, 0.8], [0.0, 0.0, 1.0]], atol=1e-12)


def test_only_the_last_half_of_a_path_decides() -> None:
    rng = np.random.default_rng(1)
    n = 3
    for rounds in (1, 2, 3):
        rows = rng.dirichlet(np.ones(3), size=n**rounds)
        both = halves(rows)
        result = split_rows(rows, n)
        assert len(result) == (2 * n) ** rounds
        for path in np.ndindex(*(2 * n,) * rounds):
            whole = np.ravel_multi_index(tuple(b // 2 for b in path), (n,) * rounds)
            here = np.ravel_multi_index(path, (2 * n,) * rounds)
            np.testing.assert_array_equal(result[here], both[path[-1] % 2][whole])


def test_halves_have_the_same_weight_and_the_stronger_hands_are_above() -> None:
    rng = np.random.default_rng(2)
    bucket = rng.integers(0, 4, 5_000).astype(np.uint16).reshape(5, -1)
    strength, weight = rng.permutation(5_000).reshape(5, -1), rng.random(5_000)
    result = _halved(bucket, strength, weight)
    np.testing.assert_array_equal(result // 2, bucket)
    for b in range(4):
        low, high = (strength[result == 2 * b + k] for k in (0, 1))
        assert low.max() < high.min()
        shares = [weight.reshape(5, -1)[result == 2 * b + k].sum() for k in (0, 1)]
        assert abs(shares[0] - shares[1]) < 0.01 * sum(shares)


@pytest.mark.parametrize("fourth", [variants.AS_THIRD, variants.MADE, variants.MADE_BY_TWO])
def test_other_answers_to_the_fourth_bet_are_legal_and_change_nothing_else(fourth: str) -> None:
    n = 4
    rng = np.random.default_rng(1)
    policies: dict[str, np.ndarray] = {}
    for state in TREE.states:
        if not state.over and "rrrr" not in state.history.replace("/", ""):
            paths = n if state.round == 0 else n**state.round
            legal = [action in model_actions(state) for action in ("fold", "call", "raise")]
            rows = rng.random((paths, 3)) * np.array(legal)
            policies[state.history] = rows / rows.sum(axis=1, keepdims=True)
    usual, other = (variant_rows(policies, n, how) for how in (variants.CALLED, fourth))
    changed = set()
    for node, (state, actions) in enumerate(zip(TREE.states, TREE.actions, strict=True)):
        if TREE.nodes.decision[node] < 0 or "rrrr" in state.history[:-1]:
            continue
        paths = n if state.round == 0 else n**state.round
        before, after = (
            policy[first[node] : first[node] + paths] for first, policy in (usual, other)
        )
        np.testing.assert_allclose(after.sum(axis=1), 1.0)
        illegal = [k for k, name in enumerate(("fold", "call", "raise")) if name not in actions]
        assert not after[:, illegal].any(), state.history
        if not np.array_equal(before, after):
            changed.add((state.round > 0, int(state.bets)))
            if fourth in variants.CAPPING:  # as often folded, and raised by the strongest alone
                np.testing.assert_array_equal(before[:, 0], after[:, 0])
                best = n - 1 if state.round == 3 else n - 2
                raising = set((np.flatnonzero(after[:, 2]) % n).tolist())
                assert raising == set(range(best, best - variants.CAPPING[fourth], -1))
    assert changed == {(True, 4 if fourth == variants.AS_THIRD else 3)}
