"""Watching it learn: what is confirmed, who plays and why, trees; and luck taken out in hold'em."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.web import free_port

import counterplay as cp
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.learning import LearnerMonitor
from counterplay.app.web.play import opponents
from counterplay.app.web.play.tables import TableStore
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import Portfolio


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adaptive player without the time its portfolio takes."""
    game = cp.load("holdem(buckets=10)")

    def make(name: str) -> Any:
        safe = cp.Strategy.uniform(game)
        return LearnerMonitor(Adaptive(game, portfolio=Portfolio(game, safe, ()), iterations=200))

    monkeypatch.setattr(opponents, "make_bot", make)
    monkeypatch.setattr(opponents.HoldemOpponents, "ready", lambda self, key: True)


def _play(table: Any, hands: int, choose: Any) -> None:
    while len(table.done) < hands:
        if table.hand is None or table.hand.over:
            table.next_hand(table.version)
        else:
            table.act(table.version, choose([choice.key for choice in table.hand.choices()]))


@pytest.mark.slow
def test_what_was_learnt_is_told_in_words_and_drawn(learner: None, tmp_path: Path) -> None:
    """Of a person who always calls."""
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:adaptive")
    bot = table.source.bot
    _play(table, 65, lambda keys: keys.index("c"))
    bot.update_trees()
    end = time.monotonic() + 30
    while (bot.learning()["thinking"] or not bot.trees) and time.monotonic() < end:
        time.sleep(0.05)
    assert [tree["street"] for tree in bot.trees] == ["preflop", "flop", "turn", "river"]
    for tree in bot.trees:
        assert sum(tree["tree"]["shares"]) == pytest.approx(1.0)
    assert bot.trees[0]["tree"]["shares"][1] > 0.8  # before the flop there were enough
    learning = bot.learning()
    assert learning["hands"] == 65
    assert learning["playing"]
    assert learning["why"]
    assert any("call" in one["text"] or "check" in one["text"] for one in learning["confirmed"])
    for one in learning["confirmed"]:
        assert 0 <= one["share"] <= 1
        assert 0 < one["half"] < 1


def test_it_knows_the_same_after_a_restart(learner: None, tmp_path: Path) -> None:
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:adaptive")
    rng = random.Random(1)
    _play(table, 12, lambda keys: rng.randrange(len(keys)))
    again = TableStore(tmp_path, Catalog([])).find(table.name)
    assert len(again.source.bot.inner.memory) == 12
    assert again.state()["hand"] == table.state()["hand"]


def test_luck_is_taken_out_of_holdem_once_it_is_known(tmp_path: Path) -> None:
    """The mean stays and the spread shrinks; hands played before it was known count too."""
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:always-call")
    rng = random.Random(2)
    _play(table, 300, lambda keys: rng.randrange(len(keys)))
    table.source.luck.prepare()
    won = table.state()["winnings"]
    assert won["adjusted"] is not None
    assert won["adjusted"]["within"] < won["within"]
    apart = won["adjusted"]["mean"] - won["mean"]
    assert abs(apart) < 2 * won["within"]
    clean = np.array([hand.adjusted() for hand in table.done])
    assert np.isfinite(clean).all()


def test_it_is_watched_in_a_browser(
    learner: None, page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server inside this process, where the learner is small and looks soon."""
    monkeypatch.setattr("counterplay.app.web.learning.EVERY", 3)
    import uvicorn

    from counterplay.app.web.app import make_app

    port = free_port()
    app, _ = make_app([], tmp_path)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", ws="none"))
    work = threading.Thread(target=server.run, daemon=True)
    work.start()
    while not server.started:
        time.sleep(0.02)
    try:
        page.goto(f"http://127.0.0.1:{port}/watch")
        page.get_by_role("button", name="Sit down").click()
        page.wait_for_selector(".acts button")
        for _ in range(25):
            key = "n" if page.locator(".acts .main").count() else "c"
            before = page.get_attribute(".cloth", "data-version")
            page.keyboard.press(key)
            page.wait_for_function(
                "v => document.querySelector('.cloth').dataset.version !== v", arg=before
            )
        assert "It plays" in page.locator("text=It plays").first.inner_text()
        page.wait_for_selector(".tree svg")
        page.get_by_role("button", name="flop", exact=True).click()
        assert page.locator(".tree rect").count() >= 4
    finally:
        server.should_exit = True
        work.join(timeout=10)
