"""`Standing`: what an adaptive player says about itself, in any game."""

from __future__ import annotations

from dataclasses import dataclass

EQUILIBRIUM, LEARNT, PROBING = "equilibrium", "learnt response", "probing"


def arm_text(name: str) -> str:
    """A strategy of it in a sentence: `the response to always-call`."""
    if name in (EQUILIBRIUM, LEARNT):
        return f"the {name}"
    return "a probe that never folds" if name == PROBING else f"the response to {name}"


@dataclass(frozen=True)
class Standing:
    """The state of an adaptive player."""

    hands: int  # against this opponent
    playing: str
    why: str
    confirmed: tuple[str, ...]  # deviations of the opponent in words, the largest first
    likely: tuple[tuple[str, float], ...]  # what the opponent may be, and how probable that is
    budget: float  # left, in the unit of payoffs
    changes: tuple[int, ...]  # hands at which the opponent changed
    thinking: float  # milliseconds per hand, mean
    advice: str = ""  # what it would do about the opponent, and what that risks

    @property
    def plays(self) -> str:
        """`playing` in a sentence, such as `the response to always-call`."""
        return arm_text(self.playing)
