"""Rules of the built-in games a second time, one state at a time in plain Python: what compiled
rules are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import Any

from counterplay.core.forms.rules import CHANCE, TERMINAL

LEDUC_BETS = (2, 4)
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1), "stay": (0, 0)}


class Uniform:
    """Every draw of chance is alike."""

    def chance(self) -> list[float]:
        n = len(self.actions())  # type: ignore[attr-defined]
        return [1.0 / n] * n


@dataclass(frozen=True)
class Bluff(Uniform):
    """Dice of player 1, of player 2, faces; a bid is (quantity, face)."""

    game: tuple[int, int, int]
    roll: tuple[int, ...] = ()
    bids: tuple[str, ...] = ()

    def player(self) -> int:
        if not self.roll:
            return CHANCE
        return TERMINAL if self.bids[-1:] == ("call",) else len(self.bids) % 2

    def actions(self) -> list[Any]:
        one, two, faces = self.game
        if not self.roll:
            return list(product(range(1, faces + 1), repeat=one + two))
        bids = [f"{n + 1}x{face + 1}" for n in range(one + two) for face in range(faces)]
        last = bids.index(self.bids[-1]) + 1 if self.bids else 0
        return bids[last:] + ["call"] * (last > 0)

    def child(self, action: Any) -> Bluff:
        if not self.roll:
            return replace(self, roll=action)
        return replace(self, bids=(*self.bids, action))

    def infoset(self) -> str:
        one = self.game[0]
        dice = sorted(self.roll[:one] if self.player() == 0 else self.roll[one:])
        return " ".join(["".join(map(str, dice)), *self.bids])

    def payoffs(self) -> list[float]:
        quantity, face = map(int, self.bids[-2].split("x"))
        holds = sum(die in (face, self.game[2]) for die in self.roll) >= quantity
        caller = (len(self.bids) - 1) % 2
        gain = 1.0 if (caller == 0) != holds else -1.0
        return [gain, -gain]


@dataclass(frozen=True)
class Goofspiel(Uniform):
    cards: int
    bids: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def player(self) -> int:
        if len(self.bids[1]) == self.cards:
            return TERMINAL
        return int(len(self.bids[0]) > len(self.bids[1]))

    def actions(self) -> list[str]:
        used = self.bids[self.player()]
        return [str(card) for card in range(1, self.cards + 1) if card not in used]

    def child(self, action: str) -> Goofspiel:
        one, two = self.bids
        card = (int(action),)
        return replace(self, bids=(one + card, two) if self.player() == 0 else (one, two + card))

    def infoset(self) -> str:
        player = self.player()
        rounds = zip(self.bids[player], self.bids[1 - player], strict=False)
        told = [f"{mine}{'LTW'[1 + (mine > other) - (mine < other)]}" for mine, other in rounds]
        return " ".join(told[: len(self.bids[1])]) or "start"

    def payoffs(self) -> list[float]:
        lead = sum(
            (self.cards - k) * ((one > two) - (one < two))
            for k, (one, two) in enumerate(zip(*self.bids, strict=True))
        )
        gain = float((lead > 0) - (lead < 0))
        return [gain, -gain]


@dataclass(frozen=True)
class Pam(Uniform):
    """`shape`: rows, columns, moves."""

    shape: tuple[int, int, int]
    stay: bool = False
    same_start: bool = True
    capture: str = "monster"
    first: str = "princess"
    start: tuple[tuple[int, int], ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    steps: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    caught: bool = False

    @property
    def _made(self) -> int:
        return len(self.steps[0]) + len(self.steps[1])

    def player(self) -> int:
        if not self.start:
            return CHANCE
        over = self.caught or self._made == self.shape[2]
        return TERMINAL if over else (self._made + (self.first == "monster")) % 2

    def _after(self, step: str) -> tuple[int, int]:
        cell, by = self.cells[self.player()], STEPS[step]
        return cell[0] + by[0], cell[1] + by[1]

    def actions(self) -> list[Any]:
        rows, columns, _ = self.shape
        cells = list(product(range(rows), range(columns)))
        if not self.start:
            return [pair for pair in product(cells, cells) if self.same_start or len(set(pair)) > 1]
        steps = [step for step in STEPS if self.stay or step != "stay"]
        return [step for step in steps if self._after(step) in cells]

    def child(self, action: Any) -> Pam:
        if not self.start:
            return replace(self, start=action, cells=action)
        player, cells, steps = self.player(), list(self.cells), list(self.steps)
        cells[player] = self._after(action)
        steps[player] += (action,)
        caught = cells[0] == cells[1] and (player == 1 or self.capture == "either")
        return replace(self, cells=tuple(cells), steps=tuple(steps), caught=caught)

    def infoset(self) -> str:
        row, column = self.start[self.player()]
        return " ".join([f"({row + 1},{column + 1})", *self.steps[self.player()]])

    def payoffs(self) -> list[float]:
        return [float(self._made), -float(self._made)]


@dataclass(frozen=True)
class Leduc(Uniform):
    shown: bool = True
    ranks: str = "JQK"
    suits: str = "sh"
    raises: int = 2
    cards: tuple[str, ...] = ()  # player 1, player 2, public
    rounds: tuple[str, ...] = ("",)  # letters f, c, r per round

    @property
    def _closed(self) -> bool:
        """The last round of betting so far is over: a call that answers something."""
        return len(self.rounds[-1]) >= 2 and self.rounds[-1][-1] == "c"

    def player(self) -> int:
        if len(self.cards) < 2:
            return CHANCE
        if self.rounds[-1].endswith("f"):
            return TERMINAL
        if self._closed:
            return TERMINAL if len(self.rounds) == 2 else CHANCE
        return len(self.rounds[-1]) % 2

    def actions(self) -> list[Any]:
        deck = [rank + suit for rank in self.ranks for suit in self.suits]
        if len(self.cards) < 2:
            return list(permutations(deck, 2))
        if self._closed:
            return [card for card in deck if card not in self.cards]
        bets = self.rounds[-1]
        facing = ["fold"] if bets.endswith("r") else []
        return [*facing, "call", *(["raise"] if bets.count("r") < self.raises else [])]

    def child(self, action: Any) -> Leduc:
        if len(self.cards) < 2:
            return replace(self, cards=action)
        if self._closed:
            return replace(self, cards=(*self.cards, action), rounds=(*self.rounds, ""))
        return replace(self, rounds=(*self.rounds[:-1], self.rounds[-1] + action[0]))

    def infoset(self) -> str:
        seen = (self.cards[self.player()], *self.cards[2:])
        cards = "|".join(card if self.shown else card[0] for card in seen)
        return f"{cards} {'/'.join(self.rounds)}".rstrip()

    def passive(self) -> str:
        return "call"

    def payoffs(self) -> list[float]:
        paid = [1.0, 1.0]
        for size, bets in zip(LEDUC_BETS, self.rounds, strict=False):
            for turn, action in enumerate(bets):
                if action in "cr":
                    paid[turn % 2] = max(paid) + (size if action == "r" else 0.0)
        if self.rounds[-1].endswith("f"):
            loser = (len(self.rounds[-1]) - 1) % 2
            gain = paid[loser] if loser == 1 else -paid[loser]
            return [gain, -gain]
        strength = [(card[0] == self.cards[2][0], self.ranks.index(card[0])) for card in self.cards]
        gain = paid[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
        return [gain, -gain]


@dataclass(frozen=True)
class OneCardPoker(Uniform):
    cards: int
    deal: tuple[int, ...] = ()
    history: str = ""

    def player(self) -> int:
        if not self.deal:
            return CHANCE
        return len(self.history) % 2 if self.history in ("", "p", "b", "pb") else TERMINAL

    def actions(self) -> list[Any]:
        if not self.deal:
            return list(permutations(range(1, self.cards + 1), 2))
        return ["pass", "bet"]

    def child(self, action: Any) -> OneCardPoker:
        if not self.deal:
            return replace(self, deal=action)
        return replace(self, history=self.history + action[0])

    def infoset(self) -> str:
        return f"{self.deal[self.player()]} {self.history}".rstrip()

    def passive(self) -> str:
        return "bet" if "b" in self.history else "pass"

    def payoffs(self) -> list[float]:
        won = 1.0 if self.deal[0] > self.deal[1] else -1.0
        gain = {"pp": won, "bp": 1.0, "pbp": -1.0}.get(self.history, 2 * won)
        return [gain, -gain]


@dataclass(frozen=True)
class Rules:
    """As `cp.Game` takes them."""

    first: Any
    n_players: int = field(default=2)

    def root(self) -> Any:
        return self.first


TWINS: dict[str, Any] = {
    "bluff(1,1,1)": Bluff((1, 1, 1)),
    "bluff(1,1,3)": Bluff((1, 1, 3)),
    "bluff(2,1,2)": Bluff((2, 1, 2)),
    "bluff(1,2,3)": Bluff((1, 2, 3)),
    "goofspiel(1)": Goofspiel(1),
    "goofspiel(4)": Goofspiel(4),
    "pam(1,2,1)": Pam((1, 2, 1)),
    "pam(1,2,90)": Pam((1, 2, 90)),
    "pam(2,3,6)": Pam((2, 3, 6)),
    "pam(2,2,3,stay=True)": Pam((2, 2, 3), stay=True),
    "pam(1,3,4,same_start=False,capture=either,first=monster)": Pam(
        (1, 3, 4), same_start=False, capture="either", first="monster"
    ),
    "leduc": Leduc(),
    "leduc(suits=False)": Leduc(shown=False),
    "leduc(ranks=2,raises=3)": Leduc(ranks="JQ", raises=3),
    "leduc(ranks=4,suits=3,raises=1)": Leduc(ranks="JQKA", suits="shd", raises=1),
    "ocp(2)": OneCardPoker(2),
    "ocp(7)": OneCardPoker(7),
}
