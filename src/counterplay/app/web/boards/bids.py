"""Goofspiel: a hand of numbered cards, a prize on the table, hidden bids."""

from __future__ import annotations

from typing import Any

from counterplay.app.web.boards.board import Choice
from counterplay.app.web.play.walk import Walk

RESULTS = ("lost", "tied", "won")


class Bids:
    """The hand, the prize, and how earlier bids went; the other's cards at the end."""

    rules = (
        "Both of you hold the same cards. Point cards are laid open, the highest first.",
        "Each bids one card in secret; the higher bid takes the points, equal bids nobody.",
        "You are told who won, not with what. Whoever has more points at the end wins.",
    )

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        n, bids = walk.game.rules.cards, self._bids(walk)
        rounds, points = [], [0, 0]
        for k, (one, two) in enumerate(zip(*bids, strict=False)):
            mine, his = (one, two)[:: 1 if seat == 0 else -1]
            result = 1 + (mine > his) - (mine < his)
            points[0] += (n - k) * (result == 2)
            points[1] += (n - k) * (result == 0)
            rounds.append(
                {
                    "prize": n - k,
                    "own": mine,
                    "other": his if walk.over else None,
                    "result": RESULTS[result],
                }
            )
        return {
            "kind": "bids",
            "cards": n,
            "hand": [card for card in range(1, n + 1) if card not in bids[seat][: len(rounds)]],
            "prize": None if walk.over else n - len(rounds),
            "rounds": rounds,
            "points": points,
            "log": [],
        }

    def choices(self, walk: Walk) -> list[Choice]:
        return [Choice(name, name if len(name) == 1 else "") for name in walk.labels()]

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        return f"bids {walk.labels()[action]}"

    def held(self, walk: Walk, seat: int) -> str:
        return "the same cards as you"

    def _bids(self, walk: Walk) -> tuple[list[int], list[int]]:
        bids: tuple[list[int], list[int]] = ([], [])
        for player, _, action in walk.moves:
            bids[player].append(int(action))
        return bids
