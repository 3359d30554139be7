"""Bots by name, and whatever else can play turned into a bot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from counterplay.base.errors import BadParameter, unknown
from counterplay.base.progress import Tell, untold
from counterplay.forms.strategy import Strategy
from counterplay.opponents.bots.simple import SIMPLE, simple_bot
from counterplay.opponents.bots.table import TableBot, strategy_bot


def _poki(tell: Tell) -> Any:
    from counterplay.opponents.bots.poki.bot import Poki
    from counterplay.opponents.bots.poki.store import potentials

    potentials(tell)
    return Poki()


def _sparbot(tell: Tell) -> Any:
    from counterplay.opponents.bots.sparbot.build import sparbot_table

    return TableBot("sparbot", sparbot_table(tell))


#: What each is, in one line.
BOTS: dict[str, str] = {
    "poki": "re-creation of the formula-based Poki from its published descriptions",
    "sparbot": "re-creation of Sparbot (PsOpti2/4) from its published description",
    "always-call": "checks and calls",
    "always-raise": "bets and raises while it may",
    "always-fold": "folds to any bet, the blind included",
    "uniform": "every legal action with the same probability",
    "probe": "calls or raises, evenly; never folds",
}


def bot(name: str, tell: Tell = untold) -> Any:
    """A bot by name. Poki's and Sparbot's tables are built on first use; `tell(share, what)` hears how far that is."""
    if name in SIMPLE:
        return simple_bot(name)
    if name not in BOTS:
        raise unknown("bot", name, BOTS)
    return _poki(tell) if name == "poki" else _sparbot(tell)


def as_bot(player: Any, tell: Tell = untold) -> Any:
    """A bot from a name, a strategy, the path of a saved one, or anything with a method `act`."""
    if isinstance(player, Strategy):
        return strategy_bot(player)
    if isinstance(player, str | Path):
        if str(player) in BOTS:
            return bot(str(player), tell)
        path = Path(player)
        if not str(player) or not os.path.exists(path):  # which answers for impossible names too
            if path.suffix or len(path.parts) > 1:
                raise BadParameter(
                    f"no strategy at {path}, and no bot of that name; bots are {', '.join(BOTS)}"
                )
            raise unknown("bot", str(player), BOTS)
        if path.suffix == ".json":
            from counterplay.opponents.models.file import load_model

            return strategy_bot(load_model(path).strategy, path.stem)
        return strategy_bot(Strategy.load(path), path.name if path.is_dir() else path.stem)
    if callable(getattr(player, "act", None)):
        return player
    raise BadParameter(
        f"a player is a strategy, the name of a bot, or an object with a method act(view), not {player!r}"
    )
