"""What a dealer writes: the log of the match, and its own account of every message, line by line
as the competition's dealer does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import IO

from counterplay.arena.acpc.clock import DealerLimits
from counterplay.base.disk import reason
from counterplay.base.errors import BadParameter, CounterplayError
from counterplay.opponents.hands.acpc import CHIPS, chips_text

GAME_FILE = "holdem.limit.2p.reverse_blinds.game"


def header(name: str, hands: int, seed: int, limits: DealerLimits) -> str:
    """The first four lines of both."""
    return (
        f"# name/game/hands/seed {name} {GAME_FILE} {hands} {seed}\n"
        f"#--t_response {limits.response_ms}\n"
        f"#--t_hand {limits.hand_ms}\n"
        f"#--t_per_hand {limits.per_hand_ms}\n"
    )


def state_line(
    hand: int, history: str, cards: str, dealer_won: float, names: tuple[str, str]
) -> str:
    """A finished hand; `names` by position."""
    won = chips_text(dealer_won * CHIPS)
    lost = chips_text(-dealer_won * CHIPS)
    return f"STATE:{hand}:{history}:{cards}:{lost}|{won}:{names[0]}|{names[1]}\n"


def score_line(totals: tuple[float, float], names: tuple[str, str]) -> str:
    """`totals` in small bets, by seat as the names are."""
    one, two = (chips_text(total * CHIPS) for total in totals)
    return f"SCORE:{one}|{two}:{names[0]}|{names[1]}\n"


def check_names(names: tuple[str, str]) -> None:
    for name in names:
        if not name or not name.isprintable() or any(mark in name for mark in ":|# "):
            raise BadParameter(
                f"a player's name has no colon, bar, space or #, not {name!r}; give --names A,B"
            )


class Pen:
    """A file that is written line by line, or nothing."""

    def __init__(self, path: Path | None, append: bool = False) -> None:
        self._file: IO[str] | None = None
        self.idle = path is None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(  # noqa: SIM115  closed by whoever holds the pen
                    path, "a" if append else "w", encoding="utf-8", newline="\n"
                )
            except OSError as error:
                raise CounterplayError(f"cannot write {path}: {reason(error)}") from None

    def write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def now() -> str:
    """A time as the dealer writes it."""
    return f"{time.time():.6f}"
