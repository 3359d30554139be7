"""What a device multiplies on a street, and how its results are put together.

A column is a showdown, or a fold, or both where the opponent folds or calls: their sum is all that
anybody needs. So of the last street's nine showdowns and eight folds thirteen columns are left.
Payoffs are multiplied in before; one's own folds are losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.vector.public_tree import Street


class Columns(NamedTuple):
    """Ends of the hand, by column: places of a street."""

    shown: list[int]  # showdowns alone
    gone: list[int]  # folds alone
    both: list[tuple[int, int]]  # a showdown and the opponent's fold beside it

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.shown), len(self.gone), len(self.both)

    @property
    def ends(self) -> list[int]:
        """Whose reach is needed: those alone, then showdowns of both, then their folds."""
        return [*self.shown, *self.gone, *(k for k, _ in self.both), *(k for _, k in self.both)]


def columns_of(street: Street, player: int) -> Columns:
    """Of a player's values."""
    ends = set(street.ends.tolist())
    both = []
    for k in range(len(street.player)):
        if street.player[k] == 1 - player:
            below = [c for c in range(street.first[k], street.first[k + 1]) if c in ends]
            if len(below) == 2:  # he folds, or he calls
                both.append((max(below, key=lambda c: street.folded[c] == NO_FOLD),
                             min(below, key=lambda c: street.folded[c] == NO_FOLD)))  # fmt: skip
    alone = sorted(ends - {int(c) for pair in both for c in pair})
    shown = [int(c) for c in alone if street.folded[c] == NO_FOLD]
    return Columns(shown, [int(c) for c in alone if c not in shown], both)


def tree_code(
    street: Street,
    player: int,
    own: Callable[[int], str] | None,
    onward: Callable[[int], str],
) -> list[str]:
    """The betting of a street as straight code: `v0` from the columns `shown(j)`, `gone(j)` and
    `both(j)` of a holding. `own`: the player's probability of the action that leads to a place;
    None for the best there is. `onward`: the value behind an end that goes on."""
    columns = columns_of(street, player)
    found = {k: f"shown({j})" for j, k in enumerate(columns.shown)}
    for j, k in enumerate(columns.gone):
        found[k] = f"{'-' if street.folded[k] == player else ''}gone({j})"
    for j, (k, beside) in enumerate(columns.both):
        found |= {k: f"both({j})", beside: ""}
    after = {int(k): e for e, k in enumerate(street.onward)}
    lines = []
    for k in reversed(range(len(street.player))):
        below = [c for c in range(street.first[k], street.first[k + 1]) if found.get(c) != ""]
        if found.get(k) == "":
            continue
        if k in found:
            value = found[k]
        elif k in after:
            value = onward(after[k])
        elif street.player[k] != player:
            value = " + ".join(f"v{c}" for c in below)
        elif own is None:
            value = f"v{below[0]}"
            for c in below[1:]:
                value = f"fmaxf({value}, v{c})"
        else:
            value = " + ".join(f"{own(c)} * v{c}" for c in below)
        lines.append(f"const float v{k} = {value};")
    return lines
