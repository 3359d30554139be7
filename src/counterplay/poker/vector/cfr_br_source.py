"""CUDA source of one street of CFR-BR (`cfr_br_cuda.py`).

The kernels compute what those of `street.py` compute, for many boards at once. The betting of the
street is written out as straight-line code. A *column* is a terminal, or a showdown and the fold
beside it (`cuda_columns.py`): its value for every holding of the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cfr_br_kernels import (
    BEST,
    CLASS_COLUMNS_ARGUMENTS,
    COMMON,
    DOWN,
    EACH_CLASS,
    EACH_HOLDING,
    FOLDS,
    LAST_COLUMNS,
    LAST_COLUMNS_ARGUMENTS,
    LAST_COLUMNS_MACROS,
    LEARN_PRIOR,
    MATRICES,
    POLICY_RANGES,
    PURE_RANGES,
    VALUE,
)
from counterplay.poker.vector.cuda_columns import (
    SUMS,
    TERMINALS,
    WIDEN,
    action_numbers,
    children,
    columns_of,
    decisions_of,
    filled,
    range_columns,
    round_up,
    stake_code,
    tree_code,
    tree_of_terminals,
)
from counterplay.poker.vector.public_tree import Street

BITS = 2  # of a choice: at most three actions
CHUNK = 32  # holdings whose largest reach a thread finds

# how kernels find a holding's columns on a street without showdowns, and its prior
FOLD_COLUMNS = """
    const float* column = columns + row * @COLUMNS@ * STARTS + start;
"""
FOLD_COLUMNS_ARGUMENTS = "const float* __restrict__ columns"
PRIOR_ARGUMENTS = """,
    const float* __restrict__ prior, const u16* __restrict__ bucket, const float visits"""
PRIOR = r"""    const bool known = bucket[row] != NO_HOLDING;
    const size_t of = known ? (size_t)bucket[row] * STARTS + start : 0;
    const float weight = known ? visits : 0.f;
"""
# the part of the opponent that follows a model, on the last street
MODEL_ARGUMENTS = """,
    const unsigned* __restrict__ model_words, const float* __restrict__ model_path,
    const float* __restrict__ model_reach"""
MODEL = r"""    const size_t model_at = some ? ROW(model_words[(size_t)b * n + k]) : 0;
    const float followed = some ? model_reach[(size_t)HOLDING(w) * STARTS + start] / units[start]
        : 0.f;
"""


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
    street: Street, starts: int, rows: int, holdings: int, single: bool, parts: int,
    buckets: int = 0, model_rows: int = 0, fixed: bool = False,
) -> str:  # fmt: skip
    """Returns all kernels of a street; `single`: for tables in single precision; `parts`: numbers
    in half precision for each probability of a range, 1 or 2; `buckets`: to which regrets are
    shrunk, 0 if they are not; `model_rows`: of the model that the opponent follows in part, 0 if
    there is none; `fixed`: only those of a seat that learns nothing."""
    table = "float" if single else "double"
    sizes = {"TABLE": table, "STARTS": starts, "ROWS": rows, "HOLDINGS": holdings}
    sizes |= {"BUCKETS": buckets}
    match = {"MATCH": _regret_matching(street, buckets > 0), "PRIOR": "", "PRIOR_ARGUMENTS": ""}
    if buckets:
        match |= {"PRIOR": PRIOR, "PRIOR_ARGUMENTS": PRIOR_ARGUMENTS}
    code = [filled(COMMON, {**match, **sizes})]
    last = len(street.onward) == 0
    if fixed:
        folds = [] if last else [*(_folds(street, player, False) for player in (0, 1)), DOWN]
        return "".join([*code, *folds])
    if last:
        columns = range_columns(street, 0)
        marks: dict[str, object] = {"CARDS": N_CARDS, "SUMS": SUMS, "CHUNK": CHUNK, "WIDEN": WIDEN}
        marks |= {"SHOWDOWNS": len(columns.showdowns), "FOLDS": len(columns.folds)}
        marks |= {"SHARED": columns.shared, "COLUMN": round_up(starts)}
        rest = " + widen(rests[range_at + (c)]) / 2048.f" if parts == 2 else ""
        code.append(filled(MATRICES + LAST_COLUMNS_MACROS + TERMINALS, {**marks, "REST": rest}))
        code += [stake_code(street, player, " * units[start]") for player in (0, 1)]
    for player in (0, 1):
        for pure in (False, True):
            code.append(
                _ranges(street, player, pure, parts, model_rows)
                if last
                else _folds(street, player, pure)
            )
        code += [_best(street, player), _value(street, player)]
        code += [_learn_prior(street, player)] if buckets else []
    return "".join(code if last else [*code, DOWN])


def _indented(code: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in code)


def _regret_matching(street: Street, shrunk: bool) -> str:
    lines = []
    prior = " + weight * prior[{} * PRIOR_PLANE + of]" if shrunk else ""
    for player in (0, 1):
        for k in decisions_of(street, player):
            below, before = children(street, k), int(street.sequence[player, k])
            lines.append("{")
            lines += [
                f"const float r{c} = fmax((double)regret[{c - 1} * PLANE + at]"
                f"{prior.format(c - 1)}, 0.0);"
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


def _reach_code(street: Street, other: int, sequence: int, pure: bool) -> str:
    """Returns code for the opponent's reach of holding h, at position k, after its sequence."""
    if pure:
        masks, values = choice_masks(street, other)
        taken = f"(chosen[(size_t)k * STARTS] & {masks[sequence]}) == {values[sequence]}"
        return f"({taken} ? here : 0.f)"
    return f"here * path[({sequence} * ROWS + ROW(w)) * STARTS + start]"


def _ranges(street: Street, player: int, pure: bool, parts: int, model_rows: int) -> str:
    """Returns the opponent's ranges for a player's values, on the last street; a pure one may
    follow a model in part."""
    columns, lines = range_columns(street, player), []
    for offset, sequences in (("0", columns.showdowns), ("SHOWDOWN_WIDTH", columns.folds)):
        for c, sequence in enumerate(sequences):
            value = _reach_code(street, 1 - player, sequence, pure)
            if pure and model_rows:
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
    marks: dict[str, object] = {"PLAYER": player, "PUT": _indented(lines, 4)}
    named = (MODEL_ARGUMENTS, MODEL) if model_rows else ("", "")
    return filled(template, {**marks, "MODEL_ARGUMENTS": named[0], "MODEL": named[1]})


def _folds(street: Street, player: int, pure: bool) -> str:
    """Returns the columns of a player's values on a street without showdowns."""
    folds, sequence = columns_of(street, player).folds, street.sequence[1 - player]
    cases = [
        f"if (column == {j}) total += payoff[(size_t){fold} * STARTS + start]"
        f" * {_reach_code(street, 1 - player, int(sequence[fold]), pure)};"
        for j, fold in enumerate(folds)
    ]
    name = f"{'pure' if pure else 'policy'}_columns{player}"
    marks: dict[str, object] = {"NAME": name, "CARDS": N_CARDS}
    return filled(FOLDS, {**marks, "COLUMNS": len(folds), "BY_COLUMN": _indented(cases, 4)})


def _tree(street: Street, player: int, own: Callable[[int], str] | None) -> list[str]:
    """Returns `tree_code` with the columns of the street's kernels."""

    def onward(end: int) -> str:
        return f"scale * onward[below_start[{end} * STARTS + start]]"

    if len(street.onward) == 0:
        return tree_of_terminals(street, player, own, onward, own is not None)
    lines = [line.replace("-fold(", "fold(") for line in tree_code(street, player, own, onward)]
    macro = "#define column_of(j) column[(size_t)(j) * STARTS]"
    return [macro, *(line.replace("fold(", "column_of(") for line in lines)]


def _learn_prior(street: Street, player: int) -> str:
    numbers = action_numbers(street, player)
    gain, move = [], []
    for k in decisions_of(street, player):
        below = children(street, k)
        value = {c: f"action_values[{numbers[c]} * PLANE + at]" for c in below}
        mean = " + ".join(f"policy[{c - 1} * PLANE + at] * {value[c]}" for c in below)
        gain.append(f"mean = {mean};")
        gain += [f"sum[{numbers[c]}] += {value[c]} - mean;" for c in below]
        for c in below:
            slot = f"prior[{c - 1} * PRIOR_PLANE + to]"
            move.append(f"{slot} += rate * (sum[{numbers[c]}] / count - {slot});")
    marks = {"PLAYER": player, "ACTIONS": len(numbers)}
    return filled(LEARN_PRIOR, {**marks, "GAIN": _indented(gain, 8), "MOVE": _indented(move, 4)})


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
    marks: dict[str, object] = {"ARGUMENTS": LAST_COLUMNS_ARGUMENTS, "FIND": LAST_COLUMNS}
    if len(street.onward):
        marks = {"ARGUMENTS": FOLD_COLUMNS_ARGUMENTS, "FIND": FOLD_COLUMNS}
    marks |= {"PLAYER": player, "COLUMNS": len(columns_of(street, player).folds)}
    return filled(BEST, {**marks, "TREE": _indented(code, 4)})


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
    marks: dict[str, object] = {
        "PLAYER": player,
        "ACTIONS": len(numbers),
        "LOAD": _indented(load, 4),
        "TREE": _indented(_tree(street, player, lambda c: f"o{c}"), 12),
        "ADD": _indented([f"sum[{j}] += v{c};" for c, j in numbers.items()], 12),
        "UPDATE": _indented(update, 4),
    }
    arguments, each = CLASS_COLUMNS_ARGUMENTS, EACH_CLASS
    if len(street.onward):
        arguments, each = FOLD_COLUMNS_ARGUMENTS, EACH_HOLDING
        marks["COLUMNS"] = len(columns_of(street, player).folds)
    return filled(VALUE, {"ARGUMENTS": arguments, "EACH": each, **marks})
