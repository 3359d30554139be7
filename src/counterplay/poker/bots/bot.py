"""The interface of a hold'em player. A user-defined bot is a class with the method `act`; the other
methods are optional.

A bot sees what a player at the table sees: its own cards, the board so far and the betting. Amounts
are in small bets. Programs that deal to bots, such as clients and notebooks, make what it sees from
text (`view`, `ending`): a history such as `rc/cr` and cards such as `AhKd`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, Betting, betting_tree
from counterplay.poker.histories.records import (
    DEALER,
    Holding,
    betting_error,
    final_state,
    parse_cards,
    parse_holding,
)
from counterplay.poker.histories.records import settle as settle_numbers


class View(NamedTuple):
    """What the player to act sees."""

    seat: int  # 0: dealer and small blind, 1: big blind
    cards: tuple[int, int]  # own; a card is 4 · rank + suit
    board: tuple[int, ...]  # 0, 3, 4 or 5 cards
    # public state: round, bets, amounts paid, history; `betting.actions()` lists the legal actions
    betting: Betting
    node: int  # number of the public state in the `BettingTree`


class Ending(NamedTuple):
    """What a player sees at the end of a hand."""

    seat: int
    cards: tuple[int, int]
    board: tuple[int, ...]
    betting: Betting
    won: float  # by this player, in small bets
    shown: tuple[int, int] | None  # the opponent's cards, at a showdown only


class Bot:
    """Base class of bots without memory. `act` returns fold, call (also: check) or raise (also:
    bet)."""

    name = "bot"

    def start(self, seed: int) -> None:
        """A new session: clears all memory and seeds the random numbers."""

    def seed(self, seed: int) -> None:
        """A new deal: seeds the random numbers and keeps the memory. Makes deals independent."""

    def new_hand(self, seat: int) -> None:
        """A new hand is dealt."""

    def act(self, view: View) -> str:
        """The action: one of `view.betting.actions()`."""
        raise NotImplementedError

    def end_hand(self, ending: Ending) -> None:
        """The hand is over."""


@cache
def nodes_by_history() -> dict[str, int]:
    """The node of every history of limit hold'em, finished or not."""
    return {history: node for node, history in enumerate(betting_tree(LIMIT).histories)}


def view(history: str, cards: str, board: str = "") -> View:
    """What the player to act after `history` sees, for a bot's `act`."""
    node = nodes_by_history().get(history)
    if node is None:
        raise BadParameter(betting_error(history))
    state = betting_tree(LIMIT).states[node]
    if state.over:
        raise BadParameter(f"no player acts after {history!r}: the hand is over")
    own = parse_holding(cards)
    return View(state.player(), own, _board(state, board, own), state, node)


def ending(
    history: str, seat: int, cards: str, board: str = "", shown: str | None = None
) -> Ending:
    """What a player sees at the end of a hand, for a bot's `end_hand`. `shown`: the opponent's
    cards at a showdown."""
    state, own = final_state(history), parse_holding(cards)
    if seat not in (0, 1):
        raise BadParameter(f"a seat is 0 (the dealer) or 1 (the big blind), not {seat!r}")
    if (shown is not None) != (state.folded == NO_FOLD):
        raise BadParameter("the opponent's cards are shown at a showdown, and only there")
    other = None if shown is None else parse_holding(shown)
    dealt = _board(state, board, own, other)
    won = settle_numbers(history, dealt, *((own, other) if seat == DEALER else (other, own)))
    assert won is not None
    return Ending(seat, own, dealt, state, won if seat == DEALER else -won, other)


def settle(
    history: str, board: str = "", dealer: str | None = None, big_blind: str | None = None
) -> float | None:
    """The dealer's result in small bets, which the big blind loses; None at a showdown with unknown
    cards."""
    state = final_state(history)
    holdings = [None if cards is None else parse_holding(cards) for cards in (dealer, big_blind)]
    return settle_numbers(history, _board(state, board, *holdings), *holdings)


def _board(state: Betting, text: str, *holdings: Holding | None) -> tuple[int, ...]:
    """The cards of the board, with or without / between streets; all cards must be different."""
    board = parse_cards(text.replace("/", ""))
    if len(board) != state.on_board:
        raise BadParameter(
            f"after {state.history!r} the board has {state.on_board} cards, not {len(board)}"
        )
    dealt = [*board, *(card for held in holdings for card in held or ())]
    if len(set(dealt)) < len(dealt):
        raise BadParameter("a card stands twice in the hand")
    return board
