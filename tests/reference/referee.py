"""A hand of two-player limit hold'em by its rules, for checking matches: strings and lists, no
tree, no tables of nodes.

The dealer posts half a small bet, the big blind one. The dealer speaks first before the flop and
last afterwards. A bet or raise is one small bet before and on the flop, two later; four bets a
round, of which the big blind is the first before the flop. A round is over when both have spoken
and have paid the same. The better hand of seven cards takes what the other has paid.
"""

from __future__ import annotations

from collections.abc import Callable

from phevaluator import evaluate_cards

Shares = tuple[float, float, float]  # of fold, call and raise; an illegal action has none
Policy = Callable[[str, list[int], list[int]], Shares]  # letters so far, own cards, board


def draw(shares: Shares, u: float) -> str:
    """The action of a number in [0, 1): fold, call and raise lie in this order, end to end."""
    if u < shares[0]:
        return "f"
    return "c" if u < shares[0] + shares[1] or shares[2] == 0.0 else "r"


def legal(paid: list[float], seat: int, bets: int) -> str:
    """Letters of the actions a player has: no fold without a bet to fold to, no fifth bet."""
    return ("f" if paid[seat] < paid[1 - seat] else "") + "c" + ("r" if bets < 4 else "")


def play_hand(
    players: tuple[Policy, Policy], cards: list[int], numbers: Callable[[int], float]
) -> tuple[float, str]:
    """What the dealer (first of `players`) wins, and the letters of the hand. `numbers(seat)`
    gives each decision its number."""
    own = [cards[0:2], cards[2:4]]
    paid = [0.5, 1.0]
    letters = ""
    for street, (seen, bet) in enumerate(((0, 1), (3, 1), (4, 2), (5, 2))):
        letters += "/" if street else ""
        seat, spoken, bets = (0, 0, 1) if street == 0 else (1, 0, 0)
        while spoken < 2 or paid[0] != paid[1]:
            action = draw(players[seat](letters, own[seat], cards[4 : 4 + seen]), numbers(seat))
            assert action in legal(paid, seat, bets), (letters, action)
            letters += action
            if action == "f":
                return (-paid[0] if seat == 0 else paid[1]), letters
            paid[seat] = paid[1 - seat] + (bet if action == "r" else 0)
            bets += action == "r"
            spoken += 1
            seat = 1 - seat
    ranks = [evaluate_cards(*own[seat], *cards[4:9]) for seat in (0, 1)]  # 1 is the best
    return paid[0] * ((ranks[0] < ranks[1]) - (ranks[0] > ranks[1])), letters
