"""How long players may take: for an answer, for a hand, and for the match."""

from __future__ import annotations

from dataclasses import dataclass

from counterplay.base.errors import BadParameter


@dataclass(frozen=True)
class DealerLimits:
    """In milliseconds, with the defaults of the competition's dealer."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000  # times the hands is the budget of the match
    start_ms: int | None = None  # for both to connect; None: no limit

    def __post_init__(self) -> None:
        for value in (self.response_ms, self.hand_ms, self.per_hand_ms, self.start_ms):
            if value is not None and (isinstance(value, bool) or value <= 0):
                raise BadParameter(f"limits of time are milliseconds above 0, not {value!r}")


class Clock:
    """What each seat has used, in seconds."""

    def __init__(self, limits: DealerLimits, hands: int) -> None:
        self.response = limits.response_ms / 1000
        self._hand = limits.hand_ms / 1000
        self._match = limits.per_hand_ms * hands / 1000
        self.used = [0.0, 0.0]
        self._in_hand = [0.0, 0.0]

    def new_hand(self) -> None:
        self._in_hand = [0.0, 0.0]

    def charge(self, seat: int, seconds: float) -> bool:
        """Whether that is still within all limits."""
        self.used[seat] += seconds
        self._in_hand[seat] += seconds
        return (
            seconds <= self.response
            and self._in_hand[seat] <= self._hand
            and self.used[seat] <= self._match
        )
