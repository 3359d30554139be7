"""The restricted games of Section 4 drawn out: Figure 5's coin at the root, and footnote 9's coin
before each information set.

Both wrap the states of a game. Where the model plays, the restricted player's node is a chance node
with the model's probabilities. Coins are in no information set: the responder's sets are merged
over both subtrees, and the restricted player's hold only the nodes where it is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from counterplay.core.forms.rules import CHANCE

from .common import Key, Policy

MODEL, FREE = 0, 1  # what a coin says


@dataclass(frozen=True)
class RestrictedState:
    """`coin`: None until it has fallen. `confidence` None: one coin at the root for the whole
    game (RNR); else DBR."""

    inner: Any
    restricted: int
    model: Policy
    p: float
    confidence: Mapping[Key, float] | None = None
    coin: int | None = None

    @property
    def _coin_falls(self) -> bool:
        return self.coin is None and (
            self.confidence is None or self.inner.player() == self.restricted
        )

    @property
    def _forced(self) -> bool:
        return self.coin == MODEL and self.inner.player() == self.restricted

    @property
    def _key(self) -> Key:
        return self.restricted, str(self.inner.infoset())

    def player(self) -> int:
        return CHANCE if self._coin_falls or self._forced else self.inner.player()

    def actions(self) -> list[Any]:
        return [MODEL, FREE] if self._coin_falls else list(self.inner.actions())

    def chance(self) -> list[float]:
        if self._coin_falls:
            p = self.p if self.confidence is None else self.confidence[self._key]
            return [p, 1.0 - p]
        return list(self.model[self._key]) if self._forced else list(self.inner.chance())

    def child(self, action: Any) -> RestrictedState:
        if self._coin_falls:
            return replace(self, coin=action)
        kept = self.coin if self.confidence is None else None
        return replace(self, inner=self.inner.child(action), coin=kept)

    def infoset(self) -> Any:
        return self.inner.infoset()

    def payoffs(self) -> Any:
        return self.inner.payoffs()


@dataclass(frozen=True)
class RestrictedRules:
    """Rules that `cp.Game` takes."""

    first: RestrictedState
    n_players: int = 2

    def root(self) -> RestrictedState:
        return self.first


def rnr_rules(rules: Any, restricted: int, model: Policy, p: float) -> RestrictedRules:
    """G' of Figure 5."""
    return RestrictedRules(RestrictedState(rules.root(), restricted, model, p))


def dbr_rules(
    rules: Any, restricted: int, model: Policy, confidence: Mapping[Key, float]
) -> RestrictedRules:
    """Footnote 9: a coin before each information set of the restricted player. He forgets which
    of its actions were its own."""
    return RestrictedRules(RestrictedState(rules.root(), restricted, model, 0.0, confidence))
