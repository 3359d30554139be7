"""What responds when nobody names an algorithm or an engine."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.core.responses.algorithms import RESPONSES, default_engine, default_response


@pytest.mark.parametrize(
    ("name", "response", "engine", "sampled"),
    [
        ("kuhn", "rnr", "cfr+", "mccfr"),
        ("holdem(buckets=10)", "mcrnr", "mccfr-external", "mccfr-external"),
        ("holdem(buckets=100)", "mcrnr", "mccfr-public", "mccfr-public"),
    ],
)
def test_by_the_game(name: str, response: str, engine: str, sampled: str) -> None:
    game = cp.load(name)
    assert default_response(game) == response
    assert default_engine(game, RESPONSES[response]) == engine
    assert default_engine(game, RESPONSES["mcdbr"]) == sampled


def test_respond_takes_them_and_says_so() -> None:
    game = cp.load("kuhn")
    found = cp.respond(game, cp.Strategy.uniform(game), iterations=2)
    assert (found.algorithm, found.engine) == ("rnr", "cfr+")
