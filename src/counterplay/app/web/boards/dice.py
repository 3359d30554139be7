"""Bluff: dice under a cup, and a ladder of bids."""

from __future__ import annotations

from typing import Any

from counterplay.app.web.boards.board import Choice, who
from counterplay.app.web.play.walk import Walk

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
KEYS = "123456789"


class Dice:
    """Each player's dice, the bids so far, and what may be bid."""

    rules = (
        "Each of you rolls dice under a cup and sees only his own. The highest face is wild.",
        "Bid how many of a face lie under both cups together; every bid must be higher.",
        "If you do not believe a bid, call it: whoever was wrong loses.",
    )

    def see(self, walk: Walk, seat: int) -> dict[str, Any]:
        rules, dice = walk.game.rules, self._dice(walk)
        bids, log = [], []
        for player, _, action in walk.moves[1:]:
            name = who(player, seat)
            if action == "call":
                log.append({"who": name, "text": "calls bluff"})
                continue
            quantity, face = map(int, action.split("x"))
            bids.append({"who": name, "quantity": quantity, "face": face})
            log.append({"who": name, "text": f"bids {_bid(action)}"})
        return {
            "kind": "dice",
            "faces": rules.faces,
            "own": dice[seat],
            "other": dice[1 - seat] if walk.over else None,
            "others": rules.dice[1 - seat],
            "total": sum(rules.dice),
            "bids": bids,
            "log": log,
        }

    def choices(self, walk: Walk) -> list[Choice]:
        choices: list[Choice] = []
        for name in walk.labels():
            if name == "call":
                choices.append(Choice("Call bluff", "c"))
                continue
            key = KEYS[len(choices)] if len(choices) < len(KEYS) else ""
            choices.append(Choice(_bid(name), key))
        return choices

    def progress(self, walk: Walk, player: int, action: Any) -> str:
        name = walk.labels()[action]
        return "calls bluff" if name == "call" else f"bids {_bid(name)}"

    def held(self, walk: Walk, seat: int) -> str:
        return " and ".join(f"a {die}" for die in self._dice(walk)[seat])

    def _dice(self, walk: Walk) -> tuple[list[int], list[int]]:
        rules, roll = walk.game.rules, int(walk.moves[0].action)
        faces: list[int] = []
        for _ in range(sum(rules.dice)):
            roll, die = divmod(roll, rules.faces)
            faces.insert(0, die + 1)
        return sorted(faces[: rules.dice[0]]), sorted(faces[rules.dice[0] :])


def _bid(label: str) -> str:
    """A bid in words: `2x6` is `two 6s`."""
    quantity, face = map(int, label.split("x"))
    count = NUMBERS[quantity] if quantity < len(NUMBERS) else str(quantity)
    return f"{count} {face}{'s' if quantity > 1 else ''}"
