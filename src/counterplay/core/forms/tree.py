"""`HistoryTree`: every history of a game is a node, and the tree is a handful of flat arrays.

Nodes are numbered level by level, so the children of a node are consecutive and every parent
precedes its children. Information sets are numbered player by player, and within a player parents
first. `first[I] + a` is the slot of action `a` at information set `I` in every policy, regret and
strategy-sum array of the project.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms import access
from counterplay.core.forms.access import answers
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import uniform

CHANCE = -1  # `player` of a chance node
TERMINAL = -2  # `player` of a node where the game is over
NO_ACTION = -1  # `passive` of an information set that has no check or call


class HistoryTree(NamedTuple):
    """Dimensions: n nodes, m information sets, d chance distributions, o outcomes, p players."""

    player: np.ndarray  # int8[n]: 0.., CHANCE or TERMINAL
    # int32[n + 1]: children of node h are first_child[h] .. first_child[h + 1] - 1
    first_child: np.ndarray
    # int32[n]: in the table that `player` selects: information sets, chance distributions, outcomes
    row: np.ndarray
    first: np.ndarray  # int32[m + 1]: slots of information set I are first[I] .. first[I + 1] - 1
    owner: np.ndarray  # int8[m]: the player who acts there
    passive: np.ndarray  # int16[m]: the action that checks or calls, or NO_ACTION
    chance_first: np.ndarray  # int32[d + 1]: entries of distribution d
    chance_probability: np.ndarray  # float64[sum of sizes]
    # float64[sum of sizes]: running sums within a distribution, the last is 1
    chance_cumulative: np.ndarray
    # bool[d]: all entries are equal, so one multiplication draws from it
    chance_uniform: np.ndarray
    payoff: np.ndarray  # float64[o, p]: the distinct payoff vectors

    @property
    def n_nodes(self) -> int:
        return len(self.player)

    @property
    def n_infosets(self) -> int:
        return len(self.owner)

    @property
    def n_slots(self) -> int:
        return int(self.first[-1])

    @property
    def n_players(self) -> int:
        return int(self.payoff.shape[1])


def level_bounds(tree: HistoryTree) -> list[int]:
    """First node of every level, and the number of nodes last."""
    bounds = [0, 1]
    while bounds[-1] < tree.n_nodes:
        bounds.append(int(tree.first_child[bounds[-1]]))
    return bounds


def parents(tree: HistoryTree, nodes: np.ndarray) -> np.ndarray:
    """Parents of `nodes` (none of them the root), by search in the sorted `first_child`."""
    return np.searchsorted(tree.first_child[:-1], nodes, side="right") - 1


class Labels(NamedTuple):
    """Names for display: one per information set, one per slot."""

    infoset: list[str]
    action: list[str]


@dataclass
class Distributions:
    """The distinct chance distributions, in order of first use."""

    row_of: dict[Hashable, int] = field(default_factory=dict)
    rows: list[np.ndarray] = field(default_factory=list)

    def row(self, key: Hashable, probabilities: np.ndarray) -> int:
        if key not in self.row_of:
            self.row_of[key] = len(self.rows)
            self.rows.append(probabilities)
        return self.row_of[key]

    def arrays(self) -> dict[str, np.ndarray]:
        cumulative = [np.cumsum(row) for row in self.rows]
        for row, probabilities in zip(cumulative, self.rows, strict=True):
            row[np.flatnonzero(probabilities)[-1] :] = 1.0  # rounding draws nothing impossible
        empty = [np.empty(0)]
        return {
            "chance_first": offsets([len(row) for row in self.rows]),
            "chance_probability": np.concatenate(self.rows or empty),
            "chance_cumulative": np.concatenate(cumulative or empty),
            "chance_uniform": np.array(
                [bool(np.all(row == row[0])) for row in self.rows], dtype=np.bool_
            ),
        }


def offsets(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """int32 running sum that starts at 0."""
    result = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=result[1:])
    return result


@jit
def draw_chance(form: HistoryTree, node: int, rng: np.ndarray) -> int:
    """Draws a child of chance node `node`."""
    row = index(form.row[node])
    low = index(form.chance_first[row])
    count = index(form.chance_first[row + ONE]) - low
    u = uniform(rng)
    first = index(form.first_child[node])
    if form.chance_uniform[row]:
        return first + min(index(u * count), count - ONE)
    below, above = ZERO, count - ONE  # the first entry whose running sum exceeds u
    while below < above:
        middle = (below + above) >> ONE
        if u < form.chance_cumulative[low + middle]:
            above = middle
        else:
            below = middle + ONE
    return first + below


@answers(access.chance_buffer, HistoryTree)
def _chance_buffer(form: Any) -> Any:
    return np.empty(0, dtype=np.int32)


@answers(access.chance_workspace, HistoryTree)
def _chance_on(form: Any, buffer: Any) -> Any:
    return buffer


@answers(access.start, HistoryTree)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    node = ZERO
    while form.player[node] == CHANCE:
        node = draw_chance(form, node, rng)
    return node


@answers(access.child, HistoryTree)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    below = index(form.first_child[node]) + action
    while form.player[below] == CHANCE:
        below = draw_chance(form, below, rng)
    return below


@answers(access.move, HistoryTree)
def _move(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return index(form.first_child[node]) + action


@answers(access.settle, HistoryTree)
def _settle(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    while form.player[node] == CHANCE:
        node = draw_chance(form, node, rng)
    return node


@answers(access.player_at, HistoryTree)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return form.player[node]


@answers(access.forced_at, HistoryTree)
def _forced_at(form: Any, chance: Any, node: Any) -> Any:
    return form.first_child[node + ONE] - form.first_child[node] == 1


@answers(access.infoset_at, HistoryTree)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    return index(form.row[node])


@answers(access.utility, HistoryTree)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    return form.payoff[index(form.row[node]), index(player)]
