"""Information sets of a strategy of a game with a tree: searched, page by page, with values and
regrets."""

from __future__ import annotations

import csv
import io
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np

from counterplay.app.web.explore.values import SetValues, set_values

PAGE = 40


@lru_cache(maxsize=4)
def values_of(strategy: Any) -> SetValues:
    return set_values(strategy.game, strategy.probabilities)


def look_sets(
    strategy: Any, other: Any, search: str, player: int | None, page: int
) -> dict[str, Any]:
    """One page of rows; `other`: a strategy of the same game to compare with, or None."""
    game = strategy.game
    found = matching(game, search, player)
    shown = found[page * PAGE : (page + 1) * PAGE]
    return {
        "kind": "sets",
        "game": game.name,
        "seats": list(game.seats),
        "player": strategy.player,
        "total": len(found),
        "page": page,
        "pages": max(1, -(-len(found) // PAGE)),
        "value": float(_root_value(strategy)),
        "unit": str(game.unit),
        "rows": [_row(strategy, other, int(i)) for i in shown],
    }


def matching(game: Any, search: str, player: int | None) -> list[int]:
    """Numbers of the information sets whose name has `search` in it; * stands for anything."""
    owner, names = game.form.owner, game.infoset_names
    wanted: Any = range(game.n_infosets)
    if player is not None:
        wanted = np.flatnonzero(owner == player).tolist()
    if not search:
        return list(wanted)
    if "*" in search:
        return [i for i in wanted if fnmatchcase(names[i], search)]
    return [i for i in wanted if search in names[i]]


def _root_value(strategy: Any) -> float:
    from counterplay.core.evaluation.exact import expected_value

    return float(expected_value(strategy.game, strategy)[0])


def _row(strategy: Any, other: Any, i: int) -> dict[str, Any]:
    game, known = strategy.game, values_of(strategy)
    low, high = int(game.form.first[i]), int(game.form.first[i + 1])
    return {
        "player": int(game.form.owner[i]),
        "name": game.infoset_names[i],
        "actions": game.labels.action[low:high],
        "shares": strategy.probabilities[low:high].tolist(),
        "others": None if other is None else other.probabilities[low:high].tolist(),
        "q": known.q[low:high].tolist(),
        "value": float(known.value[i]),
        "regret": float(known.regret[i]),
        "reach": float(known.reach[i]),
    }


def sets_csv(strategy: Any, other: Any, search: str, player: int | None) -> str:
    """All rows that match, one for each action."""
    game, known = strategy.game, values_of(strategy)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    more = [] if other is None else ["other", "difference"]
    names = ["player", "infoset", "action", "probability", *more, "action_value", "regret", "reach"]
    writer.writerow(names)
    for i in matching(game, search, player):
        for slot in range(int(game.form.first[i]), int(game.form.first[i + 1])):
            share = strategy.probabilities[slot]
            compared = (
                []
                if other is None
                else [
                    other.probabilities[slot],
                    share - other.probabilities[slot],
                ]
            )
            writer.writerow(
                [
                    int(game.form.owner[i]) + 1,
                    game.infoset_names[i],
                    game.labels.action[slot],
                    share,
                    *compared,
                    known.q[slot],
                    known.regret[i],
                    known.reach[i],
                ]
            )
    return out.getvalue()
