"""Requests about games and tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web.catalog import Catalog
from counterplay.app.web.games import offered_games, open_game
from counterplay.app.web.http import (
    download,
    in_thread,
    integer_field,
    json_body,
    json_reply,
    route,
    text_field,
)
from counterplay.app.web.learning import LearnerMonitor
from counterplay.app.web.play.boards import board_of
from counterplay.app.web.play.opponents import offered_opponents
from counterplay.app.web.play.table import IllegalMove, PlayTable, StaleVersion
from counterplay.app.web.play.tables import TableStore, append_log, log_name, log_text
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.jobs import BackgroundJobs

MOST = 10**9
POLLS = 10  # of 0.05 s for the preparation of an opponent, before the reply is a job


def routes(tables: TableStore, catalog: Catalog, jobs: BackgroundJobs) -> list[Route]:
    async def find(request: Request) -> PlayTable:
        return await in_thread(tables.find, str(request.path_params["name"]))

    async def games(request: Request) -> Response:
        return json_reply(await in_thread(_games, catalog))

    async def new(request: Request) -> Response:
        data = await json_body(request)
        game, opponent = text_field(data, "game"), text_field(data, "opponent")
        if not tables.bots.ready(opponent):
            job = jobs.start(
                f"preparing {opponent}", lambda job: tables.bots.prepare(opponent, job.progress)
            )
            for _ in range(POLLS):
                await asyncio.sleep(0.05)
                if job.state != "running":
                    break
            else:
                return json_reply({"job": job.key}, 202)
            if job.state == "failed":
                raise BadParameter(job.problem)
        return json_reply(_state(await in_thread(tables.new, game, opponent)))

    async def state(request: Request) -> Response:
        return json_reply(_state(await find(request)))

    async def act(request: Request) -> Response:
        data = await json_body(request)
        choice = integer_field(data, "choice", 0, 1_000)
        return await _change(await find(request), data, lambda table, at: table.act(at, choice))

    async def deal(request: Request) -> Response:
        data = await json_body(request)
        return await _change(await find(request), data, lambda table, at: table.next_hand(at))

    async def review(request: Request) -> Response:
        table = await find(request)
        number = integer_field(request.query_params, "hand", 0, MOST)
        return json_reply(await in_thread(table.review, number))

    async def trees(request: Request) -> Response:
        learner = _learner(await find(request))
        return json_reply({"trees": [] if learner is None else learner.trees()})

    async def log(request: Request) -> Response:
        table = await find(request)
        return download(log_text(table), log_name(table))

    return [
        route("/games", games),
        route("/tables", new, "POST"),
        route("/tables/{name}", state),
        route("/tables/{name}/act", act, "POST"),
        route("/tables/{name}/deal", deal, "POST"),
        route("/tables/{name}/review", review),
        route("/tables/{name}/hands", log),
        route("/tables/{name}/trees", trees),
    ]


def _games(catalog: Catalog) -> dict[str, Any]:
    games: list[dict[str, Any]] = []
    for game in offered_games():
        word, rules = game["word"], None
        if word != "holdem":
            rules = list(board_of(open_game(game["name"])).rules)
        games.append({**game, "rules": rules, "opponents": offered_opponents(word, catalog)})
    return {"games": games}


async def _change(
    table: PlayTable, data: dict[str, Any], change: Callable[[PlayTable, int], None]
) -> Response:
    """Changes a table at a version and returns its state; status 409 at another version."""
    version = integer_field(data, "version", 0, MOST)
    async with table.lock:
        done = len(table.done)
        try:
            if table.slow:
                await in_thread(change, table, version)
            else:
                change(table, version)
        except StaleVersion:
            return json_reply(_state(table), 409)
        except IllegalMove as error:
            raise BadParameter(str(error)) from None
        if len(table.done) > done:
            append_log(table)
        return json_reply(_state(table))


def _learner(table: PlayTable) -> LearnerMonitor | None:
    """The opponent of a table, if it learns."""
    bot = getattr(table.source, "bot", None)
    return bot if isinstance(bot, LearnerMonitor) else None


def _state(table: PlayTable) -> dict[str, Any]:
    learner = _learner(table)
    return {**table.state(), "learning": None if learner is None else learner.learning()}
