"""A strategy with locks (`core/games/locks.py`): what a player of whom only that is known does.

A frequency is met at every decision by itself, over the hands as they come there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.mixture import single_strategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.locks import ROUNDING, Lock, LockedDecision, read_locks
from counterplay.core.games.players import players_of, strategy_in

TOLERANCE = 1e-9  # of a frequency
SMALLEST = 1e-3  # share of an action that the strategy never takes, so that it can be raised
FITS = 2_000  # steps in which a frequency is reached


class LockedModel(NamedTuple):
    """A strategy with locks; m information sets."""

    strategy: Strategy
    trust: np.ndarray  # float64[m]: of the lock; NaN where there is none


def locked(strategy: Any, locks: Any) -> Strategy:
    """The strategy, or that of a run, with locks: texts such as `river fold 0.85`, in a small game
    `K* bet 0.3` with names of information sets, or a file in TOML."""
    return lock_model(single_strategy(strategy_in(strategy)), read_locks(locks)).strategy


def lock_model(strategy: Strategy, locks: Iterable[Lock]) -> LockedModel:
    """The strategy with locks, and how far they are trusted where they hold."""
    resolver, first = players_of(strategy.game), np.asarray(strategy.game.form.first)
    trust = np.full(len(first) - 1, np.nan)
    for lock in locks:
        batches: dict[Any, list[LockedDecision]] = {}  # of the same shape
        for one in resolver.decisions(strategy, lock):
            batches.setdefault((len(one.infosets), *one.group.tolist()), []).append(one)
        policy = strategy.probabilities.copy()
        for batch in batches.values():
            infosets = np.stack([one.infosets for one in batch])
            weight, group = np.stack([one.weight for one in batch]), batch[0].group
            slots = first[infosets][:, :, None] + np.arange(len(group))
            rows = policy[slots]
            if not lock.in_all:  # each hand by itself
                rows, weight = rows.reshape(-1, 1, len(group)), np.ones((weight.size, 1))
            policy[slots] = _fitted(rows, weight, group, lock).reshape(slots.shape)
            trust[infosets] = lock.trust
        strategy = Strategy(strategy.game, policy).for_player(strategy.player)
    return LockedModel(strategy, trust)


def _fitted(rows: np.ndarray, weight: np.ndarray, group: np.ndarray, lock: Lock) -> np.ndarray:
    """Rows in which the actions of `play` that are legal here have their shares."""
    wanted = np.array([*lock.play.values(), 0.0])
    wanted[[k for k in range(len(lock.play)) if k not in group]] = 0.0
    total = wanted.sum()
    if (group < 0).any():
        wanted[-1] = max(1.0 - total, 0.0)
    elif lock.in_all and len(set(group)) == len(lock.play) and abs(total - 1.0) > ROUNDING:
        raise BadParameter(f"{lock.name}: the frequencies of all actions sum to {total:g}, not 1")
    total = wanted.sum()
    return fit_shares(rows, weight, group, wanted / total) if total > 0 else rows


def fit_shares(
    rows: np.ndarray, weight: np.ndarray, group: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Probabilities, [decisions, hands, actions], in which the groups of actions (the last is -1)
    have the shares `wanted` over the hands of each decision, [decisions, hands]: those of `rows`
    times one factor for each group and decision."""
    policy = (1.0 - SMALLEST) * rows + SMALLEST / rows.shape[2]
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / weight.shape[1])
    members = np.arange(len(wanted)) == (group % len(wanted))[:, None]  # [actions, groups]
    factor = np.ones((len(rows), len(wanted)))
    fitted: np.ndarray = policy
    for _ in range(FITS):
        fitted = policy * (factor @ members.T)[:, None, :]
        fitted /= fitted.sum(axis=2, keepdims=True)
        found = np.einsum("dh,dha->da", weight, fitted) @ members
        if np.abs(found - wanted).max() < TOLERANCE:
            break
        factor *= np.where(found > 0, wanted / np.where(found > 0, found, 1.0), 1.0)
    return fitted
