"""One history of a game with a tree, move by move, with what each move means.

`Walk` follows the tree by numbers and the rules beside it, so that a board can say in the words of
the game what a player sees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.rules import CHANCE, TERMINAL


class Move(NamedTuple):
    """Who moved, which child of the node it was, and the action as the state has it."""

    player: int
    child: int
    action: Any


class Walk:
    """A history of `game`. `state` is a state of the rules."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.node = 0
        self.state: Any = game.rules.root()
        self.moves: list[Move] = []

    @property
    def player(self) -> int:
        """Who acts: 0, 1, CHANCE or TERMINAL."""
        return int(self.game.tree.player[self.node])

    @property
    def over(self) -> bool:
        return self.player == TERMINAL

    @property
    def infoset(self) -> int:
        """Of the player who acts."""
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
        """Go on to a child of the node."""
        action = self.state.actions()[child]
        below = self.state.child(action)
        self.moves.append(Move(self.player, child, action))
        self.state = below
        self.node = int(self.game.tree.first_child[self.node]) + child

    def shares(self, policy: np.ndarray) -> np.ndarray:
        """Probability of each child: of chance, or as `policy` plays."""
        tree, row, n = self.game.tree, self.infoset, self.n_children
        if self.player == CHANCE:
            low = int(tree.chance_first[row])
            return np.asarray(tree.chance_probability[low : low + n])
        low = int(tree.first[row])
        return np.asarray(policy[low : low + n])


def walk_of(game: Any, children: list[int]) -> Walk:
    """The history with these children, from the root."""
    walk = Walk(game)
    for child in children:
        walk.move(child)
    return walk
