"""Restricted games (Section 4): the opponent model is part of the game, and any solver solves it.

RNR: with probability p, decided once and hidden, the restricted player follows the model σ_fix
(Figure 5). DBR: the same at each of his information sets, with probability Pconf(I) (footnote 9).

For sampling, σ_fix is chance: where the model plays, its action is drawn on-policy like a card, and
a kernel never sees the node. The responder's information sets are shared by both subtrees because
they are the same slots. For full width, RNR is a sequence form whose responder faces p·y_fix + (1 -
p)·y, and DBR one whose restricted player has a floor under his probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import (
    answers,
    chance_buffer,
    chance_workspace,
    child,
    expanded_at,
    forced_at,
    full,
    infoset_at,
    passive_at,
    player_at,
    policy_at,
    sample_policy,
    slots_at,
    slots_of,
    start,
    utility,
)
from counterplay.core.forms.sequence import (
    SequenceForm,
    Side,
    Treeplex,
    gradient,
    side_from_entries,
)
from counterplay.core.kernels.jit import ZERO, jit
from counterplay.core.kernels.rng import uniform


class RestrictedForm(NamedTuple):
    """RNR on any form: s slots, m information sets."""

    inner: Any  # HistoryTree, BettingGame or RulesForm
    fixed: Any  # σ_fix, as the inner form takes policies: float64[s]
    restricted: int
    p: float


class DataBiasedForm(NamedTuple):
    """DBR on any form: a coin at every information set of the restricted player."""

    inner: Any
    fixed: Any  # σ_fix
    restricted: int
    confidence: np.ndarray  # float64[m]: Pconf(I), by row of σ_fix


class RestrictedChance(NamedTuple):
    """The scratch of chance: the inner form's, and the coin of the current history."""

    inner: Any
    coin: np.ndarray  # [1]: whether the model plays; the last place of the buffer


def restricted_form(form: Any, fixed: Any, restricted: int, p: float) -> RestrictedForm:
    """`fixed`: a policy as `form` takes it."""
    return RestrictedForm(form, _contiguous(fixed), int(restricted), float(p))


def data_biased_form(
    form: Any, fixed: Any, restricted: int, confidence: np.ndarray
) -> DataBiasedForm:
    """`confidence`: by row of `fixed`."""
    confidence = np.ascontiguousarray(confidence, dtype=np.float64)
    return DataBiasedForm(form, _contiguous(fixed), int(restricted), confidence)


def _contiguous(fixed: Any) -> Any:
    return np.ascontiguousarray(fixed) if isinstance(fixed, np.ndarray) else fixed


@jit(inline=True)
def _follow_model(
    form: Any, chance: Any, node: int, first: int, count: int, rng: np.ndarray
) -> Any:
    """The node after the action that σ_fix draws at `node`."""
    action = sample_policy(form.inner, form.fixed, first, count, uniform(rng))
    return child(form.inner, chance.inner, node, action, rng)


@jit(inline=True)
def _settle_restricted(form: Any, chance: Any, node: int, rng: np.ndarray) -> int:
    """In the restricted subtree, pass over the model's nodes."""
    if chance.coin[ZERO] == 1:
        while player_at(form.inner, chance.inner, node) == form.restricted:
            _, first, count = policy_at(form.inner, chance.inner, form.fixed, node)
            node = _follow_model(form, chance, node, first, count, rng)
    return node


@jit(inline=True)
def _settle_biased(form: Any, chance: Any, node: int, rng: np.ndarray) -> int:
    """Pass over the nodes where the coin is the model's."""
    while player_at(form.inner, chance.inner, node) == form.restricted:
        row, first, count = policy_at(form.inner, chance.inner, form.fixed, node)
        if uniform(rng) >= form.confidence[row]:
            break
        node = _follow_model(form, chance, node, first, count, rng)
    return node


@answers(start, RestrictedForm)
def _start_restricted(form: Any, chance: Any, rng: Any) -> Any:
    chance.coin[ZERO] = 1 if uniform(rng) < form.p else 0  # the coin, once per history
    node = start(form.inner, chance.inner, rng)
    return _settle_restricted(form, chance, node, rng)


@answers(child, RestrictedForm)
def _child_restricted(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    below = child(form.inner, chance.inner, node, action, rng)
    return _settle_restricted(form, chance, below, rng)


@answers(start, DataBiasedForm)
def _start_biased(form: Any, chance: Any, rng: Any) -> Any:
    node = start(form.inner, chance.inner, rng)
    return _settle_biased(form, chance, node, rng)


@answers(child, DataBiasedForm)
def _child_biased(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    below = child(form.inner, chance.inner, node, action, rng)
    return _settle_biased(form, chance, below, rng)


def _chance_buffer(form: Any) -> Any:
    inner = chance_buffer(form.inner)
    return np.concatenate([inner, np.zeros(1, dtype=inner.dtype)])


def _chance_on(form: Any, buffer: Any) -> Any:
    return RestrictedChance(chance_workspace(form.inner, buffer[:-1]), buffer[-1:])


def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return player_at(form.inner, chance.inner, node)


def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    return infoset_at(form.inner, chance.inner, node)


def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    return utility(form.inner, chance.inner, node, player)


def _slots_at(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    return slots_at(form.inner, chance.inner, node, infoset)


def _slots_of(form: Any, chance: Any, infoset: Any) -> Any:
    return slots_of(form.inner, chance.inner, infoset)


def _full(form: Any, chance: Any) -> Any:
    return full(form.inner, chance.inner)


def _forced_at(form: Any, chance: Any, node: Any) -> Any:
    return forced_at(form.inner, chance.inner, node)


def _expanded_at(form: Any, node: Any, infoset: Any) -> Any:
    return expanded_at(form.inner, node, infoset)


def _passive_at(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    return passive_at(form.inner, chance.inner, node, infoset, rng)


for _form in (RestrictedForm, DataBiasedForm):
    answers(chance_buffer, _form)(_chance_buffer)
    answers(chance_workspace, _form)(_chance_on)
    answers(player_at, _form)(_player_at)
    answers(infoset_at, _form)(_infoset_at)
    answers(utility, _form)(_utility)
    answers(slots_at, _form)(_slots_at)
    answers(slots_of, _form)(_slots_of)
    answers(full, _form)(_full)
    answers(forced_at, _form)(_forced_at)
    answers(expanded_at, _form)(_expanded_at)
    answers(passive_at, _form)(_passive_at)


def restricted_sequence_form(
    form: SequenceForm, fixed_plan: np.ndarray, restricted: int, p: float
) -> SequenceForm:
    """RNR at full width: payoffs times 1 - p, and p times the payoff against the model as
    entries with the empty sequence."""
    responder, model = form[1 - restricted], form[restricted]
    against = np.empty(responder.n_sequences)
    gradient(responder, fixed_plan, against)
    rows = np.repeat(np.arange(model.n_sequences), np.diff(model.row))
    to_model = np.bincount(
        model.column, weights=model.value * fixed_plan[rows], minlength=responder.n_sequences
    )
    everything = np.arange(responder.n_sequences)
    nothing = np.zeros_like(everything)
    new_responder = _blend(responder, 1.0 - p, everything, nothing, p * against, model.n_sequences)
    new_model = _blend(model, 1.0 - p, nothing, everything, p * to_model, responder.n_sequences)
    return (
        SequenceForm(new_model, new_responder)
        if restricted == 0
        else SequenceForm(new_responder, new_model)
    )


def _blend(
    side: Side,
    scale: float,
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    n_columns: int,
) -> Side:
    """`side` with its entries scaled and more entries added."""
    own = np.repeat(np.arange(side.n_sequences), np.diff(side.row))
    row = np.concatenate([own, rows]).astype(np.int32)
    column = np.concatenate([side.column, columns]).astype(np.int32)
    value = np.concatenate([scale * side.value, values])
    keep = np.flatnonzero(value)
    return side_from_entries(
        Treeplex(side.parent, side.first, side.floor),
        row[keep],
        column[keep],
        value[keep],
        n_columns,
    )


def data_biased_sequence_form(
    form: SequenceForm, fixed: np.ndarray, restricted: int, confidence: np.ndarray
) -> SequenceForm:
    """DBR at full width: σ(I, a) >= Pconf(I) σ_fix(I, a). `fixed`, `confidence`: the restricted
    player's own slots and sets."""
    side = form[restricted]
    floor = np.repeat(confidence, np.diff(side.first)) * fixed
    bound = side._replace(floor=floor)
    return form._replace(one=bound) if restricted == 0 else form._replace(two=bound)
