"""The pages in a real Chromium: hands by keyboard, reload, two tabs, a killed server, exploring to
a river, a dropped file, traffic without hidden cards, narrow and dark."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from support.page_audit import problems
from support.web import Server

from counterplay.app.web.app import built_in_pages
from counterplay.poker.cards.cards import card_text
from counterplay.poker.histories.phh import read_phh

GAMES = ("Kuhn poker", "Leduc hold'em", "One-Card Poker", "Bluff", "Goofspiel",
         "Princess and Monster")  # fmt: skip


def _sit(page: Any, server: Server, game: str, opponent: str) -> str:
    """Through the lobby to a table; its name."""
    page.goto(f"{server.address}/play")
    page.get_by_role("button", name=game, exact=False).first.click()
    page.locator(".foe", has_text=opponent).first.click()
    page.get_by_role("button", name="Sit down", exact=True).click()
    page.wait_for_selector(".cloth[data-version]")
    return str(re.search(r"table=([\w-]+)", page.url)[1])  # type: ignore[index]


def _version(page: Any) -> int:
    return int(page.get_attribute(".cloth", "data-version"))


def _press(page: Any, key: str) -> None:
    """A key, and what follows it."""
    before = _version(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => Number(document.querySelector('.cloth').dataset.version) > before", arg=before
    )


def _keys(page: Any) -> list[str]:
    return [text.strip().lower() for text in page.locator(".acts kbd").all_inner_texts()]


def _is_over(page: Any) -> bool:
    return bool(page.locator(".acts .main").count())


def _journal(server: Server, table: str) -> list[dict[str, Any]]:
    text = (server.tables / table / "moves.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_whole_hand_of_holdem_by_keyboard_and_no_hidden_card_on_the_wire(
    page: Any, server: Server, tmp_path: Path
) -> None:
    replies: list[Any] = []
    page.on("response", lambda reply: replies.append(reply))
    table = _sit(page, server, "Limit Texas Hold'em", "always-call")
    for hand in range(2):
        _press(page, "r")
        while not _is_over(page):
            cards = next(x for x in reversed(_journal(server, table)) if "hand" in x)["deal"]
            hidden = [card_text(card) for card in cards[2 - 2 * hand : 4 - 2 * hand]]
            traffic = [reply.text() for reply in replies if "/api/" in reply.url]
            assert any('"own"' in text for text in traffic)
            assert not any(f'"{card}"' in text for card in hidden for text in traffic)
            _press(page, "c")
        page.wait_for_selector(".result")
        assert page.get_by_label("a hidden card").count() == 0  # a showdown: the bot never folds
        replies.clear()
        if hand == 0:
            _press(page, "n")
    page.keyboard.press("v")
    page.wait_for_selector(".step")
    assert page.locator(".step").count() >= 4
    with page.expect_download() as got:
        page.get_by_text("Download the hands").click()
    got.value.save_as(tmp_path / "hands.phhs")
    assert len(read_phh(tmp_path / "hands.phhs")) == 2


@pytest.mark.parametrize("game", GAMES)
def test_a_hand_of_each_other_game(page: Any, server: Server, game: str) -> None:
    table = _sit(page, server, game, "Uniform")
    page.set_viewport_size({"width": 400, "height": 800})
    assert not problems(page)
    dice = random.Random(game)
    for _ in range(60):
        if _is_over(page):
            break
        keys, direct = _keys(page), page.locator(".cloth button:enabled")
        if direct.count() and (not keys or dice.random() < 0.5):
            before = _version(page)
            direct.nth(dice.randrange(direct.count())).click()
            page.wait_for_function(
                "before => Number(document.querySelector('.cloth').dataset.version) > before",
                arg=before,
            )
        else:
            _press(page, dice.choice(keys))
    assert _is_over(page)
    page.wait_for_selector(".result")
    page.get_by_role("button", name="What happened?").click()
    page.wait_for_selector(".step")
    assert "cost" in page.locator(".verdict", has_text="Against a best response").inner_text()
    assert not re.search(r"\b1 points", page.locator("main").inner_text())
    if game == "Goofspiel":
        labels = page.locator(".round.labels span").all_inner_texts()
        assert labels == ["for", "you", "Uniform", "result"]
        rows = page.locator(".round").first.locator("span")
        assert [rows.nth(k).bounding_box()["y"] for k in (1, 2)] == pytest.approx(
            [_middle(page, k) for k in (0, 1)], abs=25
        )  # beside the rows of cards
    assert (server.tables / table / "hands.jsonl").read_text().count("\n") == 1


def _middle(page: Any, row: int) -> float:
    """The middle of a row of bids, less half a line of text."""
    box = page.locator(".round:not(.labels)").first.locator(".card").nth(row).bounding_box()
    return float(box["y"] + box["height"] / 2 - 10)


def test_reload_and_two_tabs_show_the_same_hand(page: Any, server: Server) -> None:
    table = _sit(page, server, "Limit Texas Hold'em", "always-call")
    _press(page, "c")
    own = page.locator(".place").last.locator(".card").first.get_attribute("aria-label")
    page.reload()
    page.wait_for_selector(".cloth[data-version]")
    assert page.locator(".place").last.locator(".card").first.get_attribute("aria-label") == own
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".cloth[data-version]")
    assert _version(other) == _version(page)
    _press(page, "c")
    other.wait_for_function(
        "v => Number(document.querySelector('.cloth').dataset.version) === v", arg=_version(page)
    )
    # a tab that did not hear of it: its move changes nothing and it is told how the table stands
    other.evaluate("() => { BroadcastChannel.prototype.postMessage = () => {}; }")
    _press(other, "c")
    page.keyboard.press("r")
    page.wait_for_function(
        "v => Number(document.querySelector('.cloth').dataset.version) >= v", arg=_version(other)
    )
    lines = _journal(server, table)
    assert len(lines) == _version(page)
    assert "r" not in "".join("".join(line["m"]) for line in lines)


def test_the_server_is_killed_in_the_middle_of_a_hand_and_the_hand_goes_on(
    page: Any, server: Server
) -> None:
    table = _sit(page, server, "Limit Texas Hold'em", "always-call")
    _press(page, "c")
    own = page.locator(".place").last.locator(".card").first.get_attribute("aria-label")
    version = _version(page)
    server.kill()
    try:
        page.keyboard.press("c")
        page.wait_for_selector("#trouble:not([hidden])")
    finally:
        server.start()
    page.wait_for_function(
        "v => Number(document.querySelector('.cloth').dataset.version) > v", arg=version
    )
    assert page.locator("#trouble").is_hidden()
    assert page.locator(".place").last.locator(".card").first.get_attribute("aria-label") == own
    while not _is_over(page):
        _press(page, "c")
    assert len(read_phh(server.tables / table / "hands.phhs")) == 1
    assert len([line for line in _journal(server, table) if "hand" in line]) == 1


@pytest.mark.slow
def test_exploring_to_a_river_with_a_link_a_picture_and_a_table(page: Any, server: Server) -> None:
    page.add_init_script("Math.random = () => 0.37")  # the board that is drawn: no ace in it
    page.goto(f"{server.address}/explore")
    page.wait_for_selector("[data-ready]")
    page.get_by_label("Strategy").select_option(label="uniform · holdem(buckets=10)")
    page.locator("figcaption", has_text="uniform").wait_for()  # the view before is gone
    for street in range(3):
        for name in ("raise", "call") if street == 0 else ("call", "call"):
            before = page.locator(".steps-bar").inner_html()
            page.locator(f".turn:last-child button.{name}").click()
            page.wait_for_function(
                "old => document.querySelector('.steps-bar').innerHTML !== old", arg=before
            )
        page.get_by_role("button", name="Draw").click()
        page.wait_for_function(
            "n => document.querySelectorAll('.picked .card').length >= n", arg=3 + street
        )
        page.wait_for_selector("canvas.grid")
    assert "river" in page.locator(".legend").inner_text()
    page.locator("canvas.grid").hover(position={"x": 30, "y": 30})
    assert "strength" in page.locator("#hint").inner_text()
    page.locator("canvas.grid").focus()
    page.keyboard.press("ArrowDown")
    assert "bucket" in page.locator("#hint").inner_text()
    with page.expect_download() as picture:
        page.get_by_role("button", name="Picture").click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as table:
        page.get_by_role("link", name="CSV").click()
    assert len(Path(table.value.path()).read_text().splitlines()) == 1 + 47 * 46 // 2
    link = page.url
    page.goto(f"{server.address}/runs")
    page.goto(link)
    page.wait_for_selector("canvas.grid")
    assert "river" in page.locator(".legend").inner_text()
    page.get_by_label("Compare with").select_option(label="always-call · holdem(buckets=10)")
    page.wait_for_function("() => document.querySelectorAll('canvas.grid').length === 3")


@pytest.mark.slow
def test_a_dropped_hand_history_gives_a_frontier(page: Any, server: Server, served: Path) -> None:
    page.goto(f"{server.address}/exploit")
    page.wait_for_selector(".drop")
    text = (served / "hands.phhs").read_text()
    drop = page.evaluate_handle(
        """text => { const data = new DataTransfer();
        data.items.add(new File([text], "hands.phhs")); return data; }""",
        text,
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": drop})
    page.locator("select.player").select_option("always-raise")
    page.get_by_label("Seconds of solving").fill("2")
    page.get_by_role("button", name="Work out the frontier").click()
    page.wait_for_selector("table.frontier", timeout=300_000)
    assert page.locator("table.frontier tbody tr").count() == 4
    page.get_by_label("Risk at most").fill("1000")
    assert page.locator(".facts b").first.inner_text() in ("0.5", "0.8", "1")
    page.get_by_role("link", name="What it changes").click()
    page.wait_for_function("() => document.querySelectorAll('canvas.grid').length === 3")


@pytest.mark.slow
def test_work_is_stopped_by_a_slow_click_and_found_again(page: Any, server: Server) -> None:
    """The page is drawn again while the button is held down, and left while the work goes on."""
    page.goto(f"{server.address}/exploit")
    page.get_by_label("A strategy or a bot").select_option("bot:always-call")
    page.get_by_label("Seconds of solving").fill("600")
    page.get_by_role("button", name="Work out the frontier").click()
    page.wait_for_selector(".waiting progress")
    gone = '{"error": "gone"}'  # as after a restart: the page can start something else
    page.route("**/api/jobs/*", lambda route: route.fulfill(status=404, body=gone))
    page.get_by_text("gone", exact=True).wait_for()
    assert page.get_by_role("button", name="Work out the frontier").is_enabled()
    page.unroute("**/api/jobs/*")
    page.goto(f"{server.address}/exploit")
    page.locator("ul.kept li", has_text="going on").get_by_role("link").first.click()
    page.wait_for_selector(".waiting progress")
    assert page.get_by_label("A strategy or a bot").input_value() == "bot:always-call"
    box = page.get_by_role("button", name="Stop").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    said = page.locator(".waiting .muted").inner_text()
    page.wait_for_function(
        "said => document.querySelector('.waiting .muted').innerText !== said", arg=said
    )
    page.mouse.up()
    page.get_by_text("Stopped before there was a result").wait_for()


def test_nothing_from_a_file_becomes_part_of_a_page(page: Any, server: Server) -> None:
    """A run called <img onerror>, hands with such names, a report with a script."""
    page.goto(f"{server.address}/runs")
    page.wait_for_selector("canvas.chart")
    assert page.locator("text=<img src=x onerror=alert(1)>").count() >= 1
    assert page.locator("img[src=x]").count() == 0
    page.get_by_role("button", name="report.html").click()
    page.frame_locator("iframe.report").get_by_text("a report").wait_for()
    page.wait_for_timeout(200)  # a dialog would fail the test


def test_curves_grow_while_solve_runs_elsewhere(page: Any, server: Server, served: Path) -> None:
    import threading

    import counterplay as cp

    page.goto(f"{server.address}/runs")
    page.wait_for_selector(".run")
    place = served / "runs" / "elsewhere"
    work = threading.Thread(
        target=lambda: cp.solve("leduc", "mccfr", seconds=4.0, folder=place), daemon=True
    )
    work.start()
    page.locator(".run", has_text="elsewhere").click()
    page.wait_for_selector(".live")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.legend span')]"
        ".some((one) => one.innerText === 'elsewhere')"
    )
    work.join()


def test_a_late_page_draws_nowhere(page: Any, server: Server) -> None:
    """Its answer comes when another page is open."""
    held: list[Any] = []
    page.goto(f"{server.address}/runs")
    page.wait_for_selector(".run")
    page.route("**/api/strategies", lambda route: held.append(route))
    with page.expect_request("**/api/strategies"):
        page.get_by_role("link", name="Explore", exact=True).click()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_selector(".run")
    with page.expect_response("**/api/strategies"):
        held[0].continue_()
    page.wait_for_timeout(200)
    assert page.locator("main h1").all_inner_texts() == ["Runs"]


def test_every_page_can_be_read(page: Any, server: Server) -> None:
    """Each page of the menu, narrow and wide, in both themes: contrast, names of fields, nothing
    sticks out."""
    page.goto(f"{server.address}/runs")
    names = [link.get_attribute("href") for link in page.locator(".bar nav a").all()]
    assert names == [f"/{one.name}" for one in built_in_pages()]
    for name in names:
        page.goto(f"{server.address}{name}")
        page.wait_for_selector("main h1")
        page.wait_for_timeout(100)
        for width in (1_600, 400):
            page.set_viewport_size({"width": width, "height": 900})
            assert not problems(page), (name, width)
