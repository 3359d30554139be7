"""Trees of Kuhn poker, which are built a state at a time, are built once a process: hundreds of
tests begin with one."""

from __future__ import annotations

import os
from typing import Any

from counterplay.core.forms import representation
from counterplay.core.forms.states import build_states
from counterplay.core.forms.tree import HistoryTree, Labels
from counterplay.core.games.kuhn import Kuhn

Built = tuple[HistoryTree, Labels]
LARGEST = 100_000  # histories of a tree that is kept

_walked: dict[str, Built] = {}


def _build(rules: Any, name: str) -> Built:
    """A copy for every game, so that no test sees what another one changes. Under a limit of
    memory every tree is built."""
    if type(rules) is not Kuhn or "COUNTERPLAY_MEMORY_GB" in os.environ:
        return build_states(rules, name)
    key = f"{name} {type(rules)} {sorted(vars(rules).items())}"
    built = _walked.get(key) or build_states(rules, name)
    if len(built[0].player) <= LARGEST:
        _walked[key] = built
    tree, labels = built
    return HistoryTree(*(array.copy() for array in tree)), Labels(*map(list, labels))


def share_trees() -> None:
    """From now on."""
    representation.build_states = _build
