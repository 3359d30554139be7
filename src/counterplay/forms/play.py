"""Two policies of one game against each other, on any form."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.forms.access import child, drawn_by, player_at, policy_at, start, utility
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.rng import uniform


@jit(inline=True)
def play_once(form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray) -> Any:
    """One game of any two-player form; where it ends."""
    node = start(form, chance, rng)
    player = player_at(form, chance, node)
    while player >= 0:
        if player == 0:
            _, first, count = policy_at(form, chance, one, node)
            action = drawn_by(form, one, first, count, uniform(rng))
        else:
            _, first, count = policy_at(form, chance, two, node)
            action = drawn_by(form, two, first, count, uniform(rng))
        node = child(form, chance, node, action, rng)
        player = player_at(form, chance, node)
    return node


@jit
def play_games(
    form: Any, chance: Any, one: Any, two: Any, rng: np.ndarray, n: int, sums: np.ndarray
) -> None:
    """n games; adds player 1's payoffs, and their squares, to `sums` (float64[2])."""
    for _ in range(index(n)):
        won = utility(form, chance, play_once(form, chance, one, two, rng), 0)
        sums[ZERO] += won
        sums[ONE] += won * won
