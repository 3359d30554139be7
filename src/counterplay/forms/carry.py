"""A tree walked by compiled rules of the same game: the key of each of its information sets, and
whether both are the same game at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from counterplay.base.errors import BadGame, BadStrategy
from counterplay.forms.compiled import COUNT, RAW, SHARE, WHO, CompiledRules
from counterplay.forms.compiled_states import StatesOfRules, history
from counterplay.forms.found import Found, find_all
from counterplay.forms.found_form import RulesForm, Situation, key_at, key_words, scratch_of
from counterplay.forms.tree import CHANCE, TERMINAL, HistoryTree, level_bounds
from counterplay.kernels.call import call_rules
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.rng import new_state

if TYPE_CHECKING:
    from counterplay.forms.game import Game

_WHO, _COUNT = index(WHO), index(COUNT)
FITS, OTHER_PLAYER, OTHER_COUNT, OTHER_KEY, OTHER_PAYOFF, OTHER_CHANCE, TOO_DEEP = range(7)
DIFFERENCES = {
    OTHER_PLAYER: "another player acts",
    OTHER_COUNT: "there are more or fewer actions",
    OTHER_KEY: "the key differs from that of another history of the same information set",
    OTHER_PAYOFF: "the payoff is another one",
    OTHER_CHANCE: "chance has other probabilities",
    TOO_DEEP: "the history goes on",
}
CLOSE = 1e-9


class Walked(NamedTuple):
    """What a walk fills: n levels, m information sets, k words of a key."""

    node: np.ndarray  # int64[n]: the history, from the root
    next: np.ndarray  # int64[n]: the next child of each to go to
    keys: np.ndarray  # uint64[m, k]
    met: np.ndarray  # bool[m]
    rng: np.ndarray  # uint64[4]: not used


@jit(inline=True)
def _difference(
    form: RulesForm, tree: HistoryTree, chance: Situation, walked: Walked, node: int, level: int
) -> int:
    """How the rules and the tree differ at a node; keys are noted."""
    player, row = tree.player[node], index(tree.row[node])
    children = index(tree.first_child[node + ONE]) - index(tree.first_child[node])
    if chance.facts[level, _WHO] != player:
        return OTHER_PLAYER
    if player == TERMINAL:
        for k in range(index(tree.payoff.shape[1])):
            if abs(tree.payoff[row, k] - chance.payoff[level, k]) > CLOSE:
                return OTHER_PAYOFF
        return FITS
    if index(chance.facts[level, _COUNT]) != children:
        return OTHER_COUNT
    if player == CHANCE:
        low = index(tree.chance_first[row])
        for k in range(children):
            call_rules(
                form.step,
                form.constants,
                chance.states,
                level,
                level,
                np.int64(k),
                SHARE,
                walked.rng,
                chance.facts,
                chance.payoff,
            )
            if abs(tree.chance_probability[low + k] - chance.payoff[level, ZERO]) > CLOSE:
                return OTHER_CHANCE
        return FITS
    key = key_at(chance, level)
    words = index(walked.keys.shape[1])
    for k in range(words):
        if walked.met[row] and walked.keys[row, k] != key[k]:
            return OTHER_KEY
    for k in range(words):
        walked.keys[row, k] = key[k]
    walked.met[row] = True
    return FITS


@jit
def walk_tree(
    form: RulesForm, tree: HistoryTree, chance: Situation, walked: Walked
) -> tuple[int, Any]:
    """Every history of the tree by the rules, depth first. What differs first and at which level of
    `walked.node`, or `FITS`. Changes `chance` and `walked`."""
    level = ZERO
    node = ZERO
    action = np.int64(-1)
    while True:
        above = level - ONE if level > ZERO else ZERO
        call_rules(
            form.step,
            form.constants,
            chance.states,
            above,
            level,
            action,
            RAW,
            walked.rng,
            chance.facts,
            chance.payoff,
        )
        walked.node[level] = node
        walked.next[level] = 0
        found = _difference(form, tree, chance, walked, node, level)
        if found != FITS:
            return found, np.int64(level)
        while True:  # to the next node, deeper or back
            node = index(walked.node[level])
            children = index(tree.first_child[node + ONE]) - index(tree.first_child[node])
            if index(walked.next[level]) < children:
                break
            if level == ZERO:
                return FITS, np.int64(0)
            level -= ONE
        action = walked.next[level]
        node = index(tree.first_child[node]) + index(action)
        walked.next[level] += 1
        level += ONE


def compare(tree: HistoryTree, form: RulesForm, name: str, rules: CompiledRules) -> Walked:
    """The walk; `BadGame` where the rules are not those of the tree."""
    levels = len(level_bounds(tree))
    chance = scratch_of(form.shape, levels + 1)
    walked = Walked(
        np.zeros(levels + 1, dtype=np.int64),
        np.zeros(levels + 1, dtype=np.int64),
        np.zeros((tree.n_infosets, key_words(form.shape)), dtype=np.uint64),
        np.zeros(tree.n_infosets, dtype=np.bool_),
        new_state(0),
    )
    found, level = walk_tree(form, tree, chance, walked)
    if found != FITS:
        path = tuple(int(action) - 1 for action in walked.next[:level])
        raise BadGame(
            f"{name}: compiled rules and tree differ: {DIFFERENCES[found]} "
            f"{history(StatesOfRules(name, rules), path)}"
        )
    same = np.unique(walked.keys, axis=0, return_counts=True, return_inverse=True)
    if np.any(same[2] > 1):
        twice = np.flatnonzero(same[2][same[1].ravel()] > 1)[:2].tolist()
        raise BadGame(
            f"{name}: a key forgets: information sets {twice[0]} and {twice[1]} of the tree have "
            f"the same"
        )
    return walked


def keys_in_tree(tree_game: Game, game: Game) -> np.ndarray:
    """uint64[m, k]: the key of each information set of a tree, by the compiled rules of `game`."""
    if tree_game.compiled is None or tree_game.compiled_digest != game.compiled_digest:
        raise BadStrategy(f"a strategy for {game.name} cannot play {tree_game.name}")
    kept = tree_game.kept_keys
    if kept is None:
        kept = compare(tree_game.tree, game.form, tree_game.name, tree_game.compiled).keys
        tree_game.kept_keys = kept
    return kept


def carried(
    game: Game, keys: np.ndarray, found: Found, counts: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """float64[n_slots]: shares by key on the tree of `game`, uniform where a key was not found."""
    numbers = np.empty(len(keys), dtype=np.int64)
    find_all(found.places, keys, numbers)
    width = np.diff(game.tree.first).astype(np.int64)
    out: np.ndarray = np.repeat(1.0 / width, width)
    met = numbers >= 0
    if np.any(counts[numbers[met]] != width[met]):
        raise BadGame(f"{game.name}: compiled rules and tree differ in their actions")
    begin = np.concatenate([[0], np.cumsum(counts)])[numbers]
    place = np.arange(len(out)) - np.repeat(game.tree.first[:-1], width)
    slots = np.repeat(met, width)
    out[slots] = shares[(np.repeat(begin, width) + place)[slots]]
    return out
