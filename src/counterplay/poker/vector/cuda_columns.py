"""Showdowns and folds on a CUDA device: the columns of matrix products, and code that fills and
reads them (`cuda_showdowns.py` has the kernels).

A column is a showdown or a fold, or the sum of both where the opponent folds or calls: only the sum
is needed. So the last street has thirteen columns for its nine showdowns and eight folds. Payoffs
are multiplied into the reach; a player's own folds are losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from counterplay.core.kernels.device import Device
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cuda_boards import DOWN_CHOICE, payoff_by_start, used_starts
from counterplay.poker.vector.cuda_showdowns import (
    BOUND_ARGUMENTS,
    BOUND_AT,
    FOLDS,
    MODEL,
    MODEL_ARGUMENTS,
    POLICY_RANGES,
    PURE_RANGES,
    SPREAD,
)
from counterplay.poker.vector.public_tree import Street

#: Rows of sums over the holdings with each card, and over all, to a multiple of 8.
SUMS = -(-(N_CARDS + 1) // 8) * 8
BITS = 2  # of a choice: at most three actions


class Columns(NamedTuple):
    """Terminal nodes of a street, by column."""

    showdowns: list[int]  # showdowns alone
    folds: list[int]  # folds alone
    both: list[tuple[int, int]]  # a showdown and the opponent's fold at the same decision

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.showdowns), len(self.folds), len(self.both)

    @property
    def terminals(self) -> list[int]:
        """All terminals: those alone, then the showdowns of `both`, then their folds."""
        return [
            *self.showdowns,
            *self.folds,
            *(k for k, _ in self.both),
            *(k for _, k in self.both),
        ]


def filled(source: str, **marks: object) -> str:
    """Replaces every @NAME@ in a source."""
    for name, value in marks.items():
        source = source.replace(f"@{name}@", str(value))
    return source


def indented(code: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in code)


def children(street: Street, k: int) -> range:
    """Returns the children of a node."""
    return range(int(street.first_child[k]), int(street.first_child[k + 1]))


def decisions_of(street: Street, player: int) -> list[int]:
    """Returns the decision nodes of a player."""
    return [k for k, actor in enumerate(street.player.tolist()) if actor == player]


def action_numbers(street: Street, player: int) -> dict[int, int]:
    """Returns numbers for the nodes that a player's actions lead to."""
    below = [c for k in decisions_of(street, player) for c in children(street, k)]
    return {c: j for j, c in enumerate(below)}


def columns_of(street: Street, player: int) -> Columns:
    """Returns the columns of a player's values."""
    terminals = set(street.terminals.tolist())
    both = []
    for k in range(len(street.player)):
        if street.player[k] == 1 - player:
            below = [c for c in children(street, k) if c in terminals]
            if len(below) == 2:  # a fold and a call
                showdown, fold = sorted(below, key=lambda c: street.folded[c] != NO_FOLD)
                both.append((showdown, fold))
    alone = sorted(terminals - {int(c) for pair in both for c in pair})
    showdowns = [int(c) for c in alone if street.folded[c] == NO_FOLD]
    return Columns(showdowns, [int(c) for c in alone if c not in showdowns], both)


class RangeColumns(NamedTuple):
    """The opponent's own action sequences at terminals of the last street: those with a showdown,
    and those with only a fold. Showdowns from `shared` on have a fold too, of the other player."""

    showdowns: list[int]
    folds: list[int]
    shared: int


def range_columns(street: Street, player: int) -> RangeColumns:
    """Returns the columns for a player's values."""
    sequence = street.sequence[1 - player]
    shown = street.folded[street.terminals] == NO_FOLD
    showdowns = {int(sequence[k]) for k in street.terminals[shown]}
    folds = {int(sequence[k]) for k in street.terminals[~shown]}
    alone = sorted(showdowns - folds)
    return RangeColumns([*alone, *sorted(showdowns & folds)], sorted(folds - showdowns), len(alone))


def terminal_code(street: Street, player: int, of_class: bool) -> dict[str, str]:
    """Returns code for the values of `tree_code`'s columns on the last street."""
    fold = "class_at_" if of_class else "at_"
    ranges, columns = range_columns(street, player), columns_of(street, player)

    def code(k: int) -> str:
        sequence, node = int(street.sequence[1 - player, k]), f"{player}_{k}"
        if street.folded[k] == NO_FOLD:
            return f"at_showdown({node}, {ranges.showdowns.index(sequence)})"
        if sequence in ranges.showdowns:
            return f"{fold}own_fold({node}, {ranges.showdowns.index(sequence)})"
        return f"{fold}fold({node}, {ranges.folds.index(sequence)})"

    named = {f"showdown({j})": code(k) for j, k in enumerate(columns.showdowns)}
    named |= {f"fold({j})": code(k) for j, k in enumerate(columns.folds)}
    both = {f"both({j})": f"({code(s)} + {code(f)})" for j, (s, f) in enumerate(columns.both)}
    return named | both


def stake_code(street: Street, player: int, unit: str = "") -> str:
    """Returns a macro for the payoff at each terminal, times a `unit`. Where bets are the same
    after all starts, it is computed from the payoff at one terminal: the kernels wait for
    memory."""
    payoff = payoff_by_start(street, player, used_starts(street))
    terminals, lines = street.terminals.tolist(), []
    if not terminals:
        return ""
    first = terminals[0]
    for k in terminals:
        more = abs(payoff[k]) - abs(payoff[first])
        value = f"payoff[(size_t){k} * STARTS + start]"
        if (more == more[0]).all():
            sign = "-" if street.folded[k] == player else ""
            value = f"{sign}(LEAST_STAKE_{player} + {float(more[0])}f)"
        lines.append(f"#define stake_{player}_{k} ({value}{unit})")
    sign = "-" if street.folded[first] == player else ""
    least = f"{sign}payoff[(size_t){first} * STARTS + start]"
    lines.append(f"#define LEAST_STAKE_{player} ({least})\n")
    return "\n".join(lines)


def choice_masks(street: Street, player: int) -> tuple[list[int], list[int]]:
    """Returns for every own action sequence the bits of the player's choices that decide it, and
    the value they must have."""
    n = int(street.n_sequences[player])
    mask, value = [0] * n, [0] * n
    for j, k in enumerate(decisions_of(street, player)):
        before = int(street.sequence[player, k])
        for a, c in enumerate(children(street, k)):
            after = int(street.sequence[player, c])
            mask[after] = mask[before] | 3 << BITS * j
            value[after] = value[before] | a << BITS * j
    return mask, value


def bounded(below: Sequence[int], own: Sequence[str]) -> list[str]:
    """Returns code for `o` of each action below a node: its lower bound, and what the bounds leave
    times the probability `own`."""
    left = " - ".join(f"least({c})" for c in below)
    lines = [f"const float left = fmaxf(1.f - {left}, 0.f);"]
    pairs = zip(below, own, strict=True)
    return lines + [f"const float o{c} = least({c}) + left * {p};" for c, p in pairs]


def taken_code(street: Street, player: int, at: str, biased: bool = True) -> list[str]:
    """Returns code for `taken`, the probabilities of a player's own action sequences for a holding
    that takes the choices `chosen[at]`, between the bounds of a model if `biased`."""
    masks, values = choice_masks(street, player)
    lines = [f"const unsigned choices = chosen[{at}];"]
    if not biased:
        pairs = zip(masks, values, strict=True)
        all_ = ", ".join(f"(float)((choices & {mask}) == {value})" for mask, value in pairs)
        return [*lines, f"const float taken[] = {{{all_}}};"]
    lines.append(f"float taken[{len(masks)}] = {{1.f}};")
    for j, k in enumerate(decisions_of(street, player)):
        below, before = children(street, k), int(street.sequence[player, k])
        own = [f"(float)((choices >> {BITS * j} & 3) == {a})" for a in range(len(below))]
        lines += ["{", *bounded(below, own)]
        for c in below:
            lines.append(f"taken[{int(street.sequence[player, c])}] = taken[{before}] * o{c};")
        lines.append("}")
    return lines


def down_source(street: Street, player: int, biased: bool) -> str:
    """Returns the kernel of a player's reach on the next street after its choices."""
    code = taken_code(street, player, "0", biased)
    if biased:
        code.insert(0, filled(BOUND_AT, ROW="k"))
    more, taken = BOUND_ARGUMENTS if biased else "", indented(code, 8)
    return filled(DOWN_CHOICE, PLAYER=player, MORE=more, TAKEN=taken)


def spread_source(street: Street) -> str:
    """Returns the kernel of the opponent's reach in every column, times the payoff."""
    lines = []
    for player in (0, 1):
        columns = columns_of(street, player)
        showdowns, folds, both = columns.counts
        lines.append(f"    if (player == {player}) {{")
        for end, k in enumerate(columns.terminals):
            number, name, row = end, "showdown", "row"
            if showdowns <= end:
                number, name = end - showdowns, "fold"
            if showdowns + folds <= end:
                number, name, row = end - showdowns - folds, "both", "double_row"
            if showdowns + folds + both <= end:
                number, row = number - both, "(double_row + 2 * classes)"
            where = f"{row} * wide_{name} + {number} * STARTS + start"
            reach = f"REACH({end}, {int(street.sequence[1 - player, k])})"
            lines.append(f"        split({name}, {where}, rest_{name}, {reach});")
        lines.append("    }")
    return filled(SPREAD, SPREAD="\n".join(lines))


def _reach_code(street: Street, other: int, sequence: int, pure: bool, biased: bool) -> str:
    """Returns code for the opponent's reach of holding h, at position k, after its sequence."""
    if pure and biased:
        return f"here * taken[{sequence}]"
    if pure:
        masks, values = choice_masks(street, other)
        taken = f"(chosen[(size_t)k * STARTS] & {masks[sequence]}) == {values[sequence]}"
        return f"({taken} ? here : 0.f)"
    return f"here * path[({sequence} * ROWS + ROW(w)) * STARTS + start]"


def ranges_source(
    street: Street, player: int, pure: bool, parts: int, model_rows: int, biased: bool
) -> str:
    """Returns the opponent's ranges for a player's values, on the last street; a pure one may
    follow a model in part."""
    columns, lines = range_columns(street, player), []
    if pure and biased:
        lines += taken_code(street, 1 - player, "some ? (size_t)k * STARTS : 0")
    for offset, sequences in (("0", columns.showdowns), ("SHOWDOWN_WIDTH", columns.folds)):
        for c, sequence in enumerate(sequences):
            value = _reach_code(street, 1 - player, sequence, pure, biased)
            if pure and model_rows and not biased:
                at = f"({sequence} * (size_t){model_rows} + model_at) * STARTS + start"
                value += f" + followed * model_path[{at}]"
            slot = f"at + {offset} + {c} * COLUMN"
            lines += ["{", f"    const float one = some ? {value} : 0.f;"]
            lines.append(f"    ranges[{slot}] = halve(one);")
            if parts == 2:
                lines[-1:] = [
                    "    const half_ rough = floor_half(one);",
                    f"    ranges[{slot}] = rough;",
                    f"    rests[{slot}] = halve((one - widen(rough)) * 2048.f);",
                ]
            lines.append("}")
    template = PURE_RANGES if pure else POLICY_RANGES
    more, begin = (MODEL_ARGUMENTS, MODEL) if model_rows else ("", "")
    if biased:
        more, begin = BOUND_ARGUMENTS, filled(BOUND_AT, ROW="some ? (size_t)b * n + k : 0")
    put = indented(lines, 4)
    return filled(template, PLAYER=player, PUT=put, MODEL_ARGUMENTS=more, MODEL=begin)


def folds_source(street: Street, player: int, pure: bool, biased: bool) -> str:
    """Returns the columns of a player's values on a street without showdowns."""
    folds, sequence, biased = columns_of(street, player).folds, street.sequence, pure and biased
    cases = [
        f"if (column == {j}) total += payoff[(size_t){fold} * STARTS + start]"
        f" * {_reach_code(street, 1 - player, int(sequence[1 - player, fold]), pure, biased)};"
        for j, fold in enumerate(folds)
    ]
    name, more = f"{'pure' if pure else 'policy'}_columns{player}", ""
    if biased:
        more, at = BOUND_ARGUMENTS, filled(BOUND_AT, ROW="k")
        cases = [at, *taken_code(street, 1 - player, "(size_t)k * STARTS"), *cases]
    by_column = indented(cases, 4)
    return filled(
        FOLDS, NAME=name, CARDS=N_CARDS, COLUMNS=len(folds), BY_COLUMN=by_column, MORE=more
    )


class Products(NamedTuple):
    """Arrays of columns: showdowns alone, folds alone, both together."""

    showdowns: Any
    folds: Any
    both: Any


def empty_products(
    device: Device, boards: int, rows: tuple[int, int, int], counts: Sequence[int], starts: int,
    dtype: Any,
) -> Products:  # fmt: skip
    """Returns uninitialised arrays for `counts` columns of each kind at each start."""
    shapes = [(boards, n, round_up(count * starts)) for n, count in zip(rows, counts, strict=True)]
    return Products(*(device.empty(shape, dtype) for shape in shapes))


def multiply(device: Device, meetings: Any, classes: int, reach: Products, out: Products) -> None:
    """Fills `out` with what rows win at showdowns and meet at folds, from the reach of classes.
    `meetings`: matrices of the kernel of that name."""
    folds = 2 * classes if meetings.shape[2] == 4 * classes else 0
    for right, result, begin in zip(reach, out, (0, folds, 0), strict=True):
        if right.shape[2]:
            device.multiply(meetings[:, :, begin : begin + right.shape[1]], right, result)


def round_up(number: int, by: int = 8) -> int:
    """Returns the next multiple of `by`."""
    return -(-number // by) * by
