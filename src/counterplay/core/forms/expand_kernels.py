"""Kernels that build the tree of compiled rules (`expand.py`).

`expand_histories` plays every history depth first, so that it holds the states of one history only,
and discovers the information sets by their keys. A depth-first search meets the nodes of a level in
the same order as a breadth-first search, so `order_by_level` only has to move each node to its
level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.compiled import COUNT, KNOWN, PASSIVE, RAW, SHARE, WHO
from counterplay.core.forms.infoset_table import (
    PROBLEM,
    SETS,
    SETS_LIMIT,
    InfosetTable,
    entry_infoset,
    find_or_add,
)
from counterplay.core.forms.rules_form import RulesForm, RulesWorkspace, key_at, take_step
from counterplay.core.forms.tree import CHANCE, TERMINAL
from counterplay.core.kernels.jit import ONE, ZERO, index, jit

#: Fields of `at`: nodes so far, the level and action of the next one, and whether all are done.
NODES, LEVEL, ACTION, DONE = (index(k) for k in range(4))
#: Two histories of one information set have different numbers of actions; besides `PROBLEMS`.
UNEVEN = 100
_WHO, _COUNT, _KNOWN = index(WHO), index(COUNT), index(KNOWN)
_A, _B, _32 = index(0x9E3779B97F4A7C15), index(0xD1342543DE82EF95), index(32)
_MINUS_ZERO = index(1 << 63)


class HistorySearch(NamedTuple):
    """The histories so far: n nodes depth first, l levels, m information sets, o outcomes."""

    at: np.ndarray  # int64[4]
    next: np.ndarray  # int64[l]: the next action at each level of the current history
    actions: np.ndarray  # int64[l]: how many there are at each
    width: np.ndarray  # int64[l]: nodes of each level
    player: np.ndarray  # int8[n]: as in `HistoryTree`
    row: np.ndarray  # int32[n]: information set, distribution or outcome in order of discovery
    level: np.ndarray  # int32[m]: the level where an information set was met first
    known: np.ndarray  # int64[m, k]: what its player knows
    passive: np.ndarray  # int16[m]
    payoff: np.ndarray  # float64[o, p]


@jit(inline=True)
def _numbered(table: Any, low: int, high: int, count: int) -> int:
    return entry_infoset(find_or_add(table, low, high, count))


@jit(inline=True)
def _mixed(low: int, high: int, word: int) -> tuple[int, int]:
    """The hash with one more word; -0.0 counts as 0.0."""
    word = ZERO if word == _MINUS_ZERO else word
    low = (low ^ word) * _A
    low ^= low >> _32
    high = (high + word) * _B + low
    return low, high ^ (high >> _32)


@jit(inline=True)
def _has_room(
    chance: RulesWorkspace, outcomes: InfosetTable, search: HistorySearch, most: int
) -> bool:
    return (
        index(search.at[NODES]) < most
        and index(search.at[LEVEL]) + ONE < index(len(search.next))
        and chance.size[SETS] < chance.size[SETS_LIMIT]
        and outcomes.size[SETS] < outcomes.size[SETS_LIMIT]
    )


@jit
def expand_histories(
    form: RulesForm,
    chance: RulesWorkspace,
    bits: np.ndarray,
    tables: tuple[InfosetTable, InfosetTable],
    search: HistorySearch,
    is_uniform: bool,
    most: int,
) -> None:
    """Plays until all histories are done, there are `most` nodes, an array is full or the rules
    have an error (`chance.size[PROBLEM]`). `bits`: `chance.payoff` as whole numbers. `tables`: the
    distributions of chance, and the outcomes. Changes all but the form."""
    shares, outcomes = tables
    rng = chance.slot  # not drawn from
    n_players, n_known = index(chance.payoff.shape[1]), index(search.known.shape[1])
    while _has_room(chance, outcomes, search, most):
        level, node = index(search.at[LEVEL]), index(search.at[NODES])
        above = level - ONE if level > ZERO else ZERO
        take_step(form, chance, above, level, search.at[ACTION], RAW, rng)
        who, count = chance.facts[level, _WHO], index(chance.facts[level, _COUNT])
        low, high = ZERO, ZERO
        if who == TERMINAL:
            if count > ZERO:
                chance.size[PROBLEM] = count
                return
            for k in range(n_players):
                low, high = _mixed(low, high, bits[level, k])
            before = index(outcomes.size[SETS])
            row = _numbered(outcomes, low, high, ONE)
            if row == before:
                for k in range(n_players):
                    search.payoff[row, k] = chance.payoff[level, k]
        elif who == CHANCE:
            low = count
            if not is_uniform:
                for k in range(count):
                    take_step(form, chance, level, level, np.int64(k), SHARE, rng)
                    low, high = _mixed(low, high, bits[level, ZERO])
            if index(shares.size[SETS]) == index(shares.size[SETS_LIMIT]):
                return
            row = _numbered(shares, low, high, count)
        else:
            before = index(chance.size[SETS])
            low, high = key_at(chance, level)
            row = _numbered(chance, low, high, count)
            if row == before:
                search.level[row] = level
                for k in range(n_known):
                    search.known[row, k] = chance.facts[level, _KNOWN + k]
                take_step(form, chance, level, level, 0, PASSIVE, rng)
                search.passive[row] = np.int16(chance.payoff[level, ZERO])
            elif index(chance.first[row + ONE]) - index(chance.first[row]) != count:
                chance.size[PROBLEM] = UNEVEN
            if chance.size[PROBLEM] != 0:
                return
        search.player[node] = who
        search.row[node] = row
        search.width[level] += 1
        search.next[level] = 0
        search.actions[level] = count
        search.at[NODES] += 1
        while search.next[level] == search.actions[level]:  # to the next node, deeper or back
            if level == ZERO:
                search.at[DONE] = 1
                return
            level -= ONE
        search.at[ACTION] = search.next[level]
        search.next[level] += 1
        search.at[LEVEL] = level + ONE


class LevelOrder(NamedTuple):
    """The nodes by level: n nodes, l levels, m information sets, d distributions, o outcomes."""

    player: np.ndarray  # as in `HistoryTree`
    first_child: np.ndarray
    row: np.ndarray
    next: np.ndarray  # int64[l + 1]: the number of the next node of each level
    left: np.ndarray  # int64[l]: children still to come in the current history
    infoset: np.ndarray  # int32[m]: the first node of each
    chance: np.ndarray  # int32[d]
    outcome: np.ndarray  # int32[o]


@jit
def order_by_level(
    search: HistorySearch, sets: np.ndarray, shares: np.ndarray, ordered: LevelOrder
) -> None:
    """Numbers the nodes level by level. `sets`, `shares`: `first` of information sets and
    distributions. Fills `ordered`."""
    level = ZERO
    for node in range(index(search.at[NODES])):
        who, row = search.player[node], index(search.row[node])
        number = index(ordered.next[level])
        ordered.next[level] += 1
        ordered.player[number] = who
        ordered.row[number] = row
        ordered.first_child[number] = ordered.next[level + ONE]
        here = np.int32(number)
        if who >= 0:
            ordered.infoset[row] = min(ordered.infoset[row], here)
            count = np.int64(sets[row + ONE]) - np.int64(sets[row])
        elif who == CHANCE:
            ordered.chance[row] = min(ordered.chance[row], here)
            count = np.int64(shares[row + ONE]) - np.int64(shares[row])
        else:
            ordered.outcome[row] = min(ordered.outcome[row], here)
            count = np.int64(0)
        if count > 0:
            ordered.left[level] = count - 1
            level += ONE
            continue
        while level > ZERO and ordered.left[level - ONE] == 0:
            level -= ONE
        if level > ZERO:
            ordered.left[level - ONE] -= 1


@jit
def number_rows(
    player: np.ndarray, row: np.ndarray, sets: np.ndarray, shares: np.ndarray, outcomes: np.ndarray
) -> None:
    """Replaces each number in `row` by its rank in the order of its table."""
    for node in range(index(len(row))):
        old = index(row[node])
        if player[node] >= 0:
            row[node] = sets[old]
        elif player[node] == CHANCE:
            row[node] = shares[old]
        else:
            row[node] = outcomes[old]
