"""How long work says where it stands. Whoever shows it passes a function; the default hears
nothing."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the share of the work done, in [0, 1], and what is running.
Tell = Callable[[float, str], None]
#: The same where there is one kind of work only.
TellShare = Callable[[float], None]


def untold(share: float, what: str = "") -> None:
    """Nobody listens."""


def part(tell: Tell, low: float, high: float, what: str) -> TellShare:
    """Tells of one kind of work inside a larger one: its share from `low` to `high` of the
    whole."""
    return lambda share: tell(low + (high - low) * share, what)
