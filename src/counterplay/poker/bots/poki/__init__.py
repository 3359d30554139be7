"""Poki, the formula-based player of Davidson and Billings (2002): a re-creation from published
descriptions.

Reading order: `strength.py` (hand strength, hand potential), `potential.py` (tables of both for all
boards), `strategy.py` (constants and their sources, pre-flop expert system, post-flop triples),
`opponent.py` (frequencies, weight table), `bot.py`.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.poker.bots.registry import BotSpec


def _prepare(progress: ProgressCallback) -> None:
    from counterplay.poker.bots.poki.potential import potentials

    potentials(progress)


def _make() -> Any:
    from counterplay.poker.bots.poki.bot import Poki

    return Poki()


BOT = BotSpec(
    "poki", _make, "re-creation of the formula-based Poki from its published descriptions", _prepare
)
