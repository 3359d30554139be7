"""From hands to observations: what a player did at each of his decisions, and the paper's five
features (Section 4.3.2).

The features are the seat, the bets and raises of the hand so far, those of the phase, those of the
modelled player, and his bucket where his cards were seen. The first four belong to the public node.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import ACTIONS, LETTER, Betting, BettingTree, betting_tree
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_of, find_board, new_deal
from counterplay.poker.histories.records import RULES, HandRecord

FEATURES = ("seat", "bets", "bets_in_phase", "own_bets", "bucket")
UNSEEN = -1
MOST_NAMES = 8  # in a message


class Observations(NamedTuple):
    """n decisions of one player, in the order of the hands."""

    node: np.ndarray  # int32[n]: of the betting tree
    action: np.ndarray  # int8[n]: 0 fold, 1 call, 2 raise
    cards: np.ndarray  # int16[n, 2]: his, or UNSEEN
    board: np.ndarray  # int16[n, 5]: UNSEEN beyond what lies there
    hand: np.ndarray  # int32[n]: which of the hands

    def part(self, chosen: np.ndarray) -> Observations:
        """Some of the rows."""
        return Observations(*(column[chosen] for column in self))


def _who(names: set[str], played: int) -> str:
    """Why there is none."""
    if played:
        return f"he played {played:,} of them and never had to act"
    some, others = sorted(names)[:MOST_NAMES], len(names) - MOST_NAMES
    return (
        (", ".join(some) or "nobody") + (f" and {others:,} more" if others > 0 else "") + " played"
    )


@cache
def _path(betting: str, seat: int) -> tuple[tuple[int, int], ...]:
    """(node, action) of every decision of a seat on the way to the end `betting`."""
    tree = betting_tree(RULES)
    found, node = [], 0
    for letter in betting.replace("/", ""):
        action = LETTER[letter]
        if tree.nodes.player[node] == seat:
            found.append((node, ACTIONS.index(action)))
        node = tree.moves[node][action]
    return tuple(found)


def observe(hands: Iterable[HandRecord], player: str) -> Observations:
    """Every decision of `player` in `hands`; hands he did not play do not count."""
    rows: list[tuple[int, int, int, int, int]] = []
    boards: list[tuple[int, ...]] = []
    names: set[str] = set()
    played = 0
    for hand in hands:
        names |= {hand.dealer, hand.big_blind}
        if player not in (hand.dealer, hand.big_blind):
            continue
        cards = hand.cards(player) or (UNSEEN, UNSEEN)
        board = hand.board + (UNSEEN,) * (5 - len(hand.board))
        for node, action in _path(hand.betting, hand.seat(player)):
            rows.append((node, action, cards[0], cards[1], played))
            boards.append(board)
        played += 1
    if not rows:
        raise BadParameter(f"no decision of {player!r} in these hands; {_who(names, played)}")
    table = np.array(rows, dtype=np.int32)
    return Observations(
        np.ascontiguousarray(table[:, 0]),
        table[:, 1].astype(np.int8),
        table[:, 2:4].astype(np.int16),
        np.array(boards, dtype=np.int16),
        np.ascontiguousarray(table[:, 4]),
    )


@jit
def _fill_buckets(
    cards: Cards,
    own: np.ndarray,
    board: np.ndarray,
    street: np.ndarray,
    chance: Deal,
    out: np.ndarray,
) -> None:
    deck = chance.deck
    for k in range(index(len(street))):
        if own[k, index(0)] < 0:
            out[k] = UNSEEN
            continue
        deck[index(0)], deck[index(1)] = own[k, index(0)], own[k, index(1)]
        for j in range(index(5)):
            deck[index(FIRST_OF_BOARD) + j] = board[k, j]
        found = 0
        for s in range(street[k] + 1):
            found = find_board(cards, chance, s)
        out[k] = bucket_of(cards, chance, found, 0, street[k])


def check_limit(game: Game) -> None:
    """Refuse a game whose betting is not that of hand files."""
    if game.can("hands") and game.rules.betting != RULES:
        raise BadParameter(f"hands are of the usual limit betting, and {game.name} has another")


def buckets_of(seen: Observations, game: Game) -> np.ndarray:
    """int32[n]: the player's bucket in the abstraction of a hold'em game, or UNSEEN."""
    if not game.can("hands"):
        raise BadParameter(f"models of hands are for hold'em, not for {game.name}")
    check_limit(game)
    out = np.empty(len(seen.node), dtype=np.int32)
    street = game.form.nodes.street[seen.node].astype(np.int64)
    own, board = np.ascontiguousarray(seen.cards), np.ascontiguousarray(seen.board)
    _fill_buckets(game.form.cards, own, board, street, new_deal(), out)
    return out


@cache
def node_features(tree: BettingTree) -> np.ndarray:
    """float64[nodes, 4]: the features of a public node for the player who acts there."""
    return np.array([_features(state) for state in tree.states])


def _features(state: Betting) -> tuple[int, int, int, int]:
    seat, own = max(state.player(), 0), 0
    walk = state.rules.start()
    for letter in state.history.replace("/", ""):
        own += letter == "r" and walk.player() == seat
        walk = walk.child(LETTER[letter])
    return seat, state.history.count("r"), state.history.rsplit("/", 1)[-1].count("r"), own
