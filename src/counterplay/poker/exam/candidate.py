"""The player that is examined: every action is timed, and an illegal one is counted and played as a
call, as a dealer of the competition does."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.registry import call_user_code
from counterplay.poker.betting.betting import CALL
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.match.referee import bot_name, tell_bot


class Candidate:
    """A bot as the referee sees it."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.name = bot, bot_name(bot)
        self.seconds: list[float] = []
        self._illegal = 0

    @property
    def illegal(self) -> int:
        """Illegal actions so far, also those that a dealer would have changed."""
        return self._illegal + int(getattr(self.bot, "illegal", 0))

    def start(self, seed: int) -> None:
        tell_bot(self.bot, "start", seed)

    def seed(self, seed: int) -> None:
        tell_bot(self.bot, "seed", seed)

    def new_hand(self, seat: int) -> None:
        tell_bot(self.bot, "new_hand", seat)

    def end_hand(self, ending: Ending) -> None:
        tell_bot(self.bot, "end_hand", ending)

    def act(self, view: View) -> str:
        before = time.perf_counter()
        action = call_user_code(self.bot.act, self.name, view)
        self.seconds.append(time.perf_counter() - before)
        if not isinstance(action, str) or action not in view.betting.actions():
            self._illegal += 1
            return CALL
        return action

    def close(self) -> None:
        """Ends the program of a bot that is one."""
        close = getattr(self.bot, "close", None)
        if callable(close):
            close()


def two_of(bot: Any) -> tuple[Candidate, Candidate]:
    """Two candidates with a memory each: one plays a deal, the other plays it with the seats
    swapped."""
    try:
        return Candidate(bot), Candidate(copy.deepcopy(bot))
    except Exception as error:
        raise CounterplayError(
            f"{bot_name(bot)} cannot be copied ({error}); name it as file.py:Name, or give a class "
            f"that can be"
        ) from None


def milliseconds(seconds: list[float]) -> tuple[float, float, float]:
    """The mean, the 99th percentile and the most of times, in milliseconds."""
    times = 1000.0 * np.array(seconds or [0.0])
    return float(times.mean()), float(np.quantile(times, 0.99)), float(times.max())
