"""The referee of bots in Python: deals the cards, checks the actions, and shows each bot what it
may know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import CounterplayError
from counterplay.poker.betting.betting import NO_FOLD, BettingTree, betting_tree
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.histories.records import settle_deal
from counterplay.poker.match.deals import SessionDeals


class PlayedHand(NamedTuple):
    """One hand with all its cards."""

    dealer: int  # index of the bot with the button
    cards: tuple[int, ...]  # nine: the dealer's two, the other's two, the board
    end: int  # terminal node of the betting tree
    won: float  # by the dealer


OnHand = Callable[[PlayedHand], None]


def play_session(
    bots: tuple[Any, Any],
    session: SessionDeals,
    swap: bool,
    on_hand: OnHand | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray:
    """Starts the bots and plays a session; returns the payoff of the first bot in each deal,
    float64[deals played].

    The first bot has the button in even deals, with `swap` in odd ones. Seeds belong to seats, so
    that a replay with the seats swapped gives each seat the same random numbers; every deal has its
    own, so that deals are independent.
    """
    seeds = session.start_seeds
    start_bots(bots, (seeds[1], seeds[0]) if swap else seeds)
    return play_hands(bots, session, swap, on_hand, stop)


def start_bots(bots: tuple[Any, Any], seeds: tuple[int, int]) -> None:
    for bot, seed in zip(bots, seeds, strict=True):
        tell_bot(bot, "start", seed)


def play_hands(
    bots: tuple[Any, Any],
    session: SessionDeals,
    swap: bool = False,
    on_hand: OnHand | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray:
    """`play_session` with bots that were started before."""
    won, tree = np.empty(len(session.cards)), betting_tree(session.betting)
    for k, (cards, seeds) in enumerate(
        zip(session.cards.tolist(), session.deal_seeds, strict=True)
    ):
        if stop():
            return won[:k]
        dealer = ((session.first + k) & 1) ^ int(swap)
        for seat, seed in enumerate(seeds):
            tell_bot(bots[dealer ^ seat], "seed", seed)
        result, end = _play_hand(tree, (bots[dealer], bots[1 - dealer]), tuple(cards))
        won[k] = result if dealer == 0 else -result
        if on_hand is not None:
            on_hand(PlayedHand(dealer, tuple(cards), end, result))
    return won


def _play_hand(
    tree: BettingTree, bots: tuple[Any, Any], cards: tuple[int, ...]
) -> tuple[float, int]:
    """The payoff of the dealer, the first of the bots, and the terminal node."""
    states, moves = tree.states, tree.moves
    own = ((cards[0], cards[1]), (cards[2], cards[3]))
    for seat in (0, 1):
        tell_bot(bots[seat], "new_hand", seat)
    node, state = 0, states[0]
    while not state.over:
        seat = state.player()
        view = View(seat, own[seat], cards[4 : 4 + state.on_board], state, node)
        node = moves[node][ask_bot(bots[seat], view, moves[node])]
        state = states[node]
    won = settle_deal(state, cards)
    board = cards[4 : 4 + state.on_board]
    for seat in (0, 1):
        shown = own[1 - seat] if state.folded == NO_FOLD else None
        tell_bot(
            bots[seat],
            "end_hand",
            Ending(seat, own[seat], board, state, won if seat == 0 else -won, shown),
        )
    return won, node


def ask_bot(bot: Any, view: View, legal: Iterable[str]) -> str:
    """The action of a bot; an error that names the bot where it is illegal."""
    action = bot.act(view)
    if not isinstance(action, str) or action not in legal:
        raise CounterplayError(
            f"{bot_name(bot)} answered {action!r} after {view.betting.history!r}; legal are "
            f"{', '.join(legal)}"
        )
    return action


def tell_bot(bot: Any, what: str, argument: Any) -> None:
    """Calls an optional method of a bot."""
    method = getattr(bot, what, None)
    if method is not None:
        method(argument)


def bot_name(bot: Any) -> str:
    return str(getattr(bot, "name", type(bot).__name__))
