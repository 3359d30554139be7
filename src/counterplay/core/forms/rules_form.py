"""`RulesForm`: compiled rules as a form for sampling kernels.

A node is the number of decisions so far. The workspace has a row for each node of the current
history, so that a kernel can go back to any of them. Information sets are discovered while playing
(`infoset_table.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms import access
from counterplay.core.forms.access import answers
from counterplay.core.forms.compiled import (
    BAD_KEY,
    BAD_PASSIVE,
    COUNT,
    KNOWN,
    PASSIVE,
    PLAY,
    TOO_LONG,
    WHO,
    Shape,
    address_of,
    constants_of,
    shape_of,
)
from counterplay.core.forms.infoset_table import (
    EXACT_BITS,
    PLAYER_BITS,
    PROBLEM,
    SETS,
    SETS_LIMIT,
    SLOTS,
    SLOTS_LIMIT,
    InfosetTable,
    entry_infoset,
    entry_slot,
    find,
    find_or_add,
    home_cell,
    new_infoset_table,
    table_from_keys,
)
from counterplay.core.forms.rules import CompiledRules
from counterplay.core.forms.tree import TERMINAL
from counterplay.core.kernels.cache_lines import cache_aligned, cache_aligned_fields
from counterplay.core.kernels.intrinsics import call_rules, prefetch, prefetch_at
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import sample_action

_WHO, _COUNT, _KNOWN = index(WHO), index(COUNT), index(KNOWN)
_SHIFT, _EXACT = index(PLAYER_BITS), index(EXACT_BITS)
_PLAYERS = index(2**PLAYER_BITS - 1)
_31, _33 = index(31), index(33)
_A, _B = index(0x9E3779B97F4A7C15), index(0xD1342543DE82EF95)
_C, _D = index(0xBF58476D1CE4E5B9), index(0x94D049BB133111EB)


class RulesForm(NamedTuple):
    """Compiled rules: the address of their step function, and their constants."""

    step: int
    constants: np.ndarray  # int64[...]
    shape: Shape


class RulesWorkspace(NamedTuple):
    """The workspace of a history of at most d decisions, or of several interleaved ones, each in
    rows of its own; and the information-set table of all of them."""

    states: np.ndarray  # int64[d + 1, state]
    facts: np.ndarray  # int64[d + 1, KNOWN + known]
    payoff: np.ndarray  # float64[d + 1, p]: at the end of the history
    slot: np.ndarray  # uint64[d + 1]: first slot of the information set of each node
    cells: np.ndarray  # as in `InfosetTable`
    first: np.ndarray
    size: np.ndarray


class HashPolicy(NamedTuple):
    """A fixed policy by key: rows with s probabilities in all, then uniform rows."""

    cells: np.ndarray  # as in `InfosetTable`
    # float64[s + w (w + 1) / 2]: the rows, then uniform ones of 1, 2, ..., w actions
    shares: np.ndarray
    n_rows: int
    n_shares: int  # s


def rules_form(name: str, rules: CompiledRules, fixed: bool = True) -> tuple[RulesForm, Any]:
    """The form of rules, and the code that must live as long as it is used (`address_of`)."""
    address, code = address_of(name, rules, fixed)
    return RulesForm(address, constants_of(name, rules), shape_of(name, rules)), code


def key_words(shape: Shape) -> int:
    """Words of a key: one if it is exact, two if it is a hash."""
    return 1 if shape.known == 1 else 2


def hash_policy(keys: np.ndarray, counts: np.ndarray, shares: np.ndarray, most: int) -> HashPolicy:
    """The probabilities `shares` by key, and uniform play elsewhere."""
    table = table_from_keys(keys, counts)
    uniform = [np.full(n, 1.0 / n) for n in range(1, most + 1)]
    return HashPolicy(table.cells, np.concatenate([shares, *uniform]), len(keys), len(shares))


@jit(inline=True)
def key_at(chance: RulesWorkspace, node: int) -> tuple[int, int]:
    """The key of the information set at `node`."""
    facts = chance.facts
    player = index(facts[node, _WHO])
    if facts.shape[1] == KNOWN + 1:
        known = index(facts[node, _KNOWN])
        if known >> _EXACT != ZERO:
            chance.size[PROBLEM] = BAD_KEY
        return (known << _SHIFT) | player, ZERO
    low, high = player, ONE
    for k in range(_KNOWN, index(facts.shape[1])):
        word = index(facts[node, k])
        low = (low ^ word) * _A
        low = (low ^ (low >> _31)) * _C
        high = (high + word) * _B + low
        high = (high ^ (high >> _33)) * _D
        low ^= high >> _31
    return (low & ~_PLAYERS) | player, high


def key_of(shape: Shape, player: int, known: tuple[int, ...]) -> np.ndarray:
    """uint64[1, words]: the key of a player who knows `known`."""
    return keys_of_known(np.array([player]), np.array([known], dtype=np.int64))


def keys_of_known(players: np.ndarray, known: np.ndarray) -> np.ndarray:
    """uint64[n, words]: the keys of n players who know `known` (int64[n, k])."""
    shape = Shape(1, 1, known.shape[1], 1, 1)
    facts = np.ones((len(known), KNOWN + shape.known), dtype=np.int64)
    facts[:, WHO], facts[:, KNOWN:] = players, known
    keys = np.zeros((len(known), key_words(shape)), dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the jit NumPy warns of the wrap-around
        _fill_keys(rules_workspace(shape, 1)._replace(facts=facts), keys)
    return keys


@jit
def _fill_keys(chance: RulesWorkspace, keys: np.ndarray) -> None:
    for node in range(index(len(keys))):
        low, high = key_at(chance, node)
        keys[node, ZERO] = low
        if keys.shape[1] > 1:
            keys[node, ONE] = high


@answers(access.chance_buffer, RulesForm)
def _chance_buffer(form: Any) -> Any:
    return np.empty(0, dtype=np.int64)


@answers(access.chance_workspace, RulesForm)
def _chance_on(form: Any, buffer: Any) -> Any:
    return rules_workspace(form.shape, form.shape.depth + 1)


def rules_workspace(shape: Shape, rows: int) -> RulesWorkspace:
    """An empty workspace of `rows` nodes."""
    return RulesWorkspace(
        cache_aligned(np.zeros((rows, shape.state), dtype=np.int64)),
        cache_aligned(np.zeros((rows, KNOWN + shape.known), dtype=np.int64)),
        cache_aligned(np.zeros((rows, shape.n_players))),
        cache_aligned(np.zeros(rows, dtype=np.uint64)),
        *cache_aligned_fields(new_infoset_table(key_words(shape))),
    )


@jit(inline=True)
def take_step(
    form: RulesForm,
    chance: RulesWorkspace,
    above: int,
    below: int,
    action: Any,
    mode: int,
    rng: Any,
) -> None:
    """Calls the rules: from row `above` of the workspace by an action to row `below`."""
    call_rules(
        form.step,
        form.constants,
        chance.states,
        above,
        below,
        action,
        mode,
        rng,
        chance.facts,
        chance.payoff,
    )


@jit(inline=True)
def _settled(chance: RulesWorkspace, node: int) -> int:
    """Returns `node`, after noting an error of the rules there."""
    if chance.facts[node, _WHO] < 0 and chance.facts[node, _COUNT] > 0:
        chance.size[PROBLEM] = chance.facts[node, _COUNT]
    return node


@jit(inline=True)
def _begin(form: RulesForm, chance: RulesWorkspace, node: int, rng: np.ndarray) -> int:
    take_step(form, chance, node, node, -1, PLAY, rng)
    return _settled(chance, node)


@answers(access.start, RulesForm)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    return _begin(form, chance, ZERO, rng)


@answers(access.start_lane, RulesForm)
def _start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    return _begin(form, chance, lane * (index(form.shape.depth) + ONE), rng)


@answers(access.prefetch_node, RulesForm)
def _ask_node(form: Any, chance: Any, node: Any) -> Any:
    if chance.facts[node, _WHO] >= 0 and chance.facts[node, _COUNT] > 1:
        low, high = key_at(chance, node)
        prefetch(chance.cells, home_cell(low, high, index(chance.cells.shape[0]) - ONE), ZERO)


@answers(access.prefetch_slots, RulesForm)
def _ask_slots(form: Any, chance: Any, infoset: Any) -> Any:
    prefetch_at(chance.first, infoset)


@answers(access.child, RulesForm)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    below = node + ONE
    take_step(form, chance, node, below, np.int64(action), PLAY, rng)
    last = (below + ONE) % (index(form.shape.depth) + ONE) == ZERO  # row of the history
    if last and chance.facts[below, _WHO] >= 0:
        chance.size[PROBLEM] = TOO_LONG
        chance.facts[below, _WHO] = TERMINAL
        chance.facts[below, _COUNT] = TOO_LONG
    return _settled(chance, below)


@answers(access.player_at, RulesForm)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return chance.facts[node, _WHO]


@answers(access.forced_at, RulesForm)
def _forced_at(form: Any, chance: Any, node: Any) -> Any:
    return chance.facts[node, _COUNT] == 1


@answers(access.infoset_at, RulesForm)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    low, high = key_at(chance, node)
    entry = find_or_add(chance, low, high, index(chance.facts[node, _COUNT]))
    chance.slot[node] = entry_slot(entry)
    return entry_infoset(entry)


@answers(access.slots_at, RulesForm)
def _slots_at(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    return chance.slot[node], index(chance.facts[node, _COUNT])


@answers(access.slots_of, RulesForm)
def _slots_of(form: Any, chance: Any, infoset: Any) -> Any:
    first = index(chance.first[infoset])
    return first, index(chance.first[infoset + ONE]) - first


@answers(access.full, RulesForm)
def _full(form: Any, chance: Any) -> Any:
    return (
        chance.size[SETS] > chance.size[SETS_LIMIT]
        or chance.size[SLOTS] > chance.size[SLOTS_LIMIT]
        or chance.size[PROBLEM] != 0
    )


@answers(access.expanded_at, RulesForm)
def _expanded_at(form: Any, node: Any, infoset: Any) -> Any:
    return infoset


@answers(access.passive_at, RulesForm)
def _passive_at(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    take_step(form, chance, node, node, 0, PASSIVE, rng)
    action = chance.payoff[node, ZERO]
    if action < 0.0 or action >= chance.facts[node, _COUNT]:
        chance.size[PROBLEM] = BAD_PASSIVE
        return ZERO
    return index(action)


@answers(access.utility, RulesForm)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    return chance.payoff[node, index(player)]


@answers(access.sample_policy, RulesForm)
def _drawn_by(form: Any, policy: Any, first: Any, count: Any, u: Any) -> Any:
    return sample_action(policy.shares, first, count, u)


@answers(access.policy_at, RulesForm)
def _policy_at(form: Any, chance: Any, policy: Any, node: Any) -> Any:
    low, high = key_at(chance, node)
    _, entry = find(policy.cells, low, high)
    count = index(chance.facts[node, _COUNT])
    if entry != ZERO:
        return entry_infoset(entry), entry_slot(entry), count
    return index(policy.n_rows), index(policy.n_shares) + (count * (count - ONE) >> ONE), count


def table_in(chance: RulesWorkspace) -> InfosetTable:
    """The information-set table of a workspace."""
    return InfosetTable(chance.cells, chance.first, chance.size)
