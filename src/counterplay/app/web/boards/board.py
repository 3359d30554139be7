"""What a board answers, and the board of a game that has none of its own."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from counterplay.app.web.play.walk import Walk


class Choice(NamedTuple):
    """An action as a button: its words, and the key that presses it."""

    label: str
    key: str


class GameBoard(Protocol):
    """One game's board."""

    #: How it goes, for somebody who has never seen it.
    rules: tuple[str, ...]

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        """What the player in `seat` sees; when the game is over also what is then shown."""

    def choices(self, walk: Walk) -> list[Choice]:
        """The actions of the player who acts."""

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        """A move of `player`, before it is made, in words: `bets 1`. For the review."""

    def held(self, walk: Walk, seat: int) -> str:
        """What a player holds, in words. For the review."""


class PlainBoard:
    """The name of the information set, and a button for each action."""

    rules: tuple[str, ...] = ("You see the name of your information set, and choose an action.",)

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        name = "" if walk.over else walk.game.labels.infoset[walk.infoset]
        return {"kind": "plain", "infoset": name, "log": []}

    def choices(self, walk: Walk) -> list[Choice]:
        return [Choice(name, str(k + 1)) for k, name in enumerate(walk.labels())]

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        return walk.labels()[int(action)]

    def held(self, walk: Walk, seat: int) -> str:
        return "its part"


def who(player: int, seat: int) -> str:
    """A player as the one in `seat` calls him."""
    return "you" if player == seat else "other"


def board_of(game: Any) -> GameBoard:
    """The board of a game, by the word of its name."""
    from counterplay.app.web.boards.bids import Bids
    from counterplay.app.web.boards.cards import KuhnBoard, LeducBoard, OneCardBoard
    from counterplay.app.web.boards.dice import Dice
    from counterplay.app.web.boards.room import Room

    boards: dict[str, type[Any]] = {
        "kuhn": KuhnBoard,
        "ocp": OneCardBoard,
        "leduc": LeducBoard,
        "bluff": Dice,
        "goofspiel": Bids,
        "pam": Room,
    }
    made: GameBoard = boards.get(game.name.partition("(")[0], PlainBoard)()
    return made
