"""Random boards for a device: holdings by class, and the classes of each bucket.

Board number k of a seed is the same board whoever deals it, so that any number of threads can.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import check_seed, seed_state
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import LOOKED_UP, Deal, deal_on, draw
from counterplay.poker.vector.board import Board, fill_board, new_board
from counterplay.poker.vector.hand_classes import ROOM

LARGEST = 45  # holdings of a class: times itself at most 2,048, see `put_twice`
_LOW, _HIGH = (np.ascontiguousarray(HOLDING_CARDS[:, k], dtype=np.int64) for k in (0, 1))


class DealtBoards(NamedTuple):
    """b boards of n holdings, with k buckets at most on a street."""

    word: np.ndarray  # uint32[b, n]: holdings, class by class
    first: np.ndarray  # uint16[b, ROOM]: where each class begins; n behind the last
    code: np.ndarray  # uint16[4, b, ROOM]: its bucket on each street
    member: np.ndarray  # uint16[4, b, ROOM]: classes by bucket of a street
    part: np.ndarray  # uint16[4, b, k + 1]: where the classes of a bucket begin there
    classes: np.ndarray  # int32[b]: how many there are
    buckets: np.ndarray  # int32[b, 4]: how many occur


class BoardDealer(NamedTuple):
    """What one thread deals with."""

    board: Board
    chance: Deal
    deck: np.ndarray  # int64[c]: as it is before it is shuffled
    rng: np.ndarray
    number: np.ndarray  # int32[n k]: class of a key, -1 where there is none
    key: np.ndarray  # int64[n]
    of: np.ndarray  # int64[n]: class of each holding
    at: np.ndarray  # int64[...]: where the next one goes


def new_dealer(counts: tuple[int, ...], deck: np.ndarray) -> BoardDealer:
    def longs(size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)

    return BoardDealer(
        board=new_board(counts),
        chance=deal_on(longs(len(deck) + LOOKED_UP), deck),
        deck=deck.astype(np.int64),
        rng=np.zeros(4, dtype=np.uint64),
        number=np.full(ROOM * min(max(counts), N_HOLDINGS), -1, dtype=np.int32),
        key=longs(N_HOLDINGS),
        of=longs(N_HOLDINGS),
        at=longs(max(ROOM, max(counts)) + 1),
    )


def new_boards(boards: int, n: int, most: int) -> DealtBoards:
    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return DealtBoards(
        word=np.zeros((boards, n), dtype=np.uint32),
        first=shorts(boards, ROOM),
        code=shorts(4, boards, ROOM),
        member=shorts(4, boards, ROOM),
        part=shorts(4, boards, most + 1),
        classes=np.zeros(boards, dtype=np.int32),
        buckets=np.zeros((boards, 4), dtype=np.int32),
    )


def chosen(boards: DealtBoards, which: np.ndarray) -> DealtBoards:
    """Some of them."""
    by_street = ("code", "member", "part")
    return DealtBoards(
        *(
            array[:, which] if name in by_street else array[which]
            for name, array in boards._asdict().items()
        )
    )


@jit(inner=True)
def _find_classes(dealer: BoardDealer) -> int:
    """Number the classes of a board in `of`; how many there are. A large one is cut into several,
    so that no two of them meet more often than a half can say."""
    board, of, key, number = dealer.board, dealer.of, dealer.key, dealer.number
    n = index(board.size[0])
    for k in range(n):
        of[k] = 0
    count = ZERO
    for street in range(index(4)):
        wide = board.n_buckets[street]
        count = ZERO
        for k in range(n):
            at = of[k] * wide + board.bucket[street, k]
            key[k] = at
            if number[index(at)] < 0:
                number[index(at)] = count
                count += ONE
            of[k] = number[index(at)]
        for k in range(n):
            number[index(key[k])] = -1
    for c in range(count):
        dealer.at[c] = 0
        number[c] = c
    for k in range(n):
        c = index(of[k])
        if dealer.at[c] == LARGEST:
            dealer.at[c] = 0
            number[c] = count
            count += ONE
        dealer.at[c] += 1
        of[k] = number[c]
    for c in range(count):
        number[c] = -1
    return int(count)


@jit(inner=True)
def _write_words(dealer: BoardDealer, count: int, row: int, out: DealtBoards) -> None:
    board, of, at, r = dealer.board, dealer.of, dealer.at, index(row)
    n, classes = index(board.size[0]), index(count)
    for c in range(classes + ONE):
        at[c] = 0
    for k in range(n):
        at[index(of[k]) + ONE] += 1
    for c in range(classes):
        at[c + ONE] += at[c]
    for c in range(index(ROOM)):
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
            out.code[street, r, c] = board.name[street, bucket]
    out.classes[r] = count


@jit(inner=True)
def _sort_classes(dealer: BoardDealer, most: int, row: int, out: DealtBoards) -> None:
    """Classes by their bucket, on each street."""
    at, r, classes = dealer.at, index(row), index(out.classes[index(row)])
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
    cards: Any, seed: int, number: int, low: int, high: int, dealer: BoardDealer, out: DealtBoards
) -> None:
    """Boards number + low to number + high - 1 of a seed, to the places low to high - 1."""
    most = out.part.shape[2] - 1
    for row in range(low, high):
        for k in range(index(len(dealer.deck))):
            dealer.chance.deck[k] = dealer.deck[k]
        seed_state(index(seed), index(number) + index(row), dealer.rng)
        draw(dealer.chance, dealer.rng)
        fill_board(cards, _LOW, _HIGH, dealer.chance, 4, dealer.board)
        count = _find_classes(dealer)
        _write_words(dealer, count, row, out)
        _sort_classes(dealer, most, row, out)


class BoardSource:
    """Batches of boards, the next one dealt while the last is worked on."""

    def __init__(self, cards: Any, deck: np.ndarray, counts: tuple[int, ...], batch: int) -> None:
        self.cards, self.batch = cards, batch
        left = len(deck) - 5
        self.n, self.most = left * (left - 1) // 2, max(counts)
        self._threads = max(1, min(cores(), batch))
        self._dealers = [new_dealer(counts, deck) for _ in range(self._threads)]
        self._rooms = [new_boards(batch, self.n, self.most) for _ in range(2)]

    def batches(self, seed: int, first: int, last: int) -> Iterator[DealtBoards]:
        """Batches number `first` to `last` of a seed. One is good until the next but one."""
        with ThreadPoolExecutor(self._threads) as pool:
            jobs = self._begin(pool, seed, first)
            for number in range(first, last + 1):
                for job in jobs:
                    job.result()
                if number < last:
                    jobs = self._begin(pool, seed, number + 1)
                yield self._rooms[number % 2]

    def _begin(self, pool: ThreadPoolExecutor, seed: int, number: int) -> list[Future[None]]:
        ends = [self.batch * k // self._threads for k in range(self._threads + 1)]
        start, room = 1 + number * self.batch, self._rooms[number % 2]
        return [
            pool.submit(deal_boards, self.cards, check_seed(seed), start, low, high, dealer, room)
            for low, high, dealer in zip(ends, ends[1:], self._dealers, strict=False)
        ]
