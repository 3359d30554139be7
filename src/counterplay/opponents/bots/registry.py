"""Bots by name, and whatever else can play turned into a bot. A new bot is a file that sets
`BOT`, and its test."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from counterplay.base.errors import BadParameter, UnknownName
from counterplay.base.own import call_own, is_own, own_thing
from counterplay.base.progress import Tell, untold
from counterplay.base.registry import Registry
from counterplay.forms.strategy import Strategy
from counterplay.opponents.bots.spec import BotSpec
from counterplay.opponents.bots.table import strategy_bot

BOTS: Registry[BotSpec] = Registry(
    "bot",
    "counterplay.opponents.bots",
    lambda spec: isinstance(spec, BotSpec),
    ("counterplay.adaptive",),
)


def bot(player: Any, tell: Tell = untold) -> Any:
    """A bot from a name, a strategy, the path of a saved one or of a model, a class of your own
    as `my_bots.py:MyBot` (which runs that file), or anything with a method `act`. Poki's and
    Sparbot's tables are built on first use; `tell(share, what)` hears how far that is."""
    if isinstance(player, Strategy):
        return strategy_bot(player)
    if isinstance(player, str | Path):
        made = _from_text(str(player), tell)
        with suppress(AttributeError):  # an object of somebody's own may take none
            made.made_from = str(player)
        return made
    if callable(getattr(player, "act", None)):
        return player
    raise BadParameter(
        f"a player is a strategy, the name of a bot, or an object with a method act(view), not "
        f"{player!r}"
    )


def _from_text(text: str, tell: Tell) -> Any:
    """A bot by name, by path, or by file and class."""
    if is_own(text):
        return _own_bot(text)
    if text in BOTS:
        return _by_name(text, tell)
    path = Path(text)
    if not text or not os.path.exists(path):  # which answers for impossible names too
        if path.suffix or len(path.parts) > 1:
            raise BadParameter(
                f"no strategy at {path}, and no bot of that name; bots are {', '.join(BOTS)}"
            )
        try:
            return _by_name(text, tell)
        except UnknownName as error:
            there = f"and there is no run folder or file {text!r} here"
            raise UnknownName(f"{error}; {there}") from None
    if path.suffix == ".json":
        from counterplay.opponents.models.file import load_model

        return strategy_bot(load_model(path).strategy, path.stem)
    return strategy_bot(Strategy.load(path), path.name if path.is_dir() else path.stem)


def _by_name(name: str, tell: Tell) -> Any:
    spec = BOTS.find(name)
    spec.prepare(tell)
    return spec.make()


def _own_bot(text: str) -> Any:
    """A class of the user's own, made without arguments; a function that makes a bot; or a
    spec."""
    found = own_thing(text, "bot")
    make = found.make if isinstance(found, BotSpec) else found
    made = call_own(make, text) if isinstance(make, type) or not hasattr(make, "act") else make
    if not callable(getattr(made, "act", None)):
        raise BadParameter(f"{text}: a bot has a method act(view), and this has none")
    return made


as_bot = bot  # the same, where a caller has any kind of player
