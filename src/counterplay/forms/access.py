"""What a sampling kernel may ask of a form, and how Numba picks the answer.

A kernel is written once against the questions below. Each form answers them with plain functions
(`@answers`); inside a kernel Numba chooses by the type of the form's tuple at compile time, and
with the jit off Python does. Chance is hidden: `start` and `child` draw it on-policy and return the
next node where a player acts or the game is over, so that its probability cancels in every sampled
quantity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload

from counterplay.kernels.lines import apart

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
    return _ANSWERS[question, form]


def chance_buffer(form: Any) -> Any:
    """One array for what chance dealt in a game, as files keep it; called outside kernels."""
    return _ANSWERS["chance_buffer", type(form)](form)


def chance_on(form: Any, buffer: Any) -> Any:
    """The scratch that kernels fill, `chance` below: a structure of the form's own over `buffer`,
    made ready for a first game."""
    return _ANSWERS["chance_on", type(form)](form, buffer)


def new_hand(form: Any) -> Any:
    """Scratch that no file keeps, for one thread."""
    return chance_on(form, apart(chance_buffer(form)))


def start(form: Any, chance: Any, rng: Any) -> Any:
    """Begin a game; fills `chance`, the form's scratch for what chance dealt. The first node that
    is not chance."""
    return _ANSWERS["start", type(form)](form, chance, rng)


def child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    """The next node that is not chance after `action` at `node`."""
    return _ANSWERS["child", type(form)](form, chance, node, action, rng)


def player_at(form: Any, chance: Any, node: Any) -> Any:
    """Who acts at `node`; negative when the game is over."""
    return _ANSWERS["player_at", type(form)](form, chance, node)


def infoset_at(form: Any, chance: Any, node: Any) -> Any:
    """The information set of the player who acts at `node`."""
    return _ANSWERS["infoset_at", type(form)](form, chance, node)


def utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    """Payoff of `player` at a node where the game is over."""
    return _ANSWERS["utility", type(form)](form, chance, node, player)


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
