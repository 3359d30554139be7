"""`Poki`: the formula-based player of Davidson and Billings (2002), heads-up. A re-creation from
published descriptions.

Before the flop an expert system (`preflop.py`), afterwards hand strength and potential
(`strength.py`) against a weighted opponent (`weights.py`, `frequencies.py`) and a table of rules
(`triples.py`). Its constants are in `settings.py`.

Deviations: heads-up only; no simulations; nothing is learnt from cards shown at a showdown. What a
raise or a call means at the cap and which bets count as faced is said in `frequencies.py`;
smoothing and scaling of weights in `weights.py`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from counterplay.core.kernels.rng import new_state, uniform
from counterplay.poker.betting.betting import (
    CALL,
    FOLD,
    LETTER,
    LIMIT,
    RAISE,
    Betting,
    betting_tree,
)
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.poki.frequencies import Frequencies, bets_faced
from counterplay.poker.bots.poki.preflop import (
    choose_strategy,
    income_rates,
    preflop_action,
    preflop_equity,
)
from counterplay.poker.bots.poki.settings import PokiSettings, Triple
from counterplay.poker.bots.poki.store import potentials
from counterplay.poker.bots.poki.strength import (
    Strength,
    look_ahead,
    new_look,
    read_strength,
    weigh,
)
from counterplay.poker.bots.poki.triples import Spot, allows_semi_bluff, triple
from counterplay.poker.bots.poki.weights import Rates, new_rating, rate, reweight
from counterplay.poker.cards.canonical import SIZES, boards, fill_hash
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, holding
from counterplay.poker.cards.tables import strengths

LETTERS = {"f": 0, "c": 1, "r": 2}
NOTHING = -1
STREAM = 0x506F6B69  # of random numbers, apart from those of whoever deals with the same seed


@cache
def _rates() -> Rates:
    key, row = fill_hash(np.concatenate([boards(size).masks for size in SIZES]))
    early = potentials()
    return Rates(key, row, preflop_equity(), early.hs, early.ppot, strengths().river)


class Poki(Bot):
    """Plays one session against one opponent; `start` forgets him."""

    name = "poki"
    betting = LIMIT

    def __init__(self, settings: PokiSettings | None = None) -> None:
        self.settings = settings or PokiSettings()
        self._look = new_look()
        self._rating = new_rating()
        self.weights = np.ones(N_HOLDINGS)  # float64[1326]: of the opponent's holdings
        self._own = np.zeros(2, dtype=np.int64)
        self.start(0)

    def start(self, seed: int) -> None:
        self.seed(seed)
        self.frequencies = Frequencies(self.settings)
        self.new_hand(0)

    def seed(self, seed: int) -> None:
        self._rng = new_state(seed, STREAM)

    def new_hand(self, seat: int) -> None:
        self._seat = seat
        self._mood = float(uniform(self._rng))  # one random number for all decisions of a hand
        self._strategy = ""
        self._node, self._read = 0, 0  # how far the history was read
        self._rated, self._looked = (
            NOTHING,
            NOTHING,
        )  # the rounds that `_rating` and `_look` are about
        self._flag = False  # a semi-bluff was started
        self.weights[:] = 1.0

    def act(self, view: View) -> str:
        if not self._strategy:
            self._own[:] = view.cards
            self._strategy = choose_strategy(
                float(income_rates()[holding(view.cards)]), self._seat, self.settings
            )
        betting = view.betting
        self._follow(betting.history, view.board, True)
        legal = betting.actions()
        to_call = betting.paid[1 - self._seat] - betting.paid[self._seat]
        if betting.round == 0:
            wanted = preflop_action(
                self._strategy, betting.bets, bets_faced(to_call, 1), paid_freely=betting.acted > 1
            )
        else:
            wanted = self._after_the_flop(view, to_call)
        return wanted if wanted in legal else CALL

    def end_hand(self, ending: Ending) -> None:
        self._follow(ending.betting.history, ending.board, False)

    def strength(self, round: int, board: tuple[int, ...]) -> Strength:
        """HS, PPot1 and NPot1 of the own cards against the weights."""
        if self._looked != round:
            look_ahead(_padded(board, round), self._own, HOLDING_CARDS, self._look)
            self._looked = round
        weigh(self.weights, self._look)
        return read_strength(self._look.table)

    def _after_the_flop(self, view: View, to_call: float) -> str:
        betting = view.betting
        faced = bets_faced(to_call, betting.bets)
        if faced > 0 or betting.round == 1:  # rule 1
            self._flag = False
        spot = Spot(
            betting.round,
            faced,
            betting.rules.bets[betting.round],
            to_call,
            sum(betting.paid),
            self._flag,
            betting.acted > 0,
        )
        strength = self.strength(betting.round, view.board)
        action = self._draw(triple(spot, strength, self.settings))
        self._flag = action == RAISE and allows_semi_bluff(spot, strength, self.settings)
        return action

    def _draw(self, chances: Triple) -> str:
        """The action at this hand's random number, in the order fold, call, raise."""
        if self._mood < chances[0]:
            return FOLD
        return CALL if self._mood < chances[0] + chances[1] else RAISE

    def _follow(self, history: str, board: tuple[int, ...], weigh_too: bool) -> None:
        """Read the history on from where it was left; the opponent's actions change frequencies
        and weights."""
        tree = betting_tree(LIMIT)
        for letter in history[self._read :]:
            self._read += 1
            if letter == "/":
                continue
            state = tree.states[self._node]
            if state.player() != self._seat:
                self._see(state, LETTERS[letter], board, weigh_too)
            self._node = tree.moves[self._node][LETTER[letter]]

    def _see(self, state: Betting, action: int, board: tuple[int, ...], weigh_too: bool) -> None:
        """One action of the opponent: weights by the frequencies known before it, then the
        frequencies."""
        settings, capped = self.settings, state.capped
        to_call = state.paid[self._seat] - state.paid[1 - self._seat]
        faced = bets_faced(to_call, state.bets)
        if weigh_too:
            if self._rated != state.round:
                rate(
                    _rates(),
                    _padded(board, state.round),
                    state.on_board,
                    self._own,
                    HOLDING_CARDS,
                    self._rating,
                )
                self._rated = state.round
            fold, _, rise = self.frequencies.of(state.round, faced)
            odds = to_call / (sum(state.paid) + to_call) if faced > 0 else 2.0
            least, slope = (
                (settings.least_sigma, settings.sigma)
                if state.round > 0
                else (settings.preflop_sigma / 2000.0, 0.0)
            )
            reweight(
                self.weights,
                self._rating,
                fold,
                rise,
                least,
                slope,
                odds,
                action,
                capped,
                settings.noise,
                settings.floor,
            )
        if not capped:
            self.frequencies.see(state.round, faced, action)


def _padded(board: tuple[int, ...], round: int) -> np.ndarray:
    """int64[5]: the board of a round, -1 for cards to come."""
    size = LIMIT.board[round]
    return np.array([*board[:size], *[-1] * (5 - size)], dtype=np.int64)
