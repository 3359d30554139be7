"""A strategy file is read right or refused, whatever happened to it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import BATTLE

from counterplay.core.base.errors import BadFile, BadStrategy, CounterplayError
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy

KUHN = load("kuhn")
PROFILE = Strategy.random(KUHN, 1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strategy") / "strategy.npz"
    PROFILE.save(path)
    return path


def npz(path: Path, header: object, **arrays: np.ndarray | bytes) -> Path:
    """An archive like ours, with anything in it."""
    with zipfile.ZipFile(path, "w") as archive:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        for name, array in {"header": np.frombuffer(text, dtype=np.uint8), **arrays}.items():
            buffer = io.BytesIO()
            if not isinstance(array, bytes):
                np.save(buffer, array)
            archive.writestr(
                f"{name}.npy", array if isinstance(array, bytes) else buffer.getvalue()
            )
    return path


HEADER = {"counterplay": "strategy", "format": 1, "game": "kuhn", "fingerprint": KUHN.fingerprint}


def loads_or_is_refused(path: Path) -> None:
    """The identical strategy, or `BadFile` that names the file."""
    try:
        loaded = Strategy.load(path)
    except BadFile as error:
        message = str(error)
    else:
        np.testing.assert_array_equal(loaded.probabilities, PROFILE.probabilities)
        return
    assert str(path) in message


@pytest.mark.parametrize(
    "name",
    ["kuhn", "kuhn(players=3)", "leduc(suits=False)", "pam(2,2,4,first=monster)", "goofspiel(3)"],
)
def test_round_trip(name: str, tmp_path: Path) -> None:
    strategy = Strategy.random(load(name), 7)
    strategy.save(tmp_path / "new" / "strategy.npz")
    for path in (
        tmp_path / "new",
        tmp_path / "new" / "strategy.npz",
        str(tmp_path / "new"),
    ):  # a run folder will do
        again = Strategy.load(path)
        assert again.game.name == name
        np.testing.assert_array_equal(again.probabilities, strategy.probabilities)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["strategy.npz"]


def test_a_game_of_ones_own_is_passed_in(tmp_path: Path) -> None:
    Strategy.uniform(BATTLE).save(tmp_path / "s.npz")
    assert Strategy.load(tmp_path / "s.npz", BATTLE).game is BATTLE
    with pytest.raises(BadFile, match=r"s\.npz.*battle"):
        Strategy.load(tmp_path / "s.npz")
    with pytest.raises(BadStrategy, match="battle"):
        Strategy.load(tmp_path / "s.npz", KUHN)


@pytest.mark.slow
def test_every_single_damaged_byte(saved: Path, tmp_path: Path) -> None:
    data, path = saved.read_bytes(), tmp_path / "damaged.npz"
    for position in range(len(data)):
        for flip in (0x01, 0x80):
            path.write_bytes(
                data[:position] + bytes([data[position] ^ flip]) + data[position + 1 :]
            )
            loads_or_is_refused(path)


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 255)), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_damaged_bytes(saved: Path, flips: list[tuple[int, int]]) -> None:
    data, path = bytearray(saved.read_bytes()), saved.with_name("flipped.npz")
    for position, flip in flips:
        data[position % len(data)] ^= flip
    path.write_bytes(bytes(data))
    loads_or_is_refused(path)


def test_every_truncation(saved: Path, tmp_path: Path) -> None:
    data, path = saved.read_bytes(), tmp_path / "cut.npz"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(BadFile, match=r"cut\.npz"):
            Strategy.load(path)


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x93NUMPY", b"\x80\x04"]),
)
@settings(max_examples=200, deadline=None)
def test_random_bytes(saved: Path, data: bytes, start: bytes) -> None:
    path = saved.with_name("random.npz")
    path.write_bytes(start + data)
    with pytest.raises(BadFile, match=r"random\.npz"):
        Strategy.load(path)


NEWER, UNLIKE, TEXT = (
    HEADER | {"format": 2},
    HEADER | {"fingerprint": "0"},
    HEADER | {"game": "no such game"},
)
HUGE = (
    b"\x93NUMPY\x01\x00\x76\x00"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }".ljust(117)
    + b"\n"
)


@pytest.mark.parametrize(
    ("header", "probabilities", "message"),
    [
        (NEWER, PROFILE.probabilities, "newer version"),
        (HEADER | {"counterplay": "checkpoint"}, PROFILE.probabilities, "holds a checkpoint"),
        (UNLIKE, PROFILE.probabilities, "rules or the numbering of kuhn changed"),
        (TEXT, PROFILE.probabilities, "no such game"),
        (HEADER | {"game": 3}, PROFILE.probabilities, "damaged"),
        (HEADER | {"format": None}, PROFILE.probabilities, "format"),
        (["kuhn"], PROFILE.probabilities, "not a Counterplay file"),
        ({}, PROFILE.probabilities, "not a Counterplay file"),
        (b"{", PROFILE.probabilities, "damaged"),
        (b"\xff\xfe", PROFILE.probabilities, "damaged"),
        (HEADER, PROFILE.probabilities[:-1], "24 action slots"),
        (HEADER, PROFILE.probabilities * 2, "sum to"),
        (HEADER, np.array([None]), "damaged"),
        (HEADER, HUGE, "damaged"),
    ],
)
def test_foreign_files(
    tmp_path: Path, header: object, probabilities: np.ndarray | bytes, message: str
) -> None:
    path = npz(tmp_path / "foreign.npz", header, probabilities=probabilities)
    with pytest.raises(BadFile, match=message) as error:
        Strategy.load(path)
    assert str(path) in str(error.value)


def test_other_things_that_are_no_strategy(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("a,b\n1,2\n")
    np.save(tmp_path / "bare.npy", PROFILE.probabilities)
    np.savez(tmp_path / "plain.npz", probabilities=PROFILE.probabilities)
    for name in ("text.npz", "bare.npy", "plain.npz", "missing.npz", "."):
        with pytest.raises(BadFile):
            Strategy.load(tmp_path / name)


@pytest.mark.parametrize("name", ["file/strategy.npz", "n" * 300, "folder"])
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CounterplayError, match="cannot write"):
        PROFILE.save(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_failed_write_keeps_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CounterplayError, match="No space left"):
        Strategy.uniform(KUHN).save(saved)
    assert saved.read_bytes() == before
    assert not list(saved.parent.glob(".*"))
