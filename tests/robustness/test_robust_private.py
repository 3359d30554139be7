"""What others could have put into the cache is not run; what killed processes left there is
removed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from counterplay.core.base import disk, files
from counterplay.core.base.store import Cached, Piece
from counterplay.core.kernels import jit
from counterplay.core.kernels.cache import KernelFile, make_private, untrusted_because

posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that Counterplay made for itself, whatever the umask."""
    root = tmp_path / "home" / "cache"
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(root))
    before = os.umask(0o002)
    try:
        assert jit._writable_cache() is not None
    finally:
        os.umask(before)
    return root


@posix
def test_its_own_cache_is_trusted(cache: Path) -> None:
    folder = jit._writable_cache()
    assert folder is not None
    for path in (Path(folder), *Path(folder).parents):
        if cache.parent in (path, *path.parents):
            assert path.stat().st_mode & 0o777 == 0o700
    (Path(folder) / "kernels_1").mkdir(mode=0o755)
    assert jit._writable_cache() == folder


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
@pytest.mark.parametrize("which", ["root", "kernels", "version", "below"])
def test_a_folder_that_others_can_write_is_refused(which: str, mode: int, cache: Path) -> None:
    version = Path(str(jit._writable_cache()))
    place = {
        "root": cache,
        "kernels": cache / "kernels",
        "version": version,
        "below": version / "kernels_1",
    }[which]
    place.mkdir(exist_ok=True)
    place.chmod(mode)
    with pytest.warns(
        UserWarning, match=r"compiled code cannot be kept in .* \(others can write .*chmod go-w"
    ) as said:
        assert jit._writable_cache() is None
    assert len(said) == 1
    place.chmod(0o755)
    assert jit._writable_cache() is not None


@posix
def test_folders_above_the_cache(tmp_path: Path) -> None:
    """Sticky ones, as /tmp, are all right; where everybody can rename everything, nothing is
    safe."""
    root = tmp_path / "shared" / "cache"
    make_private(root / "kernels")
    for mode, trusted in ((0o777, False), (0o1777, True), (0o775, True), (0o755, True)):
        (tmp_path / "shared").chmod(mode)
        assert (untrusted_because(root / "kernels", root) is None) == trusted, oct(mode)


@posix
@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give folders away"
)
def test_a_folder_of_another_user_is_refused(cache: Path) -> None:
    os.chown(cache, 12345, 12345)
    with pytest.warns(UserWarning, match="others can write"):
        assert jit._writable_cache() is None


@posix
def test_a_link_is_followed_to_where_the_code_is(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "kernels").symlink_to(tmp_path / "open")
    assert untrusted_because(tmp_path / "cache", tmp_path / "cache") is not None


@posix
def test_a_file_that_others_can_write_is_compiled_again(tmp_path: Path) -> None:
    kept = KernelFile(str(tmp_path), "f", "stamp")
    kept.save("key", [1, 2])
    assert kept.load("key") == [1, 2]
    (path,) = tmp_path.iterdir()
    path.chmod(0o666)
    assert kept.load("key") is None
    kept.save("key", [1, 2])
    path.chmod(0o644)
    assert kept.load("key") == [1, 2]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert kept.load("key") is None


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from counterplay.core.base import disk
    def pieces():
        yield b"half"
        print("writing", flush=True)
        if sys.argv[2] == "wait":
            signal.pause()
        os.kill(os.getpid(), signal.SIGKILL)
    disk.write_pieces(Path(sys.argv[1]), pieces())
"""


def _writer(path: Path, then: str) -> subprocess.Popen[str]:
    script = textwrap.dedent(KILLED)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path), then], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@posix
def test_what_a_killed_writer_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone after the next write into the folder, and when tables are read; a living
    writer's file stays."""
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    toy = Cached(
        "toys stay", "toy", (), make=dict, pack=lambda x: Piece(x, {}), unpack=lambda x: x.value
    )
    tmp_path = toy.slot().path.parent
    tmp_path.mkdir(parents=True)
    alive = _writer(tmp_path / "alive.npz", "wait")
    try:
        for use in (
            lambda: files.write_json(tmp_path / "x.json", {}),
            toy.read,
            lambda: toy.write({}),
        ):
            _writer(tmp_path / "dead.npy", "die").wait()
            assert any(name.startswith(".dead") for name in _names(tmp_path))
            use()
            assert not any(name.startswith(".dead") for name in _names(tmp_path))
            assert any(name.startswith(".alive") for name in _names(tmp_path))
    finally:
        alive.send_signal(signal.SIGKILL)
        alive.wait()
    disk.remove_abandoned(tmp_path)
    assert _names(tmp_path) == {"x.json", toy.slot().path.name}


def test_temporary_files_of_other_machines_are_left_for_an_hour(tmp_path: Path) -> None:
    """The state of their processes is not known."""
    name = ".x.deadbeef.4000000-1.tmp"
    (tmp_path / name).write_bytes(b"half")
    disk.remove_abandoned(tmp_path)
    assert name in _names(tmp_path)
    os.utime(tmp_path / name, (time.time() - 3700,) * 2)
    disk.remove_abandoned(tmp_path)
    assert _names(tmp_path) == set()
    for name in ("mine.tmp", ".hidden", ".tmp", ".mine.tmp", ".x.1-2-3.tmp"):
        (tmp_path / name).write_text("not ours")
        os.utime(tmp_path / name, (time.time() - 10**6,) * 2)
        disk.remove_abandoned(tmp_path)
        assert _names(tmp_path) == {name}
        (tmp_path / name).unlink()


def test_an_interrupted_writer_cleans_up_itself(tmp_path: Path) -> None:
    def pieces() -> object:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disk.write_pieces(tmp_path / "x", pieces())  # type: ignore[arg-type]
    assert _names(tmp_path) == set()


@posix
def test_the_kernel_cache_is_cleared_at_the_start(cache: Path) -> None:
    place = Path(str(jit._writable_cache())) / "kernels_1"
    place.mkdir(mode=0o700)
    _writer(place / "kernel.nbc", "die").wait()
    assert _names(place)
    assert jit._writable_cache() is not None
    assert _names(place) == set()
    shutil.rmtree(cache)
