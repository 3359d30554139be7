"""A hold'em strategy at one decision: what it does with every holding on a board."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.app.web.explore.holdings import (
    BOARD_SIZE,
    buckets_on,
    codes_on,
    place_of,
    shares_at,
    strengths_on,
)
from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, LETTER, STREETS, Betting, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, card_text, cards
from counterplay.poker.holdem.table import strategy_table


@lru_cache(maxsize=6)
def table_of(strategy: Any) -> Any:
    return strategy_table(strategy)


def parse_board(text: str) -> tuple[int, ...]:
    """0 to 5 cards, each once."""
    found = tuple(cards(text))
    if len(found) > BOARD_SIZE[-1]:
        raise BadParameter(f"a board has at most {BOARD_SIZE[-1]} cards, not {len(found)}")
    return found


def node_after(tree: BettingTree, betting: str) -> list[int]:
    """The nodes on the way to `betting`, letters such as `rc/cr`; the last is where it leads."""
    way = [0]
    for letter in betting.replace("/", ""):
        moves = tree.moves[way[-1]]
        if letter not in LETTER or LETTER[letter] not in moves:
            raise BadParameter(f"nobody can play {letter!r} after {tree.histories[way[-1]]!r}")
        way.append(moves[LETTER[letter]])
    return way


def look_grid(strategy: Any, other: Any, betting: str, board_text: str) -> dict[str, Any]:
    """The decision after `betting`: who acts, what he may do, and every holding."""
    rules = strategy.game.rules
    tree, board = rules.tree, parse_board(board_text)
    way = node_after(tree, betting)
    state = tree.states[way[-1]]
    found: dict[str, Any] = {
        "kind": "grid",
        "game": strategy.game.name,
        "player": strategy.player,
        "betting": state.history,
        "steps": [_step(tree, node, after) for node, after in pairwise(way)],
        "street": STREETS[state.round],
        "board": [card_text(card) for card in board],
        "needed": state.on_board,
        "over": state.over,
        "paid": list(state.paid),
    }
    if state.over or len(board) < state.on_board:
        return found
    lying = board[: state.on_board]
    found |= {
        "seat": state.player(),
        "actions": tree.actions[way[-1]],
        "one": _holdings(strategy, way, lying),
    }
    if other is not None:
        found["two"] = _holdings(other, _way_in(other, betting), lying)
    place = place_of(lying)
    found["strength"] = _rounded(strengths_on(place), 4)
    found["free"] = place.free.astype(int).tolist()
    return found


def _way_in(strategy: Any, betting: str) -> list[int]:
    return node_after(strategy.game.rules.tree, betting)


def _step(tree: BettingTree, node: int, after: int) -> dict[str, Any]:
    state: Betting = tree.states[node]
    names = tree.actions[node]
    taken = names[after - int(tree.nodes.first_child[node])]
    return {
        "street": STREETS[state.round],
        "seat": state.player(),
        "history": state.history,
        "actions": names,
        "taken": taken,
    }


def holding_arrays(
    strategy: Any, way: list[int], board: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bucket int64[1326], shares float64[1326, 3], and reach float64[1326]: how often the player's
    own actions lead here with each holding."""
    tree, table = strategy.game.rules.tree, table_of(strategy)
    node, street = way[-1], int(tree.nodes.street[way[-1]])
    seat = int(tree.nodes.player[node])
    reach = np.ones(len(HOLDING_CARDS))
    for at, after in pairwise(way):
        if tree.nodes.player[at] == seat:
            codes = codes_on(table, board, int(tree.nodes.street[at]))
            name = tree.actions[at][after - int(tree.nodes.first_child[at])]
            reach *= shares_at(table, at, codes)[:, ACTIONS.index(name)]
    shares = shares_at(table, node, codes_on(table, board, street))
    bucket = buckets_on(table.cards, place_of(board))
    return bucket, shares, reach


def _holdings(strategy: Any, way: list[int], board: tuple[int, ...]) -> dict[str, Any]:
    bucket, shares, reach = holding_arrays(strategy, way, board)
    weight = reach * place_of(board).free
    total = float(weight.sum())
    mean = (weight @ shares / total).tolist() if total > 0 else None
    return {
        "bucket": bucket.tolist(),
        "shares": [_rounded(shares[:, k], 3) for k in range(3)],
        "reach": _rounded(reach, 4),
        "mean": mean,
    }


def _rounded(values: np.ndarray, digits: int) -> list[float]:
    found: list[float] = np.round(values, digits).tolist()
    return found


def grid_csv(strategy: Any, other: Any, betting: str, board_text: str) -> str:
    """A row for each holding that is possible on the board."""
    tree, board = strategy.game.rules.tree, parse_board(board_text)
    way = node_after(tree, betting)
    state = tree.states[way[-1]]
    if state.over or len(board) < state.on_board:
        raise BadParameter("there is no decision here")
    board = board[: state.on_board]
    strength, place = strengths_on(place_of(board)), place_of(board)
    parts = [holding_arrays(strategy, way, board)]
    header = ["holding", "strength", "bucket", "reach", *ACTIONS]
    if other is not None:
        parts.append(holding_arrays(other, _way_in(other, betting), board))
        header += [f"other_{name}" for name in ("bucket", "reach", *ACTIONS)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for k in np.flatnonzero(place.free).tolist():
        row: list[Any] = [_text(k), f"{strength[k]:.6f}"]
        for bucket, shares, reach in parts:
            row += [int(bucket[k]), f"{reach[k]:.6g}", *(f"{x:.6g}" for x in shares[k])]
        writer.writerow(row)
    return out.getvalue()


def _text(k: int) -> str:
    low, high = HOLDING_CARDS[k].tolist()
    return card_text(high) + card_text(low)
