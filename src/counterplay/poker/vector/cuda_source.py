"""CUDA source of a traversal: the betting of a street as straight-line code, by what seats do.

One generator for each thing a node does, whoever calls it: `match_code` (a learner's policy, also
restricted to a model or with shrunk regrets), `tree_code` (values by a policy, or of a best
response) and `advantages` (the update of a learner). Three sources are put together from them and
from the kernels of `cuda_nodes.py`, `cuda_showdowns.py` and `cuda_boards.py`:

| source | seats | holdings |
|---|---|---|
| `public_source` | Learner or Restricted(Learner) x the same | classes of a batch of boards |
| `exact_source` | Fixed or Best x Fixed | holdings x the opponent's classes, all boards of a turn |
| `cfr_br_source` | Learner x Best or Restricted(Best); learner x learner in the trunk | both |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS
from counterplay.poker.vector.cuda_boards import BY_HOLDING, DOWN, EXACT_BOARDS, PASS_REACH, WORDS
from counterplay.poker.vector.cuda_columns import (
    BITS,
    SUMS,
    action_numbers,
    children,
    columns_of,
    decisions_of,
    filled,
    folds_source,
    indented,
    range_columns,
    ranges_source,
    round_up,
    spread_source,
    stake_code,
    terminal_code,
)
from counterplay.poker.vector.cuda_nodes import (
    BEST,
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
    UPDATE,
    VALUE,
)
from counterplay.poker.vector.cuda_showdowns import (
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
Code = Callable[[int], str]  # for a node


# --- what a node does


def match_code(
    street: Street, nodes: Iterable[int], regret: Code, restricted: bool = False
) -> list[str]:
    """Returns regret matching at `nodes`, and the paths of the players' own sequences.
    `restricted`: to a model, per hand, when `path2` is the model's path, or at each node with its
    confidence."""
    lines = []
    for k in nodes:
        below, actor = children(street, k), int(street.player[k])
        before = int(street.sequence[actor, k])
        lines.append("{")
        lines += [f"const float r{c} = fmax({regret(c)}, 0.0);" for c in below]
        lines += [
            f"const float total = {' + '.join(f'r{c}' for c in below)};",
            "const float scale = total > 0.f ? 1.f / total : 0.f;",
            f"const float even = total > 0.f ? 0.f : 1.f / {len(below)};",
        ]
        for c in below:
            plane, after = f"{c - 1} * PLANE + at", int(street.sequence[actor, c])
            step = f"path{{0}}[{after} * PLANE + at] = path{{0}}[{before} * PLANE + at] * {{1}};"
            lines += [f"const float p{c} = r{c} * scale + even;", f"policy[{plane}] = p{c};"]
            if not restricted:
                lines.append(step.format(actor, f"p{c}"))
                continue
            lines += [
                f"float o{c} = p{c};",
                f"if (restricted == {actor} && !per_hand) {{",
                f"    const float t{c} = trust[{plane}];",
                f"    o{c} = t{c} * fixed[{plane}] + (1.f - t{c}) * p{c};",
                "}",
                f"own[{plane}] = o{c};",
                step.format(actor, f"o{c}"),
                f"if (restricted == {actor} && per_hand)",
                "    " + step.format(2, f"fixed[{plane}]"),
            ]
        lines.append("}")
    return lines


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


def advantages(
    street: Street, player: int, value: Code, before: Sequence[str], each: Sequence[str]
) -> list[str]:
    """Returns code that computes `mean`, the value of each of a player's nodes by its policy, from
    the values of actions. Then comes `before` for the node, with its {path} and {first} plane, and
    `each` for every action, with its {value}, {plane} and {number}."""
    lines, numbers = [], action_numbers(street, player)
    for k in decisions_of(street, player):
        below = children(street, k)
        mean = " + ".join(f"policy[{c - 1} * PLANE + at] * {value(c)}" for c in below)
        first, path = (
            f"{below[0] - 1} * PLANE + at",
            f"{int(street.sequence[player, k])} * PLANE + at",
        )
        lines.append(f"mean = {mean};")
        lines += [line.format(path=path, first=first) for line in before]
        for c in below:
            named = {"value": value(c), "plane": f"{c - 1} * PLANE + at", "number": numbers[c]}
            lines += [line.format(**named) for line in each]
    return lines


def _update(street: Street, player: int, restricted: bool) -> str:
    """Returns the kernel of a learner's tables; `restricted`: to a model at some nodes."""
    numbers = action_numbers(street, player)
    before = ["weight = averages * reach * path[{path}];"]
    if restricted:
        before.append("free = biased ? regrets * (1.0 - trust[{first}]) : regrets;")
        each = ["regret[{plane}] += free * ({value} - mean);"]
        named = ("free", ", const float* __restrict__ trust, const int biased")
    else:
        each = [
            "next = regret[{plane}] + regrets * ({value} - mean);",
            "regret[{plane}] = plus ? fmax(next, 0.0) : next;",
        ]
        named = ("next", ", const int plus")
    each.append("strategy_sum[{plane}] += weight * policy[{plane}];")
    code = advantages(street, player, lambda c: f"sum[{numbers[c]}]", before, each)
    return filled(
        UPDATE, PLAYER=player, ACTIONS=len(numbers), LOCAL=named[0], ARGUMENTS=named[1],
        UPDATE=indented(code, 4),
    )  # fmt: skip


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
    parts += [_update(street, player, True) for player in (0, 1)]
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
    buckets: int = 0, model_rows: int = 0, fixed: bool = False,
) -> str:  # fmt: skip
    """Returns all kernels of a street; `single`: for tables in single precision; `parts`: numbers
    in half precision for each probability of a range, 1 or 2; `buckets`: to which regrets are
    shrunk, 0 if they are not; `model_rows`: of the model that the opponent follows in part, 0 if
    there is none; `fixed`: only those of a seat that learns nothing."""
    nodes = [k for player in (0, 1) for k in decisions_of(street, player)]
    shrunk = " + weight * prior[{} * PRIOR_PLANE + of]" if buckets else ""

    def regret(c: int) -> str:
        return f"(double)regret[{c - 1} * PLANE + at]{shrunk.format(c - 1)}"

    begin = (PRIOR_ARGUMENTS, PRIOR) if buckets else ("", "")
    match = indented(match_code(street, nodes, regret), 4)
    code = [
        WORDS,
        STREET,
        filled(MATCH, ARGUMENTS=begin[0], BEGIN=begin[1], MATCH=match),
        BY_HOLDING,
    ]
    if buckets:
        code.insert(2, filled(PRIOR_PLANE, BUCKETS=buckets))
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
                code.append(ranges_source(street, player, pure, parts, model_rows))
            elif not last:
                code.append(folds_source(street, player, pure))
        if not fixed:
            code += [_best(street, player), _value(street, player), _update(street, player, False)]
            code += [_learn_prior(street, player)] if buckets else []
    return "".join(code if last else [*code, DOWN])


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
    arguments, find = LAST_COLUMNS_ARGUMENTS, LAST_COLUMNS
    if len(street.onward):
        columns = len(columns_of(street, player).folds)
        arguments, find = FOLD_COLUMNS_ARGUMENTS, filled(FOLD_COLUMNS, COLUMNS=columns)
    return filled(BEST, PLAYER=player, ARGUMENTS=arguments, FIND=find, TREE=indented(code, 4))


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
