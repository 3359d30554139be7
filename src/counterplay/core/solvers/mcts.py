"""Monte-Carlo tree search with UCT on information sets (Section 3.2.1, Eq 2).

Symbols: n_a → `stats[slot, VISITS]`, v_a → `stats[slot, VALUE]`, √(1/n_a) → `stats[slot, ROOT]`,
and C·√(ln n_p), n_p the sum of n_a over the information set, → `spread`. The last two are stored so
that selection, the bottleneck, is a product and a comparison; backpropagation computes roots and
logarithms.

Selection is by Eq 2; expansion adds the first node of a history that is not in the tree; from there
the simulation policy plays: "on-policy" (Eq 2 again, as in the paper), "random", or "call" (all
players check or call). Backpropagation updates every information set of the history. The policy is
the share of visits. Untried actions are selected first, in random order. Deviation: ln n_p is
recomputed at every visit of an action below 256 visits, then at every 16th, which changes √(ln n_p)
by 2% at most.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, one_of, real
from counterplay.core.forms.access import (
    child,
    expanded_at,
    full,
    infoset_at,
    passive_at,
    player_at,
    slots_at,
    slots_of,
    start,
    utility,
)
from counterplay.core.forms.infoset_table import infoset_count
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import uniform
from counterplay.core.parallel.changes import SLOTS, ChangedRows
from counterplay.core.parallel.pool import TOLERANT, Worker, maximum_of, part_of
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.hash_tables import infosets_of
from counterplay.core.solvers.sampling import SamplingSolver

SIMULATIONS = ("on-policy", "random", "call")
ON_POLICY, RANDOM, CALL = range(3)
NODES = "nodes"  # the plane of `in_tree`
VISITS, VALUE, ROOT = ZERO, ONE, index(2)  # columns of `stats`
TINY = 1e-300
#: `spread` is recomputed at every visit of an action below so many visits, then at every 16th.
ALWAYS_BELOW, EVERY_16TH = 256.0, index(15)


class SearchTables(NamedTuple):
    """The tables of tree search: s slots, m information sets, n nodes."""

    # float64[s, 3]: visits, average reward of the acting player, 1 / √visits (infinite if untried)
    stats: np.ndarray
    spread: np.ndarray  # float64[m]: C·√(ln n_p), at least for two visits
    # uint8[n]: expanded nodes; empty if simulations are on-policy, where it makes no difference
    in_tree: np.ndarray


class SearchPath(NamedTuple):
    """The decisions of one history: d of them."""

    slot: np.ndarray  # int64[d]
    infoset: np.ndarray  # int64[d]
    player: np.ndarray  # int8[d]
    reward: np.ndarray  # float64[p]: of each player


@jit(inline=True)
def bound_width(c: float, total: float) -> float:
    """C·√(ln n_p), above 0 so that an untried action is selected first even with C = 0."""
    return max(c * sqrt(log(max(total, 2.0))), TINY)


@jit(inline=True)
def select_uct(stats: np.ndarray, spread: float, first: int, count: int, rng: np.ndarray) -> int:
    """Eq 2. Untried actions have an infinite bound; one of them is drawn at random."""
    best = ZERO
    best_bound = -np.inf
    for a in range(count):
        bound = stats[first + a, VALUE] + spread * stats[first + a, ROOT]
        if bound > best_bound:
            best = a
            best_bound = bound
    if best_bound < np.inf:
        return best
    untried = ZERO
    for a in range(count):
        if stats[first + a, VISITS] == 0.0:
            untried += ONE
    skip = ZERO if untried == ONE else min(index(uniform(rng) * untried), untried - ONE)
    for a in range(count):
        if stats[first + a, VISITS] == 0.0:
            if skip == ZERO:
                return a
            skip -= ONE
    return best


@jit(inline=True)
def backpropagate(
    form: Any,
    chance: Any,
    tables: SearchTables,
    slot: int,
    infoset: int,
    reward: float,
    c: float,
    scale: float,
) -> None:
    """Adds a visit of a slot, which counts `scale` times."""
    visits = tables.stats[slot, VISITS] + scale
    inverse = 1.0 / visits
    tables.stats[slot, VISITS] = visits
    tables.stats[slot, VALUE] += (reward - tables.stats[slot, VALUE]) * (scale * inverse)
    tables.stats[slot, ROOT] = sqrt(inverse)
    if visits < ALWAYS_BELOW or index(visits) & EVERY_16TH == ZERO:
        total = 0.0
        first, count = slots_of(form, chance, infoset)
        for k in range(count):
            total += tables.stats[first + k, VISITS]
        tables.spread[infoset] = bound_width(c, total)


@jit
def tree_search(
    form: Any,
    chance: Any,
    tables: SearchTables,
    trail: SearchPath,
    rng: np.ndarray,
    n: int,
    c: float,
    simulation: int,
    scale: float,
) -> tuple[int, int]:
    """n simulated games, each of which counts `scale` times. Changes `tables`, `trail` and `rng`;
    returns the games played, fewer than n if the tables are full, and the nodes touched."""
    touched = ZERO
    played = ZERO
    while played < index(n) and not full(form, chance):
        node = start(form, chance, rng)
        player = player_at(form, chance, node)
        selecting = True
        k = ZERO
        while player >= 0:
            infoset = infoset_at(form, chance, node)
            first, count = slots_at(form, chance, node, infoset)
            entry = expanded_at(form, node, infoset)
            if simulation != ON_POLICY and selecting and tables.in_tree[entry] == 0:
                tables.in_tree[entry] = 1  # expansion
                selecting = False
            if selecting:
                action = select_uct(tables.stats, tables.spread[infoset], first, count, rng)
            elif simulation == RANDOM:
                action = min(index(uniform(rng) * count), count - ONE)
            else:
                action = passive_at(form, chance, node, infoset, rng)
            trail.slot[k] = first + action
            trail.infoset[k] = infoset
            trail.player[k] = player
            k += ONE
            node = child(form, chance, node, action, rng)
            player = player_at(form, chance, node)
        touched += k + ONE
        for player in range(index(len(trail.reward))):
            trail.reward[player] = utility(form, chance, node, player)
        for j in range(k):  # backpropagation
            reward = trail.reward[index(trail.player[j])]
            slot, infoset = index(trail.slot[j]), index(trail.infoset[j])
            backpropagate(form, chance, tables, slot, infoset, reward, c, scale)
        played += ONE
    return int(played), int(touched)


@jit
def mean_of_visits(
    first: np.ndarray,
    c: float,
    copies: tuple[np.ndarray, ...],
    before: np.ndarray,
    low: int,
    high: int,
    out: np.ndarray,
    spread: np.ndarray,
) -> None:
    """Writes the mean visits and rewards of all copies at information sets low .. high - 1 to
    `out`, and the roots and `spread` that follow. Information sets without new visits stay as in
    the first copy and in `before`, its spread."""
    many = float(len(copies))
    one = copies[0]
    for infoset in range(index(low), index(high)):
        begin, end = index(first[infoset]), index(first[infoset + ONE])
        changed = False
        for copy in copies:
            for k in range(begin, end):
                more_visits = copy[k, VISITS] != one[k, VISITS]
                changed |= more_visits | (copy[k, VALUE] != one[k, VALUE])
        spread[infoset] = before[infoset]
        for k in range(begin, end):
            out[k, VISITS] = one[k, VISITS]
            out[k, VALUE] = one[k, VALUE]
            out[k, ROOT] = one[k, ROOT]
        if not changed:
            continue
        total = 0.0
        for k in range(begin, end):
            more, reward = 0.0, 0.0
            for copy in copies:
                more += copy[k, VISITS] - one[k, VISITS]
                reward += copy[k, VISITS] * copy[k, VALUE]
            visits = one[k, VISITS] + more / many
            total += visits
            if visits > 0.0:
                out[k, VISITS] = visits
                out[k, VALUE] = reward / many / visits
                out[k, ROOT] = sqrt(1.0 / visits)
        spread[infoset] = bound_width(c, total)


class TreeSearch(SamplingSolver):
    """`c`: exploration (the paper: 2 in Kuhn, 17 in hold'em). `simulation`: on-policy, random or
    call."""

    name = "mcts"
    early = TOLERANT
    summary = "Monte-Carlo tree search (UCT on information sets)"
    by_set = ("spread", "in_tree")
    discovers = True

    def __init__(
        self,
        problem: Problem,
        seed: int,
        *,
        c: float = 2.0,
        simulation: str = "on-policy",
        threads: int = 1,
    ) -> None:
        self._c = real(c, "c")
        if self._c < 0:
            raise BadParameter(f"c must not be negative, not {c!r}")
        self._simulation = SIMULATIONS.index(one_of(simulation, SIMULATIONS, "simulation"))
        game = problem.game
        if self._simulation == CALL and not game.has_passive_actions:
            raise BadParameter(
                f"{game.name} has no check or call, so simulation='call' means nothing there"
            )
        super().__init__(problem, seed, threads, c=c, simulation=simulation)

    def _new_tables(self, infosets: int, slots: int) -> SearchTables:
        if self.game.discovers_infosets:
            nodes = infosets
        else:
            nodes = 0 if self._simulation == ON_POLICY else self.game.n_nodes
        tables = SearchTables(
            np.zeros((slots, 3)), np.empty(infosets), np.zeros(nodes, dtype=np.uint8)
        )
        tables.stats[:, ROOT] = np.inf
        tables.spread[:] = max(self._c * sqrt(log(2.0)), TINY)
        return tables

    def _new_workspace(self) -> SearchPath:
        slot, infoset, player = (
            np.zeros(self.game.depth, t) for t in (np.int64, np.int64, np.int8)
        )
        return SearchPath(slot, infoset, player, np.zeros(self.game.n_players))

    def new_mean(self) -> SearchTables:
        tables: SearchTables = self._pool.workers[0].tables
        shapes = [array.shape for array in tables]
        if self._mean is None or [array.shape for array in self._mean] != shapes:
            self._mean = SearchTables(*(np.empty_like(array) for array in tables))
        return self._mean  # type: ignore[no-any-return]

    def merge(self, copies: tuple[SearchTables, ...], mean: SearchTables, part: int) -> None:
        stats, before = tuple(tables.stats for tables in copies), copies[0].spread
        here = part_of(self._used[0], part, len(copies))
        first = self._first(self._pool.workers[0])
        mean_of_visits(first, self._c, stats, before, *here, mean.stats, mean.spread)
        trees, nodes = tuple(tables.in_tree for tables in copies), self._rows(mean)[-1]
        maximum_of(trees, *part_of(nodes, part, len(copies)), mean.in_tree)

    def load_merged(self, mean: SearchTables, tables: SearchTables) -> None:
        for mine, array, used in zip(tables, mean, self._rows(mean), strict=True):
            mine[:used] = array[:used]

    def _first(self, worker: Worker) -> np.ndarray:
        """The first slot of each information set, and last the number of slots."""
        if self.hash_tables is None:
            first: np.ndarray = self.game.form.first
            return first
        infosets = infosets_of(worker)
        return infosets.first[: infoset_count(infosets) + 1]

    def _rows(self, tables: SearchTables) -> tuple[int, int, int]:
        """The used length of each table."""
        sets, slots = self._used
        return slots, sets, len(tables.in_tree) if self.hash_tables is None else sets

    def changes(self, before: SearchTables, tables: SearchTables) -> dict[str, np.ndarray]:
        visits = tables.stats[:, VISITS] - before.stats[:, VISITS]
        then, now = (t.stats[:, VISITS] * t.stats[:, VALUE] for t in (before, tables))
        planes = {SLOTS: np.stack((visits, now - then), axis=1)}
        if len(tables.in_tree):
            planes[NODES] = (tables.in_tree > before.in_tree).astype(np.float64)[:, None]
        return planes

    def _apply_rows(self, base: Worker, plane: str, changed: ChangedRows, threads: int) -> None:
        if plane == NODES:
            base.tables.in_tree[changed.rows] = 1
            return
        rows, stats = changed.rows, base.tables.stats
        reward = stats[rows, VISITS] * stats[rows, VALUE] + changed.values[:, 1] / threads
        visits = stats[rows, VISITS] + changed.values[:, 0] / threads
        stats[rows, VISITS], stats[rows, VALUE] = visits, reward / visits
        stats[rows, ROOT] = np.sqrt(1.0 / visits)
        self._spread(base, np.unique(np.searchsorted(self._first(base), rows, side="right") - 1))

    def _spread(self, worker: Worker, infosets: Any) -> None:
        """Computes `spread` of information sets from their visits."""
        first = self._first(worker)
        total = np.add.reduceat(worker.tables.stats[: first[-1], VISITS], first[:-1])[infosets]
        root = np.sqrt(np.log(np.maximum(total, 2.0)))
        spread = worker.tables.spread[: len(first) - 1]
        spread[infosets] = np.maximum(self._c * root, TINY)

    def weights_of(self, copies: list[SearchTables]) -> np.ndarray:
        """Visits: those of the last synchronisation, and the mean of each copy's since."""
        first, *others = (tables.stats[:, VISITS] for tables in copies)
        more = sum((other - first for other in others), start=np.zeros(len(first)))
        return np.ascontiguousarray(first + more / len(copies))

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        options = self._c, self._simulation, scale
        return tree_search(self.form, *worker.arguments, n, *options)

    def _discount(self, worker: Worker, share: float) -> None:
        """Keeps average rewards and reduces visits, so that averages change faster."""
        tables = worker.tables
        visits = tables.stats[:, VISITS] * share
        tables.stats[:, VISITS] = visits
        tables.stats[:, ROOT] = np.sqrt(
            np.divide(1.0, visits, out=np.full(len(visits), np.inf), where=visits > 0.0)
        )
        self._spread(worker, slice(None))


SOLVER = TreeSearch
