"""Hands of games with a tree, against a strategy, and their review.

The cost of a move is exact: the counterfactual value of a best response to the opponent's strategy
at the information set, minus that of the move that was made followed by the best response.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import Any

import numpy as np

from counterplay.app.web.play.boards import Choice, GameBoard, History, board_of, who
from counterplay.app.web.play.table import IllegalMove
from counterplay.core.evaluation.exact import best_response
from counterplay.core.evaluation.infoset_values import InfosetValues, infoset_values
from counterplay.core.match.luck_adjustment import adjusted_payoffs

_random = random.SystemRandom()


class TreeGameSource:
    """Deals hands of one game against one strategy."""

    kind = "tree"

    def __init__(self, game: Any, strategy: Any) -> None:
        self.game, self.strategy = game, strategy
        self.board: GameBoard = board_of(game)
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
    prefix, steps, total = History(history.game), [], 0.0
    best = _best_response_values(strategy, seat)
    for move in history.moves:
        if move.player >= 0:
            step: dict[str, Any] = {
                "text": board.move_text(prefix, move.player, move.child),
                "choices": [choice.label for choice in board.choices(prefix)],
                "chosen": move.child,
                "who": who(move.player, seat),
            }
            if move.player == seat:
                step |= _cost(prefix, best, move.child)
                total += step["cost"] or 0.0
            else:
                step["shares"] = prefix.probabilities(strategy.probabilities).tolist()
            steps.append(step)
        prefix.move(move.child)
    held = board.held_text(history, 1 - seat)
    return {"held": held, "steps": steps, "cost": total, "exact": True, "note": ""}


def _cost(history: History, best: InfosetValues, child: int) -> dict[str, Any]:
    """The value of each action, and the cost of the one that was chosen."""
    low = int(history.game.tree.first[history.infoset])
    values = best.action_value[low : low + history.n_children].tolist()
    if math.isnan(values[child]):
        return {"values": None, "cost": None}
    return {"values": values, "cost": max(x for x in values if not math.isnan(x)) - values[child]}


@lru_cache(maxsize=8)
def _best_response_values(strategy: Any, seat: int) -> InfosetValues:
    profile = best_response(strategy.game, strategy, seat).strategy
    assert profile is not None
    return infoset_values(strategy.game, profile.probabilities)
