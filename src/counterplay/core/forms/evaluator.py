"""`Evaluator`: the interface that measures strategies of a game. A file that sets `EVALUATOR`
offers one; rules name theirs in the attribute `evaluator`, by default `exact`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from counterplay.core.forms.game import Game
    from counterplay.core.forms.strategy import Mixture, Strategy


class Payoff(NamedTuple):
    """A query: the value to `player` against `against` of playing `by`, or of a best response
    (None)."""

    player: int
    against: Strategy
    by: Strategy | None = None


class Evaluator(ABC):
    """Values, best responses and exploitability in one game; each evaluator has its own
    `options`."""

    name: ClassVar[str]
    #: For an evaluator that takes long: how to ask for it with options. Empty for a quick one.
    how: ClassVar[str] = ""

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def immediate(self) -> bool:
        """Whether it is quick enough to run without being asked for."""
        return False

    @property
    def on_request(self) -> bool:
        """Whether it takes long and runs only when asked for, with options."""
        return bool(self.how)

    @abstractmethod
    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        """Whether `options` ask for `payoffs` queries on request; `BadParameter` if they are
        invalid. Does no other work."""

    @abstractmethod
    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        """The value to each player."""

    @abstractmethod
    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, Strategy | None]:
        """The value of a best response of `player`, and the profile with it if it can be listed."""

    @abstractmethod
    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        """The sum of what the players can gain by deviating."""

    @abstractmethod
    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        """The value of each query, in one pass where that saves work."""
