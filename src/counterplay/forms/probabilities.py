"""Checks of arrays that are meant as strategies: numbers, not negative, one in all per information
set."""

from __future__ import annotations

import numpy as np

from counterplay.base.errors import BadStrategy
from counterplay.forms.game import Game

#: How far a sum of probabilities may be from one.
TOLERANCE = 1e-9


def numbers(game: Game, given: np.ndarray) -> np.ndarray:
    """A float64 copy with one finite number per slot, or `BadStrategy`."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadStrategy("a strategy is an array of numbers") from None
    if values.shape != (game.n_slots,):
        raise BadStrategy(
            f"{game.name} has {game.n_slots} action slots; got an array of shape {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        raise BadStrategy(
            f"{values[~np.isfinite(values)][0]} is no probability, at "
            f"{where(game, ~np.isfinite(values))}"
        )
    return values


def checked(game: Game, probabilities: np.ndarray) -> np.ndarray:
    """A read-only float64 copy, or `BadStrategy`."""
    values = numbers(game, probabilities)
    if np.any(values < 0):
        raise BadStrategy(
            f"negative probability {values[values < 0][0]:.6g} at {where(game, values < 0)}"
        )
    sums = np.add.reduceat(values, game.form.first[:-1])
    wrong = np.abs(sums - 1.0) > TOLERANCE
    if np.any(wrong):
        i = int(np.flatnonzero(wrong)[0])
        raise BadStrategy(f"probabilities at {_name(game, i)} sum to {sums[i]:.9g}, not 1")
    values.setflags(write=False)
    return values


def where(game: Game, bad: np.ndarray) -> str:
    slot = int(np.flatnonzero(bad)[0])
    return _name(game, int(np.searchsorted(game.form.first, slot, side="right")) - 1)


def _name(game: Game, infoset: int) -> str:
    if game.n_infosets > 100_000:
        return f"information set {infoset}"
    return (
        f"information set {game.labels.infoset[infoset]!r} of player {game.form.owner[infoset] + 1}"
    )
