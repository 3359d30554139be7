"""The kernels are plain Python too: twins, the worked example and unbiasedness on Kuhn with
Numba's jit switched off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "solvers"
FILES = (
    "test_twins.py",
    "test_paper_example.py",
    "test_unbiased.py",
    "test_interleaved.py",
    "../forms/test_compiled.py",
)


def test_small_games_without_jit() -> None:
    """In a process of its own; with the jit off NumPy warns of the wrap-around that the random
    numbers rely on."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "COUNTERPLAY_TEST_ITERATIONS": "60"}
    options = [
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::RuntimeWarning",
        "-k",
        "kuhn or paper or toy or naive_twin",
    ]
    files = [str(HERE / name) for name in FILES]
    command = [sys.executable, "-m", "pytest", *options, *files]
    done = subprocess.run(
        command, env=environment, cwd=HERE.parents[2], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert " failed" not in done.stdout
