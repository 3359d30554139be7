"""A bot that learns, and what the page shows of it: confirmed findings, the response it plays, and
decision trees of the person's play.

`LearnerMonitor` takes any bot that has the hands it saw in `memory` and describes its state by a
method `standing()`, as `cp.Adaptive` does. The trees are learnt from the same hands, in the
background.
"""

from __future__ import annotations

import threading
from typing import Any

from counterplay.poker.bots.bot import Bot, Ending, View

EVERY = 10  # hands between two updates of the trees
OPPONENT = "opponent"  # the person's name in the learner's memory
MOST_DEPTH = 6
ATTRIBUTES = {
    "seat": "position",
    "bets": "bets so far",
    "bets_in_phase": "bets on this street",
    "own_bets": "bets of yours",
    "bucket": "strength (of 10)",
}


class LearnerMonitor(Bot):
    """A learner, and decision trees of its memory that are updated in the background."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.name = inner, inner.name
        self.trees: list[dict[str, Any]] = []  # one for each street
        self._hands_in_trees = 0
        self._updating = threading.Lock()

    def start(self, seed: int) -> None:
        self.inner.start(seed)
        self.trees, self._hands_in_trees = [], 0

    def seed(self, seed: int) -> None:
        self.inner.seed(seed)

    def new_hand(self, seat: int) -> None:
        self.inner.new_hand(seat)

    def act(self, view: View) -> str:
        action: str = self.inner.act(view)
        return action

    def end_hand(self, ending: Ending) -> None:
        self.inner.end_hand(ending)
        if len(self.inner.memory) - self._hands_in_trees >= EVERY:
            threading.Thread(target=self.update_trees, daemon=True).start()

    def update_trees(self) -> None:
        """Learns the trees from all hands so far, unless an update is running."""
        if not self._updating.acquire(blocking=False):
            return
        try:
            self._hands_in_trees = len(self.inner.memory)
            self.trees = learn_trees(list(self.inner.memory))
        finally:
            self._updating.release()

    def learning(self) -> dict[str, Any]:
        """The learner's state as the page shows it."""
        standing = self.inner.standing()
        findings = zip(standing.confirmed, self.inner.tracker.findings(), strict=False)
        return {
            "hands": len(self.inner.memory),
            "seen": self._hands_in_trees,
            "thinking": self._updating.locked(),
            "playing": standing.playing,
            "why": standing.why,
            "confirmed": [
                {"text": text, "share": one.share, "half": one.half, "expected": one.expected}
                for text, one in findings
            ],
            "arms": [
                {"name": one.name, "gain": float(one.gain), "error": float(one.error)}
                for one in standing.estimates
            ],
            "budget": float(standing.budget),
        }


def is_learner(bot: Any) -> bool:
    """Whether a bot has what `LearnerMonitor` reads."""
    return callable(getattr(bot, "standing", None)) and hasattr(bot, "memory")


def learn_trees(memory: list[Any]) -> list[dict[str, Any]]:
    """The decision trees (C4.5) learnt from these hands, one for each street."""
    from counterplay.app.web.games import HOLDEM, open_game
    from counterplay.poker.betting.betting import STREETS
    from counterplay.poker.models.model import learn_model
    from counterplay.poker.models.observe import observe

    if not memory:
        return []
    model = learn_model(observe(memory, OPPONENT), open_game(HOLDEM), OPPONENT)
    return [
        {"street": street, "tree": _subtree(tree, 0, 0)}
        for street, tree in zip(STREETS, model.trees, strict=True)
    ]


def _subtree(tree: Any, node: int, depth: int) -> dict[str, Any]:
    """A node of a C4.5 tree and its descendants, down to `MOST_DEPTH`."""
    facts: dict[str, Any] = {
        "shares": [float(x) for x in tree.probabilities[node]],
        "weight": float(tree.counts[node].sum()),
    }
    children = tree.children[node]
    if not children or depth == MOST_DEPTH:
        return facts
    name = tree.attributes[int(tree.attribute[node])].name
    threshold = int(float(tree.threshold[node]))
    test = "you are the dealer" if name == "seat" else f"{ATTRIBUTES[name]} ≤ {threshold}"
    below = [_subtree(tree, child, depth + 1) for child in children]
    return {**facts, "test": test, "children": below}
