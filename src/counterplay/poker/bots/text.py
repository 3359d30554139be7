"""Views and endings from text: a history such as `rc/cr` and cards such as `AhKd`. For programs
that deal to bots, such as clients and notebooks.

Seat 0 is the dealer, who has the small blind and acts first before the flop.
"""

from __future__ import annotations

from functools import cache

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, Betting, betting_tree
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.histories.records import (
    DEALER,
    Holding,
    betting_error,
    final_state,
    parse_cards,
    parse_holding,
)
from counterplay.poker.histories.records import settle as settle_numbers


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
