"""Players of a match: who can meet and in which seats, and how another process makes them anew.

A response for one seat plays in that seat only: its other seat is the model. A player is made anew
by the name, path or `file.py:Class` he was made from, or sent as he is where he can be.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import common_seat
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.bots.table import TableBot
from counterplay.poker.players import bot


def only_seat(a: Any, b: Any) -> int | None:
    """The one seat in which `a` can meet `b`; None: both seats."""
    return common_seat(
        *(player.player if isinstance(player, Strategy | TableBot) else None for player in (a, b))
    )


def check_no_memory(seat: int | None, players: tuple[Any, Any]) -> None:
    """Refuse one seat against a bot that may remember: it would learn from hands that do not
    count."""
    thinking = [player for player in players if not isinstance(player, TableBot)]
    if seat is not None and thinking:
        name = getattr(thinking[0], "name", type(thinking[0]).__name__)
        raise BadStrategy(
            f"a response for one seat cannot play {name}, who plays both seats by turns and may "
            f"remember; respond in both seats "
            "(--player both, in Python player=None)"
        )


def check_betting(betting: BettingRules, players: tuple[Any, ...]) -> None:
    """Refuse players who say that they were made for other betting than the game's."""
    for player in players:
        if getattr(player, "betting", betting) != betting:
            raise BadStrategy(f"{player.name} was made for other betting than this game's")


class Recipe(NamedTuple):
    """`text` if the player was made from one, else the player himself."""

    text: str | None
    player: Any

    def made(self) -> Any:
        """The player, in this process."""
        return self.player if self.text is None else bot(self.text)


def recipes(players: tuple[Any, Any]) -> tuple[Recipe, Recipe] | None:
    """How to make both; None where one of them lives in this process only, such as a class of a
    notebook."""
    found = []
    for player in players:
        text = getattr(player, "made_from", None)
        one = Recipe(text, None if text else player)
        if text is None and type(player).__module__ == "__main__":
            return None
        try:
            ForkingPickler.loads(ForkingPickler.dumps(one))
        except Exception:
            return None
        found.append(one)
    return found[0], found[1]
