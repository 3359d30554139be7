"""Files made to eat time or memory are refused within two seconds and 300 MB."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterplay as cp
from counterplay.core.base.errors import BadFile
from counterplay.poker.histories.parquet import SCHEMA

KUHN = cp.load("kuhn")
HEADER = {"counterplay": "strategy", "format": 1, "game": "kuhn", "fingerprint": KUHN.fingerprint}
LARGE = 400_000_000  # bytes; above the allowance


def npy(array: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    """An .npy file; with `shape`, one that claims to be larger than it is."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": array.dtype.str, "fortran_order": False, "shape": shape or array.shape}
    )
    return buffer.getvalue() + array.tobytes()


def head(**changes: object) -> bytes:
    return npy(np.frombuffer(json.dumps(HEADER | changes).encode(), dtype=np.uint8))


def zeros(path: Path) -> None:
    """Honest sizes: `LARGE` bytes of zeros, half a megabyte on disk."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.npy", head())
        with archive.open("probabilities.npy", "w") as member:
            member.write(npy(np.zeros(0), (LARGE // 8,)))
            for _ in range(LARGE // 10_000_000):
                member.write(bytes(10_000_000))


def large_header(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.npy", npy(np.full(50_000_000, ord(" "), dtype=np.uint8)))


def claimed(path: Path) -> None:
    """A shape of 8 PB over no bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", head())
        archive.writestr("probabilities.npy", npy(np.zeros(3), (10**15,)))


def many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", head())
        for k in range(5_000):
            archive.writestr(f"{k}.npy", b"")


def overlapping(path: Path) -> None:
    """Members that share their bytes: as many times the file as there are members."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", head())
        archive.writestr("a.npy", npy(np.zeros(1_000_000)))
        first = archive.infolist()[1]
        for k in range(90):
            copy = zipfile.ZipInfo(f"{k}.npy")
            for name in ("header_offset", "CRC", "file_size", "compress_size", "compress_type"):
                setattr(copy, name, getattr(first, name))
            archive.filelist.append(copy)


def rows(path: Path, n: int, text: str) -> None:
    """A Parquet file of n equal rows: a few kilobytes, whatever n is."""
    header = {"counterplay": "hands", "format": "1", "metadata": "{}"}
    index = pa.array(np.zeros(n, dtype=np.int32))
    columns = [
        pa.DictionaryArray.from_arrays(index, pa.array([text]))
        if kind == pa.string()
        else pa.array(np.zeros(n), kind)
        for kind in SCHEMA.types
    ]
    table = pa.table(columns, names=SCHEMA.names).replace_schema_metadata(header)
    pq.write_table(table, path, compression="zstd")


BOMBS: dict[str, Callable[[Path], object]] = {
    "zeros.npz": zeros,
    "header.npz": large_header,
    "claimed.npz": claimed,
    "members.npz": many_members,
    "overlapping.npz": overlapping,
    "spaces.json": lambda path: path.write_bytes(b" " * 80_000_000),
    "deep.json": lambda path: path.write_bytes(b'{"a": ' + b"[" * 3_000_000),
    "lists.json": lambda path: path.write_bytes(
        b'{"counterplay": "model", "a": [' + b"[]," * 9_000_000 + b"1]}"
    ),
    "rows.parquet": lambda path: rows(path, 3_000_000, "A"),
    "texts.parquet": lambda path: rows(path, 20_000, "A" * 100_000),
    "long.parquet": lambda path: rows(path, 1, "A" * 20_000_000),
    "zeros.log.gz": lambda path: path.write_bytes(gzip.compress(bytes(LARGE), 1)),
    "zeros.log.bz2": lambda path: path.write_bytes(bz2.compress(bytes(LARGE // 4), 1)),
    "line.log": lambda path: path.write_bytes(b"STATE:" + b"0" * 20_000_000),
    "dots.phh": lambda path: path.write_bytes(b'variant = "FT"\n' + b"a." * 2_000_000 + b"a = 1"),
    "deep.phh": lambda path: path.write_bytes(b'variant = "FT"\nx = ' + b"[" * 3_000_000),
    "empty.lines": lambda path: path.write_bytes(b"\n" * 3_000_000 + b"x"),
}
READER = """
    import json, os, resource, sys, time, warnings
    from pathlib import Path
    import counterplay as cp
    from counterplay.poker.histories.parquet import write_parquet
    from counterplay.poker.histories.read import read_hands
    from counterplay.poker.models.model import load_model

    warnings.simplefilter("ignore")
    def read(path):
        return (cp.Strategy.load if path.suffix == ".npz" else load_model if path.suffix == ".json" else read_hands)(path)

    def said(path):
        before = time.process_time()
        try:
            read(path)
            message = "it was read"
        except cp.CounterplayError as error:
            message = str(error)
        except BaseException as error:
            message = repr(error)
        return json.dumps([path.name, message, time.process_time() - before])

    cp.load("kuhn").fingerprint
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for path in map(Path, sys.argv[1:]):  # each in a process of its own
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
            print(said(path), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_refusing_is_cheap(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in BOMBS]
    for path in paths:
        BOMBS[path.name](path)
        assert path.stat().st_size < 90_000_000
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(READER), *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer[0] for answer in answers] == list(BOMBS), done.stderr
    for name, message, seconds in answers:
        assert message.startswith(f"{tmp_path / name}:"), (name, message)
        assert not any(word in message for word in ("emory", "lloc")), (
            message
        )  # by its size, not by running out
        assert seconds < 2.0, (name, seconds)


def archive_of(path: Path, *members: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


POLICY = npy(cp.Strategy.uniform(KUHN).probabilities)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("members", "words"),
    [
        (
            [("header.npy", head()), ("probabilities.npy", POLICY), ("probabilities.npy", POLICY)],
            "occurs twice",
        ),
        (
            [
                ("header.npy", head(arrays=["probabilities"])),
                ("probabilities.npy", POLICY),
                ("x.npy", POLICY),
            ],
            "arrays",
        ),
        (
            [("header.npy", head()), ("probabilities.npy", POLICY), ("x.txt", b"")],
            "not a Counterplay file",
        ),
        ([("header.npy", head()), ("probabilities.npy", POLICY + b"0")], "another size"),
        ([("header.npy", head()), ("probabilities.npy", npy(np.zeros(24), (23,)))], "another size"),
        ([("header.npy", head()), ("probabilities.npy", npy(np.zeros(1_000_000)))], "MB of arrays"),
        (
            [("header.npy", head()), ("probabilities.npy", b"\x93NUMPY\x09\x00" + POLICY[8:])],
            "damaged",
        ),
    ],
    ids=[
        "twice",
        "not in the list",
        "not an array",
        "more bytes",
        "fewer numbers",
        "too large",
        "version",
    ],
)
def test_what_does_not_belong_into_a_strategy(
    members: list[tuple[str, bytes]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadFile, match=words):
        cp.Strategy.load(archive_of(tmp_path / "x.npz", *members))


def test_what_is_large_and_right_is_read(tmp_path: Path) -> None:
    """The bounds are no nuisance: a compressed strategy, and a checkpoint with many
    measurements."""
    game = cp.load("leduc")
    cp.Strategy.uniform(game).save(tmp_path / "s.npz")
    assert np.array_equal(
        cp.Strategy.load(tmp_path / "s.npz").probabilities, cp.Strategy.uniform(game).probabilities
    )
    cp.solve("kuhn", iterations=3000, measure_every=1, folder=tmp_path / "run")
    assert len(cp.resume(tmp_path / "run", iterations=3001).metrics) == 3001
