"""C4.5 trees as dicts for JSON files. Everything read is checked; damage raises `BadFile`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from math import isfinite
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.base.files import FORMAT, check_format
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
MAX_LOST = 1e-3  # weight that may vanish below a node: J48 drops shares below 1e-6


def to_json(tree: Tree) -> dict[str, Any]:
    """A dict for `write_json`."""
    nodes = []
    for node, successors in enumerate(tree.children):
        entry: dict[str, Any] = {"counts": tree.counts[node].tolist()}
        if successors:
            entry |= {"attribute": int(tree.attribute[node]), "children": list(successors)}
            if not np.isnan(tree.threshold[node]):
                entry["threshold"] = float(tree.threshold[node])
        nodes.append(entry)
    attributes = [
        {"name": a.name, "kind": a.kind, "values": list(a.values)} for a in tree.attributes
    ]
    head = {"counterplay": KIND, "format": FORMAT, "settings": asdict(tree.settings)}
    return {**head, "attributes": attributes, "classes": list(tree.classes), "nodes": nodes}


def from_json(data: Mapping[str, Any]) -> Tree:
    """The tree of a dict that `to_json` made; raises `BadFile`."""
    if not isinstance(data, Mapping) or data.get("counterplay") != KIND:
        raise BadFile("not a decision tree of Counterplay")
    check_format(data.get("format"), "the tree is ")
    try:
        names = [field.name for field in fields(Settings)]
        settings = Settings(**_exactly(data.get("settings"), names, "the settings"))
        attributes = tuple(map(_attribute, _list(data.get("attributes"), "the attributes")))
        check_names([attribute.name for attribute in attributes], "names of attributes")
        classes = check_names(_list(data.get("classes"), "the classes"), "classes")
        if not classes:
            raise BadParameter("there are no classes")
    except (BadParameter, TypeError) as error:  # TypeError: an unhashable list in place of a text
        raise _damaged(str(error)) from None
    return _tree(attributes, classes, _list(data.get("nodes"), "the nodes"), settings)


def _attribute(entry: object) -> Attribute:
    parts = _exactly(entry, ["name", "kind", "values"], "an attribute")
    values = _list(parts["values"], "the values of an attribute")
    return Attribute(parts["name"], parts["kind"], tuple(values))


def _tree(
    attributes: tuple[Attribute, ...], classes: tuple[str, ...], nodes: list[Any], options: Settings
) -> Tree:
    if not nodes:
        raise _damaged("it has no nodes")
    attribute = np.full(len(nodes), LEAF, dtype=np.int64)
    threshold = np.full(len(nodes), np.nan)
    counts = np.zeros((len(nodes), len(classes)))
    children: list[tuple[int, ...]] = []
    for node, entry in enumerate(nodes):
        if not isinstance(entry, dict):
            raise _damaged(f"node {node} is not an object")
        counts[node] = _counts(entry.get("counts"), len(classes), node)
        children.append(())
        if set(entry) != {"counts"}:
            attribute[node], threshold[node], children[node] = _test(entry, attributes, node)
    _check_shape(children)
    for node, successors in enumerate(children):
        total = counts[node].sum()
        if total > MAX_WEIGHT or (successors and total <= SMALL) or (node == 0 and total <= 0):
            raise _damaged(f"the weight {total} at node {node}")
        lost = abs(counts[list(successors)].sum(axis=0) - counts[node])
        if successors and np.any(lost > MAX_LOST * (1 + total)):
            raise _damaged(f"the counts of node {node} are not those of its children")
    return Tree(attributes, classes, attribute, threshold, tuple(children), counts, options)


def _counts(counts: object, n: int, node: int) -> list[float]:
    numbers = counts if isinstance(counts, list) else []
    if len(numbers) != n or not all(_is_number(c) and 0 <= c <= MAX_WEIGHT for c in numbers):
        raise _damaged(f"the counts of node {node} must be {n} numbers from 0 to {MAX_WEIGHT}")
    return [float(c) for c in numbers]


def _test(
    entry: dict[str, Any], attributes: tuple[Attribute, ...], node: int
) -> tuple[int, float, tuple[int, ...]]:
    a = entry.get("attribute")
    if type(a) is not int or not 0 <= a < len(attributes):
        raise _damaged(f"node {node} tests attribute {a!r}, which does not exist")
    numeric = attributes[a].kind == "numeric"
    expected = {"counts", "attribute", "children"} | ({"threshold"} if numeric else set())
    if set(entry) != expected:
        raise _damaged(f"node {node} must hold {', '.join(sorted(expected))}")
    if numeric and not _is_number(entry["threshold"]):
        raise _damaged(f"node {node} has the threshold {entry['threshold']!r}")
    n, successors = 2 if numeric else len(attributes[a].values), entry["children"]
    if not isinstance(successors, list) or [type(s) for s in successors] != [int] * n:
        raise _damaged(f"node {node} must have {n} children")
    return a, float(entry["threshold"]) if numeric else np.nan, tuple(successors)


def _check_shape(children: list[tuple[int, ...]]) -> None:
    """Every node but the root is the child of exactly one node before it."""
    later = [s for node, successors in enumerate(children) for s in successors if s > node]
    if len(later) < sum(map(len, children)) or sorted(later) != list(range(1, len(children))):
        raise _damaged("its nodes do not form a tree")


def _damaged(what: str) -> BadFile:
    return BadFile(f"the tree is damaged: {what}")


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _damaged(f"{what} must be a list")
    return value


def _exactly(value: object, names: list[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise _damaged(f"{what} must hold {', '.join(names)}")
    return value


def _is_number(value: object) -> bool:
    """A finite int or float as JSON has them."""
    try:
        return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False
