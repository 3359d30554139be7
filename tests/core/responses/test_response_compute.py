"""Seconds of a response are those of all its work together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import counterplay as cp
from counterplay.core.responses import compute
from counterplay.core.responses.compute import TimeBudget
from counterplay.core.solvers.limits import Limits


def test_a_budget_gives_each_task_its_share_of_what_is_left() -> None:
    budget = TimeBudget(Limits(seconds=12.0), 3)
    shares = []
    for spent in (1.0, 10.0, 5.0):
        shares.append(budget.next_limits().seconds)
        budget.spend(spent)
    assert shares == [4.0, 5.5, 1.0]
    assert budget.next_limits().seconds == pytest.approx(0.0, abs=1e-9)
    assert TimeBudget(Limits(iterations=5), 2).next_limits() == Limits(iterations=5)


@pytest.mark.parametrize("more", [{}, {"max_exploitability": 0.05}], ids=["p", "search"])
def test_both_seats_and_all_p_share_them(
    more: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    run = compute.run_solver

    def all_used(solver: Any, limits: Limits, folder: Any) -> cp.Run:
        """A run that takes all the time it has."""
        assert limits.seconds is not None
        given.append(limits.seconds)
        return replace(run(solver, Limits(iterations=200), folder), seconds=limits.seconds)

    monkeypatch.setattr(compute, "run_solver", all_used)
    cp.respond("kuhn", cp.Strategy.uniform("kuhn"), engine="cfr+", seconds=30.0, **more)
    assert given[0] == pytest.approx(15.0 if not more else 30.0 / 14 / 2)
    assert sum(given) == pytest.approx(30.0)
