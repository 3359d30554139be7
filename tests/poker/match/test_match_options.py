"""Options of matches: the ends of every range, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.arena import Caller, Counter, Says, exact, from_nothing

import counterplay as cp
from counterplay.core.base.errors import BadParameter, BadStrategy, UnknownName
from counterplay.core.match import play as match_module
from counterplay.core.match.play import blocks
from counterplay.poker.histories.read import read_hands

# --- the ends of the ranges


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("duplicate", [True, False])
def test_seeds(seed: int, duplicate: bool, game: cp.Game) -> None:
    """In all three ways to play; the same seed again is the same match."""
    kuhn = cp.load("kuhn")
    small = cp.Strategy.random(kuhn, 1), cp.Strategy.random(kuhn, 2)
    for players in ((game, "probe", "uniform"), (game, Caller(), "uniform"), (kuhn, *small)):
        one, two = (exact(cp.play_match(*players, 40, seed, duplicate=duplicate)) for _ in range(2))
        assert one == two
        assert (one.seed, one.hands) == (seed, 40)


@pytest.mark.parametrize(
    ("duplicate", "asked", "played"), [(True, 2, 2), (True, 3, 4), (False, 2, 2), (False, 3, 3)]
)
def test_the_fewest_hands(duplicate: bool, asked: int, played: int, game: cp.Game) -> None:
    kuhn = cp.load("kuhn")
    uniform = cp.Strategy.uniform(kuhn)
    for players in (
        (game, "probe", "uniform"),
        (game, Caller(), "uniform"),
        (kuhn, uniform, uniform),
    ):
        result = cp.play_match(*players, asked, duplicate=duplicate)
        assert result.hands == played
        assert result.mean == pytest.approx(sum(result.by_seat) / 2)


@pytest.mark.parametrize("processes", [1, 2, 5, 100])
def test_processes_may_outnumber_the_blocks(
    processes: int, game: cp.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    result = cp.play_match(game, Caller(), "probe", 400, 3, processes=processes)  # five blocks
    assert exact(result) == exact(cp.play_match(game, Caller(), "probe", 400, 3, processes=1))
    assert result.hands == 400


@pytest.mark.parametrize("suffix", [".parquet", ".phhs", ".log"])
@pytest.mark.parametrize("length", [1, 255, 256, 5_000])
def test_long_names_are_logged_or_refused_before_a_hand_is_played(
    suffix: str, length: int, game: cp.Game, tmp_path: Path
) -> None:
    class Named(Counter):
        name = "n" * length

    player = Named()
    log = tmp_path / f"hands{suffix}"
    try:
        cp.play_match(game, player, "probe", 20, log=log, processes=1)
    except cp.CounterplayError:
        assert not player.views
        assert not any(tmp_path.iterdir())
        return
    hands = read_hands(log).hands
    assert len(hands) == 20
    assert {hand.dealer for hand in hands} == {"n" * length, "probe"}


@pytest.mark.parametrize("suffix", [".parquet", ".phhs", ".log"])
@pytest.mark.parametrize(
    "name", ["", "a\nb", "a|b", "a:b", "a b", "☃", "'", '"', "\\", "a,b", "[a]", "#a"]
)
def test_strange_names_are_logged_or_refused_before_a_hand_is_played(
    suffix: str, name: str, game: cp.Game, tmp_path: Path
) -> None:
    player = Counter()
    player.name = name
    log = tmp_path / f"hands{suffix}"
    try:
        cp.play_match(game, player, "probe", 20, log=log, processes=1)
    except cp.CounterplayError:
        assert not player.views
        assert not log.exists()
        return
    assert {hand.dealer for hand in read_hands(log).hands} == {name, "probe"}


# --- targets that cannot be written are found before a hand is played, and nothing is destroyed


def target(kind: str, folder: Path) -> Path:
    (folder / "file").write_text("precious")
    (folder / "taken.parquet").mkdir()
    return {
        "below a file": folder / "file" / "x.parquet",
        "a folder": folder / "taken.parquet",
        "too long a name": folder / ("x" * 250 + ".parquet"),
        "below too long a name": folder / ("x" * 300) / "x.parquet",
        "a null": folder / "x\0.parquet",
    }[kind]


@pytest.mark.parametrize(
    "kind", ["below a file", "a folder", "too long a name", "below too long a name", "a null"]
)
def test_bad_targets(kind: str, game: cp.Game, tmp_path: Path) -> None:
    player, log = Counter(), target(kind, tmp_path)
    with pytest.raises(cp.CounterplayError, match="cannot write"):
        cp.play_match(game, player, "probe", 20, log=log, processes=1)
    with pytest.raises(cp.CounterplayError, match="cannot write"):
        next(from_nothing(player, 20, every=10, iterations=0, log=log))
    assert not player.views
    assert (tmp_path / "file").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"file", "taken.parquet"}
    assert not any((tmp_path / "taken.parquet").iterdir())


def test_an_existing_log_is_kept_until_the_match_is_over(game: cp.Game, tmp_path: Path) -> None:
    log = tmp_path / "hands.parquet"
    cp.play_match(game, "probe", "uniform", 20, log=log)
    before = log.read_bytes()
    with pytest.raises(cp.CounterplayError, match="parrot"):
        cp.play_match(game, Says("sing"), "probe", 20, log=log)
    assert log.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"hands.parquet"}


def test_an_observer_without_a_log_is_refused(game: cp.Game) -> None:
    bad(lambda: cp.play_match(game, "probe", "probe", 10, observer="a"), "log", kind=BadParameter)


# --- mistakes


def bad(call: Callable[[], Any], *words: str, kind: type[Exception] = cp.CounterplayError) -> None:
    with pytest.raises(kind) as error:
        call()
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("hands", [0, 1, -4, 2.5, "many", True, None, 10**10])
def test_bad_numbers_of_hands(hands: Any, game: cp.Game) -> None:
    bad(
        lambda: cp.play_match(game, "always-call", "always-raise", hands),
        "hands",
        repr(hands),
        kind=BadParameter,
    )


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, 2**64])
def test_bad_seeds(seed: Any, game: cp.Game) -> None:
    bad(
        lambda: cp.play_match(game, "always-call", "always-raise", 10, seed),
        "seed",
        kind=BadParameter,
    )
    kuhn = cp.load("kuhn")
    bad(
        lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), cp.Strategy.uniform(kuhn), 10, seed),
        "seed",
        kind=BadParameter,
    )


def test_bad_players(game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    bad(
        lambda: cp.play_match(game, "always-cal", "probe", 10),
        "did you mean 'always-call'",
        kind=UnknownName,
    )
    bad(
        lambda: cp.play_match(game, "probe", "nowhere/run.npz", 10),
        "nowhere/run.npz",
        "always-call",
    )
    bad(lambda: cp.play_match(game, 7, "probe", 10), "act(view)", kind=BadParameter)
    bad(lambda: cp.play_match(game, None, "probe", 10), "act(view)", kind=BadParameter)
    kuhn = cp.load("kuhn")
    bad(
        lambda: cp.play_match(game, cp.Strategy.uniform(kuhn), "probe", 10),
        "kuhn",
        kind=BadStrategy,
    )
    bad(
        lambda: cp.play_match(kuhn, random10, cp.Strategy.uniform(kuhn), 10),
        "holdem",
        kind=BadStrategy,
    )
    bad(
        lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), "probe", 10),
        "unknown player 'probe'",
        kind=UnknownName,
    )
    three = cp.load("kuhn(players=3)")
    bad(
        lambda: cp.play_match(three, cp.Strategy.uniform(three), cp.Strategy.uniform(three), 10),
        "2 players are given",
    )
    (tmp_path / "noise").write_bytes(b"nothing to see")
    bad(lambda: cp.play_match(game, tmp_path / "noise", "probe", 10), "noise")


def test_bad_options(game: cp.Game, tmp_path: Path) -> None:
    kuhn = cp.load("kuhn")
    uniform_kuhn = cp.Strategy.uniform(kuhn)
    bad(
        lambda: cp.play_match(kuhn, uniform_kuhn, uniform_kuhn, 10, log=tmp_path / "x.parquet"),
        "hold'em",
        kind=BadParameter,
    )
    bad(
        lambda: cp.play_match(game, "probe", "probe", 10, observer="c"),
        "observer",
        "'c'",
        kind=BadParameter,
    )
    bad(lambda: cp.play_match("holdme", "probe", "probe", 10), "holdem", kind=UnknownName)
    (tmp_path / "file").write_text("precious")
    bad(
        lambda: cp.play_match(game, "probe", "probe", 10, log=tmp_path / "file" / "x.parquet"),
        "file",
    )
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("processes", [-1, 0, 1.5, "two", True])
def test_bad_numbers_of_processes(
    processes: Any, game: cp.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    bad(
        lambda: cp.play_match(game, Caller(), "probe", 200, processes=processes),
        "processes",
        kind=BadParameter,
    )
