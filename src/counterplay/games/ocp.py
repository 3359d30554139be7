"""One-Card Poker (Section 2.2; Gordon 2005): Kuhn poker with a deck of N cards."""

from __future__ import annotations

import numpy as np

from counterplay.base.errors import whole_number
from counterplay.forms.rules import CHANCE, TERMINAL, Level, Rows
from counterplay.forms.spec import GameSpec

# A history is written in binary behind a leading one: 1 = nothing yet, then 0 for a pass and 1 for
# a bet.
START, P, B, PP, PB, BP, BB, PBP, PBB = 0b1, 0b10, 0b11, 0b100, 0b101, 0b110, 0b111, 0b1010, 0b1011
PLAYER = {START: 0, P: 1, B: 1, PB: 0}
SPELLED = {START: "", P: "p", B: "b", PB: "pb"}


class OneCardPoker:
    """Everyone antes one chip, gets one of `cards` cards, and may bet one chip."""

    n_players = 2
    payoffs = np.array([[-2, 2], [-1, 1], [1, -1], [2, -2]], dtype=np.float64)

    def __init__(self, cards: int) -> None:
        self.cards = whole_number(cards, 2, 20_000, "the number of cards of ocp")

    def count_nodes(self) -> int:
        return 1 + 9 * self.cards * (self.cards - 1)

    def first_level(self) -> Rows:
        return {"own": np.array([-1]), "other": np.array([-1]), "history": np.array([0])}

    def level(self, rows: Rows) -> Level:
        history = rows["history"]
        n = len(history)
        if history[0] == 0:  # the deal
            deals = self.cards * (self.cards - 1)
            zero = np.zeros(1, dtype=np.int32)
            return Level(
                np.array([CHANCE], dtype=np.int8), np.ones((1, deals), dtype=bool), zero, zero
            )
        player = np.full(n, TERMINAL, dtype=np.int8)
        for code, who in PLAYER.items():
            player[history == code] = who
        card = np.where(player == 0, rows["own"], rows["other"])
        won = np.sign(rows["own"] - rows["other"])
        gain = np.select(
            [history == PP, history == BP, history == PBP, (history == BB) | (history == PBB)],
            [won, 1, -1, 2 * won],
            0,
        )
        outcome = np.searchsorted([-2, -1, 1, 2], gain).astype(np.int32)
        passive = np.isin(history, (B, PB)).astype(np.int16)  # call a bet, else check
        return Level(
            player,
            np.repeat(player[:, None] >= 0, 2, axis=1),
            card * 16 + history,
            outcome,
            passive,
        )

    def children(self, rows: Rows, row: np.ndarray, action: np.ndarray) -> Rows:
        if rows["history"][0] == 0:
            own, other = np.divmod(action, self.cards - 1)
            return {
                "own": own,
                "other": other + (other >= own),
                "history": np.full(len(row), START),
            }
        return {
            "own": rows["own"][row],
            "other": rows["other"][row],
            "history": rows["history"][row] * 2 + action,
        }

    def infoset_label(self, rows: Rows, k: int) -> str:
        history = int(rows["history"][k])
        card = rows["own" if PLAYER[history] == 0 else "other"][k] + 1
        return f"{card} {SPELLED[history]}".rstrip()

    def action_label(self, rows: Rows, k: int, action: int) -> str:
        return ("pass", "bet")[action]


GAME = GameSpec("ocp", OneCardPoker, "One-Card Poker: Kuhn poker with N cards", ("ocp(500)",))
