"""`Evaluator`: who measures strategies of a game. A file that sets `EVALUATOR` offers one, and
rules name theirs in the attribute `evaluator`; those that name none have `exact`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from counterplay.core.forms.game import Game
    from counterplay.core.forms.strategy import Mixture, Strategy


class Payoff(NamedTuple):
    """Asks what `player` gets from `against` with `by`, or at best (None)."""

    player: int
    against: Strategy
    by: Strategy | None = None


class Evaluator(ABC):
    """Values, best responses and exploitability in one game. `options` are the evaluator's own."""

    name: ClassVar[str]
    #: What to say where it takes long and nobody gave options; empty where it does not.
    how: ClassVar[str] = ""

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def immediate(self) -> bool:
        """Whether it is quick enough to be done without being asked for."""
        return False

    @property
    def on_request(self) -> bool:
        """Whether it takes long, so that somebody has to ask for it, with options."""
        return bool(self.how)

    @abstractmethod
    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        """Whether so many payoffs are worked out on request with these options; `BadParameter`
        where they make no sense, before any work."""

    @abstractmethod
    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        """What each player gets."""

    @abstractmethod
    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, Strategy | None]:
        """What `player` gets at best, and the profile in which he does, where it can be listed."""

    @abstractmethod
    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        """What all players together can gain by deviating."""

    @abstractmethod
    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        """The answer to each question, in one pass where that saves work."""
