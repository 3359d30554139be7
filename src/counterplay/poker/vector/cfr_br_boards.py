"""Boards of CFR-BR on a CUDA device: the processors list those of the coming iterations."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from math import comb
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.deal import FIRST_OF_BOARD
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.chance import DealtBoard, HoldemChance
from counterplay.poker.vector.flop_boards import ListingWorkspace, list_live_holdings, on_board
from counterplay.poker.vector.holding_classes import NO_HOLDING
from counterplay.poker.vector.learner_tables import BucketRows, fill_buckets

AHEAD = 3  # iterations listed in advance, for each thread
MOST_THREADS = 4  # that list: more would wait for the device


class BoardBatch(NamedTuple):
    """b boards of a street with n holdings each, and the rows of a seat there."""

    words: np.ndarray  # uint32[b, n]: low card, high card and row; weakest first
    order: np.ndarray  # uint16[b, n]: positions, weakest first, those of equal strength reversed
    group_end: np.ndarray  # uint16[b, n]: the first position of greater strength
    position: np.ndarray  # uint16[b, holdings]: of each holding, or NO_HOLDING
    row: np.ndarray  # uint16[b, holdings]: of each holding, or NO_HOLDING
    member: np.ndarray  # uint16[b, n]: positions, row by row
    first: np.ndarray  # int32[b, rows + 1]: where each row's positions begin


def new_batch(boards: int, n: int, holdings: int, rows: int) -> BoardBatch:
    def shorts(width: int) -> np.ndarray:
        return np.zeros((boards, width), dtype=np.uint16)

    words = np.zeros((boards, n), dtype=np.uint32)
    first = np.zeros((boards, rows + 1), dtype=np.int32)
    return BoardBatch(
        words, shorts(n), shorts(n), shorts(holdings), shorts(holdings), shorts(n), first
    )


@jit
def fill_batch(b: int, board: Board, row: np.ndarray, out: BoardBatch) -> None:
    """Fills board b of a batch; `row`: of every holding."""
    at, n, rows = index(b), index(board.size[0]), index(out.first.shape[1]) - ONE
    for h in range(index(out.position.shape[1])):
        out.position[at, h] = NO_HOLDING
        out.row[at, h] = NO_HOLDING
    for r in range(rows + ONE):
        out.first[at, r] = 0
    for k in range(n):
        h = index(board.holding[k])
        out.words[at, k] = board.low[k] | board.high[k] << 6 | row[h] << 12
        out.position[at, h] = k
        out.row[at, h] = row[h]
        out.first[at, index(row[h]) + ONE] += 1
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        for k in range(first, last):
            out.order[at, k] = first + last - ONE - k
            out.group_end[at, k] = last
    for r in range(rows):
        out.first[at, r + ONE] += out.first[at, r]
    for k in range(n):  # `first` moves to the end of each row, which is where the next one begins
        r = index(row[index(board.holding[k])])
        out.member[at, index(out.first[at, r])] = k
        out.first[at, r] += 1
    r = rows
    while r > index(0):
        out.first[at, r] = out.first[at, r - ONE]
        r -= ONE
    out.first[at, 0] = 0


@jit
def _fill_next_street(
    deck: np.ndarray, work: ListingWorkspace, cards: Any, street: int, size: int, row: np.ndarray,
    out: BoardBatch,
) -> None:  # fmt: skip
    """Fills all boards that follow the first `size` cards of a board by one card."""
    b = 0
    for k in range(index(len(deck))):
        if on_board(work.chance, size, deck[k]):
            continue
        work.chance.deck[index(FIRST_OF_BOARD + size)] = deck[k]
        list_live_holdings(deck, work, size + 1, True)
        fill_buckets(cards, work.chance, street, row)
        fill_batch(b, work.board, row, out)
        b += 1


class IterationBoards(NamedTuple):
    """The boards of one iteration: a path to the cut, and all boards that follow."""

    path: list[DealtBoard]
    learner: list[BoardBatch]  # with the learner's rows, for each street
    adversary: list[BoardBatch]  # with the adversary's, for each street of the trunk


class IterationBoardSource:
    """Lists the boards of coming iterations in threads."""

    def __init__(
        self, chance: HoldemChance, n_streets: int, row_map: BucketRows, cut: int, seed: int
    ) -> None:
        self._chance, self._n_streets, self._row_map = chance, n_streets, row_map
        self._cut, self._seed, self._next = cut, seed, 1
        n = len(chance.deck)
        self._n_holdings = [comb(n - size, 2) for size in chance.sizes]
        self._n_children = n - chance.sizes[cut] if n_streets > cut + 1 else 0
        self._threads = min(cores(), MOST_THREADS)
        self._pool = ThreadPoolExecutor(self._threads)
        self._jobs: deque[Future[IterationBoards]] = deque()

    def take(self, number: int) -> IterationBoards:
        """Returns the boards of an iteration, and begins to list those of the next ones."""
        if not self._jobs or number != self._next - len(self._jobs):
            self._jobs.clear()
            self._next = number
        while len(self._jobs) < AHEAD * self._threads:
            self._jobs.append(self._pool.submit(self._list, self._next))
            self._next += 1
        return self._jobs.popleft().result()

    def _list(self, number: int) -> IterationBoards:
        chance, cut, rows = self._chance, self._cut, self._row_map.copy()
        rng = np.random.default_rng((self._seed, number))
        path = [chance.root()]
        for k in range(1, cut + 1):
            path.append(chance.sample(k, path[-1], rng))
        work, row = chance.new_workspace(), np.zeros(chance.n_holdings, dtype=np.int64)
        learner, adversary = [], []
        for k, dealt in enumerate(path):
            board = chance.lay_out(work, dealt, k == self._n_streets - 1)
            rows.fill(k, dealt, row)
            learner.append(self._one_board(k, board, row, rows.count(k)))
            if k < cut:
                classes = chance.classes(dealt)
                adversary.append(self._one_board(k, board, classes, chance.n_holdings))
        if self._n_children:
            k, n = cut + 1, self._n_children
            batch = new_batch(n, self._n_holdings[k], chance.n_holdings, rows.count(k))
            _fill_next_street(chance.deck, work, rows.cards, k, chance.sizes[cut], row, batch)
            learner.append(batch)
        return IterationBoards(path, learner, adversary)

    def _one_board(self, k: int, board: Board, row: np.ndarray, rows: int) -> BoardBatch:
        batch = new_batch(1, self._n_holdings[k], self._chance.n_holdings, rows)
        fill_batch(0, board, row, batch)
        return batch
