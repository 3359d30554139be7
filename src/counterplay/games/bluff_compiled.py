"""Bluff as compiled rules, for any dice. A state: whether the dice fell, the last bid + 1, how many
bids, whether somebody called, each player's sorted dice as a number, all dice, and the bids made as
bits."""

from __future__ import annotations

from typing import Any

from counterplay.forms.compiled import CompiledRules
from counterplay.forms.found import EXACT_BITS
from counterplay.forms.rules import CHANCE, TERMINAL

ROLLED, LAST, BIDS, CALLED, CODE, DICE = 0, 1, 2, 3, 4, 6
ONE, TWO, FACES, LADDER, WORDS = range(5)  # of the constants: dice of the players, ...
BITS = 60  # of bids in a word


class CompiledBluff(CompiledRules):
    """Which bids were made is a word of the state, or several."""

    def __init__(self, dice: tuple[int, int], faces: int) -> None:
        self.dice, self.faces, self.ladder = dice, faces, sum(dice) * faces
        words = -(-self.ladder // BITS)
        self.constants = (*dice, faces, self.ladder, words)
        self.state_size = DICE + sum(dice) + words
        most = faces ** max(dice) - 1
        exact = most.bit_length() + self.ladder <= EXACT_BITS
        self.known_size = 1 if exact else 1 + words
        self.max_actions = self.ladder + 1
        self.depth = self.ladder + 1

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
            state[DICE + dice + bid // 60] |= 1 << (bid % 60)

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
        code, bits = known[0] >> self.ladder, known[0] & ((1 << self.ladder) - 1)
        return code, [bid for bid in range(self.ladder) if bits >> bid & 1]

    def label(self, player: int, known: tuple[int, ...]) -> str:
        if len(known) > 1:
            return super().label(player, known)
        code, made = self._made(known)
        dice = [str(code // self.faces**k % self.faces + 1) for k in range(self.dice[player])]
        return " ".join(["".join(dice), *map(self._bid_label, made)])

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        if len(known) > 1:
            return super().action_labels(player, known, count)
        made = self._made(known)[1]
        last = made[-1] if made else -1
        higher = [self._bid_label(bid) for bid in range(last + 1, self.ladder)]
        return higher + ["call"] * (last >= 0)

    def _bid_label(self, bid: int) -> str:
        quantity, face = divmod(bid, self.faces)
        return f"{quantity + 1}x{face + 1}"
