"""All tables by name: created, restored from disk, and the finished hands of each as a file.

The file is PHH for hold'em and a line of JSON per hand for other games, as the person saw the
hands. A file that was cut off by a kill is rewritten from the journal.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from counterplay.app.web.catalog import Catalog
from counterplay.app.web.games import open_game, title_of
from counterplay.app.web.play.boards import History
from counterplay.app.web.play.holdem import HoldemHand, HoldemSource, luck_adjustment_of
from counterplay.app.web.play.journal import Journal
from counterplay.app.web.play.opponents import (
    BOT,
    LEARNER,
    NO_OPPONENT,
    HoldemOpponents,
    offered_opponents,
    tree_game_opponent,
)
from counterplay.app.web.play.table import HandSource, PlayTable
from counterplay.app.web.play.tree_games import TreeGameSource
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter
from counterplay.poker.histories.phh import phh_block
from counterplay.poker.histories.records import HandRecord, observed_by

MOST_OPEN = 500
PERSON = "you"


class TableStore:
    """The tables in one folder; those used last are in memory."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder, self._catalog = folder, catalog
        self.bots = HoldemOpponents(catalog)
        self._open: OrderedDict[str, PlayTable] = OrderedDict()
        self._lock = threading.Lock()  # two tabs after a restart get the same table

    def new(self, game_name: str, opponent: str) -> PlayTable:
        """Creates a table; this takes as long as the opponent needs to be computed."""
        game = open_game(game_name)
        word = game.name.partition("(")[0]
        names = {choice["key"]: choice["name"] for choice in offered_opponents(word, self._catalog)}
        if opponent not in names:
            raise BadParameter(NO_OPPONENT)
        source = self._source(game, opponent)
        facts = {
            "game": game.name,
            "title": title_of(word),
            "kind": source.kind,
            "opponent": opponent,
            "opponent_name": names[opponent],
            "unit": str(game.unit),
            "seats": list(game.seats),
        }
        return self._add(Journal.new(self._folder, facts), source)

    def find(self, name: str) -> PlayTable:
        """Returns a table from memory or from disk."""
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
            journal = Journal.open(self._folder, name)
            game = open_game(str(journal.facts.get("game")))
            table = self._add(journal, self._source(game, str(journal.facts.get("opponent"))))
            repair_log(table)
            return table

    def _source(self, game: Any, opponent: str) -> HandSource:
        if game.can("bots"):
            bot = self.bots.get(opponent)
            return HoldemSource(bot, luck_adjustment_of(bot))
        return TreeGameSource(game, tree_game_opponent(opponent, game, self._catalog))

    def _add(self, journal: Journal, source: HandSource) -> PlayTable:
        table = PlayTable(journal, source, slow=journal.facts["opponent"] == BOT + LEARNER)
        self._open[table.name] = table
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return table


def log_name(table: PlayTable) -> str:
    return "hands.phhs" if table.journal.facts["kind"] == "holdem" else "hands.jsonl"


def log_text(table: PlayTable, first: int = 0) -> str:
    """All finished hands from number `first` on."""
    return "".join(_hand_text(table, k) for k in range(first, len(table.done)))


def append_log(table: PlayTable) -> None:
    """Appends the last finished hand to the file."""
    path = table.journal.folder / log_name(table)
    with open(path, "ab") as file:
        file.write(log_text(table, len(table.done) - 1).encode())


def repair_log(table: PlayTable) -> None:
    """Rewrites the file where it differs from the hands of the journal."""
    path = table.journal.folder / log_name(table)
    text = log_text(table).encode()
    if table.done and (not path.exists() or path.read_bytes() != text):
        files.write_bytes(path, text)


def _hand_text(table: PlayTable, number: int) -> str:
    hand: Any = table.done[number]
    if isinstance(hand, HoldemHand):
        return phh_block(_record(hand, number, _opponent_name(table)), number + 1)
    line = {
        "hand": number + 1,
        "game": table.journal.facts["game"],
        "opponent": _opponent_name(table),
        "player": hand.seat + 1,
        "moves": _action_labels(hand.history),
        "won": hand.won,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _action_labels(history: History) -> list[str]:
    """The actions of both players; what chance drew stays in the journal."""
    prefix, labels = History(history.game), []
    for move in history.moves:
        if move.player >= 0:
            labels.append(prefix.labels()[move.child])
        prefix.move(move.child)
    return labels


def _record(hand: HoldemHand, number: int, opponent: str) -> HandRecord:
    """A finished hand as the person saw it."""
    names = (PERSON, opponent) if hand.seat == 0 else (opponent, PERSON)
    whole = HandRecord(
        number,
        *names,
        hand.state.history,
        hand.cards[4 : 4 + hand.state.on_board],
        hand.holding(0),
        hand.holding(1),
        hand.won if hand.seat == 0 else -hand.won,
    )
    return observed_by(whole, PERSON)


def _opponent_name(table: PlayTable) -> str:
    name = "".join(c for c in str(table.journal.facts["opponent_name"]) if c.isprintable())
    return name if name and name != PERSON else f"{name or 'bot'} (2)"
