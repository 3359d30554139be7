"""Starting the server: a port, an address to open, and getting ready in the background."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterplay.core.base.errors import BadParameter, CounterplayError

if TYPE_CHECKING:
    from counterplay.app.web.app import Api

OWN = ("127.0.0.1", "localhost", "::1")
PORT = 8642
TRIED = 20  # ports after the usual one
QUIET_SECONDS = 0.5
WAITING = 512  # connections


@dataclass(frozen=True)
class Wish:
    """What the command asked for."""

    places: tuple[Path, ...]
    keep: Path
    host: str = "127.0.0.1"
    port: int | None = None
    browser: bool = True


def serve(wish: Wish) -> None:
    """Serve until somebody stops it."""
    try:
        import uvicorn

        from counterplay.app.web.app import make_app
        from counterplay.app.web.guard import OWN_NAMES, Door
    except ImportError:
        raise CounterplayError(
            "the page needs Starlette and uvicorn: pip install 'counterplay[web]'"
        ) from None
    listening = _listen(wish.host, wish.port)
    port = listening.getsockname()[1]
    alone = wish.host in OWN
    token = None if alone else secrets.token_urlsafe(24)
    names = OWN_NAMES if alone else (*OWN_NAMES, wish.host.lower(), socket.gethostname().lower())
    door = Door(names, token, addresses=not alone)
    app, api = make_app(list(wish.places), wish.keep, door)
    shown = f"[{wish.host}]" if ":" in wish.host else wish.host
    address = f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")
    print(f"Counterplay is at {address}  (Ctrl-C stops it)", flush=True)
    threading.Thread(target=_get_ready, args=(api,), daemon=True).start()
    if wish.browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    print(f"Stopped. Tables and the hands played at them are in {wish.keep}.")


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port asked for, or on the first free one."""
    wanted = [port] if port is not None else [*range(PORT, PORT + TRIED), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(WAITING)  # who comes before the rest is loaded waits
            return listening
        except OSError as error:
            listening.close()
            problem = error
    where = f"{host}, port {port}" if port is not None else host
    raise BadParameter(f"cannot listen at {where}: {problem.strerror or problem}")


def _get_ready(api: Api) -> None:
    """Load what the first table needs, when the first page had time to be sent."""
    time.sleep(QUIET_SECONDS)
    api.load()
    from counterplay.app.web.warm import warm_up

    warm_up()
