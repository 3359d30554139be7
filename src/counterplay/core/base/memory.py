"""The memory that this process may use, checked before something large is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from counterplay.core.base.errors import BadParameter, TooLarge

#: Environment variable that replaces the measured amount of free memory, in GB.
LIMIT_VARIABLE = "COUNTERPLAY_MEMORY_GB"
#: Factor on the memory taken so far: converting it into arrays takes more.
MARGIN = 1.25


def available_bytes() -> float:
    """Usable memory: the limit of the environment, of the control group, or of the machine."""
    limit = _limit_bytes()
    return _free_bytes() if limit is None else limit


def fits(needed: float, held: float = 0.0) -> bool:
    """Whether an object may take `needed` bytes, of which it holds `held` already; the limit of
    the environment applies to all of it."""
    limit = _limit_bytes()
    return needed <= (_free_bytes() + held if limit is None else limit)


def _limit_bytes() -> float | None:
    limit = os.environ.get(LIMIT_VARIABLE)
    if not limit:
        return None
    try:
        gigabytes = float(limit)
    except ValueError:
        gigabytes = -1.0
    if not gigabytes > 0:
        raise BadParameter(f"{LIMIT_VARIABLE} must be a number of gigabytes above 0, not {limit!r}")
    return gigabytes * 1e9


def _free_bytes() -> float:
    candidates = [_machine_bytes()]
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            candidates.append(int(Path(name).read_text()) - (used_bytes() or 0))
    return min(candidates)


def _machine_bytes() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 8 * 10**9


def used_bytes() -> int | None:
    """The resident memory of this process; None where the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return None


class MemoryWatch:
    """Checks the memory of a growing object of unknown size; raises `TooLarge` in time."""

    def __init__(self, bytes_each: float) -> None:
        self.bytes_each = bytes_each  # at least
        self._free = available_bytes()
        self._before = used_bytes()

    def check(self, count: int, what: str) -> None:
        """Checks `count` items, by their measured memory where the system reports it."""
        now = used_bytes()
        grown = 0 if now is None or self._before is None else now - self._before
        needed = max(count * self.bytes_each, MARGIN * grown)
        if needed > self._free:
            raise TooLarge(
                f"{what} needs more than the {self._free / 1e9:.3g} GB of memory that were free; "
                f"take a smaller game, or play without a tree: tree=False (or set "
                f"{LIMIT_VARIABLE} if you know better)"
            )


def require(needed: float, what: str, advice: str = "take a smaller game") -> None:
    """Raises `TooLarge` if fewer than `needed` bytes are free."""
    available = available_bytes()
    if needed > available:
        raise TooLarge(
            f"{what} needs about {_rounded(needed)} GB of memory and {_rounded(available)} GB are "
            f"free; {advice} (or set {LIMIT_VARIABLE} if you know better)"
        )


def _rounded(size: float) -> str:
    """A number of bytes in GB."""
    return f"{size / 1e9:,.0f}" if size >= 1e12 else f"{size / 1e9:.3g}"
