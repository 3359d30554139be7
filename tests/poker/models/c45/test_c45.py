"""C4.5: Weka's own trees, and numbers worked by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.c45 import estimated
from reference.labor import CLASSES, labor
from support.c45 import AB, ABC, NAN, X, column

from counterplay.poker.models.c45.grow import Node, Split, count, group_patterns, split_on
from counterplay.poker.models.c45.learn import Attribute, Settings, add_errors, learn

# Quinlan's golf data as Weka has them (weather.numeric.arff): outlook, temperature, humidity,
# windy, play.
WEATHER = [
    Attribute("outlook", "nominal", ("sunny", "overcast", "rainy")),
    Attribute("temperature"),
    Attribute("humidity"),
    Attribute("windy", "nominal", ("TRUE", "FALSE")),
]
WEATHER_ROWS = np.array(
    [
        [0, 85, 85, 1, 0],
        [0, 80, 90, 0, 0],
        [1, 83, 86, 1, 1],
        [2, 70, 96, 1, 1],
        [2, 68, 80, 1, 1],
        [2, 65, 70, 0, 0],
        [1, 64, 65, 0, 1],
        [0, 72, 95, 1, 0],
        [0, 69, 70, 1, 1],
        [2, 75, 80, 1, 1],
        [0, 75, 70, 0, 1],
        [1, 72, 90, 0, 1],
        [1, 81, 75, 1, 1],
        [2, 71, 91, 0, 0],
    ],
    dtype=float,
)
PLAY = WEATHER_ROWS[:, 4].astype(int)


def stump(attribute: Attribute, x: np.ndarray, y: list[int], mdl: bool = True) -> Split | None:
    """The root's test of the only attribute, before anything is chosen or pruned."""
    data = group_patterns((attribute,), x, np.array(y), np.ones(len(y)), max(y) + 1)
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
    stored = learn(attributes, x, y, CLASSES, subtree_raising=False)
    assert stored.text().startswith(
        "wage-increase-first-year <= 2.5: bad (15.27/2.27)\nwage-increase-first-year > 2.5: good "
        "(41.73/7.0)\n"
    )


# ---------------------------------------------------------------- the criteria, by hand


def test_gain_ratio_of_outlook_is_quinlans() -> None:
    """Quinlan 1993: gain 0.246, split information 1.577, gain ratio 0.156."""
    split = stump(WEATHER[0], WEATHER_ROWS[:, :1], PLAY.tolist())
    assert split is not None
    assert split.gain == pytest.approx(0.2467, abs=1e-4)
    assert split.ratio == pytest.approx(0.2467 / 1.5774, abs=1e-4)


def test_gain_of_a_threshold_pays_for_the_choice() -> None:
    """aab|bbbb... : 4 a, 4 b in order; candidates keep 2 on each side, so 5 of the 7 places
    count. Perfect split: 1 bit."""
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
    """Known: aabb, cut in the middle; two more are missing. Gain 4/6 · 1 bit, one candidate;
    info of (2, 2, 2) is log2 3."""
    split = stump(X, column(1, 1, 2, 2, NAN, NAN), [0, 0, 1, 1, 0, 1])
    assert split is not None
    assert split.gain == pytest.approx(4 / 6)
    assert split.ratio == pytest.approx(4 / 6 / log2(3))


def test_a_threshold_is_a_value_of_the_whole_training_set() -> None:
    """Below g = 1 only x = 1 and 9 occur, whose middle is 5; the largest x up to 5 anywhere is
    4, seen at g = 0."""
    rows = [[0, 4]] * 6 + [[1, 1]] * 3 + [[1, 9]] * 3
    y = np.array([0] * 6 + [1] * 3 + [2] * 3)
    tree = learn(
        [Attribute("g", "nominal", ("p", "q")), X], np.array(rows, dtype=float), y, ("a", "b", "c")
    )
    assert tree.text().split("\n")[:4] == [
        "g = p: a (6.0)",
        "g = q",
        "|   x <= 4: b (3.0)",
        "|   x > 4: c (3.0)",
    ]


def test_min_leaf() -> None:
    x, y = column(1, 2, 3, 4, 5, 6, 7, 8), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    assert learn([X], x, y, AB, confidence=None).threshold[0] == 3
    assert learn([X], x, y, AB, confidence=None, min_leaf=4).threshold[0] == 4
    assert learn([X], x, y, AB, confidence=None, min_leaf=5).size == 1


def test_both_sides_need_a_tenth_of_the_weight_per_class() -> None:
    """1000 rows, two classes: 0.1 · 1000 / 2 = 50, capped at 25. 24 rows on one side are too
    few, 25 are enough."""
    for few, size in [(24, 1), (25, 3)]:
        y = np.array([0] * few + [1] * (1000 - few))
        assert learn([X], column(*[0] * few, *[1] * (1000 - few)), y, AB).size == size


# --- what Weka 3.9.7 gives, value by value


def test_a_value_a_hair_above_the_threshold_is_above_it() -> None:
    """The threshold moves down to the value 1, and values are compared exactly."""
    tree = learn([X], column(1, 1, 2, 2), np.array([0, 0, 1, 1]), AB)
    assert tree.threshold[0] == 1
    above = [np.nextafter(1, 2), 1 + 1e-12, 1.0000005, 1.000002]
    assert tree.predict(column(*above)).tolist() == [[0, 1]] * 4
    assert tree.predict(column(1, np.nextafter(1, 0), 0.999)).tolist() == [[1, 0]] * 3


def test_a_value_a_hair_above_the_middle_is_no_threshold() -> None:
    """(0.342 + 0.344) / 2 is the float below 0.343, which only y has."""
    rows = [[0, 0.342]] * 2 + [[0, 0.344]] * 2 + [[1, 0.343]] * 3
    group = Attribute("g", "nominal", ("x", "y"))
    tree = learn([group, X], np.array(rows), np.array([0, 0, 1, 1, 2, 2, 2]), ABC)
    assert tree.text().startswith("g = x\n|   x <= 0.342: a (2.0)\n|   x > 0.342: b (2.0)\ng = y")
    assert tree.predict(np.array([[0, 0.343], [0, 0.342]])).tolist() == [[0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize(("gap", "size"), [(9e-6, 1), (2e-5, 3)])
def test_there_is_no_threshold_between_values_closer_than_a_hundred_thousandth(
    gap: float, size: int
) -> None:
    assert learn([X], column(1, 1, 1 + gap, 1 + gap), np.array([0, 0, 1, 1]), AB).size == size


@pytest.mark.parametrize(("between", "size"), [(62, 3), (63, 1)])
def test_values_of_rows_without_weight_are_among_the_candidates(between: int, size: int) -> None:
    """aaa|bbb gains 1 bit and pays log2(candidates) / 6 for the choice: nothing is left with 64
    of them."""
    x = column(0, 0, 0, 1, 1, 1, *np.linspace(0.01, 0.99, between))
    y, weights = np.array([0] * 3 + [1] * 3 + [2] * between), np.array([1.0] * 6 + [0.0] * between)
    tree = learn([X], x, y, ABC, weights)
    assert (tree.size, tree.counts[0].tolist()) == (size, [3, 3, 0])


# ---------------------------------------------------------------- missing values


def test_missing_values_by_hand() -> None:
    """Known: x = 0 three times a, x = 1 once a and four times b: 3 and 5 of 8. The missing b
    goes 3/8 left and 5/8 right."""
    x, y = column(0, 0, 0, 1, 1, 1, 1, 1, NAN), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    tree = learn([X], x, y, AB, confidence=None)
    assert np.allclose(tree.counts, np.array([[4, 5], [3, 3 / 8], [1, 4 + 5 / 8]]))
    left, right = np.array([3, 3 / 8]) / (3 + 3 / 8), np.array([1, 4 + 5 / 8]) / (5 + 5 / 8)
    expected = np.stack([left, right, 3 / 8 * left + 5 / 8 * right])
    assert np.allclose(tree.predict(column(0, 1, NAN)), expected, atol=1e-15)


def test_a_missing_bucket_is_averaged_and_not_a_sign() -> None:
    """Folded hands are never shown: their bucket is missing. C4.5 then finds folds equally likely
    in weak and strong buckets.

    The truth is that weak hands fold. Data missing for a reason are beyond C4.5: known buckets look
    as if they folded too rarely.
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
        learn([colour], x, y, AB, laplace=True).predict(column(0, 2, NAN)),
        [[6 / 7, 1 / 7], [0.5, 0.5], [0.5, 0.5]],
    )


def test_laplace() -> None:
    x, y = column(*[0] * 5, *[1] * 5), np.array([0] * 5 + [1] * 5)
    assert learn([X], x, y, ("a", "b", "c")).predict(x)[0].tolist() == [1, 0, 0]
    assert np.allclose(
        learn([X], x, y, ("a", "b", "c"), laplace=True).predict(x)[0], [6 / 8, 1 / 8, 1 / 8]
    )


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
            # f = 0.09375: 16 · (0.09375 + 0.0142168 + 0.0511650) / 1.0284335; Quinlan's exact
            # limit: 16 · 0.157
        ),
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
        assert errors + add_errors(weight, errors, 0.25) == pytest.approx(
            estimated(weight, errors), rel=1e-9
        )


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
