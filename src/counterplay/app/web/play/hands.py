"""A hand in progress: what both kinds of tables ask of it."""

from __future__ import annotations

from typing import Any, Protocol

from counterplay.app.web.boards.board import Choice


class BadMove(ValueError):
    """A move that cannot be made now."""


class Hand(Protocol):
    """One hand of a person in `seat` against the opponent of the table."""

    seat: int

    @property
    def over(self) -> bool: ...

    @property
    def waiting(self) -> bool:
        """For the person's move."""

    @property
    def won(self) -> float:
        """By the person, when it is over."""

    def deal(self) -> Any:
        """What was dealt, for the journal."""

    def moves(self) -> list[Any]:
        """All moves so far, for the journal."""

    def act(self, choice: int) -> None:
        """The person's move, by its place among the choices."""

    def answer(self) -> None:
        """Chance and the opponent move, until the person has to or the hand is over."""

    def replay(self, moves: list[Any]) -> None:
        """Make moves that were made before."""

    def choices(self) -> list[Choice]: ...

    def see(self) -> dict[str, Any]:
        """What the person sees now."""

    def adjusted(self) -> float | None:
        """What was won without luck, when it is over; None where nobody can tell."""

    def review(self) -> dict[str, Any]:
        """When it is over: what the other held and how he plays there, and what the person's
        moves cost."""
