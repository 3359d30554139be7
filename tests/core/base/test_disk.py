"""Locks and new files: links, pipes, killed and failing processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from counterplay.core.base import disk, files, store
from counterplay.core.base.disk import file_lock, write_pieces
from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.files import read_json, write_json
from counterplay.core.base.store import Piece, Store

posix = pytest.mark.skipif(os.name != "posix", reason="locks, links and pipes")


@posix
def test_a_lock_changes_no_file_behind_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("text")
    (tmp_path / "a.lock").symlink_to(precious)
    with file_lock(tmp_path / "a"):
        pass
    assert precious.read_text() == "text"


@posix
def test_a_lock_that_is_a_pipe_or_a_folder_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.lock")
    (tmp_path / "b.lock").mkdir()
    done: list[str] = []

    def work() -> None:
        for name in "ab":
            with file_lock(tmp_path / name):
                done.append(name)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    assert done == ["a", "b"]


@posix
def test_the_end_of_a_lock_survives_its_folder(tmp_path: Path) -> None:
    """Which was moved away, with a file in its place."""
    folder = tmp_path / "folder"
    with file_lock(folder / "a"):
        folder.rename(tmp_path / "old")
        folder.write_text("a file")


@posix
def test_one_at_a_time_though_makers_fail(tmp_path: Path) -> None:
    """One that waited gets the lock of a file that its owner has removed; one that comes then must
    not get another."""
    script = """
        import os, time
        from pathlib import Path
        from counterplay.core.base.disk import file_lock
        print("ready", flush=True)
        for _ in range(60):
            with file_lock(Path("a")):
                os.close(os.open("inside", os.O_CREAT | os.O_EXCL))  # fails if another is in here
                time.sleep(0.002)
                os.unlink("inside")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    running = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    errors = [process.communicate(timeout=120)[1].decode() for process in running]
    assert errors == [""] * 4
    assert list(tmp_path.iterdir()) == []


def test_a_piece_that_is_needed_to_make_itself(tmp_path: Path) -> None:
    """An error, where it would wait for itself for ever; another one may be needed."""
    toys = Store(tmp_path, "0123456789abcdef")

    def make() -> int:
        return int(toys.value("toy", {"n": 1}, make))

    with pytest.raises(CounterplayError, match=r"toy-\w+\.piece is needed to make toy-"):
        toys.value("toy", {"n": 1}, make)
    assert toys.value("toy", {"n": 2}, lambda: 1 + toys.value("toy", {"n": 1}, lambda: 3)) == 4


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_is_whole_and_is_written_once(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _no_links)
    path = tmp_path / "new.json"
    write_json(path, {"a": 1}, new=True)
    with pytest.raises(CounterplayError, match=r"cannot write .*: File exists"):
        write_json(path, {"a": 2}, new=True)
    assert (read_json(path), list(tmp_path.iterdir())) == ({"a": 1}, [path])


def _no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@posix
@pytest.mark.parametrize("call", ["open", "fsync", "link", "replace", "unlink"])
@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_step_of_writing(call: str, new: bool, after: bool, tmp_path: Path) -> None:
    """Before and after each call of the system: the file is whole or not there, and the next writer
    removes what is left."""
    path = tmp_path / "a"
    child = os.fork()
    if child == 0:
        original = getattr(os, call)

        def killed(*args: Any, **kwargs: Any) -> None:
            if after:
                original(*args, **kwargs)
            os._exit(9)

        setattr(disk.os, call, killed)
        write_pieces(path, [b"one ", b"two"], new=new)
        os._exit(0)
    os.waitpid(child, 0)
    assert not path.exists() or path.read_bytes() == b"one two"
    path.unlink(missing_ok=True)
    write_pieces(path, [b"next"], new=new)
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("value", "fits"), [(10_000 * "x", 9_900 * "x"), ([0] * 1_001, [0] * 1_000)]
)
def test_what_could_not_be_read_again_is_not_written(
    value: object, fits: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be made anew for ever."""
    monkeypatch.setattr(store, "MOST_LINE", 10_000)
    monkeypatch.setattr(files, "MOST_VALUES", 1_000)
    slot = Store(tmp_path, "0123456789abcdef").slot("toy", {})
    with pytest.raises(CounterplayError, match=r"a value of 10,002 bytes|more than 1,000 values"):
        slot.write(*Piece(value, {}))
    assert not slot.path.exists()
    slot.write(*Piece(fits, {}))
    read = slot.read()
    assert read is not None
    assert read.value == fits


def test_locks_of_two_threads(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        for _ in range(20):
            with file_lock(tmp_path / "a"):
                inside.append(1)
                assert len(inside) == 1
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert inside == []
