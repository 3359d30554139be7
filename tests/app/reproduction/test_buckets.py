"""The rules of finer buckets."""

from __future__ import annotations

import pytest
from support.rules import HIGH, LOW, WIDE, Cases, says_all_three

from counterplay.app.reproduction import buckets

CASES: Cases = {}


def trained(*wins: float) -> list[list[buckets.TrainingPoint]]:
    return [
        [buckets.TrainingPoint(t, t * 5, x - 1 / t) for t in (1.0, 2.0, 4.0, 8.0)] for x in wins
    ]


CASES[buckets.finer] = tuple(
    (
        lambda fine=fine: buckets.finer(
            {10: trained(0.1, 0.11, 0.12), 100: trained(*fine)}, 100, 10, "seconds", "x"
        )
    )
    for fine in ((0.2, 0.21, 0.22), (0.0, 0.01, 0.02), (0.0, 0.1, 0.3))
)
CASES[buckets.finer_in_the_end] = tuple(
    (lambda fine=fine: buckets.finer_in_the_end({10: HIGH, 100: fine}, 100, 10, "x", False))
    for fine in ([0.2, 0.21], LOW, WIDE)
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(buckets, CASES)


def test_finer_buckets_that_catch_up_do_not_fail() -> None:
    flat = [[buckets.TrainingPoint(t, t, 0.0) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    rising = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    given = {10: flat, 100: rising}
    assert buckets.closing(given, 100, 10, "seconds")
    assert buckets.finer(given, 100, 10, "seconds", "x").holds is None
    assert buckets.finer({10: rising, 100: flat}, 100, 10, "seconds", "x").holds is True
    assert buckets.finer_in_the_end({10: HIGH, 100: LOW}, 100, 10, "x", True).holds is None


def test_where_curves_cross() -> None:
    slow = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0, 16.0)]] * 2
    flat = [[buckets.TrainingPoint(t, t, -0.25) for t in (1.0, 2.0, 4.0, 8.0, 16.0)]] * 2
    found = buckets.crossing({10: flat, 100: slow}, 100, 10, "seconds")
    assert found == pytest.approx(4.0, rel=0.1)
    assert buckets.crossing({10: slow, 100: flat}, 100, 10, "seconds") is None
    assert buckets.at(slow[0], "seconds", 0.5) != buckets.at(slow[0], "seconds", 0.5)  # NaN


def test_buckets_also_say_what_they_are_whether_or_not_they_catch_up() -> None:
    flat = [[buckets.TrainingPoint(t, t, 0.0) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    rising = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    found = buckets.finer({10: flat, 100: rising}, 100, 10, "seconds", "x")
    assert (found.holds, found.also[0].holds) == (None, False)
    ends = buckets.finer_in_the_end({10: HIGH, 100: LOW}, 100, 10, "x", True)
    assert (ends.holds, ends.also[0].holds) == (None, False)
