"""Bots by name. A new bot is a file that sets `BOT` to a `BotSpec`, and its test. The shipped
strategies (`poker/bots/shipped.py`) are bots too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.registry import BuiltIn, Registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy

if TYPE_CHECKING:
    from counterplay.poker.bots.shipped import ShippedStrategy
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
    shipped: ShippedStrategy | None = None  # with its game and certified exploitability

    @property
    def game(self) -> str | None:
        """The only game of its strategy, if there is only one."""
        return None if self.shipped is None else self.shipped.game


class BotRegistry(Registry[BotSpec]):
    """The shipped strategies, the bots of this package, and those of installed packages."""

    def listing(self) -> Mapping[str, BuiltIn]:
        from counterplay.poker.bots.shipped import __name__ as module
        from counterplay.poker.bots.shipped import strategies

        shipped = {one.name: BuiltIn(module, {}) for one in strategies()}
        return {**shipped, **super().listing()}

    def _import(self, name: str) -> BotSpec:
        from counterplay.poker.bots.shipped import shipped_bots

        return shipped_bots().get(name) or super()._import(name)


BOTS: Registry[BotSpec] = BotRegistry("bot", lambda spec: isinstance(spec, BotSpec))
