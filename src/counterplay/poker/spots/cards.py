"""Boards and holdings of a spot.

Level k has the boards of the spot's k-th street; level 0 is the given one. Suit permutations that
map the given board and both ranges to themselves map next cards to each other: of each such orbit
one card leads to a board, and the column `SUITS` has for every card the permutation to it. Values
of a holding on another board of the orbit are those of its image on the board that is traversed.

Each player has the holdings of its range that share no card with the given board. A holding that
shares a card with a later board keeps its place there, with a reach of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from counterplay.poker.cards.evaluator import strengths_of_hands
from counterplay.poker.spots.columns import (
    BOARD_COLUMNS,
    CARD,
    END,
    FIRST,
    LEFT,
    LOCAL,
    NEXT_CARD,
    SUITS,
)
from counterplay.poker.spots.showdowns import COPY, HOLDING, RANK, SAME, KernelSide
from counterplay.poker.vector.suit_permutations import FULL_DECK, suit_permutations

FULL_BOARD = 5


class SpotSide(NamedTuple):
    """One player's n holdings."""

    holding: np.ndarray  # int64[n]
    weight: np.ndarray  # float64[n]
    kernel: KernelSide


class SpotBoards(NamedTuple):
    """The boards of level k have numbers first[k] .. first[k + 1] - 1."""

    first: np.ndarray  # int64[levels + 1]
    dealt: np.ndarray  # int64[boards, 5]: all public cards; -1 where there are fewer
    columns: np.ndarray  # int64[boards, columns]: see `columns.py`
    suits: np.ndarray  # int64[g, 52]: image of each card under each suit permutation


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
    board: list[int], weights: tuple[np.ndarray, np.ndarray], suits: list[int]
) -> tuple[SpotBoards, tuple[SpotSide, SpotSide]]:
    """Returns the boards of a spot, and both players' holdings; `suits`: the permutations by which
    suits are alike (`stabilizer`), or only the first."""
    free = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    for k, weight in enumerate(weights, 1):
        if not (weight * free).any():
            raise BadParameter(
                f"ranges: every holding of player {k} shares a card with the board "
                f"{board_text(board)}"
            )
    holdings = [np.flatnonzero((weight > 0) & free) for weight in weights]
    group = suit_permutations(FULL_DECK)
    boards = _boards(board, group.card[suits])
    rivers = boards.dealt[int(boards.first[-2]) :]
    ranked = _ranked(rivers, holdings)
    sides = [
        _side(holdings[k], holdings[1 - k], weights[k], group.holding[suits], ranked[k])
        for k in (0, 1)
    ]
    if not pair_weights(sides[0], sides[1]).any():
        raise BadParameter("ranges: every holding of one player shares a card with the other's")
    return boards, (sides[0], sides[1])


def stabilizer(board: list[int], weights: Sequence[np.ndarray]) -> list[int]:
    """Returns the suit permutations that map a board and all weights of holdings to themselves."""
    group = suit_permutations(FULL_DECK)
    return [
        g
        for g, (image, moved) in enumerate(zip(group.card, group.holding, strict=True))
        if set(image[board].tolist()) == set(board)
        and all((weight[moved] == weight).all() for weight in weights)
    ]


def pair_weights(one: SpotSide, other: SpotSide) -> np.ndarray:
    """Returns float64[n]: each holding's weight times that of the other player's holdings without a
    common card."""
    by_card, mine, theirs = np.zeros(N_CARDS), one.kernel.cards, other.kernel.cards
    for k in (0, 1):
        np.add.at(by_card, theirs[:, k], other.weight)
    met = other.weight.sum() - by_card[mine[:, 0]] - by_card[mine[:, 1]]
    met += np.where(mine[:, SAME] >= 0, other.weight[mine[:, SAME]], 0.0)
    return np.where(met > 1e-12, one.weight * met, 0.0)


def _side(
    own: np.ndarray, other: np.ndarray, weight: np.ndarray, group: np.ndarray, ranked: np.ndarray
) -> SpotSide:
    place = np.full(N_HOLDINGS, -1, dtype=np.int64)
    place[other] = np.arange(len(other))
    no_copy = np.full(len(own), -1, dtype=np.int64)
    table = np.column_stack([HOLDING_CARDS[own].astype(np.int64), place[own], no_copy])
    place[:] = -1
    place[own] = np.arange(len(own))
    image = np.ascontiguousarray(place[group[:, own]])
    return SpotSide(own, weight[own], KernelSide(np.ascontiguousarray(table), image, ranked))


def twofold(side: SpotSide, share: float) -> SpotSide:
    """A side that has each holding twice: `share` of its weight in the first n, the rest in the
    next n."""
    n, kernel = len(side.holding), side.kernel
    order, rank = (kernel.ranked[:, row, :-1] for row in (HOLDING, RANK))
    ranked = np.empty((len(kernel.ranked), 2, 2 * n + 1), dtype=np.int16)
    ranked[:, HOLDING, :-1] = np.stack([order, order + n], axis=2).reshape(-1, 2 * n)
    ranked[:, RANK, :-1] = np.repeat(rank, 2, axis=1)
    ranked[:, :, -1] = 2 * kernel.ranked[:, :, -1]
    image = np.hstack([kernel.image, kernel.image + n])
    weight = np.concatenate([share * side.weight, (1.0 - share) * side.weight])
    both = KernelSide(np.tile(kernel.cards, (2, 1)), image, ranked)
    return SpotSide(np.tile(side.holding, 2), weight, both)


def beside_twofold(side: SpotSide, n: int) -> SpotSide:
    """The side of the player who meets each of the other's n holdings twice."""
    cards = side.kernel.cards.copy()
    cards[:, COPY] = np.where(cards[:, SAME] >= 0, cards[:, SAME] + n, -1)
    return side._replace(kernel=side.kernel._replace(cards=cards))


def _boards(board: list[int], group: np.ndarray) -> SpotBoards:
    """Returns all boards, level by level; `group`: the suit permutations of the spot."""
    rows, stable, columns = [board], [np.arange(len(group))], []
    first = [0, 1]
    for level in range(FULL_BOARD - len(board) + 1):
        for b in range(first[level], first[level + 1]):
            column = np.full(BOARD_COLUMNS, -1, dtype=np.int64)
            column[[CARD, FIRST, LOCAL]] = rows[b][-1], len(rows), b - first[level]
            column[LEFT] = N_CARDS - 4 - len(rows[b])
            for dealt in range(N_CARDS) if len(rows[b]) < FULL_BOARD else ():
                if dealt in rows[b] or column[NEXT_CARD + dealt] >= 0:
                    continue
                for g in stable[b].tolist():
                    source = int(np.flatnonzero(group[g] == dealt)[0])  # g maps it to `dealt`
                    if column[NEXT_CARD + source] < 0:
                        column[NEXT_CARD + source], column[SUITS + source] = len(rows), g
                rows.append([*rows[b], dealt])
                stable.append(stable[b][group[stable[b], dealt] == dealt])
            column[END] = len(rows)
            columns.append(column)
        first.append(len(rows))
    dealt_cards = np.full((len(rows), FULL_BOARD), -1, dtype=np.int64)
    for b, row in enumerate(rows):
        dealt_cards[b, : len(row)] = row
    return SpotBoards(np.array(first[:-1], dtype=np.int64), dealt_cards, np.array(columns), group)


def _ranked(rivers: np.ndarray, holdings: list[np.ndarray]) -> list[np.ndarray]:
    """Returns `KernelSide.ranked` of both players."""
    out = [np.zeros((len(rivers), 2, len(own) + 1), dtype=np.int16) for own in holdings]
    every = np.unique(np.concatenate(holdings))
    place = [np.searchsorted(every, own) for own in holdings]
    seven = np.zeros((len(every), 7), dtype=np.int64)
    seven[:, :2] = HOLDING_CARDS[every]
    strength, masks = np.zeros(len(every), dtype=np.int64), np.zeros(4, dtype=np.int64)
    for r, river in enumerate(rivers):
        seven[:, 2:] = river
        strengths_of_hands(seven, masks, strength)
        dead = np.asarray(np.isin(seven[:, :2], river).any(axis=1))
        strength[dead] = np.iinfo(np.int64).max
        rank = np.unique(strength, return_inverse=True)[1]
        for k in (0, 1):
            own = rank[place[k]]
            order = np.argsort(own, kind="stable")
            out[k][r, HOLDING, :-1], out[k][r, RANK, :-1] = order, own[order]
            out[k][r, HOLDING, -1] = int((~dead[place[k]]).sum())
    return out
