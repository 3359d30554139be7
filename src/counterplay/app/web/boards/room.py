"""Princess and Monster: a dark room, of which a player sees the cell he stands in."""

from __future__ import annotations

from typing import Any

from counterplay.app.web.boards.board import Choice
from counterplay.app.web.play.walk import Walk
from counterplay.core.games.pam import CAUGHT, PRINCESS, STEP_LABELS

KEYS = {
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "stay": " ",
}


class Room:
    """The grid, the own way so far, and how many moves are left; both ways at the end."""

    rules = (
        "The room is dark. The princess runs, the monster hunts; neither sees or hears the other.",
        "You move in turns, one step up, down, left or right.",
        "The princess wins a point for every move made before she is caught.",
    )

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        rules, ways = walk.game.rules, self._ways(walk)
        made = len(walk.moves) - 1
        return {
            "kind": "room",
            "rows": rules.rows,
            "columns": rules.columns,
            "me": "princess" if seat == PRINCESS else "monster",
            "way": ways[seat],
            "other": ways[1 - seat] if walk.over else None,
            "caught": bool(walk.over and walk.state.words[CAUGHT]),
            "made": made,
            "moves": rules.moves,
            "log": [],
        }

    def choices(self, walk: Walk) -> list[Choice]:
        return [Choice(name.capitalize(), KEYS[name]) for name in walk.labels()]

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        name = walk.labels()[action]
        return "stays" if name == "stay" else f"goes {name}"

    def held(self, walk: Walk, seat: int) -> str:
        row, column = divmod(self._ways(walk)[seat][0], walk.game.rules.columns)
        return f"a start in row {row + 1}, column {column + 1}"

    def _ways(self, walk: Walk) -> tuple[list[int], list[int]]:
        """The cells of each player, from his start on."""
        rules = walk.game.rules
        start = rules.starts[walk.moves[0].child]
        ways = [int(start[0])], [int(start[1])]
        for player, _, action in walk.moves[1:]:
            ways[player].append(int(rules.step[ways[player][-1], STEP_LABELS.index(action)]))
        return ways
