"""The drill: a decision of a hand that a strategy plays with itself, asked of a person, and the
answer beside what the strategy does there and what each action is worth, when both go on as the
strategy: exactly on the turn and the river, as an estimate before.

Answers are appended to a file, a line of JSON each.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web import http
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.explore import grid_view, holding_on, prepared, value_facts
from counterplay.app.web.play.holdem import button_text
from counterplay.app.web.preparation import Preparations
from counterplay.app.web.strategies import find_strategy
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.poker.betting.betting import ACTIONS, LIMIT, STREETS, betting_tree
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import N_CARDS, card_text, cards
from counterplay.poker.cards.deal import N_DEALT

TRIES = 2_000
MOST_RESULTS = 2_000
_random = random.SystemRandom()


def routes(catalog: Catalog, preparations: Preparations, file: Path) -> list[Route]:
    """`file`: of the answers."""

    async def ask(request: Request) -> Response:
        waiting = await prepared(catalog, preparations, request.query_params)
        if waiting is not None:
            return waiting
        strategy = find_strategy(catalog, http.text_field(request.query_params, "s"))
        return http.json_reply(await http.in_thread(draw_spot, strategy))

    async def answer(request: Request) -> Response:
        query = await http.json_body(request)
        strategy = find_strategy(catalog, http.text_field(query, "s"))
        spot = {name: http.text_field(query, name) for name in ("betting", "board", "cards")}
        action = http.text_field(query, "action")
        found = await http.in_thread(judge, strategy, spot, action)
        facts = {name: found[name] for name in ("street", "cost", "within")}
        line = {"when": time.time(), **facts}
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with open(file, "ab") as out:
                out.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise CounterplayError(f"cannot write {file}: {error.strerror}") from None
        return http.json_reply(found)

    return [
        http.route("/drill", ask),
        http.route("/drill/answer", answer, "POST"),
        http.json_route("/drill/results", lambda request: {"results": read_results(file)}),
    ]


def read_results(file: Path) -> list[dict[str, Any]]:
    """The last answers, oldest first; lines that are damaged are left out."""
    if not file.is_file():
        return []
    found = []
    for text in file.read_bytes().splitlines()[-MOST_RESULTS:]:
        try:
            line = json.loads(text)
            right = {"when": float(line["when"]), "cost": float(line["cost"])}
            right["within"] = float(line.get("within") or 0.0)
            found.append({**right, "street": str(line["street"])})
        except (ValueError, KeyError, TypeError):
            continue
    return found


def draw_spot(strategy: Any) -> dict[str, Any]:
    """A decision of a hand that the strategy plays with itself, on any street as likely."""
    if not strategy.game.can("grid") or strategy.game.rules.betting != LIMIT:
        raise BadParameter("the drill is for strategies of limit hold'em")
    tree, bot = betting_tree(LIMIT), strategy_bot(strategy)
    wanted, found = _random.randrange(len(STREETS)), list[Any]()
    for _ in range(TRIES):
        deal = _random.sample(range(N_CARDS), N_DEALT)
        bot.seed(_random.randrange(2**60))
        node, decisions = 0, dict[int, list[Any]]()
        while not tree.states[node].over:
            state = tree.states[node]
            seat = state.player()
            own = deal[2 * seat], deal[2 * seat + 1]
            board = tuple(deal[4 : 4 + state.on_board])
            decisions.setdefault(state.round, []).append((node, own, board))
            node = tree.moves[node][bot.act(View(seat, own, board, state, node))]
        found = decisions.get(wanted, found or decisions[0])
        if wanted in decisions:
            break
    return _spot(tree, *_random.choice(found))


def _spot(tree: Any, node: int, own: tuple[int, int], board: tuple[int, ...]) -> dict[str, Any]:
    state = tree.states[node]
    return {
        "betting": state.history,
        "board": "".join(map(card_text, board)),
        "cards": "".join(map(card_text, own)),
        "seat": state.player(),
        "street": STREETS[state.round],
        "actions": tree.actions[node],
        "labels": [button_text(state, name) for name in tree.actions[node]],
        "pot": sum(state.paid),
        "call": max(state.paid) - state.paid[state.player()],
    }


def judge(strategy: Any, spot: dict[str, str], action: str) -> dict[str, Any]:
    """What the strategy does at a spot, what each action is worth, and what `action` costs."""
    k = holding_on(spot["cards"], tuple(cards(spot["board"])))
    view = grid_view(strategy, None, spot["betting"], spot["board"])
    found = value_facts(strategy, spot["betting"], spot["board"], spot["cards"])
    if "one" not in view or found.get("actions") is None:
        raise BadParameter("there is no decision here")
    if found["values"] is None and found["mean"] is None:
        raise BadParameter("the strategy never comes here, so nothing has a value")
    if action not in view["actions"]:
        raise BadParameter(f"one may {', '.join(view['actions'])} here, not {action[:40]!r}")
    shares = {name: view["one"]["shares"][ACTIONS.index(name)][k] for name in view["actions"]}
    values = dict(zip(found["actions"], found["mean"], strict=True))
    if found["values"] is not None:
        values = {name: found["values"][name][k] for name in view["actions"]}
    within, best = None, max(values, key=values.__getitem__)
    if found["values"] is None:
        others = [name for name in values if name != action]
        rival = best if best != action else max(others, key=values.__getitem__)
        rows = found["actions"]
        within = found["apart"][rows.index(rival)][rows.index(action)]
    facts = {"street": view["street"], "shares": shares, "values": values, "within": within}
    return {**facts, "cost": values[best] - values[action]}
