"""From hand histories to observations: a player's action at each decision, and the paper's five
features (Section 4.3.2).

The features are the seat, the bets and raises of the hand so far, those of the street, those of the
modelled player, and the player's bucket where the cards are known. The first four belong to the
public node.
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
UNSEEN = -1  # an unknown card or bucket
MAX_NAMES = 8  # in a message


class Observations(NamedTuple):
    """n decisions of one player, in the order of the hands."""

    node: np.ndarray  # int32[n]: of the betting tree
    action: np.ndarray  # int8[n]: 0 fold, 1 call, 2 raise
    cards: np.ndarray  # int16[n, 2]: hole cards, or UNSEEN
    board: np.ndarray  # int16[n, 5]: at the end of the hand, UNSEEN for cards not dealt
    hand: np.ndarray  # int32[n]: index of the hand

    def part(self, rows: np.ndarray) -> Observations:
        """A selection of rows."""
        return Observations(*(column[rows] for column in self))


def _why_none(names: set[str], played: int) -> str:
    """The reason why a player has no decisions."""
    if played:
        return f"the player was dealt {played:,} of them and never had to act"
    listed = ", ".join(sorted(names)[:MAX_NAMES]) or "no player"
    others = len(names) - MAX_NAMES
    return listed + (f" and {others:,} more" if others > 0 else "") + " played"


@cache
def _decisions(betting: str, seat: int) -> tuple[tuple[int, int], ...]:
    """(node, action) of every decision of a seat in the hand `betting`."""
    tree = betting_tree(RULES)
    decisions, node = [], 0
    for letter in betting.replace("/", ""):
        action = LETTER[letter]
        if tree.nodes.player[node] == seat:
            decisions.append((node, ACTIONS.index(action)))
        node = tree.moves[node][action]
    return tuple(decisions)


def observe(hands: Iterable[HandRecord], player: str) -> Observations:
    """Every decision of `player` in `hands`; hands of other players are skipped."""
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
        for node, action in _decisions(hand.betting, hand.seat(player)):
            rows.append((node, action, cards[0], cards[1], played))
            boards.append(board)
        played += 1
    if not rows:
        raise BadParameter(f"no decision of {player!r} in these hands; {_why_none(names, played)}")
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
    deal: Deal,
    out: np.ndarray,
) -> None:
    deck = deal.deck
    for k in range(index(len(street))):
        if own[k, index(0)] < 0:
            out[k] = UNSEEN
            continue
        deck[index(0)], deck[index(1)] = own[k, index(0)], own[k, index(1)]
        for j in range(index(5)):
            deck[index(FIRST_OF_BOARD) + j] = board[k, j]
        row = 0
        for s in range(street[k] + 1):
            row = find_board(cards, deal, s)
        out[k] = bucket_of(cards, deal, row, 0, street[k])


def check_limit(game: Game) -> None:
    """Refuses a game with other betting rules than hand histories."""
    if game.can("hands") and game.rules.betting != RULES:
        raise BadParameter(f"hands are of the usual limit betting, and {game.name} has another")


def buckets_of(observations: Observations, game: Game) -> np.ndarray:
    """int32[n]: the player's bucket in the abstraction of a hold'em game, or UNSEEN."""
    if not game.can("hands"):
        raise BadParameter(f"models of hands are for hold'em, not for {game.name}")
    check_limit(game)
    out = np.empty(len(observations.node), dtype=np.int32)
    street = game.form.nodes.street[observations.node].astype(np.int64)
    own = np.ascontiguousarray(observations.cards)
    board = np.ascontiguousarray(observations.board)
    _fill_buckets(game.form.cards, own, board, street, new_deal(), out)
    return out


@cache
def node_features(tree: BettingTree) -> np.ndarray:
    """float64[nodes, 4]: the features of a public node for the player who acts there."""
    return np.array([_features(state) for state in tree.states])


def _features(state: Betting) -> tuple[int, int, int, int]:
    seat, own = max(state.player(), 0), 0
    current = state.rules.start()
    for letter in state.history.replace("/", ""):
        own += letter == "r" and current.player() == seat
        current = current.child(LETTER[letter])
    return seat, state.history.count("r"), state.history.rsplit("/", 1)[-1].count("r"), own
