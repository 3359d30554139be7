"""The one store: what is found, what is believed, what is made anew."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.core.base import store
from counterplay.core.base.store import Piece, Store, digest

RECIPE = {"seed": 1, "options": {"epsilon": 0.6}}

CODE = "0" * 16

ARRAYS = {
    "counts": np.arange(15, dtype=np.uint32).reshape(3, 5),
    "turned": np.arange(6.0).reshape(2, 3).T,
    "number": np.array(2.5),
    "none": np.zeros((0, 4)),
    "marks": np.array([True, False]),
    "words": np.array(["a", "bcd"]),
}


def count(kept: Store, recipe: Any = RECIPE, kind: str = "toy") -> int:
    """How often the piece had to be made."""
    made: list[int] = []

    def make() -> Piece:
        made.append(1)
        return Piece({"x": [1, 0.25]}, ARRAYS)

    piece = kept.piece(kind, recipe, make)
    assert piece.value == {"x": [1, 0.25]}
    same(piece.arrays)
    return len(made)


def same(arrays: dict[str, np.ndarray]) -> None:
    assert list(arrays) == list(ARRAYS)
    for name, array in arrays.items():
        assert (array.dtype, array.shape) == (ARRAYS[name].dtype, ARRAYS[name].shape)
        assert np.array_equal(array, ARRAYS[name])


def test_a_piece_is_found_by_all_that_made_it(tmp_path: Path) -> None:
    assert count(Store(tmp_path, CODE)) == 1
    assert count(Store(tmp_path, CODE)) == 0
    assert count(Store(tmp_path, CODE), {"options": {"epsilon": 0.6}, "seed": 1}) == 0
    assert count(Store(tmp_path, CODE), {**RECIPE, "seed": 2}) == 1
    assert count(Store(tmp_path, CODE), {**RECIPE, "options": {"epsilon": 0.5}}) == 1
    assert count(Store(tmp_path, CODE), kind="other") == 1
    assert count(Store(tmp_path, "1" * 16)) == 1


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_come_back_aligned_and_writable_unless_mapped(mapped: bool, tmp_path: Path) -> None:
    count(Store(tmp_path, CODE))
    piece = Store(tmp_path, CODE).slot("toy", RECIPE).read(mapped)
    assert piece is not None
    same(piece.arrays)
    for array in piece.arrays.values():
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.flags.writeable != mapped


def test_no_flipped_bit_is_believed(tmp_path: Path) -> None:
    count(Store(tmp_path, CODE))
    slot = Store(tmp_path, CODE).slot("toy", RECIPE)
    good = slot.path.read_bytes()
    for place in range(0, 8 * len(good), 3):
        bad = bytearray(good)
        bad[place // 8] ^= 1 << place % 8
        slot.path.write_bytes(bad)
        assert slot.read() is None, place


def test_damaged_foreign_and_newer_files_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(Store(tmp_path, CODE))
    slot = Store(tmp_path, CODE).slot("toy", RECIPE)
    good, rng = slot.path.read_bytes(), random.Random(1)
    bad = [good[:k] for k in range(0, len(good), 29)] + [good + b"\0", good + bytes(64), good[64:]]
    bad += [rng.randbytes(900), b"[" * 100_000, b"PK\x03\x04" + rng.randbytes(300), b"\n" * 99]
    for data in bad:
        slot.path.write_bytes(data)
        assert count(Store(tmp_path, CODE)) == 1
        assert slot.path.read_bytes() == good
    with monkeypatch.context() as newer:
        newer.setattr(store, "FORMAT", store.FORMAT + 1)
        later = Store(tmp_path, CODE).slot("toy", RECIPE)
        later.write(None, {})
    shutil.copy(later.path, slot.path)  # of a newer version, under the name of this one
    assert count(Store(tmp_path, CODE)) == 1
    other = Store(tmp_path, CODE).slot("toy", {"seed": 9})
    shutil.copy(slot.path, other.path)
    assert other.read() is None
    shutil.copy(slot.path, Store(tmp_path, CODE).draft("toy", RECIPE).path)
    assert Store(tmp_path, CODE).draft("toy", RECIPE).read() is None
    slot.path.unlink()
    slot.path.mkdir()
    assert slot.read() is None


def forged(head: bytes, value: Any, index: Any, data: bytes = b"") -> bytes:
    """A file whose checksums fit."""
    text = b"\n".join([head, json.dumps(value).encode(), json.dumps(index).encode()])
    blank = b" " * (-(len(text) + 66) % 64) + b"\n"
    return store._sha256(text) + text + blank + data


def test_hostile_files_are_refused_before_anything_large_is_made(tmp_path: Path) -> None:
    slot = Store(tmp_path, CODE).slot("toy", RECIPE)
    slot.path.parent.mkdir()
    ten = 10**10
    for index in (
        [["a", "<f8", [ten], 0]],
        [["a", "<f8", [ten, 0], 0], ["b", "<f8", [-1, 8], 0]],
        [["a", "<f8", [-8], 0]],
        [["a", "|O", [1], 0]],
        [["a", "<f8", [ten, ten, ten], 0]],
        [["a", f"<U{10**9}", [1], 0]],
        [["a", "<f8"]],
        [[["a"], "<f8", [0], 0]],
        {"a": 1},
        7,
    ):
        slot.path.write_bytes(forged(slot.head, None, index, bytes(64)))
        assert slot.read() is None, index
    values = b"[" + b"0," * 9_000_000 + b"0]"
    text = b"\n".join([slot.head, values, b"[]"])
    blank = b" " * (-(len(text) + 66) % 64) + b"\n"
    slot.path.write_bytes(store._sha256(text) + text + blank)
    assert slot.read() is None
    slot.path.write_bytes(forged(slot.head, 1, []))
    assert slot.read() == (1, {})
    assert slot.read(most=10) is None
    if hasattr(os, "mkfifo"):
        slot.path.unlink()
        os.mkfifo(slot.path)  # reading would wait for ever
        assert slot.read() is None


def test_old_code_does_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "of somebody else").mkdir()
    for k in range(7):
        count(Store(tmp_path, f"{k:016x}", 3))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 4
    assert names[-1] == "of somebody else"
    assert f"{6:016x}" in names


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    stored = Store(tmp_path / "file", CODE)
    made: list[int] = []

    def make() -> Piece:
        made.append(1)
        return Piece(len(made), {})

    with pytest.warns(UserWarning, match="the toys stay in memory: cannot write"):
        assert stored.piece("toy", {}, make, "the toys stay").value == 1
    assert stored.piece("toy", {}, make, "the toys stay").value == 1
    with pytest.raises(ValueError, match="cannot write"):
        stored.piece("other", {}, make)
    assert (tmp_path / "file").read_text() == "precious"


WRITER = """
    import itertools, sys
    from pathlib import Path
    import numpy as np
    from counterplay.core.base.store import Store
    slot = Store(Path("kept"), "0" * 16).slot("toy", {})
    for k in itertools.count(int(sys.argv[1]), 2):
        slot.write(k, {"one": np.full((700, 1000), k, "u4"), "two": np.full(5, k, "i8")})
        print(k, flush=True)
"""


def _whole(folder: Path) -> int | None:
    """The number of which the piece consists, None where there is none."""
    piece = Store(folder / "kept", CODE).slot("toy", {}).read(mapped=True)
    if piece is None:
        return None
    numbers = {
        int(value) for array in piece.arrays.values() for value in (array[0].min(), array.max())
    }
    assert numbers == {piece.value}
    return int(piece.value)


def test_killed_while_writing_it_is_whole_or_absent(tmp_path: Path) -> None:
    """Two writers of other content, one of them killed again and again: readers meanwhile and
    afterwards get the arrays of one writing, or nothing."""
    script, rng, observed = textwrap.dedent(WRITER), random.Random(3), set()
    for _ in range(4):
        running = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(k)], cwd=tmp_path, stdout=subprocess.PIPE
            )
            for k in range(2)
        ]
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        until = time.monotonic() + rng.uniform(0.05, 0.3)
        while time.monotonic() < until:
            observed.add(_whole(tmp_path))
        for process in running:
            process.kill()
            process.communicate()
        observed.add(_whole(tmp_path))
    assert observed - {None}
    Store(tmp_path / "kept", CODE).slot("toy", {}).write(1, {})
    assert len(list((tmp_path / "kept" / CODE).iterdir())) == 1  # what the killed left is gone


def test_two_processes_make_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
        import time
        from counterplay.core.base.store import Cached, Piece
        def make(tell):
            with open("made", "a") as file:
                file.write("x")
            time.sleep(0.4)
            return 5
        said = []
        toy = Cached("toys stay", "toys", (), make=make, pack=lambda made: Piece(made, {}),
                     unpack=lambda piece: piece.value)
        assert toy.get(lambda share, what: said.append(what)) == 5
        print(said)
    """
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))
    command = [sys.executable, "-c", textwrap.dedent(script)]
    running = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0] * 3
    assert (tmp_path / "made").read_text() == "x"
    assert not list(tmp_path.rglob("*.lock"))


def test_digests_tell_numbers_types_and_shapes_apart() -> None:
    arrays = (
        np.zeros(4),
        np.zeros(4, dtype=np.float32),
        np.zeros((2, 2)),
        np.ones(4),
        np.zeros(4)[:3],
    )
    assert len({digest(array) for array in arrays}) == len(arrays)
    assert digest(np.zeros((4, 2))[:, 0]) == digest(np.zeros(4))
