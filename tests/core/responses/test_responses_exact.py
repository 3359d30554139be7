"""Robust responses by linear program: what is known of them, to the last digits (Section 4.1.2;
Johanson et al. 2008)."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lp import lp_value
from support.response_lp import dbr_value, most_within, rnr_value

import counterplay as cp

GAMES = ("kuhn", "ocp(4)", "bluff(1,1,3)", "goofspiel(3)", "goofspiel(4)")
SEATS = (0, 1)
EXACT = 1e-9
#: Residuals of a value come back in exploitation and worst case divided by p, 1 - p or the step
#: between two p: 0.01 or more here.
BLURRED = 1e-6
few = settings(max_examples=3, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
#: In hundredths: HiGHS takes for zero what is below 1e-7, and a tiny p makes payoffs of that size
#: that matter.
trusts = st.integers(0, 100).map(lambda k: k / 100)


@pytest.fixture(scope="module", params=GAMES)
def game(request: pytest.FixtureRequest) -> cp.Game:
    return cp.load(request.param)


def exact(
    game: cp.Game, model: cp.Strategy, player: int, p: float | np.ndarray, algorithm: str = "rnr"
) -> cp.Response:
    return cp.respond(game, model, player, p, algorithm, engine="lp")


def value_of(response: cp.Response) -> float:
    """What the program says the restricted game is worth to the responder; both players'
    programs must say the same."""
    values = response.runs[0]._solver.values
    assert values.sum() == pytest.approx(0.0, abs=EXACT)
    assert response.runs[0].exploitability == pytest.approx(0.0, abs=EXACT)
    return float(values[response.player])


def blend(response: cp.Response, p: float) -> float:
    """What a strategy is worth in the game of Figure 5."""
    return p * response.payoff + (1.0 - p) * response.worst_case


@cache
def value_of_game(name: str) -> float:
    return lp_value(cp.load(name))


def value_to(game: cp.Game, player: int) -> float:
    return value_of_game(game.name) * (1 if player == 0 else -1)


@few
@given(seed=seeds)
@pytest.mark.parametrize("player", SEATS)
def test_ends_of_the_range(game: cp.Game, player: int, seed: int) -> None:
    """p = 0: the value of the game, not exploitable. p = 1: the best response, whatever it
    risks."""
    model = cp.Strategy.random(game, seed)
    for algorithm in ("rnr", "dbr"):
        none, all_ = (
            exact(game, model, player, 0.0, algorithm),
            exact(game, model, player, 1.0, algorithm),
        )
        assert value_of(none) == pytest.approx(value_to(game, player), abs=EXACT)
        assert none.worst_case == pytest.approx(value_to(game, player), abs=EXACT)
        best = cp.best_response(game, model, player).value
        assert value_of(all_) == pytest.approx(best, abs=EXACT)
        assert all_.payoff == pytest.approx(best, abs=EXACT)


@few
@given(seed=seeds, ps=st.lists(trusts, min_size=3, max_size=5, unique=True))
@pytest.mark.parametrize("player", SEATS)
def test_along_p(game: cp.Game, player: int, seed: int, ps: list[float]) -> None:
    """V is convex. Exploitation never falls and the worst case never rises, whichever optimal
    strategies are found.

    If x is optimal at p and x' at q > p, write E and W for what x' has more than x. Optimality says
    p E + (1 - p) W <= 0 <= q E + (1 - q) W, so (q - p)(E - W) >= 0; E < 0 would make W < 0 too and
    break the second; so E >= 0 and W <= 0 by the first.
    """
    model = cp.Strategy.random(game, seed)
    ps = sorted(ps)
    found = [exact(game, model, player, p) for p in ps]
    values = [value_of(response) for response in found]
    for response, p, value in zip(found, ps, values, strict=True):
        assert blend(response, p) == pytest.approx(value, abs=EXACT)
    for k in range(1, len(ps) - 1):
        share = (ps[k] - ps[k - 1]) / (ps[k + 1] - ps[k - 1])
        assert values[k] <= (1.0 - share) * values[k - 1] + share * values[k + 1] + EXACT
    for first, second in pairwise(found):
        assert second.payoff >= first.payoff - BLURRED
        assert second.worst_case <= first.worst_case + BLURRED


@few
@given(seed=seeds, p=trusts, share=st.floats(0.0, 1.0))
@pytest.mark.parametrize("player", SEATS)
def test_nothing_beats_the_response(
    game: cp.Game, player: int, seed: int, p: float, share: float
) -> None:
    """No mixture of an equilibrium and a best response, and no other strategy, is worth more in
    the restricted game."""
    model = cp.Strategy.random(game, seed)
    value = value_of(exact(game, model, player, p))
    safe, greedy = exact(game, model, player, 0.0), exact(game, model, player, 1.0)
    line = cp.Strategy.mix(greedy.strategy, safe.strategy, share)
    for strategy in (safe.strategy, greedy.strategy, line, cp.Strategy.random(game, seed + 1)):
        gain = cp.expected_value(game, model.replace(strategy, player))[player]
        worst = -cp.best_response(game, strategy, 1 - player).value
        assert p * gain + (1.0 - p) * worst <= value + EXACT


@few
@given(seed=seeds, p=trusts.filter(lambda p: 0.0 < p < 1.0))
@pytest.mark.parametrize("player", SEATS)
def test_safe_best_response(game: cp.Game, player: int, seed: int, p: float) -> None:
    """A response wins the most of all strategies that risk no more (theorem of Johanson et al.),
    and so lies above the line."""
    model = cp.Strategy.random(game, seed)
    response, safe, greedy = (exact(game, model, player, q) for q in (p, 0.0, 1.0))
    most = most_within(game, model, player, response.worst_case - EXACT)
    assert response.payoff == pytest.approx(most, abs=BLURRED)
    if safe.worst_case - greedy.worst_case > BLURRED:
        share = (safe.worst_case - response.worst_case) / (safe.worst_case - greedy.worst_case)
        assert response.payoff >= (1.0 - share) * safe.payoff + share * greedy.payoff - BLURRED


@pytest.mark.parametrize("player", SEATS)
def test_against_an_equilibrium_there_is_nothing_to_win(game: cp.Game, player: int) -> None:
    model = cp.solve(game, "lp").strategy
    for p in (0.0, 0.3, 0.8, 1.0):
        assert value_of(exact(game, model, player, p)) == pytest.approx(
            value_to(game, player), abs=EXACT
        )
        assert value_of(exact(game, model, player, p, "dbr")) == pytest.approx(
            value_to(game, player), abs=EXACT
        )


@few
@given(seed=seeds, p=trusts)
@pytest.mark.parametrize("player", SEATS)
def test_agrees_with_the_other_program(game: cp.Game, player: int, seed: int, p: float) -> None:
    """The same values from programs over the restricted player's plan; a random Pconf with zeros
    and ones for DBR."""
    model = cp.Strategy.random(game, seed)
    draw = np.random.default_rng(seed)
    some = np.clip(draw.uniform(-0.3, 1.3, game.n_infosets).round(2), 0.0, 1.0)
    assert value_of(exact(game, model, player, p)) == pytest.approx(
        rnr_value(game, model, player, p), abs=EXACT
    )
    value = value_of(exact(game, model, player, some, "dbr"))
    assert value == pytest.approx(dbr_value(game, model, player, some), abs=EXACT)
    more = some + p * (
        1.0 - some
    )  # trust grows everywhere: what the restricted player may do shrinks
    assert value_of(exact(game, model, player, more, "dbr")) >= value - EXACT


@pytest.mark.parametrize("player", SEATS)
def test_arrays_at_the_ends(game: cp.Game, player: int) -> None:
    """Pconf 0 everywhere is the game itself, 1 everywhere leaves a best response; only the
    opponent's sets count."""
    model = cp.Strategy.random(game, 5)
    nowhere, everywhere = np.zeros(game.n_infosets), np.ones(game.n_infosets)
    mine = (game.tree.owner == player).astype(float)
    best = cp.best_response(game, model, player).value
    for trust, value in (
        (nowhere, value_to(game, player)),
        (everywhere, best),
        (mine, value_to(game, player)),
        (1.0 - mine, best),
    ):
        assert value_of(exact(game, model, player, trust, "dbr")) == pytest.approx(value, abs=EXACT)
    constant = value_of(exact(game, model, player, np.full(game.n_infosets, 0.4), "dbr"))
    assert constant == pytest.approx(value_of(exact(game, model, player, 0.4, "dbr")), abs=EXACT)


@few
@given(seed=seeds, p=trusts)
@pytest.mark.parametrize("name", ["kuhn", "ocp(4)"])
def test_one_coin_or_many(name: str, seed: int, p: float) -> None:
    """Player 2 acts once on any path, so that a coin per game and a coin per information set are
    the same."""
    game = cp.load(name)
    assert not game.sequence_form.two.parent.any()
    model = cp.Strategy.random(game, seed)
    assert value_of(exact(game, model, 0, p)) == pytest.approx(
        value_of(exact(game, model, 0, p, "dbr")), abs=EXACT
    )


@pytest.mark.parametrize(
    ("name", "player"), [("kuhn", 1), ("ocp(4)", 1), ("goofspiel(3)", 0), ("goofspiel(4)", 1)]
)
def test_one_coin_is_not_many(name: str, player: int) -> None:
    """Elsewhere they differ, and by how much the other programs say."""
    game = cp.load(name)
    assert game.sequence_form[1 - player].parent.any()
    model = cp.Strategy.random(game, 1)
    one, many = (
        value_of(exact(game, model, player, 0.5, algorithm)) for algorithm in ("rnr", "dbr")
    )
    trust = np.full(game.n_infosets, 0.5)
    assert one - many == pytest.approx(
        rnr_value(game, model, player, 0.5) - dbr_value(game, model, player, trust), abs=EXACT
    )
    assert abs(one - many) > 1e-3
