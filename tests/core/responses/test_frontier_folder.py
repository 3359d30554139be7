"""A frontier in a folder goes on where it was stopped, with the same bits."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.small_holdem import CARDS, RanksAbstraction, random_strategy

import counterplay as cp
from counterplay.core.base.errors import BadFile, BadParameter, Interrupted
from counterplay.core.base.store import Slot
from counterplay.core.evaluation.estimate import FlopEstimate
from counterplay.core.forms.game import Game
from counterplay.core.responses import frontier as frontier_module
from counterplay.core.responses.frontier_folder import (
    CONFIG,
    POINT,
    FrontierFolder,
    _as_json,
    _number,
)
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules

PS = [0.0, 0.5, 0.9]
HOW: dict[str, Any] = {"adversary": "real", "iterations": 6, "seed": 2}


def flop_game() -> Game:
    return Game("flop, ranks", FlopHoldemRules(RanksAbstraction(Deck(CARDS)), 1))


def numbers(curve: cp.Frontier) -> list[Any]:
    return [
        (point.p, point.exploitation, point.exploitability, point.response.strategy.probabilities)
        for point in curve.points
    ]


def assert_same(one: cp.Frontier, other: cp.Frontier) -> None:
    assert len(one.points) == len(other.points)
    for mine, theirs in zip(numbers(one), numbers(other), strict=True):
        assert mine[:3] == theirs[:3]
        assert np.array_equal(mine[3], theirs[3])


def stop_after(monkeypatch: pytest.MonkeyPatch, calls: int, name: str) -> None:
    """Ctrl-C when a function of the module is called once more."""
    real, left = getattr(frontier_module, name), [calls]

    def stopping(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(frontier_module, name, stopping)


def test_it_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    game = flop_game()
    model = random_strategy(game, 3)
    whole = cp.frontier(game, model, PS, **HOW)
    folder = tmp_path / "curve"
    with pytest.MonkeyPatch.context() as patch:  # stopped before the second point
        stop_after(patch, 1, "compute_response")
        with pytest.raises(Interrupted):
            cp.frontier(game, model, PS, folder=folder, **HOW)
    with pytest.MonkeyPatch.context() as patch:  # and again before the third
        stop_after(patch, 1, "compute_response")
        with pytest.raises(Interrupted) as stopped:
            cp.resume_frontier(folder, game=game)
    assert stopped.value.result is not None
    assert len(stopped.value.result.points) == 2
    assert_same(cp.resume_frontier(folder, game=game), whole)
    with pytest.MonkeyPatch.context() as patch:  # now everything is there
        stop_after(patch, 0, "compute_response")
        again = cp.resume_frontier(folder, game=game)
    assert_same(again, whole)
    assert again.points[1].seconds > 0.0
    with pytest.raises(BadParameter, match="already holds a frontier; go on with --resume"):
        cp.frontier(game, model, PS, folder=folder, **HOW)
    assert not list((folder / "points").rglob("*.draft"))  # gigabytes in hold'em
    for path in (folder / "points").rglob("point-*.piece"):  # then the curve begins again
        path.write_bytes(path.read_bytes()[:-1])
    assert_same(cp.resume_frontier(folder, game=game), whole)


def test_a_trained_point_is_measured_later(tmp_path: Path) -> None:
    """Ctrl-C while the first point is measured, which takes long in hold'em."""

    def write(folder: FrontierFolder, ps: Any, point: Any, kind: str = POINT) -> None:
        if kind == POINT:
            raise KeyboardInterrupt
        real(folder, ps, point, kind)

    real = FrontierFolder.write
    game = flop_game()
    model, folder = random_strategy(game, 3), tmp_path / "curve"
    whole = cp.frontier(game, model, PS[:2], **HOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FrontierFolder, "write", write)
        with pytest.raises(Interrupted) as stopped:
            cp.frontier(game, model, PS[:2], folder=folder, **HOW)
        assert stopped.value.result is None
    assert not list((folder / "points").rglob("point-*"))
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, 1, "compute_response")  # the first point is trained
        found = cp.resume_frontier(folder, game=game)
    assert_same(found, whole)


def test_a_full_disk_costs_no_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written stays in memory, with a warning."""

    def full(slot: Slot, value: Any, arrays: Any) -> None:
        raise cp.CounterplayError(f"cannot write {slot.path}: no space")

    model = cp.Strategy.uniform("kuhn")
    whole = cp.frontier("kuhn", model, PS)
    monkeypatch.setattr(Slot, "write", full)
    with pytest.warns(UserWarning, match=r"the point of p = 0\.5 stays in memory"):
        found = cp.frontier("kuhn", model, PS, folder=tmp_path / "curve")
    assert_same(found, whole)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no folder of a frontier"):
        cp.resume_frontier(tmp_path)
    model = cp.Strategy.uniform("kuhn")
    folder = tmp_path / "curve"
    whole = cp.frontier("kuhn", model, PS, folder=folder)
    assert_same(cp.resume_frontier(folder), whole)
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(BadFile, match="checksum"):
        cp.resume_frontier(folder)
    (folder / CONFIG).write_text(text)
    cp.Strategy.random("kuhn", 1).save(folder / "model.npz")
    with pytest.raises(BadFile, match="its model is not the one"):
        cp.resume_frontier(folder)
    with pytest.raises(BadParameter, match="a frontier of kuhn, not of leduc"):
        cp.resume_frontier(folder, game="leduc")
    shutil.rmtree(folder)
    with pytest.raises(BadParameter, match="plain numbers and texts"):
        cp.frontier("kuhn", model, PS, folder=folder, iterations=1, threads=np.int64(1))
    assert not folder.exists()
    folder.write_text("")
    with pytest.raises(BadParameter, match="is a file"):
        cp.frontier("kuhn", model, PS, folder=folder)


def test_numbers_are_kept_with_their_intervals() -> None:
    estimate = FlopEstimate(0.25, 0.01, -0.002, 48, unit="sb/h")
    kept = _number(_as_json(estimate))
    assert isinstance(kept, FlopEstimate)
    assert vars(kept) == vars(estimate)
    assert _number(_as_json(0.1)) == 0.1


def test_the_command_refuses(tmp_path: Path) -> None:
    done = typed(tmp_path, "frontier", "--resume", "nothing")
    assert one_sentence(done)
    assert "no folder of a frontier" in done.stderr
    done = typed(tmp_path, "frontier", "uniform", "--game", "kuhn", "--resume", "nothing")
    assert one_sentence(done)
    assert "--resume takes everything but a limit" in done.stderr
    done = typed(tmp_path, "frontier")
    assert one_sentence(done)
    assert "whose model?" in done.stderr
