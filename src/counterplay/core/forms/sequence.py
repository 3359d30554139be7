"""`SequenceForm`: a two-player game as two treeplexes and a sparse payoff matrix.

A sequence is a player's own actions up to a point. Sequence 0 is the empty one; the sequence that
ends with the action in slot s (counted from the player's first slot) has number s + 1. A plan gives
every sequence its realisation weight, a gradient its payoff.

Full-width kernels (the CFR family, excessive gap, best response, exploitability) are written once
against `FullWidthForm`: two treeplexes and one question, `payoff_gradient`. The sequence form
answers it by a sparse matrix-vector product, Sparbot's models by a dense one; everything after it
is one pass over a treeplex.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter
from counterplay.core.forms.access import answers, question
from counterplay.core.forms.tree import CHANCE, TERMINAL, HistoryTree
from counterplay.core.kernels.jit import ONE, ZERO, index, jit

NO_FLOOR = np.empty(0)


class Treeplex(NamedTuple):
    """Decisions of one player: m information sets, s slots, s + 1 sequences. Parents come first."""

    parent: np.ndarray  # int32[m]: the sequence that leads to the information set
    # int32[m + 1]: its first slot, counted from the player's first; sequence = slot + 1
    first: np.ndarray
    # float64[s] or empty: least behaviour probability of each action (data-biased responses)
    floor: np.ndarray = NO_FLOOR


class FullWidthForm(Protocol):
    """Two players with perfect recall; `one` and `two` are a `Treeplex` or have its fields."""

    @property
    def one(self) -> Any:
        """Player 1's treeplex."""

    @property
    def two(self) -> Any:
        """Player 2's treeplex."""


@question
def payoff_gradient(form: Any, player: Any, plan: Any, out: Any) -> Any:
    """Fills `out`: the payoff of each sequence of `player` against the other's `plan`."""
    raise NotImplementedError


class Side(NamedTuple):
    """One player's half: the treeplex, and payoffs with one row per own sequence."""

    parent: np.ndarray  # int32[m]
    first: np.ndarray  # int32[m + 1]
    row: np.ndarray  # int64[s + 2]: entries of sequence q are row[q] .. row[q + 1] - 1
    column: np.ndarray  # int32[entries]: sequence of the other player
    value: np.ndarray  # float64[entries]: payoff times chance
    floor: np.ndarray = NO_FLOOR  # as in Treeplex

    @property
    def n_sequences(self) -> int:
        return len(self.row) - 1


class SequenceForm(NamedTuple):
    """Both sides; `two` is the negated transpose of `one` when the game is zero-sum."""

    one: Side
    two: Side


def player_infosets(form: Any, player: int) -> tuple[int, int]:
    """The player's information sets are low .. high - 1."""
    low, high = np.searchsorted(form.owner, [player, player + 1])
    return int(low), int(high)


def player_slots(form: Any, player: int) -> slice:
    """The player's part of a slot-indexed array."""
    low, high = player_infosets(form, player)
    return slice(int(form.first[low]), int(form.first[high]))


@jit
def _follow_sequences(
    tree: HistoryTree, player: int, low: int, parent: np.ndarray, sequence: np.ndarray
) -> int:
    """Fills `sequence` (per node) and `parent` (per information set). Returns the first information
    set without perfect recall, or -1."""
    base = tree.first[low]
    parent[:] = -1
    sequence[0] = 0
    for node in range(len(tree.player)):
        here = sequence[node]
        step = 0
        if tree.player[node] == player:
            infoset = tree.row[node]
            if parent[infoset - low] == -1:
                parent[infoset - low] = here
            elif parent[infoset - low] != here:
                return int(infoset)
            here = tree.first[infoset] - base + 1
            step = 1
        for below in range(tree.first_child[node], tree.first_child[node + 1]):
            sequence[below] = here
            here += step
    return -1


class ImperfectRecall(BadGame):
    """A player forgets at an information set."""

    def __init__(self, player: int, infoset: int, name: str) -> None:
        super().__init__(
            f"player {player + 1} has no perfect recall: information set {name} is reached after "
            f"different own actions"
        )
        self.player, self.infoset = player, infoset


def treeplex(tree: HistoryTree, player: int) -> tuple[Treeplex, np.ndarray]:
    """The player's treeplex, and the player's sequence at every node (int32[n]).
    `ImperfectRecall` if the player forgets."""
    low, high = player_infosets(tree, player)
    parent = np.empty(high - low, dtype=np.int32)
    sequence = np.empty(tree.n_nodes, dtype=np.int32)
    bad = _follow_sequences(tree, player, low, parent, sequence)
    if bad >= 0:
        raise ImperfectRecall(player, bad, str(bad))
    return Treeplex(parent, tree.first[low : high + 1] - tree.first[low]), sequence


@jit
def _chance_reach(tree: HistoryTree, reach: np.ndarray) -> None:
    """Fills `reach` with chance's reach probability of each node."""
    reach[0] = 1.0
    for node in range(len(tree.player)):
        low = tree.first_child[node]
        for below in range(low, tree.first_child[node + 1]):
            reach[below] = reach[node]
            if tree.player[node] == CHANCE:
                reach[below] *= tree.chance_probability[
                    tree.chance_first[tree.row[node]] + below - low
                ]


@jit
def _counting_sort(key: np.ndarray, start: np.ndarray, order: np.ndarray, out: np.ndarray) -> None:
    """Fills `out` with `order`, sorted stably by `key`. `start`: zeros, one more than keys."""
    for k in order:
        start[key[k] + 1] += 1
    for q in range(len(start) - 1):
        start[q + 1] += start[q]
    for k in order:
        out[start[key[k]]] = k
        start[key[k]] += 1


@jit
def _merge_entries(
    row_of: np.ndarray, column_of: np.ndarray, value_of: np.ndarray, order: np.ndarray, side: Side
) -> None:
    """Writes entries into `side` in `order` (by row, then column) and adds up those of one row and
    column. `side.row` starts as zeros."""
    last_row, last_column, filled = -1, -1, 0
    for k in order:
        if row_of[k] == last_row and column_of[k] == last_column:
            side.value[filled - 1] += value_of[k]
            continue
        last_row, last_column = row_of[k], column_of[k]
        side.column[filled] = last_column
        side.value[filled] = value_of[k]
        filled += 1
        side.row[last_row + 1] = filled
    for q in range(len(side.row) - 1):
        side.row[q + 1] = max(side.row[q + 1], side.row[q])


def side_from_entries(
    plex: Treeplex, row_of: np.ndarray, column_of: np.ndarray, value_of: np.ndarray, n_columns: int
) -> Side:
    """One player's side from payoff entries in any order; those of one row and column are added."""
    n_rows, n = int(plex.first[-1]) + 1, len(row_of)
    by_column = np.empty(n, dtype=np.int32)
    order = np.empty(n, dtype=np.int32)
    _counting_sort(
        column_of, np.zeros(n_columns + 1, dtype=np.int64), np.arange(n, dtype=np.int32), by_column
    )
    _counting_sort(row_of, np.zeros(n_rows + 1, dtype=np.int64), by_column, order)
    side = Side(
        plex.parent,
        plex.first,
        row=np.zeros(n_rows + 1, dtype=np.int64),
        column=np.empty(n, dtype=np.int32),
        value=np.empty(n, dtype=np.float64),
        floor=plex.floor,
    )
    _merge_entries(row_of, column_of, value_of, order, side)
    filled = int(side.row[-1])
    return side._replace(column=side.column[:filled], value=side.value[:filled])


def sequence_form(tree: HistoryTree) -> SequenceForm:
    """The sequence form of a two-player game with perfect recall."""
    if tree.n_players != 2:
        raise BadParameter(f"the sequence form is for two players; this game has {tree.n_players}")
    terminal = np.flatnonzero(tree.player == TERMINAL)
    reach = np.empty(tree.n_nodes)
    _chance_reach(tree, reach)
    weight = reach[terminal]
    del reach
    plexes, sequences = [], []
    for player in (0, 1):
        plex, sequence = treeplex(tree, player)
        plexes.append(plex)
        sequences.append(sequence[terminal])
    outcome = tree.row[terminal]
    sides = []
    for me, other in ((0, 1), (1, 0)):
        value = weight * tree.payoff[outcome, me]
        keep = np.flatnonzero(value)
        n_columns = int(plexes[other].first[-1]) + 1
        sides.append(
            side_from_entries(
                plexes[me], sequences[me][keep], sequences[other][keep], value[keep], n_columns
            )
        )
    return SequenceForm(*sides)


@jit
def gradient(side: Side, plan: np.ndarray, out: np.ndarray) -> None:
    """Fills `out`: the payoff of each sequence of this side against the other's `plan`."""
    for q in range(index(len(out))):
        total = 0.0
        for k in range(index(side.row[q]), index(side.row[q + ONE])):
            total += side.value[k] * plan[index(side.column[k])]
        out[q] = total


@answers(payoff_gradient, SequenceForm)
def _sparse_gradient(form: Any, player: Any, plan: Any, out: Any) -> Any:
    if player == 0:
        gradient(form.one, plan, out)
    else:
        gradient(form.two, plan, out)


@jit
def plan_from_policy(plex: Treeplex | Side, policy: np.ndarray, plan: np.ndarray) -> None:
    """Fills `plan` from behaviour probabilities; `policy` has the player's own slots."""
    plan[0] = 1.0
    for i in range(index(len(plex.parent))):
        reach = plan[index(plex.parent[i])]
        for slot in range(index(plex.first[i]), index(plex.first[i + ONE])):
            plan[slot + ONE] = reach * policy[slot]


@jit
def add_up_sequences(plex: Treeplex | Side, count: np.ndarray) -> None:
    """Adds to the count of every sequence those of the sequences that continue it."""
    i = index(len(plex.parent))
    while i > ZERO:
        i -= ONE
        for slot in range(index(plex.first[i]), index(plex.first[i + ONE])):
            count[index(plex.parent[i])] += count[slot + ONE]


@jit(inline=True)
def choose_best(
    plex: Treeplex | Side, payoff: np.ndarray, policy: np.ndarray, low: int, high: int
) -> float:
    """Fills `policy` with the best action of slots low .. high - 1, above the floors; its value."""
    best = low
    free = 1.0
    value = 0.0
    for slot in range(low, high):
        policy[slot] = 0.0
        if len(plex.floor) > 0:
            policy[slot] = plex.floor[slot]
            free -= plex.floor[slot]
            value += plex.floor[slot] * payoff[slot + ONE]
        if payoff[slot + ONE] > payoff[best + ONE]:
            best = slot
    free = max(free, 0.0)  # rounding
    policy[best] += free
    return float(value + free * payoff[best + ONE])


@jit
def best_reply(plex: Treeplex | Side, payoff: np.ndarray, policy: np.ndarray) -> float:
    """Turns `payoff` (a gradient) into values of a best response, children first, and fills
    `policy` with it. Returns its value."""
    i = index(len(plex.parent))
    while i > ZERO:
        i -= ONE
        low, high = index(plex.first[i]), index(plex.first[i + ONE])
        payoff[index(plex.parent[i])] += choose_best(plex, payoff, policy, low, high)
    return float(payoff[0])


@jit
def tree_gradient(
    tree: HistoryTree,
    policy: np.ndarray,
    player: int,
    sequence: np.ndarray,
    weight: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fills `out` with the payoff of each sequence of `player` when the others follow `policy`; for
    any number of players.

    `sequence` (of `player`, at every node) comes from `treeplex`; `weight` is a workspace of one
    float per node.
    """
    out[:] = 0.0
    weight[0] = 1.0
    for node in range(len(tree.player)):
        owner, index, low = tree.player[node], tree.row[node], tree.first_child[node]
        if owner == TERMINAL:
            out[sequence[node]] += weight[node] * tree.payoff[index, player]
        for below in range(low, tree.first_child[node + 1]):
            share = 1.0
            if owner == CHANCE:
                share = tree.chance_probability[tree.chance_first[index] + below - low]
            elif owner != player:
                share = policy[tree.first[index] + below - low]
            weight[below] = weight[node] * share


@jit
def tree_value(tree: HistoryTree, policy: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Fills `out[p]` with the expected payoff of player p under `policy`; for any number of
    players, with perfect recall or without."""
    out[:] = 0.0
    weight[0] = 1.0
    for node in range(len(tree.player)):
        owner, index, low = tree.player[node], tree.row[node], tree.first_child[node]
        if owner == TERMINAL:
            for player in range(len(out)):
                out[player] += weight[node] * tree.payoff[index, player]
        for below in range(low, tree.first_child[node + 1]):
            if owner == CHANCE:
                share = tree.chance_probability[tree.chance_first[index] + below - low]
            else:
                share = policy[tree.first[index] + below - low]
            weight[below] = weight[node] * share
