"""C4.5: the recursive twin, and what holds of every tree."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.c45 import Twin
from support.c45 import AB, ABC, NAN, NEAR, Data, X, column, near_data, random_data, same, shape

from counterplay.poker.models.c45.grow import group_patterns, grow
from counterplay.poker.models.c45.learn import Attribute, Settings, Tree, learn
from counterplay.poker.models.c45.tree import from_json, to_json


def twin_disagrees(data: Data, seed: int) -> str:
    """At which step the twin's tree is another one, or nothing. Settings vary with the seed."""
    attributes, x, y, weights = data
    min_leaf, mdl, raising = 1 + seed % 3, seed % 4 != 0, seed % 5 != 0
    rows = [(tuple(r), int(c), float(w)) for r, c, w in zip(x, y, weights, strict=True)]
    twin = Twin(rows, [len(a.values) for a in attributes], 3, min_leaf, mdl)

    def agrees(**options: Any) -> bool:
        tree = learn(
            attributes,
            x,
            y,
            ABC,
            weights,
            min_leaf=min_leaf,
            mdl=mdl,
            subtree_raising=raising,
            **options,
        )
        return same(shape(tree), twin.root.shape())

    if not agrees(confidence=None, collapse=False):
        return "growing"
    twin.collapse(twin.root)
    if not agrees(confidence=None):
        return "collapsing"
    twin.prune(twin.root, raising)
    return "" if agrees() else "pruning"


@pytest.mark.parametrize("seed", range(150))
def test_the_twin_grows_and_prunes_the_same_tree(seed: int) -> None:
    assert not twin_disagrees(random_data(seed), seed)


@given(st.integers(0, 5_000))
def test_the_twin_agrees_on_values_that_almost_meet_and_rows_without_weight(seed: int) -> None:
    assert not twin_disagrees(near_data(seed), seed)


def test_the_cases_that_almost_meet_depend_on_exact_values_and_on_rows_without_weight() -> None:
    rounded = dropped = 0
    for seed in range(60):
        attributes, x, y, weights = near_data(seed)
        tree = shape(learn(attributes, x, y, ABC, weights))
        rounded += not same(tree, shape(learn(attributes, x.round(6), y, ABC, weights)))
        stored = weights > 0
        dropped += not same(
            tree, shape(learn(attributes, x[stored], y[stored], ABC, weights[stored]))
        )
    assert rounded > 5
    assert dropped > 5


def test_the_twins_cases_include_raised_branches() -> None:
    changed = 0
    for seed in range(150):
        attributes, x, y, weights = random_data(seed)
        trees = [learn(attributes, x, y, ABC, weights, subtree_raising=r) for r in (True, False)]
        changed += trees[0].text() != trees[1].text()
    assert changed > 5


def slow_predict(tree: Tree, row: np.ndarray, node: int = 0) -> np.ndarray:
    if not tree.children[node]:
        result: np.ndarray = tree.probabilities[node]
        return result
    sons, value = tree.children[node], row[tree.attribute[node]]
    if isnan(value):
        weights = tree.counts[list(sons)].sum(axis=1)
        return sum(
            (
                w / weights.sum() * slow_predict(tree, row, s)
                for w, s in zip(weights, sons, strict=True)
            ),
            np.zeros(3),
        )
    threshold = tree.threshold[node]
    return slow_predict(tree, row, sons[int(value) if isnan(threshold) else int(value > threshold)])


# ---------------------------------------------------------------- properties


@given(st.integers(0, 10_000), st.sampled_from([random_data, near_data]))
def test_predictions_are_probabilities_and_those_of_a_walk_row_by_row(seed: int, make: Any) -> None:
    attributes, x, y, weights = make(seed)
    numeric = np.array([a.kind == "numeric" for a in attributes])
    near = x + np.random.default_rng(seed).choice(NEAR, x.shape) * numeric
    for laplace in (False, True):
        tree = learn(attributes, x, y, ABC, weights, laplace=laplace, confidence=0.5)
        for rows in (x, near):
            predicted = tree.predict(rows)
            assert np.all(predicted >= 0)
            assert np.allclose(predicted.sum(axis=1), 1, atol=1e-12)
            assert np.allclose(predicted, [slow_predict(tree, row) for row in rows], atol=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_a_row_of_weight_three_is_three_rows_in_any_order(seed: int, k: int) -> None:
    attributes, x, y, weights = random_data(seed)
    heavy = learn(attributes, x, y, ABC, k * weights)
    order = np.random.default_rng(seed).permutation(k * len(x))
    many = learn(
        attributes, np.tile(x, (k, 1))[order], np.tile(y, k)[order], ABC, np.tile(weights, k)[order]
    )
    assert same(shape(heavy), shape(many))


def test_weight_zero_has_no_weight() -> None:
    """Such a row may move a threshold to a value of its own, and no more: its class is in no
    count."""
    x, y = column(0, 0, 0, 1, 1, 1, 2), np.array([0, 0, 0, 1, 1, 1, 0])
    tree = learn([X], x, y, AB, np.array([1, 1, 1, 1, 1, 1, 0.0]))
    assert same(shape(tree), shape(learn([X], x[:6], y[:6], AB)))


def test_many_rows() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 8, (100_000, 5)).astype(float)
    x[rng.random(100_000) < 0.5, 4] = np.nan
    y = (
        ((x[:, 0] + np.nan_to_num(x[:, 4]) + rng.integers(0, 6, 100_000)) // 8)
        .astype(np.int64)
        .clip(0, 2)
    )
    tree = learn([Attribute(f"a{a}") for a in range(5)], x, y, ("fold", "call", "raise"))
    assert 10 < tree.size < 5000
    assert tree.predict(x).shape == (100_000, 3)


def test_no_tree_is_too_deep() -> None:
    """A chain of 3000 tests, x <= 0, x <= 1, ..., deeper than Python's recursion: node 2k tests,
    node 2k + 1 is a leaf."""
    n = 3000
    whole = to_json(learn([X], column(0, 0, 1, 1), np.array([0, 0, 1, 1]), AB))
    whole["nodes"] = [{"counts": [0, 1]}]
    for k in reversed(range(n)):
        counts = [(n - k) // 2, (n - k + 1) // 2 + 1]
        leaf = [1, 0] if (n - k) % 2 == 0 else [0, 1]
        whole["nodes"][:0] = [
            {"counts": counts, "attribute": 0, "threshold": k, "children": [2 * k + 1, 2 * k + 2]},
            {"counts": leaf},
        ]
    tree = from_json(json.loads(json.dumps(whole)))
    assert (tree.size, len(tree.text().split("\n"))) == (2 * n + 1, 2 * n + 4)
    assert tree.predict(column(0, 1, n)).tolist() == [[1, 0], [0, 1], [0, 1]]
    assert np.allclose(tree.predict(column(NAN)), [[(n // 2) / (n + 1), (n // 2 + 1) / (n + 1)]])


def test_edge_shapes() -> None:
    x, y = column(0, 0, 0, 1, 1, 1), np.array([0, 0, 0, 1, 1, 1])
    tree = learn([X], x, y, AB)
    assert tree.predict(np.empty((0, 1))).shape == (0, 2)
    assert tree.predict(column(-np.inf, np.inf)).tolist() == [[1, 0], [0, 1]]
    assert (
        learn([], np.empty((4, 0)), np.array([0, 1, 1, 1]), AB).predict(np.empty((2, 0))).tolist()
        == [[0.25, 0.75]] * 2
    )
    assert learn([X], column(NAN, NAN, NAN, NAN), np.array([0, 1, 0, 1]), AB).size == 1
    assert learn([X], column(1e15, 1e15, 2e15, 2e15), np.array([0, 0, 1, 1]), AB).predict(
        column(1e15)
    ).tolist() == [[1, 0]]
    assert grow(group_patterns((X,), x, y, np.ones(6), 2), Settings()).split is not None
