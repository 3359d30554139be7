"""C4.5 decision trees: structure, predictions and text, which follow Weka's J48, and dicts for JSON
files, in which everything read is checked.

Nodes are numbered in prefix order; the root is 0. A row with a missing value at a node goes down
all branches, each with the branch's share of the training weight. A leaf without training rows
predicts the distribution of its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from math import floor, isfinite
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter, whole_number
from counterplay.core.base.files import FORMAT, check_format

SMALL = 1e-6  # tolerance of J48 for weights, gains and errors; values are compared exactly
LEAF = -1  # in `Tree.attribute`
MISSING = -1  # code of a missing value
MAX_KEY = 2**62
MAX_WEIGHT = 2**53  # of all training rows
KINDS = ("numeric", "nominal")


@dataclass(frozen=True)
class Attribute:
    """A column of the data. `values`: names of the values, which a nominal column indexes."""

    name: str
    kind: str = "numeric"
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadParameter(f"the name of an attribute is a text, not {self.name!r}")
        if self.kind not in KINDS:
            raise BadParameter(
                f"attribute {self.name!r}: kind must be numeric or nominal, not {self.kind!r}"
            )
        object.__setattr__(
            self, "values", check_names(self.values, f"values of attribute {self.name!r}")
        )
        if (self.kind == "nominal") != bool(self.values):
            raise BadParameter(
                f"attribute {self.name!r}: nominal attributes list their values, numeric ones "
                f"have none"
            )


@dataclass(frozen=True)
class Settings:
    """J48's options: -C, -M, -A, -S, -O, -J."""

    confidence: float | None = 0.25  # smaller values prune more; None does not prune (-U)
    min_leaf: int = 2  # weight that at least two branches of a test must have
    laplace: bool = False
    subtree_raising: bool = True
    collapse: bool = True
    mdl: bool = True  # subtract the cost of choosing a threshold from the gain

    def __post_init__(self) -> None:
        c = self.confidence
        if c is not None and (
            isinstance(c, bool) or not isinstance(c, int | float) or not 0 < c <= 0.5
        ):
            raise BadParameter(f"confidence must be above 0 and at most 0.5, not {c!r}")
        whole_number(self.min_leaf, 1, 2**53, "min_leaf")
        for name in ("laplace", "subtree_raising", "collapse", "mdl"):
            if not isinstance(getattr(self, name), bool):
                raise BadParameter(f"{name} must be true or false, not {getattr(self, name)!r}")


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Different, non-empty texts as a tuple."""
    if (
        isinstance(names, str)
        or not all(isinstance(name, str) and name for name in names)
        or len(set(names)) < len(names)
    ):
        raise BadParameter(f"the {what} must be different texts, not {names!r}")
    return tuple(names)


def check_columns(attributes: Sequence[Attribute], x: np.ndarray) -> np.ndarray:
    """x as float64[n, k], a column per attribute, with valid indices in nominal columns."""
    try:
        data: np.ndarray = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(
            "the data must be a matrix of numbers, with NaN where a value is missing"
        ) from None
    if data.ndim != 2 or data.shape[1] != len(attributes):
        raise BadParameter(
            f"the data must have the shape [rows, {len(attributes)}], not {list(data.shape)}"
        )
    for attribute, column in zip(attributes, data.T, strict=True):
        if attribute.kind == "nominal":
            known = column[~np.isnan(column)]
            inside = (known >= 0) & (known < len(attribute.values))
            wrong = known[~inside | (known != np.floor(known))]
            if len(wrong):
                raise BadParameter(
                    f"attribute {attribute.name!r} has {len(attribute.values)} values, numbered "
                    f"from 0; {wrong[0]:g} is none of them"
                )
    return data


def group_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups equal rows of codes (int64[n, k], at least -1): the index of one row of each group,
    int64[m], and the group of each row, int64[n]."""
    key, size = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        width = int(column.max(initial=MISSING)) + 2
        if size > MAX_KEY // width:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * width + (column - MISSING)
        size *= width
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group


def largest_class(counts: np.ndarray) -> int:
    """The first class that no other exceeds by more than 1e-6."""
    best, most = 0, 0.0
    for k, count in enumerate(counts.tolist()):
        if count - most > SMALL:
            best, most = k, count
    return best


def digits(value: float, least: int = 0) -> str:
    """Six decimals without the zeros at the end, but at least so many; no exponent and no -0."""
    whole, decimals = f"{value:.6f}".split(".")
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    text = f"{whole}.{decimals}" if decimals else whole
    return text if text.strip("-0.") else text.lstrip("-")


def hundredths(weight: float) -> str:
    """As Weka rounds weights: 2.125 is 2.13."""
    return digits(floor(100 * weight + 0.5) / 100, least=1)


@dataclass(frozen=True, eq=False)
class Tree:
    """n nodes, c classes. `children[node]` is empty at a leaf, (<=, >) at a numeric test, one
    per value at a nominal one."""

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    attribute: np.ndarray  # int64[n]: tested column, or LEAF
    threshold: np.ndarray  # float64[n]: NaN without a numeric test
    children: tuple[tuple[int, ...], ...]
    counts: np.ndarray  # float64[n, c]: training weight by class
    settings: Settings

    @property
    def size(self) -> int:
        return len(self.attribute)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.attribute == LEAF))

    @cached_property
    def probabilities(self) -> np.ndarray:
        """float64[n, c]: relative frequencies, or (count + 1) / (weight + c) if the tree was
        learnt with `laplace`."""
        counts = self.counts.copy()
        for node, children in enumerate(self.children):
            for child in children:
                if counts[child].sum() <= SMALL:
                    counts[child] = counts[node]
        if self.settings.laplace:
            counts += 1
        shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities, float64[rows, c]. x: float64[rows, k], NaN where missing.

        Rows with equal results of all tests of the tree are sent down once.
        """
        data = check_columns(self.attributes, x)
        cuts = [np.unique(self.threshold[self.attribute == a]) for a in range(len(self.attributes))]
        codes = np.full(data.shape, MISSING, dtype=np.int64)
        for a, attribute in enumerate(self.attributes):
            known = ~np.isnan(data[:, a])
            if not np.any(self.attribute == a):
                codes[:, a] = 0
            elif attribute.kind == "nominal":
                codes[known, a] = data[known, a].astype(np.int64)
            else:
                codes[known, a] = np.searchsorted(cuts[a], data[known, a])
        first, group = group_rows(codes)
        probabilities: np.ndarray = self._send_down(codes[first], cuts)[group]
        return probabilities

    def _send_down(self, codes: np.ndarray, cuts: Sequence[np.ndarray]) -> np.ndarray:
        """float64[m, c] for codes int64[m, k]; a numeric code counts the thresholds below."""
        result = np.zeros((len(codes), len(self.classes)))
        pending = [(0, np.arange(len(codes)), np.ones(len(codes)))]
        while pending:
            node, rows, share = pending.pop()
            a = int(self.attribute[node])
            if a == LEAF:
                result[rows] += share[:, None] * self.probabilities[node]
                continue
            branch = codes[rows, a]
            missing = branch == MISSING
            if self.attributes[a].kind == "numeric":
                branch = branch > np.searchsorted(cuts[a], self.threshold[node])
            children = self.children[node]
            weight = self.counts[list(children)].sum(axis=1)
            weight = weight / weight.sum()
            for b, child in enumerate(children):
                here = (branch == b) & ~missing
                if weight[b] > 0:
                    here |= missing
                if np.any(here):
                    part = np.where(missing, share * weight[b], share)[here]
                    pending.append((child, rows[here], part))
        return result

    def text(self) -> str:
        """The tree as Weka prints it: class (weight/errors) at the leaves."""
        lines = [f": {self._label(0)}"] if self.size == 1 else []
        pending = self._branches(0, 0)
        while pending:
            node, depth, test, label = pending.pop()
            leaf = self.attribute[node] == LEAF
            lines.append("|   " * depth + test + (f": {label}" if leaf else ""))
            pending += self._branches(node, depth + 1)
        return "\n".join(
            [*lines, "", f"Number of leaves: {self.n_leaves}", f"Size of the tree: {self.size}", ""]
        )

    def _branches(self, node: int, depth: int) -> list[tuple[int, int, str, str]]:
        """Child, depth, test and label of each branch, in reverse order."""
        if self.attribute[node] == LEAF:
            return []
        attribute = self.attributes[self.attribute[node]]
        if attribute.kind == "nominal":
            tests = [f"= {value}" for value in attribute.values]
        else:
            cut = digits(self.threshold[node])
            tests = [f"<= {cut}", f"> {cut}"]
        children = self.children[node]
        branches = [
            (s, depth, f"{attribute.name} {t}", self._label(s, node))
            for s, t in zip(children, tests, strict=True)
        ]
        return branches[::-1]

    def _label(self, node: int, parent: int = 0) -> str:
        weight = float(self.counts[node].sum())
        best = largest_class(self.counts[node if weight > SMALL else parent])
        errors = weight - float(self.counts[node, best])
        wrong = f"/{hundredths(errors)}" if errors > SMALL else ""
        return f"{self.classes[best]} ({hundredths(weight)}{wrong})"


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
