"""A response as the competition's dealer reads it: its published C code, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.poker.betting.betting import Betting

ACTIONS = {"f": "fold", "c": "call", "k": "call", "r": "raise", "b": "raise"}
BAD_STATE, OTHER, BAD_ACTION, INVALID = "bad state", "un-requested", "bad action", "invalid"


class BadState(Exception):
    """`readMatchState` returns -1."""


def unsigned(text: str, bits: int) -> tuple[int, str]:
    """`sscanf("%u")` into so many bits; the value and the rest."""
    text = text.lstrip(" \t\n\v\f\r")
    sign, digits = text[:1] if text[:1] in ("+", "-") else "", ""
    for mark in text[len(sign) :]:
        if mark not in "0123456789":
            break
        digits += mark
    if not digits:
        raise BadState
    value = min(int(digits), 2**64 - 1)
    whole = value if sign != "-" or int(digits) > value else -value
    return whole % 2**bits, text[len(sign) + len(digits) :]


def after(text: str, wanted: str) -> str:
    if not text.startswith(wanted):
        raise BadState
    return text[len(wanted) :]


def cards(text: str, most: int) -> tuple[str, str]:
    """`readCards`: as many as can be read, and the rest."""
    found = ""
    while len(found) < 2 * most and text[:1].upper() in "23456789TJQKA" and text[1:2]:
        if text[1].lower() not in "cdhs":
            break
        found, text = found + text[0].upper() + text[1].lower(), text[2:]
    return found, text


def match_state(text: str) -> tuple[tuple[int, int, str, str, str], str]:
    """`readMatchState`: position, hand, betting, own cards and board; and the rest."""
    position, text = unsigned(after(text, "MATCHSTATE:"), 8)
    hand, text = unsigned(after(text, ":") if position < 2 else "", 32)
    state, text = Betting(), after(text, ":")
    while text and text[0] != ":":
        if text[0] != "/":
            action = ACTIONS.get(text[0].lower())
            if state.over or action not in state.actions():
                raise BadState
            state = state.child(action)
        text = text[1:]
    holes, text = ["", ""], text[1:]
    for k in (0, 1):
        text = text.removeprefix("|") if k else text
        holes[k], text = cards(text, 2)
        if len(holes[k]) == 2:
            raise BadState
    board = ""
    for n in (3, 1, 1)[: state.round]:
        street, text = cards(text.removeprefix("/"), n)
        if len(street) < 2 * n:
            raise BadState
        board += street
    return (position, hand, state.history, holes[position], board), text


def judged(line: bytes, state: Betting, asked: Sequence[object]) -> tuple[str | None, str | None]:
    """The letter that is played, or None, and the warning, or None; `asked` as in `match_state`."""
    try:
        given, rest = match_state(line.partition(b"\0")[0].decode("latin-1"))
    except BadState:
        return None, BAD_STATE
    if given != tuple(asked):
        return None, OTHER
    if rest[:1] != ":":
        return "c", BAD_ACTION
    action = ACTIONS.get(rest[1:2].lower())
    return (action[0], None) if action in state.actions() else ("c", INVALID)
