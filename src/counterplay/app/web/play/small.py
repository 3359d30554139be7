"""Hands of games with a tree."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from counterplay.app.web.boards.board import Choice, GameBoard, board_of
from counterplay.app.web.play.hands import BadMove
from counterplay.app.web.play.luck import without_luck
from counterplay.app.web.play.review import review_small
from counterplay.app.web.play.walk import Walk

_dice = random.SystemRandom()


class SmallGame:
    """What all hands at a table share."""

    kind = "small"

    def __init__(self, game: Any, strategy: Any) -> None:
        self.game, self.strategy = game, strategy
        self.board: GameBoard = board_of(game)
        self.rules = self.board.rules

    def new_hand(self, seat: int, deal: Any = None) -> SmallHand:
        return SmallHand(self, seat)

    def forget(self) -> None:
        """A strategy remembers nothing."""


class SmallHand:
    """A history of the tree, which chance and the strategy draw their part of."""

    def __init__(self, shared: SmallGame, seat: int) -> None:
        self._shared, self.seat = shared, seat
        self.walk = Walk(shared.game)

    @property
    def over(self) -> bool:
        return self.walk.over

    @property
    def waiting(self) -> bool:
        return self.walk.player == self.seat

    @property
    def won(self) -> float:
        return self.walk.payoff(self.seat)

    def deal(self) -> None:
        return None

    def moves(self) -> list[int]:
        return [move.child for move in self.walk.moves]

    def act(self, choice: int) -> None:
        if self.walk.player != self.seat or not 0 <= choice < self.walk.n_children:
            raise BadMove("that move cannot be made now")
        self.walk.move(choice)

    def answer(self) -> None:
        while not self.over and self.walk.player != self.seat:
            self.walk.move(_draw(self.walk.shares(self._shared.strategy.probabilities)))

    def replay(self, moves: list[Any]) -> None:
        for child in moves:
            if type(child) is not int or not 0 <= child < self.walk.n_children or self.over:
                raise BadMove("a move that the rules do not know")
            self.walk.move(child)

    def choices(self) -> list[Choice]:
        return [] if self.over else self._shared.board.choices(self.walk)

    def see(self) -> dict[str, Any]:
        return self._shared.board.see(self.walk, self.seat)

    def adjusted(self) -> float | None:
        return without_luck(self.walk, self._shared.strategy, self.seat)

    def review(self) -> dict[str, Any]:
        return review_small(self.walk, self._shared.strategy, self._shared.board, self.seat)


def _draw(shares: np.ndarray) -> int:
    """A place, by its probability; never one that cannot happen."""
    return _dice.choices(range(len(shares)), weights=shares.tolist())[0]
