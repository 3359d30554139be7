"""Growing a C4.5 tree as Weka's J48 does (C45ModelSelection, C45Split): gain ratio, MDL correction,
fractional missing values.

Training rows with equal values form one pattern with a weight per class. A node holds the patterns
that reach it and the share of each: missing values divide a pattern among the branches, for all
classes alike. Values are compared exactly, as in Weka since 2018; weights, gains and errors up to
1e-6, as in all its versions. Deviations, without effect for rows of weight 1: where J48 counts rows
(enough known values for a threshold; a nominal attribute with "many" values has at least 0.3 of the
rows), weights are summed, so that a row of weight 3 is three rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from counterplay.poker.models.c45.tree import MISSING, SMALL, Attribute, Settings, group_rows

GAP = 1e-5  # smallest difference of values between which J48 places a threshold
MAX_MIN_SPLIT = 25.0
MANY_VALUES = 0.3
GAIN_SLACK = 1e-3  # tolerance below the average gain


class TrainingPatterns(NamedTuple):
    """m patterns, k attributes, c classes."""

    attributes: tuple[Attribute, ...]
    values: tuple[np.ndarray, ...]  # per attribute: float64, ascending; a code is an index into it
    code: np.ndarray  # int64[m, k], or MISSING
    by_class: np.ndarray  # float64[m, c]: weight
    weight: np.ndarray  # float64[m]


class Split(NamedTuple):
    """A test of one attribute. Numeric: codes up to `limit` go left."""

    attribute: int
    gain: float
    ratio: float
    threshold: float  # NaN for nominal attributes
    limit: int
    n_branches: int


class Node:
    """A node of a tree that is being grown or pruned."""

    __slots__ = ("children", "counts", "errors", "rows", "share", "split")

    def __init__(self, rows: np.ndarray, share: np.ndarray, counts: np.ndarray) -> None:
        self.rows = rows  # int64[r]: patterns at this node
        self.share = share  # float64[r]: share of each
        self.counts = counts  # float64[c]
        self.split: Split | None = None
        self.children: list[Node] = []
        self.errors = 0.0  # estimate, used by pruning

    def become_leaf(self) -> None:
        self.split, self.children = None, []


def group_patterns(
    attributes: tuple[Attribute, ...],
    x: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    n: int,
) -> TrainingPatterns:
    """Groups equal rows of x, float64[rows, k]; classes: int64[rows] below n."""
    code = np.full(x.shape, MISSING, dtype=np.int64)
    values = []
    for a, attribute in enumerate(attributes):
        known = ~np.isnan(x[:, a])
        if attribute.kind == "nominal":
            values.append(np.arange(len(attribute.values), dtype=np.float64))
            code[known, a] = x[known, a].astype(np.int64)
        else:
            distinct, code[known, a] = np.unique(x[known, a] + 0.0, return_inverse=True)  # no -0
            values.append(distinct)
    first, kind = group_rows(code)
    by_class = np.bincount(kind * n + classes, weights, minlength=len(first) * n).reshape(-1, n)
    return TrainingPatterns(attributes, tuple(values), code[first], by_class, by_class.sum(axis=1))


def count(data: TrainingPatterns, rows: np.ndarray, share: np.ndarray) -> np.ndarray:
    """float64[c]: weight by class."""
    counts: np.ndarray = share @ data.by_class[rows]
    return counts


def grow(data: TrainingPatterns, settings: Settings) -> Node:
    """The full tree, before collapsing and pruning."""
    rows, share = np.arange(len(data.weight)), np.ones(len(data.weight))
    root = Node(rows, share, count(data, rows, share))
    todo = [root]
    while todo:
        node = todo.pop()
        node.split = best_split(data, node, settings)
        if node.split is not None:
            parts = distribute(data, node.split, node.rows, node.share)
            node.children = [Node(rows, share, count(data, rows, share)) for rows, share in parts]
            todo += node.children
    return root


def distribute(
    data: TrainingPatterns, split: Split, rows: np.ndarray, share: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and shares of each branch. A missing value goes to all branches, in proportion to their
    known weight."""
    code = data.code[rows, split.attribute]
    missing = code == MISSING
    branch = code if np.isnan(split.threshold) else np.where(missing, MISSING, code > split.limit)
    known = ~missing
    bags = np.bincount(
        branch[known], (data.weight[rows] * share)[known], minlength=split.n_branches
    )
    total = bags.sum()
    fraction = bags / total if total > SMALL else np.full(split.n_branches, 1.0 / split.n_branches)
    parts = []
    for b in range(split.n_branches):
        here = branch == b
        if fraction[b] > SMALL:
            here |= missing
        parts.append((rows[here], np.where(missing, share * fraction[b], share)[here]))
    return parts


def best_split(data: TrainingPatterns, node: Node, settings: Settings) -> Split | None:
    """The split of the largest gain ratio among those of about average gain; None: a leaf."""
    total = float(node.counts.sum())
    if 2 * settings.min_leaf - total > SMALL or total - float(node.counts.max()) < SMALL:
        return None
    candidates = (split_on(data, node, a, settings) for a in range(len(data.attributes)))
    splits = [split for split in candidates if split is not None]
    many = MANY_VALUES * float(data.weight.sum())
    few = [a.kind == "numeric" or many - len(a.values) > SMALL for a in data.attributes]
    usable = [s.gain for s in splits if few[s.attribute] or not any(few)]
    if not usable:
        return None
    average = sum(usable) / len(usable)
    best: Split | None = None
    for split in splits:
        better = split.ratio - (best.ratio if best else 0.0) > SMALL
        if split.gain >= average - GAIN_SLACK and better:
            best = split
    return best


def split_on(data: TrainingPatterns, node: Node, a: int, settings: Settings) -> Split | None:
    """The best test of attribute a, or None."""
    code = data.code[node.rows, a]
    known = code != MISSING
    present, local = np.unique(code[known], return_inverse=True)  # codes that occur here
    weights = data.by_class[node.rows[known]] * node.share[known, None]
    columns = [np.bincount(local, column, minlength=len(present)) for column in weights.T]
    table = np.stack(columns, axis=1)  # float64[values, c]
    total = float(node.counts.sum())
    if data.attributes[a].kind == "nominal":
        bags = table.sum(axis=1)
        if np.count_nonzero(settings.min_leaf - bags < SMALL) < 2:
            return None
        gain = float(information_gain(table[None], total)[0])
        return Split(a, gain, gain_ratio(gain, bags, total), np.nan, 0, len(data.values[a]))
    return _threshold(a, data.values[a], data.values[a][present], table, total, settings)


def _threshold(
    a: int, values: np.ndarray, here: np.ndarray, table: np.ndarray, total: float, options: Settings
) -> Split | None:
    """The threshold with the largest information gain. `here`: the values that occur at the node;
    `table`: float64[len(here), c]."""
    left = np.cumsum(table, axis=0)
    if not len(left):
        return None
    pairs = np.stack([left[:-1], left[-1] - left[:-1]], axis=1)  # float64[thresholds, 2, c]
    bags = pairs.sum(axis=2)
    known = float(left[-1].sum())
    least, tenth = float(options.min_leaf), 0.1 * known / table.shape[1]
    if tenth - least >= SMALL:  # J48's rule: 25 is the maximum also where min_leaf is larger
        least = min(tenth, MAX_MIN_SPLIT)
    candidates = np.flatnonzero((here[:-1] + GAP < here[1:]) & np.all(least - bags < SMALL, axis=1))
    if not len(candidates):
        return None
    gains = information_gain(pairs[candidates], total)
    best = first_largest(gains)
    if best is None:
        return None
    correction = float(np.log2(len(candidates))) / total if options.mdl else 0.0  # MDL
    gain = float(gains[best]) - correction
    if gain <= SMALL:
        return None
    at = int(candidates[best])
    middle = 0.5 * here[at] + 0.5 * here[at + 1]
    if middle == here[at + 1]:
        middle = here[at]
    # among the values of the whole training set, not only of this node
    limit = int(np.searchsorted(values, middle, side="right")) - 1
    return Split(a, gain, gain_ratio(gain, bags[at], total), float(values[limit]), limit, 2)


def first_largest(gains: np.ndarray) -> int | None:
    """The last entry of float64[n] that exceeds 0 and the best before it by more than 1e-6."""
    record = np.maximum.accumulate(gains)
    best, most = None, 0.0
    # only a new maximum can win
    for k in np.flatnonzero(np.concatenate([[True], record[1:] > record[:-1]])):
        if gains[k] - most > SMALL:
            best, most = int(k), float(gains[k])
    return best


def information_gain(tables: np.ndarray, total: float) -> np.ndarray:
    """Information gain in bits, times the known share of the `total` weight. tables: float64[n,
    bags, c], known weights."""
    before = xlog(tables.sum(axis=(1, 2))) - xlog(tables.sum(axis=1)).sum(axis=1)
    after = xlog(tables.sum(axis=2)).sum(axis=1) - xlog(tables).sum(axis=(1, 2))
    known = tables.sum(axis=(1, 2))
    numerator = known / total * (before - after)
    return np.where(abs(numerator) < SMALL, 0.0, numerator / np.maximum(known, SMALL))


def gain_ratio(gain: float, bags: np.ndarray, total: float) -> float:
    """Gain over the split information, in which the missing values are a branch of their own."""
    whole, missing = xlog(np.array([total])), xlog(np.array([total - bags.sum()]))
    info = float(whole[0] - xlog(bags).sum() - missing[0])
    return 0.0 if abs(info) < SMALL else gain / (info / total)


def xlog(x: np.ndarray) -> np.ndarray:
    """x·log2(x), and 0 for x below 1e-6."""
    small = x < SMALL
    safe = np.where(small, 1.0, x)
    result: np.ndarray = safe * np.log2(safe)
    return result


def prefix_order(root: Node) -> Sequence[Node]:
    """All nodes in prefix order."""
    order, todo = [], [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += node.children[::-1]
    return order
