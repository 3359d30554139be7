"""Goofspiel (Section 2.2): both players bid a card for the top point card; only who won the bid is
shown.

The point stack is N, N-1, ..., 1; equal bids give the points to nobody; the higher total wins 1. A
simultaneous bid is a bid of player 1 followed by one of player 2, who does not see it. The forced
last card is kept as a move.
"""

from __future__ import annotations

from math import perm

import numpy as np

from counterplay.base.errors import whole_number
from counterplay.forms.rules import TERMINAL, Level, Rows
from counterplay.forms.spec import GameSpec
from counterplay.games.goofspiel_compiled import CompiledGoofspiel

RESULT = "LTW"  # lost, tied, won, as digits 0, 1, 2 of a key


class Goofspiel:
    """Hidden bids with cards 1..`cards`; an information set is the own bids and the results so
    far."""

    n_players = 2
    payoffs = np.array([[-1, 1], [0, 0], [1, -1]], dtype=np.float64)

    def __init__(self, cards: int) -> None:
        self.cards = whole_number(cards, 1, 13, "the number of cards of goofspiel")

    def compiled(self) -> CompiledGoofspiel:
        """The same without a tree."""
        return CompiledGoofspiel(self.cards)

    def openspiel(self) -> str:
        """The same game there."""
        return (
            f"goofspiel(imp_info=True,num_cards={self.cards},players=2,"
            "points_order=descending,returns_type=win_loss)"
        )

    def count_nodes(self) -> int:
        rounds = (perm(self.cards, k) ** 2 * (1 + self.cards - k) for k in range(self.cards))
        return sum(rounds) + perm(self.cards) ** 2

    def first_level(self) -> Rows:
        full = np.array([(1 << self.cards) - 1], dtype=np.int16)
        zero = np.zeros(1, dtype=np.int64)
        return {
            "hand1": full,  # bit c: card c + 1 is still there
            "hand2": full,
            "bid": np.array(
                [-1], dtype=np.int8
            ),  # player 1's card of this round, -1 before he bids
            "lead": np.zeros(1, dtype=np.int8),  # points of player 1 minus points of player 2
            "key1": zero,  # digits (bid, result) of every finished round, as the player saw them
            "key2": zero,
        }

    def level(self, rows: Rows) -> Level:
        first_bids = rows["bid"][0] < 0  # all rows of a level are at the same point of a round
        hand = rows["hand1"] if first_bids else rows["hand2"]
        over = hand[0] == 0
        player = np.full(len(hand), TERMINAL if over else int(not first_bids), dtype=np.int8)
        legal = (hand[:, None] >> np.arange(self.cards, dtype=np.int16)) & 1
        outcome = (np.sign(rows["lead"]) + 1).astype(np.int32)
        return Level(
            player, legal.astype(bool), rows["key1"] if first_bids else rows["key2"], outcome
        )

    def children(self, rows: Rows, row: np.ndarray, action: np.ndarray) -> Rows:
        used = (1 << action).astype(np.int16)
        below = {name: column[row] for name, column in rows.items()}
        if rows["bid"][0] < 0:
            below["hand1"] &= ~used
            below["bid"] = action.astype(np.int8)
            return below
        prize = int(
            rows["hand2"][0]
        ).bit_count()  # as many cards are left as the top point card is worth
        won = np.sign(below["bid"] - action).astype(np.int8)
        below["hand2"] &= ~used
        below["lead"] += won * np.int8(prize)
        below["key1"] = (below["key1"] * self.cards + below["bid"]) * 3 + (1 + won)
        below["key2"] = (below["key2"] * self.cards + action) * 3 + (1 - won)
        below["bid"][:] = -1
        return below

    def infoset_label(self, rows: Rows, k: int) -> str:
        key = int(rows["key1" if rows["bid"][k] < 0 else "key2"][k])
        rounds: list[str] = []
        for _ in range(self.cards - int(rows["hand2"][k]).bit_count()):
            key, result = divmod(key, 3)
            key, bid = divmod(key, self.cards)
            rounds.insert(0, f"{bid + 1}{RESULT[result]}")
        return " ".join(rounds) or "start"

    def action_label(self, rows: Rows, k: int, action: int) -> str:
        return f"{action + 1}"


GAME = GameSpec(
    "goofspiel",
    Goofspiel,
    "Goofspiel with hidden bids and N cards",
    ("goofspiel(4)", "goofspiel(7)"),
)
