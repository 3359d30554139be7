"""The river of a spot whose players both learn by rows of equal strength (`rows.py`).

The holdings of a row act alike, so their reach is that with which they come to the river times one
probability. What a row meets is counted by card: `mass` has the other's reach in each row, in all
and with each card, `counted` the player's holdings, those with a card subtracted, so that their
product is a sum over all pairs without a common card. Rows are taken in the order of strength, with
`ahead`, for each of the other's action sequences, the mass of weaker rows less that of stronger
ones. At the end `root` has what a row's strategy gets, by card, and so the value of each holding.

Only for spots without rake, in which a split pays nothing. Deviation from `kernels.py`: where the
other never comes, regrets are not discounted.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import question
from counterplay.core.kernels.cache_lines import aligned_zeros
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES, add_product, set_dot
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots.betting import DECISION, FOLD, SHOWDOWN
from counterplay.poker.spots.columns import ACTIONS, CHILD, KIND, PLAYER, SEQUENCE
from counterplay.poker.spots.decisions import (
    WEIGHT,
    SpotForm,
    match_policy,
    table_rows,
    table_start,
)
from counterplay.poker.spots.showdowns import HOLDING, RANK, SAME, KernelSide

_LANES, _ALL = index(LANES), index(N_CARDS)
_BLOCKS = index(-(-(N_CARDS + 1) // LANES))  # of cards and of all
_WIDTH = _BLOCKS * _LANES
_WON = index(2)
FOLDED, SHOWN = 1, 2  # bits of `ends`


class RowWork(NamedTuple):
    """Buffers for w rows, q action sequences and the 53 sums of `KernelSide`, in LANES."""

    counted: np.ndarray  # [w, 56]
    mass: np.ndarray  # [w, 56]
    root: np.ndarray  # [w, 56]
    every: np.ndarray  # [q, 56]: mass of all rows
    ahead: np.ndarray  # [q, 56]
    own: np.ndarray  # [q, w]: probability of the player's own actions
    others: np.ndarray  # [q, w]: and of the other's
    same: np.ndarray  # [w]: reach of the same holdings
    rank: np.ndarray  # int64[2, w]: strength of each row, of the player's and of the other's
    ends: np.ndarray  # int64[q]: whether folds and showdowns follow
    factor: np.ndarray  # [LANES]
    dot: np.ndarray  # [LANES]
    out: np.ndarray  # [h]: the values of holdings


class NoRows(NamedTuple):
    """In place of `RowWork` where not both players learn by rows, which then is not compiled."""

    none: int = 0


@question
def visit_by_rows(
    rows: Any, form: Any, seats: Any, player: Any, first: Any, end: Any, local: Any, level: Any,
    work: Any,
) -> Any:  # fmt: skip
    """Fills the values of a segment of the river, and what is learnt there."""
    return None


def new_row_work(sequences: int, holdings: int, rows: int, dtype: Any) -> RowWork:
    """Buffers for so many action sequences, holdings and rows."""
    width, zeros = int(_WIDTH), partial(aligned_zeros, dtype=dtype)
    return RowWork(
        counted=zeros((rows, width)),
        mass=zeros((rows, width)),
        root=zeros((rows, width)),
        every=zeros((sequences, width)),
        ahead=zeros((sequences, width)),
        own=zeros((sequences, rows)),
        others=zeros((sequences, rows)),
        same=zeros((rows,)),
        rank=aligned_zeros((2, rows), np.int64),
        ends=aligned_zeros((sequences,), np.int64),
        factor=zeros((LANES,)),
        dot=zeros((LANES,)),
        out=zeros((holdings,)),
    )


@jit(inner=True)
def _sum_cards(side: KernelSide, local: Any, who: Any, reach: Any, out: Any, rows: RowWork) -> int:
    """Fills `mass` (`who` is 1), or `counted` (0) and `same`, from the reach of the other player.
    Returns the number of rows that are alive."""
    n, many = index(len(side.cards)), index(side.span[local, ONE])
    order = side.ranked[local]
    for r in range(many):
        for c in range(_WIDTH):
            out[r, c] = 0.0
        if who == ZERO:
            rows.same[r] = 0.0
    r, last = ZERO, order[RANK, ZERO]
    for k in range(index(order[HOLDING, n])):
        h = index(order[HOLDING, k])
        if order[RANK, k] != last:
            r += ONE
            last = order[RANK, k]
        rows.rank[who, r] = last
        low, high = index(side.cards[h, 0]), index(side.cards[h, 1])
        if who == ZERO:
            out[r, _ALL] += 1.0
            out[r, low] -= 1.0
            out[r, high] -= 1.0
            if side.cards[h, SAME] >= 0:
                rows.same[r] += reach[index(side.cards[h, SAME])]
        else:
            out[r, _ALL] += reach[h]
            out[r, low] += reach[h]
            out[r, high] += reach[h]
    return r + ONE if order[HOLDING, n] > 0 else ZERO


@jit(inner=True)
def _follow(
    form: SpotForm, side: KernelSide, source: Any, who: Any, first: Any, end: Any, local: Any,
    reach: Any, policy: Any, number: Any,
) -> None:  # fmt: skip
    """Fills the probability of a player's own actions in the segment first .. end - 1."""
    nodes, column, many = form.nodes, index(SEQUENCE) + who, index(side.span[local, ONE])
    for r in range(many):
        reach[ZERO, r] = 1.0
    for k in range(first, end):
        if nodes[k, KIND] == DECISION and nodes[k, PLAYER] == who:
            match_policy(form, side, source, k, local, policy, number)
            before = index(nodes[k, column])
            for a in range(index(nodes[k, ACTIONS])):
                after = index(nodes[index(nodes[k, CHILD]) + a, column])
                for r in range(many):
                    reach[after, r] = reach[before, r] * policy[a, r]


@jit(inner=True)
def _add_average(
    form: SpotForm, side: KernelSide, sums: Any, who: Any, first: Any, end: Any, local: Any,
    weight: Any, rows: RowWork,
) -> None:  # fmt: skip
    """Adds the other player's reach to its average strategy."""
    nodes, column = form.nodes, index(SEQUENCE) + who
    for k in range(first, end):
        if nodes[k, KIND] == DECISION and nodes[k, PLAYER] == who:
            at, many = table_start(form, side, k, local), table_rows(form, side, k, local)
            for a in range(index(nodes[k, ACTIONS])):
                after = index(nodes[index(nodes[k, CHILD]) + a, column])
                for r in range(many):
                    come = weight * rows.mass[r, _ALL]
                    sums[at + a * many + r] += come * rows.others[after, r]


@jit(inner=True)
def _scale(rows: RowWork, factor: Any) -> None:
    for lane in range(_LANES):
        rows.factor[lane] = factor


@jit(inner=True)
def _set_every(form: SpotForm, column: Any, first: Any, end: Any, many: Any, rows: RowWork) -> None:
    """Fills `ends`, `every`, and `ahead` of the weakest."""
    nodes, n = form.nodes, index(len(rows.ends))
    for q in range(n):
        rows.ends[q] = 0
    for k in range(first, end):
        kind, q = nodes[k, KIND], index(nodes[k, column])
        if kind in (FOLD, SHOWDOWN):
            rows.ends[q] |= SHOWN if kind == SHOWDOWN else FOLDED
    for q in range(n):
        if rows.ends[q] == 0:
            continue
        for c in range(_WIDTH):
            rows.every[q, c] = 0.0
        for r in range(many):
            if rows.others[q, r] != 0.0:
                _scale(rows, rows.others[q, r])
                at, out = r * _WIDTH, q * _WIDTH
                add_product(rows.factor, ZERO, rows.mass, at, rows.every, out, _BLOCKS)
        for c in range(_WIDTH):
            rows.ahead[q, c] = -rows.every[q, c]


@jit(inner=True)
def _pass(r: Any, times: Any, rows: RowWork) -> None:
    """Adds a row of the other's to `ahead`."""
    for q in range(index(len(rows.ends))):
        if rows.ends[q] & SHOWN and rows.others[q, r] != 0.0:
            _scale(rows, times * rows.others[q, r])
            at, out = r * _WIDTH, q * _WIDTH
            add_product(rows.factor, ZERO, rows.mass, at, rows.ahead, out, _BLOCKS)


@jit(inner=True)
def _met(rows: RowWork, row: Any, sums: Any, q: Any) -> Any:
    """A row's holdings times the sums of a sequence."""
    set_dot(rows.counted, row * _WIDTH, sums, q * _WIDTH, rows.dot, ZERO, _BLOCKS)
    d = rows.dot
    pairs = (d[ZERO] + d[ONE]) + (d[index(2)] + d[index(3)])
    return pairs + ((d[index(4)] + d[index(5)]) + (d[index(6)] + d[index(7)]))


@jit(inner=True)
def _set_row(
    form: SpotForm, player: Any, first: Any, end: Any, row: Any, equal: Any, value: Any,
    rows: RowWork,
) -> Any:  # fmt: skip
    """Fills a row's values of folds and showdowns, and its `root`; `equal`: the other's row of the
    same strength, or the number of its rows. Returns the factor of the same holding in `root`."""
    nodes, mine, column = form.nodes, index(SEQUENCE) + player, index(SEQUENCE) + ONE - player
    alike = equal < index(rows.others.shape[1])
    same = rows.dot[ZERO] * 0
    for c in range(_WIDTH):
        rows.root[row, c] = 0.0
    for k in range(first, end):
        kind, q = nodes[k, KIND], index(nodes[k, column])
        if kind not in (FOLD, SHOWDOWN):
            continue
        own = rows.own[index(nodes[k, mine]), row]
        if kind == FOLD:
            paid = form.payoff[k, player, ZERO]
            met = _met(rows, row, rows.every, q)
            if alike:
                met += rows.same[row] * rows.others[q, equal]
                same += own * paid * rows.others[q, equal]
        else:
            paid = form.payoff[k, player, _WON]
            met = _met(rows, row, rows.ahead, q)
        value[k - first, row] = paid * met
        if own != 0.0:
            _scale(rows, own * paid)
            at, out = q * _WIDTH, row * _WIDTH
            if kind == FOLD:
                add_product(rows.factor, ZERO, rows.every, at, rows.root, out, _BLOCKS)
            else:
                add_product(rows.factor, ZERO, rows.ahead, at, rows.root, out, _BLOCKS)
    return same


@jit(inner=True)
def set_row_values(
    form: SpotForm, seats: Any, player: Any, first: Any, end: Any, local: Any, reach: Any,
    value: Any, learnt: Any, rows: RowWork, policy: Any, number: Any,
) -> bool:  # fmt: skip
    """Fills the values of rows at the folds and showdowns of a segment of the river, and `out` with
    the values of holdings at its first node, from the other's reach there; adds to the other's
    average `learnt`. False if the other never comes: all values of holdings are then 0."""
    side, other, them = seats.side, seats.other, ONE - player
    theirs = _sum_cards(other, local, ONE, reach, rows.mass, rows)
    for h in range(index(len(side.cards))):
        rows.out[h] = 0.0
    come = number[ZERO]
    for r in range(theirs):
        come += rows.mass[r, _ALL]
    if come == 0.0:
        return False
    mine = _sum_cards(side, local, ZERO, reach, rows.counted, rows)
    _follow(form, side, seats.own.source, player, first, end, local, rows.own, policy, number)
    others = seats.others.source
    _follow(form, other, others, them, first, end, local, rows.others, policy, number)
    if len(learnt) > 0:
        weight = number[index(WEIGHT)]
        _add_average(form, other, learnt, them, first, end, local, weight, rows)
    _set_every(form, index(SEQUENCE) + them, first, end, theirs, rows)
    taken, at, order, none = ZERO, ZERO, side.ranked[local], index(rows.others.shape[1])
    for row in range(mine):
        rank = rows.rank[ZERO, row]
        while taken < theirs and rows.rank[ONE, taken] < rank:
            _pass(taken, number[ONE] + number[ONE], rows)
            taken += ONE
        equal = none
        if taken < theirs and rows.rank[ONE, taken] == rank:
            equal = taken
            _pass(taken, number[ONE], rows)
        same = _set_row(form, player, first, end, row, equal, value, rows)
        if equal != none:
            _pass(taken, number[ONE], rows)
            taken += ONE
        while at < index(order[HOLDING, index(len(side.cards))]) and order[RANK, at] == rank:
            h = index(order[HOLDING, at])
            low, high = index(side.cards[h, 0]), index(side.cards[h, 1])
            rows.out[h] = rows.root[row, _ALL] - rows.root[row, low] - rows.root[row, high]
            if side.cards[h, SAME] >= 0:
                rows.out[h] += same * reach[index(side.cards[h, SAME])]
            at += ONE
    for row in range(mine, index(side.span[local, ONE])):
        for k in range(end - first):
            value[k, row] = 0.0
    return True
