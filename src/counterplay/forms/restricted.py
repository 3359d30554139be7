"""Restricted games (Section 4): the opponent model is part of the game, and any solver solves it.

RNR: with probability p, decided once and hidden, the restricted player follows the model σ_fix (Figure 5). DBR: the same at
each of his information sets, with probability Pconf(I) (footnote 9).

For sampling, σ_fix is chance: where the model plays, its action is drawn on-policy like a card, and a kernel never sees the node.
The responder's information sets are shared by both subtrees because they are the same slots. For full width, RNR is a sequence
form whose responder faces p·y_fix + (1 - p)·y, and DBR one whose restricted player has a floor under his probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.access import answers, child, infoset_at, new_hand, player_at, start, utility
from counterplay.forms.sequence import SequenceForm, Side, Treeplex, gradient, side_from_entries
from counterplay.forms.tree import CHANCE, HistoryTree, draw_chance
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.policy import sample_epsilon_greedy
from counterplay.kernels.rng import uniform


class RestrictedTree(NamedTuple):
    """RNR on a tree: s slots, m information sets. `hand[0]` holds the coin of the current history."""

    tree: HistoryTree
    first: np.ndarray  # int32[m + 1]: of the tree
    passive: np.ndarray  # int16[m]: of the tree
    fixed: np.ndarray  # float64[s]: σ_fix
    restricted: int
    p: float


class DataBiasedTree(NamedTuple):
    """DBR on a tree: a coin at every information set of the restricted player."""

    tree: HistoryTree
    first: np.ndarray  # int32[m + 1]
    passive: np.ndarray  # int16[m]
    fixed: np.ndarray  # float64[s]: σ_fix
    restricted: int
    confidence: np.ndarray  # float64[m]: Pconf(I)


def restricted_tree(tree: HistoryTree, fixed: np.ndarray, restricted: int, p: float) -> RestrictedTree:
    return RestrictedTree(tree, tree.first, tree.passive, np.ascontiguousarray(fixed), int(restricted), float(p))


def data_biased_tree(tree: HistoryTree, fixed: np.ndarray, restricted: int, confidence: np.ndarray) -> DataBiasedTree:
    confidence = np.ascontiguousarray(confidence, dtype=np.float64)
    return DataBiasedTree(tree, tree.first, tree.passive, np.ascontiguousarray(fixed), int(restricted), confidence)


@jit(inline=True)
def _follow_model(form: Any, node: int, rng: np.ndarray) -> int:
    """The child that σ_fix draws at `node`."""
    infoset = index(form.tree.row[node])
    first = index(form.first[infoset])
    count = index(form.first[infoset + ONE]) - first
    action, _ = sample_epsilon_greedy(form.fixed, first, count, 0.0, uniform(rng))
    return index(form.tree.first_child[node]) + action


@jit(inline=True)
def _settle_restricted(form: Any, node: int, forced: bool, rng: np.ndarray) -> int:
    """Pass over chance and, in the restricted subtree, over the model's nodes."""
    while True:
        player = form.tree.player[node]
        if player == CHANCE:
            node = draw_chance(form.tree, node, rng)
        elif forced and player == form.restricted:
            node = _follow_model(form, node, rng)
        else:
            break
    return node


@jit(inline=True)
def _settle_biased(form: Any, node: int, rng: np.ndarray) -> int:
    """Pass over chance and over the nodes where the coin is the model's."""
    while True:
        player = form.tree.player[node]
        if player == CHANCE:
            node = draw_chance(form.tree, node, rng)
        elif player == form.restricted and uniform(rng) < form.confidence[index(form.tree.row[node])]:
            node = _follow_model(form, node, rng)
        else:
            break
    return node


@answers(start, RestrictedTree)
def _start_restricted(form: Any, hand: Any, rng: Any) -> Any:
    hand[ZERO] = 1 if uniform(rng) < form.p else 0  # the coin, once per history
    return _settle_restricted(form, ZERO, hand[ZERO] == 1, rng)


@answers(child, RestrictedTree)
def _child_restricted(form: Any, hand: Any, node: Any, action: Any, rng: Any) -> Any:
    return _settle_restricted(form, index(form.tree.first_child[node]) + action, hand[ZERO] == 1, rng)


@answers(start, DataBiasedTree)
def _start_biased(form: Any, hand: Any, rng: Any) -> Any:
    return _settle_biased(form, ZERO, rng)


@answers(child, DataBiasedTree)
def _child_biased(form: Any, hand: Any, node: Any, action: Any, rng: Any) -> Any:
    return _settle_biased(form, index(form.tree.first_child[node]) + action, rng)


def _new_hand(form: Any) -> Any:
    return np.zeros(1, dtype=np.int32)


def _player_at(form: Any, hand: Any, node: Any) -> Any:
    return form.tree.player[node]


def _infoset_at(form: Any, hand: Any, node: Any) -> Any:
    return index(form.tree.row[node])


def _utility(form: Any, hand: Any, node: Any, player: Any) -> Any:
    return form.tree.payoff[index(form.tree.row[node]), index(player)]


for _form in (RestrictedTree, DataBiasedTree):
    answers(new_hand, _form)(_new_hand)
    answers(player_at, _form)(_player_at)
    answers(infoset_at, _form)(_infoset_at)
    answers(utility, _form)(_utility)


def restricted_sequence_form(form: SequenceForm, fixed_plan: np.ndarray, restricted: int, p: float) -> SequenceForm:
    """RNR at full width: payoffs times 1 - p, and p times the payoff against the model as entries with the empty sequence."""
    responder, model = form[1 - restricted], form[restricted]
    against = np.empty(responder.n_sequences)
    gradient(responder, fixed_plan, against)
    rows = np.repeat(np.arange(model.n_sequences), np.diff(model.row))
    to_model = np.bincount(model.column, weights=model.value * fixed_plan[rows], minlength=responder.n_sequences)
    everything = np.arange(responder.n_sequences)
    nothing = np.zeros_like(everything)
    new_responder = _blend(responder, 1.0 - p, everything, nothing, p * against, model.n_sequences)
    new_model = _blend(model, 1.0 - p, nothing, everything, p * to_model, responder.n_sequences)
    return SequenceForm(new_model, new_responder) if restricted == 0 else SequenceForm(new_responder, new_model)


def _blend(side: Side, scale: float, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, n_columns: int) -> Side:
    """`side` with its entries scaled and more entries added."""
    own = np.repeat(np.arange(side.n_sequences), np.diff(side.row))
    row = np.concatenate([own, rows]).astype(np.int32)
    column = np.concatenate([side.column, columns]).astype(np.int32)
    value = np.concatenate([scale * side.value, values])
    keep = np.flatnonzero(value)
    return side_from_entries(Treeplex(side.parent, side.first, side.floor), row[keep], column[keep], value[keep], n_columns)


def data_biased_sequence_form(form: SequenceForm, fixed: np.ndarray, restricted: int, confidence: np.ndarray) -> SequenceForm:
    """DBR at full width: σ(I, a) >= Pconf(I) σ_fix(I, a). `fixed`, `confidence`: the restricted player's own slots and sets."""
    side = form[restricted]
    floor = np.repeat(confidence, np.diff(side.first)) * fixed
    bound = side._replace(floor=floor)
    return form._replace(one=bound) if restricted == 0 else form._replace(two=bound)
