"""Flipped bits: every file that is read back notices each of them, or says what it said before."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.hands import random_hands

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.core.base.store import Slot, Store
from counterplay.core.forms import strategy
from counterplay.core.solvers import folder as run_folder
from counterplay.poker.histories.acpc import write_acpc
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.phh import write_phh
from counterplay.poker.histories.read import read_hands
from counterplay.poker.models.c45.tree import from_json, to_json
from counterplay.poker.models.model import learn_model, load_model, save_model
from counterplay.poker.models.observe import observe

HANDS = random_hands(11, 40)
GAME = cp.load("holdem(buckets=3)")
KUHN = cp.load("kuhn")
TABLES = {"a": np.arange(35, dtype=np.uint32).reshape(7, 5), "b": np.arange(30.0)}
FLIPS = 200  # in each file


class Kind(NamedTuple):
    """A kind of file: its name, how it is written into a folder, what is read from it."""

    name: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Any]


@cache
def _model(kind: str) -> Any:
    return learn_model(observe(HANDS, HANDS[0].dealer), GAME, HANDS[0].dealer, kind)


def _read_model(path: Path) -> Any:
    model = load_model(path, GAME)
    return (
        model.player,
        model.hands,
        model.decisions,
        model.counts.tolist(),
        model.strategy.probabilities.tolist(),
    )


def _small_strategy(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategy, "COMPRESSED_FROM", 1)
        cp.Strategy.random(KUHN, 3).save(path)


def _slot(path: Path) -> Slot:
    return Store(path.parent, "x").slot("toy", {"seed": 1})._replace(path=path)


def _read_piece(path: Path) -> Any:
    piece = _slot(path).read(mapped=True)
    if piece is None:
        raise BadFile("not whole")
    return piece.value, {name: array.tolist() for name, array in piece.arrays.items()}


def _read_checkpoint(path: Path) -> Any:
    arrays, header = files.read_arrays(path, "checkpoint")
    return {name: array.tolist() for name, array in arrays.items()}, header


def _read_trust(path: Path) -> Any:
    return files.read_arrays(path, "trust")[0]["p"].tolist()


def _hands(path: Path) -> Any:
    read = read_hands(path)
    return read.hands, read.metadata


def _respond(folder: Path) -> None:
    cp.respond(KUHN, cp.Strategy.uniform(KUHN), 0, 0.5, "mcrnr", iterations=50, folder=folder)


def _solve(path: Path) -> None:
    cp.solve(KUHN, "mccfr", iterations=50, seed=1, folder=path.parent)


def _tree(path: Path) -> None:
    files.write_json(path, to_json(_model("tree").trees[0]))


KINDS = [
    Kind(
        "s.npz",
        cp.Strategy.random(KUHN, 3).save,
        lambda path: cp.Strategy.load(path).probabilities.tolist(),
    ),
    Kind("small.npz", _small_strategy, lambda path: cp.Strategy.load(path).probabilities.tolist()),
    Kind("config.json", _solve, lambda path: run_folder.read_config(path.parent)),
    Kind("checkpoint.npz", _solve, _read_checkpoint),
    Kind("trust.npz", lambda path: _respond(path.parent), _read_trust),
    Kind("tree.json", lambda path: save_model(_model("tree"), path), _read_model),
    Kind("frequency.json", lambda path: save_model(_model("frequency"), path), _read_model),
    Kind("c45.json", _tree, lambda path: to_json(from_json(files.read_json(path)))),
    Kind("x.piece", lambda path: _slot(path).write([1, "two"], TABLES), _read_piece),
    Kind("h.parquet", lambda path: write_parquet(path, HANDS, {"seed": 4, "hands": 40}), _hands),
    Kind("h.phhs", lambda path: write_phh(path, HANDS), _hands),
    Kind("h.phh", lambda path: write_phh(path, HANDS[:1]), _hands),
    Kind("h.log", lambda path: write_acpc(path, HANDS), _hands),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_flipped_bit_is_noticed_or_changes_nothing(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / kind.name
    kind.write(path)
    data, right = path.read_bytes(), kind.read(path)
    noticed, every = 0, max(8 * len(data) // FLIPS | 1, 1)
    places = {
        *range(0, 8 * len(data), every),
        *range(8 * max(len(data) - 100, 0), 8 * len(data), 17),
    }
    for bit in places:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        try:
            assert kind.read(path) == right, (
                bit,
                bytes(flipped[max(bit // 8 - 20, 0) : bit // 8 + 20]),
            )
        except BadFile:
            noticed += 1
    assert noticed > len(places) // 3


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if kind.name.endswith(("tree.json", "frequency.json"))],
    ids=lambda kind: kind.name,
)
def test_every_digit_of_a_model(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / kind.name
    kind.write(path)
    data = path.read_bytes()
    digits = [k for k, byte in enumerate(data) if byte in b"0123456789"]
    for place in digits[:: max(len(digits) // 150, 1)]:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(BadFile):
            load_model(path, GAME)


def test_an_old_model_has_no_checksum_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    save_model(_model("tree"), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = _read_model(path)
    content = json.loads(path.read_text())
    del content[files.CHECKSUM]
    path.write_text(json.dumps(content))
    with pytest.warns(UserWarning, match=r"m\.json carries no checksum"):
        assert _read_model(path) == right
    path.write_text(json.dumps(content | {"anything": 1}))
    with pytest.raises(BadFile, match="anything"):
        load_model(path, GAME)


def test_an_old_table_of_hands_has_no_checksum_and_says_so(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "h.parquet"
    write_parquet(path, HANDS, {"seed": 4})
    table = pq.read_table(path)
    header = {key: value for key, value in table.schema.metadata.items() if key != b"checksum"}
    pq.write_table(
        table.replace_schema_metadata(header), path, compression="zstd", write_page_checksum=True
    )
    with pytest.warns(UserWarning, match=r"h\.parquet carries no checksum"):
        assert _hands(path) == (HANDS, {"seed": 4})


@pytest.mark.parametrize("name", ["h.log", "h.phhs"])
def test_texts_put_together_and_texts_of_others(name: str, tmp_path: Path) -> None:
    """Two logs in one file are right; so is one without a checksum, as others write them."""
    path = tmp_path / name
    (write_acpc if name == "h.log" else write_phh)(path, HANDS[:10])
    text = path.read_bytes()
    if name == "h.log":
        path.write_bytes(text + text)
        assert len(read_hands(path)) == 20
        path.write_bytes(text.replace(b"\n", b"\r\n"))
        assert len(read_hands(path)) == 10
    path.write_bytes(
        b"".join(line + b"\n" for line in text.splitlines() if b"checksum" not in line)
    )
    assert read_hands(path).hands == HANDS[:10]
    path.write_bytes(text.replace(b"\n", b"\n# a remark\n", 1))
    with pytest.raises(BadFile, match="if you changed it yourself, delete the line"):
        read_hands(path)
