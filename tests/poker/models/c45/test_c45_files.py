"""C4.5: refusals, trees as text, files, damaged files."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.labor import CLASSES, labor
from support.c45 import AB, NAN, X, column

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.base.files import read_json, write_json
from counterplay.poker.models.c45.learn import Attribute, learn
from counterplay.poker.models.c45.tree import from_json, to_json


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
    good = {
        "attributes": [X],
        "x": column(0, 0, 0, 1, 1, 1),
        "classes": np.array([0, 0, 0, 1, 1, 1]),
        "class_names": AB,
    }
    with pytest.raises(BadParameter, match=says):
        learn(**{**good, **change})


def test_attributes_refuse() -> None:
    wrong: list[Any] = [
        ("",),
        ("x", "ordinal"),
        ("x", "nominal"),
        ("x", "numeric", ("a",)),
        ("x", "nominal", ("a", "a")),
    ]
    for arguments in wrong:
        with pytest.raises(BadParameter):
            Attribute(*arguments)
    tree = learn([Attribute("c", "nominal", AB)], column(0, 0, 1, 1), np.array([0, 0, 1, 1]), AB)
    for x in (column(2), column(0.5), column(-1)):
        with pytest.raises(BadParameter, match="none of them"):
            tree.predict(x)


# ---------------------------------------------------------------- text


def cut_at(threshold: float, weight: float = 2.0) -> dict[str, Any]:
    """The file of a tree with one test."""
    whole = to_json(learn([X], column(0, 0, 1, 1), np.array([0, 0, 1, 1]), AB))
    whole["nodes"][0] |= {"threshold": threshold, "counts": [weight, 2]}
    whole["nodes"][1]["counts"] = [weight, 0]
    return whole


@pytest.mark.parametrize(
    ("threshold", "printed"),
    [
        (-0.0, "0"),
        (-1e-9, "0"),
        (1e-300, "0"),
        (-0.5, "-0.5"),
        (100, "100"),
        (-120.25, "-120.25"),
        (0.1 + 0.2, "0.3"),
        (2.0000004, "2"),
        (1e22, "1" + 22 * "0"),
        (-1e17, "-1" + 17 * "0"),
    ],
)
def test_thresholds_print_as_plain_numbers(threshold: float, printed: str) -> None:
    lines = from_json(cut_at(threshold)).text().split("\n")
    assert [line.split(":")[0] for line in lines[:2]] == [f"x <= {printed}", f"x > {printed}"]


@pytest.mark.parametrize(
    ("weight", "printed"),
    [
        (2, "2.0"),
        (2.125, "2.13"),
        (0.001, "0.0"),
        (-0.0, "0.0"),
        (12345678.5, "12345678.5"),
        (2**52, "4503599627370496.0"),
    ],
)
def test_weights_print_as_plain_numbers(weight: float, printed: str) -> None:
    assert f" ({printed})\nx > 0" in from_json(cut_at(0, weight)).text()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e15))
def test_every_number_prints_plainly_and_is_nearly_itself(threshold: float, weight: float) -> None:
    printed = re.fullmatch(
        r"x <= (\S+): [ab] \((\S+)\)",
        from_json(cut_at(threshold, weight)).text().split("\n")[0],
    )
    assert printed
    for text, value, error in ((printed[1], threshold, 6e-7), (printed[2], weight, 0.0051)):
        assert re.fullmatch(r"-?\d+(\.\d+)?", text)
        assert not (text.startswith("-") and float(text) == 0)
        assert abs(float(text) - value) <= error + 1e-15 * abs(value)


def test_minus_zero_in_the_data_is_zero() -> None:
    tree = learn([X], column(-0.0, -0.0, 0, 1, 1, 1), np.array([0, 0, 0, 1, 1, 1]), AB)
    assert not np.signbit(tree.threshold[0])
    assert tree.predict(column(-0.0, 0.0)).tolist() == [[1, 0]] * 2


# ---------------------------------------------------------------- files


@cache
def labor_text() -> str:
    attributes, x, y = labor()
    return json.dumps(to_json(learn(attributes, x, y, CLASSES, confidence=None)))


def labor_json() -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(labor_text())
    return copy


def test_files_round_trip(tmp_path: Any) -> None:
    attributes, x, y = labor()
    tree = learn(attributes, x, y, CLASSES, confidence=None, laplace=True)
    write_json(tmp_path / "tree.json", to_json(tree))
    again = from_json(read_json(tmp_path / "tree.json"))
    assert to_json(again) == to_json(tree)
    assert again.text() == tree.text()
    assert again.settings == tree.settings
    assert np.array_equal(again.predict(x), tree.predict(x))


def test_a_file_of_version_0_1_predicts_what_it_did() -> None:
    """As `to_json` wrote it before values were compared exactly."""
    settings = {
        "confidence": 0.25,
        "min_leaf": 2,
        "laplace": True,
        "subtree_raising": True,
        "collapse": True,
        "mdl": True,
    }
    nodes = [
        {"counts": [2.0, 6.0], "attribute": 0, "children": [1, 2], "threshold": 4.0},
        {"counts": [2.0, 0.0]},
        {"counts": [0.0, 6.0]},
    ]
    attributes = [{"name": "bucket", "kind": "numeric", "values": []}]
    head = {"counterplay": "c45", "format": 1, "settings": settings, "attributes": attributes}
    tree = from_json({**head, "classes": ["fold", "call"], "nodes": nodes})
    left, right = [3 / 4, 1 / 4], [1 / 8, 7 / 8]
    mixed = (np.array(left) + 3 * np.array(right)) / 4
    assert np.allclose(
        tree.predict(column(0, 4, 5, 9, NAN)), [left, left, right, right, mixed], atol=1e-15
    )


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-2, 30)
    | st.floats()
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data())
def test_damaged_files_give_a_sentence_or_a_tree_that_works(data: st.DataObject) -> None:
    """Any value anywhere replaced by anything, or removed."""
    whole = labor_json()
    place: Any = whole
    while True:
        key = data.draw(
            st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))
        )
        inner = place[key]
        if not (isinstance(inner, dict | list) and inner) or data.draw(st.integers(0, 3)) == 0:
            break
        place = inner
    if data.draw(st.booleans()):
        place[key] = data.draw(JUNK)
    else:
        del place[key]
    try:
        tree = from_json(whole)
    except BadFile:
        return
    assert np.allclose(tree.predict(np.full((1, len(tree.attributes)), np.nan)).sum(axis=1), 1)
    assert tree.text()


@given(JUNK)
def test_junk_is_refused(junk: Any) -> None:
    with pytest.raises(BadFile):
        from_json(junk)


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
        from_json(whole)
