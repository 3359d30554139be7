"""CUDA source of the betting of a street as straight-line code: what each node does.

`match_code`: a learner's policy, also restricted to a model, between its bounds, or with shrunk
regrets; `tree_code`: values by a policy, or of a best response; `advantages` and `update_source`:
the update of a learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from counterplay.poker.vector.cuda_columns import (
    action_numbers,
    bounded,
    children,
    columns_of,
    decisions_of,
    filled,
    indented,
    terminal_code,
)
from counterplay.poker.vector.cuda_nodes import UPDATE
from counterplay.poker.vector.public_tree import Street

Code = Callable[[int], str]  # for a node


def match_code(
    street: Street, nodes: Iterable[int], regret: Code, restricted: bool = False,
    biased: bool = False,
) -> list[str]:  # fmt: skip
    """Returns regret matching at `nodes`, and the paths of the players' own sequences.
    `restricted`: to a model, per hand, when `path2` is the model's path, or at each node with its
    confidence; `biased`: to the bounds of a model with rows of its own."""
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
            lines += [f"const float p{c} = r{c} * scale + even;", f"policy[{plane}] = p{c};"]
            if biased:
                continue
            if not restricted:
                lines.append(_step(actor, before, after, f"p{c}"))
                continue
            lines += [
                f"float o{c} = p{c};",
                f"if (restricted == {actor} && !per_hand) {{",
                f"    const float t{c} = trust[{plane}];",
                f"    o{c} = t{c} * fixed[{plane}] + (1.f - t{c}) * p{c};",
                "}",
                f"own[{plane}] = o{c};",
                _step(actor, before, after, f"o{c}"),
                f"if (restricted == {actor} && per_hand)",
                "    " + _step(2, before, after, f"fixed[{plane}]"),
            ]
        if biased:
            lines += bounded(below, [f"p{c}" for c in below])
            for c in below:
                lines.append(f"own[{c - 1} * PLANE + at] = o{c};")
                lines.append(_step(actor, before, int(street.sequence[actor, c]), f"o{c}"))
        lines.append("}")
    return lines


def _step(path: int, before: int, after: int, factor: str) -> str:
    return f"path{path}[{after} * PLANE + at] = path{path}[{before} * PLANE + at] * {factor};"


def tree_code(
    street: Street,
    player: int,
    own: Callable[[int], str] | None,
    onward: Callable[[int], str],
    biased: bool = False,
) -> list[str]:
    """Returns the betting of a street as straight-line code for `v0`, the value at its start, from
    the columns `showdown(j)`, `fold(j)` and `both(j)` of a holding. `own`: the player's probability
    of the action that leads to a node; None for a best response, which has lower bounds of its
    probabilities if `biased`. `onward`: the value after an onward end."""
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
            if biased:
                lines.append(f"const float most{k} = {value};")
                parts = [f"least({c}) * (v{c} - most{k})" for c in below]
                value = " + ".join([f"most{k}", *parts])
        else:
            value = " + ".join(f"{own(c)} * v{c}" for c in below)
        lines.append(f"const float v{k} = {value};")
    return lines


def tree_of_terminals(
    street: Street, player: int, own: Callable[[int], str] | None, onward: Callable[[int], str],
    of_class: bool = False, biased: bool = False,
) -> list[str]:  # fmt: skip
    """Returns `tree_code` with the values of terminals from products with ranges."""
    terminals, lines = terminal_code(street, player, of_class), []
    for line in tree_code(street, player, own, onward, biased):
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


def update_source(street: Street, player: int, restricted: bool) -> str:
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
