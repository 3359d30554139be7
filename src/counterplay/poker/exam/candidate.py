"""The player that is examined: every action is timed, and an illegal one is counted and played as a
call, as a dealer of the competition does.

A bot with the method `shares`, which returns the probability of each action, is asked for them, and
the exam draws its actions: so they are its probabilities for certain, and the luck of the draw can
be taken out of what it wins.
"""

from __future__ import annotations

import copy
import random
import time
from typing import Any

import numpy as np

from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.registry import call_user_code
from counterplay.poker.betting.betting import ACTIONS, CALL
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.match.referee import bot_name, tell_bot
from counterplay.poker.vector.policy import TOLERANCE


class Candidate:
    """A bot as the referee sees it. `told`: its probabilities of fold, call and raise at each
    decision of each hand since the list was emptied, if it `tells` them."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.name, self.tells = bot, bot_name(bot), tells_shares(bot)
        self.seconds: list[float] = []
        self.told: list[list[np.ndarray]] = []
        self._illegal, self._random = 0, random.Random(0)

    @property
    def illegal(self) -> int:
        """Illegal actions so far, also those that a dealer would have changed."""
        return self._illegal + int(getattr(self.bot, "illegal", 0))

    def start(self, seed: int) -> None:
        self._tell("start", seed)

    def seed(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._tell("seed", seed)

    def new_hand(self, seat: int) -> None:
        self.told.append([])
        self._tell("new_hand", seat)

    def end_hand(self, ending: Ending) -> None:
        self._tell("end_hand", ending)

    def _tell(self, what: str, argument: Any) -> None:
        call_user_code(tell_bot, self.name, self.bot, what, argument)

    def act(self, view: View) -> str:
        before, legal = time.perf_counter(), view.betting.actions()
        answer = call_user_code(self.bot.shares if self.tells else self.bot.act, self.name, view)
        self.seconds.append(time.perf_counter() - before)
        shares = _shares(answer, legal) if self.tells else None
        if shares is None and (self.tells or not isinstance(answer, str) or answer not in legal):
            self._illegal += 1
            answer, shares = CALL, np.array([float(action == CALL) for action in ACTIONS])
        elif shares is not None:
            answer = self._random.choices(ACTIONS, shares.tolist())[0]
        if self.tells:
            assert shares is not None
            self.told[-1].append(shares)
        return str(answer)

    def close(self) -> None:
        """Ends the program of a bot that is one."""
        close = getattr(self.bot, "close", None)
        if callable(close):
            close()


def tells_shares(bot: Any) -> bool:
    """Whether a bot says its probabilities: it has `shares`, and `act` was not changed later, by a
    class that inherits `shares`."""

    def maker(name: str) -> int:
        return next((k for k, one in enumerate(type(bot).__mro__) if name in vars(one)), 99)

    changed = "act" in getattr(bot, "__dict__", ())
    return (
        callable(getattr(type(bot), "shares", None))
        and not changed
        and (maker("shares") <= maker("act"))
    )


def _shares(answer: Any, legal: list[str]) -> np.ndarray | None:
    """The probabilities of fold, call and raise; None where they are none of the legal actions."""
    try:
        shares = np.array([float(answer.get(action, 0.0)) for action in ACTIONS])
        known = set(answer) <= set(ACTIONS)
    except (AttributeError, TypeError, ValueError):
        return None
    possible = np.array([action in legal for action in ACTIONS])
    total = shares.sum()
    if not known or not (shares >= 0.0).all() or not abs(total - 1.0) <= TOLERANCE:
        return None
    return None if shares[~possible].any() else shares / total


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
