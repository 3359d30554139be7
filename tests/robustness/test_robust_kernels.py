"""Compiled code on disk that is damaged is compiled again, and a folder that cannot be written
is said once, in a sentence."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from support.command import COMMAND, run

import counterplay as cp
from counterplay.core.base import files


@pytest.mark.slow
def test_damaged_kernels_are_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))
    right, rng = cp.solve("kuhn", iterations=50).exploitability, random.Random(1)
    for attempt in range(2):
        done = run(tmp_path, "solve", "kuhn", "-n", "50", "--out", f"run{attempt}", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["exploitability"] == right
        kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
        assert kept
        for path in kept:
            content = bytearray(path.read_bytes())
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            path.write_bytes(bytes(content) if attempt else rng.randbytes(rng.randrange(300)))


def test_without_a_cache_folder_there_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(
        tmp_path,
        "solve",
        "kuhn",
        "-n",
        "5",
        "--out",
        "run",
        COUNTERPLAY_CACHE=str(tmp_path / "file" / "cache"),
    )
    assert done.returncode == 0
    assert done.stderr.startswith("warning: compiled code cannot be kept in ")
    assert len(done.stderr.strip().splitlines()) == 1


def test_two_processes_never_share_a_run_folder(tmp_path: Path) -> None:
    both = [
        subprocess.Popen(
            [COMMAND, "solve", "kuhn", "-a", "mccfr", "-n", n],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in ("2000", "3000")
    ]
    said = [process.communicate(timeout=60)[1] for process in both]
    folders = list((tmp_path / "runs").iterdir())
    assert sum(process.returncode == 0 for process in both) == len(folders)
    assert all(
        process.returncode == 0 or "already holds a run" in text
        for process, text in zip(both, said, strict=True)
    )
    with pytest.raises(cp.CounterplayError, match="exists"):
        files.write_json(folders[0] / "config.json", {}, new=True)


def test_a_metric_changed_by_damage_is_not_believed(tmp_path: Path) -> None:
    right = cp.solve("kuhn", "mccfr", iterations=1000, folder=tmp_path / "run")
    path = tmp_path / "run" / "metrics.csv"
    path.write_text(path.read_text().replace("0.", "0.9"))
    again = cp.resume(tmp_path / "run", iterations=500)
    assert again.exploitability == right.exploitability
    assert repr(again.metrics) == repr(right.metrics)  # with the NaNs in them
