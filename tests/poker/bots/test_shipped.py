"""Shipped strategies: the list, their files, and what is said about damage."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from benchmarks import cfr_br
from counterplay.app.web.strategies import default_bot
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy
from counterplay.poker.bots import shipped
from counterplay.poker.bots.known import known_player
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.bots.shipped import (
    FOLDER,
    INDEX,
    KIND,
    LISTED,
    STEPS,
    ShippedStrategy,
    digest,
    least_exploitable,
    read_facts,
    read_index,
    read_strategy,
    write_quantised,
)
from counterplay.poker.holdem.table import strategy_table
from tools import ship_strategy

SMALL = "holdem(buckets=2)"


ladder = pytest.mark.parametrize("one", cp.strategies(), ids=lambda one: one.name)


def test_the_list() -> None:
    names = [one.name for one in cp.strategies()]
    assert len(set(names)) == len(names)
    assert "safe" in names
    assert {f"{name}.npz" for name in names} | {INDEX} == {path.name for path in FOLDER.iterdir()}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 25_000_000
    assert len(BOTS.listing()) == len(names) + len(super(type(BOTS), BOTS).listing())


@ladder
def test_an_entry(one: ShippedStrategy) -> None:
    path = FOLDER / f"{one.name}.npz"
    assert path.stat().st_size <= 5_000_000
    assert hashlib.sha256(path.read_bytes()).hexdigest() == one.sha256
    assert one.exploitability == pytest.approx(one.mb_per_game / 500, abs=1e-6)
    assert repr(one) == f"ShippedStrategy({one.name!r}, {one.game!r}, {one.risk})"
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "other"  # type: ignore[misc]
    facts = read_facts(path)
    assert {name: facts[name] for name in ship_strategy.FROM_FILE} == {
        name: getattr(one, name) for name in ship_strategy.FROM_FILE
    }
    assert re.match(r"python -m benchmarks\.(cfr_br|real_frontier) ", one.command)
    assert one.game in one.command
    assert BOTS[one.name].shipped == one
    assert one.risk in BOTS[one.name].summary
    assert re.fullmatch(r"\d+ mb/g, exact", one.risk)


def test_strategies_and_their_exact_values() -> None:
    one = _quickest()
    strategy = one.strategy
    steps = strategy.probabilities * read_facts(FOLDER / f"{one.name}.npz")["steps"]
    assert np.allclose(steps, np.rint(steps), atol=1e-9)
    assert ship_strategy.exact_value(strategy) == one.mb_per_game
    with pytest.raises(BadStrategy, match=r"is a strategy for .*, not for holdem\(buckets=2\)"):
        one.on(cp.load(SMALL))
    with pytest.raises(BadParameter, match="no exact measurement of this strategy"):
        ship_strategy.exact_value(cp.Strategy.uniform(strategy.game))


def test_no_tables_of_minutes_are_built_to_measure_beside_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A player is not measured beside itself, and other games wait until they are prepared."""
    monkeypatch.setattr(ShippedStrategy, "prepared", property(lambda _: False))
    first, *_ = cp.strategies()
    game = cp.load(first.game)
    assert known_player(game, strategy_table(first.on(game))) is None
    known = known_player(game, strategy_table(cp.Strategy.uniform(game)))
    assert known is not None
    assert known.name == first.name


def test_the_least_exploitable_of_a_game() -> None:
    assert least_exploitable(cp.load("holdem(buckets=7)")) is None
    one = _quickest()
    found = least_exploitable(cp.load(one.game))
    assert found is not None
    assert np.array_equal(found.probabilities, one.strategy.probabilities)


def test_who_is_measured_beside_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a strategy of the same game, never beside itself; elsewhere beside the first."""
    first, *_ = every = cp.strategies()
    for one in every:
        game = cp.load(one.game)
        known = known_player(game, strategy_table(cp.Strategy.uniform(game)))
        assert known is not None
        assert next(other for other in every if other.name == known.name).game == one.game
        if one.prepared:
            itself = known_player(game, strategy_table(one.strategy))
            assert itself is not None
            assert itself.name != one.name
    monkeypatch.setattr(ShippedStrategy, "prepared", property(lambda one: one == first))
    assert default_bot() == first.name


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, str]:
    """A file of a small game, and its checksum."""
    game, path = cp.load(SMALL), tmp_path / "small.npz"
    write_quantised(path, _random(game), {})
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def _random(game: cp.Game) -> cp.Strategy:
    weights = np.random.default_rng(1).random(game.n_slots) ** 4
    return cp.Strategy.from_weights(game, weights)


def _write(path: Path, planes: dict[str, np.ndarray], **header: object) -> tuple[Path, str]:
    game = cp.load(SMALL)
    facts = {"game": SMALL, "fingerprint": game.fingerprint, "steps": 255, **header}
    files.write_arrays(path, KIND, planes, facts, small=True)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("steps", STEPS)
def test_steps_are_whole_and_near(steps: int) -> None:
    strategy = _random(cp.load(SMALL))
    near = shipped.quantised(strategy, steps)
    whole = near.probabilities * steps
    assert np.allclose(whole, np.rint(whole), atol=1e-9)
    assert np.abs(near.probabilities - strategy.probabilities).max() < 1 / steps
    assert digest(near) != digest(strategy)
    assert digest(shipped.quantised(near, steps)) == digest(near)


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    """With the finest steps that fit, twice the same bytes; an error where none fit."""
    strategy, path = _random(cp.load(SMALL)), tmp_path / "one.npz"
    sizes = []
    for steps in STEPS:
        kept = write_quantised(path, strategy, {"seed": 3}, *sizes[-1:])
        assert read_facts(path)["steps"] == steps
        assert read_facts(path)["seed"] == 3
        again = shipped.read_quantised(path)
        assert np.allclose(again.probabilities, kept.probabilities, atol=1e-12)
        assert digest(again) == digest(kept)
        data = path.read_bytes()
        write_quantised(path, strategy, {"seed": 3}, *sizes[-1:])
        assert path.read_bytes() == data
        sizes.append(len(data) - 1)
    with pytest.raises(BadParameter, match="even with 15 steps"):
        write_quantised(path, strategy, {}, 100)
    assert not path.exists()


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


def test_contents_that_are_no_strategy(tmp_path: Path, written: tuple[Path, str]) -> None:
    game = cp.load(SMALL)
    planes, _ = files.read_arrays(written[0], KIND, most=game.n_slots)
    full = {name: np.full_like(plane, 255) for name, plane in planes.items()}
    long = np.zeros(10 * game.n_slots + (1 << 21), dtype=np.uint8)
    wrong: dict[str, tuple[dict[str, np.ndarray], dict[str, object]]] = {
        "sum to more than 1": (full, {}),
        "no steps of raise": ({**planes, "raise": planes["raise"].astype(np.float32)}, {}),
        "no steps of fold": ({**planes, "fold": planes["fold"][:-1]}, {}),
        "no strategy for": (planes, {"game": "kuhn"}),
        "no number of steps": (planes, {"steps": 0}),
        "numbering of .* changed": (planes, {"fingerprint": "0"}),
        "are the most": ({**planes, "fold": long}, {}),
    }
    for said, (content, header) in wrong.items():
        path, sha256 = _write(tmp_path / "wrong.npz", content, **header)
        with pytest.raises(BadFile, match=f"{said}.*install counterplay again"):
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


def test_the_tool_writes_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _quickest()
    about = ship_strategy.Description(one.name, one.summary, one.date)
    for _ in range(2):  # the second replaces the first
        entry = ship_strategy.ship(FOLDER / f"{one.name}.npz", about, tmp_path)
    assert read_index(tmp_path / INDEX) == (entry,) == (one,)
    other = ship_strategy.Description("other", one.summary, one.date)
    monkeypatch.setattr(ship_strategy, "MOST_IN_ALL", 100_000)
    with pytest.raises(BadParameter, match="all strategies together"):
        ship_strategy.ship(FOLDER / f"{one.name}.npz", other, tmp_path)
    with pytest.raises(BadParameter, match="small letters"):
        ship_strategy.ship(FOLDER / f"{one.name}.npz", dataclasses.replace(other, name="../x"))
    assert {path.name for path in tmp_path.iterdir()} == {INDEX, f"{one.name}.npz"}


def _quickest() -> ShippedStrategy:
    """The one whose card abstraction is made in a second; k-means takes a minute."""
    return next(one for one in cp.strategies() if one.name == "safe")


@pytest.mark.slow
def test_best_responses_on_flops_are_those_that_were_recorded() -> None:
    """`python -m benchmarks.cfr_br --on-flops FILE` of `safe`, on a device, here in double
    precision."""
    strategy = _quickest().strategy
    with cfr_br.VALUES.open() as file:
        rows = [row for row in csv.DictReader(file) if row["digest"] == digest(strategy)]
    recorded = {
        int(row["flop"]): [float(row[f"best_response_{k}"]) for k in (1, 2)] for row in rows
    }
    assert set(recorded) == set(cfr_br.FLOPS)
    for flop, values in cfr_br.flop_values(strategy, [*recorded], "cpu"):
        assert values == pytest.approx(recorded[flop], rel=2e-3)


def test_nothing_is_read_before_it_is_used() -> None:
    code = (
        "import sys, counterplay as cp; cp.solve('kuhn', iterations=2); import counterplay.app.cli;"
        "sys.exit('counterplay.poker.bots.shipped' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
