"""Buckets by k-means (Johanson et al., AAMAS 2013): equity histograms by the earth mover's distance
before the street of the showdown, OCHS vectors on it.

`emd`: before the flop every class of starting hands is a bucket, unless a number is given.
`nested-emd`: k-means within each bucket of the street before (perfect recall).

OCHS, opponent cluster hand strength, is the strength of a holding on the board of the showdown
against each of eight groups of opponent holdings: clusters of starting hands by the earth mover's
distance of their equity histograms. A coordinate is the share of wins, a tie counting half, against
the holdings of a group that share no card with the board or the own holding; a half where there are
none.

Centres come from a sample of deals; then every hand goes to its nearest centre. Deviation: squared
differences of cumulated histograms, whose mean is the best centre, in place of absolute ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress, part
from counterplay.core.base.store import cached_arrays
from counterplay.core.kernels.jit import index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import AbstractionSpec, Buckets
from counterplay.poker.abstraction.histograms import (
    cumulated,
    final_flop_histograms,
    flop_histograms,
    preflop_histograms,
    turn_histograms,
)
from counterplay.poker.abstraction.kmeans import SCALE, Assign, fastest_assignment, kmeans, nearest
from counterplay.poker.abstraction.numbered import (
    N_CLASSES,
    NumberedAbstraction,
    buckets_to_flop,
    final_flop_strengths,
    starting_classes,
)
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import SIZES, boards
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.cards.strength import Workspace, in_pieces, new_workspace, sort_numbers

EMD, NESTED_EMD = "emd", "nested-emd"
SEED = 1
VERSION = 1  # of what these files compute; part of the key of a game
SAMPLE_BOARDS = 2_000
SAMPLE_HOLDINGS = 50  # on each of these boards, at least
PER_BUCKET = 20  # hands of the sample for a bucket, at least
ROWS = 32  # boards whose hands are assigned at once
GROUPS = 8  # of OCHS
_CARDS = HOLDING_CARDS.astype(np.int64)

#: int16[len(rows), 1326, d]: the points of all holdings on some boards of a street.
Points = Callable[[np.ndarray], np.ndarray]


class EmdAbstraction(NumberedAbstraction):
    """Buckets by k-means."""

    preflop_by_class: ClassVar = True
    nested_kinds: ClassVar = frozenset({NESTED_EMD})
    class_kinds: ClassVar = frozenset({EMD})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nested and self.on_board == 5:
            raise BadParameter(
                f"kind={self.kind} is for games that end on the flop; in a game of four streets "
                "perfect recall is that of kind=nested or kind=nested-percentile"
            )

    @property
    def key(self) -> str:
        return f"{'/'.join(str(n) for n in self.numbers)} {self.kind} {VERSION}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        """Returns the buckets from disk, or makes them."""
        tables = ("preflop", "flop", "turn", "river")[: len(self.numbers)]
        kinds = [np.uint8 if n <= 256 else np.uint16 for n in self.counts]
        shapes = ((N_HOLDINGS,), *((SIZES[n], N_HOLDINGS) for n in (3, 4, 5)))
        cached = cached_arrays(
            "the buckets stay",
            "kmeans-buckets",
            (__name__,),
            make=self.make,
            shapes={t: (s, np.dtype(k)) for t, s, k in zip(tables, shapes, kinds, strict=False)},
            unpack=tuple,
            recipe=lambda: {"abstraction": self.key, "on_board": self.on_board},
        )
        first, flop, *later = cached.get(lambda share, what: progress(share))
        first, flop = first.astype(np.uint16), flop.astype(np.uint16)
        if not later:
            return buckets_to_flop(first, flop)
        river = np.arange(self.counts[3], dtype=np.uint16)
        return Buckets(first, flop, later[0].astype(np.uint16), river, later[1])

    def make(
        self, progress: ProgressCallback = no_progress, threads: int = 0
    ) -> tuple[np.ndarray, ...]:
        """Returns uint16[boards, 1326] of each street."""
        if self.on_board == 3:
            before = preflop_histograms(final_flop_histograms(final_flop_strengths()))
            first = self._preflop(cumulated(before))
            points = ochs_points(3, opponent_groups(before))
            nested = first if self.nested else np.zeros_like(first)
            return first, self._street(
                1, points, nested, threads, part(progress, 0.1, 0.99, "flop")
            )
        turn = turn_histograms(threads, part(progress, 0.0, 0.2, "equity histograms"))
        flop = flop_histograms(turn, threads, part(progress, 0.2, 0.25, "equity histograms"))
        before = preflop_histograms(flop)
        streets = [self._preflop(cumulated(before))]
        undivided = np.zeros(N_HOLDINGS, dtype=np.uint16)
        on_street = (
            (lambda rows: cumulated(flop[rows]), 0.25, 0.3),
            (lambda rows: cumulated(turn[rows]), 0.3, 0.5),
            (ochs_points(5, opponent_groups(before)), 0.5, 0.99),
        )
        for k, (points, low, high) in enumerate(on_street, 1):
            step = part(progress, low, high, f"k-means, {STREETS[k]}")
            streets.append(self._street(k, points, undivided, threads, step))
        return tuple(streets)

    def _preflop(self, points: np.ndarray) -> np.ndarray:
        if self.numbers[0] == N_CLASSES:
            return starting_classes()
        return _labels(points, self._centres(points, 0))

    def _centres(
        self,
        sample: np.ndarray,
        street: int,
        threads: int = 1,
        progress: ShareCallback = no_progress,
    ) -> np.ndarray:
        centres = kmeans(sample, self.numbers[street], SEED, threads, progress)
        if centres is None:
            different = len(np.unique(sample, axis=0))
            raise BadParameter(
                f"kind={self.kind}: {self.numbers[street]} buckets on the {STREETS[street]} cannot "
                f"be filled, since {len(sample):,} sampled hands have only {different:,} different "
                "histograms or vectors; use fewer"
            )
        return centres

    def _street(
        self,
        street: int,
        points: Points,
        before: np.ndarray,
        threads: int,
        progress: ShareCallback,
    ) -> np.ndarray:
        """Returns the buckets of a street, within each bucket of `before` (uint16[1326])."""
        n, size = self.numbers[street], (0, 3, 4, 5)[street]
        out = np.zeros((SIZES[size], N_HOLDINGS), dtype=np.uint16)
        assign = fastest_assignment()
        workers = (threads or cores()) if assign is nearest else 1
        groups = int(before.max()) + 1
        for b in range(groups):
            holdings = np.flatnonzero(before == b)
            low, width = b / groups, 1.0 / groups
            sample = _sample(points, size, holdings, n)
            step = _within(progress, low, low + 0.3 * width)
            centres = self._centres(sample, street, threads or cores(), step)
            step = _within(progress, low + 0.3 * width, low + width)
            task = points, holdings, centres, b * n, out
            _assign_all(*task, assign, workers, step)
        return out


def _within(progress: ShareCallback, low: float, high: float) -> ShareCallback:
    return lambda share: progress(low + (high - low) * share)


def opponent_groups(preflop: np.ndarray) -> np.ndarray:
    """Returns uint8[1326]: the group of each opponent holding, from histograms before the flop."""
    points = cumulated(preflop)
    centres = kmeans(points, GROUPS, SEED)
    assert centres is not None  # 169 classes have more than eight histograms
    return _labels(points, centres).astype(np.uint8)


def ochs_points(size: int, group: np.ndarray) -> Points:
    """Returns the points of boards of `size` cards, those of the showdown."""
    masks = boards(size).masks

    def points(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), N_HOLDINGS, GROUPS), dtype=np.int16)
        fill_ochs(np.ascontiguousarray(masks[rows]), group, new_workspace(), new_counts(), out)
        return out

    return points


def _labels(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    out = np.empty(len(points), dtype=np.uint16)
    nearest(np.ascontiguousarray(points), centres, out)
    return out


def live_holdings(size: int, rows: np.ndarray) -> np.ndarray:
    """Returns bool[len(rows), 1326]: holdings that share no card with a board."""
    masks = boards(size).masks[rows].astype(np.int64)
    on_board = (masks[:, _CARDS & 3] >> (_CARDS >> 2)) & 1
    live: np.ndarray = ~on_board.any(axis=2)
    return live


def _sample(points: Points, size: int, holdings: np.ndarray, n: int) -> np.ndarray:
    """Returns int16[hands, d]: the points of random hands for n buckets, distributed as in play."""
    rng = np.random.default_rng((SEED, size))
    weight = boards(size).weight
    each = max(SAMPLE_HOLDINGS, -(-PER_BUCKET * n // SAMPLE_BOARDS))
    rows = rng.choice(len(weight), size=SAMPLE_BOARDS, p=weight / weight.sum())
    parts = []
    for low in range(0, len(rows), ROWS):
        some = rows[low : low + ROWS]
        held = holdings[rng.integers(len(holdings), size=(len(some), each))]
        live = np.take_along_axis(live_holdings(size, some), held, axis=1)
        parts.append(points(some)[np.arange(len(some))[:, None], held][live])
    return np.concatenate(parts)


def _assign_all(
    points: Points,
    holdings: np.ndarray,
    centres: np.ndarray,
    first: int,
    out: np.ndarray,
    assign: Assign,
    threads: int,
    progress: ShareCallback,
) -> None:
    """Fills the columns `holdings` of `out` with buckets numbered from `first` on, and with
    `first` where the board blocks the holding."""
    size = next(n for n, count in SIZES.items() if count == len(out))

    def work(_: Workspace, low: int, high: int) -> None:
        for start in range(low, high, ROWS):
            rows = np.arange(start, min(start + ROWS, high))
            some = np.ascontiguousarray(points(rows)[:, holdings])
            label = np.empty(some.shape[0] * some.shape[1], dtype=np.uint16)
            assign(some.reshape(-1, some.shape[2]), centres, label)
            label = label.reshape(some.shape[:2])
            label[~live_holdings(size, rows)[:, holdings]] = 0
            out[start : start + len(rows), holdings] = label + np.uint16(first)

    in_pieces(work, len(out), threads, progress)


ABSTRACTION = (
    AbstractionSpec("emd", EmdAbstraction.maker(EMD)),
    AbstractionSpec("nested-emd", EmdAbstraction.maker(NESTED_EMD)),
)


# OCHS


class GroupCounts(NamedTuple):
    """Opponent holdings by group, and by group and card: int64[GROUPS, 53], the last column for all
    cards."""

    below: np.ndarray  # weaker ones
    level: np.ndarray  # equally strong ones
    every: np.ndarray  # all


def new_counts() -> GroupCounts:
    return GroupCounts(*(np.zeros((GROUPS, 53), dtype=np.int64) for _ in range(3)))


@jit(inner=True)
def _add(table: np.ndarray, group: Any, holding: Any) -> None:
    table[group, index(52)] += 1
    table[group, index(_CARDS[holding, index(0)])] += 1
    table[group, index(_CARDS[holding, index(1)])] += 1


@jit(inner=True)
def _without(table: np.ndarray, g: Any, a: Any, b: Any) -> Any:
    """Holdings of group g without either card, those with both subtracted twice."""
    return table[g, index(52)] - table[g, index(a)] - table[g, index(b)]


@jit
def fill_ochs(
    masks: np.ndarray, group: np.ndarray, work: Workspace, counts: GroupCounts, out: np.ndarray
) -> None:
    """Fills `out`, int16[boards, 1326, GROUPS], for boards of a showdown given by suit masks; 0
    where the board blocks the holding. `group`: uint8[1326]."""
    for k in range(index(len(masks))):
        n = 0
        out[k] = 0
        counts.below[:] = 0
        counts.every[:] = 0
        counts.level[:] = 0
        for h in range(index(len(_CARDS))):
            a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
            for suit in range(index(4)):
                work.masks[suit] = masks[k, suit]
            if (work.masks[a & 3] >> (a >> 2) | work.masks[b & 3] >> (b >> 2)) & 1:
                continue
            work.masks[a & 3] |= 1 << (a >> 2)
            work.masks[b & 3] |= 1 << (b >> 2)
            value = strength_of_masks(work.masks[0], work.masks[1], work.masks[2], work.masks[3])
            work.order[n] = (np.int64(value) << 11) + np.int64(h)
            n += 1
            _add(counts.every, index(group[h]), h)
        sort_numbers(work.order, n, work.stack)
        start = 0
        while start < n:  # equally strong holdings at a time
            stop = start
            while stop < n and work.order[stop] >> 11 == work.order[start] >> 11:
                h = index(work.order[stop] & 2047)
                _add(counts.level, index(group[h]), h)
                stop += 1
            for i in range(start, stop):
                _fill_one(index(work.order[i] & 2047), group, counts, out[k])
            for i in range(start, stop):
                h = index(work.order[i] & 2047)
                g = index(group[h])
                _add(counts.below, g, h)
                counts.level[g, index(52)] = 0
                counts.level[g, index(_CARDS[h, index(0)])] = 0
                counts.level[g, index(_CARDS[h, index(1)])] = 0
            start = stop


@jit(inner=True)
def _fill_one(h: Any, group: np.ndarray, counts: GroupCounts, out: np.ndarray) -> None:
    a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
    for g in range(index(GROUPS)):
        own = 1 if index(group[h]) == g else 0  # the holding itself was subtracted twice
        wins = _without(counts.below, g, a, b)
        ties = _without(counts.level, g, a, b) + own
        n = _without(counts.every, g, a, b) + own
        twice = 2 * wins + ties
        out[h, g] = (SCALE * twice + n) // (2 * n) if n > 0 else SCALE // 2
