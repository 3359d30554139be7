"""Random bytes, cut files and flipped bits in every kind of file that is read: one sentence and
code 2, or the right answer."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Done, one_sentence, typed
from support.hands import random_hands

import counterplay as cp
from counterplay.app.reproduction.harness import reproduce
from counterplay.app.reproduction.harness.base import Experiment, Outcome
from counterplay.core.base import files
from counterplay.core.base.store import Store
from counterplay.poker.bots.poki import potential
from counterplay.poker.histories.acpc import write_acpc
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.phh import write_phh
from counterplay.poker.histories.read import read_hands
from counterplay.poker.histories.records import CHECKSUM_COMMENT, HandRecord
from counterplay.poker.models import model as model_file
from counterplay.poker.models.model import learn_model, load_model, save_model
from counterplay.poker.models.observe import observe


def damaged(good: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Noise, nothing, a cut, a gap, something else's bytes, then `count` times one to four
    flipped bits."""
    rng = random.Random(seed)
    yield rng.randbytes(500)
    yield b""
    yield good[: len(good) // 2]
    yield good[:-1]
    yield good[: len(good) // 3] + bytes(len(good) // 3) + good[len(good) // 3 * 2 :]
    yield b'{"counterplay": "something else", "format": 1}'
    yield b"[" * 100_000
    yield b"PK\x03\x04" + rng.randbytes(300)
    yield b"PAR1" + rng.randbytes(300) + b"PAR1"
    for _ in range(count):
        flipped = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        yield bytes(flipped)


def try_damage(
    path: Path, count: int, attempt: Callable[[], Done], right: Callable[[Done], bool]
) -> int:
    """Every damage to `path` gives one sentence or what is `right`; how many were refused."""
    good, refused = path.read_bytes(), 0
    for data in damaged(good, count):
        path.write_bytes(data)
        done = attempt()
        assert one_sentence(done) or (done.code == 0 and right(done)), (done, data[:200])
        refused += done.code == 2
    path.write_bytes(good)
    return refused


@pytest.fixture(scope="module")
def kuhn_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kuhn") / "run"
    cp.solve("kuhn", "mccfr", iterations=1000, seed=2, folder=folder)
    return folder


def facts_of(done: Done) -> dict[str, Any]:
    """All but the time."""
    return {
        key: value
        for key, value in json.loads(done.stdout).items()
        if key != "seconds" and "per second" not in key
    }


def test_a_strategy(kuhn_run: Path, tmp_path: Path) -> None:
    shutil.copy(kuhn_run / "strategy.npz", tmp_path / "mine.npz")
    right = facts_of(typed(tmp_path, "evaluate", "mine.npz", "--json"))
    path = tmp_path / "mine.npz"
    evaluated = lambda: typed(tmp_path, "evaluate", "mine.npz", "--json")  # noqa: E731
    assert try_damage(path, 30, evaluated, lambda done: facts_of(done) == right) > 15


@pytest.mark.parametrize(
    "name",
    [
        "config.json",
        "checkpoint.npz",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("metrics.csv", "strategy.npz")),
    ],
)
def test_a_run_folder(name: str, kuhn_run: Path, tmp_path: Path) -> None:
    right = cp.solve("kuhn", "mccfr", iterations=1500, seed=2)
    good = {path.name: path.read_bytes() for path in kuhn_run.iterdir()}

    def resumed() -> Done:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        (tmp_path / "run").mkdir()
        for other, data in good.items():
            (tmp_path / "run" / other).write_bytes(
                (tmp_path / name).read_bytes() if other == name else data
            )
        return typed(tmp_path, "solve", "--resume", "run", "-n", "1500", "--json")

    def is_right(done: Done) -> bool:
        strategy = cp.Strategy.load(tmp_path / "run")
        same = np.array_equal(strategy.probabilities, right.strategy.probabilities)
        return same and json.loads(done.stdout)["exploitability"] == right.exploitability

    (tmp_path / name).write_bytes(good[name])
    try_damage(tmp_path / name, 10, resumed, is_right)


def test_a_response(tmp_path: Path) -> None:
    command = "respond uniform --game kuhn --player 1 -a mcrnr -n 500 --out good"
    arguments = command.split()
    assert typed(tmp_path, *arguments).code == 0
    shutil.copytree(tmp_path / "good", tmp_path / "answer")
    done = typed(tmp_path, "respond", "--resume", "answer", "-n", "800", "--json")
    right = cp.Strategy.load(tmp_path / "answer").probabilities
    assert done.code == 0, done

    def resumed() -> Done:
        for path in (tmp_path / "good").iterdir():
            if path.name != name:
                shutil.copy(path, tmp_path / "answer" / path.name)
        return typed(tmp_path, "respond", "--resume", "answer", "-n", "800", "--json")

    for name in ("model.npz", "trust.npz", "config.json", "checkpoint.npz"):
        shutil.copy(tmp_path / "good" / name, tmp_path / "answer" / name)
        try_damage(
            tmp_path / "answer" / name,
            3,
            resumed,
            lambda _: np.array_equal(cp.Strategy.load(tmp_path / "answer").probabilities, right),
        )


def _flip_all(
    folder: Path,
    count: int,
    read: Callable[[], dict[str, np.ndarray] | None],
    good: dict[str, np.ndarray],
) -> int:
    refused = 0
    for number, path in enumerate(sorted(folder.iterdir())):
        content = path.read_bytes()
        for data in damaged(content, count, number):
            path.write_bytes(data)
            found = read()
            refused += found is None
            assert found is None or all(
                np.array_equal(found[name], array) for name, array in good.items()
            ), path
        path.write_bytes(content)
    assert read() is not None
    return refused


def test_tables_on_disk(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    good = {
        "a": rng.integers(0, 9, (7, 5)).astype(np.uint32),
        "b": rng.integers(0, 9, 30).astype(np.uint16),
        "c": rng.random((3, 4, 2)),
    }
    slot = Store(tmp_path, "x").slot("toy", {})
    slot.write([1, 2], good)

    def read() -> dict[str, np.ndarray] | None:
        piece = slot.read(mapped=True)
        assert piece is None or piece.value == [1, 2]
        return None if piece is None else piece.arrays

    assert _flip_all(tmp_path / "x", 450, read, good) > 300
    assert Store(tmp_path, "x").slot("another kind", {}).read() is None


def test_pokis_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in potential.SHAPES:
        monkeypatch.setitem(potential.SHAPES, name, ((2, potential.N_HOLDINGS), np.uint16))
    rng = np.random.default_rng(2)
    made = potential.Potentials(
        *(rng.integers(0, 60_000, (2, potential.N_HOLDINGS)).astype(np.uint16) for _ in range(2))
    )
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    potential.TABLES.write(made)

    def read() -> dict[str, np.ndarray] | None:
        found = potential.TABLES.read()
        return None if found is None else found._asdict()

    assert _flip_all(potential.TABLES.slot().path.parent, 120, read, made._asdict()) > 100
    potential.TABLES.slot().write(None, {"hs": made.hs, "ppot": made.ppot[:1]})
    assert potential.TABLES.read() is None  # whole, but of other shapes


def test_an_archive_of_arrays(tmp_path: Path) -> None:
    """As Sparbot's table is kept. Each byte once, among them those that make an array shorter or
    of another type."""
    path = tmp_path / "x.npz"
    arrays = {"rows": np.arange(12), "policy": np.random.default_rng(1).random((5, 3))}
    files.write_arrays(path, "sparbot", arrays, {"parameters": {"deals": 12}})
    good = path.read_bytes()
    for place in range(len(good)):
        new = next(byte for byte in (ord(" "), ord("4"), 1) if byte != good[place])
        path.write_bytes(good[:place] + bytes([new]) + good[place + 1 :])
        with contextlib.suppress(cp.CounterplayError):
            found, header = files.read_arrays(path, "sparbot")
            assert header["parameters"] == {"deals": 12}
            assert set(found) == set(arrays), place
            assert all(np.array_equal(found[name], array) for name, array in arrays.items()), place


@pytest.fixture(scope="module")
def hands() -> list[HandRecord]:
    return random_hands(11, 40)


@pytest.mark.parametrize("suffix", [".parquet", ".phhs", ".phh", ".log", ".txt", ".unknown"])
def test_hand_histories(suffix: str, hands: list[HandRecord], tmp_path: Path) -> None:
    """What is read is right, whatever the damage; where hands may be skipped, a text whose
    checksum is gone gives some."""
    path = tmp_path / f"hands{suffix}"
    some = hands[:1] if suffix == ".phh" else hands
    writers: dict[str, Any] = {".parquet": write_parquet, ".phhs": write_phh, ".phh": write_phh}
    if suffix == ".phh":
        write_phh(tmp_path / "one.phhs", some)
        (tmp_path / "one.phhs").rename(path)
    else:
        writers.get(suffix, write_acpc)(path, some)
    right = read_hands(path).hands
    assert len(right) == len(some)
    for data in damaged(path.read_bytes(), 80, 5):
        path.write_bytes(data)
        for on_error in ("refuse", "skip"):
            with contextlib.suppress(cp.CounterplayError):
                found = read_hands(path, on_error).hands
                assert found == right or CHECKSUM_COMMENT.encode() not in data
    for data in list(damaged(b"STATE:0:rc/cc/cc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:0|0:A|B\n", 3, 6)):
        path.write_bytes(data)
        done = typed(tmp_path, "model", path.name, "--player", "A", "--on-error", "skip")
        assert done.code == 2, done
        assert "Traceback" not in done.stderr
        assert done.stderr.strip().splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("kind", ["tree", "frequency"])
def test_a_model(
    kind: str, hands: list[HandRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is refused, or it is the same."""
    game = cp.load("holdem(buckets=3)")
    monkeypatch.setattr(
        model_file,
        "recorded_game",
        lambda name, *more: game if name == game.name else cp.load(name),
    )  # made once
    player = hands[0].dealer
    save_model(learn_model(observe(hands, player), game, player, kind), tmp_path / "model.json")
    right = load_model(tmp_path / "model.json").strategy.probabilities
    arguments = ("match", "model.json", "always-call", "-n", "10", "--json")
    assert typed(tmp_path, *arguments).code == 0

    def valid(_: Done) -> bool:
        strategy = load_model(tmp_path / "model.json").strategy
        return np.array_equal(strategy.probabilities, right)

    assert try_damage(tmp_path / "model.json", 8, lambda: typed(tmp_path, *arguments), valid) > 8


def test_an_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that cannot be read, or whose files changed, is made again."""
    ran = []

    def run(scale: str, store: Any, progress: Any) -> Outcome:
        ran.append(scale)
        files.write_text(store.folder / "one.csv", "a,b\n1,2\n")
        return Outcome("one", "One", scale, [], {"seeds": 3}, 1.0, ["one.csv"])

    monkeypatch.setattr(reproduce, "experiments", lambda: {"one": Experiment("one", "One", run)})
    assert typed(tmp_path, "reproduce", "all").code == 0
    path, table = tmp_path / "results" / "one.json", tmp_path / "results" / "one.csv"
    good = path.read_bytes()
    for data in damaged(good, 12):
        if data.rstrip() == good.rstrip():  # not damaged: a line end says nothing
            continue
        path.write_bytes(data)
        before = len(ran)
        done = typed(tmp_path, "reproduce", "all", "--json")
        assert done.code == 0, done
        assert len(ran) == before + 1, data
        (outcome,) = json.loads(done.stdout)["outcomes"]
        assert outcome["files"] == ["one.csv"]
        path.write_bytes(good)
    for data in damaged(table.read_bytes(), 10):
        table.write_bytes(data)
        assert typed(tmp_path, "reproduce", "all").code == 0
        assert table.read_text() == "a,b\n1,2\n"
