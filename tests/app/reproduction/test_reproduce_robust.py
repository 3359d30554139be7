"""Every experiment, at toy size: killed at every write, damaged, forged, and against a clock
that races."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.experiments import NAMES, make_small, numbers

from counterplay.app.reproduction.harness import store as store_module
from counterplay.app.reproduction.harness.reproduce import reproduce
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base import disk, files
from counterplay.core.base.store import Slot

FORGED = 7.25
Rows = list[dict[str, str]]
Whole = Callable[[str], tuple[Path, Rows]]


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Rows]]:
    """An experiment that nobody disturbed: its folder and its numbers."""

    @cache
    def run(name: str) -> tuple[Path, Rows]:
        folder = tmp_path_factory.mktemp(name)
        reproduce(name, "quick", folder)
        return folder, numbers(folder, name)

    return run


def _killed(folder: Path, name: str, writes: int, moment: str) -> bool:
    """Run an experiment in a process that is killed at its n-th write of a file; whether it was."""

    def child() -> None:
        real, left = files.write_pieces, writes

        def write(path: Path, pieces: Any, new: bool = False) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                if moment == "torn":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.with_name(f".{path.name}.tmp").write_bytes(
                        b"".join(map(bytes, pieces))[:40]
                    )
                elif moment == "after":
                    real(path, pieces, new)
                os.kill(os.getpid(), signal.SIGKILL)
            real(path, pieces, new)

        files.write_pieces = disk.write_pieces = write  # its name in both modules
        reproduce(name, "quick", folder)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode in (0, -signal.SIGKILL), (name, writes, moment, process.exitcode)
    return process.exitcode != 0


LONG = {
    "fig6",
    "fig7",
    "table1",
    "table2",
    "fig4-holdem",
    "holdem-time",
    "fig8",
    "buckets",
    "by-size",
    "fig6-holdem",
}  # of the same kinds of pieces: make test-slow


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in NAMES]
)
def test_killed_at_any_write_the_same_command_goes_on(
    name: str, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a file, in the middle of it and after it; in the end the numbers are those of a run
    nobody touched."""
    if name != "table2":  # which would write hundreds of drafts, of the same kinds
        monkeypatch.setattr(store_module, "SAVE_SECONDS", -1.0)
    right, kills = whole(name)[1], 0
    while _killed(tmp_path, name, 1 + kills // 3, ("before", "torn", "after")[kills % 3]):
        kills += 1
    assert kills >= 9  # pictures, tables and verdicts come after the pieces
    assert numbers(tmp_path, name) == right


def _forge(folder: Path) -> int:
    """Put a number of our own into every value that is kept without arrays, with a checksum that
    fits; how many there are."""
    done = 0
    for path in (folder / "work").rglob("*.piece"):
        _, head, value, arrays, *_ = path.read_bytes().split(b"\n", 4)
        forged = _forged(json.loads(value)) if arrays.strip() == b"[]" else None
        if forged is not None:
            Slot(PieceStore(folder), path, head).write(forged, {})
            done += 1
    return done


def _forged(value: Any) -> Any:
    if isinstance(value, dict) and "result" in value:  # a cell
        return {**value, "result": _forged(value["result"])}
    if isinstance(value, dict):
        return {**value, "mean": FORGED}
    if isinstance(value, list) and isinstance(value[0], list):
        return [_forged(one) for one in value]
    if isinstance(value, list) and isinstance(value[-1], list):  # seconds, and wins from each bot
        return [value[0], *([FORGED, *won[1:]] for won in value[1:])]
    if isinstance(value, list):
        return [value[0], *[FORGED] * (len(value) - 1)]  # the first says which row it is
    return None


COMMITTED = "fig6-holdem"  # whose points come with the package: no pieces


@contextmanager
def _racing_clock() -> Iterator[None]:
    """Every look at a clock finds that half a minute has passed; `monotonic` says when to save,
    so it is slower."""
    fast, slow = itertools.count(0.0, 30.0), itertools.count(0.0, 0.02)
    with pytest.MonkeyPatch.context() as patch:
        for clock in ("perf_counter", "thread_time", "process_time"):
            patch.setattr(time, clock, lambda: next(fast))
        patch.setattr(time, "monotonic", lambda: next(slow))
        yield


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in {"table2", "fig8"} else n for n in NAMES],
)
def test_no_number_comes_from_other_code_a_clock_or_a_damaged_file(
    name: str, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, right = whole(name)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    if name != COMMITTED:
        assert _forge(tmp_path) > 0
        reproduce(name, "quick", tmp_path)
        assert (
            str(FORGED) in (tmp_path / f"{name}.csv").read_text()
        )  # read, so the rest means something
    with monkeypatch.context() as patch, _racing_clock():
        patch.setattr(store_module, "pieces_version", lambda: "0" * 16)
        reproduce(name, "quick", tmp_path)
    assert numbers(tmp_path, name) == right
    reproduce(name, "quick", tmp_path, again=True)
    assert numbers(tmp_path, name) == right
    _damage([path for path in sorted(tmp_path.rglob("*")) if path.is_file()], random.Random(name))
    reproduce(name, "quick", tmp_path)
    assert numbers(tmp_path, name) == right


def _damage(paths: list[Path], rng: random.Random) -> None:
    """Another bit in each of them."""
    for path in paths:
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
