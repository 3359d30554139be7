"""BucketChance tables for Sparbot's models."""

from __future__ import annotations

import numpy as np

from counterplay.poker.bots.sparbot.model import BucketChance


def random_chance(n, seed=1):
    """Any chance will do: steps that favour staying where one is, values by rank."""
    rng = np.random.default_rng(seed)
    first = rng.random((n, n)) + 0.5
    stay = np.einsum("ac,bd->abcd", np.eye(n), np.eye(n))
    steps = [rng.random((n, n, n, n)) * 0.3 + stay for _ in range(3)]
    value = np.sign(np.subtract.outer(np.arange(n), np.arange(n))) * 0.9
    return BucketChance(
        first / first.sum(),
        tuple(s / s.sum(axis=(2, 3), keepdims=True) for s in steps),
        (value,) * 4,
    )
