"""Every error a user can cause. The command line prints the message and exits with code 2."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

LONGEST_REASON = 200  # characters


class CounterplayError(ValueError):
    """Base of all errors with a message meant for the user."""


class UnknownName(CounterplayError):
    """A game, algorithm or experiment that does not exist."""


class BadParameter(CounterplayError):
    """A value outside its range, or a combination that makes no sense."""


class BadStrategy(CounterplayError):
    """Probabilities that are not probabilities, or a strategy of another game."""


class BadFile(CounterplayError):
    """A damaged, foreign or newer file. The message names the file and what is wrong with it."""


class TooLarge(CounterplayError):
    """A game that does not fit into memory."""


class OutOfMemory(TooLarge):
    """The tables of a running solver have no memory to grow into. Its progress is kept."""


class BadGame(CounterplayError):
    """Rules that break the contract of a game (no actions, chance that sums to 0.9, ...)."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `result` holds what was computed before it."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


def shown(value: object) -> str:
    """`value` for a message, at most one line."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of over 4,300 digits
        return f"a {type(value).__name__} that is too long to write"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text):,} characters)"


def one_line(error: BaseException) -> str:
    """Type and message of an error on one line, cut to `LONGEST_REASON` characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."


def whole_number(value: Any, low: int | None, high: int | None, what: str) -> int:
    """`value` if it is an integer from `low` to `high` (None: no bound), else `BadParameter`."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and (low is None or low <= value) and (high is None or value <= high):
        return int(value)
    bounds = ""
    if low is not None:
        grouping = "," if high is not None and high >= 100_000 else ""
        bounds = f" of at least {low}" if high is None else f" from {low} to {high:{grouping}}"
    raise BadParameter(f"{what} must be a whole number{bounds}, not {shown(value)}")


def probability(value: Any, what: str) -> float:
    """`value` as a float in [0, 1], else `BadParameter`."""
    number = real(value, what)
    if not 0.0 <= number <= 1.0:
        raise BadParameter(f"{what} must be from 0 to 1, not {shown(value)}")
    return number


def real(value: Any, what: str) -> float:
    """`value` as a finite float, else `BadParameter`."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an integer of over 300 digits
        number = math.inf
    if isinstance(value, bool) or not math.isfinite(number):
        raise BadParameter(f"{what} must be a number, not {shown(value)}")
    return number


def one_of(value: Any, choices: tuple[str, ...], what: str) -> str:
    """`value` if it is one of `choices`, else `BadParameter`."""
    if value not in choices:
        raise BadParameter(f"{what} must be one of {', '.join(choices)}, not {shown(value)}")
    return str(value)


def positive(value: Any, what: str) -> float:
    """`value` as a finite float above 0, else `BadParameter`."""
    if real(value, what) <= 0:
        raise BadParameter(f"{what} must be above 0, not {shown(value)}")
    return float(value)


def flag(value: Any, what: str) -> bool:
    """`value` if it is True or False, else `BadParameter`."""
    if not isinstance(value, bool):
        raise BadParameter(f"{what} must be True or False, not {shown(value)}")
    return value


def unknown(kind: str, name: object, known: Iterable[str]) -> UnknownName:
    """An `UnknownName` with the closest known name as a suggestion."""
    names = sorted(known)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return UnknownName(f"unknown {kind} {shown(name)}{hint} Known {kind}s: {', '.join(names)}")
