"""Logs of the Annual Computer Poker Competition's dealer, two-player limit hold'em.

A hand is a line `STATE:<number>:<betting>:<cards>:<values>:<names>`, such as
`STATE:0:rc/cc/crc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:40|-40:Ann|Bob`. Cards, values and names are listed by
position, and position 0 is the BIG blind, position 1 the dealer ("reverse blinds"). Values are in
chips, the big blind being 10. A hand that is not known is empty. Lines that start with # or ; are
comments; `SCORE:<totals>:<names>` closes a match and must be the sum of its hands.

Logs in the wild differ, and what they are is read off their hands (`_layout`): other blinds;
position 0 as the dealer; both players with one name. A match that was aborted has no SCORE, and
what follows is another match, unless its hand numbers go on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.files import write_text
from counterplay.poker.histories.acpc_line import LoggedHand, LoggedScore, parse_line
from counterplay.poker.histories.records import (
    RULES,
    HandRecord,
    Hands,
    Problems,
    Report,
    cards_text,
    file_bytes,
)
from counterplay.poker.histories.sealed import check_seals, sealed

CHIPS = 10.0  # of the big blind, in the competition's game file
HEADER = "# hands of two-player limit hold'em, written by Counterplay; position 0 is the big blind"
MATCH = b"# name/game/hands/seed"  # how the dealer begins
ENOUGH_HANDS = 10  # to believe that blinds are not the usual ones
ENOUGH_FOLDS = 3  # to believe that the dealer is in position 0
NEARLY_ALL = 0.9


class Numbered(NamedTuple):
    """A hand and its line in the file."""

    line: int
    hand: LoggedHand


class Layout(NamedTuple):
    """How the hands of one match are to be read."""

    chips: float  # of a big blind
    dealer: int  # position
    sure: bool  # whether the hands agree with that
    rotate: bool  # both have one name, and change positions after every hand


class LoggedMatches:
    """Lines up to a SCORE: the hands of a match, and of aborted ones before it."""

    def __init__(self) -> None:
        self.matches: list[list[Numbered]] = []
        self.errors: list[tuple[int, str]] = []  # line, what is wrong
        self._header = False  # a match is announced

    def announce(self) -> None:
        self._header = True

    def add(self, line: int, hand: LoggedHand) -> None:
        last = self.matches[-1][-1].hand.number if self.matches else None
        follows = last is not None and hand.number > last
        if self._header and last is not None:
            follows = hand.number == last + 1  # a match that was resumed
        self._header = False
        if not follows:
            self.matches.append([])
        self.matches[-1].append(Numbered(line, hand))


def read_acpc(
    path: Path | str,
    on_error: str = "refuse",
    report: Report | None = None,
    big_blind: float | None = None,
    observer: str | None = None,
) -> Hands:
    """The hands of a dealer's log. `big_blind`: its chips, where the hands do not tell. `observer`:
    whose log it is, if it is only one player's view."""
    path, problems, hands = Path(path), Problems(on_error, report), list[HandRecord]()
    if big_blind is not None:
        _check_chips(big_blind)
    data = file_bytes(path)
    check_seals(path, data)
    logged = LoggedMatches()

    def close(line: int, score: LoggedScore | None) -> None:
        hands.extend(_read_matches(logged, big_blind, observer, line, score))
        for number, message in sorted(logged.errors):
            problems.add(f"{path}:{number}: {message}")

    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip() or raw.lstrip()[:1] in (b"#", b";"):
            if raw.startswith(MATCH):
                logged.announce()
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
    return Hands(hands, problems.messages)


def _read_matches(
    logged: LoggedMatches,
    big_blind: float | None,
    observer: str | None,
    line: int,
    score: LoggedScore | None,
) -> list[HandRecord]:
    """Its hands; what is wrong goes to its errors."""
    found: list[list[HandRecord]] = []
    chips = CHIPS
    for match in logged.matches:
        last = match is logged.matches[-1]
        layout = _layout([hand for _, hand in match], big_blind, score if last else None)
        chips = layout.chips
        found.append([])
        for number, hand in match:
            try:
                found[-1].append(_record(hand, layout, observer))
            except CounterplayError as error:
                logged.errors.append((number, f"{error}{_hint(hand, layout)}"))
    if score is not None and found and not logged.errors:
        try:
            _check_score(score, found, chips)
        except CounterplayError as error:
            logged.errors.append((line, str(error)))
    return [hand for match in found for hand in match]


def _layout(match: list[LoggedHand], big_blind: float | None, score: LoggedScore | None) -> Layout:
    """What nearly all hands of a match say."""
    folds = [hand.dealer for hand in match if hand.dealer is not None]
    swapped = folds.count(0)
    other = len(folds) >= ENOUGH_FOLDS and swapped >= NEARLY_ALL * len(folds)
    sure = other or not folds or swapped < len(folds)
    return Layout(_chips(match, big_blind), 0 if other else 1, sure, _rotate(match, score))


def _chips(match: list[LoggedHand], big_blind: float | None) -> float:
    if big_blind is not None:
        return big_blind
    seen = Counter(round(hand.chips, 6) for hand in match if hand.chips)
    if not seen:
        return CHIPS
    likely, times = seen.most_common(1)[0]
    enough = sum(seen.values()) >= ENOUGH_HANDS and times >= NEARLY_ALL * sum(seen.values())
    return likely if enough else CHIPS


def _rotate(match: list[LoggedHand], score: LoggedScore | None) -> bool:
    """Whether two players of one name change positions, as they do unless the score says that they
    do not."""
    if score is None or score.names[0] != score.names[1]:
        return True
    kept = sum(hand.values[0] for hand in match)
    turned = sum(hand.values[hand.number % 2] for hand in match)
    return abs(turned - score.totals[0]) <= abs(kept - score.totals[0])


def _names(hand: LoggedHand, layout: Layout) -> tuple[str, str]:
    """By position, different ones."""
    one, two = hand.names
    if one != two:
        return one, two
    return (one, _second(one)) if not (layout.rotate and hand.number % 2) else (_second(one), one)


def _second(name: str) -> str:
    return f"{name} (2)"


def _record(hand: LoggedHand, layout: Layout, observer: str | None) -> HandRecord:
    names, dealer = _names(hand, layout), layout.dealer
    if not layout.sure and hand.dealer is None:
        raise BadParameter(
            "it is not known which position deals: a fold elsewhere in the match says the other one"
        )
    return HandRecord(
        hand.number,
        names[dealer],
        names[1 - dealer],
        hand.betting,
        hand.board,
        hand.holes[dealer],
        hand.holes[1 - dealer],
        hand.values[dealer] / layout.chips,
        observer,
    )


def _hint(hand: LoggedHand, layout: Layout) -> str:
    """Which blinds would make the hand right."""
    if hand.chips is None or hand.chips == layout.chips:
        return ""
    with suppress(CounterplayError):
        _record(hand, layout._replace(chips=hand.chips), None)
        return (
            f" with blinds of {layout.chips:g} chips; it fits those of {hand.chips:g} "
            f"(big_blind={hand.chips:g}, --big-blind {hand.chips:g})"
        )
    return ""


def _check_score(score: LoggedScore, matches: list[list[HandRecord]], chips: float) -> None:
    """It is the sum of the last match, or of some before it too: who goes on with a match may
    number its hands as he likes."""
    one, two = score.names
    names = (one, two if one != two else _second(two))
    for first in reversed(range(len(matches))):
        hands = [hand for match in matches[first:] for hand in match]
        totals = _totals(hands)
        wrong = [
            (said, name, totals.get(name, 0.0) * chips)
            for name, said in zip(names, score.totals, strict=True)
            if not abs(said - totals.get(name, 0.0) * chips) <= 1e-6 * chips * (1 + len(hands))
        ]
        if not wrong:
            return
    said, name, read = wrong[0]
    raise BadParameter(
        f"SCORE says {chips_text(said)} for {name!r}, the {len(hands)} hands above sum to "
        f"{chips_text(read)}"
    )


def _totals(hands: Iterable[HandRecord]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for hand in hands:
        total[hand.dealer] += hand.dealer_won
        total[hand.big_blind] -= hand.dealer_won
    return total


def write_acpc(path: Path | str, hands: Iterable[HandRecord], big_blind: float = CHIPS) -> None:
    """A dealer's log of these hands, with a SCORE line if the same two played them all. It
    cannot hold `observer`."""
    _check_chips(big_blind)
    hands = list(hands)
    lines = [HEADER, *(_line(hand, big_blind) for hand in hands)]
    totals = _totals(hands)
    if len(totals) == 2:
        lines.append(
            f"SCORE:{'|'.join(chips_text(total * big_blind) for total in totals.values())}:"
            f"{'|'.join(totals)}"
        )
    write_text(Path(path), sealed("\n".join(lines) + "\n"))


def _line(hand: HandRecord, chips: float) -> str:
    for name in (hand.big_blind, hand.dealer):
        if any(mark in name for mark in ("|", ":", " #")) or name != name.strip():
            raise BadParameter(
                f"hand {hand.number}: the ACPC format has no room for |, :, a space before # or "
                f"outer spaces in the name {name!r}"
            )
    holes = "|".join(cards_text(hole or ()) for hole in (hand.big_blind_cards, hand.dealer_cards))
    ends = [size for size in RULES.board if size <= len(hand.board)]
    streets = ["/" + cards_text(hand.board[low:high]) for low, high in pairwise(ends)]
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
