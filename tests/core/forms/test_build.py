"""Building: a user's own game, rules that break the contract, and games that do not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.lp import lp_value

from counterplay.core.base.errors import BadGame, BadParameter, TooLarge
from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.bluff import Bluff
from counterplay.core.games.goofspiel import Goofspiel


@dataclass(frozen=True, eq=False)
class Spot:
    """A state written down with everything below it."""

    who: Any = TERMINAL
    below: dict[str, Spot] = field(default_factory=dict)
    knows: Any = "?"
    odds: Any = ()
    gain: Any = (0.0, 0.0)

    def player(self) -> Any:
        return self.who

    def actions(self) -> list[str]:
        return list(self.below)

    def child(self, action: str) -> Spot:
        return self.below[action]

    def infoset(self) -> Any:
        return self.knows

    def chance(self) -> Any:
        return self.odds

    def payoffs(self) -> Any:
        return self.gain


@dataclass(frozen=True)
class Rules:
    start: Spot
    n_players: Any = 2

    def root(self) -> Spot:
        return self.start


def game_of(start: Spot, n_players: int = 2) -> Game:
    return Game("mine", Rules(start, n_players))


def end(gain: float) -> Spot:
    return Spot(gain=(gain, -gain))


def coin(heads: float) -> Spot:
    """Player 1 sees a biased coin and says hello or bye; after hello player 2 guesses it without
    having seen it."""

    def seen(side: str) -> Spot:
        guess = {
            "heads": end(-1.0 if side == "heads" else 1.0),
            "tails": end(-1.0 if side == "tails" else 1.0),
        }
        return Spot(0, {"hello": Spot(1, guess, "guess"), "bye": end(0.0)}, side)

    return Spot(CHANCE, {"heads": seen("heads"), "tails": seen("tails")}, odds=(heads, 1 - heads))


# ---
# A game of one's own
# ---


def test_own_game() -> None:
    game = game_of(coin(0.25))
    assert (game.n_nodes, game.n_infosets, game.n_slots, game.depth) == (
        1 + 2 + 2 * 2 + 2 * 2,
        3,
        6,
        3,
    )
    assert game.zero_sum
    assert game.perfect_recall
    assert game.labels.infoset == ["heads", "tails", "guess"]
    np.testing.assert_allclose(game.tree.chance_probability, [0.25, 0.75])
    always = Strategy.from_table(
        game, {"heads": {"hello": 1.0}, "tails": {"hello": 1.0}, "guess": {"tails": 1.0}}
    )
    np.testing.assert_allclose(expected_value(game, always), [-0.5, 0.5], atol=1e-12)
    # Against "tails" player 1 says hello with heads only; against hello throughout player 2 does
    # best with tails.
    assert exploitability(game, always) == pytest.approx(0.25 + 0.5, abs=1e-12)
    assert lp_value(game) == pytest.approx(0.0, abs=1e-9)


def test_absent_minded_driver() -> None:
    """Piccione and Rubinstein 1997: the driver cannot tell the exits apart; going on with 2/3 is
    best and gives 4/3."""
    second = Spot(0, {"exit": Spot(gain=(4.0,)), "go on": Spot(gain=(1.0,))}, "road")
    game = game_of(Spot(0, {"exit": Spot(gain=(0.0,)), "go on": second}, "road"), n_players=1)
    assert game.n_infosets == 1
    assert not game.perfect_recall
    strategy = Strategy.from_table(game, {"road": {"exit": 1 / 3, "go on": 2 / 3}})
    assert expected_value(game, strategy)[0] == pytest.approx(4 / 3, abs=1e-12)
    with pytest.raises(BadParameter, match="recall"):
        best_response(game, strategy, 0)


def test_imperfect_recall_is_refused_where_it_matters() -> None:
    """Player 1 hides a coin, forgets where, and must find it before player 2 does."""

    def look(hidden: str) -> Spot:
        def second(mine: str, other: str) -> Spot:
            return end(float(mine == hidden) - float(other == hidden))

        mine = {
            side: Spot(1, {o: second(side, o) for o in ("left", "right")}, "search")
            for side in ("left", "right")
        }
        return Spot(0, mine, "where was it")

    game = game_of(Spot(0, {side: look(side) for side in ("left", "right")}, "hide"))
    with pytest.raises(BadGame, match=r"no perfect recall: information set 'where was it' is"):
        _ = game.sequence_form
    assert not game.perfect_recall
    assert (game.n_nodes, game.n_infosets) == (1 + 2 + 4 + 8, 3)
    uniform = Strategy.uniform(game)
    np.testing.assert_allclose(expected_value(game, uniform), [0.0, 0.0], atol=1e-12)
    with pytest.raises(BadParameter, match="recall"):
        exploitability(game, uniform)


def test_sequence_form_is_for_two() -> None:
    with pytest.raises(BadParameter, match="two players"):
        _ = load("kuhn(players=3)").sequence_form


# ---
# Rules that break the contract
# ---

LEAF = end(1.0)
CHOICE = Spot(0, {"a": LEAF, "b": LEAF}, "x")
BROKEN = [
    (Spot(0, {}, "x"), "no actions"),
    (Spot(CHANCE, {}), "no actions"),
    (Spot(CHANCE, {"a": CHOICE, "b": CHOICE}, odds=(0.5, 0.4)), r"sum to 0\.9"),
    (Spot(CHANCE, {"a": CHOICE, "b": CHOICE}, odds=(1.5, -0.5)), "negative"),
    (Spot(CHANCE, {"a": CHOICE, "b": CHOICE}, odds=(0.5, np.nan)), "chance"),
    (Spot(CHANCE, {"a": CHOICE, "b": CHOICE}, odds=(1.0,)), "one probability for each of 2"),
    (Spot(0, {"a": Spot(gain=(1.0,)), "b": LEAF}, "x"), "2 finite numbers"),
    (Spot(0, {"a": Spot(gain=(1.0, 2.0, 3.0)), "b": LEAF}, "x"), "2 finite numbers"),
    (Spot(0, {"a": Spot(gain=(np.inf, 0.0)), "b": LEAF}, "x"), "2 finite numbers"),
    (
        Spot(CHANCE, {"l": CHOICE, "r": Spot(0, {"a": LEAF, "c": LEAF}, "x")}, odds=(0.5, 0.5)),
        "'x' of player 1 has actions",
    ),
    (
        Spot(CHANCE, {"l": CHOICE, "r": Spot(0, {"a": LEAF}, "x")}, odds=(0.5, 0.5)),
        "'x' of player 1 has actions",
    ),
    (Spot(2, {"a": LEAF}, "x"), r"player\(\) gave 2"),
    (Spot(-3, {"a": LEAF}, "x"), r"player\(\) gave -3"),
    (LEAF, "no player ever acts"),
]


@pytest.mark.parametrize(("start", "message"), BROKEN)
def test_broken_rules(start: Spot, message: str) -> None:
    with pytest.raises(BadGame, match=message):
        _ = game_of(start).tree


@pytest.mark.parametrize("rules", [None, 3, "kuhn", object(), Spot()])
def test_what_is_no_rules(rules: object) -> None:
    with pytest.raises(BadGame, match="root"):
        Game("mine", rules)


@pytest.mark.parametrize("n_players", [0, 11, 2.0, "2", None])
def test_number_of_players(n_players: object) -> None:
    with pytest.raises(BadGame, match="n_players"):
        Game("mine", Rules(coin(0.5), n_players))


@pytest.mark.parametrize(("by", "given"), [(1, "139"), (-2, "138 and more")])
def test_compiled_rules_that_miscount(by: int, given: str) -> None:
    class Miscounted(Goofspiel):
        def count_nodes(self) -> int:
            return super().count_nodes() + by

    with pytest.raises(BadGame, match=f"promised {139 + by} nodes and the rules gave {given}$"):
        _ = Game("mine", Miscounted(3)).tree


def test_compiled_rules_with_uneven_information_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(Bluff):
        @staticmethod
        def key(c: Any, state: Any, known: Any) -> None:
            known[0] = 0

    monkeypatch.setattr("counterplay.core.forms.checks.quick_check", lambda *_: None)
    with pytest.raises(BadGame, match=r"different numbers of actions, after chance 0, player 1"):
        _ = Game("mine", Blind(1, 1, 2)).tree


def test_compiled_rules_whose_payoff_is_in_no_table() -> None:
    class Paid(Goofspiel):
        payoff_table = ((0, 0), (1, -1))

    with pytest.raises(BadGame, match="not in payoff_table"):
        _ = Game("mine", Paid(3)).tree


# ---
# Too large
# ---


@pytest.mark.parametrize(
    ("name", "limit"),
    [("goofspiel(12,tree=True)", None), ("ocp(15000)", None), ("ocp(100)", "0.001")],
)
def test_too_large_is_refused_before_building(
    name: str, limit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit is not None:
        monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", limit)
    game = load(name)
    monkeypatch.setattr(
        "counterplay.core.forms.expand.expand_histories", lambda *_: pytest.fail("building began")
    )
    with pytest.raises(TooLarge, match=r"smaller game"):
        _ = game.tree


def test_states_stop_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game without end is noticed too."""

    class Endless(Spot):
        def child(self, action: str) -> Endless:
            return Endless(0, {"on": LEAF, "and": LEAF}, self.knows + 1)

    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.001")
    for game in (load("kuhn(players=4)"), game_of(Endless(0, {"on": LEAF}, 0))):
        with pytest.raises(TooLarge, match="COUNTERPLAY_MEMORY_GB"):
            _ = game.tree


def test_enough_memory_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("0.01", "inf"):
        monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", limit)
        assert load("ocp(100)").n_nodes == 89101


@pytest.mark.parametrize("limit", ["much", "nan", "1 GB"])
def test_limit_must_be_a_number(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", limit)
    with pytest.raises(BadParameter, match="COUNTERPLAY_MEMORY_GB"):
        _ = load("ocp(4)").tree
