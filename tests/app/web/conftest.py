"""A server and a browser for the tests that use one; each is started once a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import ARGUMENTS, find_browser
from support.web import Server

import counterplay as cp
from counterplay.app.web.play import weighing
from counterplay.poker.holdem.table import Table, strategy_table

WIDTHS = (400, 1_600)
HANDS = Path(__file__).parent.parent.parent / "data" / "v0.1" / "hands.phhs"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, hands, a report, and a name that is like markup."""
    folder = tmp_path_factory.mktemp("served")
    cp.solve(
        "kuhn", "cfr+", iterations=300, folder=folder / "runs" / "<img src=x onerror=alert(1)>"
    )
    shutil.copy(HANDS, folder / "hands.phhs")
    (folder / "runs" / "report.html").write_text("<h1>a report</h1><script>alert(2)</script>")
    return folder


@pytest.fixture
def equilibrium(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A player of two buckets stands in for the shipped one, whose tables are large."""
    table = strategy_table(cp.Strategy.random("holdem(buckets=2)", 8))
    monkeypatch.setattr(weighing, "_equilibrium_table", lambda name: table)
    monkeypatch.setattr(weighing, "ROLLOUTS", 50_000)
    weighing.equilibrium_values.cache_clear()
    yield table
    weighing.equilibrium_values.cache_clear()


@pytest.fixture(scope="session")
def server(served: Path) -> Iterator[Server]:
    result = Server(served, "runs")
    result.start()
    yield result
    result.kill()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        pytest.fail("no Chromium: make browser installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page of its own; what goes wrong in its scripts fails the test."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900}, accept_downloads=True)
    context.set_default_timeout(120_000)  # kernels may have to be compiled
    page, problems = context.new_page(), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    yield page
    context.close()
    assert not problems


@pytest.fixture(params=WIDTHS)
def width(request: Any, page: Any) -> int:
    page.set_viewport_size({"width": request.param, "height": 1_000})
    return int(request.param)
