"""Luck taken out of a hand of hold'em; see `luck.py`."""

from __future__ import annotations

from typing import Any


def without_luck(hand: Any, bot: Any) -> float | None:
    """None: nobody knows yet."""
    return None
