"""Experiments: names, order, time, and that each has tests of its own."""

from __future__ import annotations

import inspect
from pathlib import Path

from counterplay.app.reproduction.harness.reproduce import experiments

ORDER = "fig4-kuhn fig4-holdem holdem-time table1 table2 fig6 fig7 fig8 bots buckets fig6-holdem"
ORDER += " by-size"
PRIORITY = "fig4-kuhn fig6 fig4-holdem holdem-time table1 table2 fig8 fig7 buckets bots by-size"
PRIORITY += " fig6-holdem"


def test_each_experiment_is_found_by_its_name_in_the_order_of_the_report() -> None:
    assert list(experiments()) == ORDER.split()
    first = sorted(experiments().values(), key=lambda one: one.priority)
    assert [one.name for one in first] == PRIORITY.split()


def test_each_experiment_has_a_file_and_a_test_of_its_name() -> None:
    for name, experiment in experiments().items():
        file = Path(str(inspect.getsourcefile(experiment.run)))
        assert file.stem == name.replace("-", "_")
        assert Path(__file__).with_name(f"test_{file.name}").is_file()


def test_all_experiments_together_take_no_longer_than_is_said() -> None:
    """By what they declare, on two cores."""
    for scale, most in (("quick", 12 * 60), ("paper", 2.5 * 3600)):
        assert sum(one.seconds[scale] for one in experiments().values()) <= most
