"""The player that is examined: every action is timed, and an illegal one is counted and played as a
call, as a dealer of the competition does.

A bot with the method `shares`, which returns the probability of each action, is asked for them, and
the exam draws its actions: so they are its probabilities for certain, and the luck of the draw can
be taken out of what it wins. Of another player copies may be asked: they are dealt the hands that
it plays, with random numbers of their own, as long as they act as it does. What they and the player
do at a decision are draws from the same distribution, given what it did before in the hand, so that
the luck of its draw is what it is worth more than theirs on average: their shares take the place of
the probabilities, and the mean stays.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from counterplay.core.base.arrays import TOLERANCE
from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.registry import call_user_code
from counterplay.poker.betting.betting import ACTIONS, CALL
from counterplay.poker.bots.bot import Ending, View
from counterplay.poker.match.referee import bot_name, tell_bot


class Candidate:
    """A bot as the referee sees it, and `copies` of it. `told`: its probabilities of fold, call and
    raise at each decision of each hand since the list was emptied, if it `tells` them; else the
    shares of its copies and itself, if there are any."""

    def __init__(self, bot: Any, copies: Sequence[Any] = ()) -> None:
        self.bot, self.name, self.tells = bot, bot_name(bot), tells_shares(bot)
        self.seconds: list[float] = []
        self.told: list[list[np.ndarray]] = []
        self._copies, self._alike = copies, copies  # those that acted as the bot in this hand
        self._illegal, self._random = 0, random.Random(0)

    @property
    def known(self) -> bool:
        """Whether `told` is filled."""
        return self.tells or len(self._copies) > 0

    @property
    def illegal(self) -> int:
        """Illegal actions so far, also those that a dealer would have changed."""
        return self._illegal + int(getattr(self.bot, "illegal", 0))

    def start(self, seed: int) -> None:
        self._seed("start", seed)

    def seed(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seed("seed", seed)

    def _seed(self, what: str, seed: int) -> None:
        """Every copy has random numbers of its own."""
        seeds = random.Random(seed)
        for one in (self.bot, *self._copies):
            self._tell(one, what, seed)
            seed = seeds.getrandbits(62)

    def new_hand(self, seat: int) -> None:
        self.told.append([])
        self._alike = self._copies
        for one in (self.bot, *self._copies):
            self._tell(one, "new_hand", seat)

    def end_hand(self, ending: Ending) -> None:
        for one in (self.bot, *self._copies):
            self._tell(one, "end_hand", ending)

    def _tell(self, bot: Any, what: str, argument: Any) -> None:
        call_user_code(tell_bot, self.name, bot, what, argument)

    def act(self, view: View) -> str:
        before, legal = time.perf_counter(), view.betting.actions()
        answer = call_user_code(self.bot.shares if self.tells else self.bot.act, self.name, view)
        self.seconds.append(time.perf_counter() - before)
        if self.tells:
            shares = _shares(answer, legal)
            self._illegal += shares is None
            self.told[-1].append(_ALWAYS[CALL] if shares is None else shares)
            return self._random.choices(ACTIONS, self.told[-1][-1].tolist())[0]
        self._illegal += not _is_legal(answer, legal)
        action = _played(answer, legal)
        if self._copies:
            self.told[-1].append(self._shares_of_copies(view, action))
        return action

    def _shares_of_copies(self, view: View, action: str) -> np.ndarray:
        """The shares of the actions of the bot and of the copies that acted as it did so far."""
        answers = [
            _played(call_user_code(one.act, self.name, view), view.betting.actions())
            for one in self._alike
        ]
        self._alike = [
            one for one, answer in zip(self._alike, answers, strict=True) if answer == action
        ]
        shares: np.ndarray = np.mean([_ALWAYS[one] for one in (action, *answers)], axis=0)
        return shares

    def close(self) -> None:
        """Ends the program of a bot that is one."""
        for one in (self.bot, *self._copies):
            close = getattr(one, "close", None)
            if callable(close):
                close()


#: The probabilities of fold, call and raise of one who always does the same.
_ALWAYS = dict(zip(ACTIONS, np.eye(len(ACTIONS)), strict=True))


def _is_legal(answer: Any, legal: list[str]) -> bool:
    return isinstance(answer, str) and answer in legal


def _played(answer: Any, legal: list[str]) -> str:
    """The action that is played: an illegal one is a call."""
    return str(answer) if _is_legal(answer, legal) else CALL


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


def two_of(
    bot: Any, copies: int = 0, make: Callable[[], Any] | None = None
) -> tuple[Candidate, Candidate]:
    """Two candidates with a memory each: one plays a deal, the other plays it with the seats
    swapped. Each has so many copies. `make` makes another one of a bot that cannot be copied, such
    as a client with a lock."""

    def another() -> Any:
        try:
            return copy.deepcopy(bot)
        except Exception as error:
            made = bot if make is None else make()
            if made is bot:
                raise CounterplayError(
                    f"{bot_name(bot)} cannot be copied ({error}); give its class, or name that as "
                    f"file.py:Name"
                ) from None
            return made

    one, *others = (another() for _ in range(1 + 2 * copies))
    return Candidate(bot, others[:copies]), Candidate(one, others[copies:])


def milliseconds(seconds: list[float]) -> tuple[float, float, float]:
    """The mean, the 99th percentile and the most of times, in milliseconds."""
    times = 1000.0 * np.array(seconds or [0.0])
    return float(times.mean()), float(np.quantile(times, 0.99)), float(times.max())
