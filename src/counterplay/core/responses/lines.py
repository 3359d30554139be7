"""What an opponent does in a game with a tree, line by line, beside what an equilibrium would do.

A line is the sequence of actions before a decision, without those of chance. At each decision the
equilibrium's probability of every action follows from its range: that of the opponent's information
sets given the line and what we know there. The difference from the action taken has mean zero if
the opponent plays the equilibrium, so that statements are confidence sequences (`evidence.py`).
Decisions that the equilibrium never comes to are left out.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.evidence import Deviation, Evidence
from counterplay.core.responses.terminals import ReachedTerminals

WIDE = 0.3  # half an interval from which on a frequency has too few hands
SEATS = 2  # whose statements hold together


class LineEvidence:
    """The opponent's actions in the hands of one seat."""

    def __init__(self, terminals: ReachedTerminals, equilibrium: Strategy) -> None:
        self._terminals = terminals
        tree, seat = terminals.game.tree, terminals.seat
        nodes = np.flatnonzero(tree.player == 1 - seat)
        infosets = tree.row[nodes]
        reach = terminals.reach[nodes] * equilibrium.plan(1 - seat)[terminals.other[nodes]]
        key = terminals.line[nodes] * (int(terminals.own.max()) + 1) + terminals.own[nodes]
        _, group = np.unique(key, return_inverse=True)
        total = np.bincount(group, reach)
        first, count = tree.first[infosets], np.diff(tree.first)[infosets]
        self._expected = np.zeros((len(total), int(count.max())))
        for action in range(int(count.max())):
            has = count > action
            share = reach[has] * equilibrium.probabilities[first[has] + action]
            self._expected[:, action] = np.bincount(group[has], share, len(total))
        self._known = total > 0.0
        self._expected[self._known] /= total[self._known, None]
        self._group = np.full(tree.n_nodes, -1)
        self._group[nodes] = group
        self._lines, pool = np.unique(terminals.line[nodes], return_inverse=True)
        self._pool = np.zeros(tree.n_nodes, dtype=np.int64)
        self._pool[nodes] = pool
        self._example = nodes[np.unique(pool, return_index=True)[1]]
        self.clear()

    def clear(self) -> None:
        """Forgets all hands."""
        self._evidence = Evidence.none(SEATS * len(self._lines), self._expected.shape[1])

    def add(self, end: int) -> None:
        """Adds the opponent's decisions in a hand that ended at node `end`."""
        path = self._terminals.path(end)
        first_child = self._terminals.game.tree.first_child
        for node, child in pairwise(path):
            group = self._group[node]
            if group >= 0 and self._known[group]:
                action = int(child - first_child[node])
                self._evidence.add(int(self._pool[node]), action, self._expected[group])

    def deviations(self) -> list[Deviation]:
        """The confirmed deviations from the equilibrium, the largest first."""
        return self._evidence.deviations()

    def findings(self) -> list[tuple[float, str]]:
        """The size of each confirmed deviation, and its sentence."""
        return [(abs(one.share - one.expected), self._text(one)) for one in self.deviations()]

    def _text(self, one: Deviation) -> str:
        """`as player 2 after bet: pass 61% ± 5% (95%), an equilibrium 34%`."""
        tree, labels = self._terminals.game.tree, self._terminals.game.labels
        action = labels.action[int(tree.first[tree.row[self._example[one.group]]]) + one.action]
        line, words = int(self._lines[one.group]), []
        while line > 0:
            line, slot = self._terminals.lines[line]
            words.append(labels.action[slot])
        where = f"after {', '.join(words[::-1])}" if words else "first to act"
        what = f"as {numbered(1 - self._terminals.seat)} {where}: {action}"
        share, half, expected = (round(100 * x) for x in (one.share, one.half, one.expected))
        if one.half > WIDE:
            way = "more" if one.share > one.expected else "less"
            return f"{what} {way} often than an equilibrium ({expected}%)"
        return f"{what} {share}% ± {half}% (95%), an equilibrium {expected}%"
