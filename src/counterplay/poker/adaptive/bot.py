"""Registers the adaptive player; its modules are imported when it is made."""

from __future__ import annotations

from typing import Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.poker.bots.registry import BotSpec


def _prepare(progress: ProgressCallback) -> None:
    from counterplay.poker.adaptive.portfolio import portfolio

    portfolio(progress=progress)


def _make() -> Any:
    from counterplay.poker.adaptive.player import Adaptive

    return Adaptive()


BOT = BotSpec(
    "adaptive",
    _make,
    "starts from an equilibrium, learns the opponent and exploits what is confirmed",
    _prepare,
)
