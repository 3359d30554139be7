"""The questions that kernels ask a form, and how Numba chooses the answer.

A sampling kernel is written once against the questions below. A form registers its own answers with
`@answers`; the body of a question is the answer of every other form, which has an array `first` of
all its information sets. Numba chooses by the type of the form's tuple when it compiles a kernel;
with the jit off Python chooses at every call.

Kernels never see chance: `start` and `child` draw it on-policy and return the next node where a
player acts or the game is over, so that its probability cancels in every sampled quantity. The
argument `chance` is the form's workspace for what chance dealt.

Forms that discover information sets while playing (`rules_form.py`) look up slots and policies by
key. The question of full-width kernels is `payoff_gradient` (`sequence.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload

from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.inner import INNER
from counterplay.core.kernels.intrinsics import prefetch_at
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import sample_action
from counterplay.core.kernels.rng import uniform

F = TypeVar("F", bound=Callable[..., Any])

_ANSWERS: dict[tuple[str, type], Callable[..., Any]] = {}


def answers(question: Callable[..., Any], *forms: type) -> Callable[[F], F]:
    """Decorator: the function answers `question` for forms of these types."""

    def register(function: F) -> F:
        for form in forms:
            _ANSWERS[question.__name__, form] = function
        return function

    return register


def question(default: F) -> F:
    """Decorator: the function becomes a question, and its body the answer of forms that register
    none. Answers have the same arguments, by name and by annotation."""
    name = default.__name__

    @wraps(default)
    def ask(form: Any, *arguments: Any) -> Any:
        return _ANSWERS.get((name, type(form)), default)(form, *arguments)

    def choose(form: Any, *arguments: Any) -> Any:
        return _ANSWERS.get((name, form.instance_class), default)

    choose.__signature__ = inspect.signature(default)  # type: ignore[attr-defined]
    overload(ask, jit_options=INNER)(choose)
    return ask  # type: ignore[return-value]


def chance_buffer(form: Any) -> Any:
    """A new array for what chance deals in one game, as files hold it; not for kernels."""
    return _ANSWERS["chance_buffer", type(form)](form)


def chance_workspace(form: Any, buffer: Any) -> Any:
    """The workspace `chance` of kernels: a structure over `buffer`, ready for a first game."""
    return _ANSWERS["chance_workspace", type(form)](form, buffer)


def lane_buffer(form: Any, many: int) -> Any:
    """`chance_buffer` for `many` interleaved games."""
    make = _ANSWERS.get(("lane_buffer", type(form)))
    return chance_buffer(form) if make is None else make(form, many)


def new_chance(form: Any) -> Any:
    """A workspace `chance` for one thread, which no file holds."""
    return chance_workspace(form, cache_aligned(chance_buffer(form)))


@question
def start(form: Any, chance: Any, rng: Any) -> Any:
    """Begins a game and returns its first node that is not chance; fills `chance`."""
    raise NotImplementedError


@question
def child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    """The next node after `action` at `node` that is not chance."""
    raise NotImplementedError


@question
def player_at(form: Any, chance: Any, node: Any) -> Any:
    """The player who acts at `node`; negative when the game is over."""
    raise NotImplementedError


@question
def infoset_at(form: Any, chance: Any, node: Any) -> Any:
    """The information set of the player who acts at `node`."""
    raise NotImplementedError


@question
def utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    """The payoff of `player` at a terminal node."""
    raise NotImplementedError


@question
def start_lane(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    """`start` of one of several interleaved games. Forms without an answer of their own keep
    nothing of a game in `chance`."""
    return start(form, chance, rng)


@question
def lane_chance(form: Any, chance: Any, lane: Any) -> Any:
    """The workspace `chance` of one of several interleaved games."""
    return chance


@question
def lane_infoset(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    """`infoset_at` in one of several interleaved games."""
    return infoset_at(form, chance, node)


@question
def move(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    """The first half of `child`: before chance is drawn, where that waits for memory."""
    return child(form, chance, node, action, rng)


@question
def settle(form: Any, chance: Any, node: Any, rng: Any) -> Any:
    """The second half of `child`: from the result of `move` to the next node that is not chance."""
    return node


@question
def prefetch_node(form: Any, chance: Any, node: Any) -> Any:
    """Starts to load what will be read at `node`, a result of `move`."""
    prefetch_at(form.row, node)
    prefetch_at(form.player, node)
    prefetch_at(form.first_child, node)


@question
def prefetch_slots(form: Any, chance: Any, infoset: Any) -> Any:
    """Starts to load what `slots_at` will read."""
    prefetch_at(form.first, infoset)


@question
def forced_at(form: Any, chance: Any, node: Any) -> Any:
    """Whether the player at `node` has a single action, so that there is nothing to learn."""
    return False


@question
def slots_at(form: Any, chance: Any, node: Any, infoset: Any) -> Any:
    """The first slot and the number of actions of `infoset`, which `infoset_at` just gave."""
    first = index(form.first[infoset])
    return first, index(form.first[infoset + ONE]) - first


@question
def slots_of(form: Any, chance: Any, infoset: Any) -> Any:
    """The first slot and the number of actions of any information set met so far."""
    first = index(form.first[infoset])
    return first, index(form.first[infoset + ONE]) - first


@question
def full(form: Any, chance: Any) -> Any:
    """Whether the information-set table may lack room for one more history."""
    return False


@question
def expanded_at(form: Any, node: Any, infoset: Any) -> Any:
    """Where MCTS notes that a node is in its tree: by node, or by information set in a form that
    does not number its nodes."""
    return node


@question
def passive_at(form: Any, chance: Any, node: Any, infoset: Any, rng: Any) -> Any:
    """The action that checks or calls at `node`. (`rng` is not drawn from.)"""
    return index(form.passive[infoset])


@question
def sample_policy(form: Any, policy: Any, first: Any, count: Any, u: Any) -> Any:
    """The action that a fixed policy draws with `u`, where `policy_at` gave `first` and `count`."""
    return sample_action(policy, first, count, u)


@question
def policy_at(form: Any, chance: Any, policy: Any, node: Any) -> Any:
    """A fixed policy at `node`: its row, its first probability and the number of actions."""
    infoset = infoset_at(form, chance, node)
    first = index(form.first[infoset])
    return infoset, first, index(form.first[infoset + ONE]) - first


@jit(inline=True)
def play_once(form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray) -> Any:
    """Plays one game of a two-player form and returns its terminal node."""
    node = start(form, chance, rng)
    player = player_at(form, chance, node)
    while player >= 0:
        if player == 0:
            _, first, count = policy_at(form, chance, one, node)
            action = sample_policy(form, one, first, count, uniform(rng))
        else:
            _, first, count = policy_at(form, chance, two, node)
            action = sample_policy(form, two, first, count, uniform(rng))
        node = child(form, chance, node, action, rng)
        player = player_at(form, chance, node)
    return node


@jit
def play_games(
    form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray, n: int, sums: np.ndarray
) -> None:
    """Plays n games; adds player 1's payoffs and their squares to `sums` (float64[2])."""
    for _ in range(index(n)):
        won = utility(form, chance, play_once(form, chance, one, two, rng), 0)
        sums[ZERO] += won
        sums[ONE] += won * won
