"""Memory that this process may use, asked for before something large is built."""

from __future__ import annotations

import os
from pathlib import Path

from counterplay.core.base.errors import BadParameter, TooLarge

#: Environment variable that replaces the measured amount of free memory, in GB.
LIMIT_VARIABLE = "COUNTERPLAY_MEMORY_GB"
#: Memory is refused when this times what has been taken is not there: making arrays of it takes
#: more.
MARGIN = 1.25


def available_bytes() -> float:
    """Memory that can be used now: the environment's limit, the control group's, or the
    machine's."""
    limit = _limit_bytes()
    return _free_bytes() if limit is None else limit


def fits(needed: float, held: float = 0.0) -> bool:
    """Whether something may take so many bytes, of which it has `held` already; the environment's
    limit is one on all of it."""
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
        try:
            candidates.append(int(Path(name).read_text()) - (used_bytes() or 0))
        except (OSError, ValueError):
            continue
    return min(candidates)


def _machine_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 10**9


def used_bytes() -> int | None:
    """What this process holds now, None where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return None


class Watch:
    """Memory while something of unknown size grows: `TooLarge` before it is gone."""

    def __init__(self, bytes_each: float) -> None:
        self.bytes_each = bytes_each  # at least
        self._free = available_bytes()
        self._before = used_bytes()

    def check(self, count: int, what: str) -> None:
        """`count` pieces are there. What they really take is measured where that is possible."""
        now = used_bytes()
        grown = 0 if now is None or self._before is None else now - self._before
        needed = max(count * self.bytes_each, MARGIN * grown)
        if needed > self._free:
            raise TooLarge(
                f"{what} needs more than the {self._free / 1e9:.3g} GB of memory that were free; "
                f"take a smaller game (or set {LIMIT_VARIABLE} if you know better)"
            )


def require(needed: float, what: str) -> None:
    """Raise `TooLarge` when `needed` bytes are not there."""
    available = available_bytes()
    if needed > available:
        raise TooLarge(
            f"{what} needs about {needed / 1e9:.3g} GB of memory and {available / 1e9:.3g} GB are "
            f"free; "
            f"take a smaller game (or set {LIMIT_VARIABLE} if you know better)"
        )
