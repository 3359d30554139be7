"""Parts of all requests: routes whose errors become one sentence, JSON replies, checked fields."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web.access import BodyTooLarge
from counterplay.app.web.catalog import NotFound
from counterplay.core.base.display import finite
from counterplay.core.base.errors import BadParameter, CounterplayError, whole_number

Handler = Callable[[Request], Awaitable[Response]]
MOST_TEXT = 400  # characters of a field
in_thread = run_in_threadpool


def route(path: str, handler: Handler, method: str = "GET") -> Route:
    """A route whose user errors are replies of one sentence."""

    async def safe(request: Request) -> Response:
        try:
            return await handler(request)
        except NotFound as error:
            return json_reply({"error": str(error)}, 404)
        except CounterplayError as error:
            return json_reply({"error": str(error)}, 400)
        except ClientDisconnect:
            return json_reply({"error": "the request was not sent to its end"}, 400)
        except BodyTooLarge:
            return json_reply({"error": "the request is too large"}, 413)
        except Exception as error:
            print(f"counterplay serve: {type(error).__name__}: {error}", file=sys.stderr)
            return json_reply({"error": "the server failed; its terminal says why"}, 500)

    return Route(path, safe, methods=[method])


def json_route(path: str, answer: Callable[[Request], Any]) -> Route:
    """A route whose reply is the JSON of `answer(request)`, computed in a thread."""

    async def handler(request: Request) -> Response:
        return json_reply(await in_thread(answer, request))

    return route(path, handler)


def json_reply(data: Any, status: int = 200) -> Response:
    """A JSON reply; numbers that are not finite are null."""
    text = json.dumps(finite(data), allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def download(text: str | bytes, name: str, media_type: str = "text/plain") -> Response:
    """A file for the browser to save; `name` never comes from a request."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)


async def json_body(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    try:
        data = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise BadParameter("the request is not JSON") from None
    if not isinstance(data, dict):
        raise BadParameter("the request is not an object")
    return data


def text_field(data: Any, name: str, default: str | None = None) -> str:
    """A text of bounded length."""
    value = data.get(name, default)
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise BadParameter(f"{name} must be a text")
    return value


def integer_field(data: Any, name: str, low: int, high: int, default: int | None = None) -> int:
    """A whole number from `low` to `high`."""
    value = data.get(name, default)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return whole_number(value, low, high, name)
