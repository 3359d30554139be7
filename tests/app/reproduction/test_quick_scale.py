"""The quick scale: a fresh run agrees with the committed one within their intervals.

Three experiments of two minutes stand for all, which would take as long as `make reproduce`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterplay.app.reproduction.harness.base import Outcome, read_outcome
from counterplay.app.reproduction.harness.judge import Verdict
from counterplay.app.reproduction.harness.reproduce import reproduce

COMMITTED = Path(__file__).parents[3] / "docs" / "results" / "quick"
NAMES = ("fig4-kuhn", "fig6", "fig7")
#: Claims about seconds, whose numbers are those of the machine.
TIMED = (8, 10, 26, 27)
NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
INTERVAL = re.compile(rf"({NUMBER}) ± ({NUMBER})|{NUMBER} \(({NUMBER}) to ({NUMBER})\)")


def intervals(measured: str) -> list[tuple[float, float]]:
    """The intervals in a sentence, in order."""
    found = []
    for match in INTERVAL.finditer(measured):
        value, half, low, high = (float(x.replace(",", "")) if x else 0.0 for x in match.groups())
        found.append((value - half, value + half) if match[1] else (low, high))
    return found


def differences(fresh: Outcome, committed: Outcome) -> list[str]:
    """Claims of which the two say different things."""
    found = []
    for one, other in zip(fresh.claims, committed.claims, strict=True):
        assert one.number == other.number
        decided = {one.verdict, other.verdict} - {Verdict.OPEN}
        apart = [
            (a, b)
            for a, b in zip(intervals(one.measured), intervals(other.measured), strict=False)
            if max(a[0], b[0]) > min(a[1], b[1]) + 1e-3  # as printed
        ]
        if len(decided) > 1 or (apart and one.number not in TIMED):
            found.append(f"{one.number}: {one.measured} {other.measured}")
    return found


def test_the_intervals_of_a_sentence_are_found() -> None:
    text = "It wins +0.123 ± 0.010 sb/h, then 5.9e-06 (1.9e-06 to 3e-05), after 45 M (38 to 60; x)."
    assert intervals(text) == [pytest.approx((0.113, 0.133)), (1.9e-06, 3e-05)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all experiments, which share pieces."""
    return tmp_path_factory.mktemp("quick")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_run_agrees_with_the_committed_one(name: str, folder: Path) -> None:
    fresh = reproduce(name, "quick", folder)
    assert differences(fresh, read_outcome(COMMITTED / f"{name}.json")) == []
