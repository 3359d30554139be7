"""The server of pages: its application asked directly, or a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HOST = "127.0.0.1:8642"
PREPARING = 202  # the status of a reply that has to wait for a job


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


def ask(
    app: Any,
    path: str,
    body: Any = None,
    method: str | None = None,
    wait: bool = True,
    **headers: str | None,
) -> Reply:
    """One request to an application, without a network. `headers`: `sec_fetch_site="cross-site"`;
    None leaves one out. `wait`: asks again while something is prepared, as pages do."""
    given = {"host": HOST, **{name.replace("_", "-"): text for name, text in headers.items()}}
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method or ("GET" if body is None else "POST"),
        "path": route,
        "raw_path": route.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in given.items() if v is not None],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8642),
    }
    with ThreadPoolExecutor(1) as elsewhere:  # a browser test leaves a loop in this thread
        while True:
            reply = elsewhere.submit(lambda: asyncio.run(_ask(app, {**scope}, data))).result()
            if reply.status != PREPARING or not wait:
                return reply


async def _ask(app: Any, scope: dict[str, Any], data: bytes) -> Reply:
    pieces = [data[k : k + 8192] for k in range(0, len(data), 8192)] or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        if not pieces:
            await asyncio.sleep(3600)
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Reply(start["status"], headers, b"".join(m.get("body", b"") for m in sent[1:]))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served_here(tables: Path, *sources: Path) -> Iterator[str]:
    """The server in a thread of this process, where a test may patch it; its address."""
    import uvicorn

    from counterplay.app.web.app import make_app

    port = free_port()
    app, _ = make_app(list(sources), tables)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", ws="none"))
    work = threading.Thread(target=server.run, daemon=True)
    work.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        work.join(timeout=10)


class Table:
    """A table of a server that is played by requests, while a browser may look at it."""

    def __init__(self, page: Any, address: str, game: str, opponent: str) -> None:
        self._page, self.address = page, address
        made: dict[str, Any] = {}
        while "table" not in made:  # the opponent may have to be prepared
            made = self._post("tables", {"game": game, "opponent": opponent})
        self.name, self.state = str(made["table"]), made

    def _post(self, path: str, data: dict[str, Any]) -> Any:
        return self._page.request.post(f"{self.address}/api/{path}", data=data).json()

    def play(self, hands: int, choose: Callable[[list[str]], int]) -> None:
        """Play until so many hands are over; `choose`: from the keys of the choices."""
        while self.state["winnings"]["hands"] < hands:
            data, what = {"version": self.state["version"]}, "deal"
            if not self.state["over"]:
                keys = [choice["key"] for choice in self.state["choices"]]
                data, what = {**data, "choice": choose(keys)}, "act"
            self.state = self._post(f"tables/{self.name}/{what}", data)

    def get(self, path: str) -> Any:
        return self._page.request.get(f"{self.address}/api/tables/{self.name}/{path}")

    def look(self, where: str = "play") -> None:
        """The page of the table."""
        self._page.goto(f"{self.address}/{where}?table={self.name}")
        self._page.wait_for_selector(".acts button")


class Server:
    """`counterplay serve` as a process, which can be killed and started again."""

    def __init__(self, folder: Path, *places: str, port: int | None = None) -> None:
        self.folder, self.places = folder, places
        self.port = port or free_port()
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    def start(self, *more: str) -> str:
        """Start and wait for its first line."""
        command = [sys.executable, "-m", "counterplay.app.cli", "serve", *self.places]
        options = ["--no-browser", "--port", str(self.port), "--out", str(self.tables), *more]
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert re.search(r"http://", line), line + self.process.stdout.read()
        return line

    def kill(self, number: int = signal.SIGKILL) -> str:
        """End it by a signal; what it still said."""
        if self.process is None:
            return ""
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=30)
        self.process = None
        return said

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.address}/api/{path}", timeout=60) as reply:
            return json.loads(reply.read())

    def wait_for(self, path: str, true: Any, seconds: float = 60.0) -> Any:
        """Ask until the answer is as wanted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.get(path)
            if true(found):
                return found
            time.sleep(0.1)
        raise AssertionError(f"{path} did not become what was wanted: {found}")
