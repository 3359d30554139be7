"""A table: hand after hand against one opponent, stored on disk, with one state for all tabs.

Every change is written to the journal first, a line of JSON each, and the number of lines is the
version of the table. A move names the version that it was made at; a move at another version
changes nothing. After a kill the last line may be incomplete: it is removed, and the table
continues from the line before it.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, CounterplayError
from counterplay.core.base.progress import ProgressCallback, no_progress

TABLE_ID = re.compile(r"[A-Za-z0-9_-]{16}")
MOST_LINES = 1_000_000


class IllegalMove(ValueError):
    """A move that the rules do not allow now."""


class StaleVersion(Exception):
    """A move made at another version of the table than the present one."""


class Choice(NamedTuple):
    """An action as a button: its label, and the key that presses it."""

    label: str
    key: str


def who(player: int, seat: int) -> str:
    """A player from the viewpoint of `seat`."""
    return "you" if player == seat else "other"


def review_step(
    player: str,
    text: str,
    choices: list[str],
    chosen: int,
    numbers: list[float] | None,
    within: float | None = None,
) -> dict[str, Any]:
    """A step of a review. `numbers`: the opponent's probabilities, or the value of each action of
    the person, which gives the cost of the chosen one; None where they were not computed. `within`:
    half the 95% interval of the cost, where there is one."""
    step = {"who": player, "text": text, "choices": choices, "chosen": chosen}
    if player != who(0, 0):
        return {**step, "shares": numbers}
    if numbers is None or math.isnan(numbers[chosen]):
        return {**step, "values": None, "cost": None}
    most = max(value for value in numbers if not math.isnan(value))
    return {**step, "values": numbers, "cost": most - numbers[chosen], "within": within}


def summed_up(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The steps of a review, how many of the person's moves were weighed and how many were not,
    and what the weighed ones cost together, with half the interval that is known; None without
    any."""
    costs = [step["cost"] for step in steps if step["who"] == who(0, 0)]
    known = [cost for cost in costs if cost is not None]
    counts = {"weighed": len(known), "unweighed": len(costs) - len(known)}
    halves = [step["within"] for step in steps if step.get("within") is not None]
    within = math.hypot(*halves) if halves else None
    return {"steps": steps, "cost": sum(known) if known else None, "within": within, **counts}


class Hand(Protocol):
    """One hand of a person in `seat` against the opponent of the table."""

    seat: int

    @property
    def over(self) -> bool: ...

    @property
    def waiting(self) -> bool:
        """Whether it is the person's turn."""

    @property
    def won(self) -> float:
        """The person's payoff when the hand is over."""

    def deal(self) -> Any:
        """The cards, for the journal."""

    def moves(self) -> list[Any]:
        """All moves so far, for the journal."""

    def act(self, choice: int) -> None:
        """The person's move, as an index into the choices."""

    def advance(self) -> None:
        """Chance and the opponent move until it is the person's turn or the hand is over."""

    def replay(self, moves: list[Any]) -> None:
        """Makes moves of the journal again."""

    def choices(self) -> list[Choice]: ...

    def view(self) -> dict[str, Any]:
        """What the person sees now."""

    def scenes(self) -> list[dict[str, Any]]:
        """What the person saw when the hand is over: after each move where that is known, else at
        the end."""

    def adjusted(self) -> float | None:
        """The luck-adjusted payoff when the hand is over; None while it is not known."""

    def review(self) -> dict[str, Any]:
        """When the hand is over: the opponent's cards and probabilities, and the cost of the
        person's moves."""


@dataclass
class Result:
    """A finished hand, its payoff, and the luck-adjusted payoff once that is known."""

    hand: Hand
    won: float
    adjusted: float | None


class HandSource(Protocol):
    """Deals the hands of a table, against an opponent that may remember earlier hands."""

    kind: str
    rules: tuple[str, ...]
    known: bool  # whether the opponent's probabilities are

    def new_hand(self, seat: int, deal: Any = None) -> Hand: ...

    def forget(self) -> None:
        """Resets the opponent's memory before hands are replayed."""


class Journal:
    """The files of one table: its moves, and the facts that do not change."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder, self.facts = folder, facts
        self._path = folder / "moves.jsonl"

    @classmethod
    def new(cls, tables: Path, facts: dict[str, Any]) -> Journal:
        """Creates a table with an unguessable name."""
        folder = tables / secrets.token_urlsafe(12)
        files.write_json(folder / "table.json", {"counterplay": "table", **facts}, new=True)
        return cls(folder, facts)

    @classmethod
    def open(cls, tables: Path, name: str) -> Journal:
        """Opens an existing table, or raises `BadFile`."""
        if TABLE_ID.fullmatch(name) is None:
            raise BadFile("there is no such table")
        folder = tables / name
        try:
            facts = files.read_json(folder / "table.json")
        except CounterplayError:
            raise BadFile("there is no such table any more; open a new one") from None
        if facts.pop("counterplay", None) != "table":
            raise BadFile("there is no such table any more; open a new one")
        return cls(folder, facts)

    @property
    def name(self) -> str:
        return self.folder.name

    def add(self, line: dict[str, Any]) -> None:
        """Appends a line in one write."""
        try:
            with open(self._path, "ab") as file:
                file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise CounterplayError(f"cannot write {self._path}: {error.strerror}") from None

    def lines(self) -> list[dict[str, Any]]:
        """All complete lines; an incomplete last line is removed from the file."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadFile(f"{self._path}: cannot be read ({error.strerror})") from None
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            files.write_bytes(self._path, whole)
        lines = []
        for text in whole.splitlines()[:MOST_LINES]:
            try:
                line = json.loads(text)
            except ValueError:
                break
            if not isinstance(line, dict):
                break
            lines.append(line)
        return lines


class PlayTable:
    """The hands of one table; the person's seat alternates."""

    def __init__(
        self,
        journal: Journal,
        source: HandSource,
        slow: bool = False,
        progress: ProgressCallback = no_progress,
    ) -> None:
        """`slow`: the opponent may compute for long, so it must not run in the event loop.
        `progress`: of playing the hands of the journal again."""
        self.journal, self.source, self.slow = journal, source, slow
        self.lock = asyncio.Lock()
        self.version = 0
        self.hand: Hand | None = None
        self.number = -1
        self.done: list[Hand] = []
        self._results: list[Result] = []  # of the same hands
        self._restore(progress)

    @property
    def name(self) -> str:
        return self.journal.name

    def _restore(self, progress: ProgressCallback) -> None:
        self.source.forget()
        lines = self.journal.lines()
        try:
            for k, line in enumerate(lines):
                progress(k / len(lines), "your hands so far")
                if "hand" in line:
                    self._begin(int(line["hand"]), int(line["seat"]), line.get("deal"))
                assert self.hand is not None
                self.hand.replay(list(line["m"]))
                assert self.hand.over or self.hand.waiting
                self.version += 1
                self._finish()
        except (IllegalMove, AssertionError, KeyError, TypeError, ValueError, IndexError):
            raise BadFile("the journal of this table is damaged; open a new table") from None

    def _begin(self, number: int, seat: int, deal: Any) -> None:
        if seat not in (0, 1):
            raise IllegalMove("there are two seats")
        self.number, self.hand = number, self.source.new_hand(seat, deal)

    def _finish(self) -> None:
        """Records the hand if it has just ended."""
        hand = self.hand
        if hand is not None and hand.over and (not self.done or self.done[-1] is not hand):
            self.done.append(hand)
            # whole: the state of a slow table is asked for meanwhile, in another thread
            self._results.append(Result(hand, hand.won, hand.adjusted()))

    def next_hand(self, version: int) -> None:
        """Deals the next hand; `StaleVersion` while a hand is in progress."""
        self._check(version)
        if self.hand is not None and not self.hand.over:
            raise StaleVersion
        number = self.number + 1
        self._begin(number, number % 2, None)
        assert self.hand is not None
        self.hand.advance()
        self._write({"hand": number, "seat": number % 2, "deal": self.hand.deal()}, 0)

    def act(self, version: int, choice: int) -> None:
        """Makes the person's move and the moves that follow it."""
        self._check(version)
        if self.hand is None or self.hand.over:
            raise StaleVersion
        before = len(self.hand.moves())
        self.hand.act(choice)
        self.hand.advance()
        self._write({}, before)

    def _check(self, version: int) -> None:
        if version != self.version:
            raise StaleVersion

    def _write(self, line: dict[str, Any], since: int) -> None:
        assert self.hand is not None
        line["m"] = self.hand.moves()[since:]
        if self.hand.over:
            line["end"] = self.hand.won
        self.journal.add(line)
        self.version += 1
        self._finish()

    def state(self) -> dict[str, Any]:
        """All that the person may know now."""
        self._adjust()
        facts, hand, results = self.journal.facts, self.hand, list(self._results)
        state = {
            "table": self.name,
            "game": facts["game"],
            "title": facts["title"],
            "opponent": facts["opponent_name"],
            "kind": facts["kind"],
            "known": self.source.known,
            "unit": facts["unit"],
            "version": self.version,
            "hand": self.number,
            "winnings": winnings(
                [(one.hand.seat, one.won) for one in results],
                [one.adjusted for one in results],
            ),
            "over": hand is None or hand.over,
            "results": [one.won for one in results],
            "rules": list(self.source.rules),
        }
        if hand is not None:
            state |= {
                "seat": hand.seat,
                "seat_name": facts["seats"][hand.seat],
                "scene": hand.view(),
                "choices": [choice._asdict() for choice in hand.choices()],
                "won": hand.won if hand.over else None,
            }
        return state

    def _adjust(self) -> None:
        """Adjusts hands that ended before the luck adjustment was ready."""
        for result in reversed(list(self._results)):
            if result.adjusted is None:
                result.adjusted = result.hand.adjusted()
                if result.adjusted is None:
                    return

    def review(self, number: int) -> dict[str, Any]:
        """The review of a finished hand."""
        if not 0 <= number < len(self.done):
            raise BadFile(f"hand {number + 1} of this table has not been played to its end")
        hand = self.done[number]
        seat = {"seat": hand.seat, "seat_name": self.journal.facts["seats"][hand.seat]}
        return {"hand": number, "won": hand.won, **seat, "scenes": hand.scenes(), **hand.review()}


def winnings(won: list[tuple[int, float]], adjusted: list[float | None]) -> dict[str, Any]:
    """The person's total, and what that is per hand, with its 95% interval; the same luck-adjusted.
    `won`: seat and payoff of each hand; `adjusted`: the luck-adjusted payoffs, None where they are
    not known."""
    total = sum(gain for _, gain in won)
    ready = [(seat, x) for (seat, _), x in zip(won, adjusted, strict=True) if x is not None]
    fair = per_hand(ready) if won and len(ready) == len(won) else None
    return {"hands": len(won), "total": total, **per_hand(won), "adjusted": fair}


def per_hand(won: list[tuple[int, float]]) -> dict[str, float | None]:
    """Winnings / hands, and half of its 95% interval, which takes the variance within each seat
    (Student's t with Welch & Satterthwaite's degrees of freedom); None before each seat was played
    twice."""
    from counterplay.core.evaluation.estimate import half_width

    if not won:
        return {"mean": None, "within": None}
    n = len(won)
    seats = [np.array([gain for seat, gain in won if seat == k]) for k in (0, 1)]
    mean = sum(gain for _, gain in won) / n
    if min(map(len, seats)) < 2:
        return {"mean": mean, "within": None}
    parts = [float(x.var(ddof=1)) * len(x) / n**2 for x in seats]  # (n_s / n)² · s² / n_s
    variance = sum(parts)
    spread = sum(part**2 / (len(x) - 1) for part, x in zip(parts, seats, strict=True))
    degrees = variance**2 / spread if spread > 0 else math.inf
    return {"mean": mean, "within": half_width(math.sqrt(variance), degrees)}
