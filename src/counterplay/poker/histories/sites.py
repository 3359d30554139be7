"""Hand histories of poker sites, as their clients write them: PokerStars and Full Tilt; two
players, limit hold'em, no all-in.

A hand begins with `PokerStars Hand #` or `Full Tilt Poker Game #`. The small bet of the header is
the unit; the button has the small blind; who sits out is no player. The player to whom cards were
`Dealt to` is the observer; cards that were shown or mucked at a showdown are those of the opponent.
Where cards stay unknown, who won the pot decides; a rake is left out. Other sites are known by how
their files begin (`OTHERS`) and refused by name. pokerkit 0.7 reads histories of sites too, but
none of limit games.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

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


class Site(NamedTuple):
    """How a site writes its hands."""

    name: str
    start: re.Pattern[str]  # the number of the hand and what follows it
    stakes: re.Pattern[str]  # the small and the big bet of limit hold'em
    button: re.Pattern[str]
    after_name: str  # between a player and what it does
    won: tuple[str, ...]  # how a line goes on, after the name of who gets the pot or a part


SITES = (
    Site(
        "PokerStars",
        re.compile(
            r"^[^\w\n]*PokerStars (?:Zoom |Home Game )?(?:Hand|Game) #(\d+):? +(.*)$", re.MULTILINE
        ),
        re.compile(r"Hold'em Limit \(\D{0,3}([\d.,]+)/\D{0,3}([\d.,]+)"),
        re.compile(r"Seat #(\d+) is the button"),
        ": ",
        (" collected ",),
    ),
    Site(
        "Full Tilt",
        re.compile(r"^[^\w\n]*Full Tilt Poker Game #(\d+): +(.*)$", re.MULTILINE),
        re.compile(r" - \D{0,3}([\d.,]+)/\D{0,3}([\d.,]+) - Limit Hold'em"),
        re.compile(r"^The button is in seat #(\d+)", re.MULTILINE),
        " ",
        (" wins the pot ", " ties for the pot "),
    ),
)
#: Sites whose hands cannot be read, by how a file of theirs begins.
OTHERS = {
    "PartyPoker or 888poker": r"\*{5} (?:\w+ )?Hand History for Game ",
    "OnGame": r"\*{5} History for hand ",
    "Winamax": r"Winamax Poker - ",
    "GGPoker": r"Poker Hand #",
    "Ignition or Bovada": r"(?:Ignition|Bovada|Bodog) Hand #",
    "Absolute or UltimateBet": r"Stage #",
    "CoinPoker": r"CoinPoker Hand #",
    "iPoker": r"<session sessioncode=",
    "the Winning Poker Network": r"Game (?:started at|ID): ",
}
READABLE = "two-player Hold'em Limit, blinds of a half and one small bet"
FORMATS = f"{READABLE}, of {' and '.join(site.name for site in SITES)}"
MAX_HAND = 20_000  # characters
_SEAT = re.compile(
    r"^Seat (\d+): (.+) \(\D{0,3}[\d.,]+(?: in chips)?\)(?!,? (?:is sitting out|out of hand))",
    re.MULTILINE,
)
_STREET = re.compile(r"^\*\*\* (FLOP|TURN|RIVER) \*\*\* .*\[([^\]]+)\]\s*$")
_HELD = re.compile(r"\[(\w\w) (\w\w)\]")
_VERBS = {"folds": FOLD, "checks": CALL, "calls": CALL, "bets": RAISE, "raises": RAISE}
ON_BOARD = {"FLOP": 3, "TURN": 1, "RIVER": 1}


def site_of(text: str) -> Site | None:
    """The site whose hands are in a text; `BadParameter` for one that cannot be read."""
    for name, start in OTHERS.items():
        if re.search(rf"^\W{{0,9}}{start}", text, re.MULTILINE):
            raise BadParameter(f"hands of {name} cannot be read; what can of sites: {FORMATS}")
    return next((site for site in SITES if site.start.search(text)), None)


def read_site(
    path: Path | str, site: Site, on_error: str = "refuse", report: ErrorCallback | None = None
) -> HandHistories:
    """Reads a file of a site."""
    path, errors, hands = Path(path), ReadErrors(on_error, report), list[HandRecord]()
    text = _decoded(file_bytes(path)).replace("\r\n", "\n")
    starts = [match.start() for match in site.start.finditer(text)]
    line, counted = 1, 0
    for low, high in pairwise([*starts, len(text)]):
        line, counted = line + text.count("\n", counted, low), low
        try:
            hands.append(hand_of(text[low:high], site))
        except CounterplayError as error:
            errors.add(f"{path}:{line}: {error}")
    return HandHistories(hands, errors.messages)


def _decoded(data: bytes) -> str:
    """The text of a file; old clients wrote names as Windows did."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def hand_of(text: str, site: Site = SITES[0]) -> HandRecord:
    """The record of one hand; `BadParameter` where it is none that can be read."""
    head = site.start.search(text)
    if head is None or len(text) > MAX_HAND:
        raise BadParameter(f"no hand of {site.name} of at most {MAX_HAND:,} characters")
    stakes = site.stakes.search(head[2])
    if stakes is None:
        raise BadParameter(f"{head[2][:60]!r} cannot be read; what can: {READABLE}")
    small, big = (float(stakes[k].replace(",", "") or 0) for k in (1, 2))
    if abs(big - 2 * small) > 1e-9:
        raise BadParameter(f"bets of {stakes[1]} and {stakes[2]} cannot be read; {READABLE}")
    before, _, played = text.partition("*** HOLE CARDS ***")
    seats = dict(_SEAT.findall(before))
    button = site.button.search(before)
    if len(seats) != 2 or button is None or button[1] not in seats:
        raise BadParameter(f"players at the table: {len(seats)}; what can be read: {READABLE}")
    dealer = seats[button[1]]
    big_blind = next(name for seat, name in seats.items() if seat != button[1])
    return _record(int(head[1]) % MAX_NUMBER, (dealer, big_blind), played, site)


def _record(number: int, names: tuple[str, str], played: str, site: Site) -> HandRecord:
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
            owner = next((name for name in names if _is_about(line, name, site)), None)
            if owner is not None:
                low, high = parse_cards(held[1] + held[2])
                holdings[owner] = (low, high)
        player, verb, rest = _action(line, names, site)
        if verb in _VERBS and not state.over:
            if re.search("all.in", rest):
                raise BadParameter("a player is all-in, and such hands cannot be read")
            if names[state.player()] != player:
                raise BadParameter(f"{player!r} acts out of turn: {line[:60]!r}")
            if _VERBS[verb] not in state.actions():
                raise BadParameter(f"{line[:60]!r} is not legal after {state.history!r}")
            state = state.child(_VERBS[verb])
        won_by = [name for name in names for words in site.won if line.startswith(name + words)]
        collected.update(won_by)
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


def _is_about(line: str, name: str, site: Site) -> bool:
    """Whether a line says which cards a player held."""
    does = name + site.after_name
    starts = (f"Dealt to {name} [", f"{does}shows [", f"{does}mucks [")
    return line.startswith(starts) or bool(
        re.match(rf"Seat \d+: {re.escape(name)} .*(mucked|showed) \[", line)
    )


def _action(line: str, names: tuple[str, str], site: Site) -> tuple[str, str, str]:
    """The player, the verb and the rest of a line such as `alice: raises $1 to $2`."""
    for name in sorted(names, key=len, reverse=True):
        does = name + site.after_name
        if line.startswith(does):
            verb, _, rest = line[len(does) :].partition(" ")
            return name, verb, rest
    return "", "", ""
