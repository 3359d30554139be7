"""Restricted games (Section 4): the opponent model is part of the game, and any solver solves it.

RNR: with probability p, decided once and hidden, the restricted player follows the model σ_fix
(Figure 5). DBR: it follows the model at each of its information sets with probability Pconf(I)
(footnote 9).

For sampling, σ_fix is chance: where the model plays, its action is drawn on-policy like a card, and
a kernel never sees the node. The responder's information sets are shared by both subtrees because
they are the same slots. For full width, RNR is a sequence form whose responder faces p·y_fix + (1 -
p)·y, and DBR one whose restricted player has lower bounds on its probabilities.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms import access
from counterplay.core.forms.access import answers, question
from counterplay.core.forms.sequence import (
    SequenceForm,
    Side,
    Treeplex,
    gradient,
    side_from_entries,
)
from counterplay.core.kernels.jit import ONE, ZERO, jit
from counterplay.core.kernels.rng import uniform


class RestrictedPlayer(NamedTuple):
    """The restricted player, for engines that have no such form; m information sets."""

    model: Any  # a `Strategy`
    player: int
    trust: np.ndarray  # float64[m]: Pconf(I), by information set of the model
    p: float | None  # the probability of the model, decided before the game; None: `trust`


class OtherModel(NamedTuple):
    """A model whose information sets are not those of the game, such as one with another card
    abstraction, for engines that take one."""

    form: Any  # of the model's game
    policy: np.ndarray  # float64[s]: σ_fix


class RestrictedForm(NamedTuple):
    """RNR on any form: one coin per history."""

    inner: Any  # HistoryTree, BettingGame or RulesForm
    fixed: Any  # σ_fix, as the inner form takes policies: float64[s]; or an `OtherModel`
    restricted: int
    p: float


class SeveralRestrictedForm(NamedTuple):
    """RNR with several opponents on any form: a coin for each of them per history, hidden from the
    others; one whose coin shows heads follows its part of σ_fix."""

    inner: Any
    fixed: Any  # σ_fix, a profile
    responder: int
    p: float
    players: int


class DataBiasedForm(NamedTuple):
    """DBR on any form: a coin at every information set of the restricted player."""

    inner: Any
    fixed: Any  # σ_fix
    restricted: int
    confidence: np.ndarray  # float64[m]: Pconf(I), by row of σ_fix


class RestrictedChance(NamedTuple):
    """The workspace of chance: the inner form's, and the coin of the current history."""

    inner: Any
    #: [1]: bit 0: whether the model plays; above it, the nodes that the model has played (RNR). The
    #: last entry of the buffer. With several opponents the entry before it has their coins, a bit
    #: for each player.
    coin: np.ndarray


def restricted_form(form: Any, fixed: Any, restricted: int, p: float) -> RestrictedForm:
    """The RNR form; `fixed` is a policy as `form` takes it."""
    return RestrictedForm(form, _contiguous(fixed), int(restricted), float(p))


def several_restricted_form(
    form: Any, fixed: Any, responder: int, p: float, players: int
) -> SeveralRestrictedForm:
    """The RNR form of a game of several players."""
    return SeveralRestrictedForm(form, _contiguous(fixed), int(responder), float(p), int(players))


def data_biased_form(
    form: Any, fixed: Any, restricted: int, confidence: np.ndarray
) -> DataBiasedForm:
    """The DBR form; `confidence` is by row of `fixed`."""
    confidence = np.ascontiguousarray(confidence, dtype=np.float64)
    return DataBiasedForm(form, _contiguous(fixed), int(restricted), confidence)


def _contiguous(fixed: Any) -> Any:
    return np.ascontiguousarray(fixed) if isinstance(fixed, np.ndarray) else fixed


def take_model_nodes(chance: RestrictedChance) -> int:
    """The nodes that the model has played since the last call."""
    played = int(chance.coin[-1]) >> 1
    chance.coin[-1] &= 1
    return played


@jit(inline=True)
def _follow_model(
    form: Any, chance: Any, node: int, first: int, count: int, rng: np.ndarray
) -> Any:
    """The node after the action that σ_fix draws at `node`."""
    action = access.sample_policy(form.inner, form.fixed, first, count, uniform(rng))
    return access.child(form.inner, chance.inner, node, action, rng)


@question
def settle(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """The first node from `node` on that the model does not play."""
    raise NotImplementedError


@answers(settle, RestrictedForm)
def _settle_restricted(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """In the restricted subtree, plays the model's nodes."""
    if chance.coin[ZERO] & 1 == 1:
        while access.player_at(form.inner, chance.inner, node) == form.restricted:
            chance.coin[ZERO] += 2
            _, first, count = access.policy_at(form.inner, chance.inner, form.fixed, node)
            node = _follow_model(form, chance, node, first, count, rng)
    return node


@answers(settle, SeveralRestrictedForm)
def _settle_several(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """Plays the nodes of the players who follow their models."""
    player = access.player_at(form.inner, chance.inner, node)
    while player >= 0 and (chance.coin[ZERO] >> player) & 1 == 1:
        chance.coin[ONE] += 2
        _, first, count = access.policy_at(form.inner, chance.inner, form.fixed, node)
        node = _follow_model(form, chance, node, first, count, rng)
        player = access.player_at(form.inner, chance.inner, node)
    return node


@answers(settle, DataBiasedForm)
def _settle_biased(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """Plays the nodes where the coin chooses the model."""
    while access.player_at(form.inner, chance.inner, node) == form.restricted:
        row, first, count = access.policy_at(form.inner, chance.inner, form.fixed, node)
        if uniform(rng) >= form.confidence[row]:
            break
        node = _follow_model(form, chance, node, first, count, rng)
    return node


@answers(access.start, RestrictedForm)
def _start_restricted(form: Any, chance: Any, rng: Any) -> Any:
    heads = 1 if uniform(rng) < form.p else 0  # once per history
    chance.coin[ZERO] = (chance.coin[ZERO] | 1) ^ (1 - heads)
    return settle(form, chance, access.start(form.inner, chance.inner, rng), rng)


@answers(access.start, SeveralRestrictedForm)
def _start_several(form: Any, chance: Any, rng: Any) -> Any:
    heads = 0
    for player in range(form.players):
        if player != form.responder and uniform(rng) < form.p:
            heads |= 1 << player
    chance.coin[ZERO] = heads
    return settle(form, chance, access.start(form.inner, chance.inner, rng), rng)


@answers(access.start, DataBiasedForm)
def _start_biased(form: Any, chance: Any, rng: Any) -> Any:
    return settle(form, chance, access.start(form.inner, chance.inner, rng), rng)


@answers(access.child, RestrictedForm, SeveralRestrictedForm, DataBiasedForm)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    below = access.child(form.inner, chance.inner, node, action, rng)
    return settle(form, chance, below, rng)


@answers(access.chance_buffer, RestrictedForm, DataBiasedForm)
def _chance_buffer(form: Any) -> Any:
    inner = access.chance_buffer(form.inner)
    return np.concatenate([inner, np.zeros(1, dtype=inner.dtype)])


@answers(access.chance_buffer, SeveralRestrictedForm)
def _chance_buffer_several(form: Any) -> Any:
    inner = access.chance_buffer(form.inner)
    return np.concatenate([inner, np.zeros(2, dtype=inner.dtype)])


@answers(access.chance_workspace, SeveralRestrictedForm)
def _chance_workspace_several(form: Any, buffer: Any) -> Any:
    return RestrictedChance(access.chance_workspace(form.inner, buffer[:-2]), buffer[-2:])


@answers(access.chance_workspace, RestrictedForm, DataBiasedForm)
def _chance_workspace(form: Any, buffer: Any) -> Any:
    return RestrictedChance(access.chance_workspace(form.inner, buffer[:-1]), buffer[-1:])


def _by_inner(asked: Any) -> Any:
    """The answer to a question that the inner form gives."""
    names = list(inspect.signature(asked).parameters)
    passed = (f"{name}.inner" if name in ("form", "chance") else name for name in names)
    scope: dict[str, Any] = {"asked": asked}
    exec(f"def answer({', '.join(names)}): return asked({', '.join(passed)})", scope)
    scope["answer"].__annotations__ = asked.__annotations__
    return scope["answer"]


for _asked in (
    *(access.player_at, access.infoset_at, access.utility, access.slots_at, access.slots_of),
    *(access.full, access.forced_at, access.expanded_at, access.passive_at),
):
    answers(_asked, RestrictedForm, SeveralRestrictedForm, DataBiasedForm)(_by_inner(_asked))


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
    every = np.arange(responder.n_sequences)
    empty = np.zeros_like(every)
    new_responder = _blend(responder, 1.0 - p, every, empty, p * against, model.n_sequences)
    new_model = _blend(model, 1.0 - p, empty, every, p * to_model, responder.n_sequences)
    pair = (new_model, new_responder)
    return SequenceForm(*(pair if restricted == 0 else reversed(pair)))


def _blend(side: Side, scale: float, rows: Any, columns: Any, values: Any, n_columns: int) -> Side:
    """`side` with its entries scaled by `scale` and more entries added."""
    own = np.repeat(np.arange(side.n_sequences), np.diff(side.row))
    row = np.concatenate([own, rows]).astype(np.int32)
    column = np.concatenate([side.column, columns]).astype(np.int32)
    value = np.concatenate([scale * side.value, values])
    keep = np.flatnonzero(value)
    plex = Treeplex(side.parent, side.first, side.floor)
    return side_from_entries(plex, row[keep], column[keep], value[keep], n_columns)


def data_biased_sequence_form(
    form: SequenceForm, fixed: np.ndarray, restricted: int, confidence: np.ndarray
) -> SequenceForm:
    """DBR at full width: σ(I, a) >= Pconf(I) σ_fix(I, a). `fixed`, `confidence`: the restricted
    player's own slots and sets."""
    side = form[restricted]
    floor = np.repeat(confidence, np.diff(side.first)) * fixed
    bound = side._replace(floor=floor)
    return form._replace(one=bound) if restricted == 0 else form._replace(two=bound)
