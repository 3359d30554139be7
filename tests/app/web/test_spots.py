"""The spot editor: what is typed is checked, a spot is solved and seen, locks are answered; and
the page in a real Chromium."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import typed
from support.page_audit import problems
from support.web import Server, ask, served_here

import counterplay as cp
from counterplay.app.web import spots
from counterplay.app.web.app import make_app
from counterplay.app.web.spots import CELLS, decision_facts, range_facts
from counterplay.poker.cards.cards import HOLDING_CARDS, card_text
from counterplay.poker.spots.game import spot

SPOT = {
    "board": "QsJh2c5d8s", "pot": 20, "stacks": 45, "one": "22+,AKs", "two": "QQ,KTs,66",
    "bets": "50,100", "percent": 1.0, "seconds": 30,
}  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_app([], tmp_path_factory.mktemp("tables"))[0]


def _done(app: Any, key: str) -> dict[str, Any]:
    while True:
        job: dict[str, Any] = ask(app, f"/api/jobs/{key}").data
        if job["state"] != "running":
            return job
        time.sleep(0.05)


def test_a_spot_is_solved_seen_and_its_locks_are_answered(app: Any, tmp_path: Path) -> None:
    started = ask(app, "/api/spots", SPOT)
    assert started.status == 200, started.data
    key = started.data["key"]
    assert _done(app, key)["state"] == "done"
    facts = ask(app, f"/api/spots/{key}").data
    assert facts["solved"]
    assert facts["points"][-1][2] <= 1.0
    view = ask(app, f"/api/spots/{key}/view?history=bet+10").data
    assert (view["player"], view["pot"], view["call"]) == (1, 30.0, 10.0)
    assert sum(view["one"]["mean"]) == pytest.approx(1.0, abs=1e-6)
    locked = ask(app, f"/api/spots/{key}/locks", {"locks": ["bet 10 fold 0.8"]}).data
    assert _done(app, locked["key"])["state"] == "done"
    answers = ask(app, f"/api/spots/answers/{locked['key']}").data
    gains = [point["gain"] for point in answers["points"]]
    assert (answers["player"], gains[-1] > gains[0] + 0.5) == (0, True)
    query = f"history=bet+10&answers={locked['key']}&k=9"
    after = ask(app, f"/api/spots/{key}/view?{query}").data
    assert after["one"]["mean"][0] == pytest.approx(0.8, abs=1e-3)
    some = ask(app, f"/api/spots/{key}/locks", {"locks": ["bet 10 call 1 with QQ"]}).data
    assert _done(app, some["key"])["state"] == "done"
    words = shlex.split(facts["command"])[1:]
    same = typed(tmp_path, *words, "-n", "5", "--out", "run", "--json")
    assert same.code == 0, same.stderr


def test_a_decision_is_what_the_library_says() -> None:
    """On a later street, with suits that are alike: every holding, reach and frequency."""
    game = spot("QsJs2s5d", 20, 45, ("22+,AK", "QQ,KT,66,72"), "50")
    strategy = cp.Strategy.random(game, 3)
    board = "QsJs2s5d8h"
    facts = decision_facts(strategy, "check-check/bet 10", board)
    view = cp.spot_view(strategy, "check-check/bet 10", board)
    assert facts["actions"] == list(view.actions)
    assert facts["one"]["mean"] == pytest.approx(list(view.frequency.values()))
    names = [card_text(int(high)) + card_text(int(low)) for low, high in HOLDING_CARDS]
    shares = np.array(facts["one"]["shares"])
    for k, name in enumerate(view.holdings):
        at = names.index(name)
        assert shares[:, at] == pytest.approx(view.policy[k], abs=1e-4)
        assert facts["one"]["reach"][at] == pytest.approx(view.reach[k], abs=1e-4)
        assert facts["free"][at]
    short = decision_facts(strategy, "check-check/bet 10", "")
    assert "one" not in short
    assert (short["needed"], short["board"]) == (5, ["Qs", "Js", "2s", "5d"])
    steps = [(step["history"], step["taken"]) for step in facts["steps"]]
    assert steps[:3] == [("start", "check"), ("check", "check"), ("check-check/", "bet 10")]
    assert facts["steps"][3]["after"][0] is None  # a fold
    assert facts["steps"][1]["after"][0] == "check-check/"


def test_a_range_has_a_mean_weight_by_class() -> None:
    found = range_facts("AK:0.5,AhAd,QQ")
    weight = dict(zip(CELLS, found["weights"], strict=True))
    assert (weight["AKs"], weight["AKo"], weight["QQ"], weight["KK"]) == (0.5, 0.5, 1.0, 0.0)
    assert weight["AA"] == pytest.approx(1 / 6, abs=1e-3)
    assert found["holdings"] == 0.5 * 16 + 1 + 6


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"board": "QsJh"}, "board: 'QsJh' has 2 cards"),
        ({"board": "QsQs2c"}, "board: "),
        ({"one": ""}, "ranges: player 1"),
        ({"one": "QsJh"}, "shares a card with the board"),
        ({"one": "A" * 30_000}, "one: a range is a text"),
        ({"two": "XX"}, "ranges: player 2: cannot read 'XX'"),
        ({"pot": 0}, "pot must be above 0"),
        ({"pot": "x"}, "pot must be"),
        ({"stacks": 0}, "stacks: player 1"),
        ({"bets": "0"}, "bets: river: a size is above 0"),
        ({"cap": 1000}, "cap must be a whole number from 0 to 100"),
        ({"rake": 2}, "rake: a share of the pot"),
        ({"percent": 0}, "percent of the pot is above 0"),
        ({"seconds": 1e9}, "percent of the pot is above 0"),
        ({"rake": 0.05, "rake_cap": -1}, "rake_cap must be at least 0"),
        ({"limit": "maybe"}, "limit must be"),
        ({"apart": "maybe"}, "apart must be"),
    ],
)  # fmt: skip
def test_what_is_no_spot_is_refused_in_a_sentence(app: Any, change: Any, problem: str) -> None:
    reply = ask(app, "/api/spots", SPOT | change)
    assert reply.status == 400
    assert problem in reply.data["error"]
    assert ask(app, "/api/spots/range?text=XX").status == 400


def test_the_command_is_of_the_same_spot(app: Any) -> None:
    """Every field of the form, as typed."""
    form = SPOT | {
        "board": "QsJs2s5s8s", "pot": 123_456.75, "stacks": 654_321.25, "raises": "60 | allin",
        "cap": 2, "min_bet": 1_234_567.5, "rake": 0.05, "rake_cap": 3.25, "apart": True,
        "one": "22+,AKs:0.123456789",
    }  # fmt: skip
    command = shlex.split(ask(app, "/api/spots", form | {"percent": 50}).data["command"])
    for name in ("pot", "stacks", "raises", "cap", "min_bet", "rake", "rake_cap"):
        assert command[command.index(f"--{name.replace('_', '-')}") + 1] == str(form[name])
    assert command[command.index("-1") + 1] == form["one"]
    assert "--suits-apart" in command


def test_a_spot_without_room_is_refused_at_once(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.01")
    wide = {"board": "QsJh2c5d", "one": "random", "two": "random", "stacks": 200}
    reply = ask(app, "/api/spots", SPOT | wide)
    assert (reply.status, reply.data["error"][:23]) == (400, "solving this spot needs")


def test_what_is_not_there_is_not_found(app: Any) -> None:
    for path in ("/api/spots/none", "/api/spots/none/view", "/api/spots/answers/none"):
        assert ask(app, path).status == 404
    assert ask(app, "/api/spots/none/locks", {"locks": ["bet 10 fold 1"]}).status == 404


def test_bad_locks_are_refused_before_they_are_answered(app: Any) -> None:
    key = ask(app, "/api/spots", SPOT).data["key"]
    for locks in ([], ["bet 11 fold 1"], ["file.toml"], [3], "bet 10 fold 1", ["bet 10 fold"] * 30):
        assert ask(app, f"/api/spots/{key}/locks", {"locks": locks}).status == 400
    twice = ["bet 10 fold 0.8", "bet 10 fold 0.2"]
    answer = ask(app, f"/api/spots/{key}/locks", {"locks": twice})
    assert (answer.status, "contradicts lock 'bet 10 fold 0.8'" in str(answer.data)) == (400, True)
    assert _done(app, key)["state"] == "done"


def test_the_oldest_large_spots_are_forgotten(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spots, "MOST_BYTES", 0)
    keys = []
    for _ in range(spots.MOST_HELD + 1):
        keys.append(ask(app, "/api/spots", SPOT | {"percent": 50}).data["key"])
        assert _done(app, keys[-1])["state"] == "done"
    assert [ask(app, f"/api/spots/{key}").status for key in (keys[0], keys[-1])] == [404, 200]


def test_a_spot_and_its_answers_survive_a_restart(tmp_path: Path) -> None:
    app = make_app([], tmp_path)[0]
    key = ask(app, "/api/spots", SPOT).data["key"]
    assert _done(app, key)["state"] == "done"
    named = ask(app, f"/api/kept/{key}/name", {"name": "two pair or better"})
    assert named.status == 200
    locks = ["bet 10 fold 0.8"]
    job = ask(app, f"/api/spots/{key}/locks", {"locks": locks}).data["key"]
    assert _done(app, job)["state"] == "done"
    facts = ask(app, f"/api/spots/{key}").data
    answers = ask(app, f"/api/spots/answers/{job}").data
    view = ask(app, f"/api/spots/{key}/view?answers={job}&k=9").data

    app = make_app([], tmp_path)[0]  # another process
    assert ask(app, f"/api/jobs/{key}").data["state"] == "done"
    assert ask(app, f"/api/spots/{key}").data == facts
    assert (facts["name"], facts["locks"], facts["form"]) == ("two pair or better", locks, SPOT)
    again = ask(app, f"/api/spots/answers/{key}").data
    assert again["player"] == answers["player"]
    for one, other in zip(again["points"], answers["points"], strict=True):
        assert one == pytest.approx(other)
    shown = ask(app, f"/api/spots/{key}/view?answers={key}&k=9").data
    assert shown["one"]["mean"] == pytest.approx(view["one"]["mean"])
    (tmp_path / "got.npz").write_bytes(ask(app, f"/api/kept/made-{key}-solution/strategy").body)
    strategy = cp.Strategy.load(tmp_path / "got.npz")
    gap = cp.exploitability(strategy.game, strategy)
    assert 100 * gap / SPOT["pot"] == pytest.approx(facts["points"][-1][2], rel=1e-6)
    listed = ask(app, "/api/kept").data["kept"]
    assert [(one["key"], one["kind"], one["name"]) for one in listed] == [
        (key, "spot", "two pair or better")
    ]
    every = [one["key"] for one in ask(app, "/api/strategies").data["strategies"]]
    assert not [one for one in every if key in one]  # a spot has a page of its own
    ask(app, f"/api/kept/{key}/remove", {})
    assert ask(make_app([], tmp_path)[0], f"/api/spots/{key}").status == 404


def test_a_spot_that_is_stopped_keeps_what_there_is(app: Any) -> None:
    long = {"board": "QsJh2c5d", "percent": 1e-9, "seconds": 600}
    key = ask(app, "/api/spots", SPOT | long).data["key"]
    while not ask(app, f"/api/spots/{key}").data["points"]:
        time.sleep(0.02)
    ask(app, f"/api/jobs/{key}/stop", {})
    assert _done(app, key)["state"] == "done"
    facts = ask(app, f"/api/spots/{key}").data
    assert facts["solved"]
    assert facts["points"][-1][2] > 0
    assert ask(app, f"/api/spots/{key}/view").data["one"]["mean"] is not None


def _solve(page: Any) -> None:
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_selector(".view[data-ready]")


@pytest.mark.slow  # a browser
def test_the_page_from_painting_to_the_frontier(page: Any, server: Server) -> None:
    page.goto(f"{server.address}/spot?percent=1")
    page.wait_for_selector(".painter [aria-label='AA, 100%']")
    brush = page.get_by_role("group", name="Weight").first
    brush.get_by_role("button", name="50%").click()
    first, last = (
        page.locator(f"[data-cell={name}]").first.bounding_box() for name in ("T9s", "T7s")
    )
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=8)
    page.mouse.up()
    text = page.get_by_label("Range of Out of position as text")
    assert text.input_value() == "22+,A2s+,KTo+:0.5,T9s:0.5,T8s:0.5,T7s:0.5"
    page.get_by_label("Range of In position as text").fill("55+,A9s+,XX")
    page.get_by_label("Range of In position as text").blur()
    page.wait_for_selector(".range .down")
    page.get_by_label("Range of In position as text").fill("55+,A9s+,KQo")
    page.get_by_label("Range of In position as text").blur()
    page.wait_for_selector(".range .down", state="detached")
    _solve(page)
    page.reload()
    page.wait_for_selector(".view[data-ready]")
    assert page.get_by_label("Range of In position as text").input_value() == "55+,A9s+,KQo"
    assert "% of the pot" in page.locator(".progress .facts").inner_text()
    page.locator(".turn button", has_text="bet 10").last.click()
    page.wait_for_selector(".legend :text('in position, river')")
    page.get_by_label("How often in all").fill("80")
    page.get_by_label("With which hands").fill("pairs")
    page.get_by_role("button", name="Lock it").click()
    assert page.locator(".locks code").inner_text() == "bet 10 fold 0.8 with pairs"
    page.get_by_role("button", name="Take it away").click()
    page.get_by_label("With which hands").fill("")
    page.get_by_role("button", name="Lock it").click()
    page.get_by_role("button", name="The answers to it").click()
    page.wait_for_selector(".answers canvas")
    page.get_by_label("Risk at most").fill("1000")
    page.wait_for_selector(".view:has-text('fold 80%')")
    page.get_by_role("button", name="Back to the solution").click()
    page.wait_for_selector(".view:has-text('the solution')")


@pytest.mark.slow  # a browser
@pytest.mark.parametrize("width", [400, 1_600])
def test_the_page_finds_a_spot_again_after_a_restart(page: Any, width: int, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 1_000})
    with served_here(tmp_path) as address:
        page.goto(f"{address}/spot?percent=0.3&pot=24")
        _solve(page)
        key = re.search(r"key=(\w+)", page.url)[1]  # type: ignore[index]
        with page.expect_download() as got:
            page.get_by_role("link", name="Download the solution").click()
        strategy = cp.Strategy.load(_saved(got.value, tmp_path / "got.npz"))
        gap = 100 * cp.exploitability(strategy.game, strategy) / 24
        shown = page.locator(".progress .facts b").first.inner_text()
        assert float(shown.removesuffix("% of the pot")) == pytest.approx(gap, abs=6e-3)
        page.get_by_label("Name of this result").fill("wet river")
        page.get_by_role("button", name="Keep", exact=True).click()
        page.get_by_role("link", name="wet river").wait_for()
        page.locator(".turn button", has_text="bet 12").last.click()
        page.wait_for_selector(".legend :text('in position, river')")
        page.get_by_label("How often in all").fill("80")
        page.get_by_role("button", name="Lock it").click()
        page.get_by_role("button", name="The answers to it").click()
        page.wait_for_selector(".answers canvas")
        facts = page.locator(".answers .facts").inner_text()
    with served_here(tmp_path) as address:  # another server
        page.goto(f"{address}/spot")
        page.get_by_role("link", name="wet river").click()
        page.wait_for_selector(".answers canvas")
        assert key in page.url
        assert page.get_by_label("Name of this result").input_value() == "wet river"
        assert page.locator("input[name=pot]").input_value() == "24"
        assert page.locator(".locks code").inner_text() == "bet 12 fold 0.8"
        assert page.locator(".answers .facts").inner_text() == facts
        assert not problems(page)


def _saved(download: Any, path: Path) -> Path:
    download.save_as(path)
    return path


@pytest.mark.slow  # a browser
def test_a_turn_is_followed_to_a_river_narrow_and_dark(page: Any, server: Server) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{server.address}/spot?board=QsJh2c5d&bets=50&percent=5&one=AA,72s&two=KK,QQ")
    page.locator("#theme").click()
    _solve(page)
    page.locator(".turn button", has_text="check").last.click()
    page.locator(".turn:nth-of-type(2) button", has_text="check").last.click()
    page.get_by_text("Pick or draw the next card.").wait_for()
    page.locator(".view").get_by_role("button", name="8♠").click()
    page.wait_for_selector(".view canvas.grid")
    assert not problems(page)
    page.locator(".view").get_by_role("button", name="Another card").click()
    page.get_by_text("Pick or draw the next card.").wait_for()
    page.goto(f"{server.address}/spot?pot=none")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_text("pot: none is no number").wait_for()
