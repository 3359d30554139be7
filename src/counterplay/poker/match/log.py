"""Hand histories of a match. The target is tested before a hand is played."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.poker.betting.betting import betting_tree
from counterplay.poker.histories.acpc import write_acpc
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.phh import write_phh
from counterplay.poker.histories.records import RULES, HandRecord, observed_by
from counterplay.poker.match.referee import PlayedHand

LOGS: dict[str, Callable[[Path, list[HandRecord]], None]] = {
    ".parquet": write_parquet,
    ".phhs": write_phh,
    ".log": write_acpc,
}


class HandLog(NamedTuple):
    """The file of the hands, and whose view of the cards it has: "a", "b", or None for all."""

    path: Path
    observer: str | None

    def check(self, names: tuple[str, str] = ("a", "b")) -> None:
        """Tests the target by writing a hand of these players beside it."""
        if os.path.isdir(self.path):
            raise CounterplayError(f"cannot write {self.path}: it is a folder")
        hand = HandRecord(0, *names, "f", (), (0, 1), (2, 3), -0.5)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=self.path.parent) as folder:
                trial = Path(folder) / self.path.name
                self._write(trial, names, [hand])
        except CounterplayError as error:
            raise type(error)(str(error).replace(str(trial), str(self.path))) from None
        except (OSError, ValueError) as error:
            raise CounterplayError(
                f"cannot write {self.path}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def write(self, names: tuple[str, str], played: list[PlayedHand]) -> None:
        self._write(self.path, names, records(names, played))

    def _write(self, path: Path, names: tuple[str, str], hands: list[HandRecord]) -> None:
        if self.observer is not None:
            hands = [
                observed_by(record, names[0 if self.observer == "a" else 1]) for record in hands
            ]
        LOGS[path.suffix](path, hands)


def new_log(path: str | Path | None, observer: str | None) -> HandLog | None:
    """The log for the options `log` and `observer` of a match; `BadParameter` if invalid."""
    if observer not in (None, "a", "b"):
        raise BadParameter(f"observer must be 'a' or 'b', not {observer!r}")
    if path is None:
        if observer is not None:
            raise BadParameter("observer needs log, the file to write; give both or neither")
        return None
    if Path(path).suffix not in LOGS:
        raise BadParameter(f"hands are written to {', '.join(LOGS)}, not to {path}")
    return HandLog(Path(path), observer)


def records(names: tuple[str, str], played: list[PlayedHand], first: int = 0) -> list[HandRecord]:
    """Played hands as records, numbered from `first` on."""
    states = betting_tree(RULES).states
    return [
        HandRecord(
            first + k,
            names[hand.dealer],
            names[1 - hand.dealer],
            states[hand.end].history,
            hand.cards[4 : 4 + states[hand.end].on_board],
            _pair(hand.cards, 0),
            _pair(hand.cards, 2),
            hand.won,
        )
        for k, hand in enumerate(played)
    ]


def _pair(cards: tuple[int, ...], k: int) -> tuple[int, int]:
    return cards[k], cards[k + 1]
