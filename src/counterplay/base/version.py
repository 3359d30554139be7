"""Which version this is."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path


def version() -> str:
    """The installed version of Counterplay."""
    try:
        return installed_version("counterplay")
    except PackageNotFoundError:
        return "unknown"


@cache
def code_hash() -> str:
    """Of every source file of the package, for those who have to have the same."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:8]
