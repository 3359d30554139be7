"""A bot that learns, and what the page shows of it: what it plays and why, the confirmed findings,
and what it believes about the person.

`LearnerMonitor` takes any bot that has the hands it saw in `memory` and describes its state by a
method `standing()`, as `cp.Adaptive` does. What it believes (`belief()`, where it has that) is read
in the background, since it takes a prediction for every hand.
"""

from __future__ import annotations

import math
import re
import threading
from typing import Any

from counterplay.poker.adaptive.belief import (
    EQUILIBRIUM,
    LEARNT_MODEL,
    WIDE,
    arm_text,
    spot_actions,
    spot_text,
)
from counterplay.poker.bots.bot import Ending
from counterplay.poker.models.quality import NORMAL_95

EVERY = 5  # hands between two readings of what it believes
SHARE = 0.05  # the same, of all hands, whichever is more
NAMES = {  # of what the person may be, where a name says too little
    EQUILIBRIUM: "an equilibrium",
    LEARNT_MODEL: "a model of you from your hands",
}
STRENGTH = re.compile(r"(.+) (\d+%)")  # of a type of the field of weak players
STRONG = r"\1, with strength \2"


class LearnerMonitor:
    """A learner, whose methods it has, and its belief as it was read last."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.belief: Any = None
        self.seen = 0  # hands of that belief
        self._reading = threading.Lock()

    def start(self, seed: int) -> None:
        self.inner.start(seed)
        self.belief, self.seen = None, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def end_hand(self, ending: Ending) -> None:
        self.inner.end_hand(ending)
        if len(self.inner.memory) - self.seen >= max(EVERY, SHARE * self.seen):
            threading.Thread(target=self.read_belief, daemon=True).start()

    def read_belief(self) -> None:
        """Reads what it believes until all hands are in it, unless that is being done."""
        read = getattr(self.inner, "belief", None)
        if read is None or not self._reading.acquire(blocking=False):
            return
        try:
            while self.seen != len(self.inner.memory):
                hands = len(self.inner.memory)
                self.belief, self.seen = read(), hands
        finally:
            self._reading.release()

    def learning(self) -> dict[str, Any]:
        """The learner's state as the page shows it. Numbers with too few hands are None."""
        standing, strategies = self.inner.standing(), self.inner.tracker.strategies
        findings = zip(standing.confirmed, self.inner.tracker.findings(), strict=False)
        return {
            "hands": len(self.inner.memory),
            "playing": arm_text(standing.playing),
            "why": standing.why,
            "advice": standing.advice,
            "likely": [
                {"name": player_text(name), "share": share} for name, share in standing.likely
            ],
            "changes": list(standing.changes),
            "confirmed": [
                {"text": text, "share": one.share, "half": one.half, "expected": one.expected}
                if one.half <= WIDE
                else {"text": text, "share": None}
                for text, one in findings
            ],
            "arms": [
                # the learnt response is the equilibrium at first
                {"name": arm_text(one.name), "same": strategy is strategies[0], **_gain(one)}
                for one, strategy in list(zip(standing.estimates, strategies, strict=False))[1:]
            ],
            "budget": float(standing.budget),
        }

    def belief_facts(self) -> dict[str, Any] | None:
        """What it believes about the person, as the page shows it."""
        belief = self.belief
        if belief is None:
            return None
        return {
            "hands": self.seen,
            "prior": belief.prior,
            "learnt_from": belief.learnt_from,
            "next_update": belief.next_update,
            "spots": [_spot_facts(spot) for spot in belief.spots],
        }


def player_text(name: str) -> str:
    """A hypothesis of the learner about the person, in words."""
    return NAMES.get(name) or f"like {STRENGTH.sub(STRONG, name)}"


def _gain(estimate: Any) -> dict[str, float | None]:
    """The gain of an arm over the equilibrium, and half its 95% interval."""
    half = NORMAL_95 * float(estimate.error)
    known = math.isfinite(half)
    return {"gain": float(estimate.gain) if known else None, "half": half if known else None}


def _spot_facts(spot: Any) -> dict[str, Any]:
    actions = spot_actions(spot.spot)
    legal = [k for k, name in enumerate(actions) if name is not None]
    return {
        "name": spot_text(spot.spot),
        "actions": [actions[k] for k in legal],
        "kinds": [("fold", "call", "raise")[k] for k in legal],
        "taken": [spot.taken[k] for k in legal],
        "half": spot.half if spot.half <= WIDE else None,
        "expected": [spot.expected[k] for k in legal],
        "believed": [spot.believed[k] for k in legal],
    }


def is_learner(bot: Any) -> bool:
    """Whether a bot has what `LearnerMonitor` reads."""
    return callable(getattr(bot, "standing", None)) and hasattr(bot, "memory")
