"""The sheet of tendencies: after an upload and after a sitting, its numbers are counts of the
hands, in a real Chromium, narrow and wide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.page_audit import problems
from support.web import Table, served_here

import counterplay as cp
from counterplay.app.web import exploit, sheet
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.background import BackgroundJob
from counterplay.poker.histories.phh import read_phh
from counterplay.poker.models.tendencies import TendencyCounts

HANDS = Path(__file__).parent.parent.parent / "data" / "v0.1" / "hands.phhs"
GAME = "holdem(buckets=10)"
KEPT = """async (key) => {
  const { kept } = await (await fetch("/api/kept")).json();
  return kept.some((one) => one.key === key);
}"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The equilibrium is another strategy, and its marks are those of the uploaded hands."""
    strategy = cp.Strategy.random(GAME, 1)
    tally = TendencyCounts(read_phh(HANDS), "always-raise")
    monkeypatch.setattr(sheet, "_equilibrium", lambda progress: (strategy, tally))


def _shown(page: Any) -> dict[str, str]:
    rows = page.locator("table.tendencies tr").all()
    return {row.get_attribute("data-name"): row.inner_text() for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1_600])
def test_after_an_upload(page: Any, width: int, tmp_path: Path, quick: None) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    with served_here(tmp_path, HANDS) as address:
        page.goto(f"{address}/exploit")
        page.get_by_label("Hand histories in the served folders").select_option(index=1)
        page.locator("select.player").select_option("always-raise")
        page.get_by_role("button", name="Show the tendencies").click()
        page.wait_for_selector("table.tendencies")
        hands = read_phh(HANDS)
        right, rows = TendencyCounts(hands, "always-raise"), _shown(page)
        for name, seat in right.names():
            share = right.share(name, seat)
            title = f"{name} as {seat}" if seat != "both" else name
            assert f"{share.taken} of {share.n}" in rows[title].replace(",", ""), title
            if share.n >= 5 and share.share in (0.0, 1.0):
                assert f"{100 * share.share:.0f}%" in rows[title]
        total = page.get_by_text("hands,").first.inner_text()
        won = [h.won("always-raise") for h in hands if "always-raise" in (h.dealer, h.big_blind)]
        assert re.search(r"[+−][\d.]+", total)[0].replace("−", "-") == f"{sum(won) / len(won):+.3f}"  # type: ignore[index]
        assert page.get_by_role("button", name="The counter-strategy, by risk").is_enabled()
        assert not problems(page)


@pytest.mark.slow
def test_after_a_sitting(page: Any, tmp_path: Path, quick: None) -> None:
    with served_here(tmp_path) as address:
        table = Table(page, address, GAME, "bot:always-call")
        table.play(8, lambda keys: keys.index("r") if "r" in keys else keys.index("c"))
        table.look()
        page.get_by_role("link", name="Tendencies").click()
        page.locator("select.player", has_text="you").wait_for()
        page.get_by_role("button", name="Show the tendencies").click()
        page.wait_for_selector("table.tendencies")
        assert "8 of 8" in _shown(page)["PFR"]
        assert "100%" in _shown(page)["PFR"]
        gone = page.request.get(f"{address}/api/hands/table:..%2F..%2Fetc")
        assert gone.status in (400, 404)


@pytest.mark.slow
def test_a_kept_sheet_has_its_counter_strategy(
    page: Any, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened by its link, where nothing was chosen; that of hands which are gone says so."""
    asked: list[Any] = []
    monkeypatch.setattr(exploit, "model_frontier", lambda job, *query: asked.append(query))
    learnt = lambda job, hands, player: (len(hands.hands), player)  # noqa: E731
    monkeypatch.setattr(exploit, "_learn", learnt)
    tables = tmp_path / "tables"
    with served_here(tables, HANDS) as address:
        page.goto(f"{address}/exploit")
        page.get_by_label("Hand histories in the served folders").select_option(index=1)
        page.locator("select.player").select_option("always-raise")
        page.get_by_role("button", name="Show the tendencies").click()
        page.wait_for_selector("table.tendencies")
        key = page.url.partition("job=")[2]
        page.wait_for_function(KEPT, arg=key)
    for sources in ([HANDS], []):
        with served_here(tables, *sources) as address:  # another process
            page.goto(f"{address}/exploit?job={key}")
            counter = page.get_by_role("button", name="The counter-strategy, by risk")
            counter.wait_for()
            if sources:
                assert page.locator("select.player").input_value() == "always-raise"
            counter.click()
            if sources:
                page.wait_for_url(lambda url: key not in url)
                page.wait_for_function("() => !document.querySelector('progress')")
            else:
                page.get_by_text("these hands are not here any more").first.wait_for()
    assert [query[0] for query in asked] == [(60, "always-raise")]


def test_who_never_acted_has_no_sheet() -> None:
    with pytest.raises(BadParameter, match="never had to act"):
        sheet.tendency_sheet(BackgroundJob("x", "x"), [], "nobody")
