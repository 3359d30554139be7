"""Positions of whole hold'em as spots, solved again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import CounterplayError, TooLarge
from counterplay.core.games.locks import locked
from counterplay.poker.bots.bot import view
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.players import find_strategy
from counterplay.poker.spots.gadgets import ENTRIES, Gadget
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.parts import part_of
from counterplay.poker.spots.positions import HoldemPosition, hold_position, resolve
from tests.support.spots import RiverOf

RIVER = "QsJh2c5d8s"


def narrowed() -> HoldemPosition:
    """The equilibrium of wide ranges as the blueprint of a narrow one: a player who never comes
    with most holdings, and is answered as if it might."""
    options = {"stacks": None, "bets": 2, "limit": True, "cap": 2, "symmetric": False}
    wide = spot(RIVER, 8, ranges=("22+,A2s+,T2o+", "22+,KTo+,75s+"), **options)
    game = spot(RIVER, 8, ranges=("22+,A2s+,T2o+", "88,75s+:0.5"), **options)
    strategy = cp.solve(wide, iterations=60).strategy
    one = wide.rules.layout.table(0, strategy.probabilities, np.float64)
    two = wide.rules.layout.table(1, strategy.probabilities, np.float64)
    every = wide.rules.layout.sides[1].holding
    kept = np.isin(every, game.rules.layout.sides[1].holding)
    rows = [
        two[where].reshape(shape)[:, :, kept].ravel()
        for _, where, shape in wide.rules.layout.blocks(1)
    ]
    slots = game.rules.layout.slots(one, np.concatenate(rows))
    return HoldemPosition(game, "", cp.Strategy.from_weights(game, slots), (1.0, 1.0))


def gadget_of(position: HoldemPosition, player: int) -> Gadget:
    return Gadget(position.game.rules, player, part_of(position.blueprint, player), 1.0)


def test_safe_resolving_leaks_nothing_and_unsafe_does() -> None:
    position = narrowed()
    found = resolve(position, iterations=150, percent=0.2)
    assert found.leak["blueprint"] == (0.0, 0.0)
    assert found.exploitability["unsafe"] <= 0.002 * 8
    assert found.exploitability["safe"] < found.exploitability["blueprint"]
    assert found.leak["unsafe"][0] > 0.01
    assert max(found.leak["safe"]) < 0.05 * found.leak["unsafe"][0]


def test_safe_resolving_is_safe_in_the_whole_game() -> None:
    """The river of a turn spot, whose strategy always bets its good hands on the turn: against the
    range that is left the unsafe strategy bluffs too much, and good hands that check win by it."""
    ranges = ("22+,A2s+,T2o+", "22+,KTo+,75s+")
    game = spot("QsJh2c5d", 8, 20, ranges, "100", cap=1, symmetric=False)
    good = {"at": "check", "hands": "22+,AQ,KQ", "play": {"bet 8": 1}}
    turn = locked(cp.solve(game, iterations=30).strategy, {"lock": [good]})
    river = RiverOf(turn, "8s")
    found = resolve(river.position, iterations=300, percent=0.2)
    before = cp.best_response(game, turn, 1).value

    def above(name: str) -> float:
        """What player 2 wins more in the whole game by a best response to player 1."""
        whole = river.after(found.strategies[name], 0)
        return float(cp.best_response(game, whole, 1).value) - before

    assert above("blueprint") == pytest.approx(0.0, abs=1e-12)
    assert above("unsafe") > 1e-3
    for name in ("safe", "max-margin"):
        assert above(name) < 0.0
        assert max(found.leak[name]) < 0.01 * found.leak["unsafe"][0]
        assert found.exploitability[name] < found.exploitability["blueprint"]


def test_max_margin_has_the_largest_least_margin() -> None:
    game = narrowed().game
    position = HoldemPosition(game, "", cp.Strategy.uniform(game), (1.0, 1.0))
    gadget = gadget_of(position, 0)
    met = gadget.met()

    def margin(entry: Any) -> float:
        gain = gadget.alternative - gadget.best_values(gadget.solve(400, entry))
        return float((gain[met > 0] / met[met > 0]).min())

    margins = {name: margin(entry) for name, entry in ENTRIES.items()}
    assert margins["max-margin"] > margins["safe"] + 0.05
    assert margins["safe"] > -1e-3


def test_alternatives_are_best_responses() -> None:
    """Weighted by the range they are the value of a best response in the spot."""
    position = narrowed()
    layout = position.game.rules.layout
    for player in (0, 1):
        gadget = gadget_of(position, player)
        side = layout.sides[1 - player]
        held = np.isin(gadget._layout.sides[1 - player].holding, side.holding)
        mean = gadget.alternative[held] @ side.weight / layout.total_weight
        best = cp.best_response(position.game, position.blueprint, 1 - player).value
        assert mean == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
def test_a_position_of_a_shipped_strategy() -> None:
    strategy = find_strategy("safe")
    position = hold_position(strategy, "rc/rc/rc/", RIVER)
    game, bot = position.game, strategy_bot(strategy)
    assert game.rules.pot == 10.0
    histories = {"start": "", "bet 2": "r", "check-bet 2": "cr", "bet 2-raise 4": "rr"}
    for history, letters in histories.items():
        decision = cp.spot_view(position.blueprint, history)
        for hand in decision.holdings[::97]:
            shares = list(bot.shares(view(f"rc/rc/rc/{letters}", hand, RIVER)).values())
            assert list(decision.at(hand).values()) == pytest.approx(shares, abs=1e-9)
    found = resolve(position, iterations=200)
    assert found.exploitability["unsafe"] < found.exploitability["safe"]
    assert found.exploitability["safe"] < found.exploitability["blueprint"]
    assert max(found.leak["safe"]) < 1e-4 < max(found.leak["unsafe"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("betting", "board", "problem"),
    [
        ("rx/", RIVER, "betting: no history 'rx/'"),
        ("rc/r", "QsJh2c", "betting: 'rc/r' is not the beginning"),
        ("", RIVER, "betting: '' is not the beginning"),
        ("rc/", RIVER, "board: 5 cards, and after 'rc/' there are 3"),
        ("rc/rc/rc/", "QsJhQs5d8s", "board: a card stands twice"),
    ],
)
def test_bad_positions_are_one_sentence(betting: str, board: str, problem: str) -> None:
    strategy = cp.Strategy.uniform("holdem(buckets=2)")
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        hold_position(strategy, betting, board)


def test_a_position_is_of_holdem() -> None:
    with pytest.raises(CounterplayError, match="limit hold'em"):
        hold_position(cp.Strategy.uniform("kuhn"), "rc/", "QsJh2c")
    with pytest.raises(CounterplayError, match="position: one of cp"):
        resolve(None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_position_without_room_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = find_strategy("safe")
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.1")
    with pytest.raises(TooLarge, match="solving this position again needs about"):
        hold_position(strategy, "rc/rc/", "QsJh2c5d")
