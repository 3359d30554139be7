"""`SpotLayout`: a spot as arrays, and where its information sets and slots are.

An information set is a node, a board and a holding of the player who acts. Slots are numbered
player by player, node by node, then by board, holding and action; tables of the kernels are [board,
action, holding] within each node (`kernels.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from counterplay.poker.spots.betting import DECISION, SpotBetting, SpotTree, build_tree
from counterplay.poker.spots.cards import (
    beside_twofold,
    pair_weights,
    spot_cards,
    stabilizer,
    twofold,
)
from counterplay.poker.spots.columns import (
    ACTIONS,
    BASE,
    BY_ROW,
    CHILD,
    FLOOR,
    INFOSET,
    KIND,
    LEVEL,
    NEXT,
    NEXT_END,
    NODE_COLUMNS,
    PLAYER,
    SEQUENCE,
    SIZE,
)
from counterplay.poker.spots.decisions import SpotForm

#: What takes less memory.
SMALLER = "give fewer bet sizes or narrower ranges"
WORKSPACE = 1.1  # factor on the memory of the tables, for buffers


class Rows(NamedTuple):
    """Of one player's holdings in tables of the river; see `KernelSide`."""

    row: np.ndarray
    span: np.ndarray


class SpotLayout:
    """Everything that follows from the betting, the board and the ranges."""

    def __init__(
        self, betting: SpotBetting, board: list[int], weights: tuple[np.ndarray, np.ndarray],
        symmetric: bool = True, suits: list[int] | None = None,
    ) -> None:  # fmt: skip
        """`suits`: the permutations by which suits are alike, if not all that can be."""
        tree, self.named = build_tree(betting)
        if suits is None:
            suits = stabilizer(board, weights) if symmetric else [0]
        self.suits = suits
        self.boards, self.sides = spot_cards(board, weights, suits)
        self.tree, self.betting = tree, betting
        self._number()
        #: The sum of the weights of all pairs of holdings that can meet.
        self.total_weight = float(pair_weights(*self.sides).sum())

    def _number(self) -> None:
        """Numbers the slots and information sets."""
        tree = self.tree
        self.n_boards = np.diff(self.boards.first)[tree.street]  # of each node
        self.n_slots, self.n_infosets = [0, 0], 0
        nodes = _columns(tree)
        for player in (0, 1):
            for k in self.decisions(player):
                nodes[k, BASE], nodes[k, INFOSET] = self.n_slots[player], self.n_infosets
                nodes[k, SIZE] = tree.n_actions[k] * len(self.sides[player].holding)
                nodes[k, BY_ROW] = self.by_row(player, k)
                many = int(self.n_boards[k]) * len(self.sides[player].holding)
                if nodes[k, BY_ROW]:
                    many = int(self.sides[player].kernel.span.sum(axis=1).max())
                self.n_slots[player] += int(tree.n_actions[k]) * many
                self.n_infosets += many
        self.form = SpotForm(nodes, self.boards.columns, tree.payoff, np.zeros(0))

    def with_rows(self, *rows: Rows | None) -> SpotLayout:
        """Returns the same spot, with tables of the river by rows, for each player with some."""
        out, none = copy.copy(self), Rows(np.zeros((0, 0), dtype=np.int16), np.zeros((0, 2), int))
        sides = [
            side._replace(kernel=side.kernel._replace(row=row, span=span))
            for side, (row, span) in zip(self.sides, (one or none for one in rows), strict=True)
        ]
        out.sides = (sides[0], sides[1])
        out._number()
        return out

    def by_row(self, player: int, node: int) -> bool:
        """Whether the table of a node has the rows of the river."""
        on_river = int(self.tree.street[node]) == len(self.boards.first) - 2
        return on_river and len(self.sides[player].kernel.row) > 0

    @property
    def most_rows(self) -> int:
        """The largest number of rows on a board, at least 1."""
        return max(1, *(int(side.kernel.span[:, 1].max(initial=0)) for side in self.sides))

    def decisions(self, player: int) -> list[int]:
        """Returns the nodes at which a player acts."""
        acts = (self.tree.kind == DECISION) & (self.tree.player == player)
        return np.flatnonzero(acts).tolist()

    def bytes_needed(self, precision: str) -> float:
        """Returns about the memory that solving takes: regrets and averages in a precision, the
        values on the boards of the second street, and at the end the strategy in double precision,
        with what it is made from; of tables by row there is none."""
        made = 0 if any(len(side.kernel.row) for side in self.sides) else 4 * 8
        size, first = 8 if precision == "double" else 4, self.boards.first
        boards = int(first[2] - first[1]) if len(first) > 2 else 0
        holdings = max(len(side.holding) for side in self.sides)
        below = boards * int(self.tree.first_node[1]) * holdings
        return WORKSPACE * (sum(self.n_slots) * (2 * size + made) + below * size)

    @property
    def form_bytes(self) -> float:
        """About the memory that the form and a strategy take."""
        return WORKSPACE * (sum(self.n_slots) * 8 + self.n_infosets * 12)

    @property
    def making_bytes(self) -> float:
        """The same while they are made, with what they are made from."""
        return WORKSPACE * (sum(self.n_slots) * 26 + self.n_infosets * 22)

    def blocks(self, player: int) -> Iterator[tuple[int, slice, tuple[int, int, int]]]:
        """Yields a player's nodes, where their slots are among the player's, and how many boards,
        actions and holdings they have."""
        holdings = len(self.sides[player].holding)
        for k in self.decisions(player):
            low, count = int(self.form.nodes[k, BASE]), int(self.tree.n_actions[k])
            n = int(self.n_boards[k])
            yield k, slice(low, low + n * count * holdings), (n, count, holdings)

    def slots(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Returns float64[n_slots]: both players' tables as slots."""
        out = np.empty(sum(self.n_slots))
        for player, table in enumerate((one, two)):
            own = out[self.n_slots[0] * player :]
            for _, where, (boards, actions, holdings) in self.blocks(player):
                rows = table[where].reshape(boards, actions, holdings)
                own[where] = rows.transpose(0, 2, 1).ravel()
        return out

    def table(self, player: int, slots: np.ndarray, dtype: type) -> np.ndarray:
        """Returns a player's part of an array of slots as a table."""
        own = slots[self.n_slots[0] * player :][: self.n_slots[player]]
        out: np.ndarray = np.empty(self.n_slots[player], dtype=dtype)
        for _, where, (boards, actions, holdings) in self.blocks(player):
            rows = own[where].reshape(boards, holdings, actions)
            out[where] = rows.transpose(0, 2, 1).ravel()
        return out

    def first_slots(self) -> np.ndarray:
        """Returns int[information sets + 1]: the first slot of each."""
        counts = [
            np.repeat(np.int32(actions), boards * holdings)
            for player in (0, 1)
            for _, _, (boards, actions, holdings) in self.blocks(player)
        ]
        first = np.concatenate([[0], *counts])
        small = sum(self.n_slots) < 2**31
        return np.cumsum(first, dtype=np.int32 if small else np.int64)


class TwofoldLayout(SpotLayout):
    """A spot to which `player` comes with each holding twice: with a probability as one who is
    bound by locks, otherwise as one who is free. The other does not know which."""

    def __init__(self, one: SpotLayout, player: int, bound: float) -> None:
        self.tree, self.named, self.boards = one.tree, one.named, one.boards
        self.betting = one.betting
        self.one, self.player, self.total_weight = one, player, one.total_weight
        n = len(one.sides[player].holding)
        own = twofold(one.sides[player], bound)
        other = beside_twofold(one.sides[1 - player], n)
        self.sides = (own, other) if player == 0 else (other, own)
        self._number()

    def locked_form(self, form: SpotForm) -> SpotForm:
        """The form in which the locks of `form` bind the first of the two."""
        nodes, floors, used = self.form.nodes.copy(), [np.zeros(0)], 0
        for k, _, (boards, actions, many) in self.blocks(self.player):
            low, half = int(form.nodes[k, FLOOR]), many // 2
            if low >= 0:
                floor = np.zeros((boards, actions, many))
                own = form.floor[low : low + boards * actions * half]
                floor[:, :, :half] = own.reshape(boards, actions, half)
                nodes[k, FLOOR], used = used, used + floor.size
                floors.append(floor.ravel())
        return self.form._replace(nodes=nodes, floor=np.concatenate(floors))

    def slots(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Returns float64[n_slots] of the spot itself, for the first of the two."""
        tables, own = [one, two], np.empty(self.one.n_slots[self.player])
        for (_, low, shape), (_, where, _) in zip(
            self.blocks(self.player), self.one.blocks(self.player), strict=True
        ):
            table = tables[self.player][low].reshape(shape)
            own[where] = table[:, :, : shape[2] // 2].ravel()
        tables[self.player] = own
        return self.one.slots(*tables)


def _columns(tree: SpotTree) -> np.ndarray:
    """Returns int64[n, columns]: the nodes as kernels read them, without their tables."""
    nodes = np.zeros((len(tree.kind), NODE_COLUMNS), dtype=np.int64)
    nodes[:, FLOOR] = -1
    for column, values in (
        (KIND, tree.kind), (PLAYER, tree.player), (LEVEL, tree.street), (CHILD, tree.first_child),
        (ACTIONS, tree.n_actions), (SEQUENCE, tree.sequence[:, 0]),
        (SEQUENCE + 1, tree.sequence[:, 1]),
    ):  # fmt: skip
        nodes[:, column] = values
    onward = np.flatnonzero(tree.next_segment >= 0)
    after = tree.next_segment[onward]
    nodes[onward, NEXT], nodes[onward, NEXT_END] = (
        tree.first_node[after],
        tree.first_node[after + 1],
    )
    return nodes
