"""Watching it learn: what is confirmed, who plays and why, what it believes; and luck taken out in
hold'em."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.page_audit import problems
from support.web import Table, served_here

import counterplay as cp
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.learning import LearnerMonitor, player_text
from counterplay.app.web.play.tables import TableStore
from counterplay.app.web.strategies import HoldemOpponents
from counterplay.poker.adaptive.belief import WIDE
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio_members import Portfolio, PortfolioMember
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.histories.phh import read_phh

WIDTHS = (400, 1_600)


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The adaptive player without the time its portfolio takes; those that sat down."""
    game = cp.load("holdem(buckets=10)")

    bots = list[Any]()

    def make(self: Any, key: str) -> Any:
        safe, known = cp.Strategy.uniform(game), simple_strategy("always-call", game)
        members = (PortfolioMember("always-call", known, simple_strategy("always-raise", game)),)
        kept = Portfolio(game, safe, members)
        bots.append(Adaptive(game, portfolio=kept))
        return LearnerMonitor(bots[-1])

    monkeypatch.setattr(HoldemOpponents, "get", make)
    monkeypatch.setattr("counterplay.app.web.play.tables.prepare_opponent", lambda *_: None)
    return bots


def _play(table: Any, hands: int, choose: Any) -> None:
    while len(table.done) < hands:
        if table.hand is None or table.hand.over:
            table.next_hand(table.version)
        else:
            table.act(table.version, choose([choice.key for choice in table.hand.choices()]))


@pytest.mark.slow
def test_what_was_learnt_is_told_in_words(learner: list[Any], tmp_path: Path) -> None:
    """Of a person who always calls."""
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:adaptive")
    bot = table.source.bot
    _play(table, 65, lambda keys: keys.index("c"))
    end = time.monotonic() + 30
    while bot.seen < 65 and time.monotonic() < end:  # another thread may be reading it
        bot.read_belief()
        time.sleep(0.05)
    learning, belief = bot.learning(), bot.belief_facts()
    assert learning["hands"] == 65
    fitting = ("the equilibrium", "the response to always-call", "the learnt response")
    assert learning["playing"] in fitting
    assert learning["why"]
    assert learning["advice"].endswith("mb/g or more to somebody who knows it")
    assert any("call" in one["text"] or "check" in one["text"] for one in learning["confirmed"])
    for one in learning["confirmed"]:
        assert ("too few hands" in one["text"]) == (one["share"] is None)
        assert one["share"] is None or 0 < one["half"] <= WIDE
    assert (belief["hands"], belief["learnt_from"]) == (65, 60)
    assert belief["spots"][0]["name"] == "before the flop, first to act"
    assert belief["spots"][0]["taken"] == [0, 33, 0]
    assert belief["spots"][0]["believed"][1] > 0.8
    standing = bot.inner.standing()
    assert [one["share"] for one in learning["likely"]] == [share for _, share in standing.likely]
    assert learning["changes"] == list(standing.changes)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("equilibrium", "an equilibrium"),
        ("poki", "like poki"),
        ("too-loose 50%", "like too-loose, with strength 50%"),
        ("learnt model", "a model of you from your hands"),
    ],
)
def test_what_a_person_may_be_in_words(name: str, text: str) -> None:
    assert player_text(name) == text


def test_it_knows_the_same_after_a_restart(learner: list[Any], tmp_path: Path) -> None:
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:adaptive")
    rng = random.Random(1)
    _play(table, 12, lambda keys: rng.randrange(len(keys)))
    again = TableStore(tmp_path, Catalog([])).find(table.name)
    assert len(again.source.bot.inner.memory) == 12
    assert not again.state()["known"]
    assert again.state()["hand"] == table.state()["hand"]


def test_luck_is_taken_out_of_holdem_once_it_is_known(tmp_path: Path) -> None:
    """The mean stays and the spread shrinks; hands played before it was known count too."""
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:always-call")
    rng = random.Random(2)
    _play(table, 300, lambda keys: rng.randrange(len(keys)))
    table.source.luck.prepare()
    won = table.state()["winnings"]
    assert table.state()["known"]  # its mixing is taken out too, which the page says
    assert won["adjusted"] is not None
    assert won["adjusted"]["within"] < won["within"]
    apart = won["adjusted"]["mean"] - won["mean"]
    assert abs(apart) < 2 * won["within"]
    clean = np.array([hand.adjusted() for hand in table.done])
    assert np.isfinite(clean).all()


def test_an_asked_state_is_whole_while_a_hand_ends(learner: list[Any], tmp_path: Path) -> None:
    """A slow table is asked by another thread in the middle of its last move."""
    table = TableStore(tmp_path, Catalog([])).new("holdem(buckets=10)", "bot:adaptive")
    asked = []
    adjusted = table.source.luck.adjusted

    class Asking:
        within = False  # a state adjusts hands that ended before the adjustment was ready

        def adjusted(self, hand: Any) -> float | None:
            if not self.within:
                self.within = True
                asked.append(table.state()["winnings"]["hands"])
                self.within = False
            return adjusted(hand)

    table.source.luck = Asking()
    _play(table, 3, lambda keys: keys.index("c"))
    assert len(asked) >= 3


@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_watched_in_a_browser(
    learner: list[Any],
    equilibrium: Any,
    page: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
) -> None:
    """Numbers of the panel are those of the hands; too few hands are said; nothing overflows."""
    monkeypatch.setattr("counterplay.app.web.learning.EVERY", 1)
    page.set_viewport_size({"width": width, "height": 1_000})
    rng = random.Random(width)
    with served_here(tmp_path) as address:
        table = Table(page, address, "holdem(buckets=10)", "bot:adaptive")
        table.play(30, lambda keys: rng.randrange(len(keys)))
        table.look("watch")
        page.wait_for_selector(".spot")
        belief = table.get("belief").json()["belief"]
        page.get_by_text("Responses it can play").click()
        text = page.locator("main").inner_text()
        assert "inf" not in text.replace("information", "")
        assert "It plays the equilibrium: it has seen too few hands" in text
        assert "the response to always-call" in text
        assert "too few hands" in page.locator(".arms").inner_text()
        assert "It takes you for an equilibrium until its first update" in text
        # what it takes the person for is what the player itself says
        likely = learner[-1].standing().likely
        rows = [row.locator("td").all_inner_texts() for row in page.locator(".likely tr").all()]
        assert rows == [[player_text(name), _percent(share)] for name, share in likely]
        assert not problems(page)
        (tmp_path / "got.phhs").write_bytes(table.get("hands").body())
        page.wait_for_function(f"() => document.body.innerText.includes({_opened(tmp_path)!r})")
        assert belief["spots"][0]["expected"] == pytest.approx([1 / 3] * 3)  # uniform play
        # the finding of too few hands has no number
        for one in page.locator(".finding").all_inner_texts():
            assert "±" not in one or "too few" not in one
        # the opponent is a program: only moves before the flop are weighed
        page.keyboard.press("v")
        page.wait_for_selector(".step")
        found = table.get("review?hand=" + str(table.state["hand"])).json()
        mine = [step for step in found["steps"] if step["who"] == "you"]
        late = [step for step in mine if step["cost"] is None]
        assert page.get_by_text("not weighed", exact=True).count() == len(late) <= len(mine)
        text = page.locator("main").inner_text()
        assert ("a shipped equilibrium" in text) == bool(mine)  # the note explains costs


def _percent(share: float) -> str:
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{int(100 * share + 0.5)}%"


def _opened(folder: Path) -> str:
    """What the person did as the first to act, as the page says it."""
    hands = read_phh(folder / "got.phhs").hands
    first = Counter(hand.end.history[0] for hand in hands if hand.dealer == "you")
    return f"fold {first['f']}, call {first['c']}, raise {first['r']}"
