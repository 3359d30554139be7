"""Arrays of public chance sampling, and counterfactual values on the last street.

On the last street all values are linear in the opponent's reach. They are computed for each of the
opponent's action sequences (`value_by_sequence`) or, which is faster with few buckets, for each of
its buckets (`value_by_bucket`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.cache_lines import aligned_zeros
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_dot,
    add_others,
    add_product,
    add_row_to_cards,
    add_rows,
    set_dot,
    take,
)
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import (
    ALL,
    Reach,
    add_showdowns,
    add_values,
    back_up,
    clear,
    set_reach,
    sum_reach,
)
from counterplay.poker.vector.street import StreetWorkspace, new_street_workspace

_LANES = index(LANES)
FEW = 20  # buckets on the last street up to which `value_by_bucket` is faster
MODEL = 2  # index of the model's reach and paths, after those of both players


class InfosetRows(NamedTuple):
    """Numbers of information sets and slots, of a form."""

    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]


def form_counts(form: Any) -> tuple[int, ...]:
    """Returns the numbers of buckets on the streets of a form."""
    node = form.nodes.node
    buckets = np.diff(np.append(form.first_row[node], len(form.owner)))
    return tuple(int(buckets[form.nodes.street[node] == s][0]) for s in range(4))


class Restriction(NamedTuple):
    """The restriction of a player to a model (`core/forms/restricted.py`). `restricted` is -1
    without a model."""

    restricted: int
    per_hand: bool  # the model is followed or not for a whole hand; else at each information set
    share: np.ndarray  # [2]: 1 - p and p, per hand
    fixed: np.ndarray  # float64[s]: σ_fix
    confidence: np.ndarray  # float64[m]: Pconf(I), at each information set


class TraversalWorkspace(NamedTuple):
    """Buffers of one thread: s streets, n holdings, b buckets, k nodes of a street, e onward ends,
    w action sequences times lanes, f = min(b, FEW) buckets."""

    y: np.ndarray  # [s, 3, n, LANES]: reach at the start of the group
    path: np.ndarray  # [s, 3, b, w]: probability of each action sequence from there
    policy: np.ndarray  # [s, b, k * LANES]: σ of the action that leads to a node
    restricted_policy: np.ndarray  # the same mixed with the model; σ_fix if per hand
    onward_value: np.ndarray  # [s, 2, e, n, LANES]: values after the onward ends
    root: np.ndarray  # [n, LANES]: values at the start of the first street, which nobody reads
    showdown_path: np.ndarray  # [s, 3, b, w]: paths of the sequences with a showdown
    fold_path: np.ndarray  # [s, 3, b, w]: of those with a fold
    showdown_weight: np.ndarray  # [b, w]: Σ payoff · own path over the showdowns of a sequence
    fold_weight: np.ndarray  # [b, w]: the same for folds
    showdown_total: np.ndarray  # [b, w]: unweighted value of showdowns to a bucket
    fold_total: np.ndarray  # [b, w]: the same for folds
    gain: np.ndarray  # [b, k * LANES]: value of each node to a bucket
    own_reach: np.ndarray  # [b, LANES]: own reach of a bucket at the start
    bucket_cards: np.ndarray  # [f, 53 * LANES]: -win[1] per holding of a bucket and card; + in ALL
    bucket_sums: np.ndarray  # [53, f * LANES]: the other's reach by card and bucket
    bucket_wins: np.ndarray  # [f, f * LANES]: what each bucket wins from each
    bucket_met: np.ndarray  # [f, f * LANES]: the reach of each that shares no card
    bucket_showdown: np.ndarray  # [f, f * LANES]: payoff times paths of both at showdowns
    bucket_fold: np.ndarray  # [f, f * LANES]: the same for folds
    bucket_half: np.ndarray  # [f, f * LANES]: win[1] times the difference of the two
    bucket_rest: np.ndarray  # [f, 53 * LANES]
    street: StreetWorkspace
    won: np.ndarray  # [2, n, LANES]: the other's reach, and its model's, times what a win counts
    win: np.ndarray  # [2]: what a win counts, and the share of one reach in sums at the end
    place: np.ndarray  # int64[n]: 0, 1, ..., since numbers are in the order of the board
    no_choice: np.ndarray  # uint8[1, 1]
    below: (
        np.ndarray
    )  # int64[s]: the onward end of each street that the traversal is behind; of the
    # first street the group of the second


def new_traversal_workspace(
    streets: tuple[Street, ...], counts: tuple[int, ...], dtype: Any, tilt: float = 0.0
) -> TraversalWorkspace:
    """Returns a workspace for a card abstraction with `counts` buckets on the streets. A showdown
    that is won counts 1 + `tilt` times."""
    s, n, b = len(streets), N_HOLDINGS, min(max(counts), N_HOLDINGS)
    f = min(b, FEW)
    nodes = max(len(street.player) for street in streets) * LANES
    w = max(int(street.n_sequences.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets)
    shapes: dict[str, tuple[int, ...]] = {
        "y": (s, 3, n, LANES),
        "path": (s, 3, b, w),
        **dict.fromkeys(("policy", "restricted_policy"), (s, b, nodes)),
        "onward_value": (s, 2, ends, n, LANES),
        "root": (n, LANES),
        "won": (2, n, LANES),
        **dict.fromkeys(("showdown_path", "fold_path"), (s, 3, b, w)),
        **dict.fromkeys(("showdown_weight", "fold_weight"), (b, w)),
        **dict.fromkeys(("showdown_total", "fold_total"), (b, w)),
        "gain": (b, nodes),
        "own_reach": (b, LANES),
        **dict.fromkeys(("bucket_cards", "bucket_rest"), (f, (ALL + 1) * LANES)),
        "bucket_sums": (ALL + 1, f * LANES),
        **dict.fromkeys(("bucket_wins", "bucket_met"), (f, f * LANES)),
        **dict.fromkeys(("bucket_showdown", "bucket_fold", "bucket_half"), (f, f * LANES)),
    }
    arrays = {name: aligned_zeros(shape, dtype) for name, shape in shapes.items()}
    return TraversalWorkspace(
        **arrays,
        street=new_street_workspace(streets, n, dtype),
        win=np.array([1.0 + tilt, 1.0 / (2.0 + tilt)], dtype=dtype),
        place=np.arange(n),
        no_choice=np.zeros((1, 1), dtype=np.uint8),
        below=np.zeros(s, dtype=np.int64),
    )


@jit(inner=True)
def opponent_reach(
    player: int, s: int, bucket: Any, model_bucket: Any, restriction: Restriction, paths: Any,
    work: TraversalWorkspace,
) -> Reach:  # fmt: skip
    """Returns the reach of `player`, mixed with the model's if it is restricted per hand."""
    return Reach(
        work.y[s, player],
        paths[player],
        bucket,
        work.y[s, MODEL],
        paths[MODEL],
        model_bucket,
        restriction.share,
        restriction.per_hand and player == restriction.restricted,
    )


@jit(inner=True)
def times_win(reach: Reach, n: int, work: TraversalWorkspace) -> Reach:
    """Returns the reach times what a win counts."""
    count = work.win[0]
    if count == 1.0:
        return reach
    for h in range(index(n)):
        for lane in range(_LANES):
            work.won[0, h, lane] = count * reach.y[h, lane]
            if reach.mixed:
                work.won[1, h, lane] = count * reach.other_y[h, lane]
    return Reach(
        work.won[0], reach.path, reach.bucket, work.won[1], reach.other_path, reach.other_bucket,
        reach.share, reach.mixed,
    )  # fmt: skip


@jit(inline=True)
def played_policy(s: int, restriction: Restriction, work: TraversalWorkspace) -> Any:
    """Returns the policy on street s: mixed with the model where that is done at each information
    set."""
    mixed = restriction.restricted >= 0 and not restriction.per_hand
    return work.restricted_policy[s] if mixed else work.policy[s]


@jit(inline=True)
def weigh_terminals(
    street: Street, g: int, player: int, buckets: int, path: Any, work: TraversalWorkspace
) -> None:
    """Sums payoff times own path over the terminals of each of the other player's sequences."""
    other = 1 - player
    payoff = street.payoff[player, g]
    showdowns = index(street.n_showdowns[other]) * _LANES
    folds = index(street.n_folds[other]) * _LANES
    for b in range(index(buckets)):
        for w in range(showdowns):
            work.showdown_weight[b, w] = work.showdown_total[b, w] = 0.0
        for w in range(folds):
            work.fold_weight[b, w] = work.fold_total[b, w] = 0.0
        for e in range(index(len(street.terminals))):
            k = index(street.terminals[e])
            own = index(street.sequence[player, k]) * _LANES
            sequence = index(street.sequence[other, k])
            if street.folded[k] == NO_FOLD:
                start = index(street.showdown_index[other, sequence]) * _LANES
                for lane in range(_LANES):
                    work.showdown_weight[b, start + lane] += payoff[k, lane] * path[b, own + lane]
            else:
                start = index(street.fold_index[other, sequence]) * _LANES
                for lane in range(_LANES):
                    work.fold_weight[b, start + lane] += payoff[k, lane] * path[b, own + lane]


@jit(inline=True)
def start_values(s: int, player: int, work: TraversalWorkspace) -> Any:
    """Returns the array of the values at the start of a group of street s."""
    return work.onward_value[s - 1, player, work.below[s - 1]] if s > 0 else work.root


@jit(inline=True)
def count_bucket_cards(s: int, board: Board, work: TraversalWorkspace) -> None:
    """Counts the holdings of each bucket with each card of a board, for `value_by_bucket`."""
    part = work.win[1]
    for b in range(index(board.n_buckets[s])):
        for w in range(index(work.bucket_cards.shape[1])):
            work.bucket_cards[b, w] = 0.0
    for h in range(index(board.size[0])):
        row = work.bucket_cards[index(board.bucket[s, h])]
        low, high = index(board.low[h]) * _LANES, index(board.high[h]) * _LANES
        for lane in range(_LANES):
            row[low + lane] -= part
            row[high + lane] -= part
            row[index(ALL) * _LANES + lane] += part


@jit(inline=True)
def value_by_bucket(
    street: Street, s: int, player: int, board: Board, reach: Reach, work: TraversalWorkspace
) -> None:
    """As `value_by_sequence`, for few buckets: by the other player's bucket instead of sequence.

    Let P[h, c] be the other's reach in bucket c with holdings weaker than h less that with stronger
    ones, and T[b, c] the sum over terminals of payoff · own path · the other's path. The value of h
    in bucket b is Σ_c T[b, c] P[h, c]; buckets need only the sums of P over their holdings.
    """
    other, bucket, n = 1 - player, board.bucket[s], index(board.n_buckets[s])
    showdowns, folds = index(street.n_showdowns[other]), index(street.n_folds[other])
    sums, wins, met = work.bucket_sums, work.bucket_wins, work.bucket_met
    values, y = start_values(s, player, work), reach.y
    won = times_win(reach, board.size[0], work).y
    w, wide, long = index(work.showdown_path.shape[3]), index(sums.shape[1]), index(wins.shape[1])
    clear(sums, ALL + 1, int(n) * LANES)
    clear(wins, int(n), int(n) * LANES)
    clear(met, int(n), int(n) * LANES)
    showdown_path, fold_path = work.showdown_path[s, other], work.fold_path[s, other]
    showdown_weight, fold_weight = work.bucket_showdown, work.bucket_fold
    for b in range(n):
        for c in range(n):
            at = b * long + c * _LANES
            set_dot(
                work.showdown_weight, b * w, showdown_path, c * w, showdown_weight, at, showdowns
            )
            set_dot(work.fold_weight, b * w, fold_path, c * w, fold_weight, at, folds)
    seen = ZERO
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        for h in range(first, last):
            b = index(bucket[h])
            seen = max(seen, b + ONE)
            if work.street.reached[h]:
                _add_bucket(board, h, b, y, sums, wide)
        for h in range(first, last):
            low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
            at = index(bucket[h]) * long
            take(
                sums, index(ALL) * wide, sums, low, sums, high, wins, at, showdown_weight, at,
                values, h * _LANES, seen,
            )  # fmt: skip
        for h in range(first, last):
            if work.street.reached[h]:
                _add_bucket(board, h, index(bucket[h]), won, sums, wide)
    part = work.win[1]
    for b in range(n):
        for x in range(n * _LANES):
            work.bucket_half[b, x] = part * (fold_weight[b, x] - showdown_weight[b, x])
        for card in range(index(ALL + 1)):
            at = (b * index(ALL + 1) + card) * _LANES
            set_dot(work.bucket_half, b * long, sums, card * wide, work.bucket_rest, at, n)
            add_product(work.bucket_cards, at, sums, card * wide, met, b * long, n)
        for x in range(n * _LANES):
            wins[b, x] -= met[b, x]
    rest = work.bucket_rest
    for h in range(index(board.size[0])):
        b = index(bucket[h])
        base = b * index(ALL + 1)
        low = (base + index(board.low[h])) * _LANES
        high = (base + index(board.high[h])) * _LANES
        at = (base + index(ALL)) * _LANES
        add_others(rest, at, rest, low, rest, high, values, h * _LANES, ONE)
        if work.street.reached[h]:  # the same holding was subtracted twice
            same = b * long + b * _LANES
            add_product(y, h * _LANES, fold_weight, same, values, h * _LANES, ONE)
            add_rows(y, h * _LANES, met, same, ONE)
    for b in range(n):
        for c in range(n):
            at = b * long + c * _LANES
            add_product(wins, at, showdown_path, c * w, work.showdown_total, b * w, showdowns)
            add_product(met, at, fold_path, c * w, work.fold_total, b * w, folds)


@jit(inner=True)
def _add_bucket(board: Board, h: Any, b: Any, y: Any, sums: Any, wide: Any) -> None:
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    at = b * _LANES
    add_row_to_cards(
        y, h * _LANES, sums, index(ALL) * wide + at, sums, low + at, sums, high + at, ONE
    )


@jit(inline=True)
def value_by_sequence(
    street: Street,
    s: int,
    player: int,
    board: Board,
    model_bucket: Any,
    restriction: Restriction,
    work: TraversalWorkspace,
) -> None:
    """Computes the values of a player's holdings at the start of the last street, and those of its
    buckets on each of the other player's action sequences."""
    other, bucket = 1 - player, board.bucket[s]
    showdowns, folds = street.n_showdowns[other], street.n_folds[other]
    clear(work.street.sums[0], ALL + 1, showdowns * LANES)
    clear(work.street.sums[1], ALL + 1, folds * LANES)
    row, sums, values = work.street.row[0], work.street.sums, start_values(s, player, work)
    paths, fold_paths = work.showdown_path[s], work.fold_path[s]
    reach = opponent_reach(other, s, bucket, model_bucket, restriction, paths, work)
    won = times_win(reach, board.size[0], work)
    add_showdowns(
        board, bucket, reach, won, work.street.reached, showdowns, row, sums[0],
        work.showdown_weight, work.showdown_total, values,
    )  # fmt: skip
    to_folds = opponent_reach(other, s, bucket, model_bucket, restriction, fold_paths, work)
    sum_reach(board, to_folds, work.street.reached, folds, row, sums[1])
    part = work.win[1]
    for card in range(index(ALL + 1)):
        for w in range(index(showdowns) * _LANES):
            sums[0, card, w] *= -part
    add_values(board, bucket, showdowns, sums[0], work.showdown_weight, work.showdown_total, values)
    add_values(board, bucket, folds, sums[1], work.fold_weight, work.fold_total, values)
    count = index(folds)
    for h in range(index(board.size[0])):  # the same holding was subtracted twice
        if work.street.reached[h]:
            at = index(bucket[h]) * index(work.fold_total.shape[1])
            set_reach(to_folds, h, count, row)
            add_rows(row, ZERO, work.fold_total, at, count)
            add_dot(work.fold_weight, at, row, ZERO, values, h * _LANES, count)


@jit(inline=True)
def back_up_buckets(
    street: Street,
    s: int,
    g: int,
    player: int,
    buckets: int,
    restriction: Restriction,
    work: TraversalWorkspace,
) -> None:
    """Computes the value of every node of the last street to each bucket of a player."""
    other = 1 - player
    payoff = street.payoff[player, g]
    own = played_policy(s, restriction, work)
    for b in range(index(buckets)):
        gain = work.gain[b]
        k = index(len(street.player))
        while k > ZERO:
            k -= ONE
            at = k * _LANES
            if street.player[k] < 0:
                sequence = index(street.sequence[other, k])
                if street.folded[k] == NO_FOLD:
                    start = index(street.showdown_index[other, sequence]) * _LANES
                    for lane in range(_LANES):
                        gain[at + lane] = payoff[k, lane] * work.showdown_total[b, start + lane]
                else:
                    start = index(street.fold_index[other, sequence]) * _LANES
                    for lane in range(_LANES):
                        gain[at + lane] = payoff[k, lane] * work.fold_total[b, start + lane]
            else:
                back_up(street, k, player, False, own[b], ZERO, gain)


@jit(inner=True)
def clear_values(values: Any, n: int) -> None:
    """Zeroes the values of n holdings."""
    for h in range(index(n)):
        for lane in range(_LANES):
            values[h, lane] = 0.0
