"""A spot is a game: named, saved, resumed, played, and refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base import memory
from counterplay.core.base.errors import BadParameter, BadStrategy, CounterplayError, TooLarge
from counterplay.poker.spots.game import spot

RANGES = ("22+,A2s+:0.5", "QQ,AKs,76s")
RIVER = "QsJh2c5d8s"


def river(**options: Any) -> cp.Game:
    given: dict[str, Any] = {"pot": 20, "stacks": 45, "ranges": RANGES, "bets": "50,100"}
    return spot(RIVER, **(given | options))


@pytest.mark.parametrize(
    "options",
    [
        {}, {"bets": "river: 50 | 33,allin", "raises": "none"}, {"limit": True, "bets": 4},
        {"rake": 0.05, "rake_cap": 2.0, "cap": 2, "min_bet": 1.5}, {"cap": None},
        {"symmetric": False}, {"bets": "33.3333333,Allin"}, {"bets": {"River": "50"}},
        {"stacks": (45, 60)}, {"limit": True, "bets": "4", "stacks": None},
    ],
)  # fmt: skip
def test_its_name_loads_the_same_game(options: dict[str, Any]) -> None:
    game = river(**options)
    again = cp.load(game.name)
    assert (again.name, again.fingerprint) == (game.name, game.fingerprint)
    assert again.n_slots == game.n_slots


def test_a_strategy_is_saved_and_read(tmp_path: Path) -> None:
    game = river()
    strategy = cp.Strategy.random(game, 1)
    strategy.save(tmp_path / "mine.npz")
    read = cp.Strategy.load(tmp_path / "mine.npz")
    np.testing.assert_array_equal(read.probabilities, strategy.probabilities)
    assert cp.exploitability(read.game, read) == cp.exploitability(game, strategy)


def test_a_run_is_resumed_bit_for_bit(tmp_path: Path) -> None:
    game = river()
    whole = cp.solve(game, iterations=30)
    cp.solve(game, iterations=12, folder=tmp_path / "run")
    resumed = cp.resume(tmp_path / "run", iterations=30)
    assert whole.algorithm == "dcfr"
    np.testing.assert_array_equal(resumed.strategy.probabilities, whole.strategy.probabilities)
    np.testing.assert_array_equal(resumed.regrets, whole.regrets)


def test_threads_give_the_same_bits() -> None:
    game = spot("QsJh2c5d", 20, stacks=20, ranges=("AKs,QQ", "JJ,KTs"), bets="100", cap=1)
    runs = [cp.solve(game, iterations=3, threads=threads) for threads in (1, 2)]
    np.testing.assert_array_equal(*(run.strategy.probabilities for run in runs))


@pytest.mark.slow
def test_single_precision_is_near() -> None:
    game = river()
    runs = [cp.solve(game, iterations=50, precision=p) for p in ("double", "single")]
    assert runs[0].exploitability == pytest.approx(runs[1].exploitability, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("board", [RIVER, "QsJs2c5d", "7h7d2c"])
def test_a_match_gives_the_value(board: str) -> None:
    game = spot(board, 20, stacks=45, ranges=RANGES, bets="50,100", cap=1)
    one, two = cp.Strategy.random(game, 1), cp.Strategy.uniform(game)
    values = [cp.expected_value(game, two.replace(one, player))[player] for player in (0, 1)]
    result = cp.play_match(game, one, two, hands=200_000, seed=3)
    assert abs(result.mean - sum(values) / 2) < 4 * result.standard_error


@pytest.mark.slow
def test_sampling_solvers_play_it() -> None:
    run = cp.solve(river(), "mccfr-external", iterations=200_000, seed=1)
    assert run.exploitability < 4.0


def test_a_view_shows_a_decision() -> None:
    game = river()
    strategy = cp.Strategy.random(game, 2)
    view = cp.spot_view(strategy, "check-bet 10")
    assert (view.player, view.actions) == (0, ("fold", "call", "raise 30", "allin 45"))
    assert sum(view.frequency.values()) == pytest.approx(1.0)
    assert sum(view.at("AsAh").values()) == pytest.approx(1.0)
    assert strategy.at(f"check-bet 10 {RIVER} AsAh") == view.at("AsAh")
    assert sum(share for share, _ in view.classes().values()) == pytest.approx(1.0)
    assert view.to_frame("dict")["holding"] == list(view.holdings)
    assert "<table>" in view._repr_html_()
    with pytest.raises(BadStrategy, match="cannot hold 'QsQh'"):
        view.at("QsQh")
    with pytest.raises(BadParameter, match=r"no decision after 'bet 11'.*'bet 10'"):
        cp.spot_view(strategy, "bet 11")
    with pytest.raises(BadParameter, match=r"^board: 'QsJh2c5d9s' is not"):
        cp.spot_view(strategy, "start", "QsJh2c5d9s")
    assert cp.spot_view(strategy, "Check-BET 10").history == "check-bet 10"
    for history, board in ((None, ""), ("x" * 10**5, ""), ("start", 3), ("start", "XX")):
        with pytest.raises(BadParameter, match=r"^(board: |no decision after ).{9,300}$"):
            cp.spot_view(strategy, history, board)  # type: ignore[arg-type]
    with pytest.raises(BadStrategy, match="cannot hold 3"):
        view.at(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"board": "QsJh"}, "board: 'QsJh' has 2 cards"),
        ({"board": "QsJhQs"}, "board: a card stands twice"),
        ({"board": "QsJhXx"}, "board: not a card: 'Xx'"),
        ({"board": 3}, "board: a text"),
        ({"pot": 0}, "pot must be above 0"),
        ({"pot": float("nan")}, "pot must be a number"),
        ({"pot": 1e308}, "pot: from 0.001 to 1,000,000,000 chips"),
        ({"pot": 1e-7}, "pot: from 0.001"), ({"stacks": 1e308}, "stacks: player 1: from 0.001"),
        ({"board": "Qs" * 100_000}, "board: a card stands twice in .{84}$"),
        ({"stacks": 0}, "stacks: player 1 must be above 0"),
        ({"stacks": (10, 0)}, "stacks: player 2 must be above 0"),
        ({"stacks": None}, "stacks: give"),
        ({"stacks": (1, 2, 3)}, "stacks: give one number"),
        ({"ranges": ("QQ", " ")}, "ranges: player 2: the range is empty; write it like"),
        ({"ranges": ("QQ", "QQ:0")}, "ranges: player 2: the range is empty"),
        ({"ranges": ("QsQh", "AA")}, "ranges: every holding of player 1 shares a card"),
        ({"ranges": ("QQ:1e-13", "AA:1e-300")}, "ranges: player 1: the largest weight is 1e-13"),
        ({"ranges": ("AhAd", "AhAd")}, "ranges: every holding of one player shares"),
        ({"bets": "0"}, "bets: river: a size is above 0, not 0: it would never end"),
        ({"bets": "-5"}, "bets: river: a size is above 0"),
        ({"bets": "x"}, "bets: river: 'x' is no size"),
        ({"bets": "inf"}, "bets: river: a size is above 0"),
        ({"bets": "50 | 60 | 70"}, "bets: river: give sizes"),
        ({"bets": "flop: 50"}, "bets: no sizes for the river"),
        ({"bets": "floop: 50"}, "bets: no street 'floop'"),
        ({"bets": "1e-9"}, "bets: a bet of 2e-10 chips is none"),
        ({"bets": 1e-9, "limit": True}, "bets: a bet of 1e-09 chips is none"),
        ({"bets": "1e300", "limit": True}, "bets: river: a size is above 0 and not as large"),
        ({"bets": "9" * 400}, "bets: river: a size is above 0 and not as large as 9{40}$"),
        ({"bets": [50, 100]}, "bets: river: give sizes such as '50,100'"),
        ({"bets": "50,50.00001", "pot": 1e7, "stacks": 1e8}, "bets: two sizes are both called"),
        ({"bets": ",".join(map(str, range(1, 12)))}, "bets: river: 11 sizes"),
        ({"bets": "0.001", "cap": None, "stacks": 1e6}, "bets: the betting tree has more than"),
        ({"cap": -1}, "cap must be"),
        ({"limit": True, "bets": "1,2"}, "bets: river: 2 sizes; one size at most"),
        ({"limit": True, "bets": None}, "bets: limit betting needs"),
        ({"limit": True, "bets": 2, "raises": 2}, "raises: in limit betting"),
        ({"limit": True, "bets": 2, "cap": None}, "cap: limit betting needs"),
        ({"limit": 1}, "limit must be True or False"),
        ({"rake": 1.0}, "rake: a share"), ({"rake_cap": -1}, "rake_cap"),
        ({"min_bet": -1}, "min_bet"), ({"min_bet": 1e308}, "min_bet"),
        ({"symmetric": 2}, "symmetric must be"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(options: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"board": RIVER, "pot": 20, "stacks": 45, "ranges": RANGES}
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        spot(**(given | {"bets": "50"} | options))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"backend": "tpu"}, "backend must be one of cpu, cuda"),
        ({"precision": "half"}, "precision must be one of"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_bad_options_are_one_sentence(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        cp.solve(river(), iterations=1, **options)


def test_memory_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.01")
    game = spot("QsJh2c5d", 20, stacks=90, bets="33,75,150,allin")
    with pytest.raises(TooLarge, match=r"solving this spot needs about .* GB .*precision=single"):
        cp.solve(game, iterations=1)
    with pytest.raises(TooLarge, match=r"a strategy of this spot needs about .* GB"):
        cp.exploitability(game, "uniform")
    with pytest.raises(TooLarge, match=r"answering these locks needs about .* GB"):
        cp.respond_to_locks(game, "check check 1")
    made = 2 * game.rules.layout.form_bytes / 1e9  # what it takes while it is made
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", str(made))
    with pytest.raises(TooLarge, match=r"a strategy of this spot needs about .* GB"):
        cp.Strategy.uniform(game)
    with pytest.raises(TooLarge, match="all needs about 9,830 GB of memory and"):
        memory.require(9.83e12, "all")


@pytest.mark.parametrize("algorithm", ["pcfr+", "egt", "lp"])
def test_solvers_that_do_not_play_it_say_so(algorithm: str) -> None:
    with pytest.raises(CounterplayError):
        cp.solve(river(), algorithm, iterations=1)
