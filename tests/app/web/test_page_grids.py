"""The explorer's grids in a real Chromium, narrow and wide: how high a holding is painted, the
words for its actions, and where the grids stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.page_audit import problems
from support.web import served_here

import counterplay as cp

COLOURED = """([row, column, side]) => {
  const canvas = document.querySelector("canvas.grid"), size = canvas.width, cell = size / 13;
  const ctx = canvas.getContext("2d"), gap = Math.max(1, cell * 0.05);
  const sunk = document.createElement("i");
  sunk.style.color = "var(--sunk)";
  document.body.append(sunk);
  const empty = getComputedStyle(sunk).color.match(/[0-9]+/g).map(Number);
  sunk.remove();
  const x = Math.round(column * cell + 3), top = Math.ceil(row * cell);
  const high = Math.floor(cell - gap), data = ctx.getImageData(x, top, 1, high).data;
  let n = 0;
  for (let k = 0; k < high; k += 1)
    if ([0, 1, 2].some((c) => Math.abs(data[4 * k + c] - empty[c]) > 8)) n += 1;
  return n / high;
}"""


@pytest.fixture(scope="module")
def strategies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strategies")
    cp.Strategy.random("holdem(buckets=10)", 7).save(folder / "random.npz")
    return folder


def _explore(page: Any, address: str, more: str) -> dict[str, Any]:
    """A view of the random strategy, and what the server said of it."""
    known = page.request.get(f"{address}/api/strategies").json()["strategies"]
    key = next(one["key"] for one in known if one["name"].startswith("random"))
    page.goto(f"{address}/explore?s={key}&{more}")
    page.wait_for_selector("canvas.grid")
    found: dict[str, Any] = page.request.get(f"{address}/api/explore?s={key}&{more}").json()
    return found


def test_cells_are_as_high_as_holdings_are_frequent(
    page: Any, width: int, strategies: Path, tmp_path: Path
) -> None:
    """The dealer has called and faces a raise: each cell shows how often it called."""
    with served_here(tmp_path, strategies) as address:
        data = _explore(page, address, "betting=cr")
        reach = np.array(data["one"]["reach"])
        assert reach.min() < 0.5 * reach.max()
        heights = []
        for k in range(13):  # pairs, of aces first
            rank = 12 - k
            holding = (4 * rank + 1) * (4 * rank) // 2 + 4 * rank
            coloured = page.evaluate(COLOURED, [k, k, 0])
            heights.append((coloured, reach[holding] / reach.max()))
        high = page.evaluate("() => document.querySelector('canvas.grid').width") / 13
        for coloured, right in heights:
            assert coloured == pytest.approx(right, abs=2.5 / high)
        assert not problems(page)


def test_where_nobody_has_bet_one_checks_or_bets(
    page: Any, width: int, strategies: Path, tmp_path: Path
) -> None:
    with served_here(tmp_path, strategies) as address:
        for more, words in (
            ("betting=rc/&board=AsKd7c", ["check", "bet"]),
            ("betting=rc/cr&board=AsKd7c", ["fold", "call", "raise"]),
            ("betting=c", ["check", "raise"]),  # the blind is a bet
            ("betting=", ["fold", "call", "raise"]),
        ):
            data = _explore(page, address, more)
            keys = page.locator(".legend span:has(i)").all_inner_texts()
            assert [key.strip() for key in keys] == words
            buttons = page.locator(".turn:last-child .word").all_inner_texts()
            assert buttons == words
            below = page.locator("figure").first.locator("p").inner_text()
            means = dict(zip(("fold", "call", "raise"), data["one"]["mean"], strict=True))
            shares = [means[name] for name in data["actions"]]
            said = re.findall(r"(\w+) (\d+)%", below)
            assert [word for word, _ in said] == words
            assert [int(share) for _, share in said] == [round(100 * x) for x in shares]
            page.locator("canvas.grid").focus()
            page.keyboard.press("ArrowDown")
            hint = page.locator("#hint").inner_text()
            assert all(word in hint for word in words)
            assert ("call" in hint) == ("call" in words)
            assert not problems(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_grid_is_on_the_first_screen_and_comparing_has_its_own_colours(
    page: Any, strategies: Path, tmp_path: Path, scheme: str
) -> None:
    page.set_viewport_size({"width": 1_600, "height": 1_000})
    page.emulate_media(color_scheme=scheme)
    with served_here(tmp_path, strategies) as address:
        for more in (
            "betting=",
            "betting=rc/cr&board=AsKd7c",
            "betting=rrrc/crrrrc/crrrrc/crrr&board=AsKd7c2h9s",
            "betting=rc/cr&board=AsKd7c&t=bot:probe",
        ):
            _explore(page, address, more)
            for grid in page.locator("canvas.grid").all():
                box = grid.bounding_box()
                assert box["y"] + box["height"] <= 1_000, (more, box)
                assert box["width"] >= 350
        colours = page.evaluate(
            """() => ["fold", "call", "raise", "more", "less"].map((name) =>
            getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim())"""
        )
        assert len(set(colours)) == 5
