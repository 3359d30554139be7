"""Shipped strategies: the list, their files, and what is said about damage."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadStrategy
from counterplay.poker.bots import shipped
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.bots.shipped import FOLDER, INDEX, KIND, LISTED, read_index, read_strategy
from tools import ship_strategy

SMALL = "holdem(buckets=2)"


def test_the_list() -> None:
    names = [one.name for one in cp.strategies()]
    assert "safe" in names
    assert {f"{name}.npz" for name in names} | {INDEX} == {path.name for path in FOLDER.iterdir()}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 25 << 20
    for one in cp.strategies():
        assert one.exploitability == pytest.approx(one.mb_per_game / 500, abs=1e-6)
        assert repr(one) == f"ShippedStrategy({one.name!r}, {one.game!r}, {one.certified})"
        assert hashlib.sha256((FOLDER / f"{one.name}.npz").read_bytes()).hexdigest() == one.sha256
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.name = "other"  # type: ignore[misc]


def test_its_numbers_are_those_of_the_benchmark() -> None:
    for one in cp.strategies():
        row = ship_strategy._exact_row(one.game)
        assert one.mb_per_game == float(row["mb_per_game"])
        assert one.iterations == int(row["iterations"])


def test_a_shipped_strategy_is_a_bot_of_its_own_name() -> None:
    for one in cp.strategies():
        assert BOTS[one.name].shipped == one
        assert [*BOTS].count(one.name) == 1
        assert one.certified in BOTS[one.name].summary
    assert len(BOTS.listing()) == len(cp.strategies()) + len(super(type(BOTS), BOTS).listing())


def test_its_probabilities_are_whole_steps() -> None:
    strategy = cp.strategies()[0].strategy
    steps = strategy.probabilities * shipped.STEPS
    assert np.allclose(steps, np.rint(steps), atol=1e-9)
    with pytest.raises(BadStrategy, match=r"is a strategy for .*, not for holdem\(buckets=2\)"):
        cp.strategies()[0].on(cp.load(SMALL))


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, str]:
    """A file of a small game, and its checksum."""
    game = cp.load(SMALL)
    counts = np.diff(game.form.first)
    steps = np.zeros(game.n_slots, dtype=np.uint8)
    steps[game.form.first[:-1]] = 255 - (counts > 1)
    steps[game.form.first[:-1][counts > 1] + 1] = 1
    return _write(tmp_path / "small.npz", steps)


def _write(path: Path, steps: np.ndarray, name: str = SMALL) -> tuple[Path, str]:
    header = {"game": name, "fingerprint": cp.load(SMALL).fingerprint}
    files.write_arrays(path, KIND, {"steps": steps}, header, small=True)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_is_written_the_same_twice(written: tuple[Path, str], tmp_path: Path) -> None:
    path, sha256 = written
    game = cp.load(SMALL)
    steps = np.rint(read_strategy(path, sha256, game).probabilities * 255).astype(np.uint8)
    assert _write(tmp_path / "again.npz", steps)[1] == sha256


def test_a_damaged_file_is_one_sentence(written: tuple[Path, str]) -> None:
    path, sha256 = written
    game, data = cp.load(SMALL), path.read_bytes()
    for k in (0, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :])
        with pytest.raises(BadFile, match=r"damaged .*SHA-256"):
            read_strategy(path, sha256, game)
    path.write_bytes(bytes(shipped.MOST_BYTES + 1))
    with pytest.raises(BadFile, match="has 5 MB; such a file has at most 5"):
        read_strategy(path, sha256, game)
    path.unlink()
    with pytest.raises(BadFile, match=r"small\.npz"):
        read_strategy(path, sha256, game)


def test_contents_that_are_no_strategy(tmp_path: Path) -> None:
    game = cp.load(SMALL)
    ones = np.ones(game.n_slots, dtype=np.uint8)
    wrong = {
        "sum": (ones, SMALL),
        "no steps": (ones.astype(np.float32), SMALL),
        "no steps for": (ones, "kuhn"),
        "action slots": (ones[:-1], SMALL),
        "are the most": (np.zeros(10 * game.n_slots + (1 << 21), dtype=np.uint8), SMALL),
    }
    for said, (steps, name) in wrong.items():
        path, sha256 = _write(tmp_path / "wrong.npz", steps, name)
        with pytest.raises(BadFile, match=said):
            read_strategy(path, sha256, game)


def test_a_damaged_index(tmp_path: Path) -> None:
    entry = dataclasses.asdict(cp.strategies()[0])
    wrong = {
        "no list of strategies": {},
        "no game in entry 1": {LISTED: [{**entry, "game": 3}]},
        "no name in entry 2": {LISTED: [entry, []]},
        "entry 1 is none": {LISTED: [{**entry, "name": "../safe"}]},
    }
    for k, (said, content) in enumerate(wrong.items()):
        path = tmp_path / f"{k}.json"
        files.write_json(path, content)
        with pytest.raises(BadFile, match=said):
            read_index(path)


def test_the_tool_writes_both_files(tmp_path: Path) -> None:
    one = cp.strategies()[0]
    steps = np.rint(one.strategy.probabilities * 255).astype(np.uint8)
    about = ship_strategy.Description(one.name, one.summary, one.command, one.date)
    for _ in range(2):  # the second replaces the first
        entry = ship_strategy.ship(steps, about, tmp_path)
    assert read_index(tmp_path / INDEX) == (entry,)
    assert dataclasses.replace(entry, sha256=one.sha256) == one
    assert entry.mb_per_game == one.mb_per_game


#: counterplay match safe OPPONENT -n 400000 --seed 11: luck-adjusted, sb/h and half its interval.
WON = {"always-call": (0.4476, 0.0045), "always-raise": (0.5909, 0.0123)}


@pytest.mark.slow
@pytest.mark.parametrize("opponent", WON)
def test_it_still_wins_what_it_won(opponent: str) -> None:
    """Other deals than those of the recorded match; the difference of two independent means."""
    result = cp.play_match(cp.strategies()[0].game, "safe", opponent, 200_000, seed=12)
    won, half = WON[opponent]
    assert result.adjusted is not None
    low, high = result.adjusted.interval
    assert abs((low + high) / 2 - won) < 2 * np.hypot((high - low) / 2, half)


def test_nothing_is_read_before_it_is_used() -> None:
    code = (
        "import sys, counterplay as cp; cp.solve('kuhn', iterations=2); import counterplay.app.cli;"
        "sys.exit('counterplay.poker.bots.shipped' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
