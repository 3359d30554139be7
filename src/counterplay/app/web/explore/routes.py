"""Requests of the explorer."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web.answers import answer, download, handled, in_thread, number_in, text_in
from counterplay.app.web.library import Library
from counterplay.core.base.errors import BadParameter

MOST_PAGES = 10**6
GRIDS = "strategies with a grid of starting hands"


def routes(library: Library) -> list[Route]:
    async def strategies(request: Request) -> Response:
        return answer(await in_thread(_strategies, library))

    async def look(request: Request) -> Response:
        return answer(await in_thread(_look, library, dict(request.query_params)))

    async def table(request: Request) -> Response:
        text = await in_thread(_csv, library, dict(request.query_params))
        return download(text, "strategy.csv", "text/csv")

    return [
        Route("/strategies", handled(strategies)),
        Route("/explore", handled(look)),
        Route("/explore.csv", handled(table)),
    ]


def _strategies(library: Library) -> dict[str, Any]:
    from counterplay.app.web.play.opponents import strategies

    found = [{"key": key, "name": name, "game": game} for key, name, game in strategies(library)]
    return {"strategies": [*found, *_always()]}


def _always() -> list[dict[str, str]]:
    """What can be looked into without any file: equilibria of small games, simple bots."""
    from counterplay.app.web.games import offered, title_of
    from counterplay.poker.bots.registry import BOTS

    found = [
        {
            "key": f"equilibrium:{game['name']}",
            "name": f"Equilibrium of {title_of(game['word'])}",
            "game": game["name"],
        }
        for game in offered()
        if game["word"] != "holdem"
    ]
    found += [
        {"key": f"bot:{name}", "name": name, "game": "holdem(buckets=10)"}
        for name, spec in BOTS.items()
        if spec.strategy is not None
    ]
    return found


def find_strategy(library: Library, key: str, game: Any = None) -> Any:
    """A strategy by key: of the library, an equilibrium, or a bot as one (`game`: of which)."""
    from counterplay.app.web.games import open_game
    from counterplay.app.web.play.opponents import equilibrium
    from counterplay.core.games.players import as_strategy
    from counterplay.poker.bots.registry import BOTS
    from counterplay.poker.players import DEFAULT_GAME

    kind, _, rest = key.partition(":")
    if kind == "equilibrium" and rest:
        return equilibrium(open_game(rest))
    if kind == "uniform" and rest:
        return as_strategy(open_game(rest), kind)
    if kind == "bot" and rest in BOTS:
        return as_strategy(game or open_game(DEFAULT_GAME), rest)
    return library.strategy(key)


def _comparable(strategy: Any) -> str:
    """Strategies with the same word can be compared: those with grids, or of one game."""
    return GRIDS if strategy.game.can("grid") else str(strategy.game.name)


def _asked(library: Library, query: dict[str, str]) -> tuple[Any, Any]:
    """The strategy, and the one it is compared with."""
    one = find_strategy(library, text_in(query, "s"))
    key = text_in(query, "t", "")
    if not key:
        return one, None
    two = find_strategy(library, key)
    if _comparable(one) != _comparable(two):
        raise BadParameter(f"{two.game.name} cannot be compared with {one.game.name}")
    return one, two


def _player(query: dict[str, str]) -> int | None:
    return number_in(query, "player", 1, 2) - 1 if query.get("player") else None


def _look(library: Library, query: dict[str, str]) -> dict[str, Any]:
    one, two = _asked(library, query)
    if _comparable(one) == GRIDS:
        from counterplay.app.web.explore.grid import look_grid

        return look_grid(one, two, text_in(query, "betting", ""), text_in(query, "board", ""))
    from counterplay.app.web.explore.sets import look_sets

    page = number_in(query, "page", 0, MOST_PAGES, 0)
    return look_sets(one, two, text_in(query, "q", ""), _player(query), page)


def _csv(library: Library, query: dict[str, str]) -> str:
    one, two = _asked(library, query)
    if _comparable(one) == GRIDS:
        from counterplay.app.web.explore.grid import grid_csv

        return grid_csv(one, two, text_in(query, "betting", ""), text_in(query, "board", ""))
    from counterplay.app.web.explore.sets import sets_csv

    return sets_csv(one, two, text_in(query, "q", ""), _player(query))
