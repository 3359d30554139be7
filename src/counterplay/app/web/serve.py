"""Starts the server: listens on a port, prints the address, loads the rest in the background."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from counterplay.core.base.errors import BadParameter, CounterplayError

if TYPE_CHECKING:
    from counterplay.app.web.app import Api

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT = 8642
PORTS_TRIED = 20  # from the default port on
LOAD_DELAY_SECONDS = 0.5
BACKLOG = 512  # connections that wait until the API is loaded


def serve(sources: list[Path], tables: Path, host: str, port: int | None, browser: bool) -> None:
    """Serves until it is interrupted. `port`: None for the first free one."""
    try:
        import uvicorn

        from counterplay.app.web.access import LOCAL_NAMES, AccessPolicy
        from counterplay.app.web.app import make_app
    except ImportError:
        raise CounterplayError(
            "the page needs Starlette and uvicorn: pip install '.[web]' in a clone"
        ) from None
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    local = host in LOOPBACK
    token = None if local else secrets.token_urlsafe(24)
    names = LOCAL_NAMES if local else (*LOCAL_NAMES, host.lower(), socket.gethostname().lower())
    policy = AccessPolicy(names, token, any_address=not local)
    app, api = make_app(sources, tables, policy)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/" + ("" if token is None else f"?token={token}")
    print(f"Counterplay is at {address}  (Ctrl-C stops it)", flush=True)
    threading.Thread(target=_load_in_background, args=(api,), daemon=True).start()
    if browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    # errors of requests are told by `http.route`; requests that a stop cuts off are none
    config = uvicorn.Config(
        app, log_level="critical", timeout_graceful_shutdown=1, ws="none",
        access_log=False, server_header=False, date_header=False,
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    print(f"Stopped. Tables and the hands played at them are in {tables}.")


def _listen(host: str, port: int | None) -> socket.socket:
    """Returns a socket on the given port, or on the first free one."""
    ports = [port] if port is not None else [*range(PORT, PORT + PORTS_TRIED), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in ports:
        listening = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(BACKLOG)
            return listening
        except OSError as error:
            listening.close()
            problem = error
    where = f"{host}, port {port}" if port is not None else host
    raise BadParameter(f"cannot listen at {where}: {problem.strerror or problem}")


def _load_in_background(api: Api) -> None:
    """Loads the API after the first page was sent, then what the first hand of hold'em needs, if it
    is on disk (`counterplay holdem prepare`): the default opponent and compiled kernels."""
    time.sleep(LOAD_DELAY_SECONDS)
    api.load()
    from counterplay.app.web.play.tables import preparation_key
    from counterplay.app.web.strategies import BOT, HOLDEM, default_bot
    from counterplay.poker.bots.shipped import strategies

    if any(one.prepared for one in strategies()):
        opponent = BOT + default_bot()
        api.preparations.start(
            preparation_key(HOLDEM, opponent),
            lambda job: api.tables.prepare(HOLDEM, opponent, job.progress),
        )
