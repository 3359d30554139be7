"""A bot behind the protocol: lines of the dealer in, responses out. No sockets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.poker.acpc.protocol import (
    STATE,
    MatchState,
    check_cards,
    parse_state,
    states_until,
)
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.betting.betting import CALL, LETTER, LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.bot import Ending, View, nodes_by_history
from counterplay.poker.histories.records import parse_cards, settle_deal
from counterplay.poker.match.deals import deal_seeds, session_deals
from counterplay.poker.match.match import check_betting, only_seat
from counterplay.poker.match.referee import ask_bot, play_session, tell_bot
from counterplay.poker.players import bot

SEEDS_AT_ONCE = 1_000
NO_CARDS = "no cards"
_LETTERS = {action: letter for letter, action in LETTER.items()}


class _Caller:
    def act(self, view: View) -> str:
        return CALL


class AcpcPlayer:
    """Responds to the states of a dealer; `player` is any argument of `cp.bot`.

    The bot draws its random numbers as in `play_match` with the same `seed`, by hand and seat. So
    two bots play over the protocol as they do there on the same cards.
    """

    def __init__(
        self, player: Any, seed: int = 0, progress: ProgressCallback = no_progress
    ) -> None:
        self.bot = bot(player, progress)
        self.seed = seed
        check_betting(LIMIT, (self.bot,))
        if only_seat(self.bot, None) is not None:
            raise BadStrategy(
                "the dealer alternates the seats, and this is a response for one; respond in both "
                "seats (--player both, in Python player=None)"
            )
        self.hands = 0  # finished
        self.won = 0.0  # in small bets
        self.hand: int | None = None  # the current one
        self._prefix = ""  # of lines about the last hand
        self._seat = 0
        self._seen = NO_CARDS  # cards of the last state as text; parsed:
        self._own: tuple[int, int] = (0, 0)
        self._board: tuple[int, ...] = ()
        self._started = False
        self._last: tuple[str, str] | None = None  # line and response
        self._taken = ""  # betting of the current hand up to our last action
        # first hand and its seeds; refuses an invalid seed
        self._seeds: tuple[int, list[list[int]]] = (0, deal_seeds(seed, 0, SEEDS_AT_ONCE).tolist())
        self._tree, self._nodes = betting_tree(LIMIT), nodes_by_history()
        self._actors: list[int] = self._tree.nodes.player.tolist()

    def warm_up(self) -> None:
        """Plays a few hands to compile the kernels before a dealer's clock runs; only with bots of
        this package, which `start` resets."""
        if self._started or not type(self.bot).__module__.startswith("counterplay."):
            return
        play_session((self.bot, _Caller()), session_deals(self.seed, 0, 4), False)
        if isinstance(self.bot, Adaptive):
            self.bot.warm_up()

    def respond(self, line: str) -> str | None:
        """The response to a line of the dealer, without its end; None for a comment, the opponent's
        turn, and the end of a hand."""
        line = line.rstrip("\r\n")
        if not line.startswith(STATE):
            return None
        if self._last is not None and line == self._last[0]:
            return self._last[1]
        if self._prefix and line.startswith(self._prefix):  # the usual case
            betting, _, cards = line[len(self._prefix) :].partition(":")
            if not betting.startswith(self._taken):
                raise BadParameter(
                    f"the dealer goes on with {betting[:60]!r} after our {self._taken!r} in hand "
                    f"{self.hand}: it deals another game than limit hold'em with reverse blinds"
                )
            node = self._nodes.get(betting)
            actor = -1 if node is None else self._actors[node]
            if actor == 1 - self._seat:
                return None
            if node is not None and actor == self._seat and self._sees(node, cards):
                return self._response(line, node)
        state = parse_state(line)
        prefix = f"{STATE}:{state.position}:{state.hand}:"
        if prefix != self._prefix:
            self._begin(state, prefix)
            if state.betting.history:  # a match that was resumed within a hand
                history, cards = state.betting.history, line.rpartition(":")[2]
                self.replay(states_until(state.position, state.hand, history, cards)[:-1])
        if state.betting.over:
            if self.hand is not None:
                self._end(state)
            return None
        own = state.cards[state.position]
        assert own is not None
        self._own, self._board, self._seen = own, state.board, line.rpartition(":")[2]
        if state.betting.player() != state.seat:
            return None
        return self._response(line, state.node)

    def replay(self, states: Iterable[str]) -> None:
        """Reads states of the past, in which the bot's answers are not used."""
        for state in states:
            self.respond(state)
            self._last, self._taken = None, ""

    def _sees(self, node: int, cards: str) -> bool:
        """Whether `cards` are those seen last, possibly with new ones on the board, which are then
        stored."""
        if cards == self._seen:
            return True
        new = cards.removeprefix(self._seen)
        if new is cards or new[0] != "/":
            return False
        board = (*self._board, *parse_cards(new.replace("/", "")))
        if len(board) != self._tree.states[node].on_board:
            return False
        check_cards([*self._own, *board])
        self._board, self._seen = board, cards
        return True

    def _response(self, line: str, node: int) -> str:
        """The response to a line with the cards seen last."""
        state = self._tree.states[node]
        view = View(self._seat, self._own, self._board, state, node)
        action = ask_bot(self.bot, view, self._tree.moves[node])
        self._last = line, f"{line}:{_LETTERS[action]}"
        self._taken = f"{state.history}{_LETTERS[action]}"
        return self._last[1]

    def _begin(self, state: MatchState, prefix: str) -> None:
        seeds = self._seeds_of(state.hand)
        if not self._started:
            tell_bot(self.bot, "start", seeds[state.seat])
            self._started = True
        tell_bot(self.bot, "seed", seeds[2 + state.seat])
        tell_bot(self.bot, "new_hand", state.seat)
        self._prefix, self._seat, self.hand = prefix, state.seat, state.hand
        self._seen, self._taken = NO_CARDS, ""

    def _end(self, state: MatchState) -> None:
        blind, dealer = state.cards
        betting = state.betting
        own = state.cards[state.position]
        assert own is not None
        shown = state.cards[1 - state.position] if betting.folded == NO_FOLD else None
        cards = [*(dealer or ()), *(blind or ()), *state.board]
        won = settle_deal(betting, cards)
        won = won if state.seat == 0 else -won
        self.hands, self.won, self.hand = self.hands + 1, self.won + won, None
        tell_bot(self.bot, "end_hand", Ending(state.seat, own, state.board, betting, won, shown))

    def _seeds_of(self, hand: int) -> list[int]:
        """Four seeds: of the session in each seat, and of this hand in each seat."""
        first, seeds = self._seeds
        if not first <= hand < first + len(seeds):
            first = hand - hand % SEEDS_AT_ONCE
            numbers: np.ndarray = deal_seeds(self.seed, first, SEEDS_AT_ONCE)
            first, seeds = self._seeds = first, numbers.tolist()
        return seeds[hand - first]
