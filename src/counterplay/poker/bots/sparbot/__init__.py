"""Sparbot: a re-creation of PsOpti2 and PsOpti4 (Poker Academy's Sparbot) from its published
description.

Billings et al. 2003, "Approximating game-theoretic optimal strategies for full-scale poker";
Billings 2006, chapter 3. The original's bucket table was never published, nor were its borders, its
transition matrices or its strategy: what stands here is built by the same method, not copied.
`poker/abstraction/sparbot.py`, `chance.py` and `model.py` each say what was published and what was
chosen.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.poker.bots.spec import BotSpec


def _table(progress: ProgressCallback) -> Any:
    from counterplay.poker.bots.sparbot.build import sparbot_table

    return sparbot_table(progress)


def _make() -> Any:
    from counterplay.poker.bots.table import TableBot

    return TableBot("sparbot", _table(no_progress))


BOT = BotSpec(
    "sparbot",
    _make,
    "re-creation of Sparbot (PsOpti2/4) from its published description",
    _table,
    table=_table,
)
