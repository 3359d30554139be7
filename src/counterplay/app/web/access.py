"""Access control: pages of this server may send requests, other machines need a token.

A request is refused when its `Host` is not a name of this server (DNS rebinding), when its `Origin`
is another page, when the browser reports that another site made it, when it lacks a required token,
or when its body is too large. Every reply forbids the browser to load anything from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "counterplay"
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY = 1 << 16  # bytes of a request
MOST_UPLOAD = 32 << 20  # bytes of a file of hand histories
UPLOADS = "/api/uploads"

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: For a report, a page that `reproduce` wrote: no script runs in it.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": CONTENT_POLICY,
}
_SECURITY_HEADERS = [(name.encode(), text.encode()) for name, text in HEADERS.items()]


@dataclass(frozen=True)
class AccessPolicy:
    """Names of this server, and the token that a request needs, if any."""

    names: tuple[str, ...] = LOCAL_NAMES
    token: str | None = None
    any_address: bool = False  # whether `Host` may be any IP address

    def allows_host(self, host: str) -> bool:
        """Whether `Host` is a name of this server."""
        ipv6 = host.startswith("[")
        name = host.partition("]")[0] + "]" if ipv6 else host.partition(":")[0].lower()
        if self.any_address and name not in self.names:
            with suppress(ValueError):
                return bool(ipaddress.ip_address(name.strip("[]")))
        return name in self.names


class AccessControl:
    """ASGI middleware that enforces an `AccessPolicy`."""

    def __init__(self, app: App, policy: AccessPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        pairs = scope["headers"]
        headers = {name.decode("latin-1"): text.decode("latin-1") for name, text in pairs}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _reply(send, *refusal)
            return
        if self._policy.token is not None and not self._has_cookie(headers):
            if self._has_query_token(scope):
                cookie = f"{COOKIE}={self._policy.token}; HttpOnly; SameSite=Strict; Path=/"
                cookies = (b"set-cookie", cookie.encode()), (b"location", b"/play")
                await _reply(send, 303, "", *cookies)
            else:
                await _reply(send, 401, "open the address that counterplay serve printed")
            return
        await self._app(scope, _limited(receive, _most_bytes(scope)), _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._policy.allows_host(host):
            return 421, "this server has another name"
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{host}":
            return 403, "requests of other pages are refused"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not _opens_page(scope, headers):
            return 403, "requests of other sites are refused"
        most = _most_bytes(scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            return 413, f"a request has at most {most:,} bytes"
        return None

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _has_query_token(self, scope: Scope) -> bool:
        tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return scope["method"] == "GET" and self._is_token(tokens[0])

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), (self._policy.token or "").encode())


def _most_bytes(scope: Scope) -> int:
    return MOST_UPLOAD if scope["path"] == UPLOADS else MOST_BODY


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether the request only follows a link to a page, which reads and changes no data."""
    return (
        scope["method"] == "GET"
        and headers.get("sec-fetch-mode") == "navigate"
        and not scope["path"].startswith("/api/")
    )


class BodyTooLarge(Exception):
    """A body without a declared length exceeds the limit."""


def _limited(receive: Receive, most: int) -> Receive:
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise BodyTooLarge
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def extended(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            missing = [(name, text) for name, text in _SECURITY_HEADERS if name not in present]
            message["headers"] = [*message["headers"], *missing]
        await send(message)

    return extended


async def _reply(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    """Sends a reply of one sentence, or none."""
    kind = (b"content-type", b"text/plain; charset=utf-8")
    start = {"type": "http.response.start", "status": status, "headers": [kind, *headers]}
    await _with_headers(send)(start)
    body = f"{text}\n" if text else ""
    await send({"type": "http.response.body", "body": body.encode()})
