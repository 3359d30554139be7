"""Verdicts: of numbers with intervals, of claims, in the summary of all 27, on the page and at the
command line."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from support.report import KNOWN, check, claim, outcome, save
from typer.testing import CliRunner

from counterplay.app.cli import app
from counterplay.app.reproduction.harness import base, judge, reproduce
from counterplay.app.reproduction.harness.base import Experiment, Outcome, read_outcome
from counterplay.app.reproduction.harness.judge import (
    ARTICLE,
    Interval,
    Verdict,
    above,
    around,
    below,
    decide,
    exact,
    median,
)
from counterplay.app.reproduction.harness.report import write_report

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
    """As if every undecided part were true, and as if it were false: decided where both agree."""
    for parts in itertools.product(ALL, repeat=3):
        worlds = list(itertools.product(*[(True, False) if x is None else (x,) for x in parts]))
        values = {all(world) for world in worlds}
        assert judge.all_hold(parts) is (values.pop() if len(values) == 1 else None), parts
    assert judge.all_hold([]) is None
    assert [judge.only_if(False, x) for x in ALL] == [None] * 3
    assert [judge.only_if(True, x) for x in ALL] == list(ALL)


def test_a_verdict_follows_its_parts() -> None:
    assert decide(True, True) is Verdict.HOLDS
    assert decide(False, False) is Verdict.FAILS
    assert decide(True, False) is decide(False, True, None) is Verdict.IN_PART
    assert decide(None, True) is decide(None, False) is decide(None) is decide() is Verdict.OPEN


def test_intervals_of_differences_and_seeds() -> None:
    apart = judge.difference(around(1.0, 0.3), around(0.2, 0.4))
    assert apart == pytest.approx((0.8, 0.3, 1.3))
    assert judge.seed_range([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)
    assert judge.seed_range([1.0, 2.0]).value == 1.5
    for rule in (judge.seed_range, judge.mean_over):
        assert above(rule([5.0]), 0.0) is None  # one run says nothing about the next
        with pytest.raises(ValueError, match="no runs"):
            rule([])
    # Student's t with two degrees of freedom: 4.303 standard errors
    assert judge.mean_over([1.0, 2.0, 3.0]) == pytest.approx((2.0, -0.4843, 4.4843), abs=1e-3)
    assert judge.paired([2.0, 3.0, 4.5], [1.0, 2.0, 3.5]) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="zip"):
        judge.paired([1.0], [1.0, 2.0])


def test_the_interval_over_seeds_holds_the_mean_as_often_as_it_says() -> None:
    """Three seeds of normal noise."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(4_000):
        low, high = judge.mean_over(rng.normal(size=3))[1:]
        inside += low <= 0.0 <= high
    assert 0.94 <= inside / 4_000 <= 0.96


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


def test_the_article_has_27_claims_and_each_belongs_to_an_experiment() -> None:
    assert list(ARTICLE) == list(range(1, 28))
    assert len({one.text for one in ARTICLE.values()}) == 27
    assert {one.experiment for one in ARTICLE.values()} <= set(reproduce.experiments())


def test_what_is_said_of_a_claim_are_sentences() -> None:
    made = judge.claim(1, "it is 3.", Verdict.HOLDS, "above 2")
    assert (made.measured, made.rule, made.text) == ("It is 3.", "Above 2.", ARTICLE[1].text)


def test_the_summary_always_has_27_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not run is open, and beside what is open stands the committed verdict."""
    monkeypatch.setattr(base, "committed", lambda: {2: "holds: 7", 3: "fails: 8", 12: "open: 9"})
    made = [claim(number=1), claim(Verdict.OPEN, number=2), claim(Verdict.FAILS, number=3)]
    rows = base.summary([outcome("good", [*made, claim()])])
    assert [row.claim.number for row in rows] == list(ARTICLE)
    assert base.headline(rows) == "27 claims: 1 hold, 0 in part, 1 fail, 25 open"
    known = {row.claim.number: row.at_paper_scale for row in rows if row.at_paper_scale}
    assert known == {2: "holds: 7", 12: "open: 9"}  # 3 is decided here
    assert rows[11].claim.measured == "Not run."
    paper = Outcome("good", "x", "paper", made, {}, 1.0)
    assert not base.summary([paper])[1].at_paper_scale  # its own verdict is that of paper scale


def test_the_committed_verdicts_are_read_as_they_were_written() -> None:
    assert set(base.committed()) <= set(ARTICLE)
    text = base.committed_text([outcome("x", [claim(number=12), claim(number=3), claim()])])
    assert list(json.loads(text).items()) == [
        ("3", "holds: 0.12 ± 0.02 sb/h"),
        ("12", "holds: 0.12 ± 0.02 sb/h"),
    ]


def test_verdicts_are_kept_and_shown(tmp_path: Path) -> None:
    made = [claim(verdict, number=k) for k, verdict in enumerate(Verdict, 1)]
    save(tmp_path, outcome("good", made))
    assert read_outcome(tmp_path / "good.json").claims == made
    page = check(write_report(tmp_path, KNOWN))
    assert "1 hold, 1 in part, 1 fail, 1 open" in page.text
    badges = {one.get("class") for one in page.all("span")}
    assert {"badge holds", "badge in-part", "badge fails", "badge open"} <= badges


def test_the_command_says_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [claim(verdict, f"{k}.", k) for k, verdict in enumerate(Verdict, 1)]

    def run(scale: str, store: object, progress: object) -> Outcome:
        return Outcome("zebra", "Item zebra", scale, said, {}, 1.0)

    found = {"zebra": Experiment("zebra", "Item zebra", run)}
    monkeypatch.setattr(reproduce, "experiments", lambda: found)
    one = CliRunner().invoke(app, ["reproduce", "zebra", "--out", str(tmp_path)])
    lines = one.output.splitlines()
    assert [line[4:13].strip() for line in lines if line.endswith(".")] == list(Verdict)
    whole = CliRunner().invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert "27 claims: 1 hold, 1 in part, 1 fail, 24 open" in whole.output
    assert whole.output.strip().splitlines()[-1].startswith("Open ")
    for name in ("zebra", "all"):
        done = CliRunner().invoke(app, ["reproduce", name, "--out", str(tmp_path), "--json"])
        data = json.loads(done.stdout)
        data = data["outcomes"][0] if name == "all" else data
        assert [c["verdict"] for c in data["claims"]] == list(Verdict)
