"""Who may ask: this machine's own pages, and with a token others.

A request is refused when its `Host` is not a name of this server (a page elsewhere whose name was
pointed here), when its `Origin` is another page, when a browser says that another site made it,
when it has no token where one is needed, or when its body is too large. Every answer tells the
browser to load nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "counterplay"
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY = 1 << 16  # bytes of a request
MOST_UPLOAD = 32 << 20  # of a file of hands
UPLOADS = "/api/uploads"
READING = ("GET", "HEAD")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: A report is a page of its own, written by `reproduce`: no script runs in it.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Door:
    """What the guard knows: names of this server, and the token where one is needed."""

    names: tuple[str, ...] = OWN_NAMES
    token: str | None = None
    addresses: bool = False  # whether any address of the machine may stand in `Host`
    uploads: tuple[str, ...] = field(default=(UPLOADS,))

    def knows(self, host: str) -> bool:
        """Whether `Host` is a name of this server."""
        name = _without_port(host)
        return name in self.names or (self.addresses and _is_address(name))


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """Wraps the application."""

    def __init__(self, app: App, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        reason = self._why_not(scope, headers)
        if reason is not None:
            await _refuse(send, *reason)
            return
        if self._door.token is not None and not self._has_token(headers):
            if self._brings_token(scope):
                await _let_in(send, self._door.token)
            else:
                await _refuse(send, 401, "open the address that counterplay serve printed")
            return
        most = MOST_UPLOAD if scope["path"] in self._door.uploads else MOST_BODY
        await self._app(scope, _limited(receive, most), _with_headers(send))

    def _why_not(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._door.knows(host):
            return 421, "this server has another name"
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{host}":
            return 403, "requests of other pages are refused"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not _opens_page(scope, headers):
            return 403, "requests of other sites are refused"
        most = MOST_UPLOAD if scope["path"] in self._door.uploads else MOST_BODY
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            return 413, f"a request has at most {most:,} bytes"
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return found is not None and self._is_token(found.value)

    def _brings_token(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return scope["method"] == "GET" and self._is_token(given[0])

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), (self._door.token or "").encode())


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """A link on another page may lead here: a page is opened, nothing is read or changed."""
    return (
        scope["method"] == "GET"
        and headers.get("sec-fetch-mode") == "navigate"
        and not scope["path"].startswith("/api/")
    )


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


class TooMuch(Exception):
    """A body without a length that went on too long."""


def _limited(receive: Receive, most: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooMuch
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def more(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            wanted = {**HEADERS, "content-security-policy": POLICY}
            message["headers"] = [
                *message["headers"],
                *(
                    (name.encode(), value.encode())
                    for name, value in wanted.items()
                    if name.encode() not in given
                ),
            ]
        await send(message)

    return more


async def _refuse(send: Send, status: int, why: str) -> None:
    await _answer(send, status, f"{why}\n".encode(), [])


async def _let_in(send: Send, token: str) -> None:
    cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    await _answer(send, 303, b"", [(b"set-cookie", cookie.encode()), (b"location", b"/play")])


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [(b"content-type", b"text/plain; charset=utf-8"), *headers],
    }
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
