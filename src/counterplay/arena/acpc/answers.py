"""What the dealer makes of a line that a player sent: as the competition's does.

A state that is not the one asked about is not an answer. An answer that is not legal is a call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from counterplay.arena.acpc.protocol import Public, public_states

UNREADABLE = "WARNING: bad state format in response"
NOT_ASKED = "WARNING: ignoring un-requested response"
NO_ACTION = "WARNING: bad action format in response, changed to call"
ILLEGAL = "WARNING: invalid action, changed to call"
LETTERS = {"f": "f", "c": "c", "k": "c", "r": "r", "b": "r"}
_CARDS = r"(?:[2-9TJQKAtjqka][CDHScdhs])*"
_ANSWER = re.compile(
    rf"MATCHSTATE:\s*\+?(\d{{1,18}}):\s*\+?(\d{{1,18}}):([^:]*):"
    rf"({_CARDS})\|({_CARDS})((?:/{_CARDS})*)(.*)",
    re.DOTALL,
)


class Asked(NamedTuple):
    """The state a player is asked about."""

    line: str  # as he was sent it
    position: int
    hand: int
    node: int
    cards: str  # his view of them


class Judged(NamedTuple):
    """The letter of the action, if the line is an answer, and what there is to say about it."""

    letter: str | None
    warning: str | None = None


def judge(line: str, asked: Asked) -> Judged:
    public = public_states()[asked.node]
    if line.startswith(asked.line):  # nearly always
        rest = line[len(asked.line) :]
        if rest[:1] == ":":
            return _action(rest, public)
    found = _ANSWER.match(line)
    node = None if found is None else _follow(found[3])
    if found is None or node is None:
        return Judged(None, UNREADABLE)
    own = found[4 + asked.position] or ""
    mine = asked.cards.replace("|", "").replace("/", "").lower()
    said = (own + found[6].replace("/", "")).lower()
    if (int(found[1]), int(found[2]), node, said) != (
        asked.position,
        asked.hand,
        asked.node,
        mine,
    ):
        return Judged(None, NOT_ASKED)
    return _action(found[7], public)


def _action(rest: str, public: Public) -> Judged:
    """What stands behind the state: `:` and a letter; the rest does not matter."""
    if rest[:1] != ":":
        return Judged("c", NO_ACTION)
    letter = LETTERS.get(rest[1:2].lower())
    return Judged(letter) if letter in public.after else Judged("c", ILLEGAL)


def _follow(betting: str) -> int | None:
    """The node that letters lead to, whatever stands between rounds."""
    node, states = 0, public_states()
    for letter in betting.replace("/", "").lower():
        after = states[node].after.get(LETTERS.get(letter, ""))
        if after is None:
            return None
        node = after
    return node
