"""The table in the browser: how soon the first page is there, how long a click in the explorer
takes, and 100 tables at once, each acting every second. Prints a table and writes `web.csv`.

python -m benchmarks.web [--tables 100] [--seconds 20]
python -m benchmarks.web --hand     # only the first hand; the other rows stay

The time of the first hand by the clock is written where the machine is idle, its processor time
anywhere. The server is a process of its own, as users start it; requests come from this one, over
loopback, so both share the machine's processors.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows

RESULTS = Path(__file__).with_suffix(".csv")
HOLDEM = {"game": "holdem(buckets=10)", "opponent": "bot:always-call"}
BOARD = "AsKd2c7h9s"
CLICKS = (("", ""), ("r", ""), ("rc/", BOARD[:6]), ("rc/cr", BOARD[:6]), ("rc/cc/", BOARD[:8]),
          ("rc/cc/cc/", BOARD), ("rc/cc/cc/r", BOARD))  # fmt: skip
Row = tuple[str, str, str]
FIRST = "first hand"
IDLE = 0.9  # of the processors' time: above it the clock counts


class Served:
    """A server on a port of its own."""

    def __init__(self, folder: Path, *places: str) -> None:
        command = [sys.executable, "-m", "counterplay.app.cli", "serve", *places, "--no-browser"]
        self._process = subprocess.Popen(
            [*command, "--out", str(folder / "tables")],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split()[3].rstrip("/")
        self.port = int(self.address.rsplit(":", 1)[1])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.address}{path}", timeout=120) as reply:
            return reply.read()

    def close(self) -> float:
        """Ends it; the processor seconds that it took."""
        self._process.terminate()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime


def first_page(folder: Path) -> float:
    """Seconds from starting the command to the first page, the caches being warm."""
    before = time.perf_counter()
    served = Served(folder)
    try:
        served.get("/play")
        return time.perf_counter() - before
    finally:
        served.close()


def first_hand(folder: Path) -> list[Row]:
    """Seconds from the first page to the first hand with the default opponent, in a Chromium, in
    which nobody hesitates, after `counterplay holdem prepare`; and the processor seconds of the
    server until then, from its start. The medians of three, after one that compiles."""
    prepare = [sys.executable, "-m", "counterplay.app.cli", "holdem", "prepare"]
    subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
    idle = _idle_share() > IDLE
    found = [_one_first_hand(folder) for _ in range(4)][1:]
    clock, work = (statistics.median(column) for column in zip(*found, strict=True))
    rows = [
        ("first hand after the first page, prepared, s", f"{clock:.1f}", "5"),
        ("first hand, processor seconds of the server from its start", f"{work:.1f}", "5"),
    ]
    print(f"first hand: {clock:.1f} s by the clock, {'idle' if idle else 'on a busy machine'}")
    return rows if idle else rows[1:]


def _idle_share(seconds: float = 2.0) -> float:
    """The share of their time in which the processors have nothing to do."""

    def times() -> list[int]:
        first, *_ = Path("/proc/stat").read_text().splitlines()
        return [int(text) for text in first.split()[1:]]

    if not Path("/proc/stat").exists():
        return 1.0 - os.getloadavg()[0] / (os.cpu_count() or 1)
    before = times()
    time.sleep(seconds)
    spent = [late - early for late, early in zip(times(), before, strict=True)]
    return sum(spent[3:5]) / sum(spent)  # idle, and waiting for disks


def _one_first_hand(folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of the server's processor."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    served = Served(folder)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(120_000)
            before = time.perf_counter()
            page.goto(f"{served.address}/play")
            page.get_by_role("button", name="Sit down", exact=True).click()
            page.wait_for_selector(".acts button kbd")
            seconds = time.perf_counter() - before
            browser.close()
    finally:
        work = served.close()
    return seconds, work


def clicks(served: Served, rounds: int = 12) -> list[float]:
    """Seconds of each answer of the explorer, on all streets, 100 buckets."""
    found = []
    strategies = json.loads(served.get("/api/strategies"))["strategies"]
    key = next(one["key"] for one in strategies if one["name"] == "hundred.npz")
    for k in range(rounds + 1):
        for betting, board in CLICKS:
            before = time.perf_counter()
            served.get(f"/api/explore?s={key}&betting={betting}&board={board}")
            if k:  # the first round loads the strategy
                found.append(time.perf_counter() - before)
    return found


def drawn_clicks(served: Served, rounds: int = 6) -> list[float]:
    """The same as a person sees it: from the click to the picture, in a Chromium."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 1100})
        page.goto(f"{served.address}/explore")
        page.wait_for_selector("canvas.grid")
        for k in range(rounds):
            for name in ("raise", "call", "call", "raise"):
                found.append(page.evaluate(CLICK, name) / 1e3)
            page.goto(f"{served.address}/explore?board={BOARD[: 6 + 2 * (k % 3)]}")
            page.wait_for_selector("canvas.grid")
        browser.close()
    return found


#: Click an action; milliseconds until the answer is drawn and on the screen.
CLICK = """(name) => new Promise((done) => {
  const view = document.querySelector(".view"), before = view.dataset.ready;
  const start = performance.now();
  const look = () => view.dataset.ready === before ? requestAnimationFrame(look)
    : requestAnimationFrame(() => done(performance.now() - start));
  document.querySelector(`.turn:last-child button.${name}`).click();
  look();
})"""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Client:
    """One browser: a connection that stays open, and a table."""

    def __init__(self, port: int, seed: int) -> None:
        self._port, self._dice = port, random.Random(seed)
        self.state: dict[str, Any] = {}

    async def start(self) -> None:
        self._read, self._write = await asyncio.open_connection("127.0.0.1", self._port)
        self.state = await self._post("/api/tables", HOLDEM)
        while "job" in self.state:
            await asyncio.sleep(0.2)
            self.state = await self._post("/api/tables", HOLDEM)

    async def _post(self, path: str, data: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps(data).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._write.write(head.encode() + body)
        length = 0
        while (line := (await self._read.readline()).strip().lower()) != b"":
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        found: dict[str, Any] = json.loads(await self._read.readexactly(length))
        return found

    async def act(self) -> float:
        """One move, or the next hand; seconds until the answer was read."""
        where = f"/api/tables/{self.state['table']}"
        data: dict[str, Any] = {"version": self.state["version"]}
        if not self.state["over"]:
            data["choice"] = self._dice.randrange(len(self.state["choices"]))
        before = time.perf_counter()
        self.state = await self._post(f"{where}/{'deal' if self.state['over'] else 'act'}", data)
        return time.perf_counter() - before


async def _load(port: int, tables: int, seconds: float) -> list[float]:
    clients = [Client(port, k) for k in range(tables)]
    for client in clients:
        await client.start()
    found: list[float] = []

    async def sit(client: Client, wait: float) -> None:
        await asyncio.sleep(wait)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            took = await client.act()
            found.append(took)
            await asyncio.sleep(max(0.0, 1.0 - took))

    seats: list[Awaitable[None]] = [sit(c, k / tables) for k, c in enumerate(clients)]
    await asyncio.gather(*seats)
    return found


def _spread(times: list[float]) -> tuple[float, float]:
    """Median and 99th percentile, in milliseconds."""
    ordered = sorted(times)
    return 1e3 * statistics.median(ordered), 1e3 * ordered[int(0.99 * (len(ordered) - 1))]


def measure(tables: int, seconds: float) -> list[Row]:
    """All three, each as (what, measured, must reach)."""
    import counterplay as cp

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cp.Strategy.random("holdem(buckets=100)", 1).save(folder / "hundred.npz")
        first_page(folder)
        pages = statistics.median(first_page(folder) for _ in range(3))
        hands = first_hand(folder)
        with contextlib.closing(Served(folder, "hundred.npz")) as served:
            middle, late = _spread(clicks(served))
            seen, seen_late = _spread(drawn_clicks(served))
            times = asyncio.run(_load(served.port, tables, seconds))
    table_middle, table_late = _spread(times)
    return [
        ("first page after the start, s", f"{pages:.2f}", "1"),
        *hands,
        ("a click in the explorer, 100 buckets, median ms", f"{middle:.0f}", "150"),
        ("the same, 99th percentile ms", f"{late:.0f}", "150"),
        ("the same until it is drawn in Chromium, median ms", f"{seen:.0f}", "150"),
        ("the same, 99th percentile ms", f"{seen_late:.0f}", "150"),
        (f"{tables} tables, each acting every second: answers", f"{len(times)}", ""),
        ("median answer, ms", f"{table_middle:.1f}", "100"),
        ("99th percentile, ms", f"{table_late:.1f}", ""),
    ]


def _with_first_hand() -> list[Row]:
    """The rows of `web.csv`, with the first hand measured again."""
    with RESULTS.open() as file, tempfile.TemporaryDirectory() as name:
        found = csv.DictReader(file)
        rows = [(row["what"], row["measured"], row["must_be_below"]) for row in found]
        page, *rest = [row for row in rows if FIRST not in row[0]]
        return [page, *first_hand(Path(name)), *rest]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--hand", action="store_true", help="only the first hand")
    asked = parser.parse_args()
    rows = _with_first_hand() if asked.hand else measure(asked.tables, asked.seconds)
    print(f"{os.cpu_count()} processors")
    for what, found, limit in rows:
        print(f"{what:<52} {found:>8}" + (f"   (must be below {limit})" if limit else ""))
    write_rows(RESULTS, ("what", "measured", "must_be_below"), rows)


if __name__ == "__main__":
    main()
