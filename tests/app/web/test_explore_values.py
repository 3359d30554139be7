"""Values, pot odds and frequencies on the explorer's buttons, boards typed as text, locks, and the
drill: their numbers are those of the library, in a real Chromium, narrow and wide."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.page_audit import problems
from support.web import ask, served_here

import counterplay as cp
from counterplay.app.web.app import make_app
from counterplay.core.games.locks import locked
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.cards.cards import cards, holding
from counterplay.poker.holdem.action_values import action_values
from counterplay.poker.holdem.holdings import (
    action_probabilities,
    bucket_codes,
    canonical_board,
)
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.match.rollouts import rollout_values

GAME = "holdem(buckets=2)"
BETTING, BOARD = "rc/cc/cc/r", "AsKd7c2h9s"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("strategies")
    cp.Strategy.random(GAME, 7).save(place / "random.npz")
    return place


def _path(history: str) -> list[int]:
    tree, path = cp.load(GAME).rules.tree, [0]
    for letter in history.replace("/", ""):
        name = next(name for name in tree.actions[path[-1]] if name[0] == letter)
        path.append(tree.moves[path[-1]][name])
    return path


def _key(app: Any) -> str:
    listed = ask(app, "/api/strategies").data["strategies"]
    return str(next(one["key"] for one in listed if one["name"] == "random.npz"))


def _right() -> tuple[Any, np.ndarray]:
    """The values of the library, and the mean over the player's own hands."""
    strategy = cp.Strategy.random(GAME, 7)
    table, tree = strategy_table(strategy), strategy.game.rules.tree
    path, board = _path(BETTING), tuple(cards(BOARD))
    found = action_values(tree, table, table, path, board)
    reach, seat = np.ones(1326), int(tree.nodes.player[path[-1]])
    for at, child in pairwise(path):
        if tree.nodes.player[at] == seat:
            street = int(tree.nodes.street[at])
            codes = bucket_codes(table, board, street)
            name = tree.actions[at][child - int(tree.nodes.first_child[at])]
            reach *= action_probabilities(table, at, codes)[:, ACTIONS.index(name)]
    own = found.weight * reach
    return found, np.nan_to_num(found.value) @ own / own.sum()


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1_600])
def test_buttons_have_frequency_value_and_pot_odds(
    page: Any, width: int, folder: Path, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": width, "height": 1_000})
    with served_here(tmp_path, folder) as address:
        known = page.request.get(f"{address}/api/strategies").json()["strategies"]
        key = next(one["key"] for one in known if one["name"] == "random.npz")
        page.goto(f"{address}/explore?s={key}&betting={BETTING}")
        page.get_by_label("Board as text").fill("as Kd, 7c 2H 9s")
        page.get_by_label("Board as text").press("Enter")
        page.wait_for_selector(".worth-call:not(:empty)")
        assert f"board={BOARD}" in page.url
        found, mean = _right()
        for k, name in enumerate(found.actions):
            text = page.locator(f".worth-{name}").inner_text().replace("−", "-")
            assert float(text.removeprefix("EV ")) == pytest.approx(mean[k], abs=6e-3)
        odds = page.locator(".odds").inner_text()
        assert odds == "pot 6.0 sb, 2.0 to call: pot odds 25%"
        data = page.request.get(f"{address}/api/explore?s={key}&betting={BETTING}&board={BOARD}")
        shares = data.json()["one"]["mean"]
        shown = page.locator(".turn:last-child .share").all_inner_texts()
        assert shown == [f"{100 * share:.0f}%" for share in shares]
        page.locator("canvas.grid").focus()
        page.keyboard.press("ArrowDown")
        assert "EV fold 0.00" in page.locator("#hint").inner_text()
        assert not problems(page)
        page.get_by_label("Board as text").fill("AsAs7c")
        page.get_by_label("Board as text").press("Enter")
        assert page.evaluate("() => document.querySelector('.typed').validity.customError")


def test_a_lock_is_shown_beside_the_strategy(folder: Path, tmp_path: Path) -> None:
    app = make_app([folder], tmp_path)[0]
    key = _key(app)
    where = f"/api/explore?s={key}&betting={BETTING}&board={BOARD}"
    found = ask(app, f"{where}&lock={BETTING.replace('/', '%2F')}+fold+0.9").data
    right = locked(cp.Strategy.random(GAME, 7), [f"{BETTING} fold 0.9"])
    table, node = strategy_table(right), _path(BETTING)[-1]
    codes = bucket_codes(table, tuple(cards(BOARD)), 3)
    free = canonical_board(tuple(cards(BOARD))).free
    shares = action_probabilities(table, node, codes)[free, 0]
    assert np.array(found["two"]["shares"][0])[free] == pytest.approx(shares, abs=6e-4)
    assert ask(app, f"{where}&lock=river+jump+0.9").status == 400
    job = {"model": key, "title": "x", "lock": "river jump 0.9", "seconds": 1}
    assert ask(app, "/api/jobs", job).status == 400


def test_before_the_turn_values_are_estimates_with_an_interval(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterplay.app.web.explore.ROLLOUTS", 50_000)
    app = make_app([folder], tmp_path)[0]
    table = strategy_table(cp.Strategy.random(GAME, 7))
    tree = cp.load(GAME).rules.tree
    for betting, board in (("", ""), ("rc/", BOARD[:6])):
        where = f"/api/explore/values?s={_key(app)}&betting={betting}&board={board}"
        found = ask(app, where).data
        dealt = tuple(cards(board))
        right = rollout_values(tree, table, table, _path(betting), dealt, None, 50_000, seed=3)
        assert right is not None
        assert found["values"] is None
        assert found["actions"] == right.actions
        for k, value in enumerate(right.value):
            assert found["mean"][k] == pytest.approx(
                value, abs=2 * (right.within(k) + found["within"][k]) + 1e-9
            )
        own = ask(app, f"{where}&cards=QhJh").data
        assert own["mean"] != found["mean"]
        assert max(own["within"]) < 0.2
    assert ask(app, f"{where}&cards=AsJh").status == 400
    short = ask(app, f"/api/explore/values?s={_key(app)}&betting=rc/&board=As").data
    assert short == {"values": None}  # no board, no value


@pytest.mark.parametrize("width", [400, pytest.param(1_600, marks=pytest.mark.slow)])
def test_a_holding_before_the_turn_has_an_estimate_with_its_interval(
    page: Any, width: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for once the pointer rests; the same as rollouts with other cards."""
    monkeypatch.setattr("counterplay.app.web.explore.ROLLOUTS", 50_000)
    page.set_viewport_size({"width": width, "height": 1_000})
    table, tree = strategy_table(cp.Strategy.random(GAME, 7)), cp.load(GAME).rules.tree
    with served_here(tmp_path, folder) as address:
        known = page.request.get(f"{address}/api/strategies").json()["strategies"]
        key = next(one["key"] for one in known if one["name"] == "random.npz")
        for betting, board, cell, own in (("r", "", 0, "AsAh"), ("rc/", BOARD[:6], 14, "KhKc")):
            page.goto(f"{address}/explore?s={key}&betting={betting}&board={board}")
            page.wait_for_selector(".worth-call:not(:empty)")
            page.locator("canvas.grid").focus()
            for step in ("ArrowDown", *(["ArrowRight", "ArrowDown"] if cell else [])):
                page.keyboard.press(step)  # the first one stays in the corner
            hint = page.locator("#hint")
            hint.get_by_text("estimated, 95%").wait_for()
            dealt = tuple(cards(board))
            path, one = _path(betting), holding(cards(own))
            right = rollout_values(tree, table, table, path, dealt, one, 50_000, seed=3)
            assert right is not None
            text = hint.inner_text().replace("−", "-").partition("EV ")[2]
            text = text.partition(" sb")[0]
            found = [float(x) for x in re.findall(r"[a-z] ([+-]?[\d.]+)", text)]
            halves = [right.within(k) for k in range(len(right.actions))]
            for shown, value, half in zip(found, right.value, halves, strict=True):
                assert shown == pytest.approx(value, abs=4 * half + 6e-3)
            said = [float(x) for x in re.findall(r"± ([\d.]+)", text)]
            assert said == pytest.approx([half for half in halves if half], abs=0.02)
            assert not problems(page)


def test_the_drill_asks_judges_and_remembers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterplay.app.web.explore.ROLLOUTS", 50_000)
    app = make_app([folder], tmp_path / "tables")[0]
    key = _key(app)
    streets = set()
    for _ in range(24):
        spot = ask(app, f"/api/drill?s={key}").data
        streets.add(spot["street"])
        assert (
            len(spot["board"]) == {"preflop": 0, "flop": 6, "turn": 8, "river": 10}[spot["street"]]
        )
        assert len({*cards(spot["board"] + spot["cards"])}) == len(spot["board"]) // 2 + 2
    assert len(streets) > 1
    found, _ = _right()
    own = "QhJh"
    spot = {"s": key, "betting": BETTING, "board": BOARD, "cards": own}
    values = {
        name: row[holding(cards(own))] for name, row in zip(found.actions, found.value, strict=True)
    }
    for action in found.actions:
        verdict = ask(app, "/api/drill/answer", {**spot, "action": action}).data
        assert verdict["values"] == pytest.approx(values, abs=1e-5)
        assert verdict["cost"] == pytest.approx(max(values.values()) - values[action], abs=1e-5)
        assert sum(verdict["shares"].values()) == pytest.approx(1.0, abs=2e-3)
    for wrong in (
        {"action": "jump"}, {"cards": "AsQh"}, {"cards": "Qh"}, {"betting": "rf"},
        {"betting": "zz"}, {"board": "AsKd7c"}, {"cards": "xxyy"},
    ):  # fmt: skip
        assert ask(app, "/api/drill/answer", {**spot, "action": "call", **wrong}).status == 400
    early = {"s": key, "betting": "r", "board": "", "cards": own, "action": "fold"}
    verdict = ask(app, "/api/drill/answer", early).data
    assert verdict["values"]["fold"] == 0.0
    assert verdict["cost"] == pytest.approx(max(verdict["values"].values()))
    assert 0 < verdict["within"] < 0.2
    with open(tmp_path / "tables" / "drill.jsonl", "a") as file:
        file.write('nonsense\n{"when": "x"}\n')
    results = ask(app, "/api/drill/results").data["results"]
    assert len(results) == len(found.actions) + 1
    assert {one["street"] for one in results} == {"river", "preflop"}
    assert results[-1]["within"] == pytest.approx(verdict["within"])
    assert {one["within"] for one in results[:-1]} == {0.0}
    kuhn = ask(app, "/api/drill?s=uniform:kuhn")
    assert kuhn.status == 400


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1_600])
def test_the_page_of_the_drill(page: Any, width: int, folder: Path, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 1_000})
    with served_here(tmp_path, folder) as address:
        known = page.request.get(f"{address}/api/strategies").json()["strategies"]
        key = next(one["key"] for one in known if one["name"] == "random.npz")
        page.goto(f"{address}/drill?s={key}")
        good = 0
        for k in (1, 2):
            page.locator(".acts button:enabled").first.wait_for()
            page.keyboard.press("c")
            page.wait_for_selector(".judged")
            text = page.locator(".judged .verdict").inner_text()
            page.get_by_text(f"{k} answer").wait_for()
            lines = (tmp_path / "drill.jsonl").read_text().splitlines()
            last = json.loads(lines[-1])
            best = last["cost"] < max(0.005, last["within"] or 0.0)
            good += best
            shown = re.search(r"[\d.]+", text)
            assert ("Best" in text) == best
            assert best or float(shown[0]) == pytest.approx(last["cost"], abs=6e-4)  # type: ignore[index]
            page.get_by_text(f"{good} of them best").wait_for()  # as the verdicts say
            assert not problems(page)
            page.keyboard.press("n")
