"""Figure 6 for hold'em: committed points, those of the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import real_frontier_picture
from counterplay.app.reproduction import fig6_holdem
from counterplay.app.reproduction.fig6_holdem import ABSTRACT, PUBLISHED, REAL, TILTED, curve
from counterplay.app.reproduction.harness.reproduce import reproduce


def test_the_points_are_those_of_the_benchmarks() -> None:
    assert fig6_holdem.committed_points() == real_frontier_picture.points()


def test_for_the_same_winnings_a_real_adversary_costs_less_risk() -> None:
    points = fig6_holdem.committed_points()
    for model in fig6_holdem.OPPONENTS:
        abstract = curve(points, ABSTRACT, model)
        untrusting = next(one for one in abstract if one.p == "0")
        safer = [
            one
            for one in curve(points, REAL, model)
            if one.risk + one.error < min(other.risk - other.error for other in abstract)
        ]
        assert max(one.won for one in safer) > untrusting.won
    assert len(curve(points, PUBLISHED, TILTED)) == 5


def test_the_picture_shows_winnings_over_risks(monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(fig6_holdem, "save_figure", lambda figure, _: figures.append(figure))
    points = fig6_holdem.committed_points()
    fig6_holdem.draw(points, Path("unused.png"))
    for axis, model in zip(figures[0].axes, fig6_holdem.OPPONENTS, strict=True):
        drawn = [tuple(point) for lines in axis.containers for point in lines[0].get_xydata()]
        shown = [one for one in points if one.model == model and one.risk <= fig6_holdem.MOST_RISK]
        assert sorted(drawn) == sorted((one.risk, one.won) for one in shown)
        assert "risk" in axis.get_xlabel()


def test_the_outcome_says_that_nothing_was_computed(tmp_path: Path) -> None:
    outcome = reproduce("fig6-holdem", "quick", tmp_path)
    assert outcome.claims == []
    assert "committed" in outcome.title
    assert "committed" in outcome.tables[0].title
    assert "committed" in outcome.notes[0]
    assert sorted(outcome.files) == ["fig6-holdem.csv", "fig6-holdem.png"]
    rows = [row[:3] for row in outcome.tables[0].rows]
    assert [REAL, "poki", "0.4"] in rows
