"""Boards and holdings of a spot.

Level k has the boards of the spot's k-th street; level 0 is the given one. Suit permutations that
map the given board and both ranges to themselves map next cards to each other: of each such orbit
one card leads to a board, and `Boards.perm` has for every card the permutation to it. Values of a
holding on another board of the orbit are those of its image on the board that is traversed.

Each player has the holdings of its range that share no card with the given board. A holding that
shares a card with a later board keeps its place there, with a reach of zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, shown
from counterplay.poker.cards.cards import (
    HOLDING_CARDS,
    N_CARDS,
    N_HOLDINGS,
    card_text,
    cards,
)
from counterplay.poker.cards.evaluator import strengths
from counterplay.poker.vector.suit_permutations import FULL_DECK, suit_permutations

FULL_BOARD = 5


class Side(NamedTuple):
    """One player's n holdings; r boards of the river, g suit permutations."""

    holding: np.ndarray  # int64[n]
    cards: np.ndarray  # int64[n, 2]
    weight: np.ndarray  # float64[n]
    same: np.ndarray  # int64[n]: the same holding among the other player's; -1 if it has none
    image: np.ndarray  # int64[g, n]: of each holding under each suit permutation
    order: np.ndarray  # int16[r, n]: holdings on a board of the river, weakest first
    rank: np.ndarray  # int16[r, n]: of their strength, among both players'; equal ones split
    live: np.ndarray  # int64[r]: how many share no card with the board; the others come last


class Boards(NamedTuple):
    """The boards of level k have numbers first[k] .. first[k + 1] - 1."""

    first: np.ndarray  # int64[levels + 1]
    card: np.ndarray  # int64[boards]: the last card dealt; -1 for the given board
    child_first: np.ndarray  # int64[boards + 1]: boards that follow
    child: np.ndarray  # int64[boards, 52]: the board after each next card; -1 if it is dealt
    perm: np.ndarray  # int64[boards, 52]: the suit permutation that maps it there
    perm_card: np.ndarray  # int64[g, 52]: image of each card
    dealt: np.ndarray  # int64[boards, 5]: all public cards; -1 where there are fewer
    chance: np.ndarray  # float64[levels]: the probability of each next card, given both holdings


def parse_board(given: Any) -> list[int]:
    """Returns the cards of a board of three to five cards."""
    if not isinstance(given, str):
        raise BadParameter(f"board: a text such as 'Qs Jh 2c', not {shown(given)}")
    try:
        found = cards(given.replace(",", " "))
    except BadParameter as error:
        raise BadParameter(f"board: {error}") from None
    if not 3 <= len(found) <= FULL_BOARD:
        raise BadParameter(
            f"board: {given!r} has {len(found)} cards; a spot begins on the flop (3), the turn (4) "
            f"or the river (5)"
        )
    return found


def board_text(board: Any) -> str:
    """Returns cards as a text: `QsJh2c`."""
    return "".join(card_text(int(one)) for one in board if one >= 0)


def spot_cards(
    board: list[int], weights: tuple[np.ndarray, np.ndarray], symmetric: bool
) -> tuple[Boards, tuple[Side, Side]]:
    """Returns the boards of a spot, and both players' holdings."""
    free = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    for k, weight in enumerate(weights, 1):
        if not (weight * free).any():
            raise BadParameter(
                f"ranges: every holding of player {k} shares a card with the board "
                f"{board_text(board)}"
            )
    holdings = [np.flatnonzero((weight > 0) & free) for weight in weights]
    group = suit_permutations(FULL_DECK, symmetric)
    kept = [
        g
        for g, (image, moved) in enumerate(zip(group.card, group.holding, strict=True))
        if set(image[board].tolist()) == set(board)
        and all((weight[moved] == weight).all() for weight in weights)
    ]
    boards = _boards(board, group.card[kept])
    rivers = boards.dealt[int(boards.first[-2]) :]
    ranked = _ranked(rivers, holdings)
    sides = [
        _side(holdings[k], holdings[1 - k], weights[k], group.holding[kept], ranked[k])
        for k in (0, 1)
    ]
    if not pair_weights(sides[0], sides[1]).any():
        raise BadParameter("ranges: every holding of one player shares a card with the other's")
    return boards, (sides[0], sides[1])


def pair_weights(one: Side, other: Side) -> np.ndarray:
    """Returns float64[n]: each holding's weight times that of the other player's holdings without a
    common card."""
    by_card = np.zeros(N_CARDS)
    for k in (0, 1):
        np.add.at(by_card, other.cards[:, k], other.weight)
    met = other.weight.sum() - by_card[one.cards[:, 0]] - by_card[one.cards[:, 1]]
    met += np.where(one.same >= 0, other.weight[one.same], 0.0)
    return np.where(met > 1e-12, one.weight * met, 0.0)


def _side(
    own: np.ndarray, other: np.ndarray, weight: np.ndarray, group: np.ndarray, ranked: Any
) -> Side:
    place = np.full(N_HOLDINGS, -1, dtype=np.int64)
    place[other] = np.arange(len(other))
    same = place[own].copy()
    place[:] = -1
    place[own] = np.arange(len(own))
    image = np.ascontiguousarray(place[group[:, own]])
    pair = np.ascontiguousarray(HOLDING_CARDS[own], dtype=np.int64)
    return Side(own, pair, weight[own].copy(), same, image, *ranked)


def _boards(board: list[int], group: np.ndarray) -> Boards:
    """Returns all boards, level by level; `group`: the suit permutations of the spot."""
    rows, stable = [board], [np.arange(len(group))]
    first, child_first, child, perm = [0, 1], [], [], []
    for level in range(FULL_BOARD - len(board)):
        for b in range(first[level], first[level + 1]):
            child_first.append(len(rows))
            to, by = np.full(N_CARDS, -1), np.zeros(N_CARDS, dtype=np.int64)
            for dealt in range(N_CARDS):
                if dealt in rows[b] or to[dealt] >= 0:
                    continue
                for g in stable[b].tolist():
                    source = int(np.flatnonzero(group[g] == dealt)[0])  # g maps it to `dealt`
                    if to[source] < 0:
                        to[source], by[source] = len(rows), g
                rows.append([*rows[b], dealt])
                stable.append(stable[b][group[stable[b], dealt] == dealt])
            child.append(to)
            perm.append(by)
        first.append(len(rows))
    none = len(rows) - len(child)
    child += [np.full(N_CARDS, -1)] * none
    perm += [np.zeros(N_CARDS, dtype=np.int64)] * none
    child_first += [len(rows)] * (none + 1)
    dealt_cards = np.full((len(rows), FULL_BOARD), -1, dtype=np.int64)
    for b, row in enumerate(rows):
        dealt_cards[b, : len(row)] = row
    levels = len(first) - 1
    return Boards(
        first=np.array(first, dtype=np.int64),
        card=np.array([-1] + [row[-1] for row in rows[1:]], dtype=np.int64),
        child_first=np.array(child_first, dtype=np.int64),
        child=np.array(child, dtype=np.int64),
        perm=np.array(perm, dtype=np.int64),
        perm_card=np.ascontiguousarray(group),
        dealt=dealt_cards,
        chance=np.array([1.0 / (N_CARDS - 4 - len(board) - k) for k in range(levels)]),
    )


def _ranked(rivers: np.ndarray, holdings: list[np.ndarray]) -> list[Any]:
    """Returns `order`, `rank` and `live` of both players."""
    out = []
    for own in holdings:
        order, rank = (np.zeros((len(rivers), len(own)), dtype=np.int16) for _ in range(2))
        out.append((order, rank, np.zeros(len(rivers), dtype=np.int64)))
    every = np.unique(np.concatenate(holdings))
    place = [np.searchsorted(every, own) for own in holdings]
    seven = np.zeros((len(every), 7), dtype=np.int64)
    seven[:, :2] = HOLDING_CARDS[every]
    strength, masks = np.zeros(len(every), dtype=np.int64), np.zeros(4, dtype=np.int64)
    for r, river in enumerate(rivers):
        seven[:, 2:] = river
        strengths(seven, masks, strength)
        dead = np.isin(seven[:, :2], river).any(axis=1)
        strength[dead] = np.iinfo(np.int64).max
        rank = np.unique(strength, return_inverse=True)[1]
        for k in (0, 1):
            own = rank[place[k]]
            order = np.argsort(own, kind="stable")
            out[k][0][r], out[k][1][r] = order, own[order]
            out[k][2][r] = int((~dead[place[k]]).sum())
    return out
