"""The command line reads units, seats and abilities off the game: a made-up one with others
shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command import typed

import counterplay as cp
from counterplay.core.forms import registry
from counterplay.core.forms.capabilities import Capabilities
from counterplay.core.forms.game import Game
from counterplay.core.games.kuhn import Kuhn


class Tavern(Kuhn):
    """Kuhn poker for mugs of ale."""

    unit = ("mugs", "evening")
    seats = ("host", "guest")


class Vast(Kuhn):
    """One that says it is too large."""

    capabilities = Capabilities(full_width=False, exact=False)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.load

    def load(name: str) -> Any:
        rules = {"tavern": Tavern, "vast": Vast}.get(name)
        return known(name) if rules is None else Game(name, rules())

    monkeypatch.setattr(registry, "load", load)


@pytest.mark.usefixtures("made_up")
def test_match_shows_unit_and_seats(tmp_path: Path) -> None:
    words = ("match", "uniform", "uniform", "--game", "tavern", "-n", "50")
    text = typed(tmp_path, *words).stdout
    assert "+0.0000 mugs per evening, 95% interval" in text
    assert "uniform as host" in text
    assert "uniform as guest" in text
    assert json.loads(typed(tmp_path, *words, "--json").stdout)["unit"] == "mugs per evening"


@pytest.mark.usefixtures("made_up")
def test_evaluate_shows_unit_and_seats(tmp_path: Path) -> None:
    words = ("evaluate", "uniform", "--game", "tavern", "--against", "uniform", "--json")
    facts = json.loads(typed(tmp_path, *words).stdout)
    assert facts["unit"] == "mugs per evening"
    same = {"value_to_player_1", "best_response_of_player_2", "value_as_player_2_against"}
    assert same < set(facts)  # keys do not change with the names of seats
    text = typed(tmp_path, *words[:-1]).stdout
    for name in ("value to host", "best response of guest", "value as guest against uniform"):
        assert name in text
    plain = typed(tmp_path, "evaluate", "uniform", "--game", "kuhn", "--json").stdout
    assert "unit" not in json.loads(plain)
    assert "value_to_player_1" in json.loads(plain)


@pytest.mark.usefixtures("made_up")
def test_respond_and_frontier_show_them(tmp_path: Path) -> None:
    words = ("uniform", "--game", "tavern", "-n", "20", "--player")
    facts = json.loads(typed(tmp_path, "respond", *words, "2", "--json").stdout)
    assert (facts["responder"], facts["unit"]) == ("player 2 (guest)", "mugs per evening")
    text = typed(tmp_path, "frontier", *words, "1", "--ps", "0,1", "--max-exploitability", "9")
    assert text.stdout.splitlines()[-2].endswith(" mugs per evening.")


@pytest.mark.usefixtures("made_up")
def test_solve_shows_the_seat(tmp_path: Path) -> None:
    assert "value to host = " in typed(tmp_path, "solve", "tavern", "-n", "20").stdout


@pytest.mark.usefixtures("made_up")
def test_what_a_game_cannot_do_is_refused(tmp_path: Path) -> None:
    done = typed(tmp_path, "evaluate", "uniform", "--game", "vast")
    assert done.code == 2
    play = "counterplay match uniform uniform --game vast"
    assert f"too large to evaluate exactly; play it: {play}" in done.stderr
    assert typed(tmp_path, *play.split()[1:], "-n", "50").code == 0  # works as printed
    done = typed(tmp_path, "solve", "vast", "-a", "cfr+")
    assert done.code == 2
    assert "vast is too large for" in done.stderr
    done = typed(tmp_path, "solve", "vast", "-a", "mccfr", "-n", "20", "--out", "run")
    assert done.code == 0
    assert "exploitability" not in done.stdout
    assert "always-call" not in done.stdout  # there are no bots


def test_a_seat_of_holdem_is_named() -> None:
    from counterplay.app.cli.display import seat_text

    assert seat_text(cp.load("holdem(buckets=10)"), 1) == "player 2's seat (big blind)"
    assert seat_text(cp.load("kuhn"), 1) == "player 2's seat"
