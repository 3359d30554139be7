"""The one place where pages meet the player who learns: what it has confirmed, which response it
plays and why, and the trees of what it has seen.

`Watched` takes any bot that keeps the hands it saw in `memory` and says what it thinks by a method
`standing()`, as `cp.Adaptive` does. Trees are learnt here, in the background, from the same hands.
"""

from __future__ import annotations

import threading
from typing import Any

from counterplay.poker.bots.bot import Bot, Ending, View

EVERY = 10  # hands between two pictures of what was learnt
GAME = "holdem(buckets=10)"
FOE = "opponent"  # what the player who learns calls the other in his notes


class Watched(Bot):
    """A learner, and a picture of what it knows that is made anew in the background."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.name = inner, inner.name
        self._trees: list[dict[str, Any]] = []
        self._seen = 0  # hands the picture is of
        self._busy = threading.Lock()

    def start(self, seed: int) -> None:
        self.inner.start(seed)
        self._trees, self._seen = [], 0

    def seed(self, seed: int) -> None:
        self.inner.seed(seed)

    def new_hand(self, seat: int) -> None:
        self.inner.new_hand(seat)

    def act(self, view: View) -> str:
        action: str = self.inner.act(view)
        return action

    def end_hand(self, ending: Ending) -> None:
        self.inner.end_hand(ending)
        if len(self.inner.memory) - self._seen >= EVERY:
            threading.Thread(target=self.think, daemon=True).start()

    def think(self) -> None:
        """Look at all hands so far; one who is already thinking goes on."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            self._seen = len(self.inner.memory)
            self._trees = trees_of(list(self.inner.memory))
        finally:
            self._busy.release()

    def learning(self) -> dict[str, Any]:
        """What the page shows."""
        hands = len(self.inner.memory)
        said = _of_standing(self.inner.standing(), self.inner)
        return {"hands": hands, "seen": self._seen, "thinking": self._busy.locked(), **said}

    def trees(self) -> list[dict[str, Any]]:
        return self._trees


def watchable(bot: Any) -> bool:
    """Whether a bot says what it thinks."""
    return callable(getattr(bot, "standing", None)) and hasattr(bot, "memory")


def learning_of(table: Any) -> dict[str, Any] | None:
    """What the opponent of a table says of its learning; None where it does not learn."""
    bot = getattr(table.shared, "bot", None)
    return bot.learning() if isinstance(bot, Watched) else None


def _of_standing(standing: Any, bot: Any) -> dict[str, Any]:
    """What an adaptive player thinks, in its own words."""
    numbers = [_numbers(finding) for finding in bot.tracker.findings()]
    confirmed = [
        {"text": text, **more} for text, more in zip(standing.confirmed, numbers, strict=False)
    ]
    arms = [
        {"name": one.name, "gain": float(one.gain), "error": float(one.error)}
        for one in standing.estimates
    ]
    return {
        "playing": standing.playing,
        "why": standing.why,
        "confirmed": confirmed,
        "arms": arms,
        "budget": float(standing.budget),
    }


def _numbers(finding: Any) -> dict[str, float]:
    return {name: float(getattr(finding, name)) for name in ("share", "half", "expected")}


def trees_of(memory: list[Any]) -> list[dict[str, Any]]:
    """The decision trees (C4.5) learnt from these hands, a street each, as the page draws them."""
    from counterplay.app.web.games import open_game
    from counterplay.poker.betting.betting import STREETS
    from counterplay.poker.models.model import learn_model
    from counterplay.poker.models.observe import observe

    if not memory:
        return []
    model = learn_model(observe(memory, FOE), open_game(GAME), FOE)
    return [
        {"street": street, "tree": branch(tree, 0, 0)}
        for street, tree in zip(STREETS, model.trees, strict=True)
    ]


DEEPEST = 6
WORDS = {
    "seat": "position",
    "bets": "bets so far",
    "bets_in_phase": "bets on this street",
    "own_bets": "bets of yours",
    "bucket": "strength (of 10)",
}


def branch(tree: Any, node: int, depth: int) -> dict[str, Any]:
    """A node of a C4.5 tree and what is below it, down to some depth."""
    found: dict[str, Any] = {
        "shares": [float(x) for x in tree.probabilities[node]],
        "weight": float(tree.counts[node].sum()),
    }
    sons = tree.children[node]
    if not sons or depth == DEEPEST:
        return found
    name = tree.attributes[int(tree.attribute[node])].name
    cut = float(tree.threshold[node])
    found["test"] = "you are the dealer" if name == "seat" else f"{WORDS[name]} ≤ {int(cut)}"
    found["sons"] = [branch(tree, son, depth + 1) for son in sons]
    return found
