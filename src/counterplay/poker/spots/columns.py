"""The columns of the arrays of nodes and boards that kernels read."""

from __future__ import annotations

# of a node
KIND = 0
PLAYER = 1  # who acts; at a fold who folded
LEVEL = 2  # its street: 0 for the first of the spot
CHILD = 3  # the first child
ACTIONS = 4
SEQUENCE = 5  # own action sequence of player 1 in the segment; that of player 2 follows
NEXT = 7  # first node of the segment on the next street
NEXT_END = 8
BASE = 9  # where its table begins
SIZE = 10  # of its table on one board
FLOOR = 11  # where its least probabilities begin; -1 where it is not locked
INFOSET = 12  # its first information set
BY_ROW = 13  # 1 where its table has the rows of the river (`KernelSide.row`)
NODE_COLUMNS = 14

# of a board
CARD = 0  # the last one dealt
FIRST = 1  # the first board that follows
END = 2
LOCAL = 3  # its number among the boards of its level
LEFT = 4  # next cards, given both holdings
NEXT_CARD = 5  # the board after each next card; -1 where it is dealt
SUITS = NEXT_CARD + 52  # the suit permutation that maps it there
BOARD_COLUMNS = SUITS + 52
