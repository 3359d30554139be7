"""The one place where pages meet the player who learns: what it has confirmed, which response it
plays and why, and the trees of its model.

`Learning` is what the page shows. Any bot that has a method `learning()` which gives one can be
watched; `Watched` gives it to the learner of `match --learn`.
"""

from __future__ import annotations

from typing import Any


def new_learner() -> Any:
    raise NotImplementedError


def learning_of(table: Any) -> dict[str, Any] | None:
    """What the opponent of a table says of its learning; None where it does not learn."""
    bot = getattr(table.shared, "bot", None)
    tell = getattr(bot, "learning", None)
    return None if tell is None else tell()
