"""The game and the strategies of matches."""

from __future__ import annotations

import pytest
from support.arena import holdem, strategy

import counterplay as cp


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return holdem()


@pytest.fixture(scope="module")
def random10() -> cp.Strategy:
    return strategy(1)


@pytest.fixture(scope="module")
def random100() -> cp.Strategy:
    return strategy(2, 100)
