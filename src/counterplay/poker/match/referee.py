"""The referee for bots that think in Python: deals, asks, checks what they answer, and tells
both what they may know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import CounterplayError
from counterplay.poker.betting.betting import NO_FOLD, Betting, BettingTree, betting_tree
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.cards.deal import N_DEALT, Deal, compare, new_deal
from counterplay.poker.match.deals import SessionDeals


class PlayedHand(NamedTuple):
    """One hand as a record-keeper sees it."""

    dealer: int  # which of the two bots
    cards: tuple[int, ...]  # nine
    end: int  # node of the betting tree
    won: float  # by the dealer


Keep = Callable[[PlayedHand], None]
Stop = Callable[[], bool]  # whether to stop before the next hand


def play_session(
    bots: tuple[Any, Any],
    session: SessionDeals,
    swap: bool,
    keep: Keep | None = None,
    stop: Stop = lambda: False,
) -> np.ndarray:
    """Play a session from the start, the button alternating. What the first bot wins in each deal:
    float64[deals played].

    The first bot has the button in even deals, in odd ones when `swap`. Seeds belong to seats, so
    that a replay with the seats swapped gives each seat the same random numbers; every deal has its
    own, so that deals are independent.
    """
    seeds = session.start_seeds
    start_bots(bots, (seeds[1], seeds[0]) if swap else seeds)
    return play_hands(bots, session, swap, keep, stop)


def start_bots(bots: tuple[Any, Any], seeds: tuple[int, int]) -> None:
    for bot, seed in zip(bots, seeds, strict=True):
        tell_bot(bot, "start", seed)


def play_hands(
    bots: tuple[Any, Any],
    session: SessionDeals,
    swap: bool = False,
    keep: Keep | None = None,
    stop: Stop = lambda: False,
) -> np.ndarray:
    """Go on playing: as `play_session`, with bots that were started before."""
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
        if keep is not None:
            keep(PlayedHand(dealer, tuple(cards), end, result))
    return won


def _play_hand(
    tree: BettingTree, bots: tuple[Any, Any], cards: tuple[int, ...]
) -> tuple[float, int]:
    """What the dealer, who is the first of the bots, wins, and the node where the hand ends."""
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
    won = settle_deal(state, cards, new_deal())
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
    """What a bot does; one of the legal actions, or an error that names him."""
    action = bot.act(view)
    if not isinstance(action, str) or action not in legal:
        raise CounterplayError(
            f"{bot_name(bot)} answered {action!r} after {view.betting.history!r}; legal are "
            f"{', '.join(legal)}"
        )
    return action


def settle_deal(state: Betting, cards: Sequence[int], chance: Deal) -> float:
    """What the dealer wins at an end; `cards`: all nine at a showdown. Changes `chance`."""
    stake = min(state.paid)
    if state.folded != NO_FOLD:
        return -stake if state.folded == 0 else stake
    chance.deck[:N_DEALT] = cards
    compare(chance)
    return stake * float(chance.winner[0])


def tell_bot(bot: Any, what: str, argument: Any) -> None:
    """Call an optional method of a bot."""
    method = getattr(bot, what, None)
    if method is not None:
        method(argument)


def bot_name(bot: Any) -> str:
    return str(getattr(bot, "name", type(bot).__name__))
