"""A copy of the package's sources, which a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

from counterplay.core.base import version


def copy_sources(folder: Path) -> Path:
    copy = folder / "counterplay"
    shutil.copytree(version.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy
