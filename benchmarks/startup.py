"""What a user waits for: the first command with warm caches, and the compilation before that."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ALGORITHMS = ("cfr+", "mccfr", "mccfr-external", "mccfr-chance", "mcts")


def _command(folder: str, cache: str, *arguments: str) -> float:
    executable = Path(sys.executable).with_name("counterplay")
    before = time.perf_counter()
    subprocess.run(
        [executable, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "COUNTERPLAY_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""},
    )
    return time.perf_counter() - before


def warm_start(repeats: int = 5) -> tuple[float, float, float]:
    """Median, least and most seconds of `counterplay solve kuhn` with warm caches."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        _command(folder, cache, "solve", "kuhn")
        times = [_command(folder, cache, "solve", "kuhn") for _ in range(repeats)]
    return statistics.median(times), min(times), max(times)


def cold_starts() -> dict[str, float]:
    """Seconds of the first `counterplay solve kuhn -a ALGORITHM` with an empty cache, each with
    its own."""
    times = {}
    for algorithm in ALGORITHMS:
        with tempfile.TemporaryDirectory() as folder:
            times[algorithm] = _command(
                folder,
                os.path.join(folder, "cache"),
                "solve",
                "kuhn",
                "-a",
                algorithm,
                "-n",
                "1000",
            )
    return times
