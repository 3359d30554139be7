"""A bot that plays a `VectorPolicy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Bot, View
from counterplay.poker.cards.cards import holding
from counterplay.poker.vector.policy import VectorPolicy


class PolicyBot(Bot):
    """Asks the policy at every decision, and draws."""

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
