"""What the adaptive player says of its opponent is true, and the leak is named: opponents with one
known leak, whose strategy is a table, so that the true frequencies are known."""

from __future__ import annotations

import numpy as np
import pytest
from support.arena import holdem

import counterplay as cp
from counterplay.poker.adaptive.belief import N_SPOTS, OPENING, spot_of
from counterplay.poker.adaptive.field import CALL, FOLD, RAISE, type_strategy
from counterplay.poker.adaptive.player import ending_of
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots
from counterplay.poker.models.predict import Predictor


def played(safe: cp.Strategy, truth: cp.Strategy, hands: int) -> cp.Adaptive:
    """A player that knows nobody, after so many hands."""
    me = cp.Adaptive(portfolio=cp.Portfolio(safe.game, safe, ()), iterations=1_000)
    foe = strategy_bot(truth)
    start_bots((me, foe), (1, 2))
    play_hands((me, foe), session_deals(3, 0, hands, hands))
    return me


def check(me: cp.Adaptive, truth: cp.Strategy, street: int, action: int, more: bool) -> None:
    """The leak is named, and the true frequency lies in every interval that is stated."""
    findings = me.tracker.findings()
    streets = [0 if one.group == OPENING else one.group // 4 for one in findings]
    assert any(
        (where, one.action, one.share > one.expected) == (street, action, more)
        for where, one in zip(streets, findings, strict=True)
    )
    spots, predictor = spot_of(truth.game.rules.tree), Predictor(truth.game, [truth])
    shares, n = np.zeros((N_SPOTS, 3)), np.zeros(N_SPOTS)
    for record in me.memory:
        line, predicted, _ = predictor.predict(ending_of(record))
        np.add.at(n, spots[line.node], 1.0)
        np.add.at(shares, spots[line.node], predicted[:, :, 0])
    for one in findings:
        assert abs(one.share - shares[one.group, one.action] / n[one.group]) <= one.half


def test_a_leak_is_named_and_what_is_said_is_true() -> None:
    safe = simple_strategy("uniform", holdem(3))
    truth = type_strategy(safe, "too-loose", 0.9)
    check(played(safe, truth, 300), truth, 0, FOLD, False)


@pytest.mark.slow  # an equilibrium is trained
@pytest.mark.parametrize(
    ("name", "street", "action", "more"),
    [
        ("folds-the-river", 3, FOLD, True),
        ("too-tight", 0, FOLD, True),
        ("calling-station", 1, FOLD, False),
        ("maniac", 1, RAISE, True),
        ("passive", 0, CALL, True),
    ],
)
def test_leaks_of_an_equilibrium(name: str, street: int, action: int, more: bool) -> None:
    safe = cp.solve(holdem(), "mccfr-external", iterations=400_000, seed=1).strategy
    truth = type_strategy(safe, name, 0.85)
    check(played(safe, truth, 1_000), truth, street, action, more)
