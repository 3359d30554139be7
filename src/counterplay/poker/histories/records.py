"""One played hand of two-player limit hold'em. A `HandRecord` that exists is legal: it is checked
when it is made.

Amounts are in small bets; the rules are those of `holdem.betting`. Files of hands: `hand_files`
(Parquet, and `read_any`), `acpc` and `phh`. Every reader answers with `Hands`: what was read, and a
message for each hand that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, RAISE, Betting, betting_tree
from counterplay.poker.cards.cards import N_CARDS, card_text, cards
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.histories.packed import unpacked

DEALER, BIG_BLIND = 0, 1  # seats, as in `Betting`
RULES = LIMIT  # of the betting in hand files
TOLERANCE = 1e-6  # of amounts read from text, in small bets
MAX_NUMBER = 2**63 - 1
MOST_BYTES = 1 << 31  # of a file: some ten million hands

_DECK = frozenset(range(N_CARDS))
_CARD = {card_text(k): k for k in range(N_CARDS)}

Holding = tuple[int, int]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand. Cards are numbers (4 · rank + suit); cards that nobody wrote down are
    None."""

    number: int
    dealer: str  # name of the one with the small blind, who acts first before the flop
    big_blind: str  # name of the other
    betting: str  # as in `BettingTree.histories`: letters f, c, r, with / between rounds
    board: tuple[int, ...]  # 0, 3, 4 or 5 cards: those that were dealt
    dealer_cards: Holding | None
    big_blind_cards: Holding | None
    dealer_won: float  # the big blind lost as much
    observer: str | None = None  # through whose eyes; None: a log that saw what it holds

    def __post_init__(self) -> None:
        _check_names(self)
        _check_cards(self, end_of(self.betting))
        _check_result(self)

    @property
    def end(self) -> Betting:
        """The public state at the end: round, who folded, what each has paid."""
        return end_of(self.betting)

    @property
    def showdown(self) -> bool:
        return self.end.folded == NO_FOLD

    def seat(self, name: str) -> int:
        """0 if `name` is the dealer, 1 if he has the big blind."""
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


def seen_by(record: HandRecord, name: str) -> HandRecord:
    """What the player `name` saw of this hand: the other's cards at a showdown only."""
    seat = record.seat(name)
    if record.observer not in (None, name):
        raise BadParameter(
            f"hand {record.number} was recorded by {record.observer!r}; what {name!r} saw cannot "
            f"be known"
        )
    if record.showdown:
        return replace(record, observer=name)
    if seat == DEALER:
        return replace(record, observer=name, big_blind_cards=None)
    return replace(record, observer=name, dealer_cards=None)


def settle(
    betting: str, board: tuple[int, ...], dealer: Holding | None, big_blind: Holding | None
) -> float | None:
    """What the dealer wins by the rules; None at a showdown with cards that are not known."""
    end = end_of(betting)
    stake = min(end.paid)  # what the loser has put in
    if end.folded != NO_FOLD:
        return -stake if end.folded == DEALER else stake
    if dealer is None or big_blind is None:
        return None
    his, other = strength([*dealer, *board]), strength([*big_blind, *board])
    return stake * ((his > other) - (his < other))


@cache
def _ends() -> dict[str, Betting]:
    """The public state at each of the 10,206 ends, by its letters."""
    return {state.history: state for state in betting_tree(RULES).states if state.over}


def end_of(betting: str) -> Betting:
    """The public state at the end of a whole hand's betting, or `BadParameter` that says which
    letter is wrong."""
    end = _ends().get(betting) if isinstance(betting, str) else None
    if end is None:
        raise BadParameter(what_is_wrong(str(betting)))
    return end


def what_is_wrong(betting: str) -> str:
    """Which letter of a betting that does not exist, or is not finished, is wrong."""
    shown = repr(betting if len(betting) <= 40 else betting[:40] + "...")
    state = RULES.start()
    for k, letter in enumerate(betting):
        if len(state.history) > k:  # `child` has closed a round
            if letter != "/":
                return f"betting {shown}: a / is missing after {betting[:k]!r}"
        elif state.over:
            return f"betting {shown} goes on after the hand is over ({state.history!r})"
        else:
            named = {action[0]: action for action in state.actions()}
            if letter not in named:
                legal = ", ".join(f"{short} ({action})" for short, action in named.items())
                after = f"legal after {state.history!r}: {legal}"
                if letter == RAISE[0] and state.capped:
                    return (
                        f"betting {shown}: letter {k + 1} is {letter!r}, {_beyond(state)}; {after}"
                    )
                return f"betting {shown}: letter {k + 1} is {letter!r}; {after}"
            state = state.child(named[letter])
    who = "dealer" if state.player() == DEALER else "big blind"
    return f"betting {shown} is not a whole hand: the {who} has to act"


def _beyond(state: Betting) -> str:
    most = state.rules.most_bets[state.round]
    return (
        f"a bet beyond the cap of {most} on a street (before the flop the big blind is one); "
        f"--on-error skip, in Python on_error='skip', leaves such hands out"
    )


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
        raise BadParameter("cards are tuples of card numbers, or None if not known")
    if hand.board is None or len(hand.board) != end.on_board:
        raise BadParameter(
            f"board of {len(hand.board or ())} cards; betting {hand.betting!r} needs {end.on_board}"
        )
    if not all(group is None or len(group) == 2 for group in groups[1:]):
        raise BadParameter("each player holds two cards")
    known = [*hand.board, *(hand.dealer_cards or ()), *(hand.big_blind_cards or ())]
    if not _DECK.issuperset(known):
        raise BadParameter(f"cards are numbers from 0 to {N_CARDS - 1}, got {known}")
    if len(set(known)) < len(known):
        twice = next(card for card in known if known.count(card) > 1)
        raise BadParameter(f"the card {card_text(twice)} stands twice in the hand")
    if hand.observer is not None:
        own, other = (hand.dealer_cards, hand.big_blind_cards)[
            :: 1 if hand.observer == hand.dealer else -1
        ]
        if own is None:
            raise BadParameter(f"{hand.observer!r} watches, so his own cards must be known")
        if other is not None and end.folded != NO_FOLD:
            raise BadParameter(
                f"{hand.observer!r} watches and cannot see the other's cards: somebody folded"
            )


def _check_result(hand: HandRecord) -> None:
    won = hand.dealer_won
    if isinstance(won, bool) or not isinstance(won, int | float):  # numpy's float64 is a float
        raise BadParameter(f"the dealer's result {won!r} is not a number")
    rules = settle(hand.betting, hand.board, hand.dealer_cards, hand.big_blind_cards)
    stake = min(hand.end.paid)
    possible = (-stake, 0.0, stake) if rules is None else (rules,)
    if not any(abs(won - amount) <= TOLERANCE for amount in possible):
        listed = " or ".join(f"{amount:g}" for amount in possible)
        raise BadParameter(f"the dealer won {won:g} small bets; by the rules it is {listed}")


def parse_cards(text: str) -> tuple[int, ...]:
    """`"As2c"` -> card numbers."""
    try:
        return tuple([_CARD[text[k : k + 2]] for k in range(0, len(text), 2)])
    except KeyError:
        return tuple(cards(text))  # other spellings, and the message


def parse_holding(text: str) -> Holding:
    pair = parse_cards(text)
    if len(pair) != 2:
        raise BadParameter(f"{text!r}: a player holds two cards")
    return pair[0], pair[1]


def cards_text(numbers: Iterable[int]) -> str:
    return "".join(card_text(int(number)) for number in numbers)


@dataclass(frozen=True)
class Hands:
    """What a reader found: the hands read, and one message ("file:line: why") for each hand or
    line that was skipped."""

    hands: list[HandRecord] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hands)

    def __iter__(self) -> Iterator[HandRecord]:
        return iter(self.hands)


class Problems:
    """Collects what was wrong. `on_error`: "refuse" stops at the first with `BadFile`, "skip"
    notes it and goes on."""

    def __init__(self, on_error: str, report: Report | None) -> None:
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


def file_bytes(path: Path) -> bytes:
    """The whole file, unpacked, or `BadFile`."""
    return unpacked(path, read_bytes(path, MOST_BYTES), MOST_BYTES)
