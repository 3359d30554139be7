"""From `CompiledRules` to a `HistoryTree`.

A kernel plays every history depth first, so that the states of one history are all it holds, and
finds the information sets by their keys. Depth first, the nodes of a level are met in the order in
which breadth first would meet them: a second pass moves every node to its place. Kernels return
when they want room or after some time; the shell makes room and goes on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.base import memory
from counterplay.base.counting import Count
from counterplay.base.errors import BadGame, TooLarge
from counterplay.forms.compiled import COUNT, KNOWN, PASSIVE, PROBLEMS, RAW, SHARE, WHO
from counterplay.forms.found import (
    LEAST_PLACES,
    MOST_FILLED,
    PLAYER_BITS,
    PROBLEM,
    ROOM_SETS,
    SETS,
    Found,
    counts_of,
    enlarged,
    find_or_add,
    keys_of,
    new_found,
    number_in,
    owners_of,
    places_for,
    sets_in,
)
from counterplay.forms.found_form import (
    RulesForm,
    Situation,
    found_in,
    key_at,
    rules_form,
    scratch_of,
)
from counterplay.forms.rules import CHANCE, TERMINAL, CompiledRules, history
from counterplay.forms.tree import NO_ACTION, Distributions, HistoryTree, Labels, offsets, parents
from counterplay.kernels.call import call_rules
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.rng import new_state

#: Peak memory while building, per node (measured on Goof(7)).
BYTES_PER_NODE = 40
FIRST_NODES, FIRST_LEVELS = 1 << 12, 64  # room at first where nobody knows how much is needed
#: A history longer than this is taken for one that never ends.
MOST_DEPTH = 10_000
AT_ONCE = 1 << 22  # nodes between looks
#: Fields of `at`: nodes so far, the level and action of the next one, and whether all are done.
NODES, LEVEL, ACTION, DONE = (index(k) for k in range(4))
#: Besides `PROBLEMS` of the rules.
UNEVEN = 100
_WHO, _COUNT, _KNOWN = index(WHO), index(COUNT), index(KNOWN)
_A, _B, _32 = index(0x9E3779B97F4A7C15), index(0xD1342543DE82EF95), index(32)
_MINUS_ZERO = index(1 << 63)


class Expansion(NamedTuple):
    """Histories so far: n nodes in the order in which they were met, l levels, m information sets,
    o outcomes."""

    at: np.ndarray  # int64[4]
    next: np.ndarray  # int64[l]: the next action at each level of the current history
    count: np.ndarray  # int64[l]: actions at each
    width: np.ndarray  # int64[l]: nodes of each level
    player: np.ndarray  # int8[n]: as in `HistoryTree`
    row: np.ndarray  # int32[n]: information set, distribution or outcome in order of discovery
    level: np.ndarray  # int32[m]: where an information set was met first
    known: np.ndarray  # int64[m, k]: what its player knows
    passive: np.ndarray  # int16[m]
    payoff: np.ndarray  # float64[o, p]


class ExpandedRules(NamedTuple):
    """The tree of compiled rules, and for each of its m information sets the key."""

    tree: HistoryTree
    known: np.ndarray  # int64[m, k]: what the player knows
    keys: np.ndarray  # uint64[m, 1 or 2]


@jit(inline=True)
def _numbered(found: Found, low: int, high: int, count: int) -> int:
    return number_in(find_or_add(found, low, high, count))


@jit(inline=True)
def _mixed(low: int, high: int, word: int) -> tuple[int, int]:
    """A hash with one more number; -0.0 counts as 0.0."""
    word = ZERO if word == _MINUS_ZERO else word
    low = (low ^ word) * _A
    low ^= low >> _32
    high = (high + word) * _B + low
    return low, high ^ (high >> _32)


@jit(inline=True)
def _has_room(chance: Situation, outcomes: Found, done: Expansion, most: int) -> bool:
    return (
        index(done.at[NODES]) < most
        and index(done.at[LEVEL]) + ONE < index(len(done.next))
        and chance.size[SETS] < chance.size[ROOM_SETS]
        and outcomes.size[SETS] < outcomes.size[ROOM_SETS]
    )


@jit
def play_all(
    form: RulesForm,
    chance: Situation,
    bits: np.ndarray,
    tables: tuple[Found, Found],
    done: Expansion,
    is_uniform: bool,
    most: int,
) -> None:
    """Go on until all histories are played, there are `most` nodes, room is wanted or something is
    wrong (`chance.size[PROBLEM]`). `bits`: `chance.payoff` as whole numbers. `tables`: distributions
    of chance and outcomes. Changes all but the form."""
    shares, outcomes = tables
    rng = chance.slot  # not drawn from
    n_players, n_known = index(chance.payoff.shape[1]), index(done.known.shape[1])
    while _has_room(chance, outcomes, done, most):
        level, node = index(done.at[LEVEL]), index(done.at[NODES])
        above = level - ONE if level > ZERO else ZERO
        call_rules(
            form.step,
            form.constants,
            chance.states,
            above,
            level,
            done.at[ACTION],
            RAW,
            rng,
            chance.facts,
            chance.payoff,
        )
        who, count = chance.facts[level, _WHO], index(chance.facts[level, _COUNT])
        low, high = ZERO, ZERO
        if who == TERMINAL:
            if count > ZERO:
                chance.size[PROBLEM] = count
                return
            for k in range(n_players):
                low, high = _mixed(low, high, bits[level, k])
            row = _numbered(outcomes, low, high, ONE)
            if row + ONE == index(outcomes.size[SETS]):
                for k in range(n_players):
                    done.payoff[row, k] = chance.payoff[level, k]
        elif who == CHANCE:
            low = count
            if not is_uniform:
                for k in range(count):
                    call_rules(
                        form.step,
                        form.constants,
                        chance.states,
                        level,
                        level,
                        np.int64(k),
                        SHARE,
                        rng,
                        chance.facts,
                        chance.payoff,
                    )
                    low, high = _mixed(low, high, bits[level, ZERO])
            if index(shares.size[SETS]) == index(shares.size[ROOM_SETS]):
                return
            row = _numbered(shares, low, high, count)
        else:
            before = index(chance.size[SETS])
            low, high = key_at(chance, level)
            row = _numbered(chance, low, high, count)
            if row == before:
                done.level[row] = level
                for k in range(n_known):
                    done.known[row, k] = chance.facts[level, _KNOWN + k]
                call_rules(
                    form.step,
                    form.constants,
                    chance.states,
                    level,
                    level,
                    0,
                    PASSIVE,
                    rng,
                    chance.facts,
                    chance.payoff,
                )
                done.passive[row] = np.int16(chance.payoff[level, ZERO])
            elif index(chance.first[row + ONE]) - index(chance.first[row]) != count:
                chance.size[PROBLEM] = UNEVEN
            if chance.size[PROBLEM] != 0:
                return
        done.player[node] = who
        done.row[node] = row
        done.width[level] += 1
        done.next[level] = 0
        done.count[level] = count
        done.at[NODES] += 1
        while done.next[level] == done.count[level]:  # to the next node, deeper or back
            if level == ZERO:
                done.at[DONE] = 1
                return
            level -= ONE
        done.at[ACTION] = done.next[level]
        done.next[level] += 1
        done.at[LEVEL] = level + ONE


class Moved(NamedTuple):
    """What the second pass fills: n nodes, l levels, m information sets, d distributions, o
    outcomes."""

    player: np.ndarray  # as in `HistoryTree`
    first_child: np.ndarray
    row: np.ndarray
    place: np.ndarray  # int64[l + 1]: where the next node of each level goes
    left: np.ndarray  # int64[l]: children to come, of the current history
    infoset: np.ndarray  # int32[m]: the first node of each
    chance: np.ndarray  # int32[d]
    outcome: np.ndarray  # int32[o]


@jit
def move_all(done: Expansion, sets: np.ndarray, shares: np.ndarray, moved: Moved) -> None:
    """Put nodes in their places, level by level. `sets`, `shares`: `first` of information sets and
    distributions. Changes `moved`."""
    level = ZERO
    for node in range(index(done.at[NODES])):
        who, row = done.player[node], index(done.row[node])
        place = index(moved.place[level])
        moved.place[level] += 1
        moved.player[place] = who
        moved.row[place] = row
        moved.first_child[place] = moved.place[level + ONE]
        here = np.int32(place)
        if who >= 0:
            moved.infoset[row] = min(moved.infoset[row], here)
            count = np.int64(sets[row + ONE]) - np.int64(sets[row])
        elif who == CHANCE:
            moved.chance[row] = min(moved.chance[row], here)
            count = np.int64(shares[row + ONE]) - np.int64(shares[row])
        else:
            moved.outcome[row] = min(moved.outcome[row], here)
            count = np.int64(0)
        if count > 0:
            moved.left[level] = count - 1
            level += ONE
            continue
        while level > ZERO and moved.left[level - ONE] == 0:
            level -= ONE
        if level > ZERO:
            moved.left[level - ONE] -= 1


@jit
def number_all(
    player: np.ndarray, row: np.ndarray, sets: np.ndarray, shares: np.ndarray, outcomes: np.ndarray
) -> None:
    """Replace each number of `row` by that of its table's order."""
    for node in range(index(len(row))):
        old = index(row[node])
        if player[node] >= 0:
            row[node] = sets[old]
        elif player[node] == CHANCE:
            row[node] = shares[old]
        else:
            row[node] = outcomes[old]


class _Builder:
    """Makes room for the kernels."""

    def __init__(self, name: str, rules: CompiledRules) -> None:
        self.name, self.rules = name, rules
        self.form, self._code = rules_form(name, rules, fixed=False)
        self.n_nodes = rules.count_nodes() if hasattr(rules, "count_nodes") else None
        if self.n_nodes is not None:
            self._check_size(self.n_nodes)
        nodes = FIRST_NODES if self.n_nodes is None else self.n_nodes + 1  # one more: miscounted
        self.chance, self.done = self._room(FIRST_LEVELS, nodes)
        self.tables = (_empty_table(), _empty_table())

    def _check_size(self, nodes: int) -> None:
        if nodes >= 2**31:
            raise TooLarge(
                f"{self.name} has {nodes:,} histories, more than the {2**31:,} a tree can number; "
                f"take a smaller game"
            )
        memory.require(nodes * BYTES_PER_NODE, f"{self.name} with {nodes:,} histories")

    def _room(self, levels: int, nodes: int) -> tuple[Situation, Expansion]:
        chance = scratch_of(self.form.shape, levels)
        chance.size[ROOM_SETS] = LEAST_PLACES * MOST_FILLED
        shape, words = self.form.shape, np.int64
        at = np.zeros(4, dtype=words)
        at[ACTION] = -1
        return chance, Expansion(
            at,
            *(np.zeros(levels, dtype=words) for _ in range(3)),
            np.empty(nodes, dtype=np.int8),
            np.empty(nodes, dtype=np.int32),
            np.empty(LEAST_PLACES, dtype=np.int32),
            np.empty((LEAST_PLACES, shape.known), dtype=words),
            np.empty(LEAST_PLACES, dtype=np.int16),
            np.empty((LEAST_PLACES, shape.n_players)),
        )

    def play(self) -> None:
        """All histories."""
        count, uniform = Count(f"histories of {self.name}"), type(self.rules).chance is None
        watch = memory.Watch(BYTES_PER_NODE)
        while True:
            n = int(self.done.at[NODES])
            most = min(len(self.done.player), n + AT_ONCE)
            bits = self.chance.payoff.view(np.uint64)
            play_all(self.form, self.chance, bits, self.tables, self.done, uniform, most)
            if self.chance.size[PROBLEM] != 0:
                raise self._wrong(int(self.chance.size[PROBLEM]))
            n = int(self.done.at[NODES])
            if self.done.at[DONE] != 0 or (self.n_nodes is not None and n > self.n_nodes):
                break
            count.say(n)
            if self.n_nodes is None:
                watch.check(n, f"{self.name} with more than {n:,} histories")
            self._make_room()
        if self.n_nodes not in (None, n):
            more = "" if self.done.at[DONE] != 0 else " and more"
            raise BadGame(
                f"{self.name}: count_nodes() promised {self.n_nodes:,} nodes and the rules gave "
                f"{n:,}{more}"
            )

    def _make_room(self) -> None:
        """Twice as much of whatever is full."""
        done, chance = self.done, self.chance
        if done.at[NODES] == len(done.player):
            self._check_size(2 * len(done.player))
            done = done._replace(player=_doubled(done.player), row=_doubled(done.row))
        if done.at[LEVEL] + 1 >= len(done.next):
            if len(done.next) > MOST_DEPTH:
                raise BadGame(
                    f"{self.name} has a history that goes on after {MOST_DEPTH:,} actions; every "
                    f"history must end"
                )
            longer = ("next", "count", "width")
            done = done._replace(**{field: _doubled(getattr(done, field)) for field in longer})
            rows = ("states", "facts", "payoff", "slot")
            chance = chance._replace(**{field: _doubled(getattr(chance, field)) for field in rows})
        if chance.size[SETS] >= chance.size[ROOM_SETS]:
            table = _larger(found_in(chance))
            chance = chance._replace(**table._asdict())
            while len(done.level) < chance.size[ROOM_SETS]:
                fields = ("level", "known", "passive")
                done = done._replace(**{field: _doubled(getattr(done, field)) for field in fields})
        shares, outcomes = (
            _larger(table) if table.size[SETS] >= table.size[ROOM_SETS] else table
            for table in self.tables
        )
        while len(done.payoff) < outcomes.size[ROOM_SETS]:
            done = done._replace(payoff=_doubled(done.payoff))
        self.done, self.chance, self.tables = done, chance, (shares, outcomes)

    def _wrong(self, problem: int) -> BadGame:
        path = tuple(int(action) - 1 for action in self.done.next[: self.done.at[LEVEL]])
        what = PROBLEMS.get(
            problem, "two histories of one information set allow different numbers of actions"
        )
        return BadGame(f"{self.name}: {what}, {history(self.rules, path)}")

    def tree(self) -> ExpandedRules:
        """Of what was played."""
        done, found = self.done, found_in(self.chance)
        n, counts = int(done.at[NODES]), counts_of(found)
        if not len(counts):
            raise BadGame(f"{self.name}: no player ever acts")
        if counts.max() > self.rules.max_actions:
            raise BadGame(
                f"{self.name}: actions() gave {counts.max()}, and max_actions is "
                f"{self.rules.max_actions}"
            )
        levels = int(np.count_nonzero(done.width))
        moved = Moved(
            np.empty(n, dtype=np.int8),
            np.empty(n + 1, dtype=np.int32),
            np.empty(n, dtype=np.int32),
            np.concatenate([[0], np.cumsum(done.width[:levels])]),
            np.zeros(levels, dtype=np.int64),
            *(np.full(sets_in(table), n, dtype=np.int32) for table in (found, *self.tables)),
        )
        move_all(done, found.first, self.tables[0].first, moved)
        moved.first_child[n] = n
        self.done = done = done._replace(player=moved.player, row=moved.row)  # the rest may go
        m = sets_in(found)
        known, keys = done.known[:m], keys_of(found)
        order = self._order(owners_of(keys), counts, known, moved.infoset)
        shares = np.argsort(moved.chance, kind="stable")
        payoff, outcome = self._payoffs(moved.outcome)
        number_all(moved.player, moved.row, _rank(order), _rank(shares), outcome)
        tree = HistoryTree(
            player=moved.player,
            first_child=moved.first_child,
            row=moved.row,
            first=offsets(counts[order]),
            owner=owners_of(keys)[order],
            passive=np.maximum(done.passive[:m][order], NO_ACTION),
            payoff=payoff,
            **_no_chance(),
        )
        tree = tree._replace(**self._distributions(tree, moved.chance[shares]))
        return ExpandedRules(tree, known[order], keys[order])

    def _order(
        self, owner: np.ndarray, counts: np.ndarray, known: np.ndarray, met: np.ndarray
    ) -> np.ndarray:
        """Information sets in the order of the tree."""
        if not self.rules.sorted_infosets:
            return np.lexsort((met, owner))
        where = (owner.astype(np.int64) << 48) | (self.done.level[: len(owner)].astype(np.int64) << 32)
        return np.lexsort((*known.T[::-1], where | counts))

    def _payoffs(self, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The table of payoffs, and the row there of each outcome."""
        payoff, table = self.done.payoff[: len(met)], self.rules.payoff_table
        if table is None:
            order = np.argsort(met, kind="stable")
            return payoff[order], _rank(order)
        table = np.array(table, dtype=np.float64)
        row_of = {tuple(row): k for k, row in enumerate(table.tolist())}
        try:
            return table, np.array([row_of[tuple(row)] for row in payoff.tolist()], dtype=np.int32)
        except KeyError as error:
            raise BadGame(f"{self.name}: payoff() gave {error}, not in payoff_table") from None

    def _distributions(self, tree: HistoryTree, nodes: np.ndarray) -> dict[str, np.ndarray]:
        """Probabilities at nodes of chance, asked of the rules in plain Python."""
        found = Distributions()
        for k, node in enumerate(nodes.tolist()):
            count = int(tree.first_child[node + 1] - tree.first_child[node])
            if type(self.rules).chance is None:
                found.row(k, np.full(count, 1.0 / count))
                continue
            path: list[int] = []
            while node > 0:
                above = int(parents(tree, np.array([node]))[0])
                path.insert(0, node - int(tree.first_child[above]))
                node = above
            state = self.rules.root()
            for action in path:
                state = state.after(action)
            shares = np.array(state.chance())
            if not np.all(shares >= 0) or abs(shares.sum() - 1.0) > 1e-9:
                raise BadGame(
                    f"{self.name}: chance() gave probabilities that are negative or sum to "
                    f"{shares.sum():.9g}, not 1, {history(self.rules, tuple(path))}"
                )
            found.row(k, shares)
        return found.arrays()


def _empty_table() -> Found:
    table = new_found(2)
    table.size[ROOM_SETS] = LEAST_PLACES * MOST_FILLED
    return table


def _larger(table: Found) -> Found:
    sets = 2 * int(table.size[ROOM_SETS])
    table = enlarged(table, places_for(sets), sets)
    table.size[ROOM_SETS] = sets
    return table


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _rank(order: np.ndarray) -> np.ndarray:
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def _no_chance() -> dict[str, np.ndarray]:
    return Distributions().arrays()


def expand_rules(rules: CompiledRules, name: str) -> ExpandedRules:
    """Every history of `rules` as a node, level by level."""
    builder = _Builder(name, rules)
    builder.play()
    return builder.tree()


def label_rules(rules: CompiledRules, expanded: ExpandedRules, name: str) -> Labels:
    """Names of all information sets and slots."""
    counts, owner = np.diff(expanded.tree.first).tolist(), expanded.tree.owner.tolist()
    labels = Labels([], [])
    for player, known, count in zip(owner, expanded.known.tolist(), counts, strict=True):
        words = tuple(known)
        actions = rules.action_labels(player, words, count)
        labels.infoset.append(rules.label(player, words))
        if len(set(actions)) < count or len(actions) != count:
            raise BadGame(
                f"{name}: information set {labels.infoset[-1]!r} has {count} actions, and "
                f"action_labels() gave {actions}"
            )
        labels.action.extend(actions)
    return labels
