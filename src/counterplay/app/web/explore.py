"""The explorer: information sets of a strategy with their values and regrets, searched and paged;
hold'em strategies as a grid of holdings (`holdem_grid`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web.catalog import Catalog
from counterplay.app.web.http import (
    download,
    in_thread,
    integer_field,
    json_reply,
    route,
    text_field,
)
from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.infoset_values import InfosetValues, infoset_values

PAGE_ROWS = 40
MOST_PAGES = 10**6
GRIDS = "strategies with a grid of starting hands"
Query = dict[str, str]


def routes(catalog: Catalog) -> list[Route]:
    async def strategies(request: Request) -> Response:
        return json_reply(await in_thread(_strategies, catalog))

    async def view(request: Request) -> Response:
        return json_reply(await in_thread(_view, catalog, dict(request.query_params)))

    async def table(request: Request) -> Response:
        text = await in_thread(_csv, catalog, dict(request.query_params))
        return download(text, "strategy.csv", "text/csv")

    return [route("/strategies", strategies), route("/explore", view), route("/explore.csv", table)]


def _strategies(catalog: Catalog) -> dict[str, Any]:
    """All strategies that can be explored: of files, computed, equilibria of small games, bots."""
    from counterplay.app.web.games import small_game_strategies
    from counterplay.app.web.play.opponents import bot_strategies, saved_strategies

    equilibria = small_game_strategies("equilibrium", "Equilibrium")
    return {"strategies": [*saved_strategies(catalog), *equilibria, *bot_strategies()]}


def find_strategy(catalog: Catalog, key: str) -> Any:
    """The strategy with a key: an equilibrium, uniform play, a bot, or one of the catalog."""
    from counterplay.app.web.games import HOLDEM, open_game
    from counterplay.app.web.play.opponents import equilibrium
    from counterplay.core.games.players import as_strategy
    from counterplay.poker.bots.registry import BOTS

    kind, _, rest = key.partition(":")
    if kind == "equilibrium" and rest:
        return equilibrium(open_game(rest))
    if kind == "uniform" and rest:
        return as_strategy(open_game(rest), kind)
    if kind == "bot" and rest in BOTS:
        return as_strategy(open_game(HOLDEM), rest)
    return catalog.strategy(key)


def _comparison_class(strategy: Any) -> str:
    """Strategies of one class can be compared: those with grids, or those of one game."""
    return GRIDS if strategy.game.can("grid") else str(strategy.game.name)


def _chosen(catalog: Catalog, query: Query) -> tuple[Any, Any]:
    """The strategy of a request, and the one it is compared with or None."""
    strategy = find_strategy(catalog, text_field(query, "s"))
    key = text_field(query, "t", "")
    if not key:
        return strategy, None
    other = find_strategy(catalog, key)
    if _comparison_class(strategy) != _comparison_class(other):
        raise BadParameter(f"{other.game.name} cannot be compared with {strategy.game.name}")
    return strategy, other


def _player(query: Query) -> int | None:
    return integer_field(query, "player", 1, 2) - 1 if query.get("player") else None


def _view(catalog: Catalog, query: Query) -> dict[str, Any]:
    strategy, other = _chosen(catalog, query)
    if _comparison_class(strategy) == GRIDS:
        from counterplay.app.web.holdem_grid import grid_view

        betting, board = text_field(query, "betting", ""), text_field(query, "board", "")
        return grid_view(strategy, other, betting, board)
    page = integer_field(query, "page", 0, MOST_PAGES, 0)
    return _infoset_page(strategy, other, text_field(query, "q", ""), _player(query), page)


def _csv(catalog: Catalog, query: Query) -> str:
    strategy, other = _chosen(catalog, query)
    if _comparison_class(strategy) == GRIDS:
        from counterplay.app.web.holdem_grid import grid_csv

        betting, board = text_field(query, "betting", ""), text_field(query, "board", "")
        return grid_csv(strategy, other, betting, board)
    return _infoset_csv(strategy, other, text_field(query, "q", ""), _player(query))


@lru_cache(maxsize=4)
def _values(strategy: Any) -> InfosetValues:
    return infoset_values(strategy.game, strategy.probabilities)


def _infoset_page(
    strategy: Any, other: Any, search: str, player: int | None, page: int
) -> dict[str, Any]:
    """One page of information sets; `other`: a strategy of the same game to compare, or None."""
    from counterplay.core.evaluation.exact import expected_value

    game = strategy.game
    infosets = _matching(game, search, player)
    shown = infosets[page * PAGE_ROWS : (page + 1) * PAGE_ROWS]
    return {
        "kind": "sets",
        "game": game.name,
        "seats": list(game.seats),
        "player": strategy.player,
        "total": len(infosets),
        "page": page,
        "pages": max(1, -(-len(infosets) // PAGE_ROWS)),
        "value": float(expected_value(game, strategy)[0]),
        "unit": str(game.unit),
        "rows": [_row(strategy, other, int(i)) for i in shown],
    }


def _matching(game: Any, search: str, player: int | None) -> Sequence[int]:
    """Information sets of a player whose name contains `search`; * stands for any text."""
    owner, names = game.form.owner, game.infoset_names
    infosets: Sequence[int] = range(game.n_infosets)
    if player is not None:
        infosets = np.flatnonzero(owner == player).tolist()
    if "*" in search:
        return [i for i in infosets if fnmatchcase(names[i], search)]
    return [i for i in infosets if search in names[i]]


def _row(strategy: Any, other: Any, i: int) -> dict[str, Any]:
    game, values = strategy.game, _values(strategy)
    low, high = int(game.form.first[i]), int(game.form.first[i + 1])
    return {
        "player": int(game.form.owner[i]),
        "name": game.infoset_names[i],
        "actions": game.labels.action[low:high],
        "shares": strategy.probabilities[low:high].tolist(),
        "others": None if other is None else other.probabilities[low:high].tolist(),
        "q": values.action_value[low:high].tolist(),
        "value": float(values.value[i]),
        "regret": float(values.regret[i]),
        "reach": float(values.reach[i]),
    }


def _infoset_csv(strategy: Any, other: Any, search: str, player: int | None) -> str:
    """All matching information sets, a row for each action."""
    game, values = strategy.game, _values(strategy)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    compared = [] if other is None else ["other", "difference"]
    columns = ["player", "infoset", "action", "probability", *compared]
    writer.writerow([*columns, "action_value", "regret", "reach"])
    for i in _matching(game, search, player):
        for slot in range(int(game.form.first[i]), int(game.form.first[i + 1])):
            probability = strategy.probabilities[slot]
            row = [int(game.form.owner[i]) + 1, game.infoset_names[i], game.labels.action[slot]]
            row.append(probability)
            if other is not None:
                row += [other.probabilities[slot], probability - other.probabilities[slot]]
            row += [values.action_value[slot], values.regret[i], values.reach[i]]
            writer.writerow(row)
    return out.getvalue()
