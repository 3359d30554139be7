"""A game says what it can do, in which unit it pays and how its seats are called; no code asks of
what class it is."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import counterplay as cp
from counterplay.core.base.errors import BadGame, BadParameter, BadStrategy
from counterplay.core.forms.capabilities import SAMPLING_ONLY, Capabilities, Unit
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.kuhn import Kuhn

SOURCE = Path(__file__).parents[3] / "src" / "counterplay"


def game(**said: Any) -> Game:
    """Kuhn poker that says more of itself."""
    rules = Kuhn()
    for name, value in said.items():
        setattr(rules, name, value)
    return Game("mine", rules)


def test_what_a_game_says_by_itself() -> None:
    plain = game()
    assert plain.capabilities == Capabilities()
    assert plain.has_tree
    assert (str(plain.unit), plain.unit.in_full) == ("per game", "payoff per game")
    assert plain.seats == ("player 1", "player 2")
    assert plain.seat(1) == "player 2"
    assert cp.load("kuhn(players=3)").seats[2] == "player 3"


def test_what_holdem_says() -> None:
    """Without its tables."""
    holdem = cp.load("holdem(buckets=10)")
    assert not holdem.has_tree
    assert not holdem.measurable
    words = frozenset({"boards", "bots", "hands", "grid"})
    assert holdem.capabilities == Capabilities(False, False, False, also=words)
    assert [holdem.can(word) for word in ("bots", "pictures")] == [True, False]
    assert not cp.load("kuhn").can("bots")
    assert (str(holdem.unit), holdem.unit.in_full) == ("sb/h", "small bets per hand")
    assert holdem.seat(0) == "player 1 (dealer)"


class Form:
    """Rules that make their own form and say nothing else."""

    n_players, zero_sum, depth = 2, True, 1

    def form(self) -> Any:
        raise NotImplementedError

    def labels(self) -> tuple[list[str], list[str]]:
        return [], []

    def key(self) -> bytes:
        return b""


def test_a_form_of_its_own_can_be_sampled_and_no_more() -> None:
    sampled = Game("form", Form())
    assert sampled.capabilities == SAMPLING_ONLY
    with pytest.raises(BadGame, match=r"can be sampled.* but not listed"):
        sampled.tree  # noqa: B018
    rules = Form()
    rules.capabilities = Capabilities()  # type: ignore[attr-defined]
    with pytest.raises(BadGame, match="cannot be listed"):
        Game("form", rules)


@pytest.mark.parametrize(
    "said",
    [
        {"capabilities": "all"},
        {"capabilities": Capabilities(listed=False)},
        {"unit": "chips per round"},
        {"unit": ("chips", 1)},
        {"unit": ("chips", "")},
        {"unit": ("a", "b", "c", "d")},
        {"seats": ("one",)},
        {"seats": ("one", "one")},
        {"seats": ("one", "")},
        {"seats": "ab"},
        {"seats": (1, 2)},
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(BadGame, match=r"^mine: .*(abilities|unit|seats|tree)"):
        game(**said)


def test_units_and_seats_are_read_off_the_rules() -> None:
    mine = game(unit=("chips", "round"), seats=["north", "south"])
    assert mine.unit == Unit("chips", "round")
    assert (str(mine.unit), mine.unit.in_full) == ("chips per round", "chips per round")
    assert mine.seat(1) == "player 2 (south)"


# --- each ability, refused where it is missing


def test_full_width() -> None:
    mine = game(capabilities=Capabilities(full_width=False))
    with pytest.raises(BadGame, match="mine is too large for"):
        cp.solve(mine, "cfr+", iterations=1)
    model = Strategy.uniform(mine)
    with pytest.raises(BadGame, match="mine is too large for"):
        cp.respond(mine, model, 0, 0.5, "rnr", iterations=1)
    assert cp.solve(mine, "mccfr", iterations=1).iterations == 1


def test_exact(tmp_path: Path) -> None:
    mine = game(capabilities=Capabilities(exact=False))
    model = Strategy.uniform(mine)
    assert not mine.measurable
    with pytest.raises(BadParameter, match="cannot be measured, so no target"):
        cp.solve(mine, "cfr+", target=0.1)
    with pytest.raises(BadParameter, match="cannot be measured yet"):
        cp.frontier(mine, model, [0.5], iterations=1)
    with pytest.raises(BadParameter, match="cannot be measured yet"):
        cp.respond(mine, model, max_exploitability=0.1, iterations=1)
    run = tmp_path / "run"
    response = cp.respond(mine, model, 0, 0.5, iterations=3, folder=run)
    assert [value != value for value in (response.payoff, response.exploitability)] == [True, True]
    with pytest.raises(BadParameter, match="no target"):  # and does not run for ever
        cp.resume_response(run, target=0.1, game=mine)


def test_bots() -> None:
    from counterplay.poker.adaptive.response import ResponseLearner
    from counterplay.poker.bots.table import strategy_bot

    mine = game()
    with pytest.raises(BadStrategy, match="cannot play hold'em"):
        strategy_bot(Strategy.uniform(mine))
    with pytest.raises(BadParameter, match="learning while playing is for hold'em"):
        ResponseLearner(mine)


def test_hands(tmp_path: Path) -> None:
    from counterplay.poker.models.observe import Observations, buckets_of

    mine = game()
    even = Strategy.uniform(mine)
    with pytest.raises(BadParameter, match="only hands of hold'em can be logged"):
        cp.play_match(mine, even, even, 10, log=tmp_path / "hands.parquet")
    with pytest.raises(BadParameter, match="models of hands are for hold'em"):
        buckets_of(Observations(*[None] * 5), mine)  # type: ignore[list-item]


def test_grid() -> None:
    from counterplay.poker.holdem.grid import preflop_grid

    with pytest.raises(BadParameter, match="the grid of starting hands is for hold'em"):
        preflop_grid(Strategy.uniform(game()))


# --- texts


def test_the_curve_and_its_refusal_name_the_unit(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from counterplay.core.responses.frontier import draw

    mine = game(unit=("chips", "round"))
    model = Strategy.uniform(mine)
    curve = cp.frontier(mine, model, [0.0, 1.0], iterations=20)
    axis = Figure().add_subplot()
    draw(axis, curve, "the model", 0)
    assert axis.get_xlabel() == "exploitability (chips per round at risk)"
    assert axis.get_ylabel() == "exploitation (chips per round won)"
    with pytest.raises(BadParameter, match=r"risks [\d.]+ chips per round, more than 0.0004;"):
        cp.respond(mine, model, max_exploitability=1e-9, iterations=3)


def test_holdem_could_lack_any_of_its_abilities() -> None:
    """They are asked one by one: rules without `grid` have no picture, whatever their class."""
    from counterplay.poker.abstraction.ehs import EhsAbstraction
    from counterplay.poker.holdem.game import HoldemRules
    from counterplay.poker.holdem.grid import preflop_grid

    rules: Any = HoldemRules(EhsAbstraction((1, 1, 1, 1), "equal-width"))
    rules.capabilities = replace(rules.capabilities, also=frozenset({"bots"}))
    blind: Any = SimpleNamespace(game=Game("holdem(buckets=1)", rules))  # needs no tables
    with pytest.raises(BadParameter, match="the grid of starting hands"):
        preflop_grid(blind)


# --- no code asks otherwise


def test_no_code_asks_of_what_class_a_game_is() -> None:
    """Outside `core/forms/`, which makes games: no `has_tree`, no isinstance of rules."""
    branches = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.parent.name == "forms":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = isinstance(node, ast.Attribute) and node.attr == "has_tree"
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                asks = "Rules" in ast.unparse(node.args[1])
            if asks:
                branches.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert not branches
