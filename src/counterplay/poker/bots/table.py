"""Bots that play a table, a row of probabilities for each public node and path of remembered
buckets; and `PolicyBot`, which plays a policy.

Saved strategies, the simple bots and Sparbot are tables. Two of them play each other inside
one kernel.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

import numpy as np

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.core.kernels.rng import check_seed, new_state, seed_state, uniform
from counterplay.poker.betting.betting import ACTIONS, LIMIT, BettingRules, row_of
from counterplay.poker.bots.bot import Bot, View
from counterplay.poker.cards.cards import holding
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_of, find_board, new_deal
from counterplay.poker.holdem.table import Table, rules_of, strategy_table

if TYPE_CHECKING:
    from counterplay.poker.vector.policy import VectorPolicy


@jit
def _find_row(table: Table, deal: Deal, street: int, node: int) -> int:
    """The row of the player whose cards come first in the deck."""
    code = 0
    for k in range(street + 1):
        board = find_board(table.cards, deal, k)
        code = code * table.carry[k] + bucket_of(table.cards, deal, board, 0, k, code)
    return int(row_of(table.first_row, index(node), code))


@jit
def _draw(policy: np.ndarray, row: int, rng: np.ndarray) -> int:
    """Draws an action from a row: 0 fold, 1 call, 2 raise."""
    u = uniform(rng)
    if u < policy[row, 0]:
        return 0
    u -= policy[row, 0]
    return 1 if u < policy[row, 1] or policy[row, 2] == 0.0 else 2


class TableBot(Bot):
    """A bot that plays a table. `player`: its only seat, as in `Strategy`; None for both."""

    player: int | None = None
    betting: BettingRules = LIMIT  # rules of the public nodes
    strategy: Strategy | None = None  # the strategy it was made from
    made_from: str  # the name or path it was made from, if any; set by the resolver

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self.table = table
        self._deal = new_deal()
        self._rng = new_state(0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the strategy without the tables; another process rebuilds them."""
        if self.strategy is not None:
            return strategy_bot, (self.strategy, self.name)
        return copyreg.__newobj__, (type(self),), vars(self)  # type: ignore[attr-defined]

    def start(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        seed_state(check_seed(seed), ZERO, self._rng)

    def act(self, view: View) -> str:
        return ACTIONS[_draw(self.table.policy, self._row(view), self._rng)]

    def shares(self, view: View) -> dict[str, float]:
        """The probability of each legal action."""
        row = self.table.policy[self._row(view)].tolist()
        shares = dict(zip(ACTIONS, row, strict=True))
        return {action: shares[action] for action in view.betting.actions()}

    def _row(self, view: View) -> int:
        deck = self._deal.deck
        deck[:2] = view.cards
        deck[FIRST_OF_BOARD : FIRST_OF_BOARD + len(view.board)] = view.board
        return _find_row(self.table, self._deal, view.betting.round, view.node)


def strategy_bot(strategy: Strategy, name: str = "") -> TableBot:
    """A bot that plays a strategy."""
    bot = TableBot(name or strategy.game.name, strategy_table(strategy))
    bot.player, bot.strategy = strategy.player, strategy
    bot.betting = rules_of(strategy).betting
    return bot


class MixtureBot(Bot):
    """A bot that draws one of two bots for every hand, the first with probability `weight`."""

    def __init__(self, name: str, bots: tuple[TableBot, TableBot], weight: float) -> None:
        self.name, self._bots, self._weight = name, bots, weight
        self.betting, self._playing = bots[0].betting, bots[0]
        self._rng = new_state(0)

    def start(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """The same numbers decide which bot plays and, from there on, its actions."""
        seed_state(check_seed(seed), ZERO, self._rng)

    def new_hand(self, seat: int) -> None:
        self._playing = self._bots[0 if uniform(self._rng) < self._weight else 1]
        self._playing.seed(int(self._rng[0] >> np.uint64(1)))

    def act(self, view: View) -> str:
        return self._playing.act(view)


def mixture_bot(mixture: Mixture, name: str = "") -> MixtureBot:
    """A bot that plays a mixture, drawn for every hand."""
    if (mixture.one.player, mixture.other.player) != (None, None):
        raise BadStrategy("a mixture of responses for one seat can be measured, but plays no match")
    one, other = strategy_bot(mixture.one), strategy_bot(mixture.other)
    return MixtureBot(name or f"a mixture in {mixture.game.name}", (one, other), mixture.weight)


class PolicyBot(Bot):
    """Asks a `VectorPolicy` at every decision, and draws."""

    made_from: str  # the file.py:Name it was made from, if any; set by the resolver

    def __init__(self, policy: VectorPolicy) -> None:
        self.name, self._policy = policy.name, policy
        self._rng = np.random.default_rng(0)

    def __deepcopy__(self, memo: Any) -> PolicyBot:
        """Another player of the same policy, which may be a network."""
        return PolicyBot(self._policy)

    def start(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def shares(self, view: View) -> dict[str, float]:
        """The probability of each legal action."""
        board = np.array([view.board], dtype=np.int64)
        row = self._policy.ask(board, [view.betting])[0, holding(view.cards)].tolist()
        shares = dict(zip(ACTIONS, row, strict=True))
        return {action: shares[action] for action in view.betting.actions()}

    def act(self, view: View) -> str:
        shares = self.shares(view)
        return str(self._rng.choice(list(shares), p=list(shares.values())))
