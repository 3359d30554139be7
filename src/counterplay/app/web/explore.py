"""The explorer: information sets of a strategy with their values and regrets, searched and paged;
hold'em strategies at one decision, as a grid of all holdings on a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web import http
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.preparation import Preparations
from counterplay.app.web.strategies import (
    bot_strategies,
    find_strategy,
    saved_strategies,
    small_game_strategies,
)
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.files import csv_text
from counterplay.core.evaluation.exact import InfosetValues, infoset_values
from counterplay.core.games.locks import locked
from counterplay.core.parallel.background import BackgroundJob
from counterplay.poker.betting.betting import ACTIONS, LETTER, STREETS, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, card_text, cards, holding
from counterplay.poker.holdem import holdings
from counterplay.poker.holdem.action_values import action_values
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.match.rollouts import rollout_values

PAGE_ROWS = 40
MOST_PAGES = 10**6
VALUED_CARDS = 4  # on the board, from which on actions have values
ROLLOUTS = 400_000  # before; half a second
GRIDS = "strategies with a grid of starting hands"


def routes(catalog: Catalog, preparations: Preparations) -> list[Route]:
    async def view(request: Request) -> Response:
        waiting = await prepared(catalog, preparations, request.query_params)
        if waiting is not None:
            return waiting
        return http.json_reply(await http.in_thread(_answer, catalog, request))

    def values(request: Request) -> dict[str, Any]:
        query = request.query_params
        strategy = find_strategy(catalog, http.text_field(query, "s"))
        betting, board = http.text_field(query, "betting", ""), http.text_field(query, "board", "")
        return value_facts(strategy, betting, board, http.text_field(query, "cards", ""))

    async def table(request: Request) -> Response:
        text = await http.in_thread(_answer, catalog, request, True)
        return http.download(text, "strategy.csv", "text/csv")

    return [
        http.json_route("/strategies", lambda request: _strategies(catalog)),
        http.route("/explore", view),
        http.json_route("/explore/values", values),
        http.route("/explore.csv", table),
    ]


async def prepared(catalog: Catalog, preparations: Preparations, query: Any) -> Response | None:
    """None when the strategies `s` and `t`, and a `lock`, are there; else the job that makes them,
    as a reply."""
    work: dict[str, Callable[[BackgroundJob], Any]] = {}
    for name in ("s", "t"):
        if key := http.text_field(query, name, ""):
            work[key] = partial(_prepare, catalog, key)
    if lock := http.text_field(query, "lock", ""):
        first = http.text_field(query, "s")
        work[f"{first} with {lock}"] = lambda job: _locked(find_strategy(catalog, first), lock)
    for key, make in work.items():
        waiting = await preparations.wait(key, make)
        if waiting is not None:
            return waiting
    return None


def _prepare(catalog: Catalog, key: str, job: BackgroundJob) -> None:
    """Computes what the strategy with a key needs, which may take long the first time."""
    strategy = find_strategy(catalog, key, job.progress)
    if _comparison_class(strategy) == GRIDS:
        strategy.game.rules.prepare(job.progress)


@lru_cache(maxsize=6)
def _locked(strategy: Any, lock: str) -> Any:
    return locked(strategy, [lock])


def _strategies(catalog: Catalog) -> dict[str, Any]:
    """All strategies that can be explored: of files, computed, equilibria of small games, bots."""
    equilibria = small_game_strategies("equilibrium", "Equilibrium")
    first, *bots = bot_strategies()
    return {"strategies": [first, *saved_strategies(catalog), *equilibria, *bots]}


def _comparison_class(strategy: Any) -> str:
    """Strategies of one class can be compared: those with grids, or those of one game."""
    return GRIDS if strategy.game.can("grid") else str(strategy.game.name)


def _answer(catalog: Catalog, request: Request, as_csv: bool = False) -> Any:
    """A page of the strategy `s`, compared with the strategy `t` if that is given; all of it as
    the text of a CSV file."""
    query, other = request.query_params, None
    strategy = find_strategy(catalog, http.text_field(query, "s"))
    if http.text_field(query, "t", ""):
        other = find_strategy(catalog, http.text_field(query, "t"))
        if _comparison_class(strategy) != _comparison_class(other):
            raise BadParameter(f"{other.game.name} cannot be compared with {strategy.game.name}")
    elif lock := http.text_field(query, "lock", ""):
        other = _locked(strategy, lock)
    if _comparison_class(strategy) == GRIDS:
        betting, board = http.text_field(query, "betting", ""), http.text_field(query, "board", "")
        return (grid_csv if as_csv else grid_view)(strategy, other, betting, board)
    player = http.integer_field(query, "player", 1, 2) - 1 if query.get("player") else None
    infosets = _matching(strategy.game, http.text_field(query, "q", ""), player)
    if as_csv:
        return _infoset_csv(strategy, other, infosets)
    page = http.integer_field(query, "page", 0, MOST_PAGES, 0)
    return _infoset_page(strategy, other, infosets, page)


@lru_cache(maxsize=4)
def _values(strategy: Any) -> InfosetValues:
    return infoset_values(strategy.game, strategy.probabilities)


def _infoset_page(strategy: Any, other: Any, infosets: Sequence[int], page: int) -> dict[str, Any]:
    """One page of information sets; `other`: a strategy of the same game to compare, or None."""
    from counterplay.core.evaluation.exact import expected_value

    game = strategy.game
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
    slots = slice(int(game.form.first[i]), int(game.form.first[i + 1]))
    return {
        "player": int(game.form.owner[i]),
        "name": game.infoset_names[i],
        "actions": game.labels.action[slots],
        "shares": strategy.probabilities[slots].tolist(),
        "others": None if other is None else other.probabilities[slots].tolist(),
        "q": values.action_value[slots].tolist(),
        "value": float(values.value[i]),
        "regret": float(values.regret[i]),
        "reach": float(values.reach[i]),
    }


def _infoset_csv(strategy: Any, other: Any, infosets: Sequence[int]) -> str:
    """All matching information sets, a row for each action."""
    compared = [] if other is None else ["other", "difference"]
    columns = ["player", "infoset", "action", "probability", *compared]
    rows: list[list[Any]] = [[*columns, "action_value", "regret", "reach"]]
    for row in (_row(strategy, other, i) for i in infosets):
        for k, (action, share) in enumerate(zip(row["actions"], row["shares"], strict=True)):
            beside = [] if other is None else [row["others"][k], share - row["others"][k]]
            start = [row["player"] + 1, row["name"], action, share, *beside]
            rows.append([*start, row["q"][k], row["regret"], row["reach"]])
    return csv_text(rows)


class HoldingPolicy(NamedTuple):
    """A strategy at one decision, by holding."""

    bucket: np.ndarray  # int64[1326]
    probability: np.ndarray  # float64[1326, 3]: fold, call, raise
    reach: np.ndarray  # float64[1326]: probability of the player's own actions up to here


_table = lru_cache(maxsize=6)(strategy_table)


def _decision(
    strategy: Any, betting: str, board_text: str
) -> tuple[BettingTree, list[int], tuple[int, ...]]:
    """The betting tree, the public nodes along `betting` (letters such as `rc/cr`), the board."""
    tree, path, board = strategy.game.rules.tree, [0], tuple(cards(board_text))
    if len(board) > holdings.BOARD_SIZE[-1]:
        raise BadParameter(f"a board has at most {holdings.BOARD_SIZE[-1]} cards, not {len(board)}")
    for letter in betting.replace("/", ""):
        moves = tree.moves[path[-1]]
        if letter not in LETTER or LETTER[letter] not in moves:
            raise BadParameter(f"{letter!r} is not legal after {tree.histories[path[-1]]!r}")
        path.append(moves[LETTER[letter]])
    return tree, path, board


def _action_taken(tree: BettingTree, node: int, child: int) -> str:
    return tree.actions[node][child - int(tree.nodes.first_child[node])]


def grid_view(strategy: Any, other: Any, betting: str, board_text: str) -> dict[str, Any]:
    """The decision after `betting`: the player, the legal actions, and every holding."""
    tree, path, board = _decision(strategy, betting, board_text)
    state = tree.states[path[-1]]
    facts: dict[str, Any] = {
        "kind": "grid",
        "game": strategy.game.name,
        "player": strategy.player,
        "betting": state.history,
        "steps": [_step(tree, node, child) for node, child in pairwise(path)],
        "street": STREETS[state.round],
        "board": [card_text(card) for card in board],
        "needed": state.on_board,
        "over": state.over,
        "paid": list(state.paid),
        "pot": sum(state.paid),
    }
    if state.over or len(board) < state.on_board:
        return facts
    dealt = board[: state.on_board]
    canonical = holdings.canonical_board(dealt)
    facts |= {
        "seat": state.player(),
        "call": max(state.paid) - state.paid[state.player()],
        "actions": tree.actions[path[-1]],
        "one": _policy_facts(strategy, path, dealt),
        "strength": np.round(holdings.strengths_on(canonical), 4).tolist(),
        "free": canonical.free.astype(int).tolist(),
    }
    if other is not None:
        facts["two"] = _policy_facts(other, path, dealt)
    return facts


def value_facts(strategy: Any, betting: str, board_text: str, held: str = "") -> dict[str, Any]:
    """The value of each action after `betting` when both players follow the strategy: of every
    holding and the mean, exactly on the turn and the river; before the turn the mean, or that of
    the holding `held`, as an estimate with half its 95% interval (`within`) and those of the
    differences (`apart`)."""
    tree, path, board = _decision(strategy, betting, board_text)
    state = tree.states[path[-1]]
    dealt = board[: state.on_board]
    if state.over or len(dealt) < state.on_board:
        return {"values": None}
    table = _table(strategy)
    if len(dealt) < VALUED_CARDS:
        mine = holding_on(held, dealt) if held else None
        estimate = rollout_values(tree, table, table, path, dealt, mine, ROLLOUTS)
        if estimate is None:
            return {"values": None, "mean": None, "actions": tree.actions[path[-1]]}
        every = range(len(estimate.actions))
        return {
            "values": None,
            "mean": estimate.value.tolist(),
            "within": [estimate.within(k) for k in every],
            "apart": [[estimate.within(k, j) for j in every] for k in every],
            "actions": estimate.actions,
        }
    found = action_values(tree, table, table, path, dealt)
    own = found.weight * _holding_policy(strategy, path, dealt).reach
    values = np.nan_to_num(found.value)
    mean = (values @ own / own.sum()).tolist() if own.sum() > 0 else None
    each = {name: row.tolist() for name, row in zip(found.actions, values, strict=True)}
    return {"values": each, "mean": mean, "actions": found.actions}


def holding_on(text: str, board: tuple[int, ...]) -> int:
    """The number of the holding in a text such as `QhJh`, which is possible on the board."""
    own = tuple(cards(text))
    if len(own) != 2 or {*own} & {*board}:
        raise BadParameter("a player holds two cards that are not on the board")
    return holding(own)


def _step(tree: BettingTree, node: int, child: int) -> dict[str, Any]:
    state = tree.states[node]
    return {
        "street": STREETS[state.round],
        "seat": state.player(),
        "history": state.history,
        "actions": tree.actions[node],
        "taken": _action_taken(tree, node, child),
    }


def _holding_policy(strategy: Any, path: list[int], board: tuple[int, ...]) -> HoldingPolicy:
    tree, table = strategy.game.rules.tree, _table(strategy)
    node = path[-1]
    reach = holdings.reach_of(tree, table, path, int(tree.nodes.player[node]), board)
    buckets = holdings.bucket_codes(table, board, holdings.BOARD_SIZE.index(len(board)))
    return HoldingPolicy(buckets, holdings.action_probabilities(table, node, buckets), reach)


def _policy_facts(strategy: Any, path: list[int], board: tuple[int, ...]) -> dict[str, Any]:
    bucket, probability, reach = _holding_policy(strategy, path, board)
    total = float(reach.sum())
    return {
        "bucket": bucket.tolist(),
        "shares": np.round(probability.T, 3).tolist(),
        "reach": np.round(reach, 4).tolist(),
        "mean": (reach @ probability / total).tolist() if total > 0 else None,
    }


def grid_csv(strategy: Any, other: Any, betting: str, board_text: str) -> str:
    """A row for each holding that is possible on the board."""
    tree, path, board = _decision(strategy, betting, board_text)
    state = tree.states[path[-1]]
    if state.over or len(board) < state.on_board:
        raise BadParameter("there is no decision here")
    board = board[: state.on_board]
    canonical = holdings.canonical_board(board)
    strength = holdings.strengths_on(canonical)
    policies = [_holding_policy(strategy, path, board)]
    header = ["holding", "strength", "bucket", "reach", *ACTIONS]
    if other is not None:
        policies.append(_holding_policy(other, path, board))
        header += [f"other_{name}" for name in ("bucket", "reach", *ACTIONS)]
    rows: list[list[Any]] = [header]
    for k in np.flatnonzero(canonical.free).tolist():
        low, high = HOLDING_CARDS[k].tolist()
        rows.append([card_text(high) + card_text(low), f"{strength[k]:.6f}"])
        for bucket, probability, reach in policies:
            rows[-1] += [int(bucket[k]), f"{reach[k]:.6g}", *(f"{x:.6g}" for x in probability[k])]
    return csv_text(rows)
