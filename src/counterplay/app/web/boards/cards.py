"""Kuhn poker, One-Card Poker and Leduc hold'em: cards, chips and a pot."""

from __future__ import annotations

from typing import Any

from counterplay.app.web.boards.board import Choice, who
from counterplay.app.web.play.walk import Walk
from counterplay.core.games.leduc import BET_SIZE, PAID

ANTE = 1
Log = list[dict[str, str]]


class OneBetBoard:
    """One card each, one bet: Kuhn poker and One-Card Poker."""

    rules: tuple[str, ...] = ()

    def _deal(self, walk: Walk) -> tuple[str, str]:
        raise NotImplementedError

    def _deck(self, walk: Walk) -> str:
        raise NotImplementedError

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        cards, paid, log = self._deal(walk), [ANTE, ANTE], Log()
        passed_after_bet = False
        for player, child, _ in walk.moves[1:]:
            faced = max(paid) > ANTE
            log.append({"who": who(player, seat), "text": _one_bet_word(child, faced)})
            paid[player] += child
            passed_after_bet |= faced and child == 0
        showdown = walk.over and not passed_after_bet
        return {
            "kind": "cards",
            "own": cards[seat],
            "other": cards[1 - seat] if showdown else None,
            "public": None,
            "paid": [paid[seat], paid[1 - seat]],
            "deck": self._deck(walk),
            "log": log,
        }

    def choices(self, walk: Walk) -> list[Choice]:
        faced = any(child == 1 for _, child, _ in walk.moves[1:])
        if faced:
            return [Choice("Fold", "f"), Choice("Call 1", "c")]
        return [Choice("Check", "c"), Choice("Bet 1", "r")]

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        return _one_bet_word(action, any(child == 1 for _, child, _ in walk.moves[1:]))

    def held(self, walk: Walk, seat: int) -> str:
        return f"the {self._deal(walk)[seat]}"


def _one_bet_word(child: int, faced: bool) -> str:
    return (("folds", "calls") if faced else ("checks", "bets 1"))[child]


class KuhnBoard(OneBetBoard):
    """Three cards: J, Q, K."""

    rules = (
        "Three cards: jack, queen, king. Each of you antes one chip and gets one card.",
        "Check or bet one chip. After a bet the other calls or folds.",
        "If nobody folds, the higher card takes the pot.",
    )

    def _deal(self, walk: Walk) -> tuple[str, str]:
        cards = walk.moves[0].action
        return cards[0], cards[1]

    def _deck(self, walk: Walk) -> str:
        return "J Q K"


class OneCardBoard(OneBetBoard):
    """Cards from 1 to N."""

    rules = (
        "A deck of numbered cards. Each of you antes one chip and gets one card.",
        "Check or bet one chip. After a bet the other calls or folds.",
        "If nobody folds, the higher card takes the pot.",
    )

    def _deal(self, walk: Walk) -> tuple[str, str]:
        own, other = divmod(int(walk.moves[0].action), walk.game.rules.cards - 1)
        return str(own + 1), str(other + (other >= own) + 1)

    def _deck(self, walk: Walk) -> str:
        return f"1 to {walk.game.rules.cards}"


class LeducBoard:
    """Six cards, two rounds, a public card between them."""

    rules = (
        "Six cards: jack, queen and king in two suits. Each of you antes one chip and gets one.",
        "Two rounds of betting, bets of 2 and then of 4, two bets a round at most.",
        "After the first round a card is laid open. A pair with it wins; else the higher card.",
    )

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        cards, rounds = self._seen(walk)
        paid = walk.state.words[PAID : PAID + 2]
        folded = walk.over and rounds[-1].endswith("f")
        log: Log = []
        for number, bets in enumerate(rounds):
            if number:
                log.append({"who": "table", "text": f"the {cards[2]} is laid open"})
            for turn in range(len(bets)):
                word = _leduc_word(bets[:turn], bets[turn], number)
                log.append({"who": who(turn % 2, seat), "text": word})
        return {
            "kind": "cards",
            "own": cards[seat],
            "other": cards[1 - seat] if walk.over and not folded else None,
            "public": cards[2] if len(cards) > 2 else None,
            "paid": [paid[seat], paid[1 - seat]],
            "deck": "J J Q Q K K",
            "log": log,
        }

    def choices(self, walk: Walk) -> list[Choice]:
        rounds = self._seen(walk)[1]
        choices = []
        for name in walk.labels():
            word = _leduc_word(rounds[-1], name[0], len(rounds) - 1)
            label = {"folds": "Fold", "checks": "Check", "calls": "Call"}.get(word)
            choices.append(Choice(label or word.capitalize().replace("s ", " ", 1), name[0]))
        return choices

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        rounds = self._seen(walk)[1]
        return _leduc_word(rounds[-1], walk.labels()[action][0], len(rounds) - 1)

    def held(self, walk: Walk, seat: int) -> str:
        return f"the {self._seen(walk)[0][seat]}"

    def _seen(self, walk: Walk) -> tuple[list[str], list[str]]:
        """The cards so far, and the letters of each round of betting."""
        seen: tuple[list[str], list[str]] = walk.game.rules.cards_and_bets(walk.state.words)
        return seen


def _leduc_word(before: str, letter: str, number: int) -> str:
    faced = before.endswith("r")
    if letter == "r":
        return f"raises {BET_SIZE[number]}" if faced else f"bets {BET_SIZE[number]}"
    if letter == "f":
        return "folds"
    return "calls" if faced else "checks"
