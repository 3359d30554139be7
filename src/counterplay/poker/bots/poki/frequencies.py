"""How often the opponent folds, calls and raises: twelve contexts, a round and 0, 1, or 2 and more
bets faced.

A re-creation from published descriptions: Billings 2006, Section 2.5.2.4; Davidson 2002, Section
3.3 (the last 40 actions).

Deviation: heads-up nobody ever has two whole bets to call, so the bets faced are the bets of the
round where there is something to call (the big blind is the first) [guess]. At the cap nothing is
counted, since a call there may want to be a raise.
"""

from __future__ import annotations

from collections import deque

from counterplay.poker.bots.poki.settings import PokiSettings, Triple

FOLDED, CALLED, RAISED = 0, 1, 2


def bets_faced(to_call: float, bets: int) -> int:
    """0, 1 or 2: the column of a context."""
    return 0 if to_call <= 0.0 else min(max(bets, 1), 2)


class Frequencies:
    """What was seen of one opponent."""

    def __init__(self, settings: PokiSettings) -> None:
        self._settings = settings
        self._seen = [[deque[int](maxlen=settings.memory) for _ in range(3)] for _ in range(4)]
        self._counts = [[[0, 0, 0] for _ in range(3)] for _ in range(4)]

    def see(self, round: int, faced: int, action: int) -> None:
        """Remember an action; the oldest of its context is forgotten when there are enough."""
        seen, counts = self._seen[round][faced], self._counts[round][faced]
        if len(seen) == self._settings.memory:
            counts[seen[0]] -= 1
        seen.append(action)
        counts[action] += 1

    def of(self, round: int, faced: int) -> Triple:
        """Shares of fold, call and raise. Too few observations are filled up from the round
        before, in the end from defaults."""
        fold, call, rise = self._settings.defaults[faced]
        for r in range(round + 1):
            n = len(self._seen[r][faced])
            if n == 0:
                continue
            trust = min(1.0, n / self._settings.enough)
            rest, (folds, calls, raises) = 1.0 - trust, self._counts[r][faced]
            fold = trust * folds / n + rest * fold
            call = trust * calls / n + rest * call
            rise = trust * raises / n + rest * rise
        return fold, call, rise
