"""A table: hand after hand against one opponent, kept on disk, the same in every tab.

Every change writes a line to the journal first, and its number is the version of the table. A move
says which version it was made at; one made at another version changes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterplay.app.web.play.hands import BadMove, Hand
from counterplay.app.web.play.journal import Journal
from counterplay.app.web.play.winnings import winnings
from counterplay.core.base.errors import BadFile


class Stale(Exception):
    """A move made at another version of the table than the one it has now."""


class PlayTable:
    """Hands of `shared`, which makes them; the person's seat alternates."""

    def __init__(self, journal: Journal, shared: Any) -> None:
        self.journal, self.shared = journal, shared
        self.version = 0
        self.hand: Hand | None = None
        self.number = -1
        self.done: list[Hand] = []
        self._won: list[tuple[int, float]] = []
        self._adjusted: list[float | None] = []
        self._restore()

    @property
    def name(self) -> str:
        return self.journal.name

    def _restore(self) -> None:
        self.shared.forget()
        try:
            for line in self.journal.lines():
                if "hand" in line:
                    self._begin(int(line["hand"]), int(line["seat"]), line.get("deal"))
                assert self.hand is not None
                self.hand.replay(list(line["m"]))
                assert self.hand.over or self.hand.waiting
                self.version += 1
                self._finish()
        except (BadMove, AssertionError, KeyError, TypeError, ValueError, IndexError):
            raise BadFile("the record of this table is damaged; take a new one") from None

    def _begin(self, number: int, seat: int, deal: Any) -> None:
        if seat not in (0, 1):
            raise BadMove("there are two seats")
        self.number, self.hand = number, self.shared.new_hand(seat, deal)

    def _finish(self) -> None:
        """What a finished hand leaves."""
        hand = self.hand
        if hand is not None and hand.over and (not self.done or self.done[-1] is not hand):
            self.done.append(hand)
            self._won.append((hand.seat, hand.won))
            self._adjusted.append(hand.adjusted())

    def next_hand(self, version: int) -> None:
        """Deal; where a hand is going on, nothing changes."""
        self._check(version)
        if self.hand is not None and not self.hand.over:
            raise Stale
        number = self.number + 1
        self._begin(number, number % 2, None)
        assert self.hand is not None
        self.hand.answer()
        self._write({"hand": number, "seat": number % 2, "deal": self.hand.deal()}, 0)

    def act(self, version: int, choice: int) -> None:
        """The person's move, and what follows it."""
        self._check(version)
        if self.hand is None or self.hand.over:
            raise Stale
        before = len(self.hand.moves())
        self.hand.act(choice)
        self.hand.answer()
        self._write({}, before)

    def _check(self, version: int) -> None:
        if version != self.version:
            raise Stale

    def _write(self, line: dict[str, Any], since: int) -> None:
        assert self.hand is not None
        line["m"] = self.hand.moves()[since:]
        if self.hand.over:
            line["end"] = self.hand.won
        self.journal.add(line)
        self.version += 1
        self._finish()

    def state(self) -> dict[str, Any]:
        """What the person may know now."""
        self._adjust()
        facts, hand = self.journal.facts, self.hand
        found = {
            "table": self.name,
            "game": facts["game"],
            "title": facts["title"],
            "opponent": facts["opponent_name"],
            "kind": facts["kind"],
            "unit": facts["unit"],
            "version": self.version,
            "hand": self.number,
            "winnings": winnings(self._won, self._adjusted),
            "over": hand is None or hand.over,
            "rules": list(self.shared.rules),
        }
        if hand is not None:
            found |= {
                "seat": hand.seat,
                "seat_name": facts["seats"][hand.seat],
                "scene": hand.see(),
                "choices": [choice._asdict() for choice in hand.choices()],
                "won": hand.won if hand.over else None,
            }
        return found

    def _adjust(self) -> None:
        """Hands that were over before it was known how to take luck out of them."""
        for k in range(len(self.done) - 1, -1, -1):
            if self._adjusted[k] is None:
                self._adjusted[k] = self.done[k].adjusted()
                if self._adjusted[k] is None:
                    return

    def review(self, number: int) -> dict[str, Any]:
        """A finished hand, looked at afterwards."""
        if not 0 <= number < len(self.done):
            raise BadFile("that hand is not over, or was never played")
        return {"hand": number, "won": self.done[number].won, **self.done[number].review()}


def tables_folder(place: Path) -> Path:
    return place / "tables"
