"""Strategies to and from other libraries. A file that sets `EXCHANGE` says how."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from counterplay.core.base.registry import Registry
from counterplay.core.forms.game import Game

if TYPE_CHECKING:
    from counterplay.core.forms.strategy import Strategy


class Exchange(NamedTuple):
    """How strategies come from a library and go there."""

    name: str
    read: Callable[[Any, Any], Strategy]
    write: Callable[[Any, str], Any]


EXCHANGES: Registry[Exchange] = Registry("exchange", lambda spec: isinstance(spec, Exchange))


class Exchanged:
    """What a strategy can do with other libraries."""

    @classmethod
    def from_openspiel(cls, game: Game | str | Any, policy: Any) -> Strategy:
        """A policy of OpenSpiel as a strategy. `game`: one of `open_spiel:`, by name or not, an
        OpenSpiel game, or our twin of one of theirs, such as `leduc`. `policy`: whatever has
        `action_probabilities(state)`, in Python or C++, or a mapping from information states to
        probabilities of actions."""
        return EXCHANGES["openspiel"].read(game, policy)

    def to_openspiel(self, kind: str = "python") -> Any:
        """The same as a `TabularPolicy` of OpenSpiel: `python`, or `cpp` for their solvers and
        measures in C++."""
        return EXCHANGES["openspiel"].write(self, kind)
