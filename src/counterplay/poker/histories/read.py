"""`read_hands`: hand histories in any known format."""

from __future__ import annotations

import re
from pathlib import Path

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.histories.acpc import MATCH, read_acpc
from counterplay.poker.histories.parquet import MAGIC, read_parquet
from counterplay.poker.histories.phh import read_phh
from counterplay.poker.histories.records import (
    IN_FOLDERS,
    ErrorCallback,
    HandHistories,
    file_bytes,
    hand_files,
    suffix_of,
)
from counterplay.poker.histories.sites import FORMATS, read_site, site_of

#: What is read, in words.
KINDS = f"PHH, ACPC logs, Parquet, and {FORMATS}"


def read_hands(
    path: Path | str,
    on_error: str = "refuse",
    report: ErrorCallback | None = None,
    big_blind: float | None = None,
) -> HandHistories:
    """Hands of a file, or of all files of a folder except .txt.

    The format follows from the suffix (.parquet, .phh, .phhs, .log for ACPC; .gz and .bz2 of
    these), else from the content, as for files of poker sites (.txt). `big_blind`: chips of a
    big blind in an ACPC log, where the hands do not determine it.
    """
    path = Path(path)
    if not path.is_dir():
        return _read_file(path, on_error, report, big_blind)
    parts = [_read_file(file, on_error, report, big_blind) for file in hand_files(path)]
    return HandHistories(
        [hand for part in parts for hand in part.hands],
        [message for part in parts for message in part.skipped],
    )


def _read_file(
    path: Path, on_error: str, report: ErrorCallback | None, big_blind: float | None
) -> HandHistories:
    suffix = suffix_of(path)
    if suffix not in IN_FOLDERS:
        try:
            site = site_of(_beginning(path))
        except BadParameter as error:
            raise BadFile(f"{path}: {error}") from None
        if site is not None:
            return read_site(path, site, on_error, report)
        suffix = _suffix_by_content(path)
    if suffix == ".parquet":
        return read_parquet(path, on_error, report)
    if suffix in (".phh", ".phhs"):
        return read_phh(path, on_error, report)
    return read_acpc(path, on_error, report, big_blind)


def _beginning(path: Path) -> str:
    """Some text at the start of a file, which says what it is."""
    return file_bytes(path)[:2000].decode("utf-8", "replace")


def _suffix_by_content(path: Path) -> str:
    data = file_bytes(path)
    if data.startswith(MAGIC):
        return ".parquet"
    if re.search(rb"^[ \t]*variant[ \t]*=", data, re.MULTILINE):
        return ".phhs"
    if re.search(rb"^(?:STATE|SCORE):", data, re.MULTILINE) or data.startswith(MATCH):
        return ".log"
    raise BadFile(f"{path}: no hand history that Counterplay knows; what can be read: {KINDS}")
