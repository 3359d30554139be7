"""Benchmarks use what the package has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_benchmark_can_be_imported() -> None:
    """All in one process of its own: some change settings of the process they run in."""
    names = [path.stem for path in sorted((ROOT / "benchmarks").glob("[a-z]*.py"))]
    assert len(names) > 10
    code = "\n".join(f"import benchmarks.{name}" for name in names)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
