"""Bluff, also Liar's Dice (Section 2.2): raise the bid on all dice, or call the other player's
bluff.

Bids climb one ladder: one 1, one 2, ..., one N, two 1s, ... . The highest face is wild and may be
bid itself. Whoever calls wins 1 if the last bid does not hold.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.forms.rules import CHANCE, TERMINAL, Level, Rows
from counterplay.forms.spec import GameSpec
from counterplay.games.bluff_compiled import CompiledBluff

MAX_LADDER = 40  # of a tree: bids fit into the bits of an int64


class Bluff:
    """`dice1` and `dice2` dice with `faces` faces for the two players; the paper plays (1, 1,
    N)."""

    n_players = 2
    payoffs = np.array([[-1, 1], [1, -1]], dtype=np.float64)

    def __init__(self, dice1: int, dice2: int, faces: int) -> None:
        self.dice = (
            whole_number(dice1, 1, 10, "dice of player 1"),
            whole_number(dice2, 1, 10, "dice of player 2"),
        )
        self.faces = whole_number(faces, 1, 20, "the number of faces")
        self.ladder = sum(self.dice) * self.faces
        if self.faces ** sum(self.dice) >= 2**52:
            raise BadParameter("so many dice with so many faces fall in more ways than are counted")

    def compiled(self) -> CompiledBluff:
        """The same without a tree."""
        return CompiledBluff(self.dice, self.faces)

    def openspiel(self) -> str | None:
        """The same game there: with one die each, since several are rolled one by one there."""
        one = self.dice == (1, 1)
        return f"liars_dice(numdice=1,dice_sides={self.faces})" if one else None

    def count_nodes(self) -> int:
        rolls, histories = self.faces ** sum(self.dice), 2 ** (self.ladder + 1) - 1
        return int(1 + rolls * histories)

    @cached_property
    def _rolls(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every roll of all dice: the sorted dice of each player as a number, and which bids
        hold (bool[rolls, bids])."""
        codes: tuple[list[int], list[int]] = ([], [])
        holds = np.empty((self.faces ** sum(self.dice), self.ladder), dtype=bool)
        wild = self.faces - 1
        for r, roll in enumerate(product(range(self.faces), repeat=sum(self.dice))):
            for code, own in zip(codes, (roll[: self.dice[0]], roll[self.dice[0] :]), strict=True):
                code.append(int(sum(die * self.faces**k for k, die in enumerate(sorted(own)))))
            for bid in range(self.ladder):
                quantity, face = divmod(bid, self.faces)
                holds[r, bid] = sum(die in (face, wild) for die in roll) > quantity
        return np.array(codes[0]), np.array(codes[1]), holds

    def first_level(self) -> Rows:
        if self.ladder > MAX_LADDER:
            raise BadParameter(
                f"a tree of bluff has at most {MAX_LADDER} bids (dice times faces), not "
                f"{self.ladder}"
            )
        return {
            "roll": np.array([-1]),
            "bids": np.zeros(1, dtype=np.int64),
            "called": np.zeros(1, dtype=bool),
        }

    def level(self, rows: Rows) -> Level:
        if rows["roll"][0] < 0:
            zero = np.zeros(1, dtype=np.int32)
            legal = np.ones((1, self.faces ** sum(self.dice)), dtype=bool)
            return Level(np.array([CHANCE], dtype=np.int8), legal, zero, zero)
        roll, bids, called = rows["roll"], rows["bids"], rows["called"]
        code1, code2, holds = self._rolls
        to_act = (np.bitwise_count(bids) % 2).astype(np.int8)
        last = _highest_bit(bids)
        legal = np.empty((len(roll), self.ladder + 1), dtype=bool)
        legal[:, :-1] = np.arange(self.ladder) > last[:, None]
        legal[:, -1] = last >= 0
        legal[called] = False
        own = np.where(to_act == 0, code1[roll], code2[roll])
        caller_wins = ~holds[roll, np.maximum(last, 0)]
        first_wins = caller_wins == (to_act == 0)
        player = np.where(called, np.int8(TERMINAL), to_act)
        return Level(player, legal, (own << self.ladder) + bids, first_wins.astype(np.int32))

    def children(self, rows: Rows, row: np.ndarray, action: np.ndarray) -> Rows:
        if rows["roll"][0] < 0:
            zero = np.zeros(len(row), dtype=np.int64)
            return {"roll": action, "bids": zero, "called": zero > 0}
        called = action == self.ladder
        bids = rows["bids"][row] | np.where(
            called, 0, np.int64(1) << np.minimum(action, self.ladder - 1)
        )
        return {"roll": rows["roll"][row], "bids": bids, "called": called}

    def infoset_label(self, rows: Rows, k: int) -> str:
        bids = int(rows["bids"][k])
        player = bids.bit_count() % 2
        code = int(self._rolls[player][rows["roll"][k]])
        dice = [str(code // self.faces**d % self.faces + 1) for d in range(self.dice[player])]
        made = [self._bid_label(bid) for bid in range(self.ladder) if bids >> bid & 1]
        return " ".join(["".join(dice), *made])

    def action_label(self, rows: Rows, k: int, action: int) -> str:
        return "call" if action == self.ladder else self._bid_label(action)

    def _bid_label(self, bid: int) -> str:
        quantity, face = divmod(bid, self.faces)
        return f"{quantity + 1}x{face + 1}"


def _highest_bit(bits: np.ndarray) -> np.ndarray:
    """Position of the highest set bit, -1 for none."""
    return np.frexp(bits.astype(np.float64))[1] - 1


GAME = GameSpec(
    "bluff", Bluff, "Bluff (Liar's Dice): dice of player 1, of player 2, faces", ("bluff(1,1,6)",)
)
