"""C4.5: Weka's own published trees, numbers worked by hand, the recursive twin, damaged files."""

from __future__ import annotations

import json
from math import isnan, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.c45 import Twin, estimated
from reference.labor import CLASSES, labor

from counterplay.base.errors import BadFile, BadParameter
from counterplay.base.files import read_json, write_json
from counterplay.opponents.c45 import Attribute, Settings, Tree, learn
from counterplay.opponents.c45_grow import Node, Split, count, gather, grow, split_on
from counterplay.opponents.c45_prune import add_errors

NAN = float("nan")

# Quinlan's golf data as Weka has them (weather.numeric.arff): outlook, temperature, humidity, windy, play.
WEATHER = [
    Attribute("outlook", "nominal", ("sunny", "overcast", "rainy")), Attribute("temperature"), Attribute("humidity"),
    Attribute("windy", "nominal", ("TRUE", "FALSE")),
]  # fmt: skip
WEATHER_ROWS = np.array(
    [
        [0, 85, 85, 1, 0], [0, 80, 90, 0, 0], [1, 83, 86, 1, 1], [2, 70, 96, 1, 1], [2, 68, 80, 1, 1], [2, 65, 70, 0, 0],
        [1, 64, 65, 0, 1], [0, 72, 95, 1, 0], [0, 69, 70, 1, 1], [2, 75, 80, 1, 1], [0, 75, 70, 0, 1], [1, 72, 90, 0, 1],
        [1, 81, 75, 1, 1], [2, 71, 91, 0, 0],
    ],
    dtype=float,
)  # fmt: skip
PLAY = WEATHER_ROWS[:, 4].astype(int)
X = Attribute("x")
AB = ("a", "b")


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def stump(attribute: Attribute, x: np.ndarray, y: list[int], mdl: bool = True) -> Split | None:
    """The root's test of the only attribute, before anything is chosen or pruned."""
    data = gather((attribute,), x, np.array(y), np.ones(len(y)), max(y) + 1)
    rows, share = np.arange(len(data.weight)), np.ones(len(data.weight))
    return split_on(data, Node(rows, share, count(data, rows, share)), 0, Settings(mdl=mdl))


# ---------------------------------------------------------------- Weka's own output


def test_weather_gives_the_tree_of_the_weka_book() -> None:
    tree = learn(WEATHER, WEATHER_ROWS[:, :4], PLAY, ("no", "yes"))
    assert tree.text() == (
        "outlook = sunny\n"
        "|   humidity <= 75: yes (2.0)\n"
        "|   humidity > 75: no (3.0)\n"
        "outlook = overcast: yes (4.0)\n"
        "outlook = rainy\n"
        "|   windy = TRUE: no (2.0)\n"
        "|   windy = FALSE: yes (3.0)\n"
        "\nNumber of leaves: 5\nSize of the tree: 8\n"
    )
    assert (tree.n_leaves, tree.size) == (5, 8)
    assert np.array_equal(tree.predict(WEATHER_ROWS[:, :4]).argmax(axis=1), PLAY)


def test_labor_gives_wekas_tree_to_the_last_digit() -> None:
    """Half the values are missing, and the holidays are raised over the disability insurance."""
    attributes, x, y = labor()
    tree = learn(attributes, x, y, CLASSES)
    assert tree.text() == (
        "wage-increase-first-year <= 2.5: bad (15.27/2.27)\n"
        "wage-increase-first-year > 2.5\n"
        "|   statutory-holidays <= 10: bad (10.77/4.77)\n"
        "|   statutory-holidays > 10: good (30.96/1.0)\n"
        "\nNumber of leaves: 3\nSize of the tree: 5\n"
    )


def test_the_holidays_of_labor_are_there_by_subtree_raising() -> None:
    attributes, x, y = labor()
    grown = learn(attributes, x, y, CLASSES, confidence=None).text()
    assert "|   longterm-disability-assistance = yes\n|   |   statutory-holidays <= 10" in grown
    kept = learn(attributes, x, y, CLASSES, subtree_raising=False)
    assert kept.text().startswith(
        "wage-increase-first-year <= 2.5: bad (15.27/2.27)\nwage-increase-first-year > 2.5: good (41.73/7.0)\n"
    )


# ---------------------------------------------------------------- the criteria, by hand


def test_gain_ratio_of_outlook_is_quinlans() -> None:
    """Quinlan 1993: gain 0.246, split information 1.577, gain ratio 0.156."""
    split = stump(WEATHER[0], WEATHER_ROWS[:, :1], PLAY.tolist())
    assert split is not None
    assert split.gain == pytest.approx(0.2467, abs=1e-4)
    assert split.ratio == pytest.approx(0.2467 / 1.5774, abs=1e-4)


def test_gain_of_a_threshold_pays_for_the_choice() -> None:
    """aab|bbbb... : 4 a, 4 b in order; candidates keep 2 on each side, so 5 of the 7 places count. Perfect split: 1 bit."""
    split = stump(X, column(1, 2, 3, 4, 5, 6, 7, 8), [0, 0, 0, 0, 1, 1, 1, 1])
    assert split is not None
    assert split.gain == pytest.approx(1 - log2(5) / 8)
    assert split.ratio == pytest.approx(1 - log2(5) / 8)  # the halves have a split information of 1
    assert split.threshold == 4


def test_mdl_rejects_what_the_plain_gain_accepts() -> None:
    x, y = column(*range(12)), [0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1]
    assert stump(X, x, y, mdl=True) is None
    assert stump(X, x, y, mdl=False) is not None


def test_missing_values_scale_the_gain_and_are_a_branch_of_the_split_information() -> None:
    """Known: aabb, cut in the middle; two more are missing. Gain 4/6 · 1 bit, one candidate; info of (2, 2, 2) is log2 3."""
    split = stump(X, column(1, 1, 2, 2, NAN, NAN), [0, 0, 1, 1, 0, 1])
    assert split is not None
    assert split.gain == pytest.approx(4 / 6)
    assert split.ratio == pytest.approx(4 / 6 / log2(3))


def test_a_threshold_is_a_value_of_the_whole_training_set() -> None:
    """Below g = 1 only x = 1 and 9 occur, whose middle is 5; the largest x up to 5 anywhere is 4, seen at g = 0."""
    rows = [[0, 4]] * 6 + [[1, 1]] * 3 + [[1, 9]] * 3
    y = np.array([0] * 6 + [1] * 3 + [2] * 3)
    tree = learn([Attribute("g", "nominal", ("p", "q")), X], np.array(rows, dtype=float), y, ("a", "b", "c"))
    assert tree.text().split("\n")[:4] == ["g = p: a (6.0)", "g = q", "|   x <= 4: b (3.0)", "|   x > 4: c (3.0)"]


def test_min_leaf() -> None:
    x, y = column(1, 2, 3, 4, 5, 6, 7, 8), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    assert learn([X], x, y, AB, confidence=None).threshold[0] == 3
    assert learn([X], x, y, AB, confidence=None, min_leaf=4).threshold[0] == 4
    assert learn([X], x, y, AB, confidence=None, min_leaf=5).size == 1


def test_both_sides_need_a_tenth_of_the_weight_per_class() -> None:
    """1000 rows, two classes: 0.1 · 1000 / 2 = 50, capped at 25. 24 rows on one side are too few, 25 are enough."""
    for few, size in [(24, 1), (25, 3)]:
        y = np.array([0] * few + [1] * (1000 - few))
        assert learn([X], column(*[0] * few, *[1] * (1000 - few)), y, AB).size == size


# ---------------------------------------------------------------- missing values


def test_missing_values_by_hand() -> None:
    """Known: x = 0 three times a, x = 1 once a and four times b: 3 and 5 of 8. The missing b goes 3/8 left and 5/8 right."""
    x, y = column(0, 0, 0, 1, 1, 1, 1, 1, NAN), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    tree = learn([X], x, y, AB, confidence=None)
    assert np.allclose(tree.counts, np.array([[4, 5], [3, 3 / 8], [1, 4 + 5 / 8]]))
    left, right = np.array([3, 3 / 8]) / (3 + 3 / 8), np.array([1, 4 + 5 / 8]) / (5 + 5 / 8)
    expected = np.stack([left, right, 3 / 8 * left + 5 / 8 * right])
    assert np.allclose(tree.predict(column(0, 1, NAN)), expected, atol=1e-15)


def test_a_missing_bucket_is_averaged_and_not_a_sign() -> None:
    """Folded hands are never shown: their bucket is missing. C4.5 then finds folds equally likely in weak and strong buckets.

    The truth is that weak hands fold. Data missing for a reason are beyond C4.5: known buckets look as if they folded too rarely.
    """
    y = np.array([0] * 40 + [1] * 30 + [2] * 30)
    x = column(*[NAN] * 40, *[0] * 30, *[1] * 30)
    tree = learn([Attribute("bucket")], x, y, ("fold", "call", "raise"))
    assert np.allclose(tree.predict(column(0, 1, NAN))[:, 0], 0.4)


def test_an_empty_leaf_answers_like_its_parent() -> None:
    colour = Attribute("colour", "nominal", ("red", "green", "blue"))
    x, y = column(*[0] * 5, *[1] * 5), np.array([0] * 5 + [1] * 5)
    tree = learn([colour], x, y, AB)
    assert "colour = blue: a (0.0)" in tree.text()
    assert tree.predict(column(2)).tolist() == [[0.5, 0.5]]
    assert np.allclose(
        learn([colour], x, y, AB, laplace=True).predict(column(0, 2, NAN)), [[6 / 7, 1 / 7], [0.5, 0.5], [0.5, 0.5]]
    )


def test_laplace() -> None:
    x, y = column(*[0] * 5, *[1] * 5), np.array([0] * 5 + [1] * 5)
    assert learn([X], x, y, ("a", "b", "c")).predict(x)[0].tolist() == [1, 0, 0]
    assert np.allclose(learn([X], x, y, ("a", "b", "c"), laplace=True).predict(x)[0], [6 / 8, 1 / 8, 1 / 8])


# ---------------------------------------------------------------- pruning


@pytest.mark.parametrize(
    ("weight", "errors", "expected"),
    [
        (6, 0, 6 * (1 - 0.25 ** (1 / 6))),  # Quinlan 1993, page 41: U25%(0, 6) = 0.206
        (9, 0, 9 * (1 - 0.25 ** (1 / 9))),  # 0.143
        (1, 0, 0.75),
        (
            16,
            1,
            2.475714 - 1,
        ),  # f = 0.09375: 16 · (0.09375 + 0.0142168 + 0.0511650) / 1.0284335; Quinlan's exact limit: 16 · 0.157
        (3, 3, 0.0),
        (3, 2.7, 0.3),
    ],
)
def test_add_errors(weight: float, errors: float, expected: float) -> None:
    assert add_errors(weight, errors, 0.25) == pytest.approx(expected, abs=1e-6)


@given(st.floats(0.5, 1e5), st.floats(0, 1))
def test_add_errors_against_the_formula(weight: float, share: float) -> None:
    errors = weight * share
    if errors == 0 or errors > 1e-6:
        assert errors + add_errors(weight, errors, 0.25) == pytest.approx(estimated(weight, errors), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_pruned_to_a_leaf(seed: int) -> None:
    """One row in ten is of the other class, whatever the attributes say."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (300, 3)).astype(float), (rng.permutation(300) < 30).astype(np.int64)
    attributes = [Attribute(name, "nominal", tuple("uvwxyz")) for name in "pqr"]
    assert learn(attributes, x, y, AB, confidence=None, collapse=False).size > 50
    pruned = learn(attributes, x, y, AB)
    assert pruned.text() == ": a (300.0/30.0)\n\nNumber of leaves: 1\nSize of the tree: 1\n"
    assert np.allclose(pruned.predict(x), [0.9, 0.1])


def test_collapse_cuts_a_subtree_that_saves_no_errors() -> None:
    x, y = column(*[0] * 10, *[1] * 10), np.array([0] * 10 + [0] * 6 + [1] * 4)
    assert learn([X], x, y, AB, confidence=None).size == 1
    assert learn([X], x, y, AB, confidence=None, collapse=False).size == 3


# ---------------------------------------------------------------- the twin


def shape(tree: Tree, node: int = 0) -> Any:
    counts = [round(c, 6) for c in tree.counts[node].tolist()]
    if not tree.children[node]:
        return counts
    threshold = tree.threshold[node]
    return (
        int(tree.attribute[node]),
        None if isnan(threshold) else threshold,
        counts,
        [shape(tree, s) for s in tree.children[node]],
    )


def same(a: Any, b: Any) -> bool:
    """Equal up to rounding."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b if a is None or b is None else abs(a - b) < 1e-5


def random_data(seed: int) -> tuple[list[Attribute], np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 90)), int(rng.integers(1, 5))
    attributes, columns = [], []
    for a in range(k):
        n_values = int(rng.integers(2, 5))
        nominal = rng.random() < 0.4
        attributes.append(Attribute(f"a{a}", "nominal", tuple("stuvw"[:n_values])) if nominal else Attribute(f"a{a}"))
        columns.append(rng.integers(0, n_values, n) if nominal else rng.integers(0, 8, n))
    x = np.stack(columns, axis=1).astype(float)
    y = (x[:, 0] + rng.integers(0, 3, n) * (rng.random(n) < 0.6)).astype(np.int64) % 3
    x[rng.random(x.shape) < rng.choice([0, 0.2, 0.5])] = np.nan
    weights = rng.choice([1.0, 1.0, 2.0, 0.5], n) if rng.random() < 0.3 else np.ones(n)
    return attributes, x, y, weights


@pytest.mark.parametrize("seed", range(150))
def test_the_twin_grows_and_prunes_the_same_tree(seed: int) -> None:
    attributes, x, y, weights = random_data(seed)
    min_leaf, mdl, raising = 1 + seed % 3, seed % 4 != 0, seed % 5 != 0
    rows = [(tuple(r), int(c), float(w)) for r, c, w in zip(x, y, weights, strict=True)]
    twin = Twin(rows, [len(a.values) for a in attributes], 3, min_leaf, mdl)
    options: dict[str, Any] = {"min_leaf": min_leaf, "mdl": mdl, "subtree_raising": raising}
    grown = learn(attributes, x, y, ("a", "b", "c"), weights, confidence=None, collapse=False, **options)
    assert same(shape(grown), twin.root.shape())
    twin.collapse(twin.root)
    assert same(shape(learn(attributes, x, y, ("a", "b", "c"), weights, confidence=None, **options)), twin.root.shape())
    twin.prune(twin.root, raising)
    assert same(shape(learn(attributes, x, y, ("a", "b", "c"), weights, **options)), twin.root.shape())


def test_the_twins_cases_include_raised_branches() -> None:
    changed = 0
    for seed in range(150):
        attributes, x, y, weights = random_data(seed)
        trees = [learn(attributes, x, y, ("a", "b", "c"), weights, subtree_raising=r) for r in (True, False)]
        changed += trees[0].text() != trees[1].text()
    assert changed > 5


def slow_predict(tree: Tree, row: np.ndarray, node: int = 0) -> np.ndarray:
    if not tree.children[node]:
        result: np.ndarray = tree.probabilities[node]
        return result
    sons, value = tree.children[node], row[tree.attribute[node]]
    if isnan(value):
        weights = tree.counts[list(sons)].sum(axis=1)
        return sum((w / weights.sum() * slow_predict(tree, row, s) for w, s in zip(weights, sons, strict=True)), np.zeros(3))
    threshold = tree.threshold[node]
    return slow_predict(tree, row, sons[int(value) if isnan(threshold) else int(value > threshold)])


# ---------------------------------------------------------------- properties


@given(st.integers(0, 10_000))
def test_predictions_are_probabilities_and_those_of_a_walk_row_by_row(seed: int) -> None:
    attributes, x, y, weights = random_data(seed)
    for laplace in (False, True):
        tree = learn(attributes, x, y, ("a", "b", "c"), weights, laplace=laplace, confidence=0.5)
        predicted = tree.predict(x)
        assert np.all(predicted >= 0)
        assert np.allclose(predicted.sum(axis=1), 1, atol=1e-12)
        assert np.allclose(predicted, [slow_predict(tree, row) for row in x], atol=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_a_row_of_weight_three_is_three_rows_in_any_order(seed: int, k: int) -> None:
    attributes, x, y, weights = random_data(seed)
    heavy = learn(attributes, x, y, ("a", "b", "c"), k * weights)
    order = np.random.default_rng(seed).permutation(k * len(x))
    many = learn(attributes, np.tile(x, (k, 1))[order], np.tile(y, k)[order], ("a", "b", "c"), np.tile(weights, k)[order])
    assert same(shape(heavy), shape(many))


def test_weight_zero_is_no_row() -> None:
    x, y = column(0, 0, 0, 1, 1, 1, 2), np.array([0, 0, 0, 1, 1, 1, 0])
    with_it = learn([X], x, y, AB, np.array([1, 1, 1, 1, 1, 1, 0.0]))
    assert same(shape(with_it), shape(learn([X], x[:6], y[:6], AB)))


def test_many_rows() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 8, (100_000, 5)).astype(float)
    x[rng.random(100_000) < 0.5, 4] = np.nan
    y = ((x[:, 0] + np.nan_to_num(x[:, 4]) + rng.integers(0, 6, 100_000)) // 8).astype(np.int64).clip(0, 2)
    tree = learn([Attribute(f"a{a}") for a in range(5)], x, y, ("fold", "call", "raise"))
    assert 10 < tree.size < 5000
    assert tree.predict(x).shape == (100_000, 3)


def test_no_tree_is_too_deep() -> None:
    """A chain of 3000 tests, x <= 0, x <= 1, ..., deeper than Python's recursion: node 2k tests, node 2k + 1 is a leaf."""
    n = 3000
    whole = learn([X], column(0, 0, 1, 1), np.array([0, 0, 1, 1]), AB).to_json()
    whole["nodes"] = [{"counts": [0, 1]}]
    for k in reversed(range(n)):
        counts = [(n - k) // 2, (n - k + 1) // 2 + 1]
        leaf = [1, 0] if (n - k) % 2 == 0 else [0, 1]
        whole["nodes"][:0] = [
            {"counts": counts, "attribute": 0, "threshold": k, "children": [2 * k + 1, 2 * k + 2]},
            {"counts": leaf},
        ]
    tree = Tree.from_json(json.loads(json.dumps(whole)))
    assert (tree.size, len(tree.text().split("\n"))) == (2 * n + 1, 2 * n + 4)
    assert tree.predict(column(0, 1, n)).tolist() == [[1, 0], [0, 1], [0, 1]]
    assert np.allclose(tree.predict(column(NAN)), [[(n // 2) / (n + 1), (n // 2 + 1) / (n + 1)]])


def test_edge_shapes() -> None:
    x, y = column(0, 0, 0, 1, 1, 1), np.array([0, 0, 0, 1, 1, 1])
    tree = learn([X], x, y, AB)
    assert tree.predict(np.empty((0, 1))).shape == (0, 2)
    assert tree.predict(column(-np.inf, np.inf)).tolist() == [[1, 0], [0, 1]]
    assert learn([], np.empty((4, 0)), np.array([0, 1, 1, 1]), AB).predict(np.empty((2, 0))).tolist() == [[0.25, 0.75]] * 2
    assert learn([X], column(NAN, NAN, NAN, NAN), np.array([0, 1, 0, 1]), AB).size == 1
    assert learn([X], column(1e15, 1e15, 2e15, 2e15), np.array([0, 0, 1, 1]), AB).predict(column(1e15)).tolist() == [[1, 0]]
    assert grow(gather((X,), x, y, np.ones(6), 2), Settings()).split is not None


# ---------------------------------------------------------------- refusals and files


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"x": np.zeros((6, 2))}, "shape"),
        ({"x": [["?"]] * 6}, "matrix of numbers"),
        ({"x": np.full((6, 1), np.inf)}, "finite"),
        ({"classes": np.array([0, 0, 0, 1, 1, 2])}, "from 0 to 1"),
        ({"classes": np.zeros(6)}, "whole numbers"),
        ({"weights": -np.ones(6)}, "from 0"),
        ({"weights": np.zeros(6)}, "no training rows"),
        ({"weights": np.full(6, 1e300)}, "from 0"),
        ({"class_names": ("a", "a")}, "different"),
        ({"attributes": [Attribute("c", "nominal", ("u",))]}, "1 is none of them"),
        ({"confidence": 0.6}, "confidence"),
        ({"confidence": NAN}, "confidence"),
        ({"min_leaf": 0}, "min_leaf"),
        ({"laplace": 1}, "laplace"),
    ],
)
def test_learn_refuses(change: dict[str, Any], says: str) -> None:
    good = {"attributes": [X], "x": column(0, 0, 0, 1, 1, 1), "classes": np.array([0, 0, 0, 1, 1, 1]), "class_names": AB}
    with pytest.raises(BadParameter, match=says):
        learn(**{**good, **change})


def test_attributes_refuse() -> None:
    wrong: list[Any] = [("",), ("x", "ordinal"), ("x", "nominal"), ("x", "numeric", ("a",)), ("x", "nominal", ("a", "a"))]
    for arguments in wrong:
        with pytest.raises(BadParameter):
            Attribute(*arguments)
    tree = learn([Attribute("c", "nominal", AB)], column(0, 0, 1, 1), np.array([0, 0, 1, 1]), AB)
    for x in (column(2), column(0.5), column(-1)):
        with pytest.raises(BadParameter, match="none of them"):
            tree.predict(x)


def labor_json() -> dict[str, Any]:
    attributes, x, y = labor()
    tree = learn(attributes, x, y, CLASSES, confidence=None)
    copy: dict[str, Any] = json.loads(json.dumps(tree.to_json()))
    return copy


def test_files_round_trip(tmp_path: Any) -> None:
    attributes, x, y = labor()
    tree = learn(attributes, x, y, CLASSES, confidence=None, laplace=True)
    write_json(tmp_path / "tree.json", tree.to_json())
    again = Tree.from_json(read_json(tmp_path / "tree.json"))
    assert again.to_json() == tree.to_json()
    assert again.text() == tree.text()
    assert again.settings == tree.settings
    assert np.array_equal(again.predict(x), tree.predict(x))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-2, 30) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_damaged_files_give_a_sentence_or_a_tree_that_works(data: st.DataObject) -> None:
    """Any value anywhere replaced by anything, or removed."""
    whole = labor_json()
    place: Any = whole
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not (isinstance(inner, dict | list) and inner) or data.draw(st.integers(0, 3)) == 0:
            break
        place = inner
    if data.draw(st.booleans()):
        place[key] = data.draw(JUNK)
    else:
        del place[key]
    try:
        tree = Tree.from_json(whole)
    except BadFile:
        return
    assert np.allclose(tree.predict(np.full((1, len(tree.attributes)), np.nan)).sum(axis=1), 1)
    assert tree.text()


@given(JUNK)
def test_junk_is_refused(junk: Any) -> None:
    with pytest.raises(BadFile):
        Tree.from_json(junk)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["format"], 99, "newer"),
        (["nodes"], [], "no nodes"),
        (["nodes", 0, "children"], [1, 1], "form a tree"),
        (["nodes", 0, "children"], [0, 1], "form a tree"),
        (["nodes", 0, "threshold"], NAN, "threshold"),
        (["nodes", 0, "counts"], [1, 1], "not those of its children"),
        (["nodes", 0, "counts"], [-1, 1], "counts of node 0"),
        (["nodes", 0, "attribute"], 16, "does not exist"),
        (["classes"], ["a", ["b"]], "classes"),
        (["settings", "confidence"], 10**400, "confidence"),
    ],
)
def test_damage_is_named(path: list[Any], value: Any, says: str) -> None:
    whole = labor_json()
    place: Any = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(BadFile, match=says):
        Tree.from_json(whole)
