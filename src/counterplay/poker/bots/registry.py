"""Bots by name. A new bot is a file that sets `BOT` to a `BotSpec`, and its test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.registry import Registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy

if TYPE_CHECKING:
    from counterplay.poker.holdem.table import Table


@dataclass(frozen=True)
class BotSpec:
    """`make()` returns a bot, an object with a method `act(view)`. `prepare(progress)` is called
    first and builds its tables."""

    name: str
    make: Callable[[], Any]
    summary: str
    prepare: Callable[[ProgressCallback], Any] = lambda progress: None
    strategy: Callable[[Game], Strategy] | None = None  # the bot as a strategy of a game
    #: The bot as a table, where it has more recall than a strategy of a game.
    table: Callable[[ProgressCallback], Table] | None = None


BOTS: Registry[BotSpec] = Registry("bot", lambda spec: isinstance(spec, BotSpec))
