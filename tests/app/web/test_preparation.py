"""Nobody waits without a bar, an estimate and a way to stop: what a reply has to wait for runs in
the background, once, and the page follows it."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.page_audit import problems
from support.web import Table, ask, served_here

from counterplay.app.web import strategies
from counterplay.app.web.app import make_app
from counterplay.app.web.play import prepare
from counterplay.app.web.play.table import PlayTable
from counterplay.app.web.preparation import Preparations
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.background import BackgroundJob
from counterplay.poker.bots import shipped

PLACE = "counterplay.app.web.play.tables.prepare_opponent"
PROGRAM = """
import time

class Thinker:
    name = "thinker"

    def act(self, view):
        time.sleep(2.0)
        return "call"
"""
CALLER = {"game": "holdem(buckets=10)", "opponent": "bot:always-call"}


def _slowly(seen: list[str], seconds: float = 60.0) -> Any:
    def work(bots: Any, key: str, progress: Any) -> None:
        seen.append(key)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            progress(1.0 - left / seconds, "buckets of the river")
            time.sleep(0.02)

    return work


def _until(app: Any, key: str, state: str) -> Any:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = ask(app, f"/api/jobs/{key}").data
        if found["state"] == state:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def test_a_sitting_waits_for_one_job_which_can_be_stopped_and_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(PLACE, _slowly(seen))
    app = make_app([], tmp_path)[0]
    first = ask(app, "/api/tables", CALLER, wait=False)
    assert first.status == 202
    again = ask(app, "/api/tables", CALLER, wait=False)  # another tab
    assert again.data["job"] == first.data["job"]
    job = ask(app, f"/api/jobs/{first.data['job']}").data
    assert job["what"] == "buckets of the river"
    assert job["share"] + job["seconds"] / 60 == pytest.approx(2 * job["share"], abs=0.02)
    ask(app, f"/api/jobs/{first.data['job']}/stop", {})
    _until(app, first.data["job"], "stopped")
    assert seen == ["bot:always-call"]
    monkeypatch.setattr(PLACE, _slowly(seen, 0.1))
    opened = ask(app, "/api/tables", CALLER, wait=False)  # quick: no job
    assert (opened.status, len(seen)) == (200, 2)
    assert ask(app, "/api/tables", CALLER, wait=False).status == 200
    assert len(seen) == 2
    unknown = ask(app, "/api/tables", {**CALLER, "opponent": "bot:nobody"})
    assert unknown.status == 400  # before anything is prepared


SPOT = {"board": "QsJh2c5d8s", "pot": 20, "stacks": 45, "one": "22+", "two": "QQ,66", "bets": "50"}
FRONTIER = {"model": "uniform:kuhn", "title": "flat"}
WAITS = {  # what every wait of the server does, and the request that begins it
    "play.tables.prepare_opponent": ("/api/tables", CALLER),
    "explore._prepare": ("/api/explore?s=uniform:kuhn", None),
    "explore._locked": ("/api/explore?s=bot:always-call&lock=river+fold+0.9", None),
    "exploit._watch": ("/api/models/poki", {}),
    "exploit.model_frontier": ("/api/jobs", FRONTIER),
    "exploit.certified_players": ("/api/jobs", {**FRONTIER, "what": "certified"}),
    "spots._solve": ("/api/spots", SPOT),
}


@pytest.mark.parametrize("place", WAITS)
def test_stop_acts_soon_also_in_a_step_that_cannot_be_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Compiling, or a sort, takes longer than a person waits for a button."""
    step, (path, body) = threading.Event(), WAITS[place]
    model = {"model": "bot:always-call"} if "certified" in place else {}
    monkeypatch.setattr(f"counterplay.app.web.{place}", lambda *_: step.wait(60))
    app = make_app([], tmp_path)[0]
    found = ask(app, path, None if body is None else {**body, **model}, wait=False).data
    key = found.get("job") or found["key"]
    assert ask(app, f"/api/jobs/{key}").data["state"] == "running"
    before = time.monotonic()
    ask(app, f"/api/jobs/{key}/stop", {})
    _until(app, key, "stopped")
    assert time.monotonic() - before < 3.0
    again = ask(app, path, None if body is None else {**body, **model}, wait=False)
    assert again.status in (200, 202)  # it can be begun again
    step.set()


def test_the_time_left_is_that_of_the_share() -> None:
    """Unless it was there at once: what was done before takes no time, and the rest does."""
    now = time.monotonic()
    job = BackgroundJob("k", "t", share=0.25, started=now - 30.0, reported=now)
    assert job.facts()["left"] == pytest.approx(90.0, rel=0.01)
    job.share = 0.001
    assert job.facts()["left"] is None
    job.share, job.state = 0.5, "done"
    assert job.facts()["left"] is None
    jumped = BackgroundJob("k", "t", share=0.9, started=now - 3.0, reported=now - 2.9)
    assert jumped.facts()["left"] is None


def test_a_failure_is_one_sentence_and_is_tried_again() -> None:
    preparations, calls = Preparations(), []

    def fail(job: BackgroundJob) -> None:
        calls.append(job)
        raise BadParameter("there is no room on the disk")

    with ThreadPoolExecutor(1) as pool:  # a browser's loop may run in this thread
        for k in (1, 2):
            waiting = pool.submit(asyncio.run, preparations.wait("x", fail))
            with pytest.raises(BadParameter, match="no room on the disk"):
                waiting.result()
            assert len(calls) == k


def test_the_default_opponent_is_the_safest_that_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    ready: set[str] = set()
    is_ready = property(lambda self: self.name in ready)
    monkeypatch.setattr(shipped.ShippedStrategy, "prepared", is_ready)
    assert strategies.default_bot() == "safe"  # whose tables take seconds
    ready |= {"safe", "safest"}
    assert strategies.default_bot() == "safest"
    app = make_app([], Path())[0]
    holdem = ask(app, "/api/games").data["games"][0]
    assert holdem["opponents"][0]["key"] == "bot:safest"
    assert ask(app, "/api/strategies").data["strategies"][0]["key"] == "bot:safest"


def test_a_bot_forgets_the_hand_that_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Program:
        name = "program"

        def start(self, seed: int) -> None:
            told.append("start")

        def end_hand(self, ending: Any) -> None:
            told.append("end")

        def act(self, view: Any) -> str:
            return "call"

    monkeypatch.setattr(prepare, "luck_adjustment_of", lambda bot: _NoLuck())
    prepare.warm_up(Program())
    assert told == ["start", "end", "start"]


class _NoLuck:
    def prepare(self) -> None: ...

    def adjusted(self, hand: Any) -> None: ...


@pytest.mark.parametrize("width", [400, pytest.param(1_600, marks=pytest.mark.slow)])
def test_the_page_has_a_bar_the_time_left_and_a_button_that_stops(
    page: Any, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    monkeypatch.setattr(PLACE, _slowly([]))
    with served_here(tmp_path) as address:
        page.goto(f"{address}/play")
        page.locator(".foe", has_text="always-call").click()
        page.get_by_role("button", name="Sit down", exact=True).click()
        page.wait_for_selector(".waiting progress[value]")
        page.locator(".waiting", has_text="left").wait_for()
        assert "buckets of the river: " in page.locator(".waiting").inner_text()
        assert not problems(page)
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped; nothing was kept.").wait_for()
        assert page.get_by_role("button", name="Sit down", exact=True).is_enabled()
    assert threading.active_count() < 60


def test_hands_are_played_again_after_a_restart_in_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table waits with a bar that stops; another table does not."""
    app, names = make_app([], tmp_path)[0], []
    for _ in range(2):
        names.append(ask(app, "/api/tables", {"game": "kuhn", "opponent": "uniform"}).data["table"])
        before = ask(app, f"/api/tables/{names[-1]}/deal", {"version": 0}).data
    restore, going_on = PlayTable._restore, threading.Event()

    def slowly(table: PlayTable, progress: Any) -> None:
        while table.name == names[0] and not going_on.wait(0.02):
            progress(0.5, "your hands so far")
        restore(table, progress)

    monkeypatch.setattr(PlayTable, "_restore", slowly)
    app = make_app([], tmp_path)[0]
    waiting = ask(app, f"/api/tables/{names[0]}", wait=False)
    assert waiting.status == 202
    assert _until(app, waiting.data["job"], "running")["share"] == 0.5
    assert ask(app, f"/api/tables/{names[1]}", wait=False).data == before
    ask(app, f"/api/jobs/{waiting.data['job']}/stop", {})
    _until(app, waiting.data["job"], "stopped")
    going_on.set()
    again = ask(app, f"/api/tables/{names[0]}")
    assert (again.status, again.data["hand"], again.data["version"]) == (200, 0, 1)
    assert ask(app, "/api/tables/nothing").status == 400


@pytest.mark.slow
def test_a_program_that_thinks_is_said_and_others_go_on(page: Any, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    (tmp_path / "mine.py").write_text(PROGRAM)
    program = Path(f"{tmp_path / 'mine.py'}:Thinker")
    with served_here(tmp_path / "tables", program) as address:
        table = Table(page, address, "holdem(buckets=10)", f"bot:{program}")
        table.look()
        page.locator(".acts button.c").click()
        page.get_by_text("is working").wait_for()
        assert not problems(page)
        before = time.monotonic()
        page.request.get(f"{address}/api/games")  # of somebody else
        assert time.monotonic() - before < 0.5
        page.locator(".acts button.c").wait_for()
        assert page.get_by_text("is working").count() == 0
