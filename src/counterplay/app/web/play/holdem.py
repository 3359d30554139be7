"""Hands of limit hold'em against a bot, their luck adjustment and their review.

The person's strategy is unknown; the opponent's is known where it is a table. The luck adjustment
(AIVAT, `poker/match/luck_adjustment.py`) takes seconds to prepare, so this happens in the
background; hands that ended before are adjusted when it is ready.
What the moves of a review cost is in `weighing.py`.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

from counterplay.app.web.play.table import Choice, IllegalMove, review_step, summed_up, who
from counterplay.app.web.play.weighing import (
    action_values,
    best_other,
    equilibrium_values,
    note,
    starting_hand,
)
from counterplay.app.web.strategies import HOLDEM, open_game
from counterplay.core.match.luck_adjustment import PlayedDeals
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
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.cards import evaluator
from counterplay.poker.cards.cards import N_CARDS, card_text
from counterplay.poker.cards.deal import N_DEALT
from counterplay.poker.cards.evaluator import CATEGORY_SHIFT, MAIN_SHIFT, strength
from counterplay.poker.histories.records import settle_deal
from counterplay.poker.match.referee import ask_bot, bot_name, tell_bot

RANKS = (
    *("deuce", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "jack", "queen", "king", "ace"),
)
RANK_MASK = (1 << len(RANKS)) - 1
HAND_NAMES = {
    evaluator.HIGH_CARD: "{0} high",
    evaluator.PAIR: "a pair of {0}s",
    evaluator.TWO_PAIR: "two pair, {0}s and {1}s",
    evaluator.TRIPS: "three {0}s",
    evaluator.STRAIGHT: "a straight, {0} high",
    evaluator.FLUSH: "a flush, {0} high",
    evaluator.FULL_HOUSE: "a full house, {0}s full of {1}s",
    evaluator.QUADS: "four {0}s",
    evaluator.STRAIGHT_FLUSH: "a straight flush, {0} high",
}
_random = random.SystemRandom()


class BotLuckAdjustment:
    """The luck adjustment of hands against one bot, prepared in the background."""

    def __init__(self, bot: Any) -> None:
        self._bot, self._started = bot, False
        self._adjustment: Any = None
        self._lock = threading.Lock()

    def prepare(self) -> None:
        from counterplay.poker.match.luck_adjustment import HoldemLuckAdjustment

        with self._lock:
            if self._adjustment is None:
                self._adjustment = HoldemLuckAdjustment(open_game(HOLDEM), None, self._bot)

    def adjusted(self, hand: HoldemHand) -> float | None:
        """The person's luck-adjusted payoff of a finished hand; None until it is prepared."""
        if not self._started:
            self._started = True
            threading.Thread(target=self.prepare, daemon=True).start()
        if self._adjustment is None or not self._lock.acquire(blocking=False):
            return None
        try:
            played = PlayedDeals.of_hand(hand.cards, hand.seat, hand.won, hand.node)
            return float(self._adjustment.adjusted(played)[0, hand.seat])
        finally:
            self._lock.release()


_of_programs = BotLuckAdjustment(None)
_of_tables: WeakKeyDictionary[Any, BotLuckAdjustment] = WeakKeyDictionary()


def luck_adjustment_of(bot: Any) -> BotLuckAdjustment:
    """The luck adjustment of a bot; all bots whose strategy is unknown share one."""
    if not isinstance(bot, TableBot):
        return _of_programs
    if bot not in _of_tables:
        _of_tables[bot] = BotLuckAdjustment(bot)
    return _of_tables[bot]


class HoldemSource:
    """Deals hands against one bot, which may remember earlier hands."""

    kind = "holdem"
    rules: tuple[str, ...] = ()

    def __init__(self, bot: Any, luck: BotLuckAdjustment) -> None:
        self.bot, self.luck = bot, luck
        self.known = isinstance(bot, TableBot)
        self._model = bot if self.known else None

    @property
    def word(self) -> str:
        """The name or path that the bot was made from."""
        return str(getattr(self.bot, "made_from", ""))

    @property
    def weighed_by(self) -> TableBot | None:
        """What moves are weighed by: the bot's own table, or that of a model of the program."""
        if self._model is None:
            from counterplay.poker.adaptive.portfolio import learnt_model

            model = learnt_model(self.word)
            self._model = None if model is None else strategy_bot(model)
        return self._model

    @property
    def learnable(self) -> str | None:
        """The name of a program of which a model could be learnt, to weigh moves by it."""
        return self.word if self.word in BOTS and self.weighed_by is None else None

    def new_hand(self, seat: int, deal: Any = None) -> HoldemHand:
        if deal is None:
            return HoldemHand(self, seat, tuple(_random.sample(range(N_CARDS), N_DEALT)))
        cards = tuple(int(card) for card in deal)
        if len(set(cards)) != N_DEALT or not set(cards) <= set(range(N_CARDS)):
            raise IllegalMove("the cards of this deal are not valid")
        return HoldemHand(self, seat, cards)

    def forget(self) -> None:
        """Restarts the bot's session."""
        if not self.known:
            tell_bot(self.bot, "start", _random.randrange(2**60))


class HoldemHand:
    """`cards`: the dealer's two, the big blind's two, the board. Seat 0 is the dealer."""

    def __init__(self, source: HoldemSource, seat: int, cards: tuple[int, ...]) -> None:
        self._source, self.seat, self.cards = source, seat, cards
        self._tree = betting_tree(LIMIT)
        self.nodes = [0]  # the public nodes of the hand, the present one last
        tell_bot(source.bot, "new_hand", 1 - seat)
        #: What an opponent who learns plays in this hand; None of others.
        self._strategy = getattr(source.bot, "hand_strategy", None)

    @property
    def node(self) -> int:
        return self.nodes[-1]

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
        gain = settle_deal(self.state, self.cards)
        return gain if self.seat == 0 else -gain

    def deal(self) -> list[int]:
        return list(self.cards)

    def moves(self) -> list[str]:
        return list(self.state.history.replace("/", ""))

    def holding(self, seat: int) -> tuple[int, int]:
        return self.cards[2 * seat], self.cards[2 * seat + 1]

    def bot_view(self, node: int) -> View:
        """What the player who acts at a node sees, as bots get it."""
        state = self._tree.states[node]
        board = self.cards[4 : 4 + state.on_board]
        return View(state.player(), self.holding(state.player()), board, state, node)

    def act(self, choice: int) -> None:
        legal = self._tree.actions[self.node]
        if self.over or not self.waiting or not 0 <= choice < len(legal):
            raise IllegalMove("that move cannot be made now")
        self._go(legal[choice])

    def advance(self) -> None:
        while not self.over and not self.waiting:
            tell_bot(self._source.bot, "seed", _random.randrange(2**60))
            moves = self._tree.moves[self.node]
            self._go(ask_bot(self._source.bot, self.bot_view(self.node), moves))

    def replay(self, moves: list[Any]) -> None:
        for letter in moves:
            if letter not in LETTER or LETTER[letter] not in self._tree.moves[self.node]:
                raise IllegalMove("the rules do not allow this move")
            if not self._source.known and not self.waiting:
                self._source.bot.act(self.bot_view(self.node))  # only to restore its memory
            self._go(LETTER[letter])

    def _go(self, action: str) -> None:
        self.nodes.append(self._tree.moves[self.node][action])
        if self.over:
            other, won = 1 - self.seat, -self.won
            shown = self.holding(self.seat) if self.showdown else None
            board = self.cards[4 : 4 + self.state.on_board]
            ending = Ending(other, self.holding(other), board, self.state, won, shown)
            tell_bot(self._source.bot, "end_hand", ending)

    def choices(self) -> list[Choice]:
        if self.over:
            return []
        return [
            Choice(button_text(self.state, name), name[0]) for name in self._tree.actions[self.node]
        ]

    def view(self) -> dict[str, Any]:
        state, start = self.state, self._start_of_street()
        other = [card_text(card) for card in self.holding(1 - self.seat)]
        last = (0.0, 0.0) if state.over else tuple(state.paid[k] - start[k] for k in (0, 1))
        return {
            "kind": "holdem",
            "own": [card_text(card) for card in self.holding(self.seat)],
            "other": other if self.showdown else None,
            "board": [card_text(card) for card in self.cards[4 : 4 + state.on_board]],
            "street": STREETS[state.round],
            "hands": [self._hand_name(k) for k in (self.seat, 1 - self.seat)],
            "pot": sum(state.paid) - sum(last),
            "bets": [last[k] for k in (self.seat, 1 - self.seat)],
            "button": who(0, self.seat),
            "folded": None if state.folded == NO_FOLD else who(state.folded, self.seat),
            "betting": state.history,
            "log": self._log(),
        }

    def scenes(self) -> list[dict[str, Any]]:
        found = []
        for k in range(len(self.nodes)):
            shadow = copy(self)
            shadow.nodes = self.nodes[: k + 1]
            found.append(shadow.view())
        return found

    def _hand_name(self, seat: int) -> str | None:
        """The hand of a player in words at a showdown."""
        return hand_name((*self.holding(seat), *self.cards[4:])) if self.showdown else None

    def _start_of_street(self) -> tuple[float, float]:
        """What each player had paid before this street."""
        if self.state.round == 0:
            return 0.0, 0.0
        states = (self._tree.states[node] for node in self.nodes)
        return next(one.paid for one in states if one.round == self.state.round)

    def _log(self) -> list[dict[str, str]]:
        log = []
        for node, letter in zip(self.nodes, self.moves(), strict=False):
            state = self._tree.states[node]
            text = action_text(state, LETTER[letter])
            street, player = STREETS[state.round], who(state.player(), self.seat)
            log.append({"who": player, "street": street, "text": text})
        return log

    def adjusted(self) -> float | None:
        return self._source.luck.adjusted(self)

    def review(self) -> dict[str, Any]:
        """Every decision, the person's with its cost where that was computed."""
        bot, steps = self._opponent(), list[dict[str, Any]]()
        for node, letter in zip(self.nodes, self.moves(), strict=False):
            state, names = self._tree.states[node], self._tree.actions[node]
            labels = [button_text(state, name) for name in names]
            text, chosen = action_text(state, LETTER[letter]), names.index(LETTER[letter])
            player, numbers, within = who(state.player(), self.seat), None, None
            if state.player() == self.seat:
                numbers, within = self._weighed(bot, node, chosen)
            elif isinstance(bot, TableBot):
                numbers = list(bot.shares(self.bot_view(node)).values())
            board = [card_text(card) for card in self.cards[4 : 4 + state.on_board]]
            where = {"street": STREETS[state.round], "board": board}
            steps.append(review_step(player, text, labels, chosen, numbers, within) | where)
        held = [card_text(card) for card in self.holding(1 - self.seat)]
        return {
            "held": " ".join(held),
            "cards": held,
            **summed_up(steps),
            "note": note(
                bot,
                self._source.weighed_by is not None,
                self.state.round,
                self._strategy is not None,
            ),
            "learn": None if self._strategy is not None else self._source.learnable,
            "unit": "sb",
        }

    def _opponent(self) -> Any:
        """The bot, or the strategy that one who learns has played in this hand."""
        if self._strategy is None:
            return self._source.bot
        return strategy_bot(self._strategy, bot_name(self._source.bot))

    def _weighed(self, bot: Any, node: int, chosen: int) -> tuple[list[float] | None, float | None]:
        """What each action at a decision of the person is worth against `bot`, where that is known,
        and half the 95% interval of what the chosen one costs, where that is estimated."""
        own, path = self.holding(self.seat), self.nodes[: self.nodes.index(node) + 1]
        if not self._tree.states[node].round:
            found = equilibrium_values(tuple(path), starting_hand(own))
            if found is None:
                return None, None
            values = found.value.tolist()
            return values, found.within(best_other(values, chosen), chosen)
        model = bot if isinstance(bot, TableBot) else self._source.weighed_by
        if model is None:
            return None, None
        return action_values(model, self.seat, own, path, self.cards[4:], chosen)


def button_text(state: Betting, action: str) -> str:
    """An action as the label of a button."""
    mine, most = state.paid[state.player()], max(state.paid)
    if action == FOLD:
        return "Fold"
    if action == CALL:
        return f"Call {most - mine:g}" if most > mine else "Check"
    to = most + state.rules.bets[state.round]
    if not state.bets:
        return f"Bet {to - most:g}"
    before = most - state.bets * state.rules.bets[state.round] if state.round else 0.0
    return f"Raise to {to - before:g}"


def action_text(state: Betting, action: str) -> str:
    """An action in the third person, such as `raises to 4`."""
    verb, _, rest = button_text(state, action).partition(" ")
    return f"{verb.lower()}s {rest}".strip()


def hand_name(cards: Sequence[int]) -> str:
    """The best hand of these cards as players say it, such as `two pair, kings and sevens`."""
    code = strength(list(cards))
    ranks = [*_ranks(code >> MAIN_SHIFT & RANK_MASK), *_ranks(code & RANK_MASK)]
    name = HAND_NAMES[code >> CATEGORY_SHIFT].format(*ranks)
    return name.replace("sixs", "sixes")


def _ranks(mask: int) -> list[str]:
    """Names of the ranks in a mask, the highest first."""
    return [name for k, name in reversed(list(enumerate(RANKS))) if mask >> k & 1]
