"""Logs of the Annual Computer Poker Competition's dealer, two-player limit hold'em.

A hand is a line `STATE:<number>:<betting>:<cards>:<values>:<names>`, such as
`STATE:0:rc/cc/crc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:40|-40:Ann|Bob`. Cards, values and names are listed by
position; position 0 is the BIG blind, position 1 the dealer ("reverse blinds"). Values are in
chips, with a big blind of 10. Unknown hole cards are empty. Lines that start with # or ; are
comments; `SCORE:<totals>:<names>` closes a match and must be the sum of its hands.

Published logs deviate from this, and the conventions of a match are inferred from its hands
(`_conventions`): other blinds; position 0 as the dealer; one name for both players. An aborted
match has no SCORE; the hands after it belong to another match unless their numbers continue.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.files import write_text
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.histories.records import (
    DEALER,
    RULES,
    ErrorCallback,
    HandHistories,
    HandRecord,
    Holding,
    ReadErrors,
    add_checksum,
    cards_text,
    file_bytes,
    final_state,
    parse_cards,
    parse_holding,
    verify_checksums,
)

CHIPS = 10.0  # of the big blind, in the competition's game file
HEADER = "# hands of two-player limit hold'em, written by Counterplay; position 0 is the big blind"
MATCH = b"# name/game/hands/seed"  # first line of the dealer's log of a match
MAX_LINE = 10_000  # bytes
OTHER_GAME = "only two-player limit hold'em is read here"
#: Evidence needed before unusual conventions are inferred: hands for the blinds, folds for the
#: position of the dealer, and the share of them that must agree.
MIN_HANDS, MIN_FOLDS, MIN_SHARE = 10, 3, 0.9
_TIMESTAMP = re.compile(r"\s+#\s.*$")  # a comment appended to a line
_BET_SIZE = re.compile(r"[rb]\d")


class LoggedHand(NamedTuple):
    """A STATE line. Pairs are by position."""

    number: int
    betting: str
    holes: tuple[Holding | None, Holding | None]
    board: tuple[int, ...]
    values: tuple[float, float]  # chips
    names: tuple[str, str]

    @property
    def chips(self) -> float | None:
        """Chips of a big blind, inferred from the amount won; None where that is zero."""
        return abs(self.values[1]) / min(final_state(self.betting).paid) or None

    @property
    def dealer(self) -> int | None:
        """The position of the dealer, inferred from a fold; None at a showdown."""
        folded = final_state(self.betting).folded
        if folded == NO_FOLD:
            return None
        loser = 0 if self.values[0] < 0 else 1
        return loser if folded == DEALER else 1 - loser


class LoggedScore(NamedTuple):
    """A SCORE line."""

    totals: tuple[float, float]  # chips
    names: tuple[str, str]


def parse_line(raw: bytes) -> LoggedHand | LoggedScore:
    """Parses a line that is not a comment; raises `BadParameter`."""
    if len(raw) > MAX_LINE:
        raise BadParameter(f"a line of {len(raw):,} bytes; a hand has less than {MAX_LINE:,}")
    try:
        line = _TIMESTAMP.sub("", raw.decode().strip())
    except UnicodeDecodeError:
        raise BadParameter("not text") from None
    if line.startswith("SCORE:"):
        return _parse_score(line)
    parts = line.split(":", 5)
    if parts[0] != "STATE":
        raise BadParameter(f"neither a hand (STATE:...), a SCORE nor a comment: {line[:40]!r}")
    if len(parts) != 6:
        raise BadParameter(
            f"{len(parts)} parts; a hand has 6: STATE:number:betting:cards:values:names"
        )
    _, number, betting, cards, values, names = parts
    if not (number.isascii() and number.isdecimal() and len(number) <= 18):
        raise BadParameter(f"hand number {number[:40]!r}")
    if names.count("|") > 1:
        raise BadParameter(f"a hand of {names.count('|') + 1} players; {OTHER_GAME}")
    if _BET_SIZE.search(betting):
        raise BadParameter(f"betting {betting[:40]!r} has sizes, as in no-limit; {OTHER_GAME}")
    final_state(betting)
    holes, board = _parse_cards(cards)
    amounts = _parse_amounts(values)
    if not abs(sum(amounts)) <= 1e-6 * max(1.0, abs(amounts[0])):
        raise BadParameter(f"values {values!r} do not sum to zero")
    return LoggedHand(int(number), betting, holes, board, amounts, _parse_pair(names, "names"))


def _parse_score(line: str) -> LoggedScore:
    parts = line.split(":", 2)
    if len(parts) != 3:
        raise BadParameter(f"{line[:40]!r}: expected SCORE:totals:names")
    if parts[2].count("|") > 1:
        raise BadParameter(f"a SCORE of {parts[2].count('|') + 1} players; {OTHER_GAME}")
    return LoggedScore(_parse_amounts(parts[1]), _parse_pair(parts[2], "names"))


def _parse_pair(text: str, what: str) -> tuple[str, str]:
    parts = text.split("|")
    if len(parts) != 2:
        raise BadParameter(f"{what} {text[:40]!r}: expected two, with | between")
    return parts[0], parts[1]


def _parse_amounts(text: str) -> tuple[float, float]:
    pair = _parse_pair(text, "values")
    with suppress(ValueError):
        one, two = (float(part) for part in pair)
        if isfinite(one) and isfinite(two):
            return one, two
    raise BadParameter(f"values {text[:40]!r} are not numbers")


def _parse_cards(text: str) -> tuple[tuple[Holding | None, Holding | None], tuple[int, ...]]:
    """Hole cards by position, and the board."""
    private, *streets = text.split("/")
    holes = _parse_pair(private, "hole cards")
    one, two = (parse_holding(hole) if hole else None for hole in holes)
    sizes = [len(street) // 2 for street in streets]
    if sizes != [3, 1, 1][: len(sizes)]:
        raise BadParameter(
            f"board {'/'.join(streets)[:40]!r}: expected flop/turn/river with 3, 1 and 1 cards"
        )
    return (one, two), parse_cards("".join(streets))


class Conventions(NamedTuple):
    """How the hands of one match are recorded."""

    chips: float  # of a big blind
    dealer: int  # position
    sure: bool  # whether the folds agree on the position of the dealer
    rotate: bool  # players of equal names swap positions after every hand


class LoggedMatches:
    """The lines up to a SCORE: the hands of a match, and of aborted matches before it."""

    def __init__(self) -> None:
        self.matches: list[list[tuple[int, LoggedHand]]] = []  # with the numbers of the lines
        self.errors: list[tuple[int, str]] = []  # line, message
        self.announced = False  # the header of a match was read

    def add(self, line: int, hand: LoggedHand) -> None:
        last = self.matches[-1][-1][1].number if self.matches else None
        follows = last is not None and hand.number > last
        if self.announced and last is not None:
            follows = hand.number == last + 1  # a resumed match
        self.announced = False
        if not follows:
            self.matches.append([])
        self.matches[-1].append((line, hand))


def read_acpc(
    path: Path | str,
    on_error: str = "refuse",
    report: ErrorCallback | None = None,
    big_blind: float | None = None,
    observer: str | None = None,
) -> HandHistories:
    """Reads a dealer's log. `big_blind`: its chips, where the hands do not determine them.
    `observer`: the player whose log it is, if it holds only that player's information."""
    path, errors, hands = Path(path), ReadErrors(on_error, report), list[HandRecord]()
    if big_blind is not None:
        _check_chips(big_blind)
    data = file_bytes(path)
    verify_checksums(path, data)
    logged = LoggedMatches()

    def close(line: int, score: LoggedScore | None) -> None:
        hands.extend(_read_matches(logged, big_blind, observer, line, score))
        for number, message in sorted(logged.errors):
            errors.add(f"{path}:{number}: {message}")

    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip() or raw.lstrip()[:1] in (b"#", b";"):
            if raw.startswith(MATCH):
                logged.announced = True
            continue
        try:
            parsed = parse_line(raw)
        except CounterplayError as error:
            logged.errors.append((number, str(error)))
            continue
        if isinstance(parsed, LoggedScore):
            close(number, parsed)
            logged = LoggedMatches()
        else:
            logged.add(number, parsed)
    close(0, None)
    return HandHistories(hands, errors.messages)


def _read_matches(
    logged: LoggedMatches,
    big_blind: float | None,
    observer: str | None,
    line: int,
    score: LoggedScore | None,
) -> list[HandRecord]:
    """The records of all hands; adds messages to `logged.errors`."""
    records: list[list[HandRecord]] = []
    chips = CHIPS
    for match in logged.matches:
        last = match is logged.matches[-1]
        conventions = _conventions([hand for _, hand in match], big_blind, score if last else None)
        chips = conventions.chips
        records.append([])
        for number, hand in match:
            try:
                records[-1].append(_record(hand, conventions, observer))
            except CounterplayError as error:
                logged.errors.append((number, f"{error}{_hint(hand, conventions)}"))
    if score is not None and records and not logged.errors:
        try:
            _check_score(score, records, chips)
        except CounterplayError as error:
            logged.errors.append((line, str(error)))
    return [hand for match in records for hand in match]


def _conventions(
    match: list[LoggedHand], big_blind: float | None, score: LoggedScore | None
) -> Conventions:
    """The conventions that nearly all hands of a match agree on."""
    folds = [hand.dealer for hand in match if hand.dealer is not None]
    swapped = folds.count(0)
    dealer_first = len(folds) >= MIN_FOLDS and swapped >= MIN_SHARE * len(folds)
    sure = dealer_first or not folds or swapped < len(folds)
    values = Counter(round(hand.chips, 6) for hand in match if hand.chips)
    likely, times = values.most_common(1)[0] if values else (CHIPS, 0)
    enough = values.total() >= MIN_HANDS and times >= MIN_SHARE * values.total()
    chips = big_blind if big_blind is not None else likely if enough else CHIPS
    return Conventions(chips, 0 if dealer_first else 1, sure, _rotate(match, score))


def _rotate(match: list[LoggedHand], score: LoggedScore | None) -> bool:
    """Whether two players of equal names swap positions: true unless the score contradicts it."""
    if score is None or score.names[0] != score.names[1]:
        return True
    fixed = sum(hand.values[0] for hand in match)
    rotated = sum(hand.values[hand.number % 2] for hand in match)
    return abs(rotated - score.totals[0]) <= abs(fixed - score.totals[0])


def _names(hand: LoggedHand, conventions: Conventions) -> tuple[str, str]:
    """Two different names, by position."""
    one, two = hand.names
    if one != two:
        return one, two
    two = _second(one)
    return (two, one) if conventions.rotate and hand.number % 2 else (one, two)


def _second(name: str) -> str:
    return f"{name} (2)"


def _record(hand: LoggedHand, conventions: Conventions, observer: str | None) -> HandRecord:
    names, dealer = _names(hand, conventions), conventions.dealer
    if not conventions.sure and hand.dealer is None:
        raise BadParameter(
            "the position of the dealer is unknown: a fold elsewhere in the match contradicts the "
            "usual one"
        )
    return HandRecord(
        hand.number,
        names[dealer],
        names[1 - dealer],
        hand.betting,
        hand.board,
        hand.holes[dealer],
        hand.holes[1 - dealer],
        hand.values[dealer] / conventions.chips,
        observer,
    )


def _hint(hand: LoggedHand, conventions: Conventions) -> str:
    """The blinds that would make the hand legal, as a suggestion."""
    if hand.chips is None or hand.chips == conventions.chips:
        return ""
    with suppress(CounterplayError):
        _record(hand, conventions._replace(chips=hand.chips), None)
        return (
            f" with blinds of {conventions.chips:g} chips; it fits those of {hand.chips:g} "
            f"(big_blind={hand.chips:g}, --big-blind {hand.chips:g})"
        )
    return ""


def _check_score(score: LoggedScore, matches: list[list[HandRecord]], chips: float) -> None:
    """The score must be the sum of the last match, or of the last few: a resumed match may restart
    its numbering."""
    one, two = score.names
    names = (one, two if one != two else _second(two))
    for first in reversed(range(len(matches))):
        hands = [hand for match in matches[first:] for hand in match]
        sums = {name: total * chips for name, total in _totals(hands).items()}
        wrong = [
            (total, name)
            for name, total in zip(names, score.totals, strict=True)
            if not abs(total - sums.get(name, 0.0)) <= 1e-6 * chips * (1 + len(hands))
        ]
        if not wrong:
            return
    total, name = wrong[0]
    raise BadParameter(
        f"SCORE says {chips_text(total)} for {name!r}, the {len(hands)} hands above sum to "
        f"{chips_text(sums.get(name, 0.0))}"
    )


def _totals(hands: Iterable[HandRecord]) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for hand in hands:
        totals[hand.dealer] += hand.dealer_won
        totals[hand.big_blind] -= hand.dealer_won
    return totals


def write_acpc(path: Path | str, hands: Iterable[HandRecord], big_blind: float = CHIPS) -> None:
    """Writes a dealer's log, with a SCORE line if all hands are of the same two players. The
    format has no `observer`."""
    _check_chips(big_blind)
    hands = list(hands)
    lines = [HEADER, *(_line(hand, big_blind) for hand in hands)]
    totals = _totals(hands)
    if len(totals) == 2:
        amounts = "|".join(chips_text(total * big_blind) for total in totals.values())
        lines.append(f"SCORE:{amounts}:{'|'.join(totals)}")
    write_text(Path(path), add_checksum("\n".join(lines) + "\n"))


def _line(hand: HandRecord, chips: float) -> str:
    for name in (hand.big_blind, hand.dealer):
        if any(mark in name for mark in ("|", ":", " #")) or name != name.strip():
            raise BadParameter(
                f"hand {hand.number}: the ACPC format has no room for |, :, a space before # or "
                f"outer spaces in the name {name!r}"
            )
    holes = "|".join(cards_text(hole or ()) for hole in (hand.big_blind_cards, hand.dealer_cards))
    sizes = [size for size in RULES.board if size <= len(hand.board)]
    streets = ["/" + cards_text(hand.board[low:high]) for low, high in pairwise(sizes)]
    values = "|".join(chips_text(won * chips) for won in (-hand.dealer_won, hand.dealer_won))
    names = f"{hand.big_blind}|{hand.dealer}"
    return f"STATE:{hand.number}:{hand.betting}:{holes}{''.join(streets)}:{values}:{names}"


def chips_text(amount: float) -> str:
    """20.0 -> `"20"`, never `"-0"`."""
    text = f"{amount:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _check_chips(big_blind: float) -> None:
    if not (isfinite(big_blind) and big_blind > 0):
        raise BadParameter(f"big_blind is the number of chips of a big blind, got {big_blind!r}")
