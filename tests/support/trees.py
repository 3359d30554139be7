"""Trees of built-in games that are walked a state at a time are walked once a process: Leduc's
takes a tenth of a second, and hundreds of tests begin with it."""

from __future__ import annotations

import os
from typing import Any

from counterplay.forms import game
from counterplay.forms.build import Labels
from counterplay.forms.states import build_states
from counterplay.forms.tree import HistoryTree
from counterplay.games.kuhn import Kuhn
from counterplay.games.leduc import Leduc

Built = tuple[HistoryTree, Labels]
LARGEST = 100_000  # histories of a tree that is kept

_walked: dict[str, Built] = {}


def _build(rules: Any, name: str) -> Built:
    """A copy for every game, so that no test sees what another one changes. Under a limit of
    memory every tree is walked."""
    if type(rules) not in (Kuhn, Leduc) or "COUNTERPLAY_MEMORY_GB" in os.environ:
        return build_states(rules, name)
    key = f"{name} {type(rules)} {sorted(vars(rules).items())}"
    built = _walked.get(key) or build_states(rules, name)
    if len(built[0].player) <= LARGEST:
        _walked[key] = built
    tree, labels = built
    return HistoryTree(*(array.copy() for array in tree)), Labels(*map(list, labels))


def share_trees() -> None:
    """From now on."""
    game.build_states = _build
