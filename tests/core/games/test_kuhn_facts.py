"""Kuhn poker: the family of equilibria, the dominated actions, and the two errors of Figure 4."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lp import payoff_matrix

from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.exact import expected_value, exploitability
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.kuhn import DOMINATED, kuhn_errors

KUHN = load("kuhn")
TO_OCP = str.maketrans("JQK", "123")

#: Hoehn 2006, seven dominated actions. These five are dominated whatever the other player does ...
DOMINATED_AT_ONCE = {"J pb": "bet", "K pb": "pass", "J b": "bet", "K b": "pass", "K p": "pass"}
#: ... and these two as soon as none of the five is played (a jack might call a bet with a queen
#: before that).
DOMINATED_THEN = {"Q": "bet", "Q p": "bet"}

share = st.floats(0.0, 1.0)
any_weights = st.lists(st.floats(0.01, 1.0), min_size=KUHN.n_slots, max_size=KUHN.n_slots)


def undominated(alpha: float, beta: float, gamma: float, eta: float, xi: float) -> dict[str, float]:
    """Probability of betting at each information set, with no dominated action (symbols of
    Section 2.2)."""
    one = {"J": alpha, "Q": 0.0, "K": gamma, "J pb": 0.0, "Q pb": beta, "K pb": 1.0}
    two = {"J p": eta, "Q p": 0.0, "K p": 1.0, "J b": 0.0, "Q b": xi, "K b": 1.0}
    return one | two


def strategy(bets: dict[str, float]) -> Strategy:
    return Strategy.from_table(
        KUHN, {infoset: {"bet": p, "pass": 1.0 - p} for infoset, p in bets.items()}
    )


def equilibrium(gamma: float) -> dict[str, float]:
    """Section 2.2: (α, β, γ) = (γ/3, (1 + γ)/3, γ) and η = ξ = 1/3."""
    return undominated(gamma / 3, (1 + gamma) / 3, gamma, 1 / 3, 1 / 3)


@given(share)
@settings(deadline=None)
def test_the_family_is_in_equilibrium(gamma: float) -> None:
    profile = strategy(equilibrium(gamma))
    assert exploitability(KUHN, profile) == pytest.approx(0.0, abs=1e-12)
    assert expected_value(KUHN, profile)[0] == pytest.approx(-1 / 18, abs=1e-12)


@given(share)
@settings(deadline=None)
def test_errors_vanish_on_the_family(gamma: float) -> None:
    errors = kuhn_errors(strategy(equilibrium(gamma)))
    assert errors.squared == pytest.approx(0.0, abs=1e-24)
    assert errors.dominated == 0.0
    assert errors.gamma == pytest.approx(gamma, abs=1e-12)


@given(share, share, share, share, share)
@settings(deadline=None)
def test_value_without_dominated_play(a: float, b: float, g: float, eta: float, xi: float) -> None:
    """EV1 = [ξ(-3α + γ) + η(-1 + 3β - γ) + α - β] / 6, summed by hand over the six deals."""
    value = (xi * (-3 * a + g) + eta * (-1 + 3 * b - g) + a - b) / 6
    assert expected_value(KUHN, strategy(undominated(a, b, g, eta, xi)))[0] == pytest.approx(
        value, abs=1e-12
    )


@given(any_weights)
@settings(max_examples=60, deadline=None)
def test_squared_error_is_the_least_over_the_family(weights: list[float]) -> None:
    profile = Strategy.from_weights(KUHN, np.array(weights))
    errors = kuhn_errors(profile)
    grid = np.linspace(0.0, 1.0, 2001)
    family = np.array([list(equilibrium(gamma).values()) for gamma in grid])
    bets = np.array([profile.at(infoset)["bet"] for infoset in equilibrium(0.0)])
    squared = ((family - bets) ** 2).sum(axis=1)
    assert errors.squared <= squared.min() + 1e-12
    assert (
        squared.min() <= errors.squared + 1e-6
    )  # half a grid step off the best, times a curvature of 11/9
    assert abs(grid[squared.argmin()] - errors.gamma) <= 0.0005
    np.testing.assert_allclose(
        ((np.array(list(equilibrium(errors.gamma).values())) - bets) ** 2).sum(), errors.squared
    )


def test_errors_by_hand() -> None:
    """Uniform play: seven halves; the distance to the family is least at γ = 6.5/11."""
    errors = kuhn_errors(Strategy.uniform(KUHN))
    gamma = 6.5 / 11
    free = (
        (0.5 - gamma / 3) ** 2
        + (0.5 - (1 + gamma) / 3) ** 2
        + (0.5 - gamma) ** 2
        + 2 * (0.5 - 1 / 3) ** 2
    )
    assert errors.dominated == pytest.approx(3.5, abs=1e-12)
    assert errors.squared == pytest.approx(free + 7 * 0.25, abs=1e-12)
    assert errors.gamma == pytest.approx(gamma, abs=1e-12)


@pytest.mark.parametrize("infoset", DOMINATED_AT_ONCE | DOMINATED_THEN)
def test_each_dominated_action_counts_once(infoset: str) -> None:
    """An equilibrium that plays one of the seven with 0.3: DOM-E is 0.3 and SQR-E its square."""
    bets = equilibrium(0.5)
    action = (DOMINATED_AT_ONCE | DOMINATED_THEN)[infoset]
    bets[infoset] = 0.3 if action == "bet" else 0.7
    errors = kuhn_errors(strategy(bets))
    assert errors.dominated == pytest.approx(0.3, abs=1e-12)
    assert errors.squared == pytest.approx(0.09, abs=1e-12)


@pytest.mark.parametrize(
    ("alpha", "beta", "gamma", "nearest"), [(0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)]
)
def test_nearest_equilibrium_stays_in_the_family(
    alpha: float, beta: float, gamma: float, nearest: float
) -> None:
    assert kuhn_errors(strategy(undominated(alpha, beta, gamma, 1 / 3, 1 / 3))).gamma == nearest


def test_errors_of_ocp_with_three_cards() -> None:
    ocp = load("ocp(3)")
    profile = Strategy.random(KUHN, 4)
    same = Strategy.from_table(
        ocp, {row.infoset.translate(TO_OCP): row.probabilities for row in profile.table()}
    )
    assert kuhn_errors(same) == kuhn_errors(profile)


@pytest.mark.parametrize("name", ["ocp(4)", "kuhn(players=3)", "leduc"])
def test_errors_are_for_kuhn_only(name: str) -> None:
    with pytest.raises(BadParameter, match="kuhn"):
        kuhn_errors(Strategy.uniform(load(name)))


# ---
# Dominated: over all pairs of pure strategies
# ---

Pure = dict[str, str]


def pure_strategies(player: int, without: Pure) -> list[Pure]:
    """Every choice of one action per information set of the player, but for the actions in
    `without`."""
    infosets = [row.infoset for row in Strategy.uniform(KUHN).table() if row.player == player]
    options = [[a for a in ("pass", "bet") if without.get(infoset) != a] for infoset in infosets]
    return [dict(zip(infosets, choice, strict=True)) for choice in product(*options)]


def payoffs(player: int, own: list[Pure], others: list[Pure]) -> np.ndarray:
    """Payoff of the player for each own pure strategy against each of the other's."""

    def plans(who: int, pures: list[Pure]) -> np.ndarray:
        tables = [{infoset: {action: 1.0} for infoset, action in pure.items()} for pure in pures]
        return np.array([Strategy.from_table(KUHN, table).plan(who) for table in tables])

    mine, theirs = plans(player, own), plans(1 - player, others)
    matrix = payoff_matrix(KUHN).toarray()
    return mine @ matrix @ theirs.T if player == 0 else -(theirs @ matrix @ mine.T).T


def is_dominated(infoset: str, action: str, without: Pure) -> bool:
    """Whether every strategy that comes to `infoset` and plays `action` there is weakly
    dominated by one that does not."""
    player = int(KUHN.tree.owner[KUHN.infoset_by_name[infoset]])
    own, others = pure_strategies(player, without), pure_strategies(1 - player, without)
    value = payoffs(player, own, others)
    comes = [pure.get(infoset[0]) == "pass" or not infoset.endswith("pb") for pure in own]
    guilty = [k for k, pure in enumerate(own) if pure[infoset] == action and comes[k]]
    better = [k for k, pure in enumerate(own) if pure[infoset] != action]

    def beaten(k: int) -> bool:
        margin = value[better] - value[k]
        return bool(np.any(np.all(margin >= -1e-12, axis=1) & np.any(margin > 1e-12, axis=1)))

    return all(beaten(k) for k in guilty)


def test_exactly_seven_actions_are_dominated() -> None:
    """Five in the game as it is, two more when those are gone, then no other."""
    every = list(product(KUHN.infoset_by_name, ("pass", "bet")))
    assert {(i, a) for i, a in every if is_dominated(i, a, {})} == set(DOMINATED_AT_ONCE.items())
    left = [(i, a) for i, a in every if i not in DOMINATED_AT_ONCE]
    assert {(i, a) for i, a in left if is_dominated(i, a, DOMINATED_AT_ONCE)} == set(
        DOMINATED_THEN.items()
    )
    seven = DOMINATED_AT_ONCE | DOMINATED_THEN
    assert not [(i, a) for i, a in left if i not in seven and is_dominated(i, a, seven)]
    assert seven == DOMINATED
