"""Hand histories of PokerStars, as its client writes them: two players, limit hold'em, no all-in.

Each hand begins with `PokerStars Hand #`. The small bet of the header is the unit; the button has
the small blind. The player to whom cards were `Dealt to` is the observer; cards that were shown or
mucked at a showdown are those of the opponent. Where cards stay unknown, who collected the pot
decides; a rake is left out. pokerkit 0.7 reads histories of sites too, but none of limit games.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.poker.betting.betting import CALL, FOLD, NO_FOLD, RAISE
from counterplay.poker.histories.records import (
    MAX_NUMBER,
    RULES,
    ErrorCallback,
    HandHistories,
    HandRecord,
    Holding,
    ReadErrors,
    file_bytes,
    parse_cards,
    settle,
)

START = re.compile(r"^\W*PokerStars (?:Zoom )?(?:Hand|Game) #(\d+):? +(.*)$", re.MULTILINE)
READABLE = "two-player Hold'em Limit, blinds of a half and one small bet"
MAX_HAND = 20_000  # characters
_STAKES = re.compile(r"Hold'em Limit \(\D{0,3}([\d.]+)/\D{0,3}([\d.]+)")
_SEAT = re.compile(r"^Seat (\d+): (.+) \(\D{0,3}[\d.,]+ in chips\)", re.MULTILINE)
_BUTTON = re.compile(r"Seat #(\d+) is the button")
_STREET = re.compile(r"^\*\*\* (FLOP|TURN|RIVER) \*\*\* .*\[([^\]]+)\]\s*$")
_HELD = re.compile(r"\[(\w\w) (\w\w)\]")
_VERBS = {"folds": FOLD, "checks": CALL, "calls": CALL, "bets": RAISE, "raises": RAISE}
ON_BOARD = {"FLOP": 3, "TURN": 1, "RIVER": 1}


def read_pokerstars(
    path: Path | str, on_error: str = "refuse", report: ErrorCallback | None = None
) -> HandHistories:
    """Reads a file of PokerStars."""
    path, errors, hands = Path(path), ReadErrors(on_error, report), list[HandRecord]()
    text = file_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
    starts = [match.start() for match in START.finditer(text)]
    for low, high in pairwise([*starts, len(text)]):
        try:
            hands.append(hand_of(text[low:high]))
        except CounterplayError as error:
            errors.add(f"{path}:{text.count(chr(10), 0, low) + 1}: {error}")
    return HandHistories(hands, errors.messages)


def hand_of(text: str) -> HandRecord:
    """The record of one hand; `BadParameter` where it is none that can be read."""
    head = START.search(text)
    if head is None or len(text) > MAX_HAND:
        raise BadParameter(f"no hand of PokerStars of at most {MAX_HAND:,} characters")
    stakes = _STAKES.search(head[2])
    if stakes is None:
        raise BadParameter(f"{head[2][:60]!r} cannot be read; what can: {READABLE}")
    if abs(float(stakes[2]) - 2 * float(stakes[1])) > 1e-9:
        raise BadParameter(f"bets of {stakes[1]} and {stakes[2]} cannot be read; {READABLE}")
    before, _, played = text.partition("*** HOLE CARDS ***")
    seats = dict(_SEAT.findall(before))
    button = _BUTTON.search(before)
    if len(seats) != 2 or button is None or button[1] not in seats:
        raise BadParameter(f"{len(seats)} players at the table; what can be read: {READABLE}")
    dealer = seats[button[1]]
    big_blind = next(name for seat, name in seats.items() if seat != button[1])
    return _record(int(head[1]) % MAX_NUMBER, (dealer, big_blind), played)


def _record(number: int, names: tuple[str, str], played: str) -> HandRecord:
    state, board = RULES.start(), list[int]()
    holdings: dict[str, Holding] = {}
    observer, collected = None, set[str]()
    for line in played.splitlines():
        if street := _STREET.match(line):
            board += parse_cards(street[2].replace(" ", ""))[-ON_BOARD[street[1]] :]
            continue
        if line.startswith("Dealt to "):
            observer = next((n for n in names if line.startswith(f"Dealt to {n} [")), None)
        if held := _HELD.search(line):
            owner = next((name for name in names if _is_about(line, name)), None)
            if owner is not None:
                low, high = parse_cards(held[1] + held[2])
                holdings[owner] = (low, high)
        player, verb, rest = _action(line, names)
        if verb in _VERBS and not state.over:
            if "all-in" in rest:
                raise BadParameter("a player is all-in, and such hands cannot be read")
            if names[state.player()] != player:
                raise BadParameter(f"{player!r} acts out of turn: {line[:60]!r}")
            if _VERBS[verb] not in state.actions():
                raise BadParameter(f"{line[:60]!r} is not legal after {state.history!r}")
            state = state.child(_VERBS[verb])
        collected |= {name for name in names if line.startswith(f"{name} collected ")}
    if not state.over:
        raise BadParameter(f"the hand is not finished (betting {state.history!r})")
    shown = state.folded == NO_FOLD
    for name in names:  # a winner may show a hand that nobody called
        if not shown and name != observer:
            holdings.pop(name, None)
    cards = holdings.get(names[0]), holdings.get(names[1])
    dealt = tuple(board[: state.on_board])
    won = settle(state.history, dealt, *cards)
    if won is None:
        won = min(state.paid) * ((names[0] in collected) - (names[1] in collected))
        if not collected:
            raise BadParameter("the winner is unknown: cards are missing, and nobody collected")
    seen = observer if observer in holdings else None
    return HandRecord(number, *names, state.history, dealt, *cards, won, seen)


def _is_about(line: str, name: str) -> bool:
    """Whether a line says which cards a player held."""
    starts = (f"Dealt to {name} [", f"{name}: shows [", f"{name}: mucks [")
    return line.startswith(starts) or bool(
        re.match(rf"Seat \d+: {re.escape(name)} .*(mucked|showed) \[", line)
    )


def _action(line: str, names: tuple[str, str]) -> tuple[str, str, str]:
    """The player, the verb and the rest of a line such as `alice: raises $1 to $2`."""
    for name in sorted(names, key=len, reverse=True):
        if line.startswith(f"{name}: "):
            verb, _, rest = line[len(name) + 2 :].partition(" ")
            return name, verb, rest
    return "", "", ""
