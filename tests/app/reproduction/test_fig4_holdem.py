"""Figure 4 in hold'em and the time of sampling: the rules, and the experiments at toy size."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.verdicts import FAILS, HOLDS, IN_PART, OPEN, Cases, check_rules

from counterplay.app.reproduction import fig4_holdem, holdem_runs, holdem_time
from counterplay.app.reproduction.harness.reproduce import reproduce

X = np.geomspace(1e5, 1e8, 13)
SEEDS = 3


def curves(early: float, late: float, end: float, noise: float = 0.001, speed: float = 1e6) -> Any:
    """sb/h at 10^5, at half and at the end of 10^8 iterations; so many iterations a second."""
    won = np.interp(np.log(X), np.log([1e5, 5e7, 1e8]), [early, late, end])
    return np.stack(
        [
            np.stack([X, X / speed, won + noise * (seed - 1), np.full(len(X), 0.001)], axis=1)
            for seed in range(SEEDS)
        ]
    )


SLOW = curves(-0.6, -0.2, -0.12)
FLAT = curves(-0.4, -0.16, -0.16)
NOISY = curves(-0.4, -0.16, -0.16, noise=0.4)
RISING = curves(-0.4, -0.26, -0.1)
WEAK = curves(-0.9, -0.5, -0.5)
FALLING = curves(-0.1, -0.2, -0.4)


def scaled(some: Any, factor: float) -> Any:
    """The same strength, in `factor` times the seconds."""
    made = some.copy()
    made[:, :, 1] *= factor
    return made


CASES: Cases = {
    fig4_holdem.balanced: {
        HOLDS: lambda: fig4_holdem.balanced(FLAT, SLOW),
        FAILS: lambda: fig4_holdem.balanced(curves(-0.9, -0.8, -0.1), SLOW),
        IN_PART: lambda: fig4_holdem.balanced(RISING, SLOW),
        OPEN: lambda: fig4_holdem.balanced(NOISY, SLOW),
    },
    fig4_holdem.surpasses: {
        HOLDS: lambda: fig4_holdem.surpasses(SLOW, FLAT),
        FAILS: lambda: fig4_holdem.surpasses(FALLING, FLAT),
        IN_PART: lambda: fig4_holdem.surpasses(curves(-0.9, -0.5, -0.4), FLAT),
        OPEN: lambda: fig4_holdem.surpasses(SLOW, NOISY),
    },
    fig4_holdem.quicker: {
        HOLDS: lambda: fig4_holdem.quicker([0.2, 0.21, 0.22]),
        FAILS: lambda: fig4_holdem.quicker([1.3, 1.31, 1.32]),
        IN_PART: lambda: fig4_holdem.quicker([0.7, 0.71, 0.72]),
        OPEN: lambda: fig4_holdem.quicker([0.2, 0.9, 1.5]),
    },
    fig4_holdem.smaller: {
        HOLDS: lambda: fig4_holdem.smaller(4, 10),
        FAILS: lambda: fig4_holdem.smaller(11, 10),
        IN_PART: lambda: fig4_holdem.smaller(9, 10),
    },
    fig4_holdem.by_time: {
        HOLDS: lambda: fig4_holdem.by_time(scaled(FLAT, 0.2), SLOW),
        FAILS: lambda: fig4_holdem.by_time(scaled(WEAK, 5.0), SLOW),
        IN_PART: lambda: fig4_holdem.by_time(scaled(FLAT, 1.5), SLOW),
        OPEN: lambda: fig4_holdem.by_time(NOISY, SLOW),
    },
    fig4_holdem.external: {
        HOLDS: lambda: fig4_holdem.external(curves(-0.4, -0.05, -0.01), FLAT),
        FAILS: lambda: fig4_holdem.external(WEAK, FLAT),
        OPEN: lambda: fig4_holdem.external(NOISY, FLAT),
    },
    holdem_time.fraction: {
        HOLDS: lambda: holdem_time.fraction({"a": scaled(FLAT, 0.1)}, FLAT, -0.2, 1e4),
        FAILS: lambda: holdem_time.fraction({"a": scaled(FLAT, 0.9), "b": WEAK}, FLAT, -0.2, 1e4),
        IN_PART: lambda: holdem_time.fraction({"a": scaled(FLAT, 0.1), "b": FLAT}, FLAT, -0.2, 1e4),
        OPEN: lambda: holdem_time.fraction({"a": scaled(WEAK, 0.01)}, FLAT, -0.2, 1e4),
    },
}


def test_each_rule_gives_each_verdict() -> None:
    never = {fig4_holdem.smaller: {OPEN}, fig4_holdem.external: {IN_PART}}
    for module in (fig4_holdem, holdem_time):
        check_rules(module, CASES, never)


def test_where_a_curve_comes_to_a_level_for_good() -> None:
    """In the logarithm of iterations or seconds; infinity if never, the first point if always."""
    for axis in (0, 1):
        there = holdem_runs.reaches(FLAT[1], -0.2, axis)
        assert holdem_runs.at(FLAT[1], there, axis) == pytest.approx(-0.2, abs=1e-9)
        assert holdem_runs.reaches(FLAT[1], -0.9, axis) == FLAT[1][0, axis]
    assert holdem_runs.reaches(WEAK[1], -0.2) == np.inf
    assert "after inf M" in fig4_holdem.surpasses(WEAK, FLAT).measured


def test_a_shorter_run_of_mcts_gets_what_its_second_half_gave() -> None:
    short = RISING.copy()
    short[:, :, 0] /= 10
    gain = float(np.mean(fig4_holdem.gained(short, short[0, -1, 0] / 2)))
    ahead = float(np.mean(SLOW[:, -1, 2]) - np.mean(short[:, -1, 2])) - gain
    assert gain > 0.1
    assert f"ahead by {ahead:+.3f}" in fig4_holdem.surpasses(SLOW, short).measured
    whole = float(np.mean(SLOW[:, -1, 2]) - np.mean(RISING[:, -1, 2]))
    assert f"ahead by {whole:+.3f}" in fig4_holdem.surpasses(SLOW, RISING).measured


def test_runs_that_stop_before_a_level_bound_the_ratio_of_seconds() -> None:
    ratio = holdem_time.times(scaled(FLAT, 0.5), FLAT, -0.2)
    assert ratio == pytest.approx((0.5, 0.5, 0.5))
    assert holdem_time.times(WEAK, FLAT, -0.2).high == np.inf  # it takes at least so long
    assert holdem_time.times(FLAT, WEAK, -0.2).low == 0.0


def test_points_are_round_and_end_with_the_last() -> None:
    assert holdem_runs.points(1_000, 100) == [100, 150, 200, 300, 500, 700, 1_000]
    assert holdem_runs.points(60, 50) == [50, 60]


def test_memory_is_that_of_the_statistics_the_article_needs() -> None:
    assert fig4_holdem.needed_bytes() == (2_653_280, 3_163_520)
    assert "4.49 MB" in fig4_holdem.memory_note()


@pytest.mark.slow
def test_fig4_holdem_goes_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = fig4_holdem.Fig4HoldemScale(400_000, 200_000, 1_000, 10_000, 2, 3, 2, 200, 500)
    monkeypatch.setitem(fig4_holdem.SCALES, "quick", size)
    real, calls = holdem_runs.learning_curve, []

    def stops(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(holdem_runs, "learning_curve", stops)
    with pytest.raises(KeyboardInterrupt):
        reproduce("fig4-holdem", "quick", tmp_path)
    monkeypatch.setattr(holdem_runs, "learning_curve", real)
    outcome = reproduce("fig4-holdem", "quick", tmp_path)
    rows = list(csv.DictReader((tmp_path / "fig4-holdem.csv").open()))
    assert len(rows) == sum(
        len(when) for _, _, when in fig4_holdem._plan(fig4_holdem.SCALES["quick"])
    )
    assert [claim.number for claim in outcome.claims] == [6, 7, 8, 9, 10, 11]
    straight = reproduce("fig4-holdem", "quick", tmp_path / "straight")
    means = [
        [row["sb_per_hand"] for row in csv.DictReader((folder / "fig4-holdem.csv").open())]
        for folder in (tmp_path, tmp_path / "straight")
    ]
    assert means[0] == means[1]
    assert straight.setting == outcome.setting
