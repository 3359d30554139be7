"""Locks from hand histories: the frequencies of a player at each seat and street, facing nothing, a
bet or a raise, each with a trust by the number of decisions (Johanson & Bowling 2009, s-curve)."""

from __future__ import annotations

import json

import numpy as np

from counterplay.core.responses.algorithms import confidence
from counterplay.poker.betting.betting import ACTIONS, STREETS
from counterplay.poker.betting.places import SEAT_NAMES
from counterplay.poker.models.tendencies import BET, NOTHING, OPEN, RAISED, TendencyCounts

CURVE = 10.0  # decisions after which the trust is one half
FACED = {NOTHING: "nothing", BET: "bet", RAISED: "raise"}
FACED_PREFLOP = {NOTHING: "nothing", OPEN: "bet", BET: "raise", RAISED: "re-raise"}


def counted_locks(counts: TendencyCounts, player: str) -> str:
    """A file of locks (`core/games/locks.py`) of what was counted."""
    n = counts.actions.sum(axis=1)
    trust = confidence(n, "s-curve", s=CURVE)
    parts = [f"# {json.dumps(player)} in {counts.hands:,} hands"]
    for group in np.flatnonzero(n).tolist():
        rest, facing = divmod(group, len(FACED_PREFLOP))
        seat, street = divmod(rest, len(STREETS))
        faced = (FACED if street else FACED_PREFLOP)[facing]
        found = zip(ACTIONS, (counts.actions[group] / n[group]).tolist(), strict=True)
        shares = [f"{action} = {share:.6f}" for action, share in found if faced_has(faced, action)]
        parts.append(
            f"[[lock]]  # {n[group]:,} decisions\n"
            f'at = "{SEAT_NAMES[seat]} {STREETS[street]} facing {faced}"\n'
            f"frequency = {{{', '.join(shares)}}}\ntrust = {trust[group]:.4f}\n"
        )
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def faced_has(faced: str, action: str) -> bool:
    """Whether an action is legal: there is no fold without a bet."""
    return action != "fold" or faced != "nothing"
