"""A response on disk is the one in memory: the responder as computed, the other seat the model,
on every path to the file."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.holdem import NAME as HOLDEM

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.solvers import run as runs
from counterplay.core.solvers.run import Progress
from counterplay.poker.bots.simple import simple_strategy

GAMES = ["kuhn", "leduc", "bluff(1,1,3)", "goofspiel(3)", HOLDEM]
KINDS = {
    "rnr": ("rnr", None),
    "rnr-egt": ("rnr", "egt"),
    "rnr-lp": ("rnr", "lp"),
    "dbr": ("dbr", None),
    "mcrnr": ("mcrnr", None),
    "mcrnr-mcts": ("mcrnr", "mcts"),
    "mcdbr": ("mcdbr", None),
    "mcdbr-external": ("mcdbr", "mccfr-external"),
}


def model_of(game: cp.Game) -> cp.Strategy:
    return cp.Strategy.random(game, 3) if game.has_tree else simple_strategy("always-call", game)


def cases() -> list[Any]:
    full = [
        (game, kind) for game in GAMES for kind in KINDS if game != HOLDEM or kind.startswith("mc")
    ]
    found = [c for c in full if c not in (("leduc", "rnr-lp"), ("leduc", "rnr-egt"))]
    return [  # each in one seat; in the other with make test-slow
        pytest.param(
            *case,
            player,
            id="-".join((*case, str(player))),
            marks=[pytest.mark.slow] if (k + player) % 2 else [],
        )
        for k, case in enumerate(found)
        for player in (0, 1)
    ]


def whole(folder: Path, response: cp.Response, model: cp.Strategy) -> None:
    """The file in `folder` is the strategy of `response`, and beside the responder sits the
    model."""
    saved, seat = cp.Strategy.load(folder, response.game), response.player
    assert seat is not None
    own, other = response.game.slots(seat), response.game.slots(1 - seat)
    assert saved.player == response.strategy.player == response.runs[0].strategy.player == seat
    assert np.array_equal(saved.probabilities, response.strategy.probabilities)
    assert np.array_equal(saved.probabilities, response.runs[0].strategy.probabilities)
    assert np.array_equal(saved.probabilities[other], model.probabilities[other])
    assert not np.array_equal(saved.probabilities[own], model.probabilities[own])


class StopAfter:
    """Ctrl-C after so many chunks."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks

    def __call__(self, _progress: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("name", "kind", "player"), cases())
def test_fresh_resumed_and_interrupted(name: str, kind: str, player: int, tmp_path: Path) -> None:
    game, (algorithm, engine) = cp.load(name), KINDS[kind]
    model = model_of(game)
    arguments: dict[str, Any] = {"algorithm": algorithm, "engine": engine}
    fresh = cp.respond(
        game, model, player, 1.0, **arguments, iterations=20, folder=tmp_path / "fresh"
    )
    whole(tmp_path / "fresh", fresh, model)
    resumed = cp.resume_response(tmp_path / "fresh", iterations=40)
    whole(tmp_path / "fresh", resumed, model)
    if kind == "rnr-lp":
        return  # solved in one step: there is no moment to stop at
    with pytest.raises(cp.Interrupted) as stop:
        cp.respond(
            game,
            model,
            player,
            0.75,
            **arguments,
            iterations=10**9,
            folder=tmp_path / "cut",
            on_chunk=StopAfter(2),
        )
    assert isinstance(stop.value.result, cp.Response)
    whole(tmp_path / "cut", stop.value.result, model)


@pytest.mark.parametrize("algorithm", ["rnr", "mcrnr", "dbr", "mcdbr"])
def test_every_checkpoint_on_the_way(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also `Progress.strategy`, which callbacks may save."""
    monkeypatch.setattr(runs, "CHECKPOINT_SECONDS", 0.0)
    game = cp.load("leduc")
    model, other = model_of(game), game.slots(0)
    seen = 0

    def look(progress: Progress) -> None:
        nonlocal seen
        assert np.array_equal(progress.strategy().probabilities[other], model.probabilities[other])
        if (tmp_path / "run" / "strategy.npz").exists():
            saved = cp.Strategy.load(tmp_path / "run")
            assert saved.player == 1
            assert np.array_equal(saved.probabilities[other], model.probabilities[other])
            seen += 1

    cp.respond(
        game,
        model,
        1,
        0.75,
        algorithm,
        iterations=30,
        measure_every=5,
        on_chunk=look,
        folder=tmp_path / "run",
    )
    assert seen > 0


def test_both_seats_have_their_profile_beside_them(tmp_path: Path) -> None:
    """From Python too; and each seat alone is a response of its own."""
    game = cp.load("leduc")
    model = model_of(game)
    both = cp.respond(game, model, None, 0.75, "mcrnr", iterations=500, folder=tmp_path / "run")
    for _ in range(2):
        saved = cp.Strategy.load(tmp_path / "run")
        assert saved.player is None
        assert np.array_equal(saved.probabilities, both.strategy.probabilities)
        for seat in (0, 1):
            part = cp.Strategy.load(tmp_path / "run" / f"seat{seat + 1}")
            assert part.player == seat
            assert np.array_equal(
                part.probabilities, model.replace(both.strategy, seat).probabilities
            )
        both = cp.resume_response(tmp_path / "run", iterations=900)
    with pytest.raises(cp.Interrupted) as stop:
        cp.resume_response(tmp_path / "run", iterations=10**9, on_chunk=StopAfter(1))
    assert isinstance(stop.value.result, cp.Response)
    assert stop.value.result.player == 0  # the second seat was not gone on with


@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize(
    "within", [["--p", "0.75"], ["--max-exploitability", "0.3"]], ids=["p", "limit"]
)
def test_the_command_saves_what_the_library_computes(
    player: int, within: list[str], tmp_path: Path
) -> None:
    game = cp.load("leduc")
    model = cp.Strategy.uniform(game)
    words = [
        "respond",
        "uniform",
        "--game",
        "leduc",
        "--player",
        str(player),
        *within,
        "-n",
        "40",
        "--out",
        "answer",
        "--json",
    ]
    done = typed(tmp_path, *words)
    assert done.code == 0, done.stderr
    how: dict[str, Any] = {"p": 0.75} if within[0] == "--p" else {"max_exploitability": 0.3}
    whole(tmp_path / "answer", cp.respond(game, model, player - 1, **how, iterations=40), model)


def test_a_mixture_leaves_the_model_as_it_is() -> None:
    """To the last bit: the mixture of a model with itself is rounded."""
    game = cp.load("kuhn")
    model = cp.Strategy.random(game, 8)
    found = cp.respond(game, model, 0, engine="lp", max_exploitability=0.05)
    for strategy in (found.strategy, found.runs[0].strategy):
        assert np.array_equal(
            strategy.probabilities[game.slots(1)], model.probabilities[game.slots(1)]
        )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses to uniform play of player 1, of player 2 and of both in Kuhn poker, and of
    player 1 in hold'em."""
    folder = tmp_path_factory.mktemp("answers")
    for name, player in (("one", 0), ("two", 1), ("both", None)):
        cp.respond(
            "kuhn",
            cp.Strategy.uniform(cp.load("kuhn")),
            player,
            1.0,
            iterations=50,
            folder=folder / name,
        )
    game = cp.load(HOLDEM)
    cp.respond(game, model_of(game), 0, 1.0, "mcrnr", iterations=50, folder=folder / "holdem")
    return folder


@pytest.mark.parametrize(
    ("first", "second", "seat"),
    [("one", "uni", 0), ("uni", "one", 1), ("two", "uni", 1), ("one", "two", 0)],
)
def test_a_match_keeps_to_the_seat(first: str, second: str, seat: int, answers: Path) -> None:
    """As much as the exact value in that seat, and as many hands as asked for; the other seat
    does not count."""
    a, b = (
        cp.Strategy.uniform(cp.load("kuhn")) if name == "uni" else cp.Strategy.load(answers / name)
        for name in (first, second)
    )
    result = cp.play_match("kuhn", a, b, 40_000, 3)
    exact = float(cp.expected_value(a.game, b.replace(a, seat))[seat])
    assert (result.seat, result.hands, result.duplicate) == (seat, 40_000, False)
    assert abs(result.mean - exact) < 5 * result.standard_error
    assert result.mean == result.by_seat[seat]
    assert np.isnan(result.by_seat[1 - seat])
    assert f"player {seat + 1}'s seat only" in str(result)
    words = [
        "match",
        *("uniform" if name == "uni" else name for name in (first, second)),
        "--game",
        "kuhn",
        "-n",
        "40000",
    ]
    facts = json.loads(typed(answers, *words, "--seed", "3", "--json").stdout)
    assert (facts["seat"], facts["mean"]) == (seat, result.mean)
    text = typed(answers, *words).stdout
    assert f"player {seat + 1}'s seat only" in text
    assert f"as player {2 - seat} " not in text


def test_the_same_in_holdem(answers: Path, tmp_path: Path) -> None:
    """Each seat of a profile alone is what both seats together say of it, deal by deal; the log
    has that seat only."""
    game = cp.load(HOLDEM)
    profile, caller = cp.Strategy.random(game, 2), simple_strategy("always-call", game)
    both = cp.play_match(game, profile, caller, 2_000, 5)
    for seat in (0, 1):
        alone = cp.play_match(
            game, profile.for_player(seat), caller, 1_000, 5, log=tmp_path / f"{seat}.parquet"
        )
        assert (alone.mean, alone.hands) == (pytest.approx(both.by_seat[seat], abs=1e-12), 1_000)
        dealers = {hand.dealer for hand in cp.read_hands(tmp_path / f"{seat}.parquet").hands}
        assert dealers == {(alone.a, alone.b)[seat]}
    done = typed(answers, "match", "holdem", "always-call", "-n", "100")
    assert "as dealer" in done.stdout
    assert "as big blind" not in done.stdout


def test_seats_that_cannot_meet(answers: Path) -> None:
    for name in ("one", "holdem"):
        done = typed(answers, "match", name, name, "-n", "10")
        assert one_sentence(done), done
    with pytest.raises(cp.CounterplayError, match="may keep state"):
        cp.play_match(HOLDEM, cp.Strategy.load(answers / "holdem"), cp.Bot(), 10)
    with pytest.raises(cp.CounterplayError, match="both seats"):
        next(cp.play_adaptive(answers / "holdem", 2_000, player=cp.Adaptive(learner={})))
    assert typed(answers, "match", "both", "both", "-n", "10").code == 0


def test_evaluate_and_show_know_the_seat(answers: Path) -> None:
    facts = json.loads(typed(answers, "evaluate", "one", "--against", "uniform", "--json").stdout)
    assert "player 1's seat" in facts["meant_for"]
    assert facts["value_as_player_1_against"] == pytest.approx(facts["value_to_player_1"])
    assert "value_as_player_2_against" not in facts
    assert facts["worst_case"] == pytest.approx(-facts["best_response_of_player_2"])
    assert facts["exploitability"] == pytest.approx(-1 / 18 - facts["worst_case"], abs=1e-6)
    met = json.loads(typed(answers, "evaluate", "one", "--against", "two", "--json").stdout)
    assert [name for name in met if "against" in name] == ["value_as_player_1_against"]
    assert one_sentence(typed(answers, "evaluate", "one", "--against", "one"))
    assert "player 2's seat" in typed(answers, "show", "two").stdout
    assert "seat" not in typed(answers, "show", "both").stdout


def test_a_response_is_a_model_of_its_own_seat_only(answers: Path) -> None:
    first = cp.Strategy.load(answers / "one")
    assert cp.respond("kuhn", first, 1, 0.5, iterations=5).player == 1
    for player in (0, None):
        with pytest.raises(cp.CounterplayError, match="seat only"):
            cp.respond("kuhn", first, player, 0.5, iterations=5)
        with pytest.raises(cp.CounterplayError, match="seat only"):
            cp.frontier("kuhn", first, player=player, iterations=5)


@pytest.mark.parametrize("player", [2, -1, True, "one", 0.0, [0]])
def test_a_seat_that_is_none(player: Any, answers: Path, tmp_path: Path) -> None:
    arrays, header = files.read_arrays(answers / "one" / "strategy.npz", "strategy")
    files.write_arrays(tmp_path / "bad.npz", "strategy", arrays, {**header, "player": player})
    with pytest.raises(cp.CounterplayError, match=r"bad\.npz"):
        cp.Strategy.load(tmp_path / "bad.npz")


def test_files_without_a_seat_load_as_before(answers: Path, tmp_path: Path) -> None:
    arrays, header = files.read_arrays(answers / "one" / "strategy.npz", "strategy")
    del header["player"]
    files.write_arrays(tmp_path / "old.npz", "strategy", arrays, header)
    assert cp.Strategy.load(tmp_path / "old.npz").player is None
