"""When and on what a result was made, for people."""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from counterplay.parallel.processes import cores


def today() -> str:
    """The day, as 2026-11-16."""
    return datetime.now(UTC).date().isoformat()


def machine() -> str:
    """Processor, cores, system and Python; no name of the machine or its user."""
    n = cores()
    parts = [_processor(), f"{n} core{'s' if n > 1 else ''}", platform.system()]
    return ", ".join([*(part for part in parts if part), f"Python {platform.python_version()}"])


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()
