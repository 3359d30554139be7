"""Restricted Nash responses to uniform play, number by number.

The tables were computed by a linear program of their own, outside this package, and are rounded to
six digits; Kuhn's are fractions. V: value of the restricted game to the responder; ex: payoff
against the model; wc: payoff against the worst opponent.
"""

from __future__ import annotations

import pytest

import counterplay as cp

SIXTH = 1e-6

#: (game, responder): p -> V
VALUES = {
    ("kuhn", 0): {
        0.0: -0.055556,
        0.25: 0.013889,
        0.5: 0.138889,
        0.7: 0.25,
        0.75: 0.291667,
        0.8: 0.333333,
        0.9: 0.416667,
        0.93: 0.441667,
        0.97: 0.475,
        0.99: 0.491667,
        1.0: 0.5,
    },
    ("kuhn", 1): {
        0.0: 0.055556,
        0.25: 0.083333,
        0.5: 0.138889,
        0.7: 0.219444,
        0.75: 0.243056,
        0.8: 0.266667,
        0.9: 0.341667,
        0.93: 0.364167,
        0.97: 0.394167,
        0.99: 0.409167,
        1.0: 0.416667,
    },
    ("bluff(1,1,3)", 0): {
        0.0: 0.111111,
        0.25: 0.231481,
        0.5: 0.351852,
        0.75: 0.472222,
        0.9: 0.544444,
        1.0: 0.592593,
    },
    ("bluff(1,1,3)", 1): {
        0.0: -0.111111,
        0.25: 0.046296,
        0.5: 0.203704,
        0.75: 0.361111,
        0.9: 0.455556,
        1.0: 0.518519,
    },
    ("goofspiel(4)", 0): {
        0.0: 0.0,
        0.25: 0.166667,
        0.5: 0.333333,
        0.75: 0.5,
        0.8: 0.533333,
        0.9: 0.604167,
        0.97: 0.677083,
        1.0: 0.708333,
    },
}
VALUES["goofspiel(4)", 1] = VALUES["goofspiel(4)", 0]

#: Kuhn, (responder, p) -> (ex, wc), at values of p between break points, where both are unique.
CORNERS = {
    (0, 0.25): (0.388889, -0.111111),
    (0, 0.5): (0.388889, -0.111111),
    (0, 0.7): (0.5, -0.333333),
    (1, 0.25): (0.166667, 0.055556),
    (1, 0.5): (0.333333, -0.055556),
    (1, 0.7): (0.361111, -0.111111),
    (1, 0.8): (0.416667, -0.333333),
}


@pytest.mark.parametrize(
    ("name", "player", "p"), [(*key, p) for key, row in VALUES.items() for p in row]
)
def test_value(name: str, player: int, p: float) -> None:
    game = cp.load(name)
    response = cp.respond(game, cp.Strategy.uniform(game), player, p, engine="lp")
    expected = VALUES[name, player][p]
    assert response.runs[0]._solver.values[player] == pytest.approx(expected, abs=SIXTH)
    assert p * response.payoff + (1.0 - p) * response.worst_case == pytest.approx(
        expected, abs=SIXTH
    )


@pytest.mark.parametrize(("player", "p"), CORNERS)
def test_corners_of_kuhn(player: int, p: float) -> None:
    game = cp.load("kuhn")
    response = cp.respond(game, cp.Strategy.uniform(game), player, p, engine="lp")
    assert (response.payoff, response.worst_case) == pytest.approx(CORNERS[player, p], abs=SIXTH)


@pytest.mark.parametrize("p", VALUES["bluff(1,1,3)", 0])
def test_bluff_by_information_set(p: float) -> None:
    """The first player's column holds for data-biased responses with constant p too."""
    game = cp.load("bluff(1,1,3)")
    response = cp.respond(game, cp.Strategy.uniform(game), 0, p, "dbr", engine="lp")
    assert response.runs[0]._solver.values[0] == pytest.approx(
        VALUES["bluff(1,1,3)", 0][p], abs=SIXTH
    )
