"""One finished hand of two-player limit hold'em (`HandRecord`), checked against the rules when it
is made, and the result of a reader (`HandHistories`): the hands, and a message for each hand that
could not be read.

Amounts are in small bets; the betting rules are those of `poker/betting/betting.py`.

Files: compressed content, text encodings, folders, and checksums. A text file ends with a checksum
in a comment. Each checksum covers the lines since the previous one, so concatenated files remain
valid; files of other programs have none.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, RAISE, Betting, betting_tree
from counterplay.poker.cards.cards import N_CARDS, card_text, cards
from counterplay.poker.cards.evaluator import strengths_of_hands

DEALER, BIG_BLIND = 0, 1  # seats, as in `Betting`
RULES = LIMIT  # betting rules of all hand histories
TOLERANCE = 1e-6  # of amounts read from text, in small bets
MAX_NUMBER = 2**63 - 1

_DECK = frozenset(range(N_CARDS))
_CARD = {card_text(k): k for k in range(N_CARDS)}

Holding = tuple[int, int]
ErrorCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand. Cards are numbers (4 · rank + suit); unknown cards are None."""

    number: int
    dealer: str  # name of the small blind, who acts first before the flop
    big_blind: str  # name of the other player
    betting: str  # as in `BettingTree.histories`: letters f, c, r, with / between rounds
    board: tuple[int, ...]  # the 0, 3, 4 or 5 cards dealt
    dealer_cards: Holding | None
    big_blind_cards: Holding | None
    dealer_won: float  # the big blind loses as much
    observer: str | None = None  # player whose information the record holds; None: all of it

    def __post_init__(self) -> None:
        _check_names(self)
        _check_cards(self, final_state(self.betting))
        _check_result(self)

    @property
    def end(self) -> Betting:
        """The public state at the end: round, folded seat, amounts paid."""
        return final_state(self.betting)

    @property
    def showdown(self) -> bool:
        return self.end.folded == NO_FOLD

    def seat(self, name: str) -> int:
        """0 if `name` is the dealer, 1 if `name` has the big blind."""
        if name not in (self.dealer, self.big_blind):
            raise BadParameter(
                f"{name!r} did not play hand {self.number}; {self.dealer!r} and "
                f"{self.big_blind!r} did"
            )
        return DEALER if name == self.dealer else BIG_BLIND

    def won(self, name: str) -> float:
        return self.dealer_won if self.seat(name) == DEALER else -self.dealer_won

    def cards(self, name: str) -> Holding | None:
        return self.dealer_cards if self.seat(name) == DEALER else self.big_blind_cards


def observed_by(record: HandRecord, name: str) -> HandRecord:
    """The record of what the player `name` observed: the opponent's cards at a showdown only."""
    other = "big_blind_cards" if record.seat(name) == DEALER else "dealer_cards"
    if record.observer not in (None, name):
        raise BadParameter(
            f"hand {record.number} was recorded by {record.observer!r}; what {name!r} saw is "
            f"unknown"
        )
    hidden: dict[str, Any] = {} if record.showdown else {other: None}
    return replace(record, observer=name, **hidden)


def settle(
    betting: str, board: tuple[int, ...], dealer: Holding | None, big_blind: Holding | None
) -> float | None:
    """The dealer's result by the rules; None at a showdown with unknown cards."""
    end = final_state(betting)
    if end.folded == NO_FOLD and (dealer is None or big_blind is None):
        return None
    return settle_deal(end, (*(dealer or ()), *(big_blind or ()), *board))


def settle_deal(end: Betting, cards: Sequence[int]) -> float:
    """The dealer's result by the rules. `cards`, at a showdown: the dealer's two, the other's two,
    the board."""
    stake = min(end.paid)  # what the loser has paid
    if end.folded != NO_FOLD:
        return -stake if end.folded == DEALER else stake
    hands = np.array(((*cards[:2], *cards[4:]), cards[2:]), dtype=np.int64)
    out = np.empty(2, dtype=np.int64)
    strengths_of_hands(hands, np.empty(4, dtype=np.int64), out)
    first, second = out.tolist()
    return stake * ((first > second) - (first < second))


@cache
def _final_states() -> dict[str, Betting]:
    """The public state at each of the 10,206 terminal nodes, by history."""
    return {state.history: state for state in betting_tree(RULES).states if state.over}


def final_state(betting: str) -> Betting:
    """The state at the end of a hand's betting; `BadParameter` names the first illegal letter."""
    end = _final_states().get(betting) if isinstance(betting, str) else None
    if end is None:
        raise BadParameter(betting_error(str(betting)))
    return end


def betting_error(betting: str) -> str:
    """Why a betting history is illegal or unfinished: the first letter that does not fit."""
    text = repr(betting if len(betting) <= 40 else betting[:40] + "...")
    state = RULES.start()
    for k, letter in enumerate(betting):
        if len(state.history) > k:  # `child` has closed a round
            if letter != "/":
                return f"betting {text}: a / is missing after {betting[:k]!r}"
        elif state.over:
            return f"betting {text} goes on after the hand is over ({state.history!r})"
        else:
            legal = {action[0]: action for action in state.actions()}
            if letter not in legal:
                listed = ", ".join(f"{short} ({action})" for short, action in legal.items())
                after = f"legal after {state.history!r}: {listed}"
                cap = state.rules.most_bets[state.round]
                if letter == RAISE[0] and state.capped:
                    after = (
                        f"a bet beyond the cap of {cap} on a street (before the flop the big blind "
                        f"is one); --on-error skip, in Python on_error='skip', leaves such hands "
                        f"out; {after}"
                    )
                    return f"betting {text}: letter {k + 1} is {letter!r}, {after}"
                return f"betting {text}: letter {k + 1} is {letter!r}; {after}"
            state = state.child(legal[letter])
    seat = "dealer" if state.player() == DEALER else "big blind"
    return f"betting {text} is not a whole hand: the {seat} has to act"


def _check_names(hand: HandRecord) -> None:
    if type(hand.number) is not int or not 0 <= hand.number <= MAX_NUMBER:
        raise BadParameter(f"hand number {hand.number!r} is not a whole number from 0")
    for name in (hand.dealer, hand.big_blind):
        if not isinstance(name, str) or not name or not name.isprintable():
            raise BadParameter(f"{name!r} is not a name: at least one character, all printable")
    if hand.dealer == hand.big_blind:
        raise BadParameter(f"both players are called {hand.dealer!r}; give them different names")
    if hand.observer not in (None, hand.dealer, hand.big_blind):
        raise BadParameter(
            f"observer {hand.observer!r} is neither {hand.dealer!r} nor {hand.big_blind!r}"
        )


def _check_cards(hand: HandRecord, end: Betting) -> None:
    groups = (hand.board, hand.dealer_cards, hand.big_blind_cards)
    if not all(group is None or isinstance(group, tuple) for group in groups):
        raise BadParameter("cards are tuples of card numbers, or None if unknown")
    if hand.board is None or len(hand.board) != end.on_board:
        raise BadParameter(
            f"board of {len(hand.board or ())} cards; betting {hand.betting!r} needs {end.on_board}"
        )
    if not all(group is None or len(group) == 2 for group in groups[1:]):
        raise BadParameter("each player holds two cards")
    dealt = [*hand.board, *(hand.dealer_cards or ()), *(hand.big_blind_cards or ())]
    if not _DECK.issuperset(dealt):
        raise BadParameter(f"cards are numbers from 0 to {N_CARDS - 1}, got {dealt}")
    if len(set(dealt)) < len(dealt):
        twice = next(card for card in dealt if dealt.count(card) > 1)
        raise BadParameter(f"the card {card_text(twice)} stands twice in the hand")
    if hand.observer is not None:
        own, other = (hand.dealer_cards, hand.big_blind_cards)[
            :: 1 if hand.observer == hand.dealer else -1
        ]
        if own is None:
            raise BadParameter(f"the cards of the observer {hand.observer!r} must be known")
        if other is not None and end.folded != NO_FOLD:
            raise BadParameter(
                f"the observer {hand.observer!r} cannot know the opponent's cards: the hand ended "
                f"with a fold"
            )


def _check_result(hand: HandRecord) -> None:
    won = hand.dealer_won
    if isinstance(won, bool) or not isinstance(won, int | float):  # numpy's float64 is a float
        raise BadParameter(f"the dealer's result {won!r} is not a number")
    by_rules = settle(hand.betting, hand.board, hand.dealer_cards, hand.big_blind_cards)
    stake = min(hand.end.paid)
    possible = (-stake, 0.0, stake) if by_rules is None else (by_rules,)
    if not any(abs(won - amount) <= TOLERANCE for amount in possible):
        listed = " or ".join(f"{amount:g}" for amount in possible)
        raise BadParameter(f"the dealer won {won:g} small bets; by the rules it is {listed}")


def parse_cards(text: str) -> tuple[int, ...]:
    """`"As2c"` -> card numbers."""
    try:
        return tuple([_CARD[text[k : k + 2]] for k in range(0, len(text), 2)])
    except KeyError:
        return tuple(cards(text))  # other spellings, and the error message


def parse_holding(text: str) -> Holding:
    pair = parse_cards(text)
    if len(pair) != 2:
        raise BadParameter(f"{text!r}: a player holds two cards")
    return pair[0], pair[1]


def cards_text(numbers: Iterable[int]) -> str:
    return "".join(card_text(int(number)) for number in numbers)


@dataclass(frozen=True)
class HandHistories:
    """The hands that were read, and a message ("file:line: reason") for each that was skipped."""

    hands: list[HandRecord] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hands)

    def __iter__(self) -> Iterator[HandRecord]:
        return iter(self.hands)


class ReadErrors:
    """Errors while reading. `on_error`: "refuse" raises the first as `BadFile`, "skip" collects."""

    def __init__(self, on_error: str, report: ErrorCallback | None) -> None:
        if on_error not in ("refuse", "skip"):
            raise BadParameter(f"on_error is 'refuse' or 'skip', not {on_error!r}")
        self.refuse = on_error == "refuse"
        self.report = report
        self.messages: list[str] = []

    def add(self, message: str) -> None:
        if self.report is not None:
            self.report(message)
        if self.refuse:
            raise BadFile(message)
        self.messages.append(message)


GZIP, BZIP2 = b"\x1f\x8b", b"BZh"  # first bytes of a compressed file
COMPRESSED = (".gz", ".bz2")
MAX_BYTES = 1 << 31  # of a file: some ten million hands
MAX_RATIO = 60  # of content to compressed bytes; random cards compress to about a tenth
MIN_ALLOWANCE = 1 << 20  # bytes of content that any compressed file may have
CHUNK = 1 << 20  # bytes
CHECKSUM_COMMENT = "# checksum of the lines above: "
_CHECKSUM = re.compile(re.escape(CHECKSUM_COMMENT.encode()) + rb"([^\r\n]*)\r?\n?")
#: Suffixes that are read from folders. `.txt` may be anything and is left out.
IN_FOLDERS = (".phh", ".phhs", ".log", ".parquet")


def suffix_of(path: Path) -> str:
    """The suffix below any compression: `.log` for `match.log.gz`."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


def file_bytes(path: Path) -> bytes:
    """The decompressed content, as UTF-8 without a byte-order mark if it is text; or `BadFile`."""
    data = read_bytes(path, MAX_BYTES)
    if data.startswith((GZIP, BZIP2)):
        data = _decompress(path, data)
    if data[257:262] == b"ustar":
        raise BadFile(f"{path}: an archive of files; unpack it and give the folder")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _decompress(path: Path, data: bytes) -> bytes:
    allowance = min(MAX_BYTES, MAX_RATIO * len(data) + MIN_ALLOWANCE)
    source = io.BytesIO(data)
    chunks: list[bytes] = []
    try:
        with gzip.open(source) if data.startswith(GZIP) else bz2.open(source) as file:
            while chunk := file.read(CHUNK):
                chunks.append(chunk)
                allowance -= len(chunk)
                if allowance < 0:
                    raise BadFile(f"{path}: unpacks to more than hands can be packed to")
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: damaged, cannot be unpacked ({str(error)[:80]})") from None
    return b"".join(chunks)


def add_checksum(text: str) -> str:
    """`text`, which ends with a newline, followed by its checksum."""
    return f"{text}{CHECKSUM_COMMENT}{hashlib.sha256(text.encode()).hexdigest()}\n"


def verify_checksums(path: Path, data: bytes) -> None:
    """Raises `BadFile` unless every checksum in the text matches."""
    start = 0
    for match in _CHECKSUM.finditer(data):
        text = data[start : match.start()]
        forms = (text, text.replace(b"\r\n", b"\n"))
        if match[1] not in {hashlib.sha256(form).hexdigest().encode() for form in forms}:
            raise BadFile(
                f"{path}: damaged (a checksum does not fit; if you changed it yourself, delete "
                f"the line {CHECKSUM_COMMENT!r})"
            )
        start = match.end()


def hand_files(folder: Path, suffixes: tuple[str, ...] = IN_FOLDERS) -> list[Path]:
    """Files in a folder and below, sorted by name with numbers in order (2 before 10)."""

    def natural_order(path: Path) -> list[Any]:
        parts = re.split(r"([0-9]{1,18})", str(path))
        return [int(part) if k % 2 else part for k, part in enumerate(parts)]

    files = [file for file in folder.rglob("*") if suffix_of(file) in suffixes and file.is_file()]
    paths = sorted(files, key=natural_order)
    if not paths:
        listed = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        compressed = " or ".join(COMPRESSED)
        raise BadFile(f"{folder}: no {listed} file in this folder, packed as {compressed} or not")
    return paths
