"""What rules may say about their game, in the attributes `capabilities`, `unit` and `seats`.

Without them a game has the capabilities of its representation (`representation.py`), payoffs per
game, and seats called player 1, player 2, ..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from counterplay.core.base.errors import BadGame


@dataclass(frozen=True)
class Capabilities:
    """What can be done with a game besides sampling it; the defaults are those of a tree."""

    listed: bool = True  # histories as a tree, strategies as tables
    full_width: bool = True  # a sequence form, for solvers and responses that do not sample
    exact: bool = True  # values, best responses and exploitability
    #: Features named by packages above, which ask for them with `Game.can`.
    also: frozenset[str] = frozenset()


#: Of rules without a tree.
SAMPLING_ONLY = Capabilities(listed=False, full_width=False, exact=False)


class Unit(NamedTuple):
    """The unit of a payoff; rules may write `("chips", "round")`."""

    payoff: str = ""
    per: str = "game"
    short: str = ""

    def __str__(self) -> str:
        """The unit behind a number: `per game`, `chips per round`, `sb/h`."""
        return self.short or f"{self.payoff} per {self.per}".lstrip()

    @property
    def in_full(self) -> str:
        """The unit on its own: `payoff per game`, `small bets per hand`."""
        return f"{self.payoff or 'payoff'} per {self.per}"


def capabilities_of(name: str, rules: Any, usual: Capabilities) -> Capabilities:
    """The attribute `capabilities` of the rules, checked; `usual` where they have none."""
    capabilities = getattr(rules, "capabilities", usual)
    if not isinstance(capabilities, Capabilities):
        raise BadGame(f"{name}: `capabilities` must be a Capabilities, not {capabilities!r}")
    if not usual.listed and (capabilities.listed or capabilities.full_width):
        raise BadGame(f"{name}: a game without a tree cannot be listed, nor full width")
    if usual.listed and not capabilities.listed:
        raise BadGame(f"{name}: a game of states has a tree, so its histories are listed")
    return capabilities


def unit_of(name: str, rules: Any) -> Unit:
    """The attribute `unit` of the rules, checked."""
    given = getattr(rules, "unit", ())
    try:
        unit = Unit(*given) if isinstance(given, tuple | list) else None
    except TypeError:
        unit = None
    if unit is None or not all(isinstance(part, str) for part in unit) or not unit.per:
        raise BadGame(
            f'{name}: `unit` must say what is paid and for what, as ("chips", "round"), not '
            f"{given!r}"
        )
    return unit


def seats_of(name: str, rules: Any) -> tuple[str, ...]:
    """A different name for every player."""
    n = rules.n_players
    seats = getattr(rules, "seats", tuple(numbered(k) for k in range(n)))
    if (
        not isinstance(seats, tuple | list)
        or not all(isinstance(seat, str) and seat for seat in seats)
        or len(set(seats)) != n
        or len(seats) != n
    ):
        raise BadGame(f"{name}: `seats` must be {n} different names, not {seats!r}")
    return tuple(seats)


def numbered(player: int) -> str:
    """The name of a seat that has no other."""
    return f"player {player + 1}"
