"""Log and transcript of our dealer, written line by line."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import CounterplayError
from counterplay.poker.histories.acpc import CHIPS, chips_text


def state_line(
    hand: int, history: str, cards: str, dealer_won: float, names: tuple[str, str]
) -> str:
    """The log line of a finished hand; `names` by position."""
    won = chips_text(dealer_won * CHIPS)
    lost = chips_text(-dealer_won * CHIPS)
    return f"STATE:{hand}:{history}:{cards}:{lost}|{won}:{names[0]}|{names[1]}\n"


def score_line(totals: tuple[float, float], names: tuple[str, str]) -> str:
    """The last line of the log; `totals` in small bets, by seat as `names`."""
    one, two = (chips_text(total * CHIPS) for total in totals)
    return f"SCORE:{one}|{two}:{names[0]}|{names[1]}\n"


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file; a pipe that nobody reads is an error instead of a wait."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(number, True)
    return number


class LogWriter:
    """A file in which every text is when `write` returns; without a path nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self._path, self.idle = path, path is None
        self._file: IO[bytes] | None = None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(path, "ab", opener=_open_at_once)  # noqa: SIM115  see `close`
            except OSError as error:
                raise self._failed(error) from None

    def start(self, text: str, keep: int | None = 0) -> None:
        """Writes `text` behind the first `keep` bytes of the file; None: behind all of them, on a
        new line."""
        if self._file is not None and self._path is not None:
            try:
                size = os.fstat(self._file.fileno()).st_size
                if keep is None and size:
                    with open(self._path, "rb") as written:
                        written.seek(-1, os.SEEK_END)
                        text = text if written.read() == b"\n" else f"\n{text}"
                elif keep is not None and keep < size:
                    self._file.truncate(keep)
            except OSError as error:
                raise self._failed(error) from None
        self.write(text.encode())

    def write(self, text: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                raise self._failed(error) from None

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # of what `write` has already failed to write
                self._file.close()

    def _failed(self, error: OSError) -> CounterplayError:
        return CounterplayError(f"cannot write {self._path}: {reason(error)}")
