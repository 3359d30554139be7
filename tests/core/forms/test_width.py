"""Forms that answer the full-width question: each gives what its payoff matrix, written out,
gives, and solvers take any."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.sparbot import random_chance

import counterplay as cp
from counterplay.core.evaluation.exact import form_exploitability
from counterplay.core.forms.access import answers
from counterplay.core.forms.sequence import Treeplex, payoff_gradient
from counterplay.core.solvers import cfr
from counterplay.core.solvers.cfr import RegretMinimiser
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.betting.betting import Betting
from counterplay.poker.bots.sparbot.model import FactoredForm, make_model

ITERATIONS = 5
FLOP = Betting().child("call").child("call")


def factored() -> FactoredForm:
    chance = random_chance(2)
    return make_model(FLOP, chance.first, chance).form


FORMS = {"leduc": lambda: cp.load("leduc").sequence_form, "sparbot": factored}


@cache
def matrices(name: str) -> list[np.ndarray]:
    """Each player's payoffs: float64[own sequences, other's sequences], one plan of the other at
    a time."""
    form = FORMS[name]()
    n = [int(plex.first[-1]) + 1 for plex in (form.one, form.two)]
    both = []
    for player in (0, 1):
        matrix = np.empty((n[player], n[1 - player]))
        out = np.empty(n[player])
        for q, plan in enumerate(np.eye(n[1 - player])):
            payoff_gradient(form, player, plan, out)
            matrix[:, q] = out
        both.append(matrix)
    return both


@pytest.mark.parametrize("name", FORMS)
def test_the_answer_is_linear_and_both_players_see_one_matrix(name: str) -> None:
    form = FORMS[name]()
    one, two = matrices(name)
    np.testing.assert_allclose(two, -one.T, atol=1e-12)  # both games are zero-sum
    rng = np.random.default_rng(1)
    for player, matrix in enumerate((one, two)):
        plan, out = rng.random(matrix.shape[1]), np.full(matrix.shape[0], np.nan)
        payoff_gradient(form, player, plan, out)
        np.testing.assert_allclose(out, matrix @ plan, atol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_made_elsewhere_is_solved_and_measured(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new form answers one question; iterations, the average and exploitability need nothing
    else of it."""
    known = FORMS[name]()
    given = matrices(name)

    class Dense:
        one = Treeplex(known.one.parent, known.one.first)
        two = Treeplex(known.two.parent, known.two.first)

    @answers(payoff_gradient, Dense)
    def _product(form: Any, player: Any, plan: Any, out: Any) -> Any:
        out[:] = given[player] @ plan

    # a plain class is no type of Numba's: the same iterations as plain Python
    plain = getattr(cfr.cfr_iterations, "py_func", cfr.cfr_iterations)
    ours = RegretMinimiser(known, DISCOUNTED)
    ours.run(0, ITERATIONS)
    monkeypatch.setattr(cfr, "cfr_iterations", plain)
    other = RegretMinimiser(Dense(), DISCOUNTED)
    other.run(0, ITERATIONS)
    np.testing.assert_allclose(
        other.average(), ours.average(), atol=1e-9
    )  # more would magnify rounding
    gap = form_exploitability(known, ours.average())
    assert form_exploitability(Dense(), ours.average()) == pytest.approx(gap, abs=1e-9)
    start = RegretMinimiser(known, DISCOUNTED).average()
    assert gap < form_exploitability(known, start)
