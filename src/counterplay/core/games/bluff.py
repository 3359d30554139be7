"""Bluff, also Liar's Dice (Section 2.2): raise the bid on all dice, or call the bluff.

Bids climb one ladder: one 1, one 2, ..., one N, two 1s, ... . The highest face is wild and may be
bid itself. The player who calls wins 1 if the last bid does not hold.

A state: whether the dice are rolled, the last bid + 1, the number of bids, whether the bluff was
called, each player's sorted dice as a number, all dice, and the bids as bits of words.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.forms.infoset_table import EXACT_BITS
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules

ROLLED, LAST, BIDS, CALLED, CODE, DICE = 0, 1, 2, 3, 4, 6
ONE, TWO, FACES, LADDER, WORDS = range(5)  # constants: dice of the players, ...
BITS = 60  # bids in a word


class Bluff(CompiledRules):
    """`dice1` and `dice2` dice with `faces` faces for the two players; the paper plays (1, 1,
    N)."""

    sorted_infosets = True
    payoff_table = ((-1, 1), (1, -1))

    def __init__(self, dice1: int, dice2: int, faces: int) -> None:
        self.dice = (
            whole_number(dice1, 1, 10, "dice of player 1"),
            whole_number(dice2, 1, 10, "dice of player 2"),
        )
        self.faces = whole_number(faces, 1, 20, "the number of faces")
        if self.faces ** sum(self.dice) >= 2**52:
            raise BadParameter("so many dice with so many faces have too many outcomes to count")
        self.ladder = sum(self.dice) * self.faces
        words = -(-self.ladder // BITS)
        self.constants = (*self.dice, self.faces, self.ladder, words)
        self.state_size = DICE + sum(self.dice) + words
        most = self.faces ** max(self.dice) - 1
        exact = most.bit_length() + self.ladder <= EXACT_BITS
        self.known_size = 1 if exact else 1 + words
        self.max_actions = self.ladder + 1
        self.depth = self.ladder + 1

    def openspiel(self) -> str | None:
        """The name in OpenSpiel, with one die each; OpenSpiel rolls several one by one."""
        one = self.dice == (1, 1)
        return f"liars_dice(numdice=1,dice_sides={self.faces})" if one else None

    def count_nodes(self) -> int:
        rolls, histories = self.faces ** sum(self.dice), 2 ** (self.ladder + 1) - 1
        return int(1 + rolls * histories)

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[ROLLED] == 0:
            return CHANCE
        if state[CALLED] == 1:
            return TERMINAL
        return int(state[BIDS] % 2)

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        if state[ROLLED] == 0:
            return int(c[FACES] ** (c[ONE] + c[TWO]))
        return int(c[LADDER] - state[LAST] + (state[LAST] > 0))

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        dice = c[ONE] + c[TWO]
        if state[ROLLED] == 0:
            state[ROLLED] = 1
            for k in range(dice - 1, -1, -1):
                state[DICE + k] = action % c[FACES]
                action //= c[FACES]
            for player in range(2):
                low = DICE + player * c[ONE]
                high = DICE + (c[ONE] if player == 0 else dice)
                for k in range(low + 1, high):  # sort the player's dice
                    j = k
                    while j > low and state[j - 1] > state[j]:
                        die = state[j]
                        state[j] = state[j - 1]
                        state[j - 1] = die
                        j -= 1
                for k in range(high - 1, low - 1, -1):
                    state[CODE + player] = state[CODE + player] * c[FACES] + state[k]
        elif action == c[LADDER] - state[LAST]:
            state[CALLED] = 1
        else:
            bid = state[LAST] + action
            state[LAST] = bid + 1
            state[BIDS] += 1
            state[DICE + dice + bid // BITS] |= 1 << (bid % BITS)

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        code, bids = state[CODE + state[BIDS] % 2], DICE + c[ONE] + c[TWO]
        if len(known) == 1:
            known[0] = (code << c[LADDER]) | state[bids]
        else:
            known[0] = code
            for k in range(c[WORDS]):
                known[1 + k] = state[bids + k]

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        bid = state[LAST] - 1
        face, quantity, wild = bid % c[FACES], bid // c[FACES] + 1, c[FACES] - 1
        for k in range(DICE, DICE + c[ONE] + c[TWO]):
            quantity -= state[k] == face or state[k] == wild
        caller = state[BIDS] % 2
        winner = caller if quantity > 0 else 1 - caller
        payoff[winner] = 1.0
        payoff[1 - winner] = -1.0

    def _made(self, known: tuple[int, ...]) -> tuple[int, list[int]]:
        """The player's dice as a number, and the bids so far."""
        code, bits = known[0], sum(word << (BITS * k) for k, word in enumerate(known[1:]))
        if len(known) == 1:
            code, bits = known[0] >> self.ladder, known[0] & ((1 << self.ladder) - 1)
        return code, [bid for bid in range(self.ladder) if bits >> bid & 1]

    def label(self, player: int, known: tuple[int, ...]) -> str:
        code, made = self._made(known)
        dice = [str(code // self.faces**k % self.faces + 1) for k in range(self.dice[player])]
        return " ".join(["".join(dice), *map(self._bid_label, made)])

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        made = self._made(known)[1]
        last = made[-1] if made else -1
        higher = [self._bid_label(bid) for bid in range(last + 1, self.ladder)]
        return higher + ["call"] * (last >= 0)

    def _bid_label(self, bid: int) -> str:
        quantity, face = divmod(bid, self.faces)
        return f"{quantity + 1}x{face + 1}"


GAME = GameSpec(
    "bluff", Bluff, "Bluff (Liar's Dice): dice of player 1, of player 2, faces", ("bluff(1,1,6)",)
)
