"""A history of a game with a tree, and the interface of boards, which describe it to a player.

A board reads the whole history and returns only what one player knows: at that player's turn the
same for every history of the information set, which a test checks for every game.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.forms.rules import CHANCE, TERMINAL


class Move(NamedTuple):
    """A move: the player, the number of the child node, and the action of the rules' state."""

    player: int
    child: int
    action: Any


class History:
    """A history of `game`, extended move by move; `state` is the rules' state at its end."""

    def __init__(self, game: Any, children: list[int] | None = None) -> None:
        self.game = game
        self.node = 0
        self.state: Any = game.rules.root()
        self.moves: list[Move] = []
        for child in children or []:
            self.move(child)

    @property
    def player(self) -> int:
        """The player who acts: 0, 1, CHANCE or TERMINAL."""
        return int(self.game.tree.player[self.node])

    @property
    def over(self) -> bool:
        return self.player == TERMINAL

    @property
    def infoset(self) -> int:
        """The information set of the player who acts."""
        return int(self.game.tree.row[self.node])

    @property
    def n_children(self) -> int:
        first = self.game.tree.first_child
        return int(first[self.node + 1] - first[self.node])

    def labels(self) -> list[str]:
        """Names of the actions, in the order of the children."""
        low = int(self.game.tree.first[self.infoset])
        names: list[str] = self.game.labels.action[low : low + self.n_children]
        return names

    def payoff(self, player: int) -> float:
        return float(self.game.tree.payoff[self.infoset, player])

    def move(self, child: int) -> None:
        """Moves on to a child of the node."""
        action = self.state.actions()[child]
        below = self.state.child(action)
        self.moves.append(Move(self.player, child, action))
        self.state = below
        self.node = int(self.game.tree.first_child[self.node]) + child

    def probabilities(self, policy: np.ndarray) -> np.ndarray:
        """Probability of each child: of chance, or under `policy`."""
        tree, row, n = self.game.tree, self.infoset, self.n_children
        if self.player == CHANCE:
            low = int(tree.chance_first[row])
            return np.asarray(tree.chance_probability[low : low + n])
        low = int(tree.first[row])
        return np.asarray(policy[low : low + n])


class Choice(NamedTuple):
    """An action as a button: its label, and the key that presses it."""

    label: str
    key: str


class GameBoard(Protocol):
    """How one game is described to a player."""

    #: The rules of the game, for a beginner.
    rules: tuple[str, ...]

    def view(self, history: History, seat: int) -> dict[str, Any]:
        """What the player in `seat` sees; at the end also what is then revealed."""

    def choices(self, history: History) -> list[Choice]:
        """The actions of the player who acts."""

    def move_text(self, history: History, player: int, child: int) -> str:
        """The next move of `player` in words, such as `bets 1`."""

    def held_text(self, history: History, seat: int) -> str:
        """What a player holds, in words."""


class PlainBoard:
    """The board of a game that has none of its own: the name of the information set."""

    rules: tuple[str, ...] = ("You see the name of your information set, and choose an action.",)

    def view(self, history: History, seat: int) -> dict[str, Any]:
        name = "" if history.over else history.game.labels.infoset[history.infoset]
        return {"kind": "plain", "infoset": name, "log": []}

    def choices(self, history: History) -> list[Choice]:
        return [Choice(name, str(k + 1)) for k, name in enumerate(history.labels())]

    def move_text(self, history: History, player: int, child: int) -> str:
        return history.labels()[child]

    def held_text(self, history: History, seat: int) -> str:
        return "private information"


def who(player: int, seat: int) -> str:
    """A player from the viewpoint of `seat`."""
    return "you" if player == seat else "other"


def board_of(game: Any) -> GameBoard:
    """The board of a game, by the first word of its name."""
    from counterplay.app.web.play.game_boards import BOARDS

    board: GameBoard = BOARDS.get(game.name.partition("(")[0], PlainBoard)()
    return board
