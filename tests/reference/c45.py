"""J48 row by row and recursive: growing, collapsing, pruning as Weka's sources describe them. A
row: (values, class, weight).

As in Weka 3.9.7: a value is compared exactly, no threshold lies between values closer than 1e-5,
rows of weight 0 are rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan, log2, pow, sqrt
from typing import Any

Z_QUARTER = 0.6744897501960817  # Φ⁻¹(0.75)
TINY = 1e-6


@dataclass
class TwinNode:
    rows: list[Any]
    counts: list[float]
    test: tuple[int, float] | None = None  # attribute and threshold
    sons: list[TwinNode] = field(default_factory=list)

    def shape(self) -> Any:
        """Something to compare: class counts, or attribute, threshold, class counts and sons."""
        if self.test is None:
            return self.counts
        a, t = self.test
        return a, None if isnan(t) else t, self.counts, [son.shape() for son in self.sons]


def entropy(counts: list[float]) -> float:
    """Weight times bits."""
    return xlog(sum(counts)) - sum(map(xlog, counts))


def xlog(x: float) -> float:
    return x * log2(x) if x >= TINY else 0.0


class Twin:
    """`values[a]`: number of values of a nominal attribute, 0 for numeric ones."""

    def __init__(
        self,
        rows: list[Any],
        values: list[int],
        n_classes: int,
        min_leaf: int = 2,
        mdl: bool = True,
    ) -> None:
        self.all, self.values, self.n_classes, self.min_leaf, self.mdl = (
            rows,
            values,
            n_classes,
            min_leaf,
            mdl,
        )
        self.root = self.grow(rows)

    def count(self, rows: list[Any]) -> list[float]:
        return [sum(w for _, y, w in rows if y == c) for c in range(self.n_classes)]

    def grow(self, rows: list[Any]) -> TwinNode:
        node = TwinNode(rows, self.count(rows))
        total = sum(node.counts)
        if total < 2 * self.min_leaf - TINY or total - max(node.counts) < TINY:
            return node
        candidates = [s for a in range(len(self.values)) if (s := self.candidate(rows, a))]
        few = [n == 0 or n < 0.3 * sum(w for *_, w in self.all) - TINY for n in self.values]
        counted = [gain for a, _, gain, _ in candidates if few[a] or not any(few)]
        best = 0.0
        for a, threshold, gain, ratio in candidates:
            if counted and gain >= sum(counted) / len(counted) - 1e-3 and ratio > best + TINY:
                best, node.test = ratio, (a, threshold)
        if node.test and not isnan(node.test[1]):
            a, threshold = node.test
            node.test = (
                a,
                max(x[a] for x, _, _ in self.all if not isnan(x[a]) and x[a] <= threshold),
            )
        if node.test:
            node.sons = [self.grow(part) for part in self.divide(rows, node.test)]
        return node

    def candidate(self, rows: list[Any], a: int) -> tuple[int, float, float, float] | None:
        total = sum(w for *_, w in rows)
        known = [row for row in rows if not isnan(row[0][a])]
        weight = sum(w for *_, w in known)
        if self.values[a]:
            bags = [
                self.count([row for row in known if row[0][a] == v]) for v in range(self.values[a])
            ]
            if sum(sum(bag) >= self.min_leaf - TINY for bag in bags) < 2:
                return None
            gain = self.gain(bags, total)
            return a, float("nan"), gain, self.ratio(gain, bags, total)
        least = 0.1 * weight / self.n_classes
        least = self.min_leaf if least <= self.min_leaf + TINY else min(least, 25)
        levels = sorted({row[0][a] for row in known})
        best, where, tried = 0.0, None, 0
        for low, high in pairwise(levels):
            if not low + 1e-5 < high:
                continue
            bags = [
                self.count([row for row in known if (row[0][a] > low) == side])
                for side in (False, True)
            ]
            if min(map(sum, bags)) >= least - TINY:
                tried += 1
                gain = self.gain(bags, total)
                if gain > best + TINY:
                    middle = (low + high) / 2
                    best, where = gain, (low if middle == high else middle, bags)
        if where is None:
            return None
        best -= log2(tried) / total if self.mdl else 0
        return (a, where[0], best, self.ratio(best, where[1], total)) if best > TINY else None

    def gain(self, bags: list[list[float]], total: float) -> float:
        known = sum(map(sum, bags))
        bits = entropy([sum(column) for column in zip(*bags, strict=True)]) - sum(
            map(entropy, bags)
        )
        scaled = known / total * bits
        return 0.0 if abs(scaled) < TINY else scaled / known

    def ratio(self, gain: float, bags: list[list[float]], total: float) -> float:
        sizes = [sum(bag) for bag in bags]
        info = entropy([*sizes, total - sum(sizes)]) / total
        return gain / info if info * total > TINY else 0.0

    def divide(self, rows: list[Any], test: tuple[int, float]) -> list[list[Any]]:
        a, threshold = test
        n = self.values[a] or 2

        def branch(row: Any) -> int:
            return int(row[0][a]) if self.values[a] else int(row[0][a] > threshold)

        known = [row for row in rows if not isnan(row[0][a])]
        weight = sum(w for *_, w in known)
        shares = [
            sum(row[2] for row in known if branch(row) == b) / weight if weight > TINY else 1 / n
            for b in range(n)
        ]
        parts: list[list[Any]] = [[] for _ in range(n)]
        for row in rows:
            for b in range(n):
                if isnan(row[0][a]) and shares[b] > TINY:
                    parts[b].append((row[0], row[1], row[2] * shares[b]))
                elif not isnan(row[0][a]) and branch(row) == b:
                    parts[b].append(row)
        return parts

    def wrong(self, node: TwinNode) -> float:
        return sum(map(self.wrong, node.sons)) if node.sons else sum(node.counts) - max(node.counts)

    def collapse(self, node: TwinNode) -> None:
        if node.sons and self.wrong(node) >= sum(node.counts) - max(node.counts) - 1e-3:
            node.test, node.sons = None, []
        for son in node.sons:
            self.collapse(son)

    def estimate(self, node: TwinNode, rows: list[Any]) -> float:
        if node.test:
            return sum(map(self.estimate, node.sons, self.divide(rows, node.test)))
        counts = self.count(rows)
        return 0.0 if sum(counts) < TINY else estimated(sum(counts), sum(counts) - max(counts))

    def prune(self, node: TwinNode, raising: bool = True) -> None:
        """With confidence 0.25."""
        if not node.sons:
            return
        for son in node.sons:
            self.prune(son, raising)
        most = max(sum(son.counts) for son in node.sons)
        largest = [son for son in node.sons if sum(son.counts) > most - TINY][-1]
        leaf = self.estimate(TwinNode([], []), node.rows)
        tree = self.estimate(node, node.rows)
        branch = self.estimate(largest, node.rows) if raising else float("inf")
        if leaf <= tree + 0.1 + TINY and leaf <= branch + 0.1 + TINY:
            node.test, node.sons = None, []
        elif branch <= tree + 0.1 + TINY:
            node.test, node.sons = largest.test, largest.sons
            self.refill(node, node.rows)
            self.prune(node, raising)

    def refill(self, node: TwinNode, rows: list[Any]) -> None:
        node.rows, node.counts = rows, self.count(rows)
        for son, part in zip(
            node.sons, self.divide(rows, node.test) if node.test else [], strict=True
        ):
            self.refill(son, part)


def estimated(n: float, e: float) -> float:
    """Errors of a leaf at confidence 0.25: the formula of Weka's Stats.addErrs plus the errors
    seen."""
    if e < TINY:
        return n * (1 - pow(0.25, 1 / n))
    if e < 1:
        return e + (1 - e) * estimated(n, 0) + e * (estimated(n, 1) - 1)
    if e + 0.5 >= n:
        return max(n, e)
    z, f = Z_QUARTER, (e + 0.5) / n
    return (
        n
        * (f + z * z / (2 * n) + z * sqrt(f / n - f * f / n + z * z / (4 * n * n)))
        / (1 + z * z / n)
    )
