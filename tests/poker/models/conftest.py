"""The game that models are learnt for."""

from __future__ import annotations

import pytest
from support.holdem import NAME

import counterplay as cp


@pytest.fixture(scope="package")
def game() -> cp.Game:
    return cp.load(NAME)
