"""Sparbot: a re-creation of PsOpti2 and PsOpti4 (Poker Academy's Sparbot) from its published
description.

Billings et al. 2003, "Approximating game-theoretic optimal strategies for full-scale poker";
Billings 2006, chapter 3. The original's buckets, transition probabilities and strategy were never
published: this bot is built by the same method. Each file states what was published and what was
chosen. Reading order: `poker/abstraction/sparbot.py` (the abstraction), `model.py` (the
abstract games and their chance moves), `build.py`.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.poker.bots.registry import BotSpec


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
