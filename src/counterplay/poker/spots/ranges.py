"""Ranges of holdings in the usual notation: `22+,A2s+,KTo+:0.5,AhKh,random:0.1`.

| text | holdings |
|---|---|
| `QQ`, `AKs`, `AKo`, `AK` | a pair; suited, offsuit, both |
| `22+`, `A2s+`, `KTo+` | that pair and better; that kicker and better |
| `TT-77`, `A5s-A2s`, `T9s-65s` | between the two: pairs, kickers, or both ranks in step |
| `AhKh` | one holding |
| `random` | all holdings |

A weight from 0 to 1 follows a colon. A holding that is named twice takes the last weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, shown
from counterplay.poker.cards.cards import (
    HOLDING_CARDS,
    N_HOLDINGS,
    RANKS,
    card,
    card_text,
    holding,
)

LONGEST = 100_000  # characters of a range
LEAST = 1e-6  # the largest weight of a range is at least this
_CLASS = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)")
_EXACT = re.compile(rf"([{RANKS}][cdhs])([{RANKS}][cdhs])")


def parse_range(given: Any, what: str) -> np.ndarray:
    """Returns float64[1326]: the weight of each holding; `what` names the range in errors. `given`
    is a text, a mapping from texts to weights, or an array of 1,326 weights."""
    if isinstance(given, Mapping):
        given = ",".join(f"{name}:{weight}" for name, weight in given.items())
    if isinstance(given, str):
        weights = _parse_text(given, what)
    else:
        try:
            weights = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.zeros(0)
        if weights.shape != (N_HOLDINGS,) or not ((weights >= 0) & (weights <= 1)).all():
            raise BadParameter(
                f"{what}: a range is a text such as '22+,A2s+,KTo+:0.5', or {N_HOLDINGS} weights "
                f"from 0 to 1, not {shown(given)}"
            )
    if not weights.any():
        raise BadParameter(f"{what}: the range is empty")
    if weights.max() < LEAST:
        raise BadParameter(
            f"{what}: the largest weight is {weights.max():g}, below {LEAST:g}; make all larger"
        )
    return weights


def range_text(weights: np.ndarray) -> str:
    """Returns a text of the range that `parse_range` reads, with classes where all their holdings
    have the same weight."""
    parts: list[tuple[float, str]] = []
    left = weights.copy()
    for name, members in _classes():
        found = weights[members]
        if found[0] > 0 and (found == found[0]).all():
            parts.append((float(found[0]), name))
            left[members] = 0.0
    parts += [(float(left[h]), holding_text(h)) for h in np.flatnonzero(left).tolist()]
    if len(parts) == 169 and len({weight for weight, _ in parts}) == 1 and not left.any():
        parts = [(parts[0][0], "random")]
    return ",".join(name if weight == 1.0 else f"{name}:{weight!r}" for weight, name in parts)


def holding_text(number: int) -> str:
    """Returns the text of a holding, its higher card first: `AhKh`."""
    low, high = HOLDING_CARDS[number].tolist()
    return card_text(high) + card_text(low)


def class_text(number: int) -> str:
    """Returns the class of a holding: `AKs`, `AKo`, `QQ`."""
    low, high = HOLDING_CARDS[number].tolist()
    ranks = RANKS[high // 4] + RANKS[low // 4]
    return ranks if ranks[0] == ranks[1] else ranks + ("s" if high % 4 == low % 4 else "o")


def parse_holdings(text: str, what: str) -> np.ndarray:
    """Returns int64[n]: the holdings of one item of a range, without a weight."""
    found = np.array(sorted(set(_item(text, what))), dtype=np.int64)
    if not len(found):
        raise BadParameter(f"{what}: {text!r} names no holding")
    return found


def _classes() -> Iterator[tuple[str, np.ndarray]]:
    """Yields the 169 classes with their holdings."""
    names = np.array([class_text(h) for h in range(N_HOLDINGS)])
    for name in sorted(set(names.tolist()), key=lambda n: [-RANKS.index(c) for c in n[:2]] + [n]):
        yield name, np.flatnonzero(names == name)


def _parse_text(text: str, what: str) -> np.ndarray:
    if len(text) > LONGEST:
        raise BadParameter(f"{what}: the range has {len(text):,} characters, {LONGEST:,} at most")
    if not text.strip():
        raise BadParameter(f"{what}: the range is empty; write it like '22+,A2s+,KTo+:0.5'")
    weights = np.zeros(N_HOLDINGS)
    for item in text.split(","):
        name, colon, after = item.strip().partition(":")
        if not name:
            raise BadParameter(
                f"{what}: {shown(text)} has an empty part; write it like '22+,A2s+,KTo+:0.5'"
            )
        try:
            weight = float(after) if colon else 1.0
        except ValueError:
            weight = math.nan
        if not 0.0 <= weight <= 1.0:
            raise BadParameter(f"{what}: the weight of {name} is from 0 to 1, not {shown(after)}")
        weights[parse_holdings(name.strip(), what)] = weight
    return weights


def _item(name: str, what: str) -> Iterator[int]:
    """Yields the holdings of one part of a range."""
    if name.lower() in ("random", "any"):
        yield from range(N_HOLDINGS)
        return
    text = "".join(c.upper() if c.upper() in RANKS else c.lower() for c in name)
    exact = _EXACT.fullmatch(text)
    if exact:
        if exact[1] == exact[2]:
            raise BadParameter(f"{what}: {name!r} has the same card twice")
        yield holding([card(exact[1]), card(exact[2])])
        return
    low, dash, high = text.partition("-")
    first = _CLASS.fullmatch(low.removesuffix("+"))
    last = _CLASS.fullmatch(high) if dash else None
    if first is None or (dash and (last is None or low.endswith("+"))):
        raise BadParameter(
            f"{what}: cannot read {shown(name)}; write holdings like QQ, 22+, A2s+, KTo, A5s-A2s "
            f"or AhKh"
        )
    for high_rank, low_rank in _steps(first, last, low.endswith("+"), name, what):
        yield from _class_members(high_rank, low_rank, first[3])


def _steps(
    first: re.Match[str], last: re.Match[str] | None, better: bool, name: str, what: str
) -> list[tuple[int, int]]:
    """Returns the pairs of ranks, higher first, that a part of a range names."""
    top, bottom = _ranks(first)
    pair = top == bottom
    if pair and first[3]:
        raise BadParameter(f"{what}: {name!r}: a pair is neither suited nor offsuit")
    if better:
        if pair:
            return [(r, r) for r in range(top, len(RANKS))]
        return [(top, r) for r in range(bottom, top)]
    if last is None:
        return [(top, bottom)]
    other_top, other_bottom = _ranks(last)
    if first[3] == last[3]:
        rise, gap = other_top - top, other_bottom - bottom
        if rise == gap:
            ends = sorted((0, rise))
            return [(top + k, bottom + k) for k in range(ends[0], ends[1] + 1)]
        if rise == 0 and not pair:
            ends = sorted((bottom, other_bottom))
            return [(top, r) for r in range(ends[0], ends[1] + 1) if r < top]
    raise BadParameter(
        f"{what}: {name!r} has ends of different kinds; write TT-77, A5s-A2s or T9s-65s"
    )


def _ranks(match: re.Match[str]) -> tuple[int, int]:
    one, two = RANKS.index(match[1]), RANKS.index(match[2])
    return max(one, two), min(one, two)


def _class_members(high: int, low: int, kind: str) -> Iterator[int]:
    """Yields the holdings of two ranks; `kind`: `s`, `o` or empty for both."""
    for a in range(4):
        for b in range(4):
            if high == low and a <= b:
                continue
            if high != low and ((kind == "s" and a != b) or (kind == "o" and a == b)):
                continue
            yield holding([4 * high + a, 4 * low + b])


def parse_ranges(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns both players' weights."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise BadParameter(
            f"ranges: give two, the first for the player who acts first: ('22+,A2s+', 'random'); "
            f"not {shown(given)}"
        )
    one, two = (parse_range(one, f"ranges: player {k}") for k, one in enumerate(given, 1))
    return one, two
