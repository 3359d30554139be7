"""CUDA source of a traversal, by what seats do.

`cuda_betting.py` has one generator for each thing a node does, whoever calls it. Three sources are
put together from them and from the kernels of `cuda_nodes.py`, `cuda_showdowns.py` and
`cuda_boards.py`:

| source | seats | holdings |
|---|---|---|
| `public_source` | Learner or Restricted(Learner) x the same | classes of a batch of boards |
| `exact_source` | Fixed or Best x Fixed | holdings x the opponent's classes, all boards of a turn |
| `cfr_br_source` | Learner x Best or Restricted(Best); learner x learner in the trunk | both |
"""

from __future__ import annotations

from collections.abc import Callable

from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS
from counterplay.poker.vector.cuda_betting import (
    advantages,
    match_code,
    tree_code,
    tree_of_terminals,
    update_source,
)
from counterplay.poker.vector.cuda_boards import BY_HOLDING, DOWN, EXACT_BOARDS, PASS_REACH, WORDS
from counterplay.poker.vector.cuda_columns import (
    BITS,
    SUMS,
    action_numbers,
    children,
    columns_of,
    decisions_of,
    down_source,
    filled,
    folds_source,
    indented,
    range_columns,
    ranges_source,
    round_up,
    spread_source,
    stake_code,
)
from counterplay.poker.vector.cuda_nodes import (
    BEST,
    BOUNDED,
    BOUNDED_ARGUMENTS,
    EACH_CLASS,
    EACH_HOLDING,
    EXACT_UP,
    LEARN_PRIOR,
    MATCH,
    PRIOR,
    PRIOR_ARGUMENTS,
    PRIOR_PLANE,
    RESTRICTED,
    RESTRICTED_ARGUMENTS,
    STREET,
    UP,
    VALUE,
)
from counterplay.poker.vector.cuda_showdowns import (
    BOUND_ARGUMENTS,
    BOUND_AT,
    BOUNDS,
    CLASS_COLUMNS_ARGUMENTS,
    EXACT_SHOWDOWNS,
    FOLD_COLUMNS,
    FOLD_COLUMNS_ARGUMENTS,
    HALVES,
    LAST_COLUMNS,
    LAST_COLUMNS_ARGUMENTS,
    LAST_COLUMNS_MACROS,
    MATRICES,
    MEETINGS,
    TERMINALS,
    WIDEN,
)
from counterplay.poker.vector.public_tree import Street

CHUNK = 32  # holdings whose largest reach a thread finds


# --- public chance sampling


def _public_up(street: Street, player: int) -> str:
    def onward(end: int) -> str:
        return f"below[row * starts_below + below_start[{end} * STARTS + start]]"

    gains = action_numbers(street, player)
    write = f"gains[((size_t)chunk * {len(gains)} + g) * PLANE + at] = gain[g];"
    return filled(
        UP,
        NAME=f"up{player}",
        GAINS=len(gains),
        LOAD=indented([f"const float o{c} = own[{c - 1} * PLANE + at];" for c in gains], 4),
        TREE=indented(tree_code(street, player, lambda node: f"o{node}", onward), 12),
        ADD=indented([f"gain[{g}] += v{c};" for c, g in gains.items()], 12),
        WRITE=f"    for (int g = 0; g < {len(gains)}; ++g) {write}",
    )


def public_source(street: Street, starts: int, buckets: int) -> str:
    """Returns the kernels of a street of public chance sampling."""
    nodes = [k for k, actor in enumerate(street.player.tolist()) if actor >= 0]
    code = match_code(street, nodes, lambda c: f"regret[{c - 1} * PLANE + at]", True)
    match = filled(MATCH, ARGUMENTS=RESTRICTED_ARGUMENTS, BEGIN=RESTRICTED, MATCH=indented(code, 4))
    parts = [WORDS, WIDEN, HALVES, MEETINGS, STREET, match]
    parts += [spread_source(street), PASS_REACH]
    parts += [_public_up(street, player) for player in (0, 1)]
    parts += [update_source(street, player, True) for player in (0, 1)]
    return filled("".join(parts), TABLE="double", STARTS=starts, ROWS=buckets, HOLDINGS=N_HOLDINGS)


# --- exact values


def exact_source(street: Street, starts: int, rows: int, player: int, best: bool) -> str:
    """Returns the kernels of a street for a player's values; `best`: of a best response."""

    def onward(end: int) -> str:
        where = f"below_start[{end} * STARTS + start]"
        return f"scale * below[((size_t)board * HOLDINGS + q) * starts_below + {where}]"

    def own(node: int) -> str:
        return f"own[(size_t){node} * STARTS]"

    columns = range_columns(street, player)
    parts = [WORDS, WIDEN, HALVES, STREET, EXACT_SHOWDOWNS, EXACT_BOARDS]
    parts += [stake_code(street, player), TERMINALS, EXACT_UP]
    tree = tree_of_terminals(street, player, None if best else own, onward)
    return filled(
        "".join(parts), TABLE="float", STARTS=starts, ROWS=rows, HOLDINGS=N_HOLDINGS,
        COLUMN=round_up(starts), SHOWDOWNS=len(columns.showdowns), FOLDS=len(columns.folds),
        CARDS=N_CARDS, SUMS=SUMS, NODES=len(street.player), TREE=indented(tree, 8),
    )  # fmt: skip


# --- CFR-BR


def cfr_br_source(
    street: Street, starts: int, rows: int, holdings: int, single: bool, parts: int,
    buckets: int = 0, model_rows: int = 0, fixed: bool = False, biased: bool = False,
    bounded_seat: bool = False,
) -> str:  # fmt: skip
    """Returns all kernels of a street; `single`: for tables in single precision; `parts`: numbers
    in half precision for each probability of a range, 1 or 2; `buckets`: to which regrets are
    shrunk, 0 if they are not; `model_rows`: of the model that the opponent follows in part, 0 if
    there is none; `fixed`: only those of a seat that learns nothing; `biased`: the opponent chooses
    between the model's bounds; `bounded_seat`: so does this seat."""
    nodes = [k for player in (0, 1) for k in decisions_of(street, player)]
    shrunk = " + weight * prior[{} * PRIOR_PLANE + of]" if buckets else ""

    def regret(c: int) -> str:
        return f"(double)regret[{c - 1} * PLANE + at]{shrunk.format(c - 1)}"

    more, begin = (PRIOR_ARGUMENTS, PRIOR) if buckets else ("", "")
    if bounded_seat:
        more, begin = more + BOUNDED_ARGUMENTS, begin + BOUNDED
    match = indented(match_code(street, nodes, regret, biased=bounded_seat), 4)
    code = [WORDS, STREET]
    code += [filled(PRIOR_PLANE, BUCKETS=buckets)] if buckets else []
    code += [filled(BOUNDS, MODEL_ROWS=model_rows)] if biased or bounded_seat else []
    code += [filled(MATCH, ARGUMENTS=more, BEGIN=begin, MATCH=match), BY_HOLDING]
    sizes = {"TABLE": "float" if single else "double", "STARTS": starts, "ROWS": rows}
    code = [filled(part, HOLDINGS=holdings, **sizes) for part in code]
    last = len(street.onward) == 0
    if last and not fixed:
        columns = range_columns(street, 0)
        rest = " + widen(rests[range_at + (c)]) / 2048.f" if parts == 2 else ""
        matrices = WIDEN + MATRICES + LAST_COLUMNS_MACROS + TERMINALS
        code.append(
            filled(
                matrices,
                CARDS=N_CARDS,
                SUMS=SUMS,
                CHUNK=CHUNK,
                SHOWDOWNS=len(columns.showdowns),
                FOLDS=len(columns.folds),
                SHARED=columns.shared,
                COLUMN=round_up(starts),
                REST=rest,
            )
        )
        code += [stake_code(street, player, " * units[start]") for player in (0, 1)]
    for player in (0, 1):
        for pure in (False,) if fixed else (False, True):
            if last and not fixed:
                code.append(ranges_source(street, player, pure, parts, model_rows, biased))
            elif not last:
                code.append(folds_source(street, player, pure, biased))
        if not fixed:
            code += [_best(street, player, biased), _value(street, player)]
            code += [update_source(street, player, False)]
            code += [_learn_prior(street, player)] if buckets else []
            code += [] if last else [down_source(street, player, biased)]
    return "".join(code if last else [*code, DOWN])


def _tree(
    street: Street, player: int, own: Callable[[int], str] | None, biased: bool = False
) -> list[str]:
    """Returns `tree_code` with the columns of the street's kernels."""

    def onward(end: int) -> str:
        return f"scale * onward[below_start[{end} * STARTS + start]]"

    if len(street.onward) == 0:
        return tree_of_terminals(street, player, own, onward, own is not None, biased)
    code = tree_code(street, player, own, onward, biased)
    lines = [line.replace("-fold(", "fold(") for line in code]
    macro = "#define column_of(j) column[(size_t)(j) * STARTS]"
    return [macro, *(line.replace("fold(", "column_of(") for line in lines)]


def _learn_prior(street: Street, player: int) -> str:
    numbers = action_numbers(street, player)
    each = ["sum[{number}] += {value} - mean;"]
    gain = advantages(
        street, player, lambda c: f"action_values[{numbers[c]} * PLANE + at]", (), each
    )
    slots = {c: f"prior[{c - 1} * PRIOR_PLANE + to]" for c in numbers}
    move = [f"{slots[c]} += rate * (sum[{a}] / count - {slots[c]});" for c, a in numbers.items()]
    return filled(
        LEARN_PRIOR, PLAYER=player, ACTIONS=len(numbers), GAIN=indented(gain, 8),
        MOVE=indented(move, 4),
    )  # fmt: skip


def _best(street: Street, player: int, biased: bool) -> str:
    choices = []
    for j, k in enumerate(decisions_of(street, player)):
        first, *others = children(street, k)
        choice, best = "0", f"v{first}"
        for a, c in enumerate(others, 1):
            choice = f"(v{c} > {best} ? {a} : {choice})"
            best = f"fmaxf({best}, v{c})"
        choices.append(f"choices |= (unsigned)({choice}) << {BITS * j};")
    code = [*_tree(street, player, None, biased), *choices]
    arguments, find = LAST_COLUMNS_ARGUMENTS, LAST_COLUMNS
    if len(street.onward):
        columns = len(columns_of(street, player).folds)
        arguments, find = FOLD_COLUMNS_ARGUMENTS, filled(FOLD_COLUMNS, COLUMNS=columns)
    more = BOUND_ARGUMENTS if biased else ""
    find += filled(BOUND_AT, ROW="row") if biased else ""
    filling = {"PLAYER": player, "ARGUMENTS": arguments, "MORE": more, "FIND": find}
    return filled(BEST, **filling, TREE=indented(code, 4))


def _value(street: Street, player: int) -> str:
    numbers = action_numbers(street, player)
    arguments, each = CLASS_COLUMNS_ARGUMENTS, EACH_CLASS
    if len(street.onward):
        columns = len(columns_of(street, player).folds)
        arguments, each = FOLD_COLUMNS_ARGUMENTS, filled(EACH_HOLDING, COLUMNS=columns)
    return filled(
        filled(VALUE, ARGUMENTS=arguments, EACH=each),
        PLAYER=player,
        ACTIONS=len(numbers),
        LOAD=indented([f"const float o{c} = policy[{c - 1} * PLANE + at];" for c in numbers], 4),
        TREE=indented(_tree(street, player, lambda c: f"o{c}"), 12),
        ADD=indented([f"sum[{j}] += v{c};" for c, j in numbers.items()], 12),
    )
