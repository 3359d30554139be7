"""C4.5 trees as plain dicts for JSON files. All that is read is checked: a damaged file gives a
sentence and not a wrong tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from math import isfinite
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.base.files import FORMAT
from counterplay.poker.models.c45.tree import (
    LEAF,
    MAX_WEIGHT,
    SMALL,
    Attribute,
    Settings,
    Tree,
    check_names,
)

KIND = "c45"
LOST = (
    1e-3  # weight that may be missing between a node and its children: J48 drops shares below 1e-6
)


def to_json(tree: Tree) -> dict[str, Any]:
    nodes = []
    for node, sons in enumerate(tree.children):
        entry: dict[str, Any] = {"counts": tree.counts[node].tolist()}
        if sons:
            entry |= {"attribute": int(tree.attribute[node]), "children": list(sons)}
            if not np.isnan(tree.threshold[node]):
                entry["threshold"] = float(tree.threshold[node])
        nodes.append(entry)
    attributes = [
        {"name": a.name, "kind": a.kind, "values": list(a.values)} for a in tree.attributes
    ]
    head = {"counterplay": KIND, "format": FORMAT, "settings": asdict(tree.settings)}
    return {**head, "attributes": attributes, "classes": list(tree.classes), "nodes": nodes}


def from_json(data: Mapping[str, Any]) -> Tree:
    """What `to_json` made, or `BadFile`."""
    if not isinstance(data, Mapping) or data.get("counterplay") != KIND:
        raise BadFile("not a decision tree of Counterplay")
    version = data.get("format")
    if type(version) is not int or version < 1:
        raise BadFile(f"the tree is damaged: format {version!r}")
    if version > FORMAT:
        raise BadFile(
            f"the tree was written by a newer version of Counterplay (format {version}, this one "
            f"reads {FORMAT})"
        )
    try:
        settings = Settings(
            **_exactly(
                data.get("settings"), [field.name for field in fields(Settings)], "the settings"
            )
        )
        attributes = tuple(
            _attribute(entry) for entry in _list(data.get("attributes"), "the attributes")
        )
        check_names([attribute.name for attribute in attributes], "names of attributes")
        classes = check_names(_list(data.get("classes"), "the classes"), "classes")
        if not classes:
            raise BadParameter("there are no classes")
    except (
        BadParameter,
        TypeError,
    ) as error:  # TypeError: a list where a text should be cannot be hashed
        raise BadFile(f"the tree is damaged: {error}") from None
    return _tree(attributes, classes, _list(data.get("nodes"), "the nodes"), settings)


def _attribute(entry: object) -> Attribute:
    parts = _exactly(entry, ["name", "kind", "values"], "an attribute")
    return Attribute(
        parts["name"], parts["kind"], tuple(_list(parts["values"], "the values of an attribute"))
    )


def _tree(
    attributes: tuple[Attribute, ...],
    classes: tuple[str, ...],
    nodes: list[Any],
    settings: Settings,
) -> Tree:
    if not nodes:
        raise BadFile("the tree is damaged: it has no nodes")
    attribute = np.full(len(nodes), LEAF, dtype=np.int64)
    threshold = np.full(len(nodes), np.nan)
    counts = np.zeros((len(nodes), len(classes)))
    children: list[tuple[int, ...]] = []
    for node, entry in enumerate(nodes):
        if not isinstance(entry, dict):
            raise BadFile(f"the tree is damaged: node {node} is not an object")
        counts[node] = _counts(entry.get("counts"), len(classes), node)
        children.append(())
        if set(entry) != {"counts"}:
            attribute[node], threshold[node], children[node] = _test(entry, attributes, node)
    _check_shape(children)
    for node, sons in enumerate(children):
        total = counts[node].sum()
        if total > MAX_WEIGHT or (sons and total <= SMALL) or (node == 0 and total <= 0):
            raise BadFile(f"the tree is damaged: the weight {total} at node {node}")
        if sons and np.any(abs(counts[list(sons)].sum(axis=0) - counts[node]) > LOST * (1 + total)):
            raise BadFile(
                f"the tree is damaged: the counts of node {node} are not those of its children"
            )
    return Tree(attributes, classes, attribute, threshold, tuple(children), counts, settings)


def _counts(counts: object, n: int, node: int) -> list[float]:
    if (
        not isinstance(counts, list)
        or len(counts) != n
        or not all(_is_number(c) and 0 <= c <= MAX_WEIGHT for c in counts)
    ):
        raise BadFile(
            f"the tree is damaged: the counts of node {node} must be {n} numbers from 0 to "
            f"{MAX_WEIGHT}"
        )
    return [float(c) for c in counts]


def _test(
    entry: dict[str, Any], attributes: tuple[Attribute, ...], node: int
) -> tuple[int, float, tuple[int, ...]]:
    a = entry.get("attribute")
    if type(a) is not int or not 0 <= a < len(attributes):
        raise BadFile(
            f"the tree is damaged: node {node} tests attribute {a!r}, which does not exist"
        )
    numeric = attributes[a].kind == "numeric"
    expected = {"counts", "attribute", "children"} | ({"threshold"} if numeric else set())
    if set(entry) != expected:
        raise BadFile(f"the tree is damaged: node {node} must hold {', '.join(sorted(expected))}")
    if numeric and not _is_number(entry["threshold"]):
        raise BadFile(f"the tree is damaged: node {node} has the threshold {entry['threshold']!r}")
    n, sons = 2 if numeric else len(attributes[a].values), entry["children"]
    if not isinstance(sons, list) or len(sons) != n or not all(type(son) is int for son in sons):
        raise BadFile(f"the tree is damaged: node {node} must have {n} children")
    return a, float(entry["threshold"]) if numeric else np.nan, tuple(sons)


def _check_shape(children: list[tuple[int, ...]]) -> None:
    """Every node but the root is the child of exactly one node before it."""
    found = [son for node, sons in enumerate(children) for son in sons if son > node]
    if len(found) < sum(map(len, children)) or sorted(found) != list(range(1, len(children))):
        raise BadFile("the tree is damaged: its nodes do not form a tree")


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadFile(f"the tree is damaged: {what} must be a list")
    return value


def _exactly(value: object, names: list[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise BadFile(f"the tree is damaged: {what} must hold {', '.join(names)}")
    return value


def _is_number(value: object) -> bool:
    """A finite int or float as JSON has them."""
    try:
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and isfinite(float(value))
        )
    except OverflowError:
        return False
