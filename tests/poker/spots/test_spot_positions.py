"""Positions of whole hold'em as spots, solved again."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import CounterplayError
from counterplay.poker.bots.bot import view
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.players import find_strategy
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.positions import HoldemPosition, _Gadget, hold_position, resolve

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


def test_safe_resolving_leaks_nothing_and_unsafe_does() -> None:
    position = narrowed()
    found = resolve(position, iterations=150, percent=0.2)
    assert found.leak["blueprint"] == (0.0, 0.0)
    assert found.exploitability["unsafe"] <= 0.002 * 8
    assert found.exploitability["safe"] < found.exploitability["blueprint"]
    assert found.leak["unsafe"][0] > 0.01
    assert max(found.leak["safe"]) < 0.05 * found.leak["unsafe"][0]


def test_alternatives_are_best_responses() -> None:
    """Weighted by the range they are the value of a best response in the spot."""
    position = narrowed()
    layout = position.game.rules.layout
    for player in (0, 1):
        gadget = _Gadget(position, player)
        side = layout.sides[1 - player]
        held = np.isin(gadget._layout.sides[1 - player].holding, side.holding)
        mean = gadget._alternative[held] @ side.weight / layout.total_weight
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
