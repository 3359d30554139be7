"""C4.5 release 8 as in the J48 of Weka 3.9: `learn` grows a tree (`grow.py`), collapses it and
prunes it by pessimistic error estimates (C45PruneableClassifierTree, Stats).

The opponent models of the JAIR paper are such trees, one per street: they predict fold, call or
raise from the betting and, where it is known, the bucket. A missing bucket is averaged over.

Symbols: N → `weight`, e → `errors`, CF → `confidence`, z → `z`. Deviations: see `grow.py`; stacks
replace the recursion of J48, so that the depth of a tree is not limited; confidence above 0.5, for
which J48 makes no estimate, is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pow, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.models.c45.grow import (
    Node,
    TrainingPatterns,
    count,
    distribute,
    group_patterns,
    grow,
    prefix_order,
)
from counterplay.poker.models.c45.tree import (
    LEAF,
    MAX_WEIGHT,
    SMALL,
    Attribute,
    Settings,
    Tree,
    check_columns,
    check_names,
    largest_class,
)

COLLAPSE_SLACK = 1e-3
PRUNE_SLACK = 0.1


def learn(
    attributes: Sequence[Attribute],
    x: np.ndarray,
    classes: np.ndarray,
    class_names: Sequence[str],
    weights: np.ndarray | None = None,
    **options: Any,
) -> Tree:
    """Learns a tree. x: float64[n, k] (NaN = missing, nominal values as indices), classes: int[n],
    weights: float64[n], 1 each by default.

    A row of weight 3 counts as three rows. A row of weight 0 contributes its values, between which
    thresholds may lie, as in J48. `options`: those of `Settings`.
    """
    settings = Settings(**options)
    columns, names = tuple(attributes), check_names(class_names, "names of classes")
    check_names([attribute.name for attribute in columns], "names of attributes")
    values = check_columns(columns, x)
    labels = _labels(classes, len(values), names)
    weight = _weights(weights, len(values))
    if np.any(np.isinf(values)):
        raise BadParameter("the training data must be finite; a missing value is NaN")
    if not np.any(weight > 0):
        raise BadParameter("there are no training rows to learn from")
    data = group_patterns(columns, values, labels, weight, len(names))
    root = grow(data, settings)
    if settings.collapse:
        collapse_tree(root)
    prune(data, root, settings)
    return _finish(root, columns, names, settings)


def _labels(classes: np.ndarray, n: int, names: tuple[str, ...]) -> np.ndarray:
    labels: np.ndarray = np.asarray(classes)
    if labels.shape != (n,) or (n and not np.issubdtype(labels.dtype, np.integer)):
        raise BadParameter(f"the classes must be {n} whole numbers, one per row of the data")
    if n and not (labels.min() >= 0 and labels.max() < len(names)):
        raise BadParameter(f"the classes must be from 0 to {len(names) - 1}")
    return labels.astype(np.int64)


def _weights(weights: np.ndarray | None, n: int) -> np.ndarray:
    if weights is None:
        return np.ones(n)
    try:
        weight: np.ndarray = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter("the weights must be numbers") from None
    if weight.shape != (n,) or not np.all((weight >= 0) & (weight <= MAX_WEIGHT)):
        raise BadParameter(
            f"the weights must be {n} numbers from 0 to {MAX_WEIGHT}, one per row of the data"
        )
    if weight.sum() > MAX_WEIGHT:
        raise BadParameter(f"the weights must not add up to more than {MAX_WEIGHT}")
    return weight


def _finish(
    root: Node, attributes: tuple[Attribute, ...], names: tuple[str, ...], settings: Settings
) -> Tree:
    """The tree as arrays, in prefix order."""
    order = prefix_order(root)
    number = {id(node): k for k, node in enumerate(order)}
    splits = [node.split for node in order]
    return Tree(
        attributes,
        names,
        np.array([LEAF if split is None else split.attribute for split in splits], dtype=np.int64),
        np.array([np.nan if split is None else split.threshold for split in splits]),
        tuple(tuple(number[id(child)] for child in node.children) for node in order),
        np.array([node.counts for node in order]),
        settings,
    )


def add_errors(weight: float, errors: float, confidence: float) -> float:
    """Pessimistic estimate of the errors beyond the training errors: the upper confidence limit of
    the binomial, by the normal approximation."""
    if errors < 1:
        none = weight * (1 - pow(confidence, 1 / weight))
        return none if errors == 0 else none + errors * (add_errors(weight, 1, confidence) - none)
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / weight
    spread = z * sqrt(f / weight - f * f / weight + z * z / (4 * weight * weight))
    rate = (f + z * z / (2 * weight) + spread) / (1 + z * z / weight)
    return rate * weight - errors


def training_errors(counts: np.ndarray) -> float:
    """Training errors of a leaf. counts: float64[c]."""
    return float(counts.sum() - counts[largest_class(counts)])


def leaf_errors(counts: np.ndarray, confidence: float) -> float:
    """Pessimistic estimate of the errors of a leaf. counts: float64[c]."""
    weight, errors = float(counts.sum()), training_errors(counts)
    return 0.0 if weight < SMALL else errors + add_errors(weight, errors, confidence)


def collapse_tree(root: Node) -> None:
    """Replaces every subtree without fewer training errors than a leaf. Changes the nodes."""
    order = prefix_order(root)
    for node in reversed(order):
        below = sum(child.errors for child in node.children)
        node.errors = below if node.children else training_errors(node.counts)
    todo = [root]
    while todo:
        node = todo.pop()
        if node.children and node.errors >= training_errors(node.counts) - COLLAPSE_SLACK:
            node.become_leaf()
        todo += node.children


def prune(data: TrainingPatterns, root: Node, settings: Settings) -> None:
    """Pessimistic pruning from the leaves up: keeps a subtree, makes it a leaf, or raises its
    largest branch. Changes the nodes."""
    if settings.confidence is None:
        return
    confidence = float(settings.confidence)
    todo = [(root, False)]
    while todo:
        node, children_done = todo.pop()
        if children_done:
            if _prune_one(data, node, confidence, settings.subtree_raising):
                todo.append((node, False))
        elif node.children:
            todo.append((node, True))
            todo += [(child, False) for child in node.children]
        else:
            node.errors = leaf_errors(node.counts, confidence)


def _prune_one(data: TrainingPatterns, node: Node, confidence: float, raising: bool) -> bool:
    """Prunes at a node whose children are pruned. True if a branch was raised, so that the node
    must be pruned again."""
    largest, most = node.children[0], 0.0  # the last of the children with the most weight
    for child in node.children:
        weight = float(child.counts.sum())
        if most - weight < SMALL:
            largest, most = child, weight
    as_leaf = leaf_errors(node.counts, confidence)
    as_branch = np.inf
    if raising:
        as_branch = branch_errors(data, largest, node.rows, node.share, confidence)
    node.errors = sum(child.errors for child in node.children)
    if as_leaf - (min(node.errors, as_branch) + PRUNE_SLACK) < SMALL:
        node.errors = as_leaf
        node.become_leaf()
        return False
    if as_branch - (node.errors + PRUNE_SLACK) < SMALL:
        node.split, node.children = largest.split, largest.children
        redistribute(data, node)
        return True
    return False


def branch_errors(
    data: TrainingPatterns, branch: Node, rows: np.ndarray, share: np.ndarray, confidence: float
) -> float:
    """Pessimistic estimate of the errors of `branch` on these rows."""
    errors, todo = 0.0, [(branch, rows, share)]
    while todo:
        node, rows, share = todo.pop()
        if node.split is None:
            errors += leaf_errors(count(data, rows, share), confidence)
        else:
            parts = distribute(data, node.split, rows, share)
            todo += [(child, *part) for child, part in zip(node.children, parts, strict=True)]
    return errors


def redistribute(data: TrainingPatterns, top: Node) -> None:
    """Distributes the rows of `top` again over its subtree. Changes the nodes."""
    todo = [top]
    while todo:
        node = todo.pop()
        if node.split is None:
            continue
        parts = distribute(data, node.split, node.rows, node.share)
        for child, (rows, share) in zip(node.children, parts, strict=True):
            child.rows, child.share, child.counts = rows, share, count(data, rows, share)
        todo += node.children
