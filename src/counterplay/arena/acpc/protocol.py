"""Lines of the protocol: `MATCHSTATE:<position>:<hand>:<betting>:<cards>`, and answers to them.

`<cards>` are `<big blind's>|<dealer's>/flop/turn/river`, as far as the reader may see them. A
finished round ends in / with the next cards already there, a finished hand does not.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from counterplay.base.errors import BadParameter
from counterplay.holdem.betting import LETTER, LIMIT, NO_FOLD, Betting, betting_tree
from counterplay.opponents.bots.text import nodes_by_history
from counterplay.opponents.hands.records import Holding, cards_text, parse_cards, parse_holding

VERSION = "VERSION:2.0.0"
STATE = "MATCHSTATE"
_HEAD = re.compile(rf"{STATE}:(\d{{1,9}}):(\d{{1,18}}):([^:]*):([^:]*)", re.ASCII)


class MatchState(NamedTuple):
    """What a player is shown."""

    position: int  # 0: big blind, 1: dealer
    hand: int
    node: int  # of the betting tree
    cards: tuple[Holding | None, Holding | None]  # by position
    board: tuple[int, ...]

    @property
    def seat(self) -> int:
        """Ours: 0 the dealer, 1 the big blind."""
        return 1 - self.position

    @property
    def betting(self) -> Betting:
        return _states()[self.node]


@cache
def _states() -> list[Betting]:
    return betting_tree(LIMIT).states


def parse_state(line: str) -> MatchState:
    """A line of the dealer, or `BadParameter` that says what it is instead."""
    found = _HEAD.fullmatch(line)
    if found is None:
        raise BadParameter(f"not a state of a match: {line[:60]!r}")
    position, hand, betting, cards = found.groups()
    node = nodes_by_history().get(betting)
    if node is None or position not in ("0", "1") or cards.count("|") != 1:
        raise BadParameter(
            f"not a state of two-player limit hold'em, which is all that is played here: "
            f"{line[:60]!r}"
        )
    private, _, board = cards.partition("/")
    blind, _, dealer = private.partition("|")
    holes = (
        parse_holding(blind) if blind else None,
        parse_holding(dealer) if dealer else None,
    )
    shown, end = parse_cards(board.replace("/", "")), _states()[node]
    unseen = None in holes if end.over and end.folded == NO_FOLD else not holes[int(position)]
    if unseen or len(shown) != end.on_board:
        raise BadParameter(f"cards are missing in the state {line[:60]!r}")
    return MatchState(int(position), int(hand), node, holes, shown)


class Public(NamedTuple):
    """A node of the betting tree as a dealer needs it."""

    history: str
    street: int
    position: int  # who acts, or -1 where the hand is over
    showdown: bool
    after: dict[str, int]  # by the letter of an action


@cache
def public_states() -> list[Public]:
    tree = betting_tree(LIMIT)
    letters = {action: letter for letter, action in LETTER.items()}
    return [
        Public(
            state.history,
            state.round,
            -1 if state.over else 1 - state.player(),
            state.over and state.folded == NO_FOLD,
            {letters[action]: after for action, after in moves.items()},
        )
        for state, moves in zip(tree.states, tree.moves, strict=True)
    ]


class HandTexts(NamedTuple):
    """The cards of a deal as text: by street, for the big blind, the dealer, and all of them."""

    by_position: tuple[list[str], list[str]]
    all: list[str]


def hand_texts(cards: list[int]) -> HandTexts:
    """`cards`: the dealer's two, the big blind's two, the board."""
    text = cards_text(cards)
    dealer, blind = text[:4], text[4:8]
    boards = ["", f"/{text[8:14]}"]
    boards += [f"{boards[1]}/{text[14:16]}", f"{boards[1]}/{text[14:16]}/{text[16:18]}"]
    return HandTexts(
        ([f"{blind}|{board}" for board in boards], [f"|{dealer}{board}" for board in boards]),
        [f"{blind}|{dealer}{board}" for board in boards],
    )
