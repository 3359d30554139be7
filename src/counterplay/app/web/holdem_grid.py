"""A hold'em strategy at one decision: its action probabilities for every holding on a board."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, LETTER, STREETS, Betting, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, card_text, cards
from counterplay.poker.holdem.holdings import (
    BOARD_SIZE,
    action_probabilities,
    bucket_codes,
    buckets_on,
    canonical_board,
    strengths_on,
)
from counterplay.poker.holdem.table import Table, strategy_table


class HoldingPolicy(NamedTuple):
    """A strategy at one decision, by holding."""

    bucket: np.ndarray  # int64[1326]
    probability: np.ndarray  # float64[1326, 3]: fold, call, raise
    reach: np.ndarray  # float64[1326]: probability of the player's own actions up to here


@lru_cache(maxsize=6)
def _table(strategy: Any) -> Table:
    return strategy_table(strategy)


def _parse_board(text: str) -> tuple[int, ...]:
    board = tuple(cards(text))
    if len(board) > BOARD_SIZE[-1]:
        raise BadParameter(f"a board has at most {BOARD_SIZE[-1]} cards, not {len(board)}")
    return board


def _path(tree: BettingTree, betting: str) -> list[int]:
    """The public nodes along `betting`, letters such as `rc/cr`."""
    path = [0]
    for letter in betting.replace("/", ""):
        moves = tree.moves[path[-1]]
        if letter not in LETTER or LETTER[letter] not in moves:
            raise BadParameter(f"{letter!r} is not legal after {tree.histories[path[-1]]!r}")
        path.append(moves[LETTER[letter]])
    return path


def _action_taken(tree: BettingTree, node: int, child: int) -> str:
    return tree.actions[node][child - int(tree.nodes.first_child[node])]


def grid_view(strategy: Any, other: Any, betting: str, board_text: str) -> dict[str, Any]:
    """The decision after `betting`: the player, the legal actions, and every holding."""
    tree, board = strategy.game.rules.tree, _parse_board(board_text)
    path = _path(tree, betting)
    state = tree.states[path[-1]]
    facts: dict[str, Any] = {
        "kind": "grid",
        "game": strategy.game.name,
        "player": strategy.player,
        "betting": state.history,
        "steps": [_step(tree, node, child) for node, child in pairwise(path)],
        "street": STREETS[state.round],
        "board": [card_text(card) for card in board],
        "needed": state.on_board,
        "over": state.over,
        "paid": list(state.paid),
    }
    if state.over or len(board) < state.on_board:
        return facts
    dealt = board[: state.on_board]
    canonical = canonical_board(dealt)
    facts |= {
        "seat": state.player(),
        "actions": tree.actions[path[-1]],
        "one": _policy_facts(strategy, betting, dealt),
        "strength": _rounded(strengths_on(canonical), 4),
        "free": canonical.free.astype(int).tolist(),
    }
    if other is not None:
        facts["two"] = _policy_facts(other, betting, dealt)
    return facts


def _step(tree: BettingTree, node: int, child: int) -> dict[str, Any]:
    state: Betting = tree.states[node]
    return {
        "street": STREETS[state.round],
        "seat": state.player(),
        "history": state.history,
        "actions": tree.actions[node],
        "taken": _action_taken(tree, node, child),
    }


def _holding_policy(strategy: Any, betting: str, board: tuple[int, ...]) -> HoldingPolicy:
    tree, table = strategy.game.rules.tree, _table(strategy)
    path = _path(tree, betting)
    node = path[-1]
    reach = np.ones(N_HOLDINGS)

    def probabilities(at: int) -> np.ndarray:
        codes = bucket_codes(table, board, int(tree.nodes.street[at]))
        return action_probabilities(table, at, codes)

    for at, child in pairwise(path):
        if tree.nodes.player[at] == tree.nodes.player[node]:
            reach *= probabilities(at)[:, ACTIONS.index(_action_taken(tree, at, child))]
    buckets = buckets_on(table.cards, canonical_board(board))
    return HoldingPolicy(buckets, probabilities(node), reach)


def _policy_facts(strategy: Any, betting: str, board: tuple[int, ...]) -> dict[str, Any]:
    bucket, probability, reach = _holding_policy(strategy, betting, board)
    weight = reach * canonical_board(board).free
    total = float(weight.sum())
    return {
        "bucket": bucket.tolist(),
        "shares": [_rounded(probability[:, k], 3) for k in range(3)],
        "reach": _rounded(reach, 4),
        "mean": (weight @ probability / total).tolist() if total > 0 else None,
    }


def _rounded(values: np.ndarray, digits: int) -> list[float]:
    rounded: list[float] = np.round(values, digits).tolist()
    return rounded


def grid_csv(strategy: Any, other: Any, betting: str, board_text: str) -> str:
    """A row for each holding that is possible on the board."""
    tree, board = strategy.game.rules.tree, _parse_board(board_text)
    state = tree.states[_path(tree, betting)[-1]]
    if state.over or len(board) < state.on_board:
        raise BadParameter("there is no decision here")
    board = board[: state.on_board]
    canonical = canonical_board(board)
    strength = strengths_on(canonical)
    policies = [_holding_policy(strategy, betting, board)]
    header = ["holding", "strength", "bucket", "reach", *ACTIONS]
    if other is not None:
        policies.append(_holding_policy(other, betting, board))
        header += [f"other_{name}" for name in ("bucket", "reach", *ACTIONS)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for k in np.flatnonzero(canonical.free).tolist():
        low, high = HOLDING_CARDS[k].tolist()
        row: list[Any] = [card_text(high) + card_text(low), f"{strength[k]:.6f}"]
        for bucket, probability, reach in policies:
            row += [int(bucket[k]), f"{reach[k]:.6g}", *(f"{x:.6g}" for x in probability[k])]
        writer.writerow(row)
    return out.getvalue()
