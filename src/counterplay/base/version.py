"""Which version this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version


def version() -> str:
    """The installed version of Counterplay."""
    try:
        return installed_version("counterplay")
    except PackageNotFoundError:
        return "unknown"
