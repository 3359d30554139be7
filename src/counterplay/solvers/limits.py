"""When a run stops, and whom it tells on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from counterplay.base.errors import BadParameter
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.solvers.base import Solver, real

#: `solve` without any limit stops at this exploitability, or after this time.
DEFAULT_TARGET = 1e-3
DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Progress:
    """Where a run stands; given to callbacks."""

    iterations: int
    seconds: float
    nodes: int
    exploitability: float  # the last one measured, NaN if none
    solver: Solver = field(repr=False)

    def strategy(self) -> Strategy:
        """The strategy learned so far."""
        return self.solver.strategy()


@dataclass(frozen=True)
class Limits:
    """When to stop and whom to tell; `check_limits` makes one."""

    iterations: int | None
    seconds: float | None
    target: float | None
    measure_every: int | None
    callback: Callable[[Progress], Any] | None
    on_chunk: Callable[[Progress], None] | None


def check_target(game: Game, target: float | None) -> None:
    """Refuse to wait for what cannot be measured."""
    if target is not None and not game.perfect_recall:
        raise BadParameter(
            f"the exploitability of {game.name} cannot be measured, so no target can be reached; give a limit"
        )


def check_limits(
    iterations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    measure_every: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    on_chunk: Callable[[Progress], None] | None = None,
) -> Limits:
    """Limits as given, or `BadParameter`; without any, the defaults."""
    for name, value in (("iterations", iterations), ("measure_every", measure_every)):
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 1
        ):
            raise BadParameter(f"{name} must be a whole number of at least 1, not {value!r}")
    for name, limit in (("seconds", seconds), ("target", target)):
        if limit is not None and real(limit, name) <= 0:
            raise BadParameter(f"{name} must be above 0, not {limit!r}")
    if iterations is None and seconds is None and target is None:
        seconds, target = DEFAULT_SECONDS, DEFAULT_TARGET
    return Limits(iterations, seconds, target, measure_every, callback, on_chunk)
