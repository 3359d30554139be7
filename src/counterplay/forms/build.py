"""Pieces that both ways of building a tree share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Labels(NamedTuple):
    """Names for people: one per information set, one per slot."""

    infoset: list[str]
    action: list[str]


@dataclass
class Distributions:
    """Distinct chance distributions, in order of first use."""

    row_of: dict[Hashable, int] = field(default_factory=dict)
    rows: list[np.ndarray] = field(default_factory=list)

    def row(self, key: Hashable, probabilities: np.ndarray) -> int:
        if key not in self.row_of:
            self.row_of[key] = len(self.rows)
            self.rows.append(probabilities)
        return self.row_of[key]

    def arrays(self) -> dict[str, np.ndarray]:
        cumulative = [np.cumsum(row) for row in self.rows]
        for row, probabilities in zip(cumulative, self.rows, strict=True):
            row[np.flatnonzero(probabilities)[-1] :] = (
                1.0  # whatever rounding did, what cannot happen is never drawn
            )
        empty = [np.empty(0)]
        return {
            "chance_first": offsets([len(row) for row in self.rows]),
            "chance_probability": np.concatenate(self.rows or empty),
            "chance_cumulative": np.concatenate(cumulative or empty),
            "chance_uniform": np.array(
                [bool(np.all(row == row[0])) for row in self.rows], dtype=np.bool_
            ),
        }


def offsets(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """int32 running sum that starts at 0."""
    result = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=result[1:])
    return result
