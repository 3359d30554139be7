"""`kill -9` at random moments: whatever a command leaves behind, the next one trusts nothing
that is not whole and right."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.command import one_sentence, typed

import counterplay as cp
from counterplay.poker.cards import strength as tables


def killed(
    script: str, folder: Path, seconds: float, started: Callable[[], bool] = lambda: True
) -> None:
    """Run a script in `folder` and kill it `seconds` after it is seen to have `started`."""
    with open(folder / "said.txt", "w") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)], cwd=folder, stdout=said, stderr=said
        )
        deadline = time.monotonic() + 300  # where the machine is busy and kernels are compiled
        while not started():
            assert process.poll() is None, (folder / "said.txt").read_text()
            assert time.monotonic() < deadline, "never started"
            time.sleep(0.005)
        time.sleep(seconds)
        process.kill()
        assert process.wait() == -9, (folder / "said.txt").read_text()


SOLVE = """
    import sys
    from counterplay.app.cli import main
    from counterplay.core.solvers import run
    run.CHECKPOINT_SECONDS, run.CHUNK_SECONDS = 0.0, 0.005
    sys.argv = ["counterplay", "solve", "kuhn", "-a", "mccfr", "-s", "600", "--out", "run"]
    main()
"""


def test_solve(tmp_path: Path) -> None:
    """From before the first file is written to the middle of checkpoints, which come one after
    the other."""
    rng = random.Random(1)
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        run = folder / "run"
        if attempt < 2:
            killed(SOLVE, folder, rng.uniform(0.3, 1.5))
        else:
            killed(SOLVE, folder, rng.uniform(0.0, 0.4), (run / "checkpoint.npz").exists)
        done = typed(folder, "solve", "--resume", "run", "-n", "1", "--json")
        if done.code == 2:
            assert one_sentence(done), done
            assert not (run / "checkpoint.npz").exists()
        else:
            saved = cp.resume(run, iterations=1)
            whole = cp.solve("kuhn", "mccfr", iterations=saved.iterations)
            assert np.array_equal(saved.strategy.probabilities, whole.strategy.probabilities)
            assert np.array_equal(cp.Strategy.load(run).probabilities, whole.strategy.probabilities)


@pytest.mark.slow
def test_the_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled for seconds into a cache of its own; then the next process finds some
    of them."""
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))
    rng = random.Random(2)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        killed(
            SOLVE,
            tmp_path / name,
            rng.uniform(0.0, 2.0),
            lambda: any((tmp_path / "cache").rglob("*.nb*")),
        )
    script = "import counterplay as cp; print(repr(cp.solve('kuhn', 'cfr+', iterations=50).exploitability))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == cp.solve("kuhn", "cfr+", iterations=50).exploitability


PREPARE = """
    import sys
    import numpy as np
    from counterplay.app.cli import main
    from counterplay.poker.cards import strength as tables
    tables.SHAPES.update({name: ((1000, 1000), kind) for name, (_, kind) in tables.SHAPES.items()})
    made = {name: np.arange(10**6).reshape(shape).astype(kind) for name, (shape, kind) in tables.SHAPES.items()}
    tables.count_rivers = lambda *_: made["river"]
    tables.count_earlier = lambda size, *_: made["turn" if size == 4 else "flop"]
    tables.count_preflop = lambda _: made["preflop"]
    tables.make_links = lambda: (made["flops"], made["next_boards"])
    sys.argv = ["counterplay", "holdem", "prepare", "--tables", "--json"]
    main()
"""


@pytest.mark.slow
def test_prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself, with tables that cost nothing to count."""
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))
    for name, (_, kind) in list(tables.SHAPES.items()):
        monkeypatch.setitem(tables.SHAPES, name, ((1000, 1000), kind))
    folder, rng = tables.TABLES.slot().path.parent, random.Random(4)

    def right() -> bool:
        found = tables.TABLES.read()
        if found is None:
            return False
        return all(
            np.array_equal(array.reshape(-1), np.arange(10**6).astype(array.dtype))
            for array in found
        )

    for _ in range(3):
        killed(
            PREPARE,
            tmp_path,
            rng.uniform(0.0, 0.02),
            lambda: any(folder.glob("*.piece")) or any(folder.glob(".*.tmp")),
        )
        assert right() or tables.TABLES.read() is None
        for path in folder.glob("*.piece"):
            path.unlink()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PREPARE)],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert right()
