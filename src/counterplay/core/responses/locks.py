"""Locks: a strategy in which a player takes an action more or less often than in another one, as in
`river fold 0.85`. A response to it is the answer to an opponent of whom only that is known.

A lock changes rows of probabilities, those of hands that are at one decision, so that the mean over
the hands, weighted by how often each comes there, is the one asked for: an action that becomes
rarer is scaled down in every row, and what is freed goes to those that become more frequent. Means
are linear in this, so the frequency is met exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, probability
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of


class Lock(NamedTuple):
    """An action and its frequency at some decisions, each given by information sets and their
    weights, which sum to 1."""

    action: str
    share: float
    decisions: list[tuple[np.ndarray, np.ndarray]]  # int64[n], float64[n]


def locked(strategy: Strategy, texts: Iterable[str]) -> Strategy:
    """The strategy with locks, each `WHERE ACTION SHARE`: `river fold 0.85`, in a small game
    `K* bet 0.3` with names of information sets."""
    for text in texts:
        where, action, share = parse_lock(text)
        action, decisions = players_of(strategy.game).decisions(strategy, where, action)
        strategy = apply_lock(strategy, Lock(action, share, decisions))
    return strategy


def parse_lock(text: str) -> tuple[str, str, float]:
    """The parts of `WHERE ACTION SHARE`."""
    words = text.split()
    if len(words) < 3:
        raise BadParameter(
            f"a lock is WHERE ACTION SHARE, such as 'river fold 0.85', not {text[:80]!r}"
        )
    try:
        share = float(words[-1])
    except ValueError:
        share = np.nan
    if not 0.0 <= share <= 1.0:
        raise BadParameter(f"the share of a lock is a number from 0 to 1, not {words[-1][:40]!r}")
    return " ".join(words[:-2]), words[-2].lower(), probability(share, "the share of a lock")


def apply_lock(strategy: Strategy, lock: Lock) -> Strategy:
    """The strategy with one lock."""
    form, labels = strategy.game.form, strategy.game.labels
    policy = strategy.probabilities.copy()
    for infosets, weight in lock.decisions:
        first = np.asarray(form.first)[infosets].astype(np.int64)
        low, high = int(first[0]), int(form.first[int(infosets[0]) + 1])
        names = list(labels.action[low:high])
        slots = first[:, None] + np.arange(len(names))
        rows = policy[slots]
        mean = weight @ rows
        target = _target(mean, names.index(lock.action), lock.share)
        policy[slots] = shift_rows(rows, mean, target)
    return Strategy(strategy.game, policy).for_player(strategy.player)


def _target(mean: np.ndarray, action: int, share: float) -> np.ndarray:
    """Means with one of them given, the others in their proportions; equal where they are 0."""
    others = np.delete(mean, action)
    left = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
    return np.insert((1.0 - share) * left, action, share)


def shift_rows(rows: np.ndarray, mean: np.ndarray, target: np.ndarray) -> np.ndarray:
    """float64[n, a]: rows of probabilities whose weighted mean is `target` instead of `mean`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(mean > target, target / mean, 1.0)
    kept = rows * scale
    more = np.maximum(target - mean, 0.0)
    if more.sum() > 0:
        kept = kept + (1.0 - kept.sum(axis=1, keepdims=True)) * more / more.sum()
    shifted: np.ndarray = kept / kept.sum(axis=1, keepdims=True)
    return shifted
