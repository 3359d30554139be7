"""What is kept: results with names that survive a restart, past sittings, replayed hands, and a
table that was left by mistake."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from support.page_audit import problems
from support.web import Table, ask, served_here

import counterplay as cp
from counterplay.app.web.app import make_app
from counterplay.app.web.kept import MOST_UNNAMED, KeptResults

KEY = "0123456789abcdef"


def _frontier(app: Any) -> Any:
    key = ask(app, "/api/jobs", {"model": "uniform:kuhn", "title": "flat"}).data["key"]
    end = time.monotonic() + 90
    while time.monotonic() < end:
        found = ask(app, f"/api/jobs/{key}").data
        if found["state"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_frontier_and_its_strategies_survive_a_restart(tmp_path: Path) -> None:
    first = _frontier(make_app([], tmp_path)[0])
    assert first["state"] == "done"
    app = make_app([], tmp_path)[0]  # another process
    again = ask(app, f"/api/jobs/{first['key']}").data
    assert again["frontier"] == first["frontier"]
    key = again["frontier"]["points"][-1]["strategy"]
    listed = ask(app, "/api/strategies").data["strategies"]
    assert {"key": key, "name": "response to flat, p = 1", "game": "kuhn"} in listed
    view = ask(app, f"/api/explore?s={key}&t={again['frontier']['model']}")
    assert view.status == 200
    assert view.data["rows"][0]["others"] == [0.5, 0.5]
    file = ask(app, f"/api/kept/{key}/strategy")
    (tmp_path / "got.npz").write_bytes(file.body)
    best = cp.Strategy.load(tmp_path / "got.npz")
    risk = 2 * again["frontier"]["points"][-1]["risks"]
    assert cp.exploitability("kuhn", best) == pytest.approx(risk)
    sat = ask(app, "/api/tables", {"game": "kuhn", "opponent": f"strategy:{key}"})
    assert sat.status == 200  # a kept response is an opponent
    named = ask(app, f"/api/kept/{first['key']}/name", {"name": "  my   flat player "})
    assert named.status == 200
    kept = ask(app, "/api/kept").data["kept"]
    assert [(one["name"], one["kind"]) for one in kept] == [("my flat player", "frontier")]
    ask(app, f"/api/kept/{first['key']}/remove", {})
    assert ask(app, "/api/kept").data["kept"] == []
    assert ask(app, f"/api/jobs/{first['key']}").status in (200, 404)
    assert ask(make_app([], tmp_path)[0], f"/api/jobs/{first['key']}").status == 404


def test_what_is_kept_is_listed_once_and_below_the_bots(tmp_path: Path) -> None:
    """Also where the folder of the tables is in a served one."""
    strategy = cp.Strategy.random("holdem(buckets=2)", 1)
    strategy.save(tmp_path / "mine.npz")
    facts = {"title": "flat", "frontier": {"points": [{"p": 0.5}]}}
    KeptResults(tmp_path / "tables" / "kept").save(KEY, facts, {"0": strategy})
    app = make_app([tmp_path], tmp_path / "tables")[0]
    listed = [one["name"] for one in ask(app, "/api/strategies").data["strategies"]]
    response = "response to flat, p = 0.5"
    assert [name for name in listed if "npz" in name] == ["mine.npz"]
    assert listed.count(response) == 1
    games = ask(app, "/api/games").data["games"]
    names = [one["name"] for one in games[0]["opponents"]]
    assert names[1] == "mine.npz"  # below the default
    assert names.index("poki") < names.index(response) == len(names) - 1


def test_results_without_a_name_give_way_and_named_ones_stay(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "kept")
    for k in range(MOST_UNNAMED + 3):
        kept.save(f"{k:016x}", {"title": str(k)}, {})
        if k == 0:
            kept.rename(f"{k:016x}", "stays")
    titles = [record["facts"]["title"] for _, record in kept.records()]
    assert len(titles) == MOST_UNNAMED + 1
    assert "0" in titles
    assert {"1", "2"}.isdisjoint(titles)


@pytest.mark.parametrize(
    "damage",
    ["", "{}", "[]", '{"counterplay": "kept"}', '{"counterplay": "kept", "name": 3}', "\x00"],
)
def test_a_damaged_record_is_left_out(tmp_path: Path, damage: str) -> None:
    app = make_app([], tmp_path)[0]
    (tmp_path / "kept" / KEY).mkdir(parents=True)
    (tmp_path / "kept" / KEY / "record.json").write_text(damage)
    assert ask(app, "/api/kept").data["kept"] == []
    assert ask(app, f"/api/jobs/{KEY}").status == 404
    assert ask(app, f"/api/kept/made-{KEY}-0/strategy").status == 404


@pytest.mark.parametrize("key", ["..", "../tables", "made-..-model", "x" * 16, "made-0-0"])
def test_no_part_of_a_path_comes_from_a_request(tmp_path: Path, key: str) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "secret.npz").write_bytes(b"x")
    app = make_app([], tmp_path / "tables")[0]
    for path in (f"jobs/{key}", f"kept/{key}/strategy", f"kept/{key}/name", f"explore?s={key}"):
        body = {"name": "x"} if path.endswith("name") else None
        assert ask(app, f"/api/{path}", body).status in (400, 404)
    ask(app, f"/api/kept/{key}/remove", {})
    assert (tmp_path / "tables").is_dir()
    assert (tmp_path / "secret.npz").exists()


@pytest.mark.parametrize("name", ["x" * 81, "a\x07b"])
def test_a_name_has_bounds(tmp_path: Path, name: str) -> None:
    app = make_app([], tmp_path)[0]
    app_kept = KeptResults(tmp_path / "kept")
    app_kept.save(KEY, {"title": "t"}, {})
    assert ask(app, f"/api/kept/{KEY}/name", {"name": name}).status == 400
    assert app_kept.records()[0][1]["name"] == ""


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1_600])
def test_tables_are_listed_left_and_found_again_and_hands_replayed(
    page: Any, width: int, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    with served_here(tmp_path) as address:
        table = Table(page, address, "kuhn", "uniform")
        table.play(3, lambda keys: 0)
        total = table.state["winnings"]["total"]
        table.look()
        results = table.state["results"]
        buttons = page.locator(".played button").all_inner_texts()
        shown = [float(text.partition(": ")[2].replace("−", "-")) for text in buttons]
        assert shown == results[::-1]
        page.locator(".played button").last.click()
        page.wait_for_selector(".step")
        page.get_by_role("button", name="Leave the table").click()
        page.get_by_text("You left the table").wait_for()
        line = page.locator(".kept li").first.inner_text()
        assert "3 hands" in line
        assert re.search(r"[+−]?\d+,", line)[0].strip(",").replace("−", "-") in (f"{total:+g}", "0")  # type: ignore[index]
        assert not problems(page)
        page.get_by_role("link", name="Back to the table").click()
        page.wait_for_selector(".played button")
        assert page.locator(".played button").count() == 3


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1_600])
def test_a_hand_of_holdem_is_replayed_move_by_move(page: Any, width: int, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    with served_here(tmp_path) as address:
        table = Table(page, address, "holdem(buckets=10)", "bot:always-call")
        table.play(2, lambda keys: keys.index("c"))
        table.look()
        page.locator(".played button").last.click()
        page.wait_for_selector(".replayed")
        moves = page.get_by_label("Move of the hand")
        last = int(moves.get_attribute("max"))
        assert last == 8  # two moves a street
        replay = page.locator(".cloth.replay")
        assert replay.get_by_label("a hidden card").count() == 0
        moves.fill("0")
        assert replay.get_by_label("a hidden card").count() == 2
        assert replay.get_by_label("no card yet").count() == 5
        moves.fill("2")
        assert replay.get_by_label("no card yet").count() == 2
        assert not problems(page)
        journal = [json.loads(x) for x in (tmp_path / table.name / "moves.jsonl").open()]
        assert len([line for line in journal if "hand" in line]) == 2  # a replay writes nothing
