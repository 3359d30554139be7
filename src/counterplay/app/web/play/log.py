"""Finished hands of a table as files: PHH for hold'em, a line of JSON each for other games.

Hands are written as the person saw them, one after the other; each piece has its own checksum, so
that a file that was cut off by a kill is put right from the journal.
"""

from __future__ import annotations

import json
from typing import Any

from counterplay.app.web.play.holdem import HoldemHand
from counterplay.app.web.play.table import PlayTable
from counterplay.core.base import files
from counterplay.poker.histories.phh import phh_block
from counterplay.poker.histories.records import HandRecord, observed_by

PERSON = "you"


def log_name(table: PlayTable) -> str:
    return "hands.phhs" if table.journal.facts["kind"] == "holdem" else "hands.jsonl"


def log_text(table: PlayTable, first: int = 0) -> str:
    """All finished hands from number `first` on."""
    return "".join(_piece(table, k) for k in range(first, len(table.done)))


def write_log(table: PlayTable) -> None:
    """The last finished hand at the end of the file."""
    path = table.journal.folder / log_name(table)
    with open(path, "ab") as file:
        file.write(log_text(table, len(table.done) - 1).encode())


def mend_log(table: PlayTable) -> None:
    """The whole file again, where it is not what was played."""
    path = table.journal.folder / log_name(table)
    text = log_text(table).encode()
    if table.done and (not path.exists() or path.read_bytes() != text):
        files.write_bytes(path, text)


def _piece(table: PlayTable, number: int) -> str:
    hand = table.done[number]
    if isinstance(hand, HoldemHand):
        return phh_block(record(hand, number, _name(table)), number + 1)
    walk: Any = hand
    labels = _labels(walk.walk)
    line = {
        "hand": number + 1,
        "game": table.journal.facts["game"],
        "opponent": _name(table),
        "player": hand.seat + 1,
        "moves": labels,
        "won": hand.won,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _labels(walk: Any) -> list[str]:
    """What both players did; what chance drew stays in the journal."""
    from counterplay.app.web.play.walk import Walk

    again, found = Walk(walk.game), []
    for move in walk.moves:
        if move.player >= 0:
            found.append(again.labels()[move.child])
        again.move(move.child)
    return found


def record(hand: HoldemHand, number: int, opponent: str) -> HandRecord:
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


def _name(table: PlayTable) -> str:
    kept = "".join(c for c in str(table.journal.facts["opponent_name"]) if c.isprintable())
    return kept if kept and kept != PERSON else f"{kept or 'bot'} (2)"
