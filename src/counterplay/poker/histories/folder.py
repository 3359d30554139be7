"""Which files of a folder hold hands, in which order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadFile
from counterplay.poker.histories.packed import PACKED, suffix_of

#: `.txt` is not among them: it may be anything.
IN_FOLDERS = (".phh", ".phhs", ".log", ".parquet")


def hand_files(folder: Path, kinds: tuple[str, ...] = IN_FOLDERS) -> list[Path]:
    """Files of a folder and below, in the order of their names (2 before 10)."""
    found = sorted(
        (file for file in folder.rglob("*") if suffix_of(file) in kinds and file.is_file()),
        key=_natural,
    )
    if not found:
        listed = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
        packed = " or ".join(PACKED)
        raise BadFile(f"{folder}: no {listed} file in this folder, packed as {packed} or not")
    return found


def _natural(path: Path) -> list[Any]:
    return [
        int(part) if k % 2 else part for k, part in enumerate(re.split(r"([0-9]{1,18})", str(path)))
    ]
