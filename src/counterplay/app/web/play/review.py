"""After a hand of a small game: what the other held, how he plays there, and what moves cost.

The cost of a move is exact: what a best response to the other's strategy gets at the information
set minus what it gets after the move that was made (going on as the best response).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from counterplay.app.web.boards.board import GameBoard
from counterplay.app.web.explore.values import SetValues, set_values
from counterplay.app.web.play.walk import Walk
from counterplay.core.evaluation.exact import best_response


def review_small(walk: Walk, strategy: Any, board: GameBoard, seat: int) -> dict[str, Any]:
    """Every decision of the hand, the person's with its cost."""
    again, steps, cost = Walk(walk.game), [], 0.0
    best = _best(strategy, seat)
    for move in walk.moves:
        if move.player >= 0:
            step = _step(again, board, move.player, move.child)
            if move.player == seat:
                step |= _worth(again, best, move.child)
                cost += step["cost"] or 0.0
            else:
                step["shares"] = again.shares(strategy.probabilities).tolist()
            step["who"] = "you" if move.player == seat else "other"
            steps.append(step)
        again.move(move.child)
    return {
        "held": board.held(walk, 1 - seat),
        "steps": steps,
        "cost": cost,
        "exact": True,
        "note": "",
    }


def _step(walk: Walk, board: GameBoard, player: int, child: int) -> dict[str, Any]:
    return {
        "text": board.progress(walk, player, child),
        "choices": [choice.label for choice in board.choices(walk)],
        "chosen": child,
    }


def _worth(walk: Walk, best: SetValues, child: int) -> dict[str, Any]:
    """What each action would have been worth, and what this one cost."""
    low = int(walk.game.tree.first[walk.infoset])
    q = best.q[low : low + walk.n_children].tolist()
    known = [value for value in q if not math.isnan(value)]
    if not known or math.isnan(q[child]):
        return {"values": None, "cost": None}
    return {"values": q, "cost": max(known) - q[child]}


@lru_cache(maxsize=8)
def _best(strategy: Any, seat: int) -> SetValues:
    """Values when the person plays a best response from here on."""
    profile = best_response(strategy.game, strategy, seat).strategy
    assert profile is not None
    return set_values(strategy.game, profile.probabilities)
