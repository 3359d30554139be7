"""One cache folder: used by two processes at once, or not to be written at all."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.command import COMMAND, one_sentence, typed

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.store import Store
from counterplay.poker.bots.poki import potential
from counterplay.poker.cards import strength as tables


@pytest.mark.slow
def test_two_processes_compile_into_one_cold_cache(tmp_path: Path) -> None:
    """They start at the same time, compile the same kernels and both give the right bits; so
    does a third after them."""
    environment = {
        **os.environ,
        "COUNTERPLAY_CACHE": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }

    def start(name: str) -> subprocess.Popen[str]:
        arguments = [COMMAND, "solve", "kuhn", "-n", "500", "--out", name, "--json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(arguments, cwd=tmp_path, env=environment, text=True, **pipes)  # type: ignore[call-overload]

    right = cp.solve("kuhn", iterations=500)
    for names in (("a", "b"), ("c",)):
        running = [start(name) for name in names]
        for name, process in zip(names, running, strict=True):
            out, complaint = process.communicate(timeout=120)
            assert process.returncode == 0, complaint
            assert json.loads(out)["exploitability"] == right.exploitability
            assert np.array_equal(
                cp.Strategy.load(tmp_path / name).probabilities, right.strategy.probabilities
            )


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    """Each has a temporary file of its own."""
    path, problems = tmp_path / "x", list[Exception]()

    def write(letter: bytes) -> None:
        try:
            for _ in range(60):
                files.write_bytes(path, letter * 100_000)
                assert len(set(path.read_bytes())) == 1
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [found.name for found in tmp_path.iterdir()] == ["x"]


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    old, new = ".one.npy.0123abcd.77-1.tmp", ".one.npy.0123abcd.78-1.tmp"
    for name, age in ((old, 90_000), (new, 0)):
        (tmp_path / name).write_bytes(b"half")
        past = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (past, past))
    (tmp_path / "mine.tmp").write_text("not ours")
    slot = Store(tmp_path.parent, tmp_path.name).slot("toy", {})
    slot.write(None, {"one": np.ones(3)})
    assert {path.name for path in tmp_path.iterdir()} == {
        slot.path.name,
        new,
        "mine.tmp",
    }


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder below a file, where root cannot write either."""
    (tmp_path / "file").write_text("precious")
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "file" / "cache"))
    return tmp_path


@pytest.mark.slow
def test_solve_without_a_cache_folder(nowhere: Path) -> None:
    arguments = [COMMAND, "solve", "kuhn", "-n", "500", "--out", "run", "--json"]
    done = subprocess.run(arguments, cwd=nowhere, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (
        json.loads(done.stdout)["exploitability"] == cp.solve("kuhn", iterations=500).exploitability
    )
    assert (nowhere / "file").read_text() == "precious"


def test_prepare_without_a_cache_folder_says_so(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = {name: ((4, 6), kind) for name, (_, kind) in tables.SHAPES.items()}
    made = {name: np.ones(shape, dtype=kind) for name, (shape, kind) in shapes.items()}
    for name, shape in shapes.items():
        monkeypatch.setitem(tables.SHAPES, name, shape)
    monkeypatch.setattr(tables, "count_rivers", lambda *_: made["river"])
    monkeypatch.setattr(
        tables, "count_earlier", lambda size, *_: made["turn" if size == 4 else "flop"]
    )
    monkeypatch.setattr(tables, "count_preflop", lambda _: made["preflop"])
    monkeypatch.setattr(tables, "make_links", lambda: (made["flops"], made["next_boards"]))
    monkeypatch.setattr(tables.TABLES, "_held", {})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        done = typed(nowhere, "holdem", "prepare", "--tables")
    assert done.code == 0, done
    said = " ".join([done.stderr, *(str(warning.message) for warning in seen)])
    assert "the hold'em tables stay in memory: cannot write " in said
    assert "the cache folder cannot be written" in done.stdout
    assert np.array_equal(tables.strengths().turn, made["turn"])  # and does not build them again


def test_pokis_tables_without_a_cache_folder(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = potential.Potentials(
        *(np.zeros((2, potential.N_HOLDINGS), dtype=np.uint16) for _ in range(2))
    )
    calls = []
    monkeypatch.setattr(potential, "compute_potentials", lambda *_: calls.append(1) or made)
    monkeypatch.setattr(potential.TABLES, "_held", {})
    with pytest.warns(
        UserWarning, match=r"the tables of Poki stay in memory: cannot write .*Not a directory"
    ):
        assert potential.potentials() is made
    assert potential.potentials() is made
    assert len(calls) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "kuhn", "-n", "5"],
        ["respond", "uniform", "--game", "kuhn", "-n", "5"],
        ["reproduce", "all", "--out", "runs/x"],
        ["match", "uniform", "uniform", "--game", "kuhn", "-n", "10", "--log", "runs/x.parquet"],
        ["match", "always-call", "always-fold", "-n", "10", "--log", "runs/x.parquet"],
        ["frontier", "uniform", "--game", "kuhn", "--out", "runs/x"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_results_that_cannot_be_written_are_one_sentence(
    arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "runs").write_text("precious")
    done = typed(tmp_path, *arguments)
    assert one_sentence(done), done
    assert (tmp_path / "runs").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
