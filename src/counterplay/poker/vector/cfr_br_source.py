"""CUDA source of one street of CFR-BR (`cfr_br_cuda.py`).

The kernels compute what those of `street.py` compute, for many boards at once. The betting of the
street is written out as straight-line code. A *column* is a terminal, or a showdown and the fold
beside it (`cuda_columns.py`): its value for every holding of the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cfr_br_kernels import (
    BEST,
    COLUMN,
    COLUMNS,
    COMMON,
    DOWN,
    FOLDS,
    GROUPED,
    GROUPED_COLUMN,
    VALUE,
)
from counterplay.poker.vector.cuda_columns import children, columns_of, tree_code
from counterplay.poker.vector.public_tree import Street

BITS = 2  # of a choice: at most three actions
#: Starts of a block that fills columns: its sums by card fit in shared memory.
COLUMN_STARTS = 64
#: How columns with showdowns are filled: in two traversals; in one, by groups of equal strength;
#: the latter with probabilities of 16 bits.
ORDERED, GROUPS, PACKED = COLUMN_KINDS = ("ordered", "grouped", "packed")


def decisions_of(street: Street, player: int) -> list[int]:
    """Returns the decision nodes of a player."""
    nodes: list[int] = np.flatnonzero(street.player == player).tolist()
    return nodes


def action_numbers(street: Street, player: int) -> dict[int, int]:
    """Returns numbers for the nodes that a player's actions lead to."""
    below = [c for k in decisions_of(street, player) for c in children(street, k)]
    return {c: j for j, c in enumerate(below)}


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


def street_source(
    street: Street, starts: int, rows: int, holdings: int, single: bool, kind: str
) -> str:
    """Returns all kernels of a street; `single`: for tables in single precision; `kind`: one of
    `COLUMN_KINDS`."""
    table = "float" if single else "double"
    sizes = {"TABLE": table, "STARTS": starts, "ROWS": rows, "HOLDINGS": holdings}
    parts = [_filled(COMMON, {**sizes, "MATCH": _regret_matching(street)})]
    for player in (0, 1):
        showdowns = columns_of(street, player).showdowns
        for pure in (False, True):
            parts.append(
                _columns(street, player, pure, kind) if showdowns else _folds(street, player, pure)
            )
        parts += [_best(street, player), _value(street, player)]
    if len(street.onward):
        parts.append(DOWN)
    return "".join(parts)


def _filled(source: str, marks: dict[str, object]) -> str:
    for name, value in marks.items():
        source = source.replace(f"@{name}@", str(value))
    return source


def _indented(code: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in code)


def _regret_matching(street: Street) -> str:
    lines = []
    for player in (0, 1):
        for k in decisions_of(street, player):
            below, before = children(street, k), int(street.sequence[player, k])
            lines.append("{")
            lines += [
                f"const float r{c} = fmax((double)regret[{c - 1} * PLANE + at], 0.0);"
                for c in below
            ]
            lines += [
                f"const float total = {' + '.join(f'r{c}' for c in below)};",
                "const float scale = total > 0.f ? 1.f / total : 0.f;",
                f"const float even = total > 0.f ? 0.f : 1.f / {len(below)};",
            ]
            for c in below:
                after = int(street.sequence[player, c])
                lines += [
                    f"const float p{c} = r{c} * scale + even;",
                    f"policy[{c - 1} * PLANE + at] = p{c};",
                    f"path{player}[{after} * PLANE + at] ="
                    f" path{player}[{before} * PLANE + at] * p{c};",
                ]
            lines.append("}")
    return _indented(lines, 4)


def _terminals(street: Street, player: int) -> list[tuple[int, int]]:
    """Returns for every column the nodes of its showdown and its fold, -1 where it has none."""
    columns = columns_of(street, player)
    alone = [(k, -1) for k in columns.showdowns] + [(-1, k) for k in columns.folds]
    return [*alone, *columns.both]


def _reach_code(street: Street, other: int, terminal: int, pure: bool) -> str:
    """Returns code for the opponent's reach of holding h, at position k, at a terminal."""
    sequence = int(street.sequence[other, terminal])
    if pure:
        masks, values = choice_masks(street, other)
        taken = f"(chosen[(size_t)k * STARTS] & {masks[sequence]}) == {values[sequence]}"
        return f"({taken} ? here : 0.f)"
    return f"here * path[({sequence} * ROWS + ROW(w)) * STARTS + start]"


def _without(lines: list[str], mark: str) -> list[str]:
    """Returns the lines without those of a mark; a mark before a brace is that of a block."""
    kept: list[str] = []
    end = None
    for line in lines:
        if end is not None:
            end = None if line == end else end
        elif line.strip() == f"{mark}{{":
            end = line.replace(f"{mark}{{", "}")
        elif not line.strip().startswith(mark):
            kept.append(line)
    return kept


def _grouped_reach(reach: str, packed: bool) -> str:
    """Returns the same for one of the two starts of a thread."""
    reach = reach.replace("chosen[(size_t)k * STARTS]", "choices[(size_t)k * STARTS + start[u]]")
    reach = reach.replace("+ start]", "+ start[u]]")
    return reach.replace("* path[", "* (1.f / 65535.f) * path[") if packed else reach


def _column(
    street: Street, player: int, column: int, showdown: int, fold: int, pure: bool, kind: str
) -> str:
    lines = (COLUMN if kind == ORDERED else GROUPED_COLUMN).splitlines()
    marks: dict[str, object] = {"COLUMN": column, "S": "", "F": ""}
    for mark, name, terminal in (("@S@", "SHOWDOWN", showdown), ("@F@", "FOLD", fold)):
        if terminal < 0:
            lines = _without(lines, mark)
        else:
            reach = _reach_code(street, 1 - player, terminal, pure)
            if kind != ORDERED:
                reach = _grouped_reach(reach, kind == PACKED)
            marks |= {name: terminal, f"{name}_REACH": reach}
    return _filled("\n".join(lines), marks)


def _column_kernel(player: int, pure: bool) -> str:
    return f"{'pure' if pure else 'policy'}_columns{player}"


def _columns(street: Street, player: int, pure: bool, kind: str) -> str:
    """Returns the columns of a player's values against the opponent's policy, or its `pure`
    choices."""
    terminals = _terminals(street, player)
    parts = [_column(street, player, j, *nodes, pure, kind) for j, nodes in enumerate(terminals)]
    marks: dict[str, object] = {"NAME": _column_kernel(player, pure), "PARTS": "\n".join(parts)}
    marks |= {"COLUMNS": len(terminals), "CARDS": N_CARDS, "THREADS": column_threads(kind)}
    marks["PATH"] = "u16" if kind == PACKED else "float"
    return _filled(COLUMNS if kind == ORDERED else GROUPED, marks)


def column_threads(kind: str) -> int:
    """Returns the threads of a block that fills columns."""
    return COLUMN_STARTS if kind == ORDERED else COLUMN_STARTS // 2


def _folds(street: Street, player: int, pure: bool) -> str:
    """Returns the same for a street without showdowns."""
    folds = [fold for _, fold in _terminals(street, player)]
    cases = [
        f"if (column == {j}) total += payoff[(size_t){fold} * STARTS + start]"
        f" * {_reach_code(street, 1 - player, fold, pure)};"
        for j, fold in enumerate(folds)
    ]
    marks: dict[str, object] = {"NAME": _column_kernel(player, pure), "CARDS": N_CARDS}
    return _filled(FOLDS, {**marks, "COLUMNS": len(folds), "BY_COLUMN": _indented(cases, 4)})


def _tree(street: Street, player: int, own: Callable[[int], str] | None) -> list[str]:
    """Returns `tree_code` over columns in the order of `_terminals`."""
    showdowns, folds, _ = columns_of(street, player).counts

    def onward(end: int) -> str:
        return f"scale * onward[below_start[{end} * STARTS + start]]"

    lines = []
    for line in tree_code(street, player, own, onward):
        line = line.replace("-fold(", "fold(")  # payoffs have their sign here
        line = line.replace("showdown(", "column_of(")
        line = line.replace("fold(", f"column_of({showdowns} + ")
        lines.append(line.replace("both(", f"column_of({showdowns + folds} + "))
    return ["#define column_of(j) column[(size_t)(j) * STARTS]", *lines]


def _best(street: Street, player: int) -> str:
    choices = []
    for j, k in enumerate(decisions_of(street, player)):
        first, *others = children(street, k)
        choice, best = "0", f"v{first}"
        for a, c in enumerate(others, 1):
            choice = f"(v{c} > {best} ? {a} : {choice})"
            best = f"fmaxf({best}, v{c})"
        choices.append(f"choices |= (unsigned)({choice}) << {BITS * j};")
    code = [*_tree(street, player, None), *choices]
    columns = len(_terminals(street, player))
    return _filled(BEST, {"PLAYER": player, "COLUMNS": columns, "TREE": _indented(code, 4)})


def _value(street: Street, player: int) -> str:
    numbers = action_numbers(street, player)
    load = [f"const float o{c} = policy[{c - 1} * PLANE + at];" for c in numbers]
    update = []
    for k in decisions_of(street, player):
        below, sequence = children(street, k), int(street.sequence[player, k])
        mean = " + ".join(f"policy[{c - 1} * PLANE + at] * sum[{numbers[c]}]" for c in below)
        update.append(f"mean = {mean};")
        update.append(f"weight = averages * reach * path[{sequence} * PLANE + at];")
        for c in below:
            slot = f"{c - 1} * PLANE + at"
            update += [
                f"next = regret[{slot}] + regrets * (sum[{numbers[c]}] - mean);",
                f"regret[{slot}] = plus ? fmax(next, 0.0) : next;",
                f"strategy_sum[{slot}] += weight * policy[{slot}];",
            ]
    marks = {
        "PLAYER": player,
        "COLUMNS": len(_terminals(street, player)),
        "ACTIONS": len(numbers),
        "LOAD": _indented(load, 4),
        "TREE": _indented(_tree(street, player, lambda c: f"o{c}"), 12),
        "ADD": _indented([f"sum[{j}] += v{c};" for c, j in numbers.items()], 12),
        "UPDATE": _indented(update, 4),
    }
    return _filled(VALUE, marks)
