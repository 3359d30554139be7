"""Hands of limit hold'em against a bot."""

from __future__ import annotations

import random
from typing import Any

from counterplay.app.web.boards.board import Choice, who
from counterplay.app.web.play.hands import BadMove
from counterplay.app.web.play.luck import BotLuck
from counterplay.poker.betting.betting import (
    CALL,
    FOLD,
    LETTER,
    LIMIT,
    NO_FOLD,
    STREETS,
    Betting,
    betting_tree,
)
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.bots.table import TableBot
from counterplay.poker.cards.cards import N_CARDS, card_text
from counterplay.poker.cards.deal import N_DEALT, new_deal
from counterplay.poker.match.referee import ask_bot, settle_deal, tell_bot

_dice = random.SystemRandom()


class HoldemGame:
    """What all hands at a table share: the bot, who may remember."""

    kind = "holdem"
    rules: tuple[str, ...] = ()

    def __init__(self, bot: Any, luck: BotLuck) -> None:
        self.bot, self.luck = bot, luck
        self.remembers = not isinstance(bot, TableBot)

    def new_hand(self, seat: int, deal: Any = None) -> HoldemHand:
        return HoldemHand(self, seat, _checked(deal))

    def forget(self) -> None:
        """The session starts anew; what was played is told to the bot again."""
        if self.remembers:
            tell_bot(self.bot, "start", _dice.randrange(2**60))


def _checked(deal: Any) -> tuple[int, ...]:
    """Nine different cards: those of the journal, or new ones."""
    if deal is None:
        return tuple(_dice.sample(range(N_CARDS), N_DEALT))
    cards = tuple(int(card) for card in deal)
    if len(set(cards)) != N_DEALT or not set(cards) <= set(range(N_CARDS)):
        raise BadMove("these are not the cards of a deal")
    return cards


class HoldemHand:
    """`cards`: the dealer's two, the big blind's two, the board. Seat 0 is the dealer."""

    def __init__(self, shared: HoldemGame, seat: int, cards: tuple[int, ...]) -> None:
        self._shared, self.seat, self.cards = shared, seat, cards
        self._tree = betting_tree(LIMIT)
        self.node = 0
        tell_bot(shared.bot, "new_hand", 1 - seat)

    @property
    def state(self) -> Betting:
        return self._tree.states[self.node]

    @property
    def over(self) -> bool:
        return self.state.over

    @property
    def waiting(self) -> bool:
        return self.state.player() == self.seat

    @property
    def showdown(self) -> bool:
        return self.over and self.state.folded == NO_FOLD

    @property
    def won(self) -> float:
        gain = settle_deal(self.state, self.cards, new_deal())
        return gain if self.seat == 0 else -gain

    def deal(self) -> list[int]:
        return list(self.cards)

    def moves(self) -> list[str]:
        return list(self.state.history.replace("/", ""))

    def holding(self, seat: int) -> tuple[int, int]:
        return self.cards[2 * seat], self.cards[2 * seat + 1]

    def view(self, node: int) -> View:
        """What the player who acts at a node sees."""
        state = self._tree.states[node]
        board = self.cards[4 : 4 + state.on_board]
        return View(state.player(), self.holding(state.player()), board, state, node)

    def nodes(self) -> list[int]:
        """Nodes of the hand, the last one without an action."""
        found = [0]
        for letter in self.moves():
            found.append(self._tree.moves[found[-1]][LETTER[letter]])
        return found

    def act(self, choice: int) -> None:
        legal = self._tree.actions[self.node]
        if self.over or self.state.player() != self.seat or not 0 <= choice < len(legal):
            raise BadMove("that move cannot be made now")
        self._go(legal[choice])

    def answer(self) -> None:
        while not self.over and self.state.player() != self.seat:
            tell_bot(self._shared.bot, "seed", _dice.randrange(2**60))
            moves = self._tree.moves[self.node]
            self._go(ask_bot(self._shared.bot, self.view(self.node), moves))

    def replay(self, moves: list[Any]) -> None:
        for letter in moves:
            if letter not in LETTER or LETTER[letter] not in self._tree.moves[self.node]:
                raise BadMove("a move that the rules do not know")
            if self._shared.remembers and self.state.player() != self.seat:
                self._shared.bot.act(self.view(self.node))  # it thinks again, and did this
            self._go(LETTER[letter])

    def _go(self, action: str) -> None:
        self.node = self._tree.moves[self.node][action]
        if self.over:
            other, won = 1 - self.seat, -self.won
            shown = self.holding(self.seat) if self.showdown else None
            board = self.cards[4 : 4 + self.state.on_board]
            ending = Ending(other, self.holding(other), board, self.state, won, shown)
            tell_bot(self._shared.bot, "end_hand", ending)

    def choices(self) -> list[Choice]:
        if self.over:
            return []
        return [Choice(_word(self.state, name), name[0]) for name in self._tree.actions[self.node]]

    def see(self) -> dict[str, Any]:
        state = self.state
        start = self._start_of_street()
        return {
            "kind": "holdem",
            "own": [card_text(card) for card in self.holding(self.seat)],
            "other": [card_text(card) for card in self.holding(1 - self.seat)]
            if self.showdown
            else None,
            "board": [card_text(card) for card in self.cards[4 : 4 + state.on_board]],
            "street": STREETS[state.round],
            "pot": sum(start),
            "bets": [state.paid[k] - start[k] for k in (self.seat, 1 - self.seat)],
            "button": who(0, self.seat),
            "folded": None if state.folded == NO_FOLD else who(state.folded, self.seat),
            "betting": state.history,
            "log": self._log(),
        }

    def _start_of_street(self) -> tuple[float, float]:
        """What each had paid before this street."""
        street = self.state.round
        for node in self.nodes():
            state = self._tree.states[node]
            if state.round == street and state.acted == 0:
                return state.paid if street else (0.0, 0.0)
        return 0.0, 0.0

    def _log(self) -> list[dict[str, str]]:
        found = []
        for node, letter in zip(self.nodes(), self.moves(), strict=False):
            state = self._tree.states[node]
            found.append(
                {
                    "who": who(state.player(), self.seat),
                    "street": STREETS[state.round],
                    "text": said(state, LETTER[letter]),
                }
            )
        return found

    def adjusted(self) -> float | None:
        return self._shared.luck.adjusted(self)

    def review(self) -> dict[str, Any]:
        from counterplay.app.web.play.holdem_review import review_holdem

        return review_holdem(self, self._shared.bot)


def _word(state: Betting, action: str) -> str:
    """An action as a button."""
    mine, most = state.paid[state.player()], max(state.paid)
    if action == FOLD:
        return "Fold"
    if action == CALL:
        return f"Call {most - mine:g}" if most > mine else "Check"
    to = most + state.rules.bets[state.round]
    return f"Raise to {to - _before(state):g}" if state.bets else f"Bet {to - most:g}"


def _before(state: Betting) -> float:
    """What each had paid before this street, at a bet."""
    if state.round == 0:
        return 0.0
    return max(state.paid) - state.bets * state.rules.bets[state.round]


def said(state: Betting, action: str) -> str:
    """An action in words, of another person."""
    word = _word(state, action)
    first, _, rest = word.partition(" ")
    ending = "es" if first == "Pass" else "s"
    return f"{first.lower()}{ending} {rest}".strip()
