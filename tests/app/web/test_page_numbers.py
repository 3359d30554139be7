"""The numbers of the pages in a real Chromium, narrow and wide, compared with `play_match` and with
exact values: what a frontier wins and risks, winnings per hand, and costs of moves."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.page_audit import problems
from support.web import Table, served_here

import counterplay as cp
from counterplay.app.reproduction.fig6_holdem import committed_points, curve
from counterplay.app.web.catalog import Catalog
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.bots import shipped
from counterplay.poker.cards.cards import cards, holding
from counterplay.poker.histories.phh import read_phh
from counterplay.poker.match.rollouts import rollout_values

MINUS = "−"
PROGRAM = """
class Caller:
    name = "caller"

    def act(self, view):
        return "call"
"""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The strategies that were computed while serving, by key."""
    strategies: dict[str, Any] = {}
    add = Catalog.add

    def record(self: Catalog, key: str, name: str, strategy: Any) -> None:
        strategies[key] = strategy
        add(self, key, name, strategy)

    monkeypatch.setattr(Catalog, "add", record)
    return strategies


def _number(text: str) -> float:
    """The first number in a text."""
    found = re.search(rf"[+{MINUS}-]?\d+(\.\d+)?", text.replace(",", ""))
    assert found is not None, text
    return float(found.group().replace(MINUS, "-"))


def _frontier(page: Any, address: str, model: str, seconds: str | None = None) -> list[Any]:
    page.goto(f"{address}/exploit")
    page.get_by_label("A strategy or a bot").select_option(model)
    if seconds is not None:
        page.get_by_label("Seconds of solving").fill(seconds)
    page.get_by_role("button", name="Work out the frontier").click()
    page.wait_for_selector("table.frontier", timeout=120_000)
    page.get_by_role("button", name="Work out the frontier").and_(
        page.locator(":enabled")
    ).wait_for()
    rows = page.locator("table.frontier tbody tr").all()
    return [[_number(cell) for cell in row.locator("td").all_inner_texts()] for row in rows]


def _seats(game: Any, one: Any, two: Any) -> list[float]:
    """What `one` wins from `two` in each seat, exactly."""
    return [float(cp.expected_value(game, two.replace(one, seat))[seat]) for seat in (0, 1)]


def test_a_small_frontier_is_the_exact_mean_of_the_seats(
    page: Any, width: int, made: dict[str, Any], tmp_path: Path
) -> None:
    """Of the strategies that the page has made; a match says the same."""
    game, model = cp.load("kuhn"), cp.Strategy.uniform("kuhn")
    with served_here(tmp_path) as address:
        rows = _frontier(page, address, "uniform:kuhn")
        assert not problems(page)
        assert "at least" not in page.locator("main").inner_text()
        key = re.search(r"job=(\w+)", page.url)[1]  # type: ignore[index]
        for k, (_, won, risk, _) in enumerate(rows):
            response = made[f"made-{key}-{k}"]
            assert won == pytest.approx(np.mean(_seats(game, response, model)), abs=6e-5)
            worst = cp.exploitability(game, response)
            assert risk == pytest.approx(worst / 2, abs=6e-5)
        played = cp.play_match(game, made[f"made-{key}-{len(rows) - 1}"], model, 20_000)
        assert abs(rows[-1][1] - played.mean) < 5 * played.standard_error
        first = max(rows, key=lambda row: row[1] - row[3])  # the most above mixing the ends
        assert page.locator(".facts b").first.inner_text() == f"{first[0]:g}"
        _check_slider(page, rows)
        facts = page.locator(".facts").inner_text()
        assert f"b1 + b2: {2 * rows[-1][2]:.3f}"[:-1] in facts  # the library's sum


def _check_slider(page: Any, rows: list[Any]) -> None:
    """Even in risk from the least to the most; each p that wins more has a button."""
    least, most = min(row[2] for row in rows), max(row[2] for row in rows)
    for place in (0, 250, 500, 1_000):
        page.get_by_label("Risk at most").fill(str(place))
        limit = _number(page.locator(".slider output").inner_text())
        assert limit == pytest.approx(least + (most - least) * place / 1_000, abs=3e-4)
    page.get_by_role("button", name=f"p = {rows[-1][0]:g}", exact=True).click()
    assert page.locator(".facts b").first.inner_text() == f"{rows[-1][0]:g}"
    limit = _number(page.locator(".slider output").inner_text())
    assert limit == pytest.approx(rows[-1][2], abs=2e-4)


def test_the_answer_to_a_lock_is_shown_beside_the_strategy_without_it(
    page: Any, made: dict[str, Any], tmp_path: Path
) -> None:
    """What is won is won from the locked strategy."""
    game, lock = cp.load("kuhn"), "K* bet 0.9"
    with served_here(tmp_path) as address:
        asked = {"model": "uniform:kuhn", "title": "uniform", "lock": lock}
        key = page.request.post(f"{address}/api/jobs", data=asked).json()["key"]
        page.goto(f"{address}/exploit?job={key}")
        page.locator("table.frontier tbody tr").nth(6).wait_for()
        link = page.get_by_role("link", name="What it changes").get_attribute("href")
        assert link.startswith("/explore?s=uniform:kuhn&t=made-")
        assert "beside the strategy without the lock" in page.locator(".facts").inner_text()
        last = page.locator("table.frontier tbody tr").last.locator("td").all_inner_texts()
        believed = cp.locked(cp.Strategy.uniform("kuhn"), [lock])
        won = np.mean(_seats(game, made[f"made-{key}-6"], believed))
        assert _number(last[1]) == pytest.approx(won, abs=6e-5)


@pytest.mark.slow
def test_certified_players_and_their_mixture(
    page: Any, width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is won is what a match says, the risk is that of the index; between two players the
    slider gives the mixture."""
    safe = shipped.strategies()[0]
    players = [
        replace(safe, name="always-call", exploitability=0.4, mb_per_game=200.0),
        replace(safe, name="always-raise", exploitability=0.8, mb_per_game=400.0),
        replace(safe, name="always-fold", exploitability=0.6, mb_per_game=300.0),
    ]
    monkeypatch.setattr("counterplay.app.web.frontiers.strategies", lambda: tuple(players))
    monkeypatch.setattr("counterplay.app.web.frontiers.HANDS", 20_000)
    cp.Strategy.random("holdem(buckets=10)", 7).save(tmp_path / "random.npz")
    with served_here(tmp_path / "tables", tmp_path / "random.npz") as address:
        page.goto(f"{address}/exploit")
        page.get_by_label("A strategy or a bot").select_option(label="random.npz")
        page.get_by_role("button", name="Try the certified players").click()
        page.wait_for_function(
            "() => document.querySelectorAll('table.frontier tbody tr').length === 3"
        )
        rows = [row.locator("td").all_inner_texts() for row in page.locator("tbody tr").all()]
        assert [row[0] for row in rows] == ["always-call", "always-fold", "always-raise"]
        assert [row[3] for row in rows] == ["200", "300", "400"]
        model = cp.Strategy.load(tmp_path / "random.npz")
        won = {}
        for name, text, *_ in rows:
            played = cp.play_match(model.game, name, model, 20_000, luck_adjusted=True)
            assert _number(text) == pytest.approx(played.adjusted.mean, abs=6e-5)
            won[name] = _number(text)
        assert won["always-raise"] > won["always-call"] > won["always-fold"]
        assert page.get_by_role("button", name="always-fold").is_disabled()
        page.get_by_label("Risk at most").fill("500")
        assert page.locator(".slider output").inner_text() == "300 mb/g (0.3000 sb/h)"
        text = page.locator(".mixture").inner_text()
        assert "always-call in 50% and always-raise in 50%" in text
        half = (won["always-call"] + won["always-raise"]) / 2
        assert _number(text.partition("of them: ")[2]) == pytest.approx(half, abs=2e-4)
        assert "no more than 300 mb/g" in text
        assert "certified" in page.locator(".facts").inner_text()
        assert not problems(page)


@pytest.mark.slow
def test_a_frontier_by_play_is_what_matches_say_and_says_at_least(
    page: Any, width: int, made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterplay.app.web.frontiers.HANDS", 20_000)
    with served_here(tmp_path) as address:
        rows = _frontier(page, address, "bot:always-call", "2")
        assert not problems(page)
        key = re.search(r"job=(\w+)", page.url)[1]  # type: ignore[index]
        model = made[f"made-{key}-model"]
        for k, (_, won, risk, millibets, _) in enumerate(rows):
            played = cp.play_match(
                model.game, made[f"made-{key}-{k}"], model, 20_000, luck_adjusted=False
            )
            assert won == pytest.approx(played.mean, abs=6e-5)
            assert millibets == pytest.approx(1_000 * risk, abs=0.6)
        header = page.locator("table.frontier thead").inner_text()
        assert header.count("at least") == 2  # in sb/h and in mb/g
        facts = page.locator(".facts div").all_inner_texts()
        risk_text = next(text for text in facts if "at risk" in text)
        assert risk_text.startswith("at least")
        assert "mb/g" in risk_text
        assert "b1 + b2: at least" in risk_text
        assert "the real risk is at least this" in page.locator(".slider").inner_text()


def test_winnings_are_winnings_per_hand(page: Any, width: int, tmp_path: Path) -> None:
    """An odd number of hands, where a mean of the seats' means is another number."""
    rng = random.Random(width)
    with served_here(tmp_path) as address:
        table = Table(page, address, "holdem(buckets=10)", "bot:always-call")
        table.play(7, lambda keys: rng.randrange(len(keys)))
        table.look()
        (tmp_path / "got.phhs").write_bytes(table.get("hands").body())
        won = [hand.won("you") for hand in read_phh(tmp_path / "got.phhs").hands]
        assert len(won) == 7
        assert _number(page.locator(".money").inner_text()) == pytest.approx(sum(won), abs=0.051)
        shown = page.locator("dt", has_text="sb/h").locator("xpath=following-sibling::dd[1]")
        assert _number(shown.inner_text()) == pytest.approx(sum(won) / 7, abs=6e-4)
        assert not problems(page)


def test_a_cost_that_was_not_computed_is_not_shown(
    page: Any, width: int, equilibrium: Any, tmp_path: Path
) -> None:
    """Moves from the flop on against a program; before the flop any move has a cost, in the
    equilibrium, with its interval."""
    (tmp_path / "mine.py").write_text(PROGRAM)
    program = Path(f"{tmp_path / 'mine.py'}:Caller")

    def fold(keys: list[str]) -> int:
        return keys.index("f") if "f" in keys else keys.index("c")

    with served_here(tmp_path / "tables", program) as address:
        for opponent, choose, words in (
            ("bot:always-call", fold, "a shipped equilibrium, plays both seats"),
            (f"bot:{program}", lambda keys: keys.index("c"), "caller is a program"),
        ):
            table = Table(page, address, "holdem(buckets=10)", opponent)
            table.play(1, choose)
            table.look()
            page.keyboard.press("v")
            page.wait_for_selector(".step")
            review = page.locator(".panel", has_text="What happened").inner_text()
            found = table.get("review?hand=0").json()
            own = tuple(cards("".join(table.state["scene"]["own"])))
            right = rollout_values(
                betting_tree(LIMIT), equilibrium, equilibrium, [0], (), holding(own), 50_000, seed=5
            )
            assert right is not None
            shown = page.locator(".step").first.locator(".bars .number").all_inner_texts()
            for k, text in enumerate(shown):
                assert _number(text) == pytest.approx(
                    right.value[k], abs=2 * right.within(k) + 0.05
                )
            verdict = page.locator(".verdict b").inner_text()
            more = found["within"] if "less than" in verdict else 0.0
            assert _number(verdict) == pytest.approx(found["cost"] + more, abs=6e-4)
            assert ("less than" in verdict) == (found["cost"] <= found["within"])
            assert verdict.endswith(" sb (95%)")
            late = len([step for step in found["steps"] if step["who"] == "you"]) - 1
            assert page.get_by_text("not weighed", exact=True).count() == late
            assert "cost 0.000" not in review
            assert words in review
            assert not problems(page)


def test_costs_are_those_of_a_best_response(page: Any, width: int, tmp_path: Path) -> None:
    """Kuhn poker against uniform play, by hand: the first player checks or bets with a card that
    wins a showdown with probability w; s = 2w - 1."""
    with served_here(tmp_path) as address:
        table = Table(page, address, "kuhn", "uniform")
        table.play(1, lambda keys: keys.index("c"))  # a check, and a call or another check
        assert table.state["seat"] == 0
        s = {"J": -1.0, "Q": 0.0, "K": 1.0}[table.state["scene"]["own"]]
        values = [0.5 * s + 0.5 * max(-1.0, 2.0 * s), 0.5 + s]  # check, bet
        table.look()
        page.keyboard.press("v")
        page.wait_for_selector(".step")
        first = page.locator(".step").first
        shown = [_number(text) for text in first.locator(".bars .number").all_inner_texts()]
        assert shown == pytest.approx(values, abs=6e-3)
        cost = max(values) - values[0]
        line = first.locator(".line").inner_text()
        assert ("best" in line) if cost == 0 else _number(line.partition("cost")[2]) == cost
        texts = page.locator(".step .line").all_inner_texts()
        costs = [_number(text.partition("cost")[2]) for text in texts if "cost" in text]
        total = page.locator(".verdict").inner_text().partition("cost")[2].strip()
        assert (total == "nothing.") == (not costs)
        assert not costs or _number(total) == pytest.approx(sum(costs), abs=2e-3)
        assert "cost 0.000" not in page.locator(".steps").inner_text()
        assert not problems(page)


@pytest.mark.slow
def test_the_real_frontier_says_what_is_certified(page: Any, width: int, tmp_path: Path) -> None:
    """The committed points, and between two of them their mixture."""
    points = curve(committed_points(), "real", "sparbot")
    with served_here(tmp_path) as address:
        page.goto(f"{address}/exploit")
        page.get_by_label("A strategy or a bot").select_option("bot:safest")
        assert page.get_by_role("button", name="The real frontier").count() == 0
        page.get_by_label("A strategy or a bot").select_option("model-of:sparbot")
        page.get_by_role("button", name="The real frontier").click()
        page.wait_for_selector("table.frontier")
        assert "the player sparbot-response" in page.locator(".facts").inner_text()  # at first
        rows = [row.locator("td").all_inner_texts() for row in page.locator("tbody tr").all()]
        for (p, won, _, risk, kind, _), right in zip(rows, points, strict=True):
            assert p == right.p
            assert 1_000 * _number(won) == pytest.approx(right.won, abs=0.06)
            assert _number(risk) == round(right.risk)
            assert kind == ("estimated from flops" if right.error else "certified")
            assert ("±" in risk) == (right.error > 0)
        for right in points:
            page.get_by_role("button", name=f"p = {right.p}", exact=True).click()
            limit = right.risk + right.error
            text = page.locator(".slider output").inner_text()
            assert _number(text) == pytest.approx(limit, abs=0.51)
            kind = "estimated from flops" if right.error else "certified"
            assert f"at risk, {kind}" in page.locator(".facts").inner_text()
        page.get_by_label("Risk at most").fill("100")  # of 1000, even in the logarithm of risk
        upper = [one.risk + one.error for one in points]
        limit = upper[0] * (upper[-1] / upper[0]) ** 0.1
        text = page.locator(".mixture").inner_text()
        assert f"no more than {limit:.0f} mb/g" in text
        mixtures = [
            low.won + (high.won - low.won) * (limit - safe) / (risky - safe)
            for low, safe in zip(points, upper, strict=True)
            for high, risky in zip(points, upper, strict=True)
            if safe <= limit < risky
        ]
        won = 1_000 * _number(text.partition("of them: ")[2])
        assert won == pytest.approx(max(mixtures), abs=0.3)
        assert not problems(page)
