"""A spot as rules in plain Python, one state per history, written from the rules of poker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

from counterplay.core.forms.rules import CHANCE, TERMINAL

RANKS, SUITS = "23456789TJQKA", "cdhs"
DECK = [r + s for r in RANKS for s in SUITS]


def five_card_rank(cards: tuple[str, ...]) -> tuple[Any, ...]:
    ranks = sorted((RANKS.index(c[0]) for c in cards), reverse=True)
    groups = sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    shape = tuple(n for n, _ in groups)
    order = tuple(r for _, r in groups)
    flush = len({c[1] for c in cards}) == 1
    straight = len(set(ranks)) == 5 and ranks[0] - ranks[4] == 4
    if order == (12, 3, 2, 1, 0):
        straight, order = True, (3,)
    kinds: list[Any] = [
        (4, 1),
        (3, 2),
        None,
        None,
        (3, 1, 1),
        (2, 2, 1),
        (2, 1, 1, 1),
        (1, 1, 1, 1, 1),
    ]
    category = 8 if straight and flush else {0: 7, 1: 6, 4: 3, 5: 2, 6: 1, 7: 0}[kinds.index(shape)]
    if category < 6 and (flush or straight):
        category = 5 if flush else 4
    return (category, *order[:1]) if straight and category in (4, 8) else (category, *order)


@cache
def strength(cards: tuple[str, ...]) -> tuple[Any, ...]:
    return max(five_card_rank(five) for five in combinations(cards, 5))


@dataclass(frozen=True)
class SpotState:
    rules: NaiveSpot
    hands: tuple[str, ...] = ()
    board: tuple[str, ...] = ()
    paid: tuple[float, float] = (0.0, 0.0)
    acting: int = 0
    bets: int = 0
    last: float = 0.0
    before: float = 0.0  # paid before this street
    over: bool = False  # the betting of this street
    folded: int = -1
    text: str = ""

    def player(self) -> int:
        if not self.hands:
            return CHANCE
        if self.folded >= 0:
            return TERMINAL
        done = self.over or min(self.paid) >= self.rules.stack
        if done:
            return TERMINAL if len(self.board) == 5 else CHANCE
        return self.acting

    def _deals(self) -> list[tuple[Any, float]]:
        rules = self.rules
        if not self.hands:
            pairs = [
                ((a, b), v * w)
                for a, v in rules.ranges[0].items()
                for b, w in rules.ranges[1].items()
                if not {a[:2], a[2:]} & {b[:2], b[2:]}
            ]
            total = sum(w for _, w in pairs)
            return [(pair, w / total) for pair, w in pairs]
        gone = {*self.board, *(h[k : k + 2] for h in self.hands for k in (0, 2))}
        left = [c for c in DECK if c not in gone]
        return [(c, 1.0 / len(left)) for c in left]

    def chance(self) -> list[float]:
        return [p for _, p in self._deals()]

    def actions(self) -> list[Any]:
        if self.player() == CHANCE:
            return [deal for deal, _ in self._deals()]
        return [label for label, _ in self._moves()]

    def _moves(self) -> list[tuple[str, SpotState]]:
        me, rules = self.acting, self.rules
        other, high = 1 - me, max(self.paid)
        moves = []
        if self.paid[other] > self.paid[me]:
            moves.append(("fold", replace(self, folded=me)))
            moves.append(("call", replace(self, paid=(high, high), over=True)))
        else:
            moves.append(("check", replace(self, acting=other, over=me == 1)))
        if self.bets < rules.cap and self.paid[other] < rules.stack:
            street = len(self.board) - len(rules.board)
            sizes = (rules.raises if self.bets else rules.sizes)[street][me]
            pot = rules.pot + 2 * self.paid[other]
            chips = [size if rules.limit else size * pot for size in sizes]
            least = max(self.last, rules.min_bet)
            to = {min(rules.stack, self.paid[other] + max(chip, least)) for chip in chips}
            for t in sorted(to):
                paid = (t, self.paid[1]) if me == 0 else (self.paid[0], t)
                word = "raise" if self.paid[other] > self.paid[me] else "bet"
                word = "allin" if t >= rules.stack else word
                new = replace(
                    self, paid=paid, acting=other, bets=self.bets + 1, last=t - self.paid[other]
                )
                moves.append((f"{word} {t - self.before:g}", new))
        return moves

    def child(self, action: Any) -> SpotState:
        if not self.hands:
            return replace(self, hands=action, board=self.rules.board)
        if self.player() == CHANCE:
            return replace(
                self, board=(*self.board, action), acting=0, bets=0, last=0.0, over=False,
                before=self.paid[0], text=self.text + "/",
            )  # fmt: skip
        new = dict(self._moves())[action]
        joint = "-" if self.text and not self.text.endswith("/") else ""
        return replace(new, text=f"{self.text}{joint}{action}")

    def infoset(self) -> str:
        return f"{self.text or 'start'} {''.join(self.board)} {self.hands[self.acting]}"

    def payoffs(self) -> tuple[float, float]:
        rules, called = self.rules, min(self.paid)
        stake = rules.pot / 2 + called
        rake = min(rules.rake * (rules.pot + 2 * called), rules.rake_cap)
        if self.folded >= 0:
            lost = self.folded
        else:
            one, two = (strength((*self.board, hand[:2], hand[2:])) for hand in self.hands)
            if one == two:
                return -rake / 2, -rake / 2
            lost = 0 if one < two else 1
        return tuple(-stake if k == lost else stake - rake for k in (0, 1))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class NaiveSpot:
    """Ranges map holdings such as `AhKd` to weights; sizes are shares of the pot, [street][player].
    All that cards share with the board must be left out of the ranges."""

    board: tuple[str, ...]
    pot: float
    stack: float
    ranges: tuple[dict[str, float], dict[str, float]]
    sizes: Any
    raises: Any
    cap: int
    rake: float = 0.0
    rake_cap: float = float("inf")
    min_bet: float = 0.0
    limit: bool = False  # sizes are chips
    n_players: int = 2

    def root(self) -> SpotState:
        return SpotState(self)
