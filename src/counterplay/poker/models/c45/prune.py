"""Collapsing and error-based pruning of a C4.5 tree as Weka's J48 does them
(C45PruneableClassifierTree, Stats).

Symbols: N → `weight`, e → `errors`, CF → `confidence`, z → `z`. Deviations: none; what J48 does by
recursion is done with stacks here, so that no tree is too deep.
"""

from __future__ import annotations

from math import pow, sqrt
from statistics import NormalDist

import numpy as np

from counterplay.poker.models.c45.grow import Node, Patterns, count, distribute, numbering
from counterplay.poker.models.c45.tree import SMALL, Settings, largest_class

COLLAPSE_SLACK = 1e-3
PRUNE_SLACK = 0.1


def add_errors(weight: float, errors: float, confidence: float) -> float:
    """Errors to expect beyond those seen: the upper limit of the binomial at `confidence`, by
    the normal approximation."""
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


def seen_errors(counts: np.ndarray) -> float:
    """Training errors of a leaf. counts: float64[c]."""
    return float(counts.sum() - counts[largest_class(counts)])


def leaf_errors(counts: np.ndarray, confidence: float) -> float:
    """Estimated errors of a leaf. counts: float64[c]."""
    weight, errors = float(counts.sum()), seen_errors(counts)
    return 0.0 if weight < SMALL else errors + add_errors(weight, errors, confidence)


def collapse(root: Node) -> None:
    """Cuts every subtree that makes no fewer training errors than a leaf. Changes the nodes."""
    order = numbering(root)
    for node in reversed(order):
        node.errors = (
            sum(son.errors for son in node.sons) if node.sons else seen_errors(node.counts)
        )
    todo = [root]
    while todo:
        node = todo.pop()
        if node.sons and node.errors >= seen_errors(node.counts) - COLLAPSE_SLACK:
            node.become_leaf()
        todo += node.sons


def prune(data: Patterns, root: Node, settings: Settings) -> None:
    """From the leaves up: keep the subtree, make it a leaf, or put its largest branch in its
    place. Changes the nodes."""
    if settings.confidence is None:
        return
    confidence = float(settings.confidence)
    todo = [(root, False)]
    while todo:
        node, sons_done = todo.pop()
        if sons_done:
            if _prune_one(data, node, confidence, settings.subtree_raising):
                todo.append((node, False))
        elif node.sons:
            todo.append((node, True))
            todo += [(son, False) for son in node.sons]
        else:
            node.errors = leaf_errors(node.counts, confidence)


def _prune_one(data: Patterns, node: Node, confidence: float, raising: bool) -> bool:
    """Prunes at a node whose sons are pruned. True if a branch was raised, so that all of it
    must be pruned again."""
    largest = largest_branch(node)
    as_leaf = leaf_errors(node.counts, confidence)
    as_branch = (
        branch_errors(data, largest, node.rows, node.share, confidence) if raising else np.inf
    )
    node.errors = sum(son.errors for son in node.sons)
    if (
        as_leaf - (node.errors + PRUNE_SLACK) < SMALL
        and as_leaf - (as_branch + PRUNE_SLACK) < SMALL
    ):
        node.errors = as_leaf
        node.become_leaf()
        return False
    if as_branch - (node.errors + PRUNE_SLACK) < SMALL:
        node.split, node.sons = largest.split, largest.sons
        send_down(data, node)
        return True
    return False


def largest_branch(node: Node) -> Node:
    """The last of the sons with the most weight."""
    best, most = node.sons[0], 0.0
    for son in node.sons:
        weight = float(son.counts.sum())
        if most - weight < SMALL:
            best, most = son, weight
    return best


def branch_errors(
    data: Patterns, branch: Node, rows: np.ndarray, share: np.ndarray, confidence: float
) -> float:
    """Estimated errors of `branch` if it got these rows."""
    errors, todo = 0.0, [(branch, rows, share)]
    while todo:
        node, rows, share = todo.pop()
        if node.split is None:
            errors += leaf_errors(count(data, rows, share), confidence)
        else:
            todo += [
                (son, *part)
                for son, part in zip(
                    node.sons, distribute(data, node.split, rows, share), strict=True
                )
            ]
    return errors


def send_down(data: Patterns, top: Node) -> None:
    """Distributes the rows of `top` anew over its subtree. Changes the nodes."""
    todo = [top]
    while todo:
        node = todo.pop()
        if node.split is None:
            continue
        for son, (rows, share) in zip(
            node.sons, distribute(data, node.split, node.rows, node.share), strict=True
        ):
            son.rows, son.share, son.counts = rows, share, count(data, rows, share)
        todo += node.sons
