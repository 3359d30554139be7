"""Games with a tree at a table: histories, boards, which describe them to a player, hands against a
strategy, and their review.

A board reads the whole history and returns only what one player knows: at that player's turn the
same for every history of the information set, which a test checks for every game.

The cost of a move is exact: the counterfactual value of a best response to the opponent's strategy
at the information set, minus that of the move that was made followed by the best response.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.web.play.table import Choice, IllegalMove, review_step, summed_up, who
from counterplay.core.evaluation.exact import InfosetValues, best_response, infoset_values
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.match.luck_adjustment import adjusted_payoffs

NOTE = "Lost against a best response that knows the strategy; exact."
_random = random.SystemRandom()


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

    def decisions(self) -> Iterator[tuple[History, Move]]:
        """The moves of the players, each with the history before it, which is then extended."""
        before = History(self.game)
        for move in self.moves:
            if move.player >= 0:
                yield before, move
            before.move(move.child)

    def probabilities(self, policy: np.ndarray) -> np.ndarray:
        """Probability of each child: of chance, or under `policy`."""
        tree, row, n = self.game.tree, self.infoset, self.n_children
        if self.player == CHANCE:
            low = int(tree.chance_first[row])
            return np.asarray(tree.chance_probability[low : low + n])
        low = int(tree.first[row])
        return np.asarray(policy[low : low + n])


class GameBoard:
    """How a game is described to a player. This one is for games without a board of their own: it
    shows the name of the information set."""

    #: The rules of the game, for a beginner.
    rules: tuple[str, ...] = ("You see the name of your information set, and choose an action.",)

    def view(self, history: History, seat: int) -> dict[str, Any]:
        """What the player in `seat` sees; at the end also what is then revealed."""
        name = "" if history.over else history.game.labels.infoset[history.infoset]
        return {"kind": "plain", "infoset": name, "log": []}

    def choices(self, history: History) -> list[Choice]:
        """The actions of the player who acts."""
        return [Choice(name, str(k + 1)) for k, name in enumerate(history.labels())]

    def move_text(self, history: History, child: int) -> str:
        """The next move in words, such as `bets 1`."""
        return history.labels()[child]

    def log(self, history: History, seat: int) -> list[dict[str, str]]:
        """The moves of both players so far in words."""
        return [
            {"who": who(move.player, seat), "text": self.move_text(before, move.child)}
            for before, move in history.decisions()
        ]

    def held_text(self, history: History, seat: int) -> str:
        """What a player holds, in words."""
        return "private information"


def board_of(game: Any) -> GameBoard:
    """The board of a game, by the first word of its name."""
    from counterplay.app.web.play.game_boards import BOARDS

    return BOARDS.get(game.name.partition("(")[0], GameBoard)()


class TreeGameSource:
    """Deals hands of one game against one strategy."""

    kind = "tree"
    known = True

    def __init__(self, game: Any, strategy: Any) -> None:
        self.game, self.strategy = game, strategy
        self.board = board_of(game)
        self.rules = self.board.rules

    def new_hand(self, seat: int, deal: Any = None) -> TreeHand:
        return TreeHand(self, seat)

    def forget(self) -> None:
        """Does nothing: a strategy has no memory."""


class TreeHand:
    """A history of the tree; chance and the strategy sample their moves."""

    def __init__(self, source: TreeGameSource, seat: int) -> None:
        self._source, self.seat = source, seat
        self.history = History(source.game)

    @property
    def over(self) -> bool:
        return self.history.over

    @property
    def waiting(self) -> bool:
        return self.history.player == self.seat

    @property
    def won(self) -> float:
        return self.history.payoff(self.seat)

    def deal(self) -> None:
        return None

    def moves(self) -> list[int]:
        return [move.child for move in self.history.moves]

    def act(self, choice: int) -> None:
        if self.history.player != self.seat or not 0 <= choice < self.history.n_children:
            raise IllegalMove("that move cannot be made now")
        self.history.move(choice)

    def advance(self) -> None:
        while not self.over and not self.waiting:
            weights = self.history.probabilities(self._source.strategy.probabilities).tolist()
            self.history.move(_random.choices(range(len(weights)), weights=weights)[0])

    def replay(self, moves: list[Any]) -> None:
        for child in moves:
            if type(child) is not int or not 0 <= child < self.history.n_children or self.over:
                raise IllegalMove("the rules do not allow this move")
            self.history.move(child)

    def choices(self) -> list[Choice]:
        return [] if self.over else self._source.board.choices(self.history)

    def view(self) -> dict[str, Any]:
        return self._source.board.view(self.history, self.seat)

    def scenes(self) -> list[dict[str, Any]]:
        return [self.view()]

    def adjusted(self) -> float | None:
        return luck_adjusted(self.history, self._source.strategy, self.seat)

    def review(self) -> dict[str, Any]:
        return review(self.history, self._source.strategy, self._source.board, self.seat)


def luck_adjusted(history: History, strategy: Any, seat: int) -> float:
    """The payoff of a finished history to the person in `seat`, with the luck of chance and of
    `strategy` taken out (AIVAT)."""
    return float(_adjusted_payoffs(strategy, seat)[history.node])


@lru_cache(maxsize=8)
def _adjusted_payoffs(strategy: Any, seat: int) -> np.ndarray:
    policies = np.stack([strategy.probabilities, strategy.probabilities])
    return adjusted_payoffs(strategy.game, policies, seat, known=(1 - seat,))


def review(history: History, strategy: Any, board: GameBoard, seat: int) -> dict[str, Any]:
    """Every decision of a finished hand, the person's with its cost."""
    steps, best = [], _best_response_values(strategy, seat)
    for before, (player, child, _) in history.decisions():
        numbers = best.action_value if player == seat else strategy.probabilities
        labels = [choice.label for choice in board.choices(before)]
        text, numbers = board.move_text(before, child), before.probabilities(numbers).tolist()
        steps.append(review_step(who(player, seat), text, labels, child, numbers))
    return {"held": board.held_text(history, 1 - seat), **summed_up(steps), "note": NOTE}


@lru_cache(maxsize=8)
def _best_response_values(strategy: Any, seat: int) -> InfosetValues:
    profile = best_response(strategy.game, strategy, seat).strategy
    assert profile is not None
    return infoset_values(strategy.game, profile.probabilities)
