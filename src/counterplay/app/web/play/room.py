"""All tables that are open: made, found again after a restart, and put away."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from counterplay.app.web.library import Library
from counterplay.app.web.play.journal import Journal
from counterplay.app.web.play.log import mend_log
from counterplay.app.web.play.luck import luck_of
from counterplay.app.web.play.opponents import BOT, LEARNER, Bots, offered, small_opponent
from counterplay.app.web.play.table import PlayTable
from counterplay.core.base.errors import BadParameter

MOST_OPEN = 500


class OpenTable:
    """An open table, and the lock of whoever changes it."""

    def __init__(self, table: PlayTable, slow: bool) -> None:
        self.table, self.slow = table, slow
        self.lock = asyncio.Lock()


class CardRoom:
    """Tables by name. `place`: where they are kept."""

    def __init__(self, place: Path, library: Library) -> None:
        self._place, self._library = place, library
        self.bots = Bots(library)
        self._open: OrderedDict[str, OpenTable] = OrderedDict()
        self._finding = threading.Lock()  # of two tabs after a restart, one opens the table

    def new(self, game_name: str, opponent: str) -> OpenTable:
        """A new table; takes as long as the opponent needs to get ready."""
        from counterplay.app.web.games import open_game, title_of

        game = open_game(game_name)
        word = game.name.partition("(")[0]
        names = {choice["key"]: choice["name"] for choice in offered(word, self._library)}
        if opponent not in names:
            raise BadParameter("there is no such opponent at this game")
        shared = self._shared(game, opponent)
        facts = {
            "game": game.name,
            "title": title_of(word),
            "kind": shared.kind,
            "opponent": opponent,
            "opponent_name": names[opponent],
            "unit": str(game.unit),
            "seats": list(game.seats),
        }
        journal = Journal.new(self._place, facts)
        return self._keep(PlayTable(journal, shared))

    def find(self, name: str) -> OpenTable:
        """An open table, or one from disk."""
        with self._finding:
            return self._found(name)

    def _found(self, name: str) -> OpenTable:
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        journal = Journal.open(self._place, name)
        from counterplay.app.web.games import open_game

        game = open_game(str(journal.facts.get("game")))
        table = PlayTable(journal, self._shared(game, str(journal.facts.get("opponent"))))
        mend_log(table)
        return self._keep(table)

    def _shared(self, game: Any, opponent: str) -> Any:
        from counterplay.app.web.play.holdem import HoldemGame
        from counterplay.app.web.play.small import SmallGame

        if game.can("bots"):
            bot = self.bots.get(opponent)
            return HoldemGame(bot, luck_of(bot))
        return SmallGame(game, small_opponent(opponent, game, self._library))

    def _keep(self, table: PlayTable) -> OpenTable:
        slow = table.journal.facts["opponent"] == BOT + LEARNER
        self._open[table.name] = OpenTable(table, slow)
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return self._open[table.name]
