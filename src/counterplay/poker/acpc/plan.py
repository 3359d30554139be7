"""The parameters of a match at our dealer."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.poker.acpc.protocol import check_acpc_seed

MOST_HANDS = 10**8
GAME_FILE = "holdem.limit.2p.reverse_blinds.game"
MATCH = "# name/game/hands/seed"


@dataclass(frozen=True)
class DealerLimits:
    """Limits in milliseconds, with the defaults of the competition's dealer."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000  # times the hands is the budget of the match
    start_ms: int | None = None  # for both to connect; None: no limit

    def __post_init__(self) -> None:
        for value in (self.response_ms, self.hand_ms, self.per_hand_ms, self.start_ms):
            if value is not None and (isinstance(value, bool) or value <= 0):
                raise BadParameter(f"limits of time are milliseconds above 0, not {value!r}")


@dataclass(frozen=True)
class MatchPlan:
    """The parameters of a match."""

    names: tuple[str, str]  # by seat; the first has the big blind in the first hand
    hands: int = 3_000
    seed: int = 0
    limits: DealerLimits = field(default_factory=DealerLimits)
    fixed_seats: bool = False
    name: str = "match"
    log: Path | None = None
    append: bool = False  # to the log
    transcript: Path | None = None  # of all messages
    resume: bool = False  # the interrupted match of the log, in mid-hand with its transcript

    def __post_init__(self) -> None:
        whole_number(self.hands, 1, MOST_HANDS, "hands")
        check_names(self.names)
        check_names((self.name, self.name))
        check_acpc_seed(self.seed)
        if self.resume and self.log is None:
            raise BadParameter("a match is resumed from its log: --log FILE")
        if self.resume and self.append:
            raise BadParameter("a resumed match continues its log; leave out --append")
        for path in (self.log, self.error_file(0), self.error_file(1)):
            if path is not None and self.transcript is not None and _same(path, self.transcript):
                raise BadParameter(
                    f"{self.transcript} is written by the log of the match; give --transcript "
                    "another name"
                )

    def error_file(self, seat: int) -> Path | None:
        """The file beside the log for what the program of a seat writes to stderr; none beside a
        device."""
        if self.log is None or (self.log.exists() and not self.log.is_file()):
            return None
        return self.log.with_name(f"{self.log.stem}.player{seat + 1}.err")

    @property
    def header(self) -> str:
        """The first four lines of log and transcript."""
        return (
            f"{MATCH} {self.name} {GAME_FILE} {self.hands} {self.seed}\n"
            f"#--t_response {self.limits.response_ms}\n"
            f"#--t_hand {self.limits.hand_ms}\n"
            f"#--t_per_hand {self.limits.per_hand_ms}\n"
        )

    def first(self, hand: int) -> int:
        """The seat in position 0, the big blind, in a hand."""
        return 0 if self.fixed_seats else hand & 1


def _same(one: Path, two: Path) -> bool:
    """Whether two paths are one file; a device may be given twice."""
    one, two = Path(os.path.realpath(one)), Path(os.path.realpath(two))
    return one == two and (one.is_file() or not one.exists())


def check_names(names: tuple[str, str]) -> None:
    for name in names:
        if not name or not name.isprintable() or any(mark in name for mark in ":|# "):
            raise BadParameter(
                f"a player's name has no colon, bar, space or #, not {name!r}; give --names A,B"
            )
