"""Boards show a player what it knows and nothing else, for every game with a board of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterplay.app.web.play.tree_games import GameBoard, History, board_of
from counterplay.app.web.strategies import offered_games
from counterplay.core.forms.registry import GAMES, load
from counterplay.core.forms.rules import CHANCE

SMALL = ("kuhn", "ocp(4)", "leduc", "bluff(1,1,3)", "bluff(2,1,2)", "goofspiel(3)", "pam(2,2,4)")


def _histories(game: Any, most: int) -> list[list[int]]:
    """Children of every history, at most so many, breadth first and evenly."""
    result, level = [], [list[int]()]
    while level:
        result += level
        below = []
        for children in level:
            history = History(game, children)
            if not history.over:
                below += [[*children, k] for k in range(history.n_children)]
        step = max(1, len(below) // most)
        level = below[::step]
    return result


def test_every_game_of_two_players_has_a_board_of_its_own() -> None:
    offered = {game["word"] for game in offered_games()}
    for word, spec in GAMES.items():
        game = load(spec.examples[0])
        assert (word in offered) == (game.capabilities.listed or game.can("bots")), word
        if word in offered - {"holdem"}:
            assert type(board_of(game)) is not GameBoard, word


@pytest.mark.parametrize("name", SMALL)
def test_what_a_player_sees_follows_from_his_information_set(name: str) -> None:
    """Histories of one information set look the same: nothing hidden is shown."""
    game = load(name)
    board, observed = board_of(game), dict[int, str]()
    for children in _histories(game, 400):
        history = History(game, children)
        if history.over or history.player == CHANCE:
            continue
        shown = json.dumps(
            [board.view(history, history.player), board.choices(history)], sort_keys=True
        )
        assert observed.setdefault(history.infoset, shown) == shown
        assert len(board.choices(history)) == history.n_children
        assert all(choice.label for choice in board.choices(history))
    assert len(observed) > 5


@pytest.mark.parametrize("name", SMALL)
def test_keys_are_different_and_every_end_can_be_told(name: str) -> None:
    game = load(name)
    board = board_of(game)
    assert len(board.rules) == 3
    for children in _histories(game, 60):
        history = History(game, children)
        if history.over:
            for seat in (0, 1):
                assert json.dumps(board.view(history, seat))
                assert board.held_text(history, seat)
        elif history.player != CHANCE:
            keys = [choice.key for choice in board.choices(history) if choice.key]
            assert len(set(keys)) == len(keys)
            for k in range(history.n_children):
                assert board.move_text(history, k)


def test_folded_cards_stay_hidden_and_shown_ones_do_not() -> None:
    game = load("kuhn")
    board = board_of(game)
    folded = History(game, [0, 1, 0])  # bet, fold
    called = History(game, [0, 1, 1])
    assert board.view(folded, 0)["other"] is None
    assert board.view(called, 0)["other"] is not None


def test_a_history_is_where_the_tree_is() -> None:
    for name in SMALL:
        game = load(name)
        for children in _histories(game, 40):
            history = History(game, children)
            if history.over:
                assert history.payoff(0) == pytest.approx(-history.payoff(1))
    assert History(load("kuhn")).player == CHANCE
