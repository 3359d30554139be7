"""What a sampling kernel may ask of a form, and how Numba picks the answer.

A kernel is written once against the questions below. Each form answers them with plain functions
(`@answers`); inside a kernel Numba chooses by the type of the form's tuple at compile time, and
with the jit off Python does. Chance is hidden: `start` and `child` draw it on-policy and return the
next node where a player acts or the game is over, so that its probability cancels in every sampled
quantity.

A form with an array `first` of all its information sets need not answer the questions about slots
and policies; one that finds them while playing (`found_form.py`) answers by look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload

from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import sample_action
from counterplay.core.kernels.prefetch import prefetch_at
from counterplay.core.kernels.rng import uniform

F = TypeVar("F", bound=Callable[..., Any])

_ANSWERS: dict[tuple[str, type], Callable[..., Any]] = {}


def answers(question: Callable[..., Any], form: type) -> Callable[[F], F]:
    """Decorator: this function answers `question` for forms of type `form`."""

    def register(function: F) -> F:
        _ANSWERS[question.__name__, form] = function
        return function

    return register


def answer(question: str, form: type) -> Callable[..., Any]:
    """How forms of type `form` answer `question`."""
    found = _ANSWERS.get((question, form))
    return _LISTED[question] if found is None else found


def chance_buffer(form: Any) -> Any:
    """One array for what chance dealt in a game, as files keep it; called outside kernels."""
    return _ANSWERS["chance_buffer", type(form)](form)


def chance_on(form: Any, buffer: Any) -> Any:
    """The scratch that kernels fill, `chance` below: a structure of the form's own over `buffer`,
    made ready for a first game."""
    return _ANSWERS["chance_on", type(form)](form, buffer)


def lane_buffer(form: Any, many: int) -> Any:
    """As `chance_buffer`, for so many games that are played at once."""
    found = _ANSWERS.get(("lane_buffer", type(form)))
    return chance_buffer(form) if found is None else found(form, many)


def new_hand(form: Any) -> Any:
    """Scratch that no file keeps, for one thread."""
    return chance_on(form, cache_aligned(chance_buffer(form)))


def start(form: Any, chance: Any, rng: Any) -> Any:
    """Begin a game; fills `chance`, the form's scratch for what chance dealt. The first node that
    is not chance."""
    return _ANSWERS["start", type(form)](form, chance, rng)


def start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    """`start` of one of several games that are played at once; a form that is not its own answer
    keeps nothing of a game in `chance`."""
    return answer("start_in", type(form))(form, chance, lane, rng)


def chance_in(form: Any, chance: Any, lane: Any) -> Any:
    """What chance dealt in one of several games that are played at once."""
    return answer("chance_in", type(form))(form, chance, lane)


def infoset_in(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    """`infoset_at` in one of several games that are played at once."""
    return answer("infoset_in", type(form))(form, chance, lane, node)


def move(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    """`child` without what chance does there, where that waits for memory: `settle` does it."""
    return answer("move", type(form))(form, chance, node, action, rng)


def settle(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """From where `move` led to what `child` would have given."""
    return answer("settle", type(form))(form, chance, node, rng)


def ask_node(form: Any, chance: Any, node: Any) -> Any:
    """Start loading what is read at `node`, where `move` led."""
    return answer("ask_node", type(form))(form, chance, node)


def ask_slots(form: Any, chance: Any, infoset: Any) -> Any:
    """Start loading what `slots_at` will read."""
    return answer("ask_slots", type(form))(form, chance, infoset)


def child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    """The next node that is not chance after `action` at `node`."""
    return _ANSWERS["child", type(form)](form, chance, node, action, rng)


def player_at(form: Any, chance: Any, node: Any) -> Any:
    """Who acts at `node`; negative when the game is over."""
    return _ANSWERS["player_at", type(form)](form, chance, node)


def forced_at(form: Any, chance: Any, node: Any) -> Any:
    """Whether there is but one action at `node`, where a player acts: nothing is to be learnt."""
    return answer("forced_at", type(form))(form, chance, node)


def infoset_at(form: Any, chance: Any, node: Any) -> Any:
    """The information set of the player who acts at `node`."""
    return _ANSWERS["infoset_at", type(form)](form, chance, node)


def utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    """Payoff of `player` at a node where the game is over."""
    return _ANSWERS["utility", type(form)](form, chance, node, player)


def slots_at(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    """First slot and number of actions of `infoset`, which `infoset_at` just gave for `node`."""
    return answer("slots_at", type(form))(form, chance, node, infoset)


def slots_of(form: Any, chance: Any, infoset: Any) -> Any:
    """The same of any information set that was met."""
    return answer("slots_of", type(form))(form, chance, infoset)


def full(form: Any, chance: Any) -> Any:
    """Whether there may be no room for the information sets of one more history."""
    return answer("full", type(form))(form, chance)


def expanded_at(form: Any, node: Any, infoset: Any) -> Any:
    """Where to note that a node is in the tree of MCTS: nodes, or information sets where a form
    has no list of nodes."""
    return answer("expanded_at", type(form))(form, node, infoset)


def passive_at(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    """The action that checks or calls at `node`. (`rng` is not drawn from.)"""
    return answer("passive_at", type(form))(form, chance, node, infoset, rng)


def drawn_by(form: Any, policy: Any, first: Any, count: Any, u: Any) -> Any:
    """The action that a fixed policy draws with `u`, where `policy_at` gave `first` and `count`."""
    return answer("drawn_by", type(form))(form, policy, first, count, u)


def policy_at(form: Any, chance: Any, policy: Any, node: Any) -> Any:
    """Of a fixed policy at `node`: the number of its row, where its probabilities begin and how
    many actions there are."""
    return answer("policy_at", type(form))(form, chance, policy, node)


def _start_in_listed(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    return start(form, chance, rng)


def _chance_in_listed(form: Any, chance: Any, lane: Any) -> Any:
    return chance


def _infoset_in_listed(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    return infoset_at(form, chance, node)


def _move_listed(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return child(form, chance, node, action, rng)


def _settle_listed(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    return node


def _ask_node_listed(form: Any, chance: Any, node: Any) -> Any:
    prefetch_at(form.row, node)
    prefetch_at(form.player, node)
    prefetch_at(form.first_child, node)


def _ask_slots_listed(form: Any, chance: Any, infoset: Any) -> Any:
    prefetch_at(form.first, infoset)


def _forced_at_listed(form: Any, chance: Any, node: Any) -> Any:
    return False


def _slots_at_listed(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    first = index(form.first[infoset])
    return first, index(form.first[infoset + ONE]) - first


def _slots_of_listed(form: Any, chance: Any, infoset: Any) -> Any:
    first = index(form.first[infoset])
    return first, index(form.first[infoset + ONE]) - first


def _full_listed(form: Any, chance: Any) -> Any:
    return False


def _expanded_at_listed(form: Any, node: Any, infoset: Any) -> Any:
    return node


def _passive_at_listed(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    return index(form.passive[infoset])


def _drawn_by_listed(form: Any, policy: Any, first: Any, count: Any, u: Any) -> Any:
    return sample_action(policy, first, count, u)


def _policy_at_listed(form: Any, chance: Any, policy: Any, node: Any) -> Any:
    infoset = infoset_at(form, chance, node)
    first = index(form.first[infoset])
    return infoset, first, index(form.first[infoset + ONE]) - first


#: Answers of a form that says nothing else: it has a list of its information sets.
_LISTED: dict[str, Callable[..., Any]] = {
    "start_in": _start_in_listed,
    "chance_in": _chance_in_listed,
    "infoset_in": _infoset_in_listed,
    "move": _move_listed,
    "settle": _settle_listed,
    "ask_node": _ask_node_listed,
    "ask_slots": _ask_slots_listed,
    "forced_at": _forced_at_listed,
    "slots_at": _slots_at_listed,
    "slots_of": _slots_of_listed,
    "full": _full_listed,
    "expanded_at": _expanded_at_listed,
    "passive_at": _passive_at_listed,
    "drawn_by": _drawn_by_listed,
    "policy_at": _policy_at_listed,
}


@overload(start_in)
def _start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    return answer("start_in", form.instance_class)


@overload(chance_in)
def _chance_in(form: Any, chance: Any, lane: Any) -> Any:
    return answer("chance_in", form.instance_class)


@overload(infoset_in)
def _infoset_in(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    return answer("infoset_in", form.instance_class)


@overload(move)
def _move(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return answer("move", form.instance_class)


@overload(settle)
def _settle(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    return answer("settle", form.instance_class)


@overload(ask_node)
def _ask_node(form: Any, chance: Any, node: Any) -> Any:
    return answer("ask_node", form.instance_class)


@overload(ask_slots)
def _ask_slots(form: Any, chance: Any, infoset: Any) -> Any:
    return answer("ask_slots", form.instance_class)


@overload(forced_at)
def _forced_at(form: Any, chance: Any, node: Any) -> Any:
    return answer("forced_at", form.instance_class)


@overload(slots_at)
def _slots_at(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    return answer("slots_at", form.instance_class)


@overload(slots_of)
def _slots_of(form: Any, chance: Any, infoset: Any) -> Any:
    return answer("slots_of", form.instance_class)


@overload(full)
def _full(form: Any, chance: Any) -> Any:
    return answer("full", form.instance_class)


@overload(expanded_at)
def _expanded_at(form: Any, node: Any, infoset: Any) -> Any:
    return answer("expanded_at", form.instance_class)


@overload(passive_at)
def _passive_at(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    return answer("passive_at", form.instance_class)


@overload(drawn_by)
def _drawn_by(form: Any, policy: Any, first: Any, count: Any, u: Any) -> Any:
    return answer("drawn_by", form.instance_class)


@overload(policy_at)
def _policy_at(form: Any, chance: Any, policy: Any, node: Any) -> Any:
    return answer("policy_at", form.instance_class)


@overload(start)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    return _ANSWERS["start", form.instance_class]


@overload(child)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return _ANSWERS["child", form.instance_class]


@overload(player_at)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return _ANSWERS["player_at", form.instance_class]


@overload(infoset_at)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    return _ANSWERS["infoset_at", form.instance_class]


@overload(utility)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    return _ANSWERS["utility", form.instance_class]


@jit(inline=True)
def play_once(form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray) -> Any:
    """One game of any two-player form; where it ends."""
    node = start(form, chance, rng)
    player = player_at(form, chance, node)
    while player >= 0:
        if player == 0:
            _, first, count = policy_at(form, chance, one, node)
            action = drawn_by(form, one, first, count, uniform(rng))
        else:
            _, first, count = policy_at(form, chance, two, node)
            action = drawn_by(form, two, first, count, uniform(rng))
        node = child(form, chance, node, action, rng)
        player = player_at(form, chance, node)
    return node


@jit
def play_games(
    form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray, n: int, sums: np.ndarray
) -> None:
    """n games; adds player 1's payoffs, and their squares, to `sums` (float64[2])."""
    for _ in range(index(n)):
        won = utility(form, chance, play_once(form, chance, one, two, rng), 0)
        sums[ZERO] += won
        sums[ONE] += won * won
