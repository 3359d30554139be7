"""C4.5 release 8 as the J48 of Weka 3.9 has it: `learn` makes a `Tree` from values, classes and
weights.

The models of opponents in the JAIR paper are such trees, one per phase: they predict fold, call or
raise from the betting and, if it is known, the bucket. A missing bucket is averaged over, never
taken as a sign. Deviations: see `c45_grow`; confidence above 0.5, which J48 takes to mean no
estimate at all, is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.models.c45.grow import Node, gather, grow, numbering
from counterplay.poker.models.c45.prune import collapse as collapse_tree
from counterplay.poker.models.c45.prune import prune
from counterplay.poker.models.c45.tree import (
    LEAF,
    MAX_WEIGHT,
    Attribute,
    Settings,
    Tree,
    check_columns,
    check_names,
)

__all__ = ["Attribute", "Settings", "Tree", "learn"]


def learn(
    attributes: Sequence[Attribute],
    x: np.ndarray,
    classes: np.ndarray,
    class_names: Sequence[str],
    weights: np.ndarray | None = None,
    *,
    confidence: float | None = 0.25,
    min_leaf: int = 2,
    laplace: bool = False,
    subtree_raising: bool = True,
    collapse: bool = True,
    mdl: bool = True,
) -> Tree:
    """x: float64[n, k] (NaN = missing, nominal values as indices), classes: int[n], weights:
    float64[n], 1 each if left out.

    A row of weight 3 is three rows. One of weight 0 still shows its values, between which
    thresholds may lie, as in J48. `confidence`: the smaller, the more is pruned; None prunes
    nothing. `min_leaf`: weight that at least two branches of a test must have. `mdl`: charge
    numeric attributes for the choice among thresholds.
    """
    settings = Settings(confidence, min_leaf, laplace, subtree_raising, collapse, mdl)
    columns, names = tuple(attributes), check_names(class_names, "names of classes")
    check_names([attribute.name for attribute in columns], "names of attributes")
    values = check_columns(columns, x)
    labels = _labels(classes, len(values), names)
    weight = _weights(weights, len(values))
    if np.any(np.isinf(values)):
        raise BadParameter("the training data must be finite; a missing value is NaN")
    if not np.any(weight > 0):
        raise BadParameter("there are no training rows to learn from")
    data = gather(columns, values, labels, weight, len(names))
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
    """The nodes as arrays, in prefix order."""
    order = numbering(root)
    number = {id(node): k for k, node in enumerate(order)}
    splits = [node.split for node in order]
    return Tree(
        attributes,
        names,
        np.array([LEAF if split is None else split.attribute for split in splits], dtype=np.int64),
        np.array([np.nan if split is None else split.threshold for split in splits]),
        tuple(tuple(number[id(son)] for son in node.sons) for node in order),
        np.array([node.counts for node in order]),
        settings,
    )
