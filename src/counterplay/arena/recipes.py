"""Players that another process can make anew: by the name, path or `file.py:Class` they were made
from, or as they are where they can be sent."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from counterplay.opponents.players import bot


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
