"""Options of matches: the ends of every range, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support_arena import Caller, holdem, strategy

import counterplay as cp
from counterplay.arena import match as match_module
from counterplay.arena.deals import blocks
from counterplay.base.errors import BadParameter, BadStrategy, UnknownName


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return holdem()


@pytest.fixture(scope="module")
def random10() -> cp.Strategy:
    return strategy(1)


@pytest.fixture(scope="module")
def random100() -> cp.Strategy:
    return strategy(2, 100)


# --- mistakes


def bad(call: Callable[[], Any], *words: str, kind: type[Exception] = cp.CounterplayError) -> None:
    with pytest.raises(kind) as error:
        call()
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("hands", [0, 1, -4, 2.5, "many", True, None, 10**10])
def test_bad_numbers_of_hands(hands: Any, game: cp.Game) -> None:
    bad(lambda: cp.play_match(game, "always-call", "always-raise", hands), "hands", repr(hands), kind=BadParameter)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, 2**64])
def test_bad_seeds(seed: Any, game: cp.Game) -> None:
    bad(lambda: cp.play_match(game, "always-call", "always-raise", 10, seed), "seed", kind=BadParameter)
    kuhn = cp.load("kuhn")
    bad(lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), cp.Strategy.uniform(kuhn), 10, seed), "seed", kind=BadParameter)


def test_bad_players(game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    bad(lambda: cp.play_match(game, "always-cal", "probe", 10), "did you mean 'always-call'", kind=UnknownName)
    bad(lambda: cp.play_match(game, "probe", "nowhere/run.npz", 10), "nowhere/run.npz", "always-call")
    bad(lambda: cp.play_match(game, 7, "probe", 10), "act(view)", kind=BadParameter)
    bad(lambda: cp.play_match(game, None, "probe", 10), "act(view)", kind=BadParameter)
    kuhn = cp.load("kuhn")
    bad(lambda: cp.play_match(game, cp.Strategy.uniform(kuhn), "probe", 10), "kuhn", kind=BadStrategy)
    bad(lambda: cp.play_match(kuhn, random10, cp.Strategy.uniform(kuhn), 10), "holdem", kind=BadStrategy)
    bad(lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), "probe", 10), kind=BadStrategy)
    three = cp.load("kuhn(players=3)")
    bad(lambda: cp.play_match(three, cp.Strategy.uniform(three), cp.Strategy.uniform(three), 10), "two players")
    (tmp_path / "noise").write_bytes(b"nothing to see")
    bad(lambda: cp.play_match(game, tmp_path / "noise", "probe", 10), "noise")


def test_bad_options(game: cp.Game, tmp_path: Path) -> None:
    kuhn = cp.load("kuhn")
    uniform_kuhn = cp.Strategy.uniform(kuhn)
    bad(lambda: cp.play_match(kuhn, uniform_kuhn, uniform_kuhn, 10, log=tmp_path / "x.parquet"), "hold'em", kind=BadParameter)
    bad(lambda: cp.play_match(game, "probe", "probe", 10, observer="c"), "observer", "'c'", kind=BadParameter)
    bad(lambda: cp.play_match("holdme", "probe", "probe", 10), "holdem", kind=UnknownName)
    (tmp_path / "file").write_text("precious")
    bad(lambda: cp.play_match(game, "probe", "probe", 10, log=tmp_path / "file" / "x.parquet"), "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("processes", [-1, 1.5, "two"])
def test_bad_numbers_of_processes(processes: Any, game: cp.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    bad(lambda: cp.play_match(game, Caller(), "probe", 200, processes=processes), "processes", kind=BadParameter)
