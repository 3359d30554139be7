"""One iteration of public chance sampling: the kernels of `public.py`.

The walk goes down street by street in groups of lanes (`holdem/walk/shape.py`). `settle_street`
makes policies and paths from the regrets, `end_last_street` and `end_street` come back with values
and add to the tables. Everything is a number for each bucket or holding, place and lane.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.holdem.betting import NO_FOLD
from counterplay.holdem.cards import N_CARDS, N_HOLDINGS
from counterplay.holdem.walk.board import Board
from counterplay.holdem.walk.shape import LANES, Street
from counterplay.holdem.walk.showdown import (
    ALL,
    Reach,
    clear,
    compare_and_add,
    mark_reached,
    set_reach,
    sum_reach,
    take_all,
)
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.lanes import (
    add_dot,
    add_others,
    add_product,
    add_row_to_cards,
    add_rows,
    set_dot,
    set_others,
    set_product,
    set_sum,
    take,
)

_LANES, _TWO = index(LANES), index(2)
FEW = 20  # buckets on the last street up to which `_value_few` is faster
MODEL = 2  # where the model's reach and paths stand, behind those of both players


class Rows(NamedTuple):
    """Where information sets stand, of a form."""

    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]


class Ties(NamedTuple):
    """What ties a player to a model (`forms/restricted.py`). Without a model `restricted` is -1."""

    restricted: int
    once: bool  # one coin for the whole hand; otherwise one at each information set
    share: np.ndarray  # [2]: 1 - p and p of the one coin
    fixed: np.ndarray  # float64[s]: σ_fix
    confidence: np.ndarray  # float64[m]: Pconf(I), of a coin at each


class BoardWork(NamedTuple):
    """Numbers of one walk: s streets, n holdings, b buckets, k places, w = lines times lanes."""

    y: np.ndarray  # [s, 3, n, LANES]: reach at the start of the group
    path: np.ndarray  # [s, 3, b, w]: of each line, from the start
    policy: np.ndarray  # [s, b, k * LANES]: σ of the action that leads to a place
    # the same with the model's share; or σ_fix where there is one coin
    tied: np.ndarray
    value: np.ndarray  # [s, 2, ends, n, LANES]: of ends that go on
    root: np.ndarray  # [2, n, LANES]: values at the start of the group of the second street
    shown: np.ndarray  # [3, b, w]: paths of lines with a showdown
    gone: np.ndarray  # [3, b, w]: of those with a fold
    weight_shown: np.ndarray  # [b, w]: payoff times own path, summed over showdowns of a line
    weight_gone: np.ndarray  # [b, w]: the same of folds
    total_shown: np.ndarray  # [b, w]: what a bucket wins at showdowns
    total_gone: np.ndarray  # [b, w]: the same of folds
    gain: np.ndarray  # [b, k * LANES]: value of each place to a bucket
    held: np.ndarray  # [b, LANES]: own reach of a bucket
    row: np.ndarray  # [3, w]
    sums: np.ndarray  # [2, 53, w]: of showdowns and folds
    place: np.ndarray  # [k * LANES]: values of one holding
    reached: np.ndarray  # bool[n]
    cards: np.ndarray  # [f, 53 * LANES]: half the holdings of each bucket and card, all behind them
    few_sums: np.ndarray  # [53, f * LANES]: the other's reach by card and bucket, f at most
    few_won: np.ndarray  # [f, f * LANES]: what each bucket wins from each
    few_met: np.ndarray  # [f, f * LANES]: the reach of each that shares no card
    few_shown: np.ndarray  # [f, f * LANES]: payoffs times paths of both at showdowns
    few_gone: np.ndarray  # [f, f * LANES]: the same of folds
    few_both: np.ndarray  # [f, f * LANES]
    few_rest: np.ndarray  # [f, 53 * LANES]
    half: np.ndarray  # [1]
    at: np.ndarray  # int64[s]: the end of each street that the walk is behind


def new_work(streets: tuple[Street, ...], counts: tuple[int, ...], dtype: Any) -> BoardWork:
    """Room for walks over `streets` with so many buckets on each."""
    s, n, b = len(streets), N_HOLDINGS, min(max(counts), N_HOLDINGS)
    f = min(b, FEW)
    places = max(len(street.player) for street in streets) * LANES
    lines = max(int(street.n_lines.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets)
    shapes: dict[str, tuple[int, ...]] = {
        "y": (s, 3, n, LANES),
        "path": (s, 3, b, lines),
        "policy": (s, b, places),
        "tied": (s, b, places),
        "value": (s, 2, ends, n, LANES),
        "root": (2, n, LANES),
        "shown": (3, b, lines),
        "gone": (3, b, lines),
        "weight_shown": (b, lines),
        "weight_gone": (b, lines),
        "total_shown": (b, lines),
        "total_gone": (b, lines),
        "gain": (b, places),
        "held": (b, LANES),
        "row": (3, lines),
        "cards": (f, (ALL + 1) * LANES),
        "few_sums": (ALL + 1, f * LANES),
        "few_won": (f, f * LANES),
        "few_met": (f, f * LANES),
        "few_shown": (f, f * LANES),
        "few_gone": (f, f * LANES),
        "few_both": (f, f * LANES),
        "few_rest": (f, (ALL + 1) * LANES),
        "sums": (2, N_CARDS + 1, lines),
        "place": (places,),
    }
    arrays = {name: np.zeros(shape, dtype=dtype) for name, shape in shapes.items()}
    return BoardWork(
        **arrays,
        reached=np.zeros(n, dtype=np.bool_),
        half=np.array([0.5], dtype=dtype),
        at=np.zeros(s, dtype=np.int64),
    )


@jit
def _match_regrets(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    regret: Any,
    ties: Ties,
    work: BoardWork,
) -> None:
    """σ of every bucket at every place of a group, and the same tied to the model."""
    policy, tied = work.policy[s], work.tied[s]
    buckets = index(board.n_buckets[s])
    for k in range(index(len(street.player))):
        actor = street.player[k]
        if actor < 0:
            continue
        low, high = index(street.first[k]), index(street.first[k + ONE])
        count = high - low
        for lane in range(_LANES):
            node = street.node[g, k, lane]
            if node < 0:
                for b in range(buckets):
                    for c in range(low, high):
                        policy[b, c * _LANES + lane] = tied[b, c * _LANES + lane] = 0.0
                continue
            row = index(rows.first_row[index(node)])
            start = index(rows.first[row])
            for b in range(buckets):
                bucket = index(board.name[s, b])
                slot = start + bucket * count
                at = low * _LANES + lane
                first = max(regret[slot], 0.0)
                second = max(regret[slot + ONE], 0.0) if count > ONE else 0.0
                third = max(regret[slot + _TWO], 0.0) if count > _TWO else 0.0
                total = first + second + third
                scale = 1.0 / total if total > 0.0 else 0.0
                even = 0.0 if total > 0.0 else 1.0 / count
                policy[b, at] = first * scale + even
                if count > ONE:
                    policy[b, at + _LANES] = second * scale + even
                if count > _TWO:
                    policy[b, at + _TWO * _LANES] = third * scale + even
                if actor == ties.restricted:
                    trust = 1.0 if ties.once else ties.confidence[row + bucket]
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        tied[b, c] = trust * ties.fixed[slot + a] + (1.0 - trust) * policy[b, c]
                elif ties.restricted >= 0:
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        tied[b, c] = policy[b, c]


@jit
def settle_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    regret: Any,
    ties: Ties,
    work: BoardWork,
) -> None:
    """Policies and paths of a group of a street."""
    _match_regrets(street, s, g, board, rows, regret, ties, work)
    path = work.path[s]
    own = work.tied[s] if ties.restricted >= 0 and not ties.once else work.policy[s]
    fixed = work.tied[s]
    for b in range(index(board.n_buckets[s])):
        for lane in range(_LANES):
            path[0, b, lane] = path[1, b, lane] = path[2, b, lane] = 1.0
        for k in range(index(len(street.player))):
            actor = street.player[k]
            if actor < 0:
                continue
            before = index(street.line[actor, k]) * _LANES
            for c in range(index(street.first[k]), index(street.first[k + ONE])):
                after = index(street.line[actor, c]) * _LANES
                for lane in range(_LANES):
                    path[actor, b, after + lane] = (
                        path[actor, b, before + lane] * own[b, c * _LANES + lane]
                    )
                if ties.once and actor == ties.restricted:
                    for lane in range(_LANES):
                        path[MODEL, b, after + lane] = (
                            path[MODEL, b, before + lane] * fixed[b, c * _LANES + lane]
                        )


@jit
def go_on(street: Street, s: int, end: int, board: Board, ties: Ties, work: BoardWork) -> None:
    """Reach at the start of the next street behind the end number `end`, in the same lanes."""
    place = index(street.onward[end])
    for who in range(3):
        if who == MODEL and not ties.once:
            continue
        player = ties.restricted if who == MODEL else who
        line = index(street.line[player, place]) * _LANES
        before, after, path = work.y[s, who], work.y[s + 1, who], work.path[s, who]
        wide = index(path.shape[1])
        for h in range(index(board.size[0])):
            at = index(board.bucket[s, h]) * wide + line
            set_product(before, h * _LANES, path, at, after, h * _LANES, ONE)


@jit
def go_on_apart(street: Street, g: int, board: Board, ties: Ties, work: BoardWork) -> None:
    """The same after the first street, where every end has a lane: those of group g."""
    for who in range(3):
        if who == MODEL and not ties.once:
            continue
        player = ties.restricted if who == MODEL else who
        after, path = work.y[1, who], work.path[0, who]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                line = index(street.line[player, index(street.onward[end])]) * _LANES
                for h in range(index(board.size[0])):
                    after[h, lane] = path[index(board.bucket[0, h]), line]
            else:
                for h in range(index(board.size[0])):
                    after[h, lane] = 0.0


@jit
def _pick_lines(
    street: Street, who: int, player: int, buckets: int, path: Any, work: BoardWork
) -> None:
    """Paths of a player's lines with showdowns, and with folds, next to each other."""
    for b in range(index(buckets)):
        for line in range(index(street.n_lines[player])):
            shown, gone = street.shown[player, line], street.gone[player, line]
            if shown >= 0:
                for lane in range(_LANES):
                    work.shown[who, b, index(shown) * _LANES + lane] = path[b, line * _LANES + lane]
            if gone >= 0:
                for lane in range(_LANES):
                    work.gone[who, b, index(gone) * _LANES + lane] = path[b, line * _LANES + lane]


@jit
def _reach_of(player: int, s: int, ties: Ties, paths: Any, work: BoardWork) -> Reach:
    """What the other player has to reckon with."""
    return Reach(
        work.y[s, player],
        paths[player],
        work.y[s, MODEL],
        paths[MODEL],
        ties.share,
        ties.once and player == ties.restricted,
    )


@jit
def _weigh_ends(
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
def _values_of(s: int, player: int, work: BoardWork) -> Any:
    """Where the values at the start of a group of street s belong."""
    return work.value[s - 1, player, work.at[s - 1]] if s > 1 else work.root[player]


@jit
def _count_cards(s: int, board: Board, work: BoardWork) -> None:
    """How many holdings of each bucket have each card: what `_value_few` needs of a board."""
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


@jit
def _value_few(street: Street, s: int, player: int, board: Board, work: BoardWork) -> None:
    """The same as `_value_holdings` with few buckets: by the other's bucket instead of his line.

    With P[h, c] the reach in bucket c that a holding h beats less what beats it, its value is the
    sum over c of T[b, c] P[h, c], where T[b, c] is the sum over ends of payoff, own path and the
    other's path. Buckets need no more than the sums of P over their holdings.
    """
    other, bucket, n = 1 - player, board.bucket[s], index(board.n_buckets[s])
    shown, gone = index(street.n_shown[other]), index(street.n_gone[other])
    sums, won, met = work.few_sums, work.few_won, work.few_met
    values, y = _values_of(s, player, work), work.y[s, other]
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


@jit
def _add_bucket(board: Board, h: Any, b: Any, y: Any, sums: Any, wide: Any) -> None:
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    at = b * _LANES
    add_row_to_cards(
        y, h * _LANES, sums, index(ALL) * wide + at, sums, low + at, sums, high + at, ONE
    )


@jit
def _value_holdings(
    street: Street, s: int, player: int, board: Board, ties: Ties, work: BoardWork
) -> None:
    """What each holding of a player gets from the start of the last street, and each bucket on
    each of the other's lines: line by line, however many buckets there are."""
    other, bucket = 1 - player, board.bucket[s]
    shown, gone = street.n_shown[other], street.n_gone[other]
    clear(work.sums[0], ALL + 1, shown * LANES)
    clear(work.sums[1], ALL + 1, gone * LANES)
    row, sums, values = work.row[0], work.sums, _values_of(s, player, work)
    reach = _reach_of(other, s, ties, work.shown, work)
    compare_and_add(
        board, bucket, reach, work.reached, shown, row, sums[0], work.weight_shown,
        work.total_shown, values,
    )  # fmt: skip
    faced = _reach_of(other, s, ties, work.gone, work)
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


@jit
def _value_places(
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


@jit
def _add_up(street: Street, k: Any, player: Any, own: Any, gain: Any) -> None:
    """Value of a place from those of the places after it."""
    low = index(street.first[k])
    count = index(street.first[k + ONE]) - low
    if street.player[k] == player:
        set_dot(own, low * _LANES, gain, low * _LANES, gain, k * _LANES, count)
    else:
        set_sum(gain, low * _LANES, gain, k * _LANES, count)


@jit
def _learn(
    street: Street,
    s: int,
    g: int,
    player: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """Regrets and strategy sums of one player at all places of a group."""
    buckets = index(board.n_buckets[s])
    for b in range(buckets):
        for lane in range(_LANES):
            work.held[b, lane] = 0.0
    y = work.y[s, player]
    for h in range(index(board.size[0])):
        add_rows(y, h * _LANES, work.held, index(board.bucket[s, h]) * _LANES, ONE)
    biased = player == ties.restricted and not ties.once
    regret, strategy_sum = tables.regret, tables.strategy_sum
    for k in range(index(len(street.player))):
        if street.player[k] != player:
            continue
        low = index(street.first[k])
        count = index(street.first[k + ONE]) - low
        line = index(street.line[player, k]) * _LANES
        for lane in range(_LANES):
            node = street.node[g, k, lane]
            if node < 0:
                continue
            row = index(rows.first_row[index(node)])
            start = index(rows.first[row])
            for b in range(buckets):
                bucket = index(board.name[s, b])
                slot = start + bucket * count
                gain, policy = work.gain[b], work.policy[s, b]
                at = low * _LANES + lane
                mean = policy[at] * gain[at]
                if count > ONE:
                    mean += policy[at + _LANES] * gain[at + _LANES]
                if count > _TWO:
                    mean += policy[at + _TWO * _LANES] * gain[at + _TWO * _LANES]
                free = regrets * (1.0 - ties.confidence[row + bucket]) if biased else regrets
                weight = averages * work.held[b, lane] * work.path[s, player, b, line + lane]
                for a in range(count):
                    c = at + a * _LANES
                    regret[slot + a] += free * (gain[c] - mean)
                    strategy_sum[slot + a] += weight * policy[c]


@jit
def end_last_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """Values of both players at the start of a group of the last street; its tables."""
    buckets, n = int(board.n_buckets[s]), int(board.size[0])
    for who in range(3):
        if who < MODEL or ties.once:
            player = ties.restricted if who == MODEL else who
            _pick_lines(street, who, player, buckets, work.path[s, who], work)
    for player in range(2):
        other = 1 - player
        reach = _reach_of(other, s, ties, work.shown, work)
        _nothing(_values_of(s, player, work), n)
        if not mark_reached(reach, n, work.reached):
            clear(work.gain, buckets, len(work.place))
        else:
            _weigh_ends(street, s, g, player, buckets, work.path[s, player], work)
            if buckets <= FEW and not ties.once:
                _value_few(street, s, player, board, work)
            else:
                _value_holdings(street, s, player, board, ties, work)
            _value_places(street, s, g, player, buckets, ties, work)
        _learn(street, s, g, player, board, rows, tables, ties, regrets, averages, work)


@jit
def _nothing(values: Any, n: int) -> None:
    for h in range(index(n)):
        for lane in range(_LANES):
            values[h, lane] = 0.0


@jit
def end_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """The same of an earlier street, from the values of its ends that go on and of its folds."""
    n, buckets = int(board.size[0]), int(board.n_buckets[s])
    bucket = board.bucket[s]
    own = work.tied[s] if ties.restricted >= 0 and not ties.once else work.policy[s]
    places = index(len(street.player))
    for who in range(3):
        if who < MODEL or ties.once:
            player = ties.restricted if who == MODEL else who
            _pick_lines(street, who, player, buckets, work.path[s, who], work)
    for player in range(2):
        other = 1 - player
        gone = street.n_gone[other]
        folds = _reach_of(other, s, ties, work.gone, work)
        mark_reached(folds, n, work.reached)
        clear(work.sums[1], ALL + 1, gone * LANES)
        sum_reach(board, bucket, folds, work.reached, gone, work.row[0], work.sums[1])
        clear(work.gain, buckets, len(work.place))
        values = _values_of(s, player, work)
        sums, row, lines = work.sums[1], work.row[1], index(gone)
        wide = index(sums.shape[1])
        for h in range(index(n)):
            b = index(bucket[h])
            low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
            set_others(sums, index(ALL) * wide, sums, low, sums, high, row, ZERO, lines)
            if work.reached[h]:
                set_reach(folds, h, b, lines, work.row[0])
                add_rows(work.row[0], ZERO, row, ZERO, lines)
            _value_place(street, s, g, player, h, own[b], work)
            add_rows(work.place, ZERO, work.gain, b * index(work.gain.shape[1]), places)
            for lane in range(_LANES):
                values[h, lane] = work.place[lane]
        _learn(street, s, g, player, board, rows, tables, ties, regrets, averages, work)


@jit
def _value_place(
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
def _hand_up_apart(street: Street, g: int, n: int, work: BoardWork) -> None:
    """Values of group g of the second street, to the ends of the first, one in each lane."""
    for player in range(2):
        root = work.root[player]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                for h in range(index(n)):
                    work.value[0, player, end, h, 0] = root[h, lane]


@jit
def walk_board(
    streets: Any,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """All betting on one board: both players' regrets, times `regrets`, and strategy sums, times
    `averages`. The four streets are written out: to choose among them takes long to compile."""
    first, flop, turn, river = streets
    n = int(board.size[0])
    for h in range(index(n)):
        for lane in range(_LANES):
            work.y[0, 0, h, lane] = work.y[0, 1, h, lane] = work.y[0, 2, h, lane] = 1.0
    if board.n_buckets[3] <= FEW:
        _count_cards(3, board, work)
    regret = tables.regret
    settle_street(first, 0, 0, board, rows, regret, ties, work)
    for g in range(len(flop.node)):
        go_on_apart(first, g, board, ties, work)
        settle_street(flop, 1, g, board, rows, regret, ties, work)
        for a in range(len(flop.onward)):
            work.at[1] = a
            here = g * len(flop.onward) + a
            go_on(flop, 1, a, board, ties, work)
            settle_street(turn, 2, here, board, rows, regret, ties, work)
            for b in range(len(turn.onward)):
                work.at[2] = b
                below = here * len(turn.onward) + b
                go_on(turn, 2, b, board, ties, work)
                settle_street(river, 3, below, board, rows, regret, ties, work)
                end_last_street(river, 3, below, board, rows, tables, ties, regrets, averages, work)
            end_street(turn, 2, here, board, rows, tables, ties, regrets, averages, work)
        end_street(flop, 1, g, board, rows, tables, ties, regrets, averages, work)
        _hand_up_apart(first, g, n, work)
    end_street(first, 0, 0, board, rows, tables, ties, regrets, averages, work)
