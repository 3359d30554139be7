"""The limits and callbacks of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, positive, whole_number
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.base import Solver

#: `solve` without any limit stops at this exploitability, a share of the payoff range, or after
#: this time.
DEFAULT_TARGET = 1e-4
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Progress:
    """The progress of a run, which callbacks get."""

    iterations: int
    seconds: float
    nodes: int
    exploitability: float  # the last one measured, NaN if none
    solver: Solver = field(repr=False)

    def strategy(self) -> Strategy:
        """The strategy learnt so far."""
        return self.solver.strategy()


@dataclass(frozen=True)
class Limits:
    """Limits and callbacks, as in `solve`; `BadParameter` for a limit out of range."""

    iterations: int | None = None
    seconds: float | None = None
    target: float | None = None
    measure_every: int | None = None
    callback: Callable[[Progress], Any] | None = None
    on_chunk: Callable[[Progress], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "measure_every"):
            value = getattr(self, name)
            if value is not None:
                whole_number(value, 1, None, name)
        for name in ("seconds", "target"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)

    @property
    def bounded(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for limit in (self.iterations, self.seconds, self.target))


def check_target(game: Game, target: float | None) -> None:
    """`BadParameter` for a target in a game whose exploitability cannot be measured."""
    if target is not None and not game.measurable:
        raise BadParameter(
            f"the exploitability of {game.name} cannot be measured, so no target can be reached; "
            f"give a limit"
        )


def default_limits(game: Game, limits: Limits, share: float = DEFAULT_TARGET) -> Limits:
    """Returns the limits, or if none is given the default ones: `DEFAULT_SECONDS`, and as target
    this share of the payoff range where exploitability is measured at once."""
    if limits.bounded:
        return limits
    target = share * payoff_range(game) if game.evaluator.immediate else None
    return replace(limits, seconds=DEFAULT_SECONDS, target=target)


def payoff_range(game: Game) -> float:
    """Returns the largest less the smallest payoff, or what the rules say instead; 1 if all are
    equal."""
    said = getattr(game.rules, "payoff_range", None)
    return float(np.ptp(game.tree.payoff) if said is None else said) or 1.0


def pop_limits(arguments: dict[str, Any]) -> Limits:
    """Removes the limits from keyword arguments and returns them."""
    names = [limit.name for limit in fields(Limits) if limit.name in arguments]
    return Limits(**{name: arguments.pop(name) for name in names})
