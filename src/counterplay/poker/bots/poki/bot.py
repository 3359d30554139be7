"""`Poki`: the formula-based player of Davidson and Billings (2002), heads-up. A re-creation from
published descriptions.

Before the flop an expert system, afterwards a formula over hand strength and potential
(`strategy.py`, `strength.py`) against a weight table of the opponent's holdings (`opponent.py`).
Its constants are in `strategy.py`.

Deviations: heads-up only; no simulations; nothing is learnt from cards shown at a showdown.
`opponent.py` states how calls at the cap and the bets faced are counted, and how weights are
smoothed and scaled.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from counterplay.core.kernels.rng import new_state, uniform
from counterplay.poker.betting.betting import (
    ACTIONS,
    CALL,
    FOLD,
    LETTER,
    LIMIT,
    RAISE,
    Betting,
    betting_tree,
)
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.poki.opponent import (
    ActionFrequencies,
    StrengthTables,
    bets_faced,
    fill_opponent_strengths,
    new_opponent_strengths,
    reweight,
)
from counterplay.poker.bots.poki.potential import potentials
from counterplay.poker.bots.poki.strategy import (
    BettingContext,
    PokiSettings,
    Triple,
    allows_semi_bluff,
    choose_strategy,
    income_rates,
    preflop_action,
    preflop_equity,
    triple,
)
from counterplay.poker.bots.poki.strength import (
    HandStrength,
    fill_hand_potential,
    fill_lookahead,
    hand_strength,
    new_lookahead,
)
from counterplay.poker.cards.canonical import SIZES, boards, fill_hash
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, holding
from counterplay.poker.cards.strength import strengths

NO_ROUND = -1
STREAM = 0x506F6B69  # of random numbers, distinct from that of a dealer with the same seed


@cache
def _tables() -> StrengthTables:
    key, row = fill_hash(np.concatenate([boards(size).masks for size in SIZES]))
    early = potentials()
    return StrengthTables(key, row, preflop_equity(), early.hs, early.ppot, strengths().river)


class Poki(Bot):
    """Plays one session against one opponent; `start` resets the model of the opponent."""

    name = "poki"
    betting = LIMIT

    def __init__(self, settings: PokiSettings | None = None) -> None:
        self.settings = settings or PokiSettings()
        self._lookahead = new_lookahead()
        self._strengths = new_opponent_strengths()
        self.weights = np.ones(N_HOLDINGS)  # float64[1326]: the weight table
        self._own = np.zeros(2, dtype=np.int64)
        self.start(0)

    def start(self, seed: int) -> None:
        self.seed(seed)
        self.frequencies = ActionFrequencies(self.settings)
        self.new_hand(0)

    def seed(self, seed: int) -> None:
        self._rng = new_state(seed, STREAM)

    def new_hand(self, seat: int) -> None:
        self._seat = seat
        self._random = float(uniform(self._rng))  # one random number for all decisions of a hand
        self._preflop_strategy = ""
        self._node, self._letters_read = 0, 0  # position in the history
        self._strengths_round = self._lookahead_round = NO_ROUND  # rounds the workspaces are for
        self._semi_bluffing = False
        self.weights[:] = 1.0

    def act(self, view: View) -> str:
        if not self._preflop_strategy:
            self._own[:] = view.cards
            rate = float(income_rates()[holding(view.cards)])
            self._preflop_strategy = choose_strategy(rate, self._seat, self.settings)
        betting = view.betting
        self._read_history(betting.history, view.board, reweigh=True)
        to_call = betting.paid[1 - self._seat] - betting.paid[self._seat]
        if betting.round == 0:
            faced, paid_freely = bets_faced(to_call, 1), betting.acted > 1
            action = preflop_action(self._preflop_strategy, betting.bets, faced, paid_freely)
        else:
            action = self._postflop_action(view, to_call)
        return action if action in betting.actions() else CALL

    def end_hand(self, ending: Ending) -> None:
        self._read_history(ending.betting.history, ending.board, reweigh=False)

    def strength(self, round: int, board: tuple[int, ...]) -> HandStrength:
        """HS, PPot1 and NPot1 of the own cards against the weight table."""
        if self._lookahead_round != round:
            fill_lookahead(_padded(board, round), self._own, HOLDING_CARDS, self._lookahead)
            self._lookahead_round = round
        fill_hand_potential(self.weights, self._lookahead)
        return hand_strength(self._lookahead.hand_potential)

    def _postflop_action(self, view: View, to_call: float) -> str:
        betting = view.betting
        faced = bets_faced(to_call, betting.bets)
        if faced > 0 or betting.round == 1:  # rule 1
            self._semi_bluffing = False
        context = BettingContext(
            betting.round,
            faced,
            betting.rules.bets[betting.round],
            to_call,
            sum(betting.paid),
            self._semi_bluffing,
            betting.acted > 0,
        )
        strength = self.strength(betting.round, view.board)
        action = self._draw(triple(context, strength, self.settings))
        self._semi_bluffing = action == RAISE and allows_semi_bluff(
            context, strength, self.settings
        )
        return action

    def _draw(self, probabilities: Triple) -> str:
        """The action at this hand's random number, in the order fold, call, raise."""
        fold, call, _ = probabilities
        if self._random < fold:
            return FOLD
        return CALL if self._random < fold + call else RAISE

    def _read_history(self, history: str, board: tuple[int, ...], reweigh: bool) -> None:
        """Continues reading the history; the opponent's actions update the frequencies, and the
        weights if `reweigh`."""
        tree = betting_tree(LIMIT)
        for letter in history[self._letters_read :]:
            self._letters_read += 1
            if letter == "/":
                continue
            state, action = tree.states[self._node], LETTER[letter]
            if state.player() != self._seat:
                self._observe(state, ACTIONS.index(action), board, reweigh)
            self._node = tree.moves[self._node][action]

    def _observe(self, state: Betting, action: int, board: tuple[int, ...], reweigh: bool) -> None:
        """One action of the opponent: first the weights, by earlier frequencies, then these."""
        to_call = state.paid[self._seat] - state.paid[1 - self._seat]
        faced = bets_faced(to_call, state.bets)
        if reweigh:
            odds = to_call / (sum(state.paid) + to_call) if faced > 0 else 2.0
            self._reweight(state, faced, odds, action, board)
        if not state.capped:
            self.frequencies.add(state.round, faced, action)

    def _reweight(
        self, state: Betting, faced: int, odds: float, action: int, board: tuple[int, ...]
    ) -> None:
        settings, out = self.settings, self._strengths
        if self._strengths_round != state.round:
            cards = _padded(board, state.round)
            fill_opponent_strengths(_tables(), cards, state.on_board, self._own, HOLDING_CARDS, out)
            self._strengths_round = state.round
        fold, _, rise = self.frequencies.triple(state.round, faced)
        sigma = (settings.least_sigma, settings.sigma)
        if state.round == 0:
            sigma = (settings.preflop_sigma / 2000.0, 0.0)
        noise, floor = settings.noise, settings.floor
        reweight(self.weights, out, fold, rise, *sigma, odds, action, state.capped, noise, floor)


def _padded(board: tuple[int, ...], round: int) -> np.ndarray:
    """int64[5]: the board of a round, -1 for cards to come."""
    size = LIMIT.board[round]
    return np.array([*board[:size], *[-1] * (5 - size)], dtype=np.int64)
