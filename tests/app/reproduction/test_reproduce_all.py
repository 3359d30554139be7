"""`reproduce all` with experiments that only pretend: order, skipping, interruption, failure,
progress."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.report import check, claim, png
from typer.testing import CliRunner

import counterplay as cp
from counterplay.app.cli import app
from counterplay.app.reproduction.harness import base, reproduce
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ProgressCallback,
    duration,
)
from counterplay.app.reproduction.harness.reproduce import OverallProgress, reproduce_all
from counterplay.app.reproduction.harness.store import PieceStore

NUMBERS = {"fig4-kuhn": 1, "table1": 12, "fig6": 23, "zebra": 0}  # of the claims of each
NAMES = tuple(NUMBERS)


class Lab:
    """Pretended experiments; `bad` names those that go wrong, and how."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []
        self.bad: dict[str, BaseException] = {}
        seconds = {"quick": 10.0, "paper": 100.0}
        known = [
            Experiment(name, f"Item {name}", self._runner(name), seconds, order=k)
            for k, name in enumerate(NAMES)
        ]
        known[-1] = replace(known[-1], order=math.inf)  # as if it did not say
        self.experiments = reproduce.in_order(known[::-1])

    def _runner(self, name: str):  # type: ignore[no-untyped-def]
        def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
            folder = store.folder
            self.ran.append((name, scale))
            for share in (0.0, 0.5, 0.3, 1.7):  # not all of them tell the truth
                progress(share, "working")
            folder.mkdir(exist_ok=True)
            (folder / f"{name}.png").write_bytes(png())
            if name in self.bad:
                raise self.bad[name]
            claims = [claim(number=NUMBERS[name])]
            files = [f"{name}.png"]
            return Outcome(name, f"Item {name}", scale, claims, {"seeds": 1}, 3.0, files)

        return run


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    made = Lab()
    monkeypatch.setattr(reproduce, "experiments", lambda: made.experiments)
    return made


def _names(lab: Lab) -> list[str]:
    return [name for name, _ in lab.ran]


def test_all_run_in_the_order_of_the_paper_and_the_page_shows_them(
    lab: Lab, tmp_path: Path
) -> None:
    campaign = reproduce_all("quick", tmp_path)
    assert _names(lab) == list(NAMES)
    assert [outcome.name for outcome in campaign.outcomes] == list(NAMES)
    assert campaign.skipped == []
    assert campaign.failures == []
    assert "27 claims: 3 hold, 0 in part, 0 fail, 24 open" in check(campaign.report).text


def test_running_it_twice_does_no_work_twice(lab: Lab, tmp_path: Path) -> None:
    first = reproduce_all("quick", tmp_path)
    told: list[float] = []
    second = reproduce_all("quick", tmp_path, lambda share, what: told.append(share))
    assert len(lab.ran) == 4
    assert second.outcomes == first.outcomes
    assert second.skipped == list(NAMES)
    assert told == [1.0]
    reproduce_all("quick", tmp_path, again=True)
    assert len(lab.ran) == 8


def test_another_scale_or_version_or_a_lost_file_is_run_again(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduce_all("quick", tmp_path)
    (tmp_path / "table1.png").unlink()
    (tmp_path / "fig6.json").write_bytes(b"\xff")
    (tmp_path / "zebra.png").write_bytes(png(3))
    reproduce_all("quick", tmp_path)
    assert _names(lab)[4:] == ["table1", "fig6", "zebra"]
    monkeypatch.setattr(base, "version", lambda: "9.9")
    reproduce_all("quick", tmp_path)
    assert _names(lab)[7:] == list(NAMES)
    monkeypatch.undo()


def test_a_change_of_scale_is_run(lab: Lab, tmp_path: Path) -> None:
    reproduce_all("quick", tmp_path)
    reproduce_all("paper", tmp_path)
    assert lab.ran[4:] == [(name, "paper") for name in NAMES]


def test_after_an_interruption_it_goes_on_with_the_next(lab: Lab, tmp_path: Path) -> None:
    lab.bad["fig6"] = KeyboardInterrupt()
    with pytest.raises(cp.Interrupted) as stop:
        reproduce_all("quick", tmp_path)
    assert [outcome.name for outcome in stop.value.result.outcomes] == ["fig4-kuhn", "table1"]
    assert _names(lab) == ["fig4-kuhn", "table1", "fig6"]
    assert "27 claims: 2 hold, 0 in part, 0 fail, 25 open" in check(tmp_path / "report.html").text
    lab.bad.clear()
    campaign = reproduce_all("quick", tmp_path)
    assert _names(lab)[3:] == ["fig6", "zebra"]
    assert campaign.skipped == ["fig4-kuhn", "table1"]
    assert "27 claims: 3 hold, 0 in part, 0 fail, 24 open" in check(campaign.report).text


def test_killed_between_the_picture_and_the_verdict_of_a_second_run_is_not_trusted(
    lab: Lab, tmp_path: Path
) -> None:
    reproduce_all("quick", tmp_path)
    (tmp_path / "fig6.png").write_bytes(
        png(8)
    )  # what a kill leaves: a new picture beside the old verdict
    assert "fig6.png is not the file" in check(reproduce_and_page(tmp_path, "zebra")).text
    reproduce_all("quick", tmp_path)
    assert _names(lab)[-1] == "fig6"


def reproduce_and_page(folder: Path, name: str) -> Path:
    reproduce.reproduce(name, "quick", folder)
    return folder / "report.html"


def test_a_failure_stops_nothing_and_is_reported_until_it_is_mended(
    lab: Lab, tmp_path: Path
) -> None:
    lab.bad["table1"] = ValueError(
        f"cannot read {tmp_path}/deep/down/cards.npz: 1/2 of it is missing\nsecond line"
    )
    campaign = reproduce_all("quick", tmp_path)
    assert _names(lab) == list(NAMES)
    assert [failure.name for failure in campaign.failures] == ["table1"]
    text = check(campaign.report).text
    assert "27 claims: 2 hold, 0 in part, 0 fail, 25 open" in text
    assert "ValueError: cannot read cards.npz: 1/2 of it is missing" in text
    assert "test_reproduce_all.py" in text
    assert str(tmp_path) not in text
    reproduce.reproduce("zebra", "quick", tmp_path)
    assert "The last run (quick scale) failed" in check(campaign.report).text
    lab.bad.clear()
    mended = reproduce_all("quick", tmp_path)
    assert mended.skipped == ["fig4-kuhn", "fig6", "zebra"]
    assert mended.failures == []
    assert "27 claims: 3 hold, 0 in part, 0 fail, 24 open" in check(campaign.report).text


def test_a_failed_second_run_is_not_hidden_by_the_first(lab: Lab, tmp_path: Path) -> None:
    reproduce_all("quick", tmp_path)
    lab.bad["fig6"] = MemoryError()
    reproduce_all("quick", tmp_path, again=True)
    assert "What follows is from an earlier run." in check(tmp_path / "report.html").text
    lab.bad.clear()
    reproduce_all("quick", tmp_path)
    assert _names(lab)[8:] == ["fig6"]


def test_one_progress_that_never_falls_and_says_what_runs_and_how_long(
    lab: Lab, tmp_path: Path
) -> None:
    told: list[tuple[float, str]] = []
    lab.bad["table1"] = ValueError("x")
    reproduce_all("quick", tmp_path, lambda share, what: told.append((share, what)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert re.fullmatch(r"about \d+ s left, fig4-kuhn \(1 of 4\): working", told[2][1])
    assert told[2][0] == pytest.approx(0.125)  # half of one of four equal parts


def test_weights_come_from_earlier_runs(lab: Lab, tmp_path: Path) -> None:
    reproduce_all("quick", tmp_path)  # each says it took 3 seconds, not 10
    replace(base.read_outcome(tmp_path / "fig4-kuhn.json"), seconds=91.0).save(tmp_path)
    told: list[tuple[float, str]] = []
    reproduce_all("quick", tmp_path, lambda share, what: told.append((share, what)), again=True)
    assert next(share for share, what in told if "table1" in what) == pytest.approx(0.91)


def test_time_left_follows_the_pace() -> None:
    told: list[str] = []
    overall = OverallProgress({"a": 100.0, "b": 300.0}, lambda share, what: told.append(what))
    overall._started -= 200  # it took twice as long as expected
    overall.part("a")(1.0, "x")
    assert 500 < overall.left() < 600
    assert [duration(seconds) for seconds in (5, 600, 7200, 864000)] == [
        "5 s",
        "10 min",
        "2.0 h",
        "10.0 days",
    ]


def test_command_line(lab: Lab, tmp_path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "report.html" in done.output
    assert "fig4-kuhn (1 of 4)" in done.output
    assert (
        "4 were there already"
        in runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path)]).output
    )
    lab.bad["fig6"] = ValueError("no luck")
    failed = runner.invoke(
        app, ["reproduce", "all", "--out", str(tmp_path), "--again", "--scale", "paper"]
    )
    assert failed.exit_code == 1
    assert "FAILED" in failed.output
    assert "no luck" in failed.output
    lab.bad["fig6"] = KeyboardInterrupt()
    stopped = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path), "--scale", "paper"])
    assert stopped.exit_code == 130
    assert "3 of 4 are finished" in stopped.stderr
    assert "the same command goes on" in stopped.stderr
    assert stopped.stderr.strip().splitlines()[-1].startswith("stopped: ")
    single = runner.invoke(app, ["reproduce", "zebra", "--out", str(tmp_path), "--json"])
    assert json.loads(single.stdout)["name"] == "zebra"
    whole = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path), "--json"])
    assert whole.exit_code == 130
    assert json.loads(whole.stdout)["stopped"]
    alone = runner.invoke(app, ["reproduce", "fig6", "--out", str(tmp_path)])
    assert alone.exit_code == 130
    anew = runner.invoke(app, ["reproduce", "fig6", "--out", str(tmp_path), "--again"])
    assert "without --again" in anew.stderr
    assert alone.stderr.startswith("stopped: fig6 is not finished; ")
    assert len(alone.stderr.strip().splitlines()) == 1
    with pytest.raises(cp.CounterplayError, match="quick or paper"):
        reproduce_all("huge", tmp_path)


def test_from_python(lab: Lab, tmp_path: Path) -> None:
    outcome = cp.reproduce("fig6", folder=tmp_path)
    assert outcome.counts == "1 hold, 0 in part, 0 fail, 0 open"
    assert (tmp_path / "report.html").exists()
    assert cp.reproduce_all(folder=tmp_path).skipped == ["fig6"]
