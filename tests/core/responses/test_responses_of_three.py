"""Responses with three players, against brute force: on a game of two bits, on three-player Kuhn
by mixed-integer programs, and by play in the restricted game."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import counterplay as cp
from counterplay.core.forms import access
from counterplay.core.forms.restricted import several_restricted_form
from counterplay.core.forms.sequence import treeplex
from counterplay.core.kernels.rng import new_state
from counterplay.core.kernels.rng import uniform as uniform_number
from counterplay.core.responses.several import coalition_payoff, selfish_payoff

KUHN = cp.load("kuhn(players=3)")


class Bits:
    """Three players see a bit each and say 0 or 1 in turn, which the next ones hear; payoffs are
    numbers without a pattern."""

    n_players = 3

    def root(self) -> BitState:
        return BitState("", "")


class BitState:
    def __init__(self, bits: str, said: str) -> None:
        self.bits, self.said = bits, said

    def player(self) -> int:
        return cp.CHANCE if not self.bits else cp.TERMINAL if len(self.said) == 3 else self._next()

    def _next(self) -> int:
        return len(self.said)

    def actions(self) -> list[str]:
        return ["0", "1"] if self.bits else ["".join(bits) for bits in product("01", repeat=3)]

    def chance(self) -> list[float]:
        return [0.05, 0.2, 0.1, 0.15, 0.05, 0.05, 0.3, 0.1]

    def child(self, action: str) -> BitState:
        return BitState(self.bits, self.said + action) if self.bits else BitState(action, "")

    def infoset(self) -> str:
        first = self.said[:1] if self._next() == 2 else ""  # the last hears the first alone
        return f"{self._next()}{self.bits[self._next()]}{first}"

    def payoffs(self) -> list[float]:
        number = int(self.bits + self.said, 2)
        one, two = math.sin(7.0 * number), math.cos(5.0 * number + 1.0)
        return [one, two, -one - two]


def pure_parts(game: cp.Game, player: int) -> Iterator[dict[str, dict[str, float]]]:
    """Every pure strategy of a player, as a table."""
    rows = [row for row in cp.Strategy.uniform(game).table() if row.player == player]
    for chosen in product(*(row.probabilities for row in rows)):
        yield {row.infoset: {action: 1.0} for row, action in zip(rows, chosen, strict=True)}


def with_part(profile: cp.Strategy, table: Any, player: int) -> cp.Strategy:
    return profile.replace(cp.Strategy.from_table(profile.game, table), player)


@pytest.mark.parametrize("player", range(3))
def test_brute_force_over_pure_strategies(player: int) -> None:
    game = cp.Game("bits", Bits())
    profile = cp.Strategy.random(game, 4)
    one, other = (seat for seat in range(3) if seat != player)
    for deviator in (one, other):
        outcomes = [
            cp.expected_value(game, with_part(profile, table, deviator))
            for table in pure_parts(game, deviator)
        ]
        best = max(values[deviator] for values in outcomes)
        worst = min(v[player] for v in outcomes if v[deviator] >= best - 1e-12)
        assert selfish_payoff(game, profile, player, deviator) == pytest.approx(worst, abs=1e-12)
    least = min(
        cp.expected_value(game, with_part(with_part(profile, a, one), b, other))[player]
        for a in pure_parts(game, one)
        for b in pure_parts(game, other)
    )
    found = coalition_payoff(game, profile, player)
    assert found.exact
    assert found.found == pytest.approx(least, abs=1e-12)
    assert found.bound <= found.found + 1e-12


@pytest.mark.parametrize(("player", "deviator"), [(0, 1), (1, 0), (2, 1)])
def test_deviators_in_kuhn_by_brute_force(player: int, deviator: int) -> None:
    """All plans of a card are tried, card by card: what a deviator wins is a sum over its cards.
    Ties are broken against `player`."""
    profile = cp.Strategy.random(KUHN, 10 + player)
    rows = [row for row in profile.table() if row.player == deviator]
    chosen = profile
    for card in "TJQK":
        labels = [row.infoset for row in rows if row.infoset.startswith(card)]
        plans = [
            {label: {action: 1.0} for label, action in zip(labels, actions, strict=True)}
            for actions in product(("pass", "bet"), repeat=len(labels))
        ]
        assert len(plans) == 16
        tried = [with_plan(profile, plan, deviator) for plan in plans]
        values = [cp.expected_value(KUHN, one) for one in tried]
        best = max(value[deviator] for value in values)
        _, plan = min(
            (value[player], k) for k, value in enumerate(values) if value[deviator] >= best - 1e-12
        )
        chosen = with_plan(chosen, plans[plan], deviator)
    values = cp.expected_value(KUHN, chosen)
    assert cp.best_response(KUHN, profile, deviator).value == pytest.approx(
        values[deviator], abs=1e-12
    )
    assert selfish_payoff(KUHN, profile, player, deviator) == pytest.approx(
        values[player], abs=1e-12
    )


def with_plan(profile: cp.Strategy, plan: Any, player: int) -> cp.Strategy:
    """A profile in which a player plays otherwise at some information sets."""
    table = {row.infoset: row.probabilities for row in profile.table() if row.player == player}
    return with_part(profile, {**table, **plan}, player)


def least_by_integers(game: cp.Game, profile: cp.Strategy, player: int) -> float:
    """The coalition's minimum: binary plans of both members, and a variable for every pair of
    sequences."""
    tree = game.tree
    one, other = (seat for seat in range(3) if seat != player)
    plexes = [treeplex(tree, seat) for seat in (one, other)]
    reach, pairs = [1.0] * tree.n_nodes, dict[tuple[int, int], float]()
    for node in range(tree.n_nodes):
        low, high = int(tree.first_child[node]), int(tree.first_child[node + 1])
        for child in range(low, high):
            share = 1.0
            if tree.player[node] < 0:
                share = tree.chance_probability[tree.chance_first[tree.row[node]] + child - low]
            elif tree.player[node] == player:
                share = profile.probabilities[tree.first[tree.row[node]] + child - low]
            reach[child] = reach[node] * share
        if low == high:
            at = int(plexes[0][1][node]), int(plexes[1][1][node])
            won = reach[node] * tree.payoff[tree.row[node], player]
            pairs[at] = pairs.get(at, 0.0) + won
    sizes = [int(plex.first[-1]) + 1 for plex, _ in plexes]
    n = sum(sizes) + len(pairs)
    rows, low_end, high_end = [], [], []

    def constrain(terms: dict[int, float], least: float, most: float) -> None:
        row = np.zeros(n)
        for k, factor in terms.items():
            row[k] = factor
        rows.append(row)
        low_end.append(least)
        high_end.append(most)

    for (plex, _), begin in zip(plexes, (0, sizes[0]), strict=True):
        constrain({begin: 1.0}, 1.0, 1.0)
        for i in range(len(plex.parent)):
            terms = {begin + 1 + int(s): 1.0 for s in range(plex.first[i], plex.first[i + 1])}
            terms[begin + int(plex.parent[i])] = -1.0
            constrain(terms, 0.0, 0.0)
    cost = np.zeros(n)
    for k, ((s, t), won) in enumerate(pairs.items(), sum(sizes)):
        cost[k] = won
        constrain({k: 1.0, s: -1.0}, -np.inf, 0.0)
        constrain({k: 1.0, sizes[0] + t: -1.0}, -np.inf, 0.0)
        constrain({k: 1.0, s: -1.0, sizes[0] + t: -1.0}, -1.0, np.inf)
    integer = np.r_[np.ones(sum(sizes)), np.zeros(len(pairs))]
    limits = LinearConstraint(np.array(rows), low_end, high_end)
    return float(milp(cost, constraints=limits, bounds=Bounds(0, 1), integrality=integer).fun)


@pytest.mark.slow
@pytest.mark.parametrize("player", range(3))
def test_the_coalition_in_kuhn_is_that_of_an_integer_program(player: int) -> None:
    profile = cp.Strategy.random(KUHN, player)
    least = least_by_integers(KUHN, profile, player)
    found = coalition_payoff(KUHN, profile, player)
    assert found.exact
    assert found.found == pytest.approx(least, abs=1e-9)
    assert found.bound <= found.found


@pytest.mark.slow
def test_models_are_followed_by_independent_coins() -> None:
    """Play in the restricted game, the free parts uniform: the exact mean is over all coins."""
    p, model, uniform = 0.3, cp.Strategy.random(KUHN, 7), cp.Strategy.uniform(KUHN)
    form = several_restricted_form(KUHN.form, model.played, 1, p, 3)
    exact = sum(
        p ** (first + last)
        * (1 - p) ** (2 - first - last)
        * cp.expected_value(KUHN, mixed(uniform, model, first, last))
        for first, last in product((0, 1), repeat=2)
    )
    rng, chance = new_state(3), access.new_chance(form)
    won = np.empty((8_000, 3))
    for k in range(len(won)):
        node = access.start(form, chance, rng)
        while access.player_at(form, chance, node) >= 0:
            infoset = access.infoset_at(form, chance, node)
            _, count = access.slots_at(form, chance, node, infoset)
            action = int(uniform_number(rng) * count)
            node = access.child(form, chance, node, action, rng)
        won[k] = [access.utility(form, chance, node, seat) for seat in range(3)]
    error = won.std(axis=0) / math.sqrt(len(won))
    assert (np.abs(won.mean(axis=0) - exact) <= 4.0 * error).all()


def mixed(free: cp.Strategy, model: cp.Strategy, first: int, last: int) -> cp.Strategy:
    profile = free.replace(model, 0) if first else free
    return profile.replace(model, 2) if last else profile


@pytest.mark.slow
def test_full_trust_approaches_a_best_response(tmp_path: Path) -> None:
    models = [cp.Strategy.random(KUHN, 1), "uniform"]
    options: dict[str, Any] = {"player": 1, "p": 1.0, "seed": 2}
    response = cp.respond(KUHN, models, iterations=60_000, folder=tmp_path / "run", **options)
    best = cp.best_response(KUHN, response.model, 1).value
    assert best - 0.03 <= response.payoff <= best + 1e-9
    assert math.isnan(response.exploitability)
    assert math.isnan(response.selfish[1])
    assert response.coalition.found <= response.selfish_worst + 1e-9
    assert response.worst_case == response.coalition.bound
    again = cp.resume_response(tmp_path / "run", iterations=80_000)
    whole = cp.respond(KUHN, models, iterations=80_000, **options)
    assert np.array_equal(again.strategy.probabilities, whole.strategy.probabilities)
    assert "coalition" in repr(again)
    assert again.columns()["coalition_bound"] == [whole.coalition.bound]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"player": None}, "give its seat"),
        ({"player": 3}, "from 0 to 2"),
        ({"algorithm": "rnr"}, "the algorithm is mcrnr"),
        ({"model": ["uniform"]}, "2 other players, and 1 models"),
        ({"model": ["uniform", "uniform"], "player": None}, "needs the seat"),
        ({"max_exploitability": 0.1}, "for two players"),
        ({"p": 2.0}, "p must be"),
    ],
)
def test_mistakes_get_a_sentence(changes: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"model": "uniform", "player": 0, "iterations": 5, **changes}
    with pytest.raises(cp.CounterplayError, match=says):
        cp.respond(KUHN, **arguments)


@pytest.mark.slow
def test_leduc_of_three() -> None:
    game = cp.load("leduc(players=3)")
    response = cp.respond(game, "uniform", 0, 0.8, engine="mccfr-external", iterations=3_000)
    values = cp.expected_value(game, response.strategy)
    assert response.payoff == pytest.approx(values[0], abs=1e-9)
    assert not response.coalition.exact
    assert response.coalition.bound <= response.coalition.found
    assert response.coalition.found <= response.selfish_worst + 1e-9
