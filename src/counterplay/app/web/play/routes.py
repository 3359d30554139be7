"""Requests about tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web.answers import (
    answer,
    body_of,
    download,
    handled,
    in_thread,
    number_in,
    text_in,
)
from counterplay.app.web.library import Library
from counterplay.app.web.play.hands import BadMove
from counterplay.app.web.play.room import CardRoom, OpenTable
from counterplay.app.web.play.table import Stale
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.jobs import BackgroundJobs

MOST = 10**9
PATIENCE = 10  # twentieths of a second for an opponent who has to get ready


def routes(room: CardRoom, library: Library, jobs: BackgroundJobs) -> list[Route]:
    async def games(request: Request) -> Response:
        return answer(await in_thread(_games, library))

    async def new(request: Request) -> Response:
        data = await body_of(request)
        game, opponent = text_in(data, "game"), text_in(data, "opponent")
        if not room.bots.ready(opponent):
            job = jobs.start(
                f"getting {opponent} ready", lambda job: room.bots.prepare(opponent, job.progress)
            )
            for _ in range(PATIENCE):
                await asyncio.sleep(0.05)
                if job.state != "running":
                    break
            else:
                return answer({"job": job.key}, 202)
            if job.state == "failed":
                raise BadParameter(job.problem)
        return answer(_state(await in_thread(room.new, game, opponent)))

    async def look(request: Request) -> Response:
        return answer(_state(await _find(room, request)))

    async def act(request: Request) -> Response:
        data = await body_of(request)
        choice = number_in(data, "choice", 0, 1_000)
        return await _change(room, request, data, lambda table, at: table.act(at, choice))

    async def deal(request: Request) -> Response:
        data = await body_of(request)
        return await _change(room, request, data, lambda table, at: table.next_hand(at))

    async def review(request: Request) -> Response:
        seat = await _find(room, request)
        number = number_in(request.query_params, "hand", 0, MOST)
        return answer(await in_thread(seat.table.review, number))

    async def trees(request: Request) -> Response:
        bot = getattr((await _find(room, request)).table.shared, "bot", None)
        return answer({"trees": [] if bot is None or not hasattr(bot, "trees") else bot.trees()})

    async def log(request: Request) -> Response:
        from counterplay.app.web.play.log import log_name, log_text

        seat = await _find(room, request)
        return download(log_text(seat.table), log_name(seat.table))

    return [
        Route("/games", handled(games)),
        Route("/tables", handled(new), methods=["POST"]),
        Route("/tables/{name}", handled(look)),
        Route("/tables/{name}/act", handled(act), methods=["POST"]),
        Route("/tables/{name}/deal", handled(deal), methods=["POST"]),
        Route("/tables/{name}/review", handled(review)),
        Route("/tables/{name}/hands", handled(log)),
        Route("/tables/{name}/trees", handled(trees)),
    ]


def _games(library: Library) -> dict[str, Any]:
    from counterplay.app.web.boards.board import board_of
    from counterplay.app.web.games import offered as games_offered
    from counterplay.app.web.games import open_game
    from counterplay.app.web.play.opponents import offered

    found: list[dict[str, Any]] = []
    for game in games_offered():
        word, rules = game["word"], None
        if word != "holdem":
            rules = list(board_of(open_game(game["name"])).rules)
        found.append({**game, "rules": rules, "opponents": offered(word, library)})
    return {"games": found}


async def _find(room: CardRoom, request: Request) -> OpenTable:
    return await in_thread(room.find, str(request.path_params["name"]))


async def _change(
    room: CardRoom, request: Request, data: dict[str, Any], change: Callable[[Any, int], None]
) -> Response:
    """Change a table at a version, and say how it stands; 409 where it was another version."""
    version = number_in(data, "version", 0, MOST)
    seat = await _find(room, request)
    async with seat.lock:
        done = len(seat.table.done)
        try:
            if seat.slow:
                await in_thread(change, seat.table, version)
            else:
                change(seat.table, version)
        except Stale:
            return answer(_state(seat), 409)
        except BadMove as error:
            raise BadParameter(str(error)) from None
        if len(seat.table.done) > done:
            from counterplay.app.web.play.log import write_log

            write_log(seat.table)
        return answer(_state(seat))


def _state(seat: OpenTable) -> dict[str, Any]:
    from counterplay.app.web.learning import learning_of

    state = seat.table.state()
    state["learning"] = learning_of(seat.table)
    return state
