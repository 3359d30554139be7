"""What a bot's file says about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy

if TYPE_CHECKING:
    from counterplay.poker.holdem.table import Table


def _nothing(progress: ProgressCallback) -> None:
    """Most bots are ready at once."""


@dataclass(frozen=True)
class BotSpec:
    """`make()` returns a bot, something with a method `act(view)`. `prepare(progress)` comes first
    and may take long."""

    name: str
    make: Callable[[], Any]
    summary: str
    prepare: Callable[[ProgressCallback], Any] = _nothing
    strategy: Callable[[Game], Strategy] | None = None  # the same player as a strategy of a game
    table: Callable[[ProgressCallback], Table] | None = (
        None  # the same where no strategy of a game can say it
    )
