"""What a game says of itself: what can be done with it, in which unit it pays, and how its seats
are called.

Rules may have the attributes `capabilities`, `unit` and `seats`; what they leave out is as for a
game with a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from counterplay.core.base.errors import BadGame


@dataclass(frozen=True)
class Capabilities:
    """What can be done with a game besides sampling it. The first three are those of a tree."""

    listed: bool = True  # its histories: as a tree, its strategies as tables
    full_width: bool = True  # a sequence form, for solvers and responses that do not sample
    exact: bool = True  # values, best responses and exploitability
    discovered: bool = False  # its information sets are found while playing: strategies are by key
    #: What packages above ask for by words of their own (`Game.can`).
    also: frozenset[str] = frozenset()


#: Of a game that makes its own form for sampling and says nothing else.
SAMPLING_ONLY = Capabilities(listed=False, full_width=False, exact=False)
#: Of one given by compiled rules.
FOUND = Capabilities(listed=False, full_width=False, exact=False, discovered=True)


class Unit(NamedTuple):
    """What a payoff is counted in; rules may write `("chips", "round")`."""

    payoff: str = ""
    per: str = "game"
    short: str = ""

    def __str__(self) -> str:
        """What stands behind a number: `per game`, `chips per round`, `sb/h`."""
        return self.short or f"{self.payoff} per {self.per}".lstrip()

    @property
    def in_full(self) -> str:
        """What stands alone: `payoff per game`, `small bets per hand`."""
        return f"{self.payoff or 'payoff'} per {self.per}"


def capabilities_of(name: str, rules: Any, usual: Capabilities | None) -> Capabilities:
    """As the rules say, or those that are usual for their kind: None for rules of a tree."""
    sampled_only = usual is not None
    found = getattr(rules, "capabilities", usual or Capabilities())
    if not isinstance(found, Capabilities):
        raise BadGame(f"{name}: `capabilities` must be an Abilities, not {found!r}")
    if sampled_only and (found.listed or found.full_width):
        raise BadGame(f"{name}: a game that makes its own form cannot be listed, nor full width")
    if not sampled_only and not found.listed:
        raise BadGame(f"{name}: a game of states has a tree, so its histories are listed")
    return found


def unit_of(name: str, rules: Any) -> Unit:
    found = getattr(rules, "unit", ())
    try:
        unit = Unit(*found) if isinstance(found, tuple | list) else None
    except TypeError:
        unit = None
    if unit is None or not all(isinstance(part, str) for part in unit) or not unit.per:
        raise BadGame(
            f'{name}: `unit` must say what is paid and for what, as ("chips", "round"), not '
            f"{found!r}"
        )
    return unit


def seats_of(name: str, rules: Any) -> tuple[str, ...]:
    """A name for every player, none twice."""
    n = rules.n_players
    found = getattr(rules, "seats", tuple(numbered(k) for k in range(n)))
    if (
        not isinstance(found, tuple | list)
        or not all(isinstance(seat, str) and seat for seat in found)
        or len(set(found)) != n
        or len(found) != n
    ):
        raise BadGame(f"{name}: `seats` must be {n} different names, not {found!r}")
    return tuple(found)


def numbered(player: int) -> str:
    """A seat without a name of its own."""
    return f"player {player + 1}"
