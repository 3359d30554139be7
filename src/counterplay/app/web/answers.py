"""What all answers share: JSON, errors as one sentence, work that would hold up others."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from counterplay.app.web.guard import TooMuch
from counterplay.app.web.library import NotThere
from counterplay.core.base.errors import BadParameter, CounterplayError, whole_number

Handler = Callable[[Request], Awaitable[Response]]
in_thread = run_in_threadpool


def answer(data: Any, status: int = 200) -> Response:
    """JSON; numbers that it does not know are null."""
    text = json.dumps(_plain(data), allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def download(text: str | bytes, name: str, kind: str = "text/plain") -> Response:
    """A file for the browser to keep; `name` is ours, not the user's."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


def handled(handler: Handler) -> Handler:
    """Errors of the user end as one sentence."""

    async def safe(request: Request) -> Response:
        try:
            return await handler(request)
        except NotThere as error:
            return answer({"error": str(error)}, 404)
        except CounterplayError as error:
            return answer({"error": str(error)}, 400)
        except TooMuch:
            return answer({"error": "that is more than a request may have"}, 413)
        except Exception as error:
            print(f"counterplay serve: {type(error).__name__}: {error}", file=sys.stderr)
            return answer({"error": "something went wrong here; the terminal says more"}, 500)

    return safe


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        data = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise BadParameter("the request is not JSON") from None
    if not isinstance(data, dict):
        raise BadParameter("the request is not an object")
    return data


def text_in(data: Any, name: str, default: str | None = None) -> str:
    """A text of a request, not too long."""
    value = data.get(name, default)
    if not isinstance(value, str) or len(value) > 400:
        raise BadParameter(f"{name} must be a text")
    return value


def number_in(data: Any, name: str, low: int, high: int, default: int | None = None) -> int:
    """A whole number of a request."""
    value = data.get(name, default)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return whole_number(value, low, high, name)
