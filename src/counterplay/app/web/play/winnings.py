"""What a person has won so far, raw and with luck taken out, each with a 95% interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def winnings(won: list[tuple[int, float]], adjusted: list[float | None]) -> dict[str, Any]:
    """`won`: seat and result of each hand; `adjusted`: the result without luck, where known."""
    found: dict[str, Any] = {"hands": len(won), "total": sum(gain for _, gain in won)}
    found |= _interval(won)
    known = [
        (seat, value) for (seat, _), value in zip(won, adjusted, strict=True) if value is not None
    ]
    found["adjusted"] = _interval(known) if len(known) == len(won) and won else None
    return found


def _interval(won: list[tuple[int, float]]) -> dict[str, float | None]:
    """Mean of the seats that were played, and where 95% of such intervals hold the true one."""
    from counterplay.core.match.result import estimate, half_width
    from counterplay.core.match.tally import tally

    if not won:
        return {"mean": None, "within": None}
    table = np.full((len(won), 2), np.nan)
    for k, (seat, gain) in enumerate(won):
        table[k, seat] = gain
    so_far = estimate([tally(table)])
    if so_far is None:
        return {"mean": sum(gain for _, gain in won) / len(won), "within": None}
    half = half_width(so_far.standard_error, so_far.degrees)
    return {"mean": so_far.mean, "within": half if math.isfinite(half) else None}
