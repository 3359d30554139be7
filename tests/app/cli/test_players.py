"""One resolver: whatever a match takes as a player, every command and function takes too, and what
cannot be done is said in one sentence."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.models import weak_hands

import counterplay as cp
from counterplay.core.games.players import players_of
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.models.model import save_model
from counterplay.poker.players import kind_of

HOLDEM = "holdem(buckets=2)"
MINE = """
import counterplay as cp

def tight(game):
    return cp.Strategy.random(game, 3)

even = cp.Strategy.uniform("kuhn")

class Caller:
    name = "caller"
    def act(self, view):
        return "call"
"""

SMALL = ("uniform", "run", "run/strategy.npz", "alone.npz", "answer", "mine.py:tight")
TABLES = ("uniform", "always-call", "Probe", "table.npz", "holdem-run", "holdem-answer", "m.json")
PROGRAMS = ("poki", "adaptive", "mine.py:Caller")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of player."""
    place = tmp_path_factory.mktemp("players")
    (place / "mine.py").write_text(MINE)
    cp.solve("kuhn", "cfr+", iterations=20, folder=place / "run")
    cp.Strategy.random("kuhn", 1).save(place / "alone.npz")
    cp.respond("kuhn", "uniform", iterations=20, folder=place / "answer")
    game = cp.load(HOLDEM)
    cp.solve(game, "mccfr", iterations=20, folder=place / "holdem-run")
    cp.Strategy.random(game, 1).save(place / "table.npz")
    cp.respond(game, "always-call", iterations=20, folder=place / "holdem-answer")
    hands = cp.observe(weak_hands(200, 6, "a"), "weak")
    save_model(cp.learn_model(hands, game, "weak", "frequency"), place / "m.json")
    return place


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """The folder, where boards are not traversed and Sparbot is another table."""

    def values(game: Any, questions: list[Any], *_: Any, **__: Any) -> list[float]:
        return [0.25] * len(questions)

    table = strategy_table(cp.Strategy.uniform(HOLDEM))
    monkeypatch.setattr("counterplay.poker.vector.evaluation.vector_values", values)
    monkeypatch.setattr("counterplay.poker.bots.sparbot.build.sparbot_table", lambda *_: table)
    monkeypatch.chdir(folder)
    return folder


COMMANDS: dict[str, Callable[[str, Path], list[str]]] = {
    "match": lambda word, _: ["match", word, "uniform", "-n", "4"],
    "evaluate": lambda word, _: ["evaluate", word],
    "show": lambda word, _: ["show", word],
    "respond": lambda word, out: ["respond", word, "-n", "2", "--out", str(out / "r")],
    "frontier": lambda word, out: [
        *["frontier", word, "-n", "2", "--ps", "0,1", "--out", str(out)],
    ],
}
ONLY_HOLDEM = {
    "evaluate": ["--flops", "12"],
    "show": ["--cards", "AhKd"],
    "frontier": ["--flops", "12"],
}


@pytest.mark.parametrize("word", SMALL)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_player(
    command: str, word: str, quick: Path, tmp_path: Path
) -> None:
    done = typed(quick, *COMMANDS[command](word, tmp_path), "--game", "kuhn", "--json")
    assert done.code == 0, done.stderr


@pytest.mark.parametrize("word", [*TABLES, "mine.py:tight"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_player_of_holdem(
    command: str, word: str, quick: Path, tmp_path: Path
) -> None:
    words = [*COMMANDS[command](word, tmp_path), *ONLY_HOLDEM.get(command, [])]
    done = typed(quick, *words, "--game", HOLDEM, "--json")
    assert done.code == 0, done.stderr


#: Shipped strategies without k-means, whose buckets take minutes to make.
PREPARED = [shipped for shipped in cp.strategies() if "kind=emd" not in shipped.game]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_shipped_strategy(command: str, quick: Path, tmp_path: Path) -> None:
    for shipped in PREPARED:
        words = [
            *COMMANDS[command](shipped.name, tmp_path / shipped.name),
            *ONLY_HOLDEM.get(command, []),
        ]
        done = typed(quick, *words, "--json")
        assert done.code == 0, done.stderr


def test_the_certified_exploitability_is_shown(quick: Path) -> None:
    for shipped in PREPARED:
        done = typed(quick, "evaluate", shipped.name, "--json")
        assert json.loads(done.stdout)["exploitability_mbg"] == shipped.mb_per_game
        again = typed(quick, "evaluate", shipped.name, "--method", "exact", "--json")
        assert json.loads(again.stdout)["exploitability"] == 0.5


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "exploitability": cp.exploitability,
    "expected_value": cp.expected_value,
    "best_response": lambda game, player: cp.best_response(game, player, 0),
    "respond": lambda game, player: cp.respond(game, player, iterations=2),
    "frontier": lambda game, player: cp.frontier(
        game, player, [0.0, 1.0], iterations=2, measure={"flops": 12} if game == HOLDEM else None
    ),
    "play_match": lambda game, player: cp.play_match(game, player, "uniform", 4),
}


def _objects(game: str) -> list[Any]:
    strategy = cp.Strategy.random(game, 4)
    run = cp.solve(game, iterations=2)
    return [strategy, run, cp.respond(game, strategy, iterations=2)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_takes_every_player(function: str, quick: Path) -> None:
    for player in (*SMALL, Path("alone.npz"), *_objects("kuhn")):
        assert FUNCTIONS[function]("kuhn", player) is not None
    for player in (*TABLES, "mine.py:tight", cp.load_model("m.json"), cp.bot("table.npz")):
        assert FUNCTIONS[function](HOLDEM, player) is not None


def test_words_give_what_objects_give(quick: Path) -> None:
    strategy = cp.Strategy.load("alone.npz")
    assert cp.exploitability("kuhn", "alone.npz") == cp.exploitability("kuhn", strategy)
    one, two = (cp.respond("kuhn", model, iterations=5).strategy for model in ("run", strategy))
    assert not np.array_equal(one.probabilities, two.probabilities)
    by_word = cp.play_match(HOLDEM, "table.npz", "always-call", 20, seed=3)
    by_object = cp.play_match(HOLDEM, cp.Strategy.load("table.npz"), "always-call", 20, seed=3)
    assert by_word.mean == by_object.mean
    assert cp.kuhn_errors("alone.npz") == cp.kuhn_errors(strategy)


@pytest.mark.parametrize("command", ["evaluate", "show", "respond", "frontier"])
@pytest.mark.parametrize("word", PROGRAMS)
def test_a_program_has_no_table_and_the_way_out_is_said(
    command: str, word: str, quick: Path, tmp_path: Path
) -> None:
    words = [*COMMANDS[command](word, tmp_path), *ONLY_HOLDEM.get(command, [])]
    done = typed(quick, *words)
    assert one_sentence(done), done.stderr
    assert "is a program without a table of probabilities" in done.stderr
    assert f"counterplay match probe {word} -n 20000 --log hands.parquet" in done.stderr


def test_the_way_out_works_as_printed(quick: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    said = typed(tmp_path, "respond", "mine.py:Caller", "-n", "2").stderr
    way = said.partition("it plays: ")[2].replace("20000", "200").strip()
    for command in way.split(", then "):
        done = typed(tmp_path, *shlex.split(command)[1:])
        assert done.code == 0, done.stderr
    assert typed(tmp_path, "respond", "caller-tree.json", "-n", "2").code == 0


def test_sparbot_is_measured_and_shown_but_no_strategy(quick: Path) -> None:
    done = typed(quick, "evaluate", "sparbot", "--flops", "12")
    assert done.code == 0
    assert "12 flops beside safe" in done.stderr  # time and width, beforehand
    assert "minutes on" in done.stderr
    assert "expect about ± 30 mb/g (95%)" in done.stderr
    assert "safe, 137.65 mb/g over every board" in done.stdout
    assert typed(quick, "show", "sparbot", "--cards", "AhKd").code == 0
    assert cp.exploitability(HOLDEM, "sparbot", flops=12) == 0.5
    done = typed(quick, "respond", "sparbot", "-n", "2")
    assert one_sentence(done)
    assert "has more recall than a strategy" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("pokki", "did you mean 'poki'?"),
        ("alone.npy", "no such file or folder; did you mean alone.npz?"),
        ("holdem-rum", "did you mean holdem-run?"),
        ("mine.py:Tight", "no player Tight in mine.py"),
        ("gone.py:Name", "no file gone.py"),
    ],
)
def test_near_misses(command: str, word: str, said: str, quick: Path, tmp_path: Path) -> None:
    done = typed(quick, *COMMANDS[command](word, tmp_path))
    assert one_sentence(done), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("word", "game", "said"),
    [
        ("alone.npz", "leduc", "alone.npz: a strategy for kuhn, not for leduc"),
        ("alone.npz", HOLDEM, "alone.npz: a strategy for kuhn, not for holdem"),
        ("table.npz", "holdem(buckets=3)", "not for holdem(buckets=3)"),
        ("m.json", "holdem(buckets=3)", "not for holdem(buckets=3)"),
        ("mine.py:even", "leduc", "a strategy for kuhn cannot play leduc"),
        ("poki", "kuhn", "unknown player 'poki'"),
        ("safe", "kuhn", "unknown player 'safe'"),
        ("mine.py:Caller", "kuhn", "expected a Strategy"),
    ],
)
def test_another_game_is_refused(
    command: str, word: str, game: str, said: str, quick: Path, tmp_path: Path
) -> None:
    assert cp.load("leduc").tree  # compiled before: progress of that is no part of the answer
    done = typed(quick, *COMMANDS[command](word, tmp_path), "--game", game)
    assert one_sentence(done), done.stderr
    assert said in done.stderr


def test_a_name_comes_before_a_file_and_a_path_is_a_path(quick: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('ran')")
    cp.Strategy.load("alone.npz").save(tmp_path / "uniform")
    uniform = cp.exploitability("kuhn", cp.Strategy.uniform("kuhn"))
    words = ("evaluate", "uniform", "--game", "kuhn")
    assert f"{uniform:.6g}" in typed(tmp_path, *words).stdout
    assert f"{uniform:.6g}" not in typed(tmp_path, "evaluate", "./uniform").stdout
    named = tmp_path / "mine.py:Name"  # a folder with a name that would run a file
    named.mkdir()
    cp.Strategy.load("alone.npz").save(named / "strategy.npz")
    assert cp.exploitability("kuhn", named) == cp.exploitability("kuhn", "alone.npz")


def test_the_dealer_asks_the_same_resolver(quick: Path) -> None:
    kinds = {word: kind_of(word) for word in (*TABLES, *PROGRAMS, "nobody")}
    names = {word for word, kind in kinds.items() if kind == "name"}
    assert names == {"uniform", "always-call", "Probe", "poki", "adaptive"}
    assert kinds["mine.py:Caller"] == "user-defined"
    assert kinds["m.json"] == kinds["holdem-run"] == "path"
    assert kinds["nobody"] is None
    for word in ("Probe", "table.npz", "m.json", "mine.py:Caller"):
        assert cp.acpc_seat(word, 1).command is not None
    for shipped in PREPARED:
        assert kind_of(shipped.name) == "name"
        assert cp.acpc_seat(shipped.name, 1).ours


def test_the_browser_offers_what_the_user_named(quick: Path, tmp_path: Path) -> None:
    from counterplay.app.web.catalog import Catalog
    from counterplay.app.web.strategies import HoldemOpponents, default_bot, offered_opponents

    catalog = Catalog([Path("mine.py:Caller"), quick / "m.json", quick / "table.npz"])
    keys = {choice["name"]: choice["key"] for choice in offered_opponents("holdem", catalog)}
    assert {"mine.py:Caller", "poki", "m.json", "table.npz"} <= set(keys)
    assert {shipped.name for shipped in cp.strategies()} <= set(keys)
    assert offered_opponents("holdem", Catalog([]))[0]["key"] == f"bot:{default_bot()}"
    bots = HoldemOpponents(catalog)
    assert bots.get(keys["mine.py:Caller"]).name == "caller"
    assert bots.get(keys["m.json"]).strategy.game.name == HOLDEM
    with pytest.raises(cp.CounterplayError, match="no such opponent"):
        bots.get("bot:mine.py:tight")  # which nobody named


def test_a_model_may_have_another_card_abstraction(folder: Path) -> None:
    """The name of a shipped strategy as well as its file."""
    players = players_of(cp.load("holdem(buckets=3)"))
    assert players.model("safest").game.name == "holdem(buckets=100,kind=emd)"
    assert players.model(folder / "table.npz").game.name == HOLDEM
    assert players.model("always-call").game is players.game
    with pytest.raises(cp.CounterplayError, match="not for"):
        players.strategy("safest")
