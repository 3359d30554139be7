"""What a full-width kernel may ask of a form, and how Numba picks the answer.

A full-width form has `one` and `two`, the players' treeplexes (anything with the `parent`, `first`
and `floor` of a `Treeplex`), and answers one question: what each of a player's sequences earns
against a plan of the other. The CFR family, excessive gap, best replies and exploitability are
written once against that. The sequence form answers with a sparse product, Sparbot's models with a
dense one. As in `access.py` the type of the form decides, when a kernel is compiled.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba.extending import overload

from counterplay.core.forms.access import answer, answers

__all__ = ["FullWidthForm", "answers", "payoff_gradient"]


class FullWidthForm(Protocol):
    """Two players with perfect recall; `one` and `two` are a `Treeplex` or have its fields."""

    @property
    def one(self) -> Any:
        """Player 1's treeplex."""

    @property
    def two(self) -> Any:
        """Player 2's treeplex."""


def payoff_gradient(form: Any, player: int, plan: np.ndarray, out: np.ndarray) -> None:
    """Fill `out`, one per sequence of `player`, with its payoff against the other player's
    `plan`."""
    answer("payoff_gradient", type(form))(form, player, plan, out)


@overload(payoff_gradient)
def _payoff_gradient(form: Any, player: Any, plan: Any, out: Any) -> Any:
    return answer("payoff_gradient", form.instance_class)
