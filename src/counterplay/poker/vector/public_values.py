"""Values in public chance sampling: what a holding, or a bucket, gets from a street.

On the last street everything is linear in the opponent's reach, so there are two ways: line by line
of his betting (`value_holdings`), or, with few buckets, bucket by bucket of his (`value_few`).
"""

from __future__ import annotations

from typing import Any

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_dot,
    add_others,
    add_product,
    add_row_to_cards,
    add_rows,
    set_dot,
    set_sum,
    take,
)
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_workspace import MODEL, BoardWork, Ties
from counterplay.poker.vector.showdown import (
    ALL,
    Reach,
    clear,
    compare_and_add,
    set_reach,
    sum_reach,
    take_all,
)

_LANES = index(LANES)


@jit(inner=True)
def pick_lines(street: Street, s: int, buckets: int, ties: Ties, work: BoardWork) -> None:
    """Paths of everybody's lines with showdowns, and with folds, next to each other."""
    for who in range(3):
        if who == MODEL and not ties.once:
            continue
        player = ties.restricted if who == MODEL else who
        path = work.path[s, who]
        for b in range(index(buckets)):
            for line in range(index(street.n_lines[player])):
                shown, gone, at = (
                    street.shown[player, line],
                    street.gone[player, line],
                    line * _LANES,
                )
                if shown >= 0:
                    for lane in range(_LANES):
                        work.shown[who, b, index(shown) * _LANES + lane] = path[b, at + lane]
                if gone >= 0:
                    for lane in range(_LANES):
                        work.gone[who, b, index(gone) * _LANES + lane] = path[b, at + lane]


@jit(inner=True)
def reach_of(player: int, s: int, ties: Ties, paths: Any, work: BoardWork) -> Reach:
    """What the other player has to reckon with."""
    return Reach(
        work.y[s, player],
        paths[player],
        work.y[s, MODEL],
        paths[MODEL],
        ties.share,
        ties.once and player == ties.restricted,
    )


@jit(inline=True)
def weigh_ends(
    street: Street, s: int, g: int, player: int, buckets: int, path: Any, work: BoardWork
) -> None:
    """Payoff times own path of every end, by the line of the other's that it is on."""
    other = 1 - player
    pay = street.pay[player, g]
    shown = index(street.n_shown[other]) * _LANES
    gone = index(street.n_gone[other]) * _LANES
    for b in range(index(buckets)):
        for w in range(shown):
            work.weight_shown[b, w] = work.total_shown[b, w] = 0.0
        for w in range(gone):
            work.weight_gone[b, w] = work.total_gone[b, w] = 0.0
        for e in range(index(len(street.ends))):
            k = index(street.ends[e])
            own = index(street.line[player, k]) * _LANES
            line = index(street.line[other, k])
            if street.folded[k] == NO_FOLD:
                place = index(street.shown[other, line]) * _LANES
                for lane in range(_LANES):
                    work.weight_shown[b, place + lane] += pay[k, lane] * path[b, own + lane]
            else:
                place = index(street.gone[other, line]) * _LANES
                for lane in range(_LANES):
                    work.weight_gone[b, place + lane] += pay[k, lane] * path[b, own + lane]


@jit(inline=True)
def values_of(s: int, player: int, work: BoardWork) -> Any:
    """Where the values at the start of a group of street s belong."""
    return work.value[s - 1, player, work.at[s - 1]] if s > 1 else work.root[player]


@jit(inner=True)
def count_cards(s: int, board: Board, work: BoardWork) -> None:
    """How many holdings of each bucket have each card: what `value_few` needs of a board."""
    half = work.half[0]
    for b in range(index(board.n_buckets[s])):
        for w in range(index(work.cards.shape[1])):
            work.cards[b, w] = 0.0
    for h in range(index(board.size[0])):
        row = work.cards[index(board.bucket[s, h])]
        low, high = index(board.low[h]) * _LANES, index(board.high[h]) * _LANES
        for lane in range(_LANES):
            row[low + lane] -= half
            row[high + lane] -= half
            row[index(ALL) * _LANES + lane] += half


@jit(inline=True)
def value_few(street: Street, s: int, player: int, board: Board, work: BoardWork) -> None:
    """The same as `value_holdings` with few buckets: by the other's bucket instead of his line.

    With P[h, c] the reach in bucket c that a holding h beats less what beats it, its value is the
    sum over c of T[b, c] P[h, c], where T[b, c] is the sum over ends of payoff, own path and the
    other's path. Buckets need no more than the sums of P over their holdings.
    """
    other, bucket, n = 1 - player, board.bucket[s], index(board.n_buckets[s])
    shown, gone = index(street.n_shown[other]), index(street.n_gone[other])
    sums, won, met = work.few_sums, work.few_won, work.few_met
    values, y = values_of(s, player, work), work.y[s, other]
    lines, wide, long = index(work.shown.shape[2]), index(sums.shape[1]), index(won.shape[1])
    clear(sums, ALL + 1, int(n) * LANES)
    clear(won, int(n), int(n) * LANES)
    clear(met, int(n), int(n) * LANES)
    path_shown, path_gone = work.shown[other], work.gone[other]
    shown_weight, gone_weight = work.few_shown, work.few_gone
    for b in range(n):
        for c in range(n):
            at = b * long + c * _LANES
            set_dot(work.weight_shown, b * lines, path_shown, c * lines, shown_weight, at, shown)
            set_dot(work.weight_gone, b * lines, path_gone, c * lines, gone_weight, at, gone)
    seen = ZERO
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        for h in range(first, last):
            b = index(bucket[h])
            seen = max(seen, b + ONE)
            if work.reached[h]:
                _add_bucket(board, h, b, y, sums, wide)
        for h in range(first, last):
            low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
            at = index(bucket[h]) * long
            take(
                sums, index(ALL) * wide, sums, low, sums, high, won, at, shown_weight, at, values,
                h * _LANES, seen,
            )  # fmt: skip
        for h in range(first, last):
            if work.reached[h]:
                _add_bucket(board, h, index(bucket[h]), y, sums, wide)
    half = work.half[0]
    for b in range(n):
        for w in range(n * _LANES):
            work.few_both[b, w] = half * (gone_weight[b, w] - shown_weight[b, w])
        for card in range(index(ALL + 1)):
            at = (b * index(ALL + 1) + card) * _LANES
            set_dot(work.few_both, b * long, sums, card * wide, work.few_rest, at, n)
            add_product(work.cards, at, sums, card * wide, met, b * long, n)
        for w in range(n * _LANES):
            won[b, w] -= met[b, w]
    rest = work.few_rest
    for h in range(index(board.size[0])):
        b = index(bucket[h])
        base = b * index(ALL + 1)
        low = (base + index(board.low[h])) * _LANES
        high = (base + index(board.high[h])) * _LANES
        at = (base + index(ALL)) * _LANES
        add_others(rest, at, rest, low, rest, high, values, h * _LANES, ONE)
        if work.reached[h]:  # his own reach in the other's hands was taken away twice
            same = b * long + b * _LANES
            add_product(y, h * _LANES, gone_weight, same, values, h * _LANES, ONE)
            add_rows(y, h * _LANES, met, same, ONE)
    for b in range(n):
        for c in range(n):
            at = b * long + c * _LANES
            add_product(won, at, path_shown, c * lines, work.total_shown, b * lines, shown)
            add_product(met, at, path_gone, c * lines, work.total_gone, b * lines, gone)


@jit(inner=True)
def _add_bucket(board: Board, h: Any, b: Any, y: Any, sums: Any, wide: Any) -> None:
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    at = b * _LANES
    add_row_to_cards(
        y, h * _LANES, sums, index(ALL) * wide + at, sums, low + at, sums, high + at, ONE
    )


@jit(inline=True)
def value_holdings(
    street: Street, s: int, player: int, board: Board, ties: Ties, work: BoardWork
) -> None:
    """What each holding of a player gets from the start of the last street, and each bucket on
    each of the other's lines: line by line, however many buckets there are."""
    other, bucket = 1 - player, board.bucket[s]
    shown, gone = street.n_shown[other], street.n_gone[other]
    clear(work.sums[0], ALL + 1, shown * LANES)
    clear(work.sums[1], ALL + 1, gone * LANES)
    row, sums, values = work.row[0], work.sums, values_of(s, player, work)
    reach = reach_of(other, s, ties, work.shown, work)
    compare_and_add(
        board, bucket, reach, work.reached, shown, row, sums[0], work.weight_shown,
        work.total_shown, values,
    )  # fmt: skip
    faced = reach_of(other, s, ties, work.gone, work)
    sum_reach(board, bucket, faced, work.reached, gone, row, sums[1])
    half = work.half[0]
    for card in range(index(ALL + 1)):
        for w in range(index(shown) * _LANES):
            sums[0, card, w] *= -half
    take_all(board, bucket, shown, sums[0], work.weight_shown, work.total_shown, values)
    take_all(board, bucket, gone, sums[1], work.weight_gone, work.total_gone, values)
    lines = index(gone)
    for h in range(index(board.size[0])):  # his own reach in the other's hands was taken twice
        if work.reached[h]:
            at = index(bucket[h]) * index(work.total_gone.shape[1])
            set_reach(faced, h, index(bucket[h]), lines, row)
            add_rows(row, ZERO, work.total_gone, at, lines)
            add_dot(work.weight_gone, at, row, ZERO, values, h * _LANES, lines)


@jit(inline=True)
def value_places(
    street: Street, s: int, g: int, player: int, buckets: int, ties: Ties, work: BoardWork
) -> None:
    """Value of every place of the last street to each bucket of a player."""
    other = 1 - player
    pay = street.pay[player, g]
    own = work.tied[s] if ties.restricted >= 0 and not ties.once else work.policy[s]
    for b in range(index(buckets)):
        gain = work.gain[b]
        k = index(len(street.player))
        while k > ZERO:
            k -= ONE
            at = k * _LANES
            if street.player[k] < 0:
                line = index(street.line[other, k])
                if street.folded[k] == NO_FOLD:
                    place = index(street.shown[other, line]) * _LANES
                    for lane in range(_LANES):
                        gain[at + lane] = pay[k, lane] * work.total_shown[b, place + lane]
                else:
                    place = index(street.gone[other, line]) * _LANES
                    for lane in range(_LANES):
                        gain[at + lane] = pay[k, lane] * work.total_gone[b, place + lane]
            else:
                _add_up(street, k, player, own[b], gain)


@jit(inner=True)
def _add_up(street: Street, k: Any, player: Any, own: Any, gain: Any) -> None:
    """Value of a place from those of the places after it."""
    low = index(street.first[k])
    count = index(street.first[k + ONE]) - low
    if street.player[k] == player:
        set_dot(own, low * _LANES, gain, low * _LANES, gain, k * _LANES, count)
    else:
        set_sum(gain, low * _LANES, gain, k * _LANES, count)


@jit(inner=True)
def value_place(
    street: Street, s: Any, g: Any, player: Any, h: Any, own: Any, work: BoardWork
) -> None:
    """Values of all places of an earlier street to one holding."""
    other = 1 - player
    value = work.place
    onward = index(len(street.onward))
    k = index(len(street.player))
    while k > ZERO:
        k -= ONE
        at = k * _LANES
        if street.player[k] >= 0:
            _add_up(street, k, player, own, value)
        elif onward > ZERO and k == index(street.onward[onward - ONE]):
            onward -= ONE
            for lane in range(_LANES):
                value[at + lane] = work.value[s, player, onward, h, lane]
        else:
            place = index(street.gone[other, index(street.line[other, k])]) * _LANES
            for lane in range(_LANES):
                value[at + lane] = street.pay[player, g, k, lane] * work.row[1, place + lane]


@jit
def nothing(values: Any, n: int) -> None:
    for h in range(index(n)):
        for lane in range(_LANES):
            values[h, lane] = 0.0
