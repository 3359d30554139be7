"""`LowerBound`: a lower bound on exploitability that prints as what it is."""

from __future__ import annotations

from typing import Any, NamedTuple


class BoundAt(NamedTuple):
    """The bound after some seconds of learning, on games of its own."""

    seconds: float
    bound: float
    error: float


class LowerBound(float):
    """A lower bound on exploitability, 0 if nothing was found. `error`: half its 95% interval;
    `best`: the winnings of each player's learnt response, and half their interval; `history`: the
    bound over time."""

    error: float
    best: tuple[tuple[float, float], ...]
    algorithm: str  # of each player's response
    iterations: int  # of the longest run
    seconds: float  # of learning
    games: int
    history: tuple[BoundAt, ...]

    def __new__(cls, value: float, **facts: Any) -> LowerBound:
        bound = super().__new__(cls, max(value, 0.0))
        for name, fact in facts.items():
            setattr(bound, name, fact)
        return bound

    @property
    def found(self) -> bool:
        """Whether the bound is above 0 by more than its error."""
        return float(self) > self.error

    def __repr__(self) -> str:
        value = f"at least {float(self):.4g}" if self.found else "nothing found: at least 0"
        return (
            f"{value} ± {self.error:.2g} (a lower bound: best responses learnt by "
            f"{self.algorithm} in {self.seconds:.3g} s, {self.games:,} games each, 95%)"
        )

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (float(self), dict(vars(self)))


def _restored(value: float, facts: dict[str, Any]) -> LowerBound:
    return LowerBound(value, **facts)
