"""Responses on disk: resumed bit for bit, finished where a kill left off, and damage answered
with a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.core.base import files

KUHN = cp.load("kuhn")
MODEL = cp.Strategy.random(KUHN, 8)
TRUST = np.arange(12) / 12.0
CASES: dict[str, dict[str, Any]] = {
    "rnr": {"player": 0, "p": 0.6, "algorithm": "rnr"},
    "rnr-cfr": {"player": 1, "p": 0.6, "algorithm": "rnr", "engine": "cfr", "alternating": True},
    "mcrnr": {"player": 1, "p": 0.6, "algorithm": "mcrnr", "seed": 3, "averaging": "stochastic"},
    "mcrnr-chance": {"player": 0, "p": 0.6, "algorithm": "mcrnr", "engine": "mccfr-chance"},
    "dbr-array": {"player": 0, "p": TRUST, "algorithm": "dbr"},
    "mcdbr-array": {
        "player": 1,
        "p": TRUST,
        "algorithm": "mcdbr",
        "engine": "mccfr-external",
        "seed": 4,
    },
    "both": {"player": None, "p": 0.6, "algorithm": "mcrnr", "seed": 5},
    "both-array": {"player": None, "p": TRUST, "algorithm": "mcdbr"},
}


def same(one: cp.Response, two: cp.Response) -> None:
    assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)
    for first, second in zip(one.runs, two.runs, strict=True):
        for name, array in first._solver.arrays().items():
            assert np.array_equal(array, second._solver.arrays()[name]), name
    for field in (
        "algorithm",
        "engine",
        "player",
        "p",
        "payoff",
        "exploitation",
        "worst_case",
        "iterations",
    ):
        assert getattr(one, field) == getattr(two, field)


@pytest.mark.parametrize("name", CASES)
def test_resumed_bit_for_bit(name: str, tmp_path: Path) -> None:
    cp.respond(KUHN, MODEL, **CASES[name], iterations=500, folder=tmp_path / "run")
    more = cp.resume_response(tmp_path / "run", iterations=1500)
    same(more, cp.respond(KUHN, MODEL, **CASES[name], iterations=1500))
    same(cp.resume_response(tmp_path / "run", iterations=1500), more)


@pytest.mark.parametrize("left", ["nothing", "model only"])
@pytest.mark.parametrize("name", ["both", "both-array"])
def test_killed_between_seats(name: str, left: str, tmp_path: Path) -> None:
    """The first seat is finished, the second was not started."""
    folder = tmp_path / "run"
    cp.respond(KUHN, MODEL, **CASES[name], iterations=1500, folder=folder)
    for path in list((folder / "seat2").iterdir()):
        if left == "nothing" or path.name not in ("model.npz", "trust.npz"):
            path.unlink()
    if left == "nothing":
        (folder / "seat2").rmdir()
    same(
        cp.resume_response(folder, iterations=1500),
        cp.respond(KUHN, MODEL, **CASES[name], iterations=1500),
    )


def test_a_game_of_your_own(tmp_path: Path) -> None:
    from counterplay.core.games.kuhn import Kuhn

    game = cp.Game("my own", Kuhn())
    model = cp.Strategy.random(game, 8)
    cp.respond(game, model, None, 0.5, iterations=50, folder=tmp_path / "run")
    with pytest.raises(cp.CounterplayError):
        cp.resume_response(tmp_path / "run", iterations=100)
    more = cp.resume_response(tmp_path / "run", iterations=100, game=game)
    same(more, cp.respond(game, model, None, 0.5, iterations=100))


def test_each_kind_of_run_has_its_own_resume(tmp_path: Path) -> None:
    cp.respond(KUHN, MODEL, 0, 0.5, iterations=10, folder=tmp_path / "response")
    cp.solve(KUHN, "cfr+", iterations=10, folder=tmp_path / "run")
    before = (tmp_path / "response" / "checkpoint.npz").read_bytes()
    with pytest.raises(cp.CounterplayError, match="resume_response"):
        cp.resume(tmp_path / "response", iterations=20)
    assert (tmp_path / "response" / "checkpoint.npz").read_bytes() == before
    with pytest.raises(cp.CounterplayError, match="solve"):
        cp.resume_response(tmp_path / "run", iterations=20)
    with pytest.raises(cp.CounterplayError, match="nowhere"):
        cp.resume_response(tmp_path / "nowhere", iterations=20)


@pytest.mark.parametrize(
    ("first", "second"), [("rnr", "rnr"), ("both", "both"), ("rnr", "both"), ("both", "rnr")]
)
def test_never_writes_over_a_response(first: str, second: str, tmp_path: Path) -> None:
    """Also where one is of a single seat and the other of both: no resume could tell which of
    the two is meant."""
    folder = tmp_path / "run"
    cp.respond(KUHN, MODEL, **CASES[first], iterations=10, folder=folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(cp.CounterplayError, match="already holds"):
        cp.respond(KUHN, cp.Strategy.uniform(KUHN), **CASES[second], iterations=10, folder=folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    for player in (0, None):
        with pytest.raises(cp.CounterplayError):
            cp.respond(KUHN, MODEL, player, 0.5, iterations=10, folder=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("responses") / "run"
    cp.respond(KUHN, MODEL, **CASES["dbr-array"], iterations=100, folder=folder)
    return folder


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return cp.respond(KUHN, MODEL, **CASES["dbr-array"], iterations=150).strategy.probabilities


def resumed_or_refused(folder: Path, expected: np.ndarray) -> bool:
    """Whether it was refused with a sentence; if not, the answer is right. Anything else fails."""
    try:
        found = cp.resume_response(folder, iterations=150)
    except cp.CounterplayError:
        return True
    assert np.array_equal(found.strategy.probabilities, expected)
    return False


@pytest.mark.parametrize("name", ["model.npz", "trust.npz", "config.json", "checkpoint.npz"])
@pytest.mark.parametrize("damage", ["missing", "empty", "half", "foreign"])
def test_damaged_files(
    name: str, damage: str, finished: Path, expected: np.ndarray, tmp_path: Path
) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    whole = (folder / name).read_bytes()
    (folder / name).unlink()
    if damage != "missing":
        content = {
            "empty": b"",
            "half": whole[: len(whole) // 2],
            "foreign": (finished / "strategy.npz").read_bytes()[:-1],
        }
        (folder / name).write_bytes(content[damage])
    # a response stopped before its first checkpoint has nothing to go on from: it starts again, and
    # the answer is right
    assert resumed_or_refused(folder, expected) == ((name, damage) != ("checkpoint.npz", "missing"))


TRUSTS = {
    "other": TRUST[::-1].copy(),
    "short": TRUST[:-1],
    "not numbers": np.full(12, float("nan")),
    "words": np.full(12, "half"),
    "too large": TRUST + 1.0,
    "complex": TRUST + 1j,
}


@pytest.mark.parametrize("change", TRUSTS)
def test_changed_trust(change: str, finished: Path, expected: np.ndarray, tmp_path: Path) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    files.write_arrays(folder / "trust.npz", "trust", {"p": TRUSTS[change]}, {})
    assert resumed_or_refused(folder, expected)


@pytest.mark.parametrize("name", ["kuhn", "ocp(4)"])
def test_changed_model(name: str, finished: Path, expected: np.ndarray, tmp_path: Path) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    cp.Strategy.random(cp.load(name), 1).save(folder / "model.npz")
    assert resumed_or_refused(folder, expected)


KEYS = ("game", "algorithm", "options", "seed", "fingerprint", "response", "player", "p", "model")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["absent", None, 5, "text", [1], {}, True, -1.0], ids=str)
def test_changed_configuration(
    key: str, value: Any, finished: Path, expected: np.ndarray, tmp_path: Path
) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    config = json.loads((folder / "config.json").read_text())
    config[key] = value
    if value == "absent":
        del config[key]
    (folder / "config.json").write_text(json.dumps(config))
    resumed_or_refused(folder, expected)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(["config.json", "model.npz", "trust.npz"]), data=st.data())
def test_random_damage(
    name: str,
    data: st.DataObject,
    finished: Path,
    expected: np.ndarray,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = shutil.copytree(finished, tmp_path_factory.mktemp("damaged") / "run")
    content = bytearray((folder / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / name).write_bytes(bytes(content))
    resumed_or_refused(folder, expected)
