"""Logs of the Annual Computer Poker Competition's dealer, two-player limit hold'em with "reverse
blinds".

A hand is a line `STATE:<number>:<betting>:<cards>:<values>:<names>`, such as
`STATE:0:rc/cc/crc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:40|-40:Ann|Bob`. Cards, values and names are listed by
position, and position 0 is the BIG blind, position 1 the dealer. Values are in chips, the big blind
being 10. A hand that is not known is empty. Lines that start with # or ; are comments;
`SCORE:<totals>:<names>` closes a match and must be the sum of its hands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from math import isfinite
from pathlib import Path

from counterplay.base.errors import BadParameter, CounterplayError
from counterplay.base.files import write_text
from counterplay.opponents.hands.records import (
    RULES,
    HandRecord,
    Hands,
    Holding,
    Problems,
    Report,
    cards_text,
    file_bytes,
    parse_cards,
    parse_holding,
)
from counterplay.opponents.hands.sealed import check_seals, sealed

CHIPS = 10.0  # of the big blind, in the competition's game file
MOST_IN_LINE = 10_000  # bytes
HEADER = "# hands of two-player limit hold'em, written by Counterplay; position 0 is the big blind"


def read_acpc(
    path: Path | str,
    on_error: str = "refuse",
    report: Report | None = None,
    big_blind: float = CHIPS,
    observer: str | None = None,
) -> Hands:
    """The hands of a dealer's log. `big_blind`: its chips. `observer`: whose log it is, if it is
    only one player's view."""
    path, problems, hands = Path(path), Problems(on_error, report), list[HandRecord]()
    _check_chips(big_blind)
    first = 0  # hand of the match that the next SCORE closes
    missing = 0  # problems before that match
    data = file_bytes(path)
    check_seals(path, data)
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip() or raw.lstrip()[:1] in (b"#", b";"):
            continue
        try:
            line = _text(raw)
            if line.startswith("SCORE:"):
                match, complete = hands[first:], len(problems.messages) == missing
                first, missing = len(hands), len(problems.messages)
                _check_score(line, match, big_blind, complete)
            else:
                hands.append(_hand(line, big_blind, observer))
        except CounterplayError as error:
            problems.add(f"{path}:{number}: {error}")
    return Hands(hands, problems.messages)


def _text(raw: bytes) -> str:
    if len(raw) > MOST_IN_LINE:
        raise BadParameter(f"a line of {len(raw):,} bytes; a hand has less than {MOST_IN_LINE:,}")
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        raise BadParameter("not text") from None


def _hand(line: str, chips: float, observer: str | None) -> HandRecord:
    parts = line.split(":", 5)
    if parts[0] != "STATE":
        raise BadParameter(f"neither a hand (STATE:...), a SCORE nor a comment: {line[:40]!r}")
    if len(parts) != 6:
        raise BadParameter(
            f"{len(parts)} parts; a hand has 6: STATE:number:betting:cards:values:names"
        )
    _, number, betting, shown, values, names = parts
    if not (number.isascii() and number.isdecimal() and len(number) <= 18):
        raise BadParameter(f"hand number {number[:40]!r}")
    blind, dealer = _pair(names, "names")
    holes, board = _cards(shown)
    lost, won = _amounts(values)
    if not abs(lost + won) <= 1e-6 * chips:
        raise BadParameter(f"values {values!r} do not sum to zero")
    return HandRecord(
        int(number), dealer, blind, betting, board, holes[1], holes[0], won / chips, observer
    )


def _pair(text: str, what: str) -> tuple[str, str]:
    parts = text.split("|")
    if len(parts) != 2:
        raise BadParameter(f"{what} {text[:40]!r}: expected two, with | between")
    return parts[0], parts[1]


def _amounts(text: str) -> tuple[float, float]:
    try:
        one, two = (float(part) for part in _pair(text, "values"))
    except CounterplayError:
        raise
    except ValueError:
        raise BadParameter(f"values {text[:40]!r} are not numbers") from None
    if not (isfinite(one) and isfinite(two)):
        raise BadParameter(f"values {text[:40]!r} are not numbers")
    return one, two


def _cards(text: str) -> tuple[list[Holding | None], tuple[int, ...]]:
    """Hole cards by position, and the board."""
    private, *streets = text.split("/")
    holes = [parse_holding(hole) if hole else None for hole in _pair(private, "hole cards")]
    sizes = [len(street) // 2 for street in streets]
    if sizes != [3, 1, 1][: len(sizes)]:
        raise BadParameter(
            f"board {'/'.join(streets)[:40]!r}: expected flop/turn/river with 3, 1 and 1 cards"
        )
    return holes, parse_cards("".join(streets))


def _check_score(line: str, match: list[HandRecord], chips: float, complete: bool) -> None:
    parts = line.split(":", 2)
    if len(parts) != 3:
        raise BadParameter(f"{line[:40]!r}: expected SCORE:totals:names")
    totals = _totals(match)
    for name, said in zip(_pair(parts[2], "names"), _amounts(parts[1]), strict=True):
        if (
            complete
            and match
            and not abs(said - totals.get(name, 0.0) * chips) <= 1e-6 * chips * (1 + len(match))
        ):
            read = chips_text(totals.get(name, 0.0) * chips)
            raise BadParameter(
                f"SCORE says {chips_text(said)} for {name!r}, the {len(match)} hands above sum to "
                f"{read}"
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
        if "|" in name or ":" in name or name != name.strip():
            raise BadParameter(
                f"hand {hand.number}: the ACPC format has no room for |, : or outer spaces in the "
                f"name {name!r}"
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
