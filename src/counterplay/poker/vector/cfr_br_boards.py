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
    group_end: np.ndarray  # uint16[b, n]: the first position of greater strength
    position: np.ndarray  # uint16[b, holdings]: of each holding, or NO_HOLDING
    row: np.ndarray  # uint16[b, holdings]: of each holding, or NO_HOLDING
    member: np.ndarray  # uint16[b, n]: positions, row by row
    first: np.ndarray  # int32[b, rows + 1]: where each row's positions begin


class ClassBatch(NamedTuple):
    """The same boards: holdings that a seat has played and plays alike form a class."""

    member: np.ndarray  # uint16[b, n]: positions, class by class, row by row
    first: np.ndarray  # uint16[b, n + 1]: where each class's positions begin; n without a class
    first_of_row: np.ndarray  # int32[b, rows + 1]: the first class of each row
    class_of: np.ndarray  # uint16[b, n]: of each position


def new_classes(boards: int, n: int, rows: int) -> ClassBatch:
    return ClassBatch(
        np.zeros((boards, n), dtype=np.uint16),
        np.full((boards, n + 1), n, dtype=np.uint16),
        np.zeros((boards, rows + 1), dtype=np.int32),
        np.zeros((boards, n), dtype=np.uint16),
    )


@jit
def fill_classes(
    b: int, board: Board, path_class: np.ndarray, batch: BoardBatch, out: ClassBatch
) -> int:
    """Fills the classes of board b from its rows; `path_class`: of each holding, alike on all
    streets before. Returns their number."""
    at, rows = index(b), index(batch.first.shape[1]) - ONE
    classes = index(0)
    for r in range(rows):
        first, last = index(batch.first[at, r]), index(batch.first[at, r + ONE])
        for j in range(first, last):  # insertion sort by the class of the path
            k = batch.member[at, j]
            key, i = path_class[index(board.holding[index(k)])], j
            while i > first:
                before = out.member[at, i - ONE]
                if path_class[index(board.holding[index(before)])] <= key:
                    break
                out.member[at, i] = before
                i -= ONE
            out.member[at, i] = k
        out.first_of_row[at, r] = classes
        for j in range(first, last):
            k = index(out.member[at, j])
            before = index(out.member[at, j - ONE]) if j > first else k
            h, other = index(board.holding[k]), index(board.holding[before])
            if j == first or path_class[h] != path_class[other]:
                out.first[at, classes] = j
                classes += ONE
            out.class_of[at, k] = classes - ONE
    out.first_of_row[at, rows] = classes
    return np.int64(classes)  # type: ignore[return-value]


def new_batch(boards: int, n: int, holdings: int, rows: int) -> BoardBatch:
    def shorts(width: int) -> np.ndarray:
        return np.zeros((boards, width), dtype=np.uint16)

    words = np.zeros((boards, n), dtype=np.uint32)
    first = np.zeros((boards, rows + 1), dtype=np.int32)
    return BoardBatch(words, shorts(n), shorts(holdings), shorts(holdings), shorts(n), first)


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
    path_class: np.ndarray, out: BoardBatch, classes: ClassBatch,
) -> int:  # fmt: skip
    """Fills all boards that follow the first `size` cards of a board by one card. Returns the
    largest number of classes."""
    b, most = 0, 0
    for k in range(index(len(deck))):
        if on_board(work.chance, size, deck[k]):
            continue
        work.chance.deck[index(FIRST_OF_BOARD + size)] = deck[k]
        list_live_holdings(deck, work, size + 1, True)
        fill_buckets(cards, work.chance, street, row)
        fill_batch(b, work.board, row, out)
        most = max(most, fill_classes(b, work.board, path_class, out, classes))
        b += 1
    return most


class ModelRows(NamedTuple):
    """The rows of another seat on the boards of a batch."""

    words: np.ndarray  # uint32[b, n]: as in `BoardBatch`
    row: np.ndarray  # uint16[b, holdings]: of each holding, or NO_HOLDING


def model_rows(batch: BoardBatch, row: np.ndarray) -> ModelRows:
    """Returns the batch with other rows: int64[b, holdings]."""
    low, high = (batch.words & 63).astype(np.int64), (batch.words >> 6 & 63).astype(np.int64)
    of_holding = np.take_along_axis(row, high * (high - 1) // 2 + low, 1).astype(np.uint32)
    live = np.where(batch.position == NO_HOLDING, NO_HOLDING, row).astype(np.uint16)
    return ModelRows(batch.words & 4095 | of_holding << 12, live)


class IterationBoards(NamedTuple):
    """The boards of one iteration: a path to the cut, and all boards that follow."""

    path: list[DealtBoard]
    learner: list[BoardBatch]  # with the learner's rows, for each street
    adversary: list[BoardBatch]  # with the adversary's, for each street of the trunk
    classes: ClassBatch  # of the learner's holdings on the last street
    most_classes: int  # on any of its boards
    model: list[ModelRows]  # the model's rows for each street; empty if they are the learner's


class IterationBoardSource:
    """Lists the boards of coming iterations in threads; `model`: the rows of a model that has
    others than the learner."""

    def __init__(
        self, chance: HoldemChance, n_streets: int, row_map: BucketRows, cut: int, seed: int,
        model: BucketRows | None = None,
    ) -> None:  # fmt: skip
        self._chance, self._n_streets, self._row_map = chance, n_streets, row_map
        self._model = model
        self._cut, self._seed, self._next = cut, seed, 1
        n = len(chance.deck)
        self.n_holdings = [comb(n - size, 2) for size in chance.sizes]
        self._n_children = n - chance.sizes[cut] if n_streets > cut + 1 else 0
        self._threads = min(cores(), MOST_THREADS)
        self._pool = ThreadPoolExecutor(self._threads)
        self._jobs: deque[Future[IterationBoards]] = deque()

    def n_boards(self, k: int) -> int:
        """Returns the boards of a street in an iteration."""
        return self._n_children if k > self._cut else 1

    def n_bytes(self) -> int:
        """Returns the size of the boards of an iteration."""
        rows, last = self._row_map, self._n_streets - 1
        batches: list[Any] = [self._new_batch(k, rows.count(k)) for k in range(self._n_streets)]
        batches += [self._new_batch(k, self._chance.n_holdings) for k in range(self._cut)]
        if self._model is not None:
            batches += [(batch.words, batch.row) for batch in batches[: self._n_streets]]
        batches.append(new_classes(self.n_boards(last), self.n_holdings[last], rows.count(last)))
        return sum(array.nbytes for batch in batches for array in batch)

    def _new_batch(self, k: int, rows: int) -> BoardBatch:
        return new_batch(self.n_boards(k), self.n_holdings[k], self._chance.n_holdings, rows)

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
        path_class, last = np.zeros(chance.n_holdings, dtype=np.int64), self._n_streets - 1
        for k, dealt in enumerate(path):
            board = chance.lay_out(work, dealt, k == last)
            rows.fill(k, dealt, row)
            learner.append(self._one_board(k, board, row, rows.count(k)))
            if k < cut:
                alike = chance.classes(dealt)
                adversary.append(self._one_board(k, board, alike, chance.n_holdings))
            if k < last:
                both = path_class * rows.count(k) + np.where(row < rows.count(k), row, 0)
                path_class = np.unique(both, return_inverse=True)[1].astype(np.int64)
        classes = new_classes(self.n_boards(last), self.n_holdings[last], rows.count(last))
        if not self._n_children:
            most = fill_classes(0, board, path_class, learner[-1], classes)
            model = self._model_rows(path, learner)
            return IterationBoards(path, learner, adversary, classes, most, model)
        batch = self._new_batch(last, rows.count(last))
        learner.append(batch)
        most = _fill_next_street(
            chance.deck, work, rows.cards, last, chance.sizes[cut], row, path_class, batch, classes
        )
        model = self._model_rows(path, learner)
        return IterationBoards(path, learner, adversary, classes, most, model)

    def _model_rows(self, path: list[DealtBoard], learner: list[BoardBatch]) -> list[ModelRows]:
        """Returns the rows of the model on the learner's boards."""
        if self._model is None:
            return []
        rows, out = self._model.copy(), []
        boards = [[dealt] for dealt in path]
        if self._n_children:  # in the order of `_fill_next_street`
            cut = path[-1]
            cards = [card for card in self._chance.deck.tolist() if card not in cut.cards]
            boards.append([cut._replace(cards=(*cut.cards, card)) for card in cards])
        for k, (dealt, batch) in enumerate(zip(boards, learner, strict=True)):
            row = np.zeros((len(dealt), self._chance.n_holdings), dtype=np.int64)
            for board, of_holding in zip(dealt, row, strict=True):
                rows.fill(k, board, of_holding)
            out.append(model_rows(batch, row))
        return out

    def _one_board(self, k: int, board: Board, row: np.ndarray, rows: int) -> BoardBatch:
        batch = self._new_batch(k, rows)
        fill_batch(0, board, row, batch)
        return batch
