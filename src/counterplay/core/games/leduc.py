"""Leduc hold'em: six cards (J, Q, K in two suits), two rounds with bets of 2 and 4, at most two
bets a round, ante 1. With more ranks, suits, bets or players it grows beyond a tree.

A pair with the public card wins, otherwise the higher card; equal ranks split the pot. Player 1
acts first in both rounds, or the next who has not folded. n players have a deck of n + 1 ranks.

A state: the public card + 1, the round, who acts, how many have yet to act in the round, its
raises, the players who have not folded, the betting as a number with a leading 1, and for each
player the card, the chips and whether it has folded. A card is rank x suits + suit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.forms.infoset_table import EXACT_BITS
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules

PUBLIC, ROUND, ACTOR, LEFT, RAISES, IN, BETS, CARD = range(8)  # of a state; n cards from CARD on
RANKS, SUITS, MOST, SHOWN, PLAYERS, BASE = range(6)  # constants; SHOWN: whether players see suits
CALL, RAISE, NEXT_ROUND, FOLD = range(4)  # digits of the betting; only several players go on after
LETTERS = "cr/f"  # a fold, so that the betting of two has base 3 and that of more base 4
RANK_NAMES = "JQKA23456789T"  # from the lowest; the first `ranks` are used
SUIT_NAMES = "shdc"
BET_SIZE = (2, 4)
MOST_PLAYERS = 6


class Leduc(CompiledRules):
    """Leduc hold'em with cards of so many `ranks` (one more than players, unless given) and `suits`
    and at most `raises` bets a round.

    `suits=True`: two suits. `suits=False`: two suits that players do not see, which merges
    suit-isomorphic information sets (288 instead of 936).
    """

    max_actions = 3
    most_nodes = 2**21

    def __init__(
        self, suits: bool | int = True, ranks: int = 0, raises: int = 2, players: int = 2
    ) -> None:
        self.shown, given = suits is not False, suits
        if not isinstance(suits, bool):
            suits = whole_number(suits, 2, len(SUIT_NAMES), "suits")
        self.suits = SUIT_NAMES[: 2 if isinstance(suits, bool) else suits]
        n = self.n_players = whole_number(players, 2, MOST_PLAYERS, "players")
        ranks = n + 1 if ranks == 0 else whole_number(ranks, 2, len(RANK_NAMES), "ranks")
        self.ranks, self.raises = RANK_NAMES[:ranks], whole_number(raises, 1, 12, "raises")
        self.deck = tuple(rank + suit for rank in self.ranks for suit in self.suits)
        if len(self.deck) <= n:
            raise BadParameter(f"leduc needs {n + 1} cards for {n} players: more ranks or suits")
        self.given = {"suits": given, "ranks": ranks, "raises": raises, "players": n}
        self.base = 3 if n == 2 else 4
        self.depth = 2 * (n + self.raises * (n - 1))
        cards = len(self.deck)
        if self.base ** (self.depth + 2) * (cards + 1) * cards >= 2**EXACT_BITS:
            raise BadParameter(f"leduc: {raises} raises are too many for {n} players")
        self.constants = (ranks, len(self.suits), self.raises, int(self.shown), n, self.base)
        self.state_size = CARD + 3 * n

    def arguments(self) -> str:
        """The arguments in the canonical name: those that are not the usual ones."""
        usual = {"suits": True, "ranks": self.n_players + 1, "raises": 2, "players": 2}
        return ",".join(f"{name}={x}" for name, x in self.given.items() if x != usual[name])

    def openspiel(self) -> str | None:
        """The name in OpenSpiel, of the usual game."""
        n = self.n_players
        usual = self.shown and len(self.ranks) == n + 1 and self.raises == 2
        if not usual or len(self.suits) != 2:
            return None
        return "leduc_poker" if n == 2 else f"leduc_poker(players={n})"

    def count_nodes(self) -> int:
        """Deals times the nodes of a round, and the public card and a second round after each
        first round in which not all but one have folded."""
        n, cards = self.n_players, len(self.deck)
        begun = {m: sum(1 for _ in _rounds(m, self.raises)) for m in range(2, n + 1)}
        second = sum(begun[left] for left in _rounds(n, self.raises) if left > 1)
        return 1 + math.perm(cards, n) * (begun[n] + (cards - n) * second)

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[IN] == 0:
            return CHANCE
        if state[IN] == 1:
            return TERMINAL
        if state[LEFT] == 0:
            return TERMINAL if state[ROUND] == 1 else CHANCE
        return int(state[ACTOR])

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        cards, n = c[RANKS] * c[SUITS], c[PLAYERS]
        if state[IN] == 0:
            deals = 1
            for k in range(n):
                deals *= cards - k
            return int(deals)
        if state[LEFT] == 0:
            return int(cards - n)
        return int(1 + (state[RAISES] > 0) + (state[RAISES] < c[MOST]))

    @staticmethod
    def passive(c: Any, state: Any) -> int:
        return int(state[RAISES] > 0)  # after folding, if there is a bet

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        cards, n = c[RANKS] * c[SUITS], c[PLAYERS]
        paid, folded = CARD + n, CARD + 2 * n
        if state[IN] == 0:  # the deal of all private cards
            state[IN] = state[LEFT] = n
            state[BETS] = 1
            deals = 1
            for k in range(n):
                deals *= cards - k
            for k in range(n):
                deals //= cards - k
                state[CARD + k] = nth_free(state, k, action // deals)
                action %= deals
                state[paid + k] = 1
            return
        if state[LEFT] == 0:  # the public card
            state[PUBLIC] = nth_free(state, n, action) + 1
            state[ROUND] = 1
            state[RAISES] = 0
            state[LEFT] = state[IN]
            state[ACTOR] = -1
            state[BETS] = state[BETS] * c[BASE] + NEXT_ROUND
        else:
            player, most = state[ACTOR], 0
            for k in range(n):
                most = max(most, state[paid + k])
            action -= state[RAISES] > 0  # -1: fold, 0: call, 1: raise
            state[LEFT] -= 1
            if action < 0:
                state[folded + player] = 1
                state[IN] -= 1
                if n == 2:
                    return
            else:
                state[paid + player] = most + action * (2 + 2 * state[ROUND])
                if action == RAISE:
                    state[RAISES] += 1
                    state[LEFT] = state[IN] - 1
            state[BETS] = state[BETS] * c[BASE] + (FOLD if action < 0 else action)
        state[ACTOR] = (state[ACTOR] + 1) % n
        while state[folded + state[ACTOR]] == 1:
            state[ACTOR] = (state[ACTOR] + 1) % n

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        card, public, cards = state[CARD + state[ACTOR]], state[PUBLIC], c[RANKS] * c[SUITS]
        if c[SHOWN] == 0:
            card //= c[SUITS]
            public = (public + c[SUITS] - 1) // c[SUITS]  # 0 stays
        known[0] = (state[BETS] * (cards + 1) + public) * cards + card

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        n = c[PLAYERS]
        paid, folded = CARD + n, CARD + 2 * n
        best, winners, pot = -1, 0, 0
        for k in range(n):
            pot += state[paid + k]
            if state[folded + k] == 0:
                hand = strength(c, state, k)
                winners = winners + 1 if hand == best else 1 if hand > best else winners
                best = max(best, hand)
        others = 0.0
        for k in range(n - 1):
            won = state[folded + k] == 0 and strength(c, state, k) == best
            payoff[k] = (float(pot) / winners if won else 0.0) - state[paid + k]
            others += payoff[k]
        payoff[n - 1] = -others

    def cards_and_bets(self, state: Sequence[int]) -> tuple[list[str], list[str]]:
        """The cards of both and the public one, and the letters f, c, r of each round."""
        n = self.n_players
        cards = [self.deck[card] for card in state[CARD : CARD + n]]
        if state[PUBLIC]:
            cards.append(self.deck[state[PUBLIC] - 1])
        fold = "f" if n == 2 and state[IN] == 1 else ""
        return cards, (self._letters(state[BETS]) + fold).split("/")

    def chips(self, state: Sequence[int]) -> Sequence[int]:
        """The chips of each player in the pot."""
        return state[CARD + self.n_players : CARD + 2 * self.n_players]

    def _seen(self, known: tuple[int, ...]) -> tuple[list[str], str]:
        """The cards that a player sees, and the betting as letters."""
        rest, card = divmod(known[0], len(self.deck))
        bets, public = divmod(rest, len(self.deck) + 1)
        names = self.deck if self.shown else self.ranks
        return [names[card], *([names[public - 1]] if public else [])], self._letters(bets)

    def _letters(self, bets: int) -> str:
        """The letters of a betting sequence, from its number."""
        letters = ""
        while bets > 1:
            bets, digit = divmod(bets, self.base)
            letters = LETTERS[digit] + letters
        return letters

    def label(self, player: int, known: tuple[int, ...]) -> str:
        cards, letters = self._seen(known)
        return f"{'|'.join(cards)} {letters}".rstrip()

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        bets = self._seen(known)[1].split("/")[-1]
        folds = ["fold"] if "r" in bets else []
        return [*folds, "call", *(["raise"] if bets.count("r") < self.raises else [])]


def nth_free(state: Any, dealt: int, card: int) -> int:
    """The card number `card` of those that none of the first `dealt` players has."""
    free = -1
    while card >= 0:
        free += 1
        taken = False
        for k in range(dealt):
            taken = taken or state[CARD + k] == free
        if not taken:
            card -= 1
    return free


def strength(c: Any, state: Any, player: int) -> int:
    """The strength of a player's hand at the showdown."""
    rank = state[CARD + player] // c[SUITS]
    if state[PUBLIC] > 0 and rank == (state[PUBLIC] - 1) // c[SUITS]:
        rank += c[RANKS]
    return int(rank)


def _rounds(players: int, most: int) -> Iterator[int]:
    """For every action sequence of a round, complete or not, how many have not folded after it; 0
    if it is not complete."""
    waiting = [(players, players, 0)]  # in the game, yet to act, raises
    while waiting:
        left, to_act, raises = waiting.pop()
        over = left == 1 or to_act == 0
        yield left if over else 0
        if over:
            continue
        waiting.append((left, to_act - 1, raises))
        if raises > 0:
            waiting.append((left - 1, to_act - 1, raises))
        if raises < most:
            waiting.append((left, left - 1, raises + 1))


GAME = GameSpec(
    "leduc",
    Leduc,
    "Leduc hold'em: six cards, two rounds; or more ranks, suits, raises and players",
    ("leduc", "leduc(suits=False)", "leduc(ranks=5,suits=4)", "leduc(players=3)"),
    Leduc.arguments,
)
