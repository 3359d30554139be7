"""Monte-Carlo tree search with UCT on information sets (Section 3.2.1, Eq 2).

Symbols: v_a → `value`, n_a → `visits`, n_p → the sum of `visits` over the information set, kept in `total`.
Selection by Eq 2; expansion adds the first game node of a history that is not in memory yet; from there the simulation policy
plays: "on-policy" (Eq 2 again, as in the paper), "random", or "call" (everybody checks or calls). Backpropagation updates every
information set on the history. The policy is the share of visits. Deviations: none. An action never tried comes first,
at random among those.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.access import child, infoset_at, player_at, start, utility
from counterplay.forms.game import Game
from counterplay.forms.tree import NO_ACTION
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.rng import uniform
from counterplay.solvers.base import SamplingSolver, one_of, real

SIMULATIONS = ("on-policy", "random", "call")
ON_POLICY, RANDOM, CALL = range(3)


class Tables(NamedTuple):
    """What is learned: s slots, m information sets, n nodes."""

    value: np.ndarray  # float64[s]: average reward of the acting player
    visits: np.ndarray  # int64[s]
    total: np.ndarray  # int64[m]
    in_tree: np.ndarray  # uint8[n]: expanded game nodes; empty when simulations are on-policy and it makes no difference


class Path(NamedTuple):
    """Scratch for one history: d decisions."""

    slot: np.ndarray  # int64[d]
    infoset: np.ndarray  # int64[d]
    player: np.ndarray  # int8[d]


@jit(inline=True)
def select_uct(tables: Tables, infoset: int, first: int, count: int, c: float, rng: np.ndarray) -> int:
    """Eq 2. Untried actions have an infinite bound; among several of them one is drawn."""
    untried = ZERO
    for a in range(count):
        if tables.visits[first + a] == 0:
            untried += ONE
    if untried > ZERO:
        skip = ZERO if untried == ONE else min(index(uniform(rng) * untried), untried - ONE)
        for a in range(count):
            if tables.visits[first + a] == 0:
                if skip == ZERO:
                    return a
                skip -= ONE
    best = ZERO
    best_bound = -np.inf
    spread = c * sqrt(log(float(tables.total[infoset])))
    for a in range(count):
        bound = tables.value[first + a] + spread / sqrt(float(tables.visits[first + a]))
        if bound > best_bound:
            best = a
            best_bound = bound
    return best


@jit
def tree_search(
    form: Any, hand: np.ndarray, tables: Tables, path: Path, rng: np.ndarray, n: int, c: float, simulation: int
) -> int:
    """n simulated games. Changes `tables`, `path` and `rng`; returns the nodes touched."""
    touched = ZERO
    for _ in range(n):
        node = start(form, hand, rng)
        player = player_at(form, hand, node)
        selecting = True
        k = ZERO
        while player >= 0:
            infoset = infoset_at(form, hand, node)
            first = index(form.first[infoset])
            count = index(form.first[infoset + ONE]) - first
            if simulation != ON_POLICY and selecting and tables.in_tree[node] == 0:
                tables.in_tree[node] = 1  # expansion
                selecting = False
            if selecting:
                action = select_uct(tables, infoset, first, count, c, rng)
            elif simulation == RANDOM:
                action = min(index(uniform(rng) * count), count - ONE)
            else:
                action = index(form.passive[infoset])
            path.slot[k] = first + action
            path.infoset[k] = infoset
            path.player[k] = player
            k += ONE
            node = child(form, hand, node, action, rng)
            player = player_at(form, hand, node)
        touched += k + ONE
        for j in range(k):  # backpropagation
            slot = index(path.slot[j])
            tables.total[index(path.infoset[j])] += 1
            tables.visits[slot] += 1
            reward = utility(form, hand, node, path.player[j])
            tables.value[slot] += (reward - tables.value[slot]) / tables.visits[slot]
    return int(touched)


class TreeSearch(SamplingSolver):
    """`c`: exploration (the paper: 2 in Kuhn, 17 in hold'em). `simulation`: on-policy, random or call."""

    name = "mcts"
    summary = "Monte-Carlo tree search (UCT on information sets)"

    def __init__(self, game: Game, seed: int, form: Any = None, *, c: float = 2.0, simulation: str = "on-policy") -> None:
        super().__init__(game, seed, form, c=c, simulation=simulation)
        self._c = real(c, "c")
        if self._c < 0:
            raise BadParameter(f"c must not be negative, not {c!r}")
        self._simulation = SIMULATIONS.index(one_of(simulation, SIMULATIONS, "simulation"))
        if self._simulation == CALL and np.any(game.tree.passive == NO_ACTION):
            raise BadParameter(f"{game.name} has no check or call, so simulation='call' means nothing there")
        n_nodes = 0 if self._simulation == ON_POLICY else game.n_nodes
        self._tables = Tables(
            np.zeros(game.n_slots),
            np.zeros(game.n_slots, dtype=np.int64),
            np.zeros(game.n_infosets, dtype=np.int64),
            np.zeros(n_nodes, dtype=np.uint8),
        )
        self._path = Path(
            np.zeros(game.depth, dtype=np.int64), np.zeros(game.depth, dtype=np.int64), np.zeros(game.depth, dtype=np.int8)
        )

    def weights(self) -> np.ndarray:
        visits: np.ndarray = self._tables.visits
        return visits.astype(np.float64)

    def _run(self, n: int) -> int:
        return int(tree_search(self._form, self._hand, self._tables, self._path, self.rng, n, self._c, self._simulation))
