"""Columns of the matrix products on a CUDA device, and what its kernels have in common.

A column is a showdown or a fold, or the sum of both where the opponent folds or calls: only the sum
is needed. So the last street has thirteen columns for its nine showdowns and eight folds. Payoffs
are multiplied into the reach; a player's own folds are losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from counterplay.core.kernels.device import Device
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.public_tree import Street

#: Rows of sums over the holdings with each card, and over all, to a multiple of 8.
SUMS = -(-(N_CARDS + 1) // 8) * 8


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


def tree_code(
    street: Street,
    player: int,
    own: Callable[[int], str] | None,
    onward: Callable[[int], str],
) -> list[str]:
    """Returns the betting of a street as straight-line code for `v0`, the value at its start, from
    the columns `showdown(j)`, `fold(j)` and `both(j)` of a holding. `own`: the player's probability
    of the action that leads to a node; None for a best response. `onward`: the value after an
    onward end."""
    columns = columns_of(street, player)
    terminal = {k: f"showdown({j})" for j, k in enumerate(columns.showdowns)}
    for j, k in enumerate(columns.folds):
        terminal[k] = f"{'-' if street.folded[k] == player else ''}fold({j})"
    for j, (k, fold) in enumerate(columns.both):
        terminal |= {k: f"both({j})", fold: ""}
    after = {int(k): e for e, k in enumerate(street.onward)}
    lines = []
    for k in reversed(range(len(street.player))):
        below = [c for c in children(street, k) if terminal.get(c) != ""]
        if terminal.get(k) == "":
            continue
        if k in terminal:
            value = terminal[k]
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
    used = street.public_node[:, 0].reshape(-1) >= 0
    payoff = street.payoff[player].transpose(1, 0, 2).reshape(len(street.player), -1)[:, used]
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


def tree_of_terminals(
    street: Street, player: int, own: Callable[[int], str] | None, onward: Callable[[int], str],
    of_class: bool = False,
) -> list[str]:  # fmt: skip
    """Returns `tree_code` with the values of terminals from products with ranges."""
    terminals, lines = terminal_code(street, player, of_class), []
    for line in tree_code(street, player, own, onward):
        line = line.replace("-fold(", "fold(")  # payoffs have their sign here
        for name, code in terminals.items():
            line = line.replace(f" {name}", f" {code}")
        lines.append(line)
    return lines


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


def filled(source: str, marks: dict[str, object]) -> str:
    """Replaces every @NAME@ in a source."""
    for name, value in marks.items():
        source = source.replace(f"@{name}@", str(value))
    return source


def round_up(number: int, by: int = 8) -> int:
    """Returns the next multiple of `by`."""
    return -(-number // by) * by


#: From half precision; a device has an instruction for it.
WIDEN = r"""
__device__ inline float widen(const unsigned short value)
{
#ifdef __CUDACC__
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
    return wide;
#else
    return value < 0x400 ? value * 5.9604644775390625e-8f
        : __uint_as_float(((unsigned)value << 13) + 0x38000000u);
#endif
}
"""

#: What the kernels have in common. A holding on a board is a word: both cards, and its group of
#: equal strength, weakest first. Classes are holdings that the opponent plays alike.
SOURCE = (
    r"""
#define HOLDINGS 1326
#define NO_HOLDING 65535
#define LOW(word) ((word) & 63)
#define HIGH(word) ((word) >> 6 & 63)
#define GROUP(word) ((int)((word) >> 12))
#define DISJOINT(a, b) (LOW(a) != LOW(b) && LOW(a) != HIGH(b) && HIGH(a) != LOW(b) && \
    HIGH(a) != HIGH(b))

typedef unsigned short half_;
"""
    + WIDEN
    + r"""
__device__ inline half_ halve(const float value)
{   // a number from 0 to 2,048 in half precision, truncated
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f)
        : (half_)((__float_as_uint(value) >> 13) - 0x1c000u);
}

__device__ inline void split(half_* out, const size_t at, const size_t rest, const float value)
{   // as the sum of two half-precision numbers, the second multiplied by 2,048
    const float rough = value < 6.103515625e-5f ? (int)(value * 16777216.f) / 16777216.f
        : __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    out[at] = halve(rough);
    out[at + rest] = halve((value - rough) * 2048.f);
}

__device__ inline void put_twice(half_* out, const size_t at, const size_t rest, const int number)
{   // an integer from -2,048 to 2,048, once for each part of `split`
    const half_ sign = number < 0 ? 0x8000 : 0;
    const float size = number < 0 ? -number : number;
    out[at] = sign | halve(size);
    out[at + rest] = sign | halve(size / 2048.f);
}

extern "C" __global__ void meetings(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int max_classes, const int classes,
    const int rows, const int single, const int showdown, half_* __restrict__ out)
{   // holdings of a class that are weaker than a row less those that are stronger (on the last
    // street), and those that share no card with it. A row is a class or a single holding.
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, board = blockIdx.z;
    if (c >= classes) return;
    const unsigned* word = words + (size_t)board * n;
    const unsigned short* begin = first + (size_t)board * max_classes;
    const int from = single ? row : begin[row], to = single ? row + 1 : begin[row + 1];
    const int low = begin[c], high = begin[c + 1];
    int more = 0, all = 0;
    for (int h = from; h < to; ++h) {
        const unsigned own = word[h];
        for (int j = low; j < high; ++j) {
            const unsigned other = word[j];
            const int disjoint = DISJOINT(own, other);
            all += disjoint;
            more += disjoint * ((GROUP(own) > GROUP(other)) - (GROUP(own) < GROUP(other)));
        }
    }
    const size_t at = ((size_t)board * rows + row) * (showdown ? 4 : 2) * classes + c;
    if (showdown) put_twice(out, at, classes, more);
    put_twice(out, at + (showdown ? 2 * classes : 0), classes, all);
}
"""
)

#: Values of terminals to a holding, from products with the opponent's ranges and sums by card.
TERMINALS = r"""
#define stake(node) stake_##node
#define at_showdown(node, c) (stake(node) * won[(c) * COLUMN])
#define met(sums, wide, c, own) (sums[CARDS * wide + (c) * COLUMN] \
    - sums[low * wide + (c) * COLUMN] - sums[high * wide + (c) * COLUMN] + own)
#define at_own_fold(node, c) (stake(node) * met(sums, SHOWDOWN_WIDTH, c, range_of((c) * COLUMN)))
#define at_fold(node, c) (stake(node) * met(fold_sums, FOLD_WIDTH, c, \
    range_of(SHOWDOWN_WIDTH + (c) * COLUMN)))
"""
