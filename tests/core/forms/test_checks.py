"""Errors in compiled rules are reported with the history that leads there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.compiled import Auction

import counterplay as cp
from counterplay.core.forms.expand import expand_rules
from counterplay.core.solvers.algorithms import new_solver


class Forgets(Auction):
    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        known[0] = state[1 + state[3] % 2] * 5 + state[3]


class FewerActions(Auction):
    @staticmethod
    def actions(c: Any, state: Any) -> int:
        return 3 if state[0] < 2 or state[1] == 0 else 2


class Biased(Auction):
    @staticmethod
    def chance(c: Any, state: Any, action: int) -> float:
        return 0.3


class CallsTooFar(Auction):
    @staticmethod
    def passive(c: Any, state: Any) -> int:
        return 2


class NotANumber(Auction):
    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = float("nan") if state[4] == 12 else 0.0


class NotZeroSum(Auction):
    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = 1.0


class Outside(Auction):
    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        Auction.apply(c, state, action)
        if state[4] > 2:
            state[3 + state[4]] = 1


class Overflows(Auction):
    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        Auction.apply(c, state, action)
        state[4] = state[4] * 2**40


class LargeKey(Auction):
    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        Auction.key(c, state, known)
        known[0] += 2**60 * (state[3] == 2)


class Fraction(Auction):
    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        Auction.apply(c, state, action)
        state[4] = state[4] / 2


class NoPlayer(Auction):
    @staticmethod
    def player(c: Any, state: Any) -> int:
        player = Auction.player(c, state)
        return 7 if state[3] == 2 and player >= 0 else player


class Long(Auction):
    depth = 3


class Narrow(Auction):
    max_actions = 2


WRONG = {
    Forgets: "forgets earlier actions",
    FewerActions: "has 3 actions after .*, and 2 after",
    Biased: "sum to 0.9",
    NotANumber: "not all numbers",
    NotZeroSum: "do not sum to zero",
    Outside: "apply.. failed",
    Overflows: "does not fit into 64 bits",
    LargeKey: "not from 0 to 2",
    Fraction: "no whole number",
    NoPlayer: "player.. gave 7",
    Long: "more decisions than `depth`, 3",
    Narrow: "gave 3, and max_actions is 2",
    CallsTooFar: "passive.. gave 2, and there are 2 actions",
}


@pytest.mark.parametrize("rules", WRONG)
def test_mistakes_are_named_with_their_history(rules: type) -> None:
    game = cp.Game("auction", rules())
    with pytest.raises(cp.CounterplayError, match=WRONG[rules]) as error:
        cp.check(game)
    assert "at the start" in str(error.value) or "after chance" in str(error.value)
    with pytest.raises(cp.CounterplayError, match=WRONG[rules]):
        new_solver(game, "mccfr", 0, {})  # nothing is compiled that would write outside


def test_rules_that_are_in_order() -> None:
    report = cp.check(cp.Game("auction", Auction()))
    assert report.every_history
    assert report.histories == 135
    assert "exact" in str(report)
    assert cp.check("kuhn").information_sets == 12
    with pytest.raises(cp.CounterplayError, match="neither a tree"):
        cp.check("holdem(buckets=10)")


class Doubled(Auction):
    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        stake = (1.0 + state[4]) * (1.0 + (state[4] == 12))
        payoff[0] = stake * ((state[1] > state[2]) - (state[1] < state[2]))
        payoff[1] = -payoff[0]


@pytest.mark.parametrize("rules", [Doubled, Biased, Forgets])
def test_rules_that_differ_from_the_tree(rules: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of other rules is noticed: another payoff, other chances, another key."""
    game = cp.Game("auction", Auction(), tree=True)
    assert game.has_tree
    assert cp.check(game).with_tree
    monkeypatch.setattr("counterplay.core.forms.checks.quick_check", lambda *_: None)
    other = expand_rules(Auction(), "auction")
    if rules is Biased:
        shares = np.full_like(other.tree.chance_probability, 0.3)
        other = other._replace(tree=other.tree._replace(chance_probability=shares))
    else:
        other = expand_rules(rules(), "auction")
    monkeypatch.setattr(game, "expanded", other)
    with pytest.raises(cp.CounterplayError, match=r"the tree differs, (at the start|after chance)"):
        cp.check(game)


@pytest.mark.parametrize("rules", [Biased, NotANumber, Narrow, CallsTooFar])
def test_a_tree_of_rules_with_a_mistake_is_not_built(
    rules: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where no history of the check showed it."""
    monkeypatch.setattr("counterplay.core.forms.checks.quick_check", lambda *_: None)
    with pytest.raises(cp.CounterplayError, match=r"chance|payoff|max_actions|passive"):
        _ = cp.Game("auction", rules(), tree=True).tree


@pytest.mark.parametrize(
    ("field", "value"),
    [("depth", 0), ("state_size", None), ("known_size", 1.5), ("constants", ("a",))],
)
def test_sizes_are_checked(field: str, value: Any) -> None:
    rules = Auction()
    setattr(rules, field, value)
    with pytest.raises(cp.CounterplayError, match=field):
        cp.check(cp.Game("auction", rules))


def test_a_kernel_that_meets_a_mistake_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that no history of the check showed."""
    monkeypatch.setattr("counterplay.core.forms.checks.quick_check", lambda *_: None)
    solver = new_solver(cp.Game("auction", Long()), "mccfr", 0, {})
    with pytest.raises(cp.CounterplayError, match="depth"):
        solver.step(5_000)
