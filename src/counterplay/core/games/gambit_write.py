"""Writes files of Gambit: `.efg`, the tree, and `.nfg`, the table of pure strategies.

Probabilities and payoffs are written as fractions where these are simple, since Gambit requires the
probabilities of a chance node to sum to one exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, TooLarge
from counterplay.core.base.files import write_text
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.sequence import plan_from_policy, tree_value
from counterplay.core.forms.tree import CHANCE, TERMINAL
from counterplay.core.games.gambit import ENDINGS

MOST_NODES = 2_000_000
MOST_CELLS = 100_000
SIMPLE = 10**6  # largest denominator of a simple fraction
EXACT = 1e-13


def save_game(game: Game | str, path: str | Path) -> None:
    """Writes a game in the formats of Gambit: `.efg`, or `.nfg` if it is small. Actions of chance
    are numbered."""
    game, path = as_game(game), Path(path)
    if path.suffix not in ENDINGS:
        raise BadParameter(f"a game is written to .efg or .nfg, not to {path.name!r}")
    if not game.capabilities.listed or game.n_nodes > MOST_NODES:
        raise TooLarge(f"{game.name} is too large to be listed in a file; take a smaller one")
    lines = _extensive(game) if path.suffix == ".efg" else _table(game)
    write_text(path, "\n".join(lines) + "\n")


def _extensive(game: Game) -> Iterator[str]:
    tree, names = game.tree, game.infoset_names
    yield f"EFG 2 R {_quoted(game.name)} {_braced(map(_quoted, game.seats))}"
    yield '""'
    local = np.arange(game.n_infosets) - np.searchsorted(tree.owner, tree.owner) + 1
    ends, seen = 0, set()
    waiting = [0]
    while waiting:
        node = waiting.pop()
        row, player = int(tree.row[node]), int(tree.player[node])
        below = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        waiting += reversed(below)
        if player == TERMINAL:
            ends += 1
            payoffs = ", ".join(_number(float(x)) for x in tree.payoff[row])
            yield f't "" {ends} "" {{ {payoffs} }}'
        elif player == CHANCE:
            odds = (f"{_quoted(k)} {p}" for k, p in enumerate(_odds(tree, row), 1))
            listed = "" if (CHANCE, row) in seen else f' "" {_braced(odds)}'
            yield f'c "" {row + 1}{listed} 0'
        else:
            actions = game.labels.action[tree.first[row] : tree.first[row + 1]]
            labels = f" {_quoted(names[row])} {_braced(map(_quoted, actions))}"
            listed = "" if (player, row) in seen else labels
            yield f'p "" {player + 1} {local[row]}{listed} 0'
        seen.add((player, row))


def _table(game: Game) -> Iterator[str]:
    tree, players = game.tree, range(game.n_players)
    choices = [_pure(game, player) for player in players]
    cells = int(np.prod([len(some) for some in choices], dtype=np.float64))
    if cells > MOST_CELLS:
        raise TooLarge(
            f"{game.name} has {cells:,} combinations of pure strategies; {MOST_CELLS:,} at most "
            f"are written; write .efg"
        )
    yield f"NFG 1 R {_quoted(game.name)} {_braced(map(_quoted, game.seats))}"
    named = (_braced(_quoted(name) for name, _ in some) for some in choices)
    yield _braced(named)
    yield '""'
    work, values = np.empty(game.n_nodes), np.empty(game.n_players)
    policy = np.empty(game.n_slots)
    for chosen in product(*reversed(choices)):  # the first player's changes fastest
        for player, (_, slots) in zip(players, reversed(chosen), strict=True):
            policy[game.slots(player)] = slots
        tree_value(tree, policy, work, values)
        yield " ".join(_number(float(x)) for x in values)


def _pure(game: Game, player: int) -> list[tuple[str, np.ndarray]]:
    """The pure strategies by name; of those with equal realisation plans only the first."""
    slots, first, owner = game.slots(player), game.form.first, game.form.owner
    mine = np.flatnonzero(owner == player)
    counts = [int(first[i + 1] - first[i]) for i in mine]
    if np.prod(counts, dtype=np.float64) > 100 * MOST_CELLS:
        raise TooLarge(f"{game.name} has too many pure strategies for a table; write .efg")
    distinct: dict[bytes, tuple[str, np.ndarray]] = {}
    for chosen in product(*(range(n) for n in counts)):
        policy = np.zeros(slots.stop - slots.start)
        policy[[int(first[i]) - slots.start + k for i, k in zip(mine, chosen, strict=True)]] = 1.0
        key = policy
        if game.perfect_recall:
            key = np.empty(len(policy) + 1)
            plan_from_policy(game.treeplexes[player], policy, key)
        name = "".join(str(k + 1) for k in chosen)
        distinct.setdefault(key.tobytes(), (name, policy))
    return list(distinct.values())


def _odds(tree: Any, row: int) -> list[str]:
    """The probabilities of a chance distribution as fractions that sum to one exactly."""
    low, high = int(tree.chance_first[row]), int(tree.chance_first[row + 1])
    parts = []
    for p in tree.chance_probability[low:high].tolist():
        simple = Fraction(p).limit_denominator(SIMPLE)
        parts.append(simple if abs(float(simple) - p) <= EXACT else Fraction(p))
    largest = max(range(len(parts)), key=lambda k: parts[k])
    parts[largest] += 1 - sum(parts)
    return [str(part) for part in parts]


def _number(value: float) -> str:
    simple = Fraction(value).limit_denominator(SIMPLE)
    return str(simple) if float(simple) == value else repr(value)


def _quoted(text: object) -> str:
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _braced(parts: Any) -> str:
    return "{ " + " ".join(parts) + " }"
