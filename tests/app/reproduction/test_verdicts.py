"""Verdicts: holds, fails or undecided; of numbers, of claims, of results, on the page and at the
command line."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from support.report import KNOWN, check, claim, outcome, save
from typer.testing import CliRunner

from counterplay.app.cli import app
from counterplay.app.reproduction.harness import judge, reproduce
from counterplay.app.reproduction.harness.base import Experiment, Outcome, read_outcome
from counterplay.app.reproduction.harness.judge import (
    Interval,
    RuleVariant,
    above,
    around,
    below,
    exact,
    median,
)
from counterplay.app.reproduction.harness.report import write_report
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile

ALL = (True, False, None)


def test_an_interval_decides_only_where_all_of_it_says_so() -> None:
    assert above(around(1.0, 0.5), 0.4) is True
    assert above(around(1.0, 0.5), 1.6) is False
    for bound in (0.6, 1.0, 1.4):
        assert above(around(1.0, 0.5), bound) is None
        assert below(around(1.0, 0.5), bound) is None
    assert below(around(1.0, 0.5), 1.6) is True
    assert below(around(1.0, 0.5), 0.4) is False
    assert above(exact(0.0), 0.0) is False
    assert below(exact(0.0), 0.0) is False
    assert above(exact(math.nan), 0.0) is None
    assert above(Interval(3.0, -math.inf, math.inf), 0.0) is None
    assert judge.within(around(0.0, 0.1), -0.2, 0.2) is True
    assert judge.within(around(0.3, 0.05), -0.2, 0.2) is False
    assert judge.within(around(0.2, 0.05), -0.2, 0.2) is None


def test_three_valued_logic() -> None:
    """As if every undecided one were yes, and as if it were no: decided where both agree."""
    for verdicts in itertools.product(ALL, repeat=3):
        worlds = list(itertools.product(*[(True, False) if x is None else (x,) for x in verdicts]))
        values = {all(world) for world in worlds}
        assert judge.all_hold(verdicts) is (values.pop() if len(values) == 1 else None), verdicts
    assert judge.all_hold([]) is None
    assert [judge.only_if(False, x) for x in ALL] == [None] * 3
    assert [judge.only_if(True, x) for x in ALL] == list(ALL)


def test_intervals_of_differences_seeds_and_training() -> None:
    apart = judge.difference(around(1.0, 0.3), around(0.2, 0.4))
    assert apart == pytest.approx((0.8, 0.3, 1.3))
    assert judge.seed_range([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)
    assert judge.seed_range([1.0, 2.0]).value == 1.5
    assert above(judge.seed_range([5.0]), 0.0) is None  # one run says nothing about the next
    with pytest.raises(ValueError, match="no runs"):
        judge.seed_range([])
    now = around(0.1, 0.01)
    assert judge.when_trained(now, around(-0.5, 0.01)) == now
    assert judge.when_trained(now, around(0.02, 0.0)).high == pytest.approx(
        0.11 + judge.REMAINING * 0.02
    )
    assert judge.when_trained(now, around(judge.SETTLED, 0.001)).high == math.inf
    # where the error falls as T^-0.3, no more than what is left is added, and no less
    error = [0.1 * t**-0.3 for t in (0.5, 1.0)]
    left = judge.when_trained(exact(-error[1]), exact(error[0] - error[1])).high
    assert left == pytest.approx(0.0, abs=2e-3)


def test_the_verdict_of_a_result_follows_those_of_its_claims() -> None:
    words = {
        (True, True): "reproduced",
        (True, None): "undecided",
        (None, None): "undecided",
        (True, False): "partly",
        (True, False, None): "partly",
        (False, None): "not reproduced",
        (False, False): "not reproduced",
        (): "no claims",
    }
    for found, word in words.items():
        assert outcome("x", [claim(holds) for holds in found]).verdict == word, found
    assert outcome("x", [claim(x) for x in (None, False, True, None)]).counts == (
        "1 hold, 1 fail, 2 undecided"
    )


def test_undecided_and_earlier_readings_are_kept_and_shown(tmp_path: Path) -> None:
    before = RuleVariant("the median is above zero", "0.3", False)
    made = [claim(True), claim(False), replace(claim(None), before=before)]
    save(tmp_path, outcome("good", made))
    back = read_outcome(tmp_path / "good.json")
    assert back.claims == made
    data = json.loads((tmp_path / "good.json").read_text())
    assert [one["verdict"] for one in data["claims"]] == ["holds", "fails", "undecided"]
    assert data["verdict"] == "partly"
    page = check(write_report(tmp_path, KNOWN))
    assert "1 hold, 1 fail, 1 undecided" in page.text
    assert "By the rule used before (the median is above zero): fails" in page.text
    badges = [one.get("class") for one in page.all("span")]
    assert "badge undecided" in badges
    assert "badge fails" in badges


def test_results_of_before_there_was_undecided_are_read(tmp_path: Path) -> None:
    save(tmp_path, outcome("good", [claim(True), claim(False)]))
    path = tmp_path / "good.json"
    data = files.read_json(path)
    del data["verdict"]
    for one in data["claims"]:
        del one["verdict"], one["before"]
    files.write_json(path, data)
    assert [one.holds for one in read_outcome(path).claims] == [True, False]


@pytest.mark.parametrize("holds", ["yes", 1, 0.5, [], {}])
def test_a_verdict_of_another_kind_is_refused(tmp_path: Path, holds: object) -> None:
    save(tmp_path, outcome("good", [claim(True)]))
    path = tmp_path / "good.json"
    data = files.read_json(path)
    data["claims"][0]["holds"] = holds
    files.write_json(path, data)
    with pytest.raises(BadFile, match="damaged"):
        read_outcome(path)


def test_the_command_says_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [claim(True, "One."), claim(None, "Two."), claim(False, "Three.")]
    said[2] = replace(said[2], before=RuleVariant("another rule", "0.3", None))

    def run(scale: str, store: object, progress: object) -> Outcome:
        return Outcome("zebra", "Item zebra", scale, said, {}, 1.0)

    found = {"zebra": Experiment("zebra", "Item zebra", run)}
    monkeypatch.setattr(reproduce, "experiments", lambda: found)
    one = CliRunner().invoke(app, ["reproduce", "zebra", "--out", str(tmp_path)])
    assert [line.split()[0] for line in one.output.splitlines() if line.endswith(".")] == [
        "holds",
        "undecided",
        "FAILS",
    ]
    assert "by the rule used before (another rule): undecided; 0.3" in " ".join(one.output.split())
    whole = CliRunner().invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert "1 hold, 1 fail, 1 undecided" in whole.output
    for name in ("zebra", "all"):
        done = CliRunner().invoke(app, ["reproduce", name, "--out", str(tmp_path), "--json"])
        data = json.loads(done.stdout)
        data = data["outcomes"][0] if name == "all" else data
        assert [c["verdict"] for c in data["claims"]] == ["holds", "undecided", "fails"]
        assert [c["holds"] for c in data["claims"]] == [True, None, False]
        assert data["verdict"] == "partly"


def test_the_interval_of_a_median_holds_it_at_least_so_often() -> None:
    """By enumeration of ranks: the chance that the true median lies outside is 5% at most."""
    for n in (6, 8, 20, 45):
        values = [float(k) for k in range(n)]
        found = median(values)
        low, high = values.index(found.low), n - 1 - values.index(found.high)
        assert low == high
        outside = 2 * sum(math.comb(n, k) for k in range(low + 1)) / 2**n
        assert outside <= 0.05
        next_one = 2 * sum(math.comb(n, k) for k in range(low + 2)) / 2**n
        assert next_one > 0.05  # and it is no wider than that asks for
    assert median([3.0, 1.0]) == Interval(2.0, 1.0, 3.0)
