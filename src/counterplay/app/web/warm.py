"""Loading in the background what the first table and the explorer need."""

from __future__ import annotations

from contextlib import suppress


def warm_up() -> None:
    """Tables of hold'em where they are on disk, and the kernels of bots."""
    from counterplay.poker.cards.tables import TABLES

    if not TABLES.size_on_disk():
        return
    with suppress(Exception):  # whoever sits down will be told
        from counterplay.poker.bots.text import view
        from counterplay.poker.players import bot

        bot("always-call").act(view("", "AhKd"))
