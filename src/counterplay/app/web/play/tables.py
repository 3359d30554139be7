"""All tables by name: created, restored from disk, the finished hands of each as a file; and the
requests about games and tables.

The file is PHH for hold'em and a line of JSON per hand for other games, as the person saw the
hands. A file that was cut off by a kill is rewritten from the journal.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from counterplay.app.web import http, strategies
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.learning import LearnerMonitor
from counterplay.app.web.play.holdem import HoldemHand, HoldemSource, luck_adjustment_of
from counterplay.app.web.play.prepare import prepare_opponent
from counterplay.app.web.play.table import (
    TABLE_ID,
    HandSource,
    IllegalMove,
    Journal,
    PlayTable,
    StaleVersion,
)
from counterplay.app.web.play.tree_games import TreeGameSource, board_of
from counterplay.app.web.preparation import Preparations
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.poker.histories.phh import phh_block
from counterplay.poker.histories.records import HandRecord, observed_by

MOST = 10**9
MOST_OPEN = 500
MOST_SITTINGS = 40  # that are listed
PERSON = "you"
HANDS = "hands.phhs"


class TableStore:
    """The tables in one folder; those used last are in memory."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder, self.catalog = folder, catalog
        self.bots = strategies.HoldemOpponents(catalog)
        self._open: OrderedDict[str, PlayTable] = OrderedDict()
        self._lock = threading.Lock()
        self._restoring: dict[str, threading.Lock] = {}  # two tabs after a restart share a table

    def check(self, game_name: str, opponent: str) -> tuple[Any, str, str]:
        """The game, its word and the opponent's name; `BadParameter` for an unknown one."""
        game = strategies.open_game(game_name)
        word = game.name.partition("(")[0]
        offered = strategies.offered_opponents(word, self.catalog)
        names = {choice["key"]: choice["name"] for choice in offered}
        if opponent not in names:
            raise BadParameter(strategies.NO_OPPONENT)
        return game, word, names[opponent]

    def prepare(self, game_name: str, opponent: str, progress: ProgressCallback) -> None:
        """Computes what an opponent needs, which may take long the first time."""
        game, _, _ = self.check(game_name, opponent)
        if game.can("bots"):
            prepare_opponent(self.bots, opponent, progress)
        else:
            strategies.tree_game_opponent(opponent, game, self.catalog, progress)

    def new(self, game_name: str, opponent: str) -> PlayTable:
        """Creates a table; quick where the opponent was prepared."""
        game, word, name = self.check(game_name, opponent)
        source = self._source(game, opponent)
        facts = {
            "game": game.name,
            "title": strategies.TITLES.get(word, (word,))[0],
            "kind": source.kind,
            "opponent": opponent,
            "opponent_name": name,
            "unit": str(game.unit),
            "seats": list(game.seats),
        }
        return self._add(Journal.new(self._folder, facts), source)

    def opened(self, name: str) -> PlayTable | None:
        """A table that is in memory."""
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
            return self._open.get(name)

    def find(self, name: str, progress: ProgressCallback = no_progress) -> PlayTable:
        """Returns a table from memory or from disk."""
        if (table := self.opened(name)) is not None:
            return table
        journal = Journal.open(self._folder, name)
        with self._lock:
            alone = self._restoring.setdefault(name, threading.Lock())
        with alone:
            if (table := self.opened(name)) is not None:
                return table
            game = strategies.open_game(str(journal.facts.get("game")))
            source = self._source(game, str(journal.facts.get("opponent")))
            table = self._add(journal, source, progress)
            repair_log(table)
            return table

    def sittings(self) -> list[dict[str, Any]]:
        """The tables on disk with their results, the last played first; without reading hands."""
        folders = self._folder.iterdir() if self._folder.is_dir() else []
        found = [path for path in folders if TABLE_ID.fullmatch(path.name)]
        found.sort(key=_last_played, reverse=True)
        listed = []
        for path in found[:MOST_SITTINGS]:
            with suppress(CounterplayError):
                journal = Journal.open(self._folder, path.name)
                won = [line["end"] for line in journal.lines() if "end" in line]
                facts = {name: journal.facts.get(name) for name in ("title", "unit", "kind")}
                facts |= {"table": path.name, "opponent": journal.facts.get("opponent_name")}
                learns = journal.facts.get("opponent") == strategies.BOT + strategies.LEARNER
                facts |= {"hands": len(won), "total": sum(won)}
                listed.append({**facts, "when": _last_played(path), "learns": learns})
        return listed

    def hands_file(self, name: str) -> Path:
        """The file of the hands of hold'em played at a table."""
        journal = Journal.open(self._folder, name)
        path = journal.folder / HANDS
        if not path.is_file():
            raise BadParameter("no hand of hold'em was played to its end at this table")
        return path

    def _source(self, game: Any, opponent: str) -> HandSource:
        if game.can("bots"):
            bot = self.bots.get(opponent)
            return HoldemSource(bot, luck_adjustment_of(bot))
        return TreeGameSource(game, strategies.tree_game_opponent(opponent, game, self.catalog))

    def _add(
        self, journal: Journal, source: HandSource, progress: ProgressCallback = no_progress
    ) -> PlayTable:
        table = PlayTable(journal, source, not source.known, progress)  # slow: a program
        with self._lock:
            self._open[table.name] = table
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return table


def _last_played(folder: Path) -> float:
    """When something was written to a table."""
    times = [0.0]
    for name in ("moves.jsonl", "table.json"):
        with suppress(OSError):
            times.append((folder / name).stat().st_mtime)
    return max(times)


def preparation_key(game: str, opponent: str) -> str:
    """The name of what `TableStore.prepare` does."""
    return f"{opponent} at {game}"


def log_name(table: PlayTable) -> str:
    return HANDS if table.journal.facts["kind"] == "holdem" else "hands.jsonl"


def log_text(table: PlayTable, first: int = 0) -> str:
    """All finished hands from number `first` on."""
    return "".join(_hand_text(table, k) for k in range(first, len(table.done)))


def append_log(table: PlayTable) -> None:
    """Appends the last finished hand to the file."""
    with open(table.journal.folder / log_name(table), "ab") as file:
        file.write(log_text(table, len(table.done) - 1).encode())


def repair_log(table: PlayTable) -> None:
    """Rewrites the file where it differs from the hands of the journal."""
    path = table.journal.folder / log_name(table)
    text = log_text(table).encode()
    if table.done and (not path.exists() or path.read_bytes() != text):
        files.write_bytes(path, text)


def _hand_text(table: PlayTable, number: int) -> str:
    hand: Any = table.done[number]
    name = "".join(c for c in str(table.journal.facts["opponent_name"]) if c.isprintable())
    opponent = name if name and name != PERSON else f"{name or 'bot'} (2)"
    if isinstance(hand, HoldemHand):
        return phh_block(_record(hand, number, opponent), number + 1)
    decisions = hand.history.decisions()  # what chance drew stays in the journal
    line = {
        "hand": number + 1,
        "game": table.journal.facts["game"],
        "opponent": opponent,
        "player": hand.seat + 1,
        "moves": [before.labels()[move.child] for before, move in decisions],
        "won": hand.won,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _record(hand: HoldemHand, number: int, opponent: str) -> HandRecord:
    """A finished hand as the person saw it."""
    names = (PERSON, opponent) if hand.seat == 0 else (opponent, PERSON)
    board, holdings = hand.cards[4 : 4 + hand.state.on_board], (hand.holding(0), hand.holding(1))
    won = hand.won if hand.seat == 0 else -hand.won
    record = HandRecord(number, *names, hand.state.history, board, *holdings, won)
    return observed_by(record, PERSON)


def routes(tables: TableStore, preparations: Preparations) -> list[Route]:
    """The requests about games and tables."""

    def find(request: Request) -> PlayTable:
        return tables.find(request.path_params["name"])

    async def new(request: Request) -> Response:
        data = await http.json_body(request)
        game, opponent = http.text_field(data, "game"), http.text_field(data, "opponent")
        tables.check(game, opponent)
        waiting = await preparations.wait(
            preparation_key(game, opponent),
            lambda job: tables.prepare(game, opponent, job.progress),
        )
        if waiting is not None:
            return waiting
        return http.json_reply(_state(await http.in_thread(tables.new, game, opponent)))

    async def state(request: Request) -> Response:
        name = request.path_params["name"]
        if tables.opened(name) is None:  # after a restart
            waiting = await preparations.wait(
                f"table {name}", lambda job: tables.find(name, job.progress)
            )
            if waiting is not None:
                return waiting
        return http.json_reply(await http.in_thread(lambda: _state(find(request))))

    async def act(request: Request) -> Response:
        data = await http.json_body(request)
        choice = http.integer_field(data, "choice", 0, 1_000)
        table = await http.in_thread(find, request)
        return await _change(table, data, lambda table, at: table.act(at, choice))

    async def deal(request: Request) -> Response:
        data, table = await http.json_body(request), await http.in_thread(find, request)
        return await _change(table, data, lambda table, at: table.next_hand(at))

    def review(request: Request) -> dict[str, Any]:
        return find(request).review(http.integer_field(request.query_params, "hand", 0, MOST))

    def belief(request: Request) -> dict[str, Any]:
        return {"belief": _belief(find(request), tables.catalog)}

    async def log(request: Request) -> Response:
        table = await http.in_thread(find, request)
        return http.download(log_text(table), log_name(table))

    return [
        http.json_route("/games", lambda request: _games(tables.catalog)),
        http.route("/tables", new, "POST"),
        http.json_route("/tables", lambda request: {"tables": tables.sittings()}),
        http.route("/tables/{name}", state),
        http.route("/tables/{name}/act", act, "POST"),
        http.route("/tables/{name}/deal", deal, "POST"),
        http.json_route("/tables/{name}/review", review),
        http.route("/tables/{name}/hands", log),
        http.json_route("/tables/{name}/belief", belief),
    ]


def _games(catalog: Catalog) -> dict[str, Any]:
    games: list[dict[str, Any]] = []
    for game in strategies.offered_games():
        word, rules = game["word"], None
        if word != "holdem":
            rules = list(board_of(strategies.open_game(game["name"])).rules)
        games.append(
            {**game, "rules": rules, "opponents": strategies.offered_opponents(word, catalog)}
        )
    return {"games": games}


async def _change(
    table: PlayTable, data: dict[str, Any], change: Callable[[PlayTable, int], None]
) -> Response:
    """Changes a table at a version and returns its state; status 409 at another version."""
    version = http.integer_field(data, "version", 0, MOST)
    async with table.lock:
        done = len(table.done)
        try:
            if table.slow:
                await http.in_thread(change, table, version)
            else:
                change(table, version)
        except StaleVersion:
            return http.json_reply(_state(table), 409)
        except IllegalMove as error:
            raise BadParameter(str(error)) from None
        if len(table.done) > done:
            append_log(table)
        return http.json_reply(_state(table))


def _learner(table: PlayTable) -> LearnerMonitor | None:
    """The opponent of a table, if it learns."""
    bot = getattr(table.source, "bot", None)
    return bot if isinstance(bot, LearnerMonitor) else None


def _belief(table: PlayTable, catalog: Catalog) -> dict[str, Any] | None:
    """What the opponent of a table believes about the person. Its model and the equilibrium are
    added to the catalog, for the explorer."""
    learner = _learner(table)
    facts = None if learner is None else learner.belief_facts()
    if learner is None or facts is None:
        return None
    belief, name = learner.belief, table.journal.facts["opponent_name"]
    if belief.learnt_from:
        catalog.add(f"belief-{table.name}", f"what {name} believes about you", belief.model)
        catalog.add(f"safe-{table.name}", f"the equilibrium of {name}", belief.equilibrium)
        facts |= {"model": f"belief-{table.name}", "equilibrium": f"safe-{table.name}"}
    return facts


def _state(table: PlayTable) -> dict[str, Any]:
    learner = _learner(table)
    return {**table.state(), "learning": None if learner is None else learner.learning()}
