"""Functions that compiled rules call, and what is said of those that cannot be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from support.compiled import Auction

import counterplay as cp
from counterplay.core.base.errors import BadGame

SIGN = {True: 1, False: -1}


def higher(one: int, two: int) -> int:
    return sign(one - two)


def sign(difference: int) -> int:
    return 0 if difference == 0 else smaller(difference)


def smaller(number: int) -> int:
    """-1 or 1, by calling itself."""
    if number in (-1, 1):
        return number
    return smaller(number - 1) if number > 0 else smaller(number + 1)


class Helped(Auction):
    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = (1.0 + state[4]) * higher(state[1], state[2])
        payoff[1] = -payoff[0]


def closed(helper: Callable[[int], int]) -> type[Auction]:
    """Rules that call a function from outside."""

    class Closed(Auction):
        @staticmethod
        def payoff(c: Any, state: Any, payoff: Any) -> None:
            payoff[0] = (1.0 + state[4]) * helper(state[1] - state[2])
            payoff[1] = -payoff[0]

    return Closed


class ByClass(Auction):
    @staticmethod
    def sign(difference: int) -> int:
        return sign(difference)

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = (1.0 + state[4]) * ByClass.sign(state[1] - state[2])
        payoff[1] = -payoff[0]


class ByTable(Auction):
    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = 1.0 if state[1] == state[2] else SIGN[state[1] > state[2]]
        payoff[1] = -payoff[0]


def test_helpers_are_compiled_with_the_rules() -> None:
    plain = cp.solve(cp.Game("auction", Auction()), "mccfr", iterations=2_000, seed=1).strategy
    for rules in (Helped, closed(sign)):
        helped = cp.solve(cp.Game("auction", rules()), "mccfr", iterations=2_000, seed=1).strategy
        assert np.array_equal(helped.probabilities, plain.probabilities)
        cp.check(cp.Game("auction", rules(), tree=True))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]
@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (ByClass, "payoff() uses the class ByClass"),
        (ByTable, "payoff() uses SIGN, a dict"),
    ],
)
def test_what_cannot_be_compiled_is_named(rules: type[Auction], said: str) -> None:
    with pytest.raises(BadGame) as raised:
        _ = cp.Game("auction", rules()).form
    assert said in str(raised.value)
    assert "\x1b" not in str(raised.value)
