"""The pictures of pages in README and docs, from a Chromium: `python tools/make_screens.py RUN`,
or only some of them: `python tools/make_screens.py RUN browser-play browser-explore`.

Needs the tools of developers (make test has them) and RUN, a run of hold'em with some training:
counterplay solve 'holdem(buckets=10)' -a mccfr-external -s 60 --out RUN
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402
from support.browser import ARGUMENTS, find_browser  # noqa: E402
from support.web import Server  # noqa: E402

import counterplay as cp  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1500, "height": 1130}
HANDS = 140  # that the player who learns has seen
STRONG, WEAK = 0.62, 0.42  # a person who is easy to read


def main(run: Path, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        server = Server(Path(name), str(run.resolve()))
        server.start()
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        try:
            for picture in names or PICTURES:
                take = PICTURES[picture]
                scheme = "dark" if picture == "browser-explore" else "light"
                page = browser.new_page(viewport=SIZE, color_scheme=scheme)
                page.set_default_timeout(600_000)
                take(page, server, run.name)
                page.screenshot(path=IMAGES / f"{picture}.png")
                page.close()
        finally:
            browser.close()
            server.kill()


def _sit(page: Any, server: Server, opponent: str, where: str) -> str:
    data = {"game": "holdem(buckets=10)", "opponent": opponent}
    found: dict[str, Any] = {}
    while "table" not in found:
        found = page.request.post(f"{server.address}/api/tables", data=data).json()
        page.wait_for_timeout(500)
    name = str(found["table"])
    page.goto(f"{server.address}/{where}?table={name}")
    page.wait_for_selector(".acts button")
    return name


def _choose(state: dict[str, Any]) -> int:
    """Raise the strong, call the middling, fold the rest."""
    from counterplay.poker.cards.cards import cards, holding
    from counterplay.poker.holdem.holdings import canonical_board, strengths_on

    scene, keys = state["scene"], [choice["key"] for choice in state["choices"]]
    board = tuple(cards("".join(scene["board"])))
    strength = strengths_on(canonical_board(board))[holding(cards("".join(scene["own"])))]
    wanted = "r" if strength > STRONG else "f" if strength < WEAK else "c"
    return keys.index(wanted if wanted in keys else "c")


def _play_on(page: Any, server: Server, name: str, until: Callable[[dict[str, Any]], bool]) -> None:
    where = f"{server.address}/api/tables/{name}"
    state = page.request.get(where).json()
    while not until(state):
        data = {"version": state["version"]}
        if state["over"]:
            state = page.request.post(f"{where}/deal", data=data).json()
        else:
            choice = _choose(state)
            state = page.request.post(f"{where}/act", data={**data, "choice": choice}).json()
    page.reload()
    page.wait_for_selector(".acts button")


def _turn(state: dict[str, Any]) -> bool:
    played = state["winnings"]["hands"] > 40
    return played and not state["over"] and state["scene"]["street"] == "turn"


def play(page: Any, server: Server, run: str) -> None:
    strategies = server.get("strategies")["strategies"]
    key = next(one["key"] for one in strategies if one["name"] == run)
    _play_on(page, server, _sit(page, server, f"strategy:{key}", "play"), _turn)


def watch(page: Any, server: Server, run: str) -> None:
    name = _sit(page, server, "bot:adaptive", "watch")
    _play_on(
        page,
        server,
        name,
        lambda state: state["winnings"]["hands"] >= HANDS and not state["over"],
    )
    page.wait_for_selector(".spot")
    page.wait_for_timeout(3_000)


def explore(page: Any, server: Server, run: str) -> None:
    strategies = server.get("strategies")["strategies"]
    key = next(one["key"] for one in strategies if one["name"] == run)
    page.goto(f"{server.address}/explore?s={key}&betting=rc/cr&board=AsKd7c")
    page.wait_for_selector("canvas.grid")
    page.locator("canvas.grid").hover(position={"x": 152, "y": 130})
    page.locator("#hint").get_by_text("estimated").wait_for()


def exploit(page: Any, server: Server, run: str) -> None:
    page.goto(f"{server.address}/exploit")
    page.get_by_label("A strategy or a bot").select_option("uniform:leduc")
    page.get_by_role("button", name="Work out the frontier").click()
    page.wait_for_selector("table.frontier")


def spot(page: Any, server: Server, run: str) -> None:
    page.goto(f"{server.address}/spot")
    page.wait_for_selector(".painter [aria-pressed=true]")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_selector(".view[data-ready]")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(1_000)


PICTURES: dict[str, Callable[[Any, Server, str], None]] = {
    "browser-play": play,
    "browser-watch": watch,
    "browser-explore": explore,
    "browser-exploit": exploit,
    "browser-spot": spot,
}

if __name__ == "__main__":
    run, names = sys.argv[1:2], sys.argv[2:]
    if not run or set(names) - set(PICTURES) or not cp.Strategy.load(run[0]).game.can("bots"):
        raise SystemExit(__doc__)
    main(Path(run[0]), names)
