"""Random boards with the classes of their holdings (`holding_classes.py`), for public chance
sampling on a CUDA device: processors deal the next batch while the last is in use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import check_seed, seed_state
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.deal import DERIVED, Deal, deal_on, draw
from counterplay.poker.vector.board import Board, fill_board, new_board
from counterplay.poker.vector.holding_classes import (
    MAX_CLASSES,
    ClassWorkspace,
    count_members,
    new_class_workspace,
)

LARGEST = 45  # holdings of a class: times itself at most 2,048, see `put_twice`


class DealtBoards(NamedTuple):
    """b boards of n holdings, with at most k buckets on a street. The holdings of a class also have
    the same buckets of a model of another card abstraction, if there is one."""

    word: np.ndarray  # uint32[b, n]: holdings, class by class
    first: np.ndarray  # uint16[b, MAX_CLASSES]: first position of each class; n after the last
    code: np.ndarray  # uint16[4, b, MAX_CLASSES]: bucket of the class on each street
    model_code: np.ndarray  # uint16[4, b, MAX_CLASSES]: the model's; `code` where it has none
    member: np.ndarray  # uint16[4, b, MAX_CLASSES]: classes, bucket by bucket of a street
    part: np.ndarray  # uint16[4, b, k + 1]: first position of each bucket's classes there
    classes: np.ndarray  # int32[b]: number of classes
    buckets: np.ndarray  # int32[b, 4]: number of buckets that occur


class BoardDealer(NamedTuple):
    """Buffers of one thread that deals boards."""

    board: Board
    model_board: Board
    chance: Deal
    deck: np.ndarray  # int64[c]: the deck before it is shuffled
    rng: np.ndarray
    work: ClassWorkspace


def new_dealer(
    counts: tuple[int, ...], deck: np.ndarray, model: tuple[int, ...] | None = None
) -> BoardDealer:
    """`model`: the numbers of buckets of a model of another card abstraction."""
    most = max(*counts, *(model or ()))
    wide = min(most, N_HOLDINGS)
    return BoardDealer(
        board=new_board(counts),
        model_board=new_board(model or counts),
        chance=deal_on(np.zeros(len(deck) + DERIVED, dtype=np.int64), deck),
        deck=deck.astype(np.int64),
        rng=np.zeros(4, dtype=np.uint64),
        work=new_class_workspace(wide, wide, most),
    )


def new_boards(boards: int, n: int, most: int) -> DealtBoards:
    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return DealtBoards(
        word=np.zeros((boards, n), dtype=np.uint32),
        first=shorts(boards, MAX_CLASSES),
        code=shorts(4, boards, MAX_CLASSES),
        model_code=shorts(4, boards, MAX_CLASSES),
        member=shorts(4, boards, MAX_CLASSES),
        part=shorts(4, boards, most + 1),
        classes=np.zeros(boards, dtype=np.int32),
        buckets=np.zeros((boards, 4), dtype=np.int32),
    )


def select_boards(boards: DealtBoards, which: np.ndarray) -> DealtBoards:
    """Returns some of the boards."""
    by_street = ("code", "model_code", "member", "part")
    return DealtBoards(
        *(
            array[:, which] if name in by_street else array[which]
            for name, array in boards._asdict().items()
        )
    )


@jit(inner=True)
def _split_classes(board: Board, work: ClassWorkspace) -> int:
    """Splits the classes in `work.of[2]`, by position on the board, by the buckets of a board;
    returns their number."""
    of, number, key, n = work.of[2], work.number, work.key, index(board.size[0])
    count = ZERO
    for street in range(index(4)):
        wide = board.n_buckets[street]
        count = ZERO
        for k in range(n):
            mixed = of[k] * wide + board.bucket[street, k]
            key[k] = mixed
            if number[index(mixed)] < 0:
                number[index(mixed)] = count
                count += ONE
            of[k] = number[index(mixed)]
        for k in range(n):
            number[index(key[k])] = -1
    return int(count)


@jit(inner=True)
def _find_classes(dealer: BoardDealer, has_model: bool) -> int:
    """Numbers the classes of a board in `work.of[2]`, by position on the board; returns their
    number. A large class is cut into several, so that the number of meetings of two classes fits
    into half precision."""
    of, number, at = dealer.work.of[2], dealer.work.number, dealer.work.at
    n = index(dealer.board.size[0])
    for k in range(n):
        of[k] = 0
    count = index(_split_classes(dealer.board, dealer.work))
    if has_model:
        count = index(_split_classes(dealer.model_board, dealer.work))
    for c in range(count):
        at[c] = 0
        number[c] = c
    for k in range(n):
        c = index(of[k])
        if at[c] == LARGEST:
            at[c] = 0
            number[c] = count
            count += ONE
        at[c] += 1
        of[k] = number[c]
    for c in range(count):
        number[c] = -1
    return int(count)


@jit(inner=True)
def _write_words(
    dealer: BoardDealer, count: int, has_model: bool, row: int, out: DealtBoards
) -> None:
    board, of, at, r = dealer.board, dealer.work.of[2], dealer.work.at, index(row)
    n, classes = index(board.size[0]), index(count)
    for k in range(n):
        dealer.work.key[k] = k
    count_members(of, dealer.work.key, n, classes, at)
    for c in range(index(MAX_CLASSES)):
        out.first[r, c] = at[c] if c < classes else n
    group = ZERO
    for k in range(n):
        while index(board.group[group + ONE]) <= k:
            group += ONE
        c = index(of[k])
        word = board.low[k] | board.high[k] << 6 | np.int64(group) << 12
        out.word[r, index(at[c])] = word
        at[c] += 1
        for street in range(index(4)):
            bucket = index(board.bucket[street, k])
            out.code[street, r, c] = board.global_bucket[street, bucket]
            out.model_code[street, r, c] = out.code[street, r, c]
            if has_model:
                bucket = index(dealer.model_board.bucket[street, k])
                out.model_code[street, r, c] = dealer.model_board.global_bucket[street, bucket]
    out.classes[r] = count


@jit(inner=True)
def _sort_classes(dealer: BoardDealer, most: int, row: int, out: DealtBoards) -> None:
    """Sorts the classes by their bucket, on each street."""
    at, r, classes = dealer.work.at, index(row), index(out.classes[index(row)])
    for street in range(index(4)):
        for b in range(index(most) + ONE):
            at[b] = 0
        for c in range(classes):
            at[index(out.code[street, r, c]) + ONE] += 1
        for b in range(index(most)):
            at[b + ONE] += at[b]
        for b in range(index(most) + ONE):
            out.part[street, r, b] = at[b]
        for c in range(classes):
            bucket = index(out.code[street, r, c])
            out.member[street, r, index(at[bucket])] = c
            at[bucket] += 1
        out.buckets[r, street] = dealer.board.n_buckets[street]


@jit
def deal_boards(
    cards: Any, model_cards: Any, seed: int, number: int, low: int, high: int, dealer: BoardDealer,
    out: DealtBoards,
) -> None:  # fmt: skip
    """Fills rows low .. high - 1 of `out` with the boards number + low .. number + high - 1 of a
    seed. A board depends on seed and number alone, so that any number of threads can deal.
    `model_cards`: of a model of another card abstraction, or None."""
    most = out.part.shape[2] - 1
    for row in range(low, high):
        for k in range(index(len(dealer.deck))):
            dealer.chance.deck[k] = dealer.deck[k]
        seed_state(index(seed), index(number) + index(row), dealer.rng)
        draw(dealer.chance, dealer.rng)
        fill_board(cards, dealer.chance, 4, dealer.board)
        if model_cards is not None:
            fill_board(model_cards, dealer.chance, 4, dealer.model_board)
        count = _find_classes(dealer, model_cards is not None)
        _write_words(dealer, count, model_cards is not None, row, out)
        _sort_classes(dealer, most, row, out)


class BoardSource:
    """Batches of boards; the next batch is dealt while the last is in use."""

    def __init__(
        self, cards: Any, deck: np.ndarray, counts: tuple[int, ...], batch: int,
        model_cards: Any = None, model_counts: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.cards, self.batch, self._model_cards = cards, batch, model_cards
        live = len(deck) - 5
        self.n, self.most = live * (live - 1) // 2, max(counts)
        self._threads = max(1, min(cores(), batch))
        self._dealers = [new_dealer(counts, deck, model_counts) for _ in range(self._threads)]
        self._buffers = [new_boards(batch, self.n, self.most) for _ in range(2)]

    def batches(self, seed: int, first: int, last: int) -> Iterator[DealtBoards]:
        """Yields batches number `first` to `last` of a seed. A batch is overwritten by the next but
        one."""
        with ThreadPoolExecutor(self._threads) as pool:
            jobs = self._begin(pool, seed, first)
            for number in range(first, last + 1):
                for job in jobs:
                    job.result()
                if number < last:
                    jobs = self._begin(pool, seed, number + 1)
                yield self._buffers[number % 2]

    def _begin(self, pool: ThreadPoolExecutor, seed: int, number: int) -> list[Future[None]]:
        ends = [self.batch * k // self._threads for k in range(self._threads + 1)]
        start, out = 1 + number * self.batch, self._buffers[number % 2]
        return [
            pool.submit(
                deal_boards,
                self.cards,
                self._model_cards,
                check_seed(seed),
                start,
                low,
                high,
                dealer,
                out,
            )
            for low, high, dealer in zip(ends, ends[1:], self._dealers, strict=False)
        ]
