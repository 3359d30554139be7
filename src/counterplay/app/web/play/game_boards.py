"""Boards of the built-in games: Kuhn poker, One-Card Poker, Leduc hold'em, Bluff, Goofspiel, and
Princess and Monster."""

from __future__ import annotations

from typing import Any

from counterplay.app.web.play.table import Choice, who
from counterplay.app.web.play.tree_games import GameBoard, History
from counterplay.core.games.leduc import BET_SIZE
from counterplay.core.games.pam import CAUGHT, PRINCESS, STEP_LABELS

ANTE = 1
ONE_BET_RULES = (
    "Check or bet one chip. After a bet the other calls or folds.",
    "Without a fold the higher card takes the pot.",
)
BID_RESULTS = ("lost", "tied", "won")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
BID_KEYS = "123456789"
STEP_KEYS = {
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "stay": " ",
}


class OneBetBoard(GameBoard):
    """One card each, one bet: Kuhn poker and One-Card Poker."""

    def _deal(self, history: History) -> tuple[str, str]:
        raise NotImplementedError

    def _deck(self, history: History) -> str:
        raise NotImplementedError

    def view(self, history: History, seat: int) -> dict[str, Any]:
        cards, paid, log = self._deal(history), [ANTE, ANTE], self.log(history, seat)
        for player, child, _ in history.moves[1:]:
            paid[player] += child
        showdown = history.over and log[-1]["text"] != "folds"
        return {
            "kind": "cards",
            "own": cards[seat],
            "other": cards[1 - seat] if showdown else None,
            "public": None,
            "paid": [paid[seat], paid[1 - seat]],
            "deck": self._deck(history),
            "log": log,
        }

    def choices(self, history: History) -> list[Choice]:
        if _has_bet(history):
            return [Choice("Fold", "f"), Choice("Call 1", "c")]
        return [Choice("Check", "c"), Choice("Bet 1", "r")]

    def move_text(self, history: History, child: int) -> str:
        return (("folds", "calls") if _has_bet(history) else ("checks", "bets 1"))[child]

    def held_text(self, history: History, seat: int) -> str:
        return f"the {self._deal(history)[seat]}"


def _has_bet(history: History) -> bool:
    return any(child == 1 for _, child, _ in history.moves[1:])


class KuhnBoard(OneBetBoard):
    """Kuhn poker: three cards, J, Q and K."""

    rules = (
        "Three cards: jack, queen, king. Each of you antes one chip and gets one card.",
        *ONE_BET_RULES,
    )

    def _deal(self, history: History) -> tuple[str, str]:
        cards = history.moves[0].action
        return cards[0], cards[1]

    def _deck(self, history: History) -> str:
        return "J Q K"


class OneCardBoard(OneBetBoard):
    """One-Card Poker: cards from 1 to N."""

    rules = (
        "A deck of numbered cards. Each of you antes one chip and gets one card.",
        *ONE_BET_RULES,
    )

    def _deal(self, history: History) -> tuple[str, str]:
        own, other = divmod(int(history.moves[0].action), history.game.rules.cards - 1)
        return str(own + 1), str(other + (other >= own) + 1)

    def _deck(self, history: History) -> str:
        return f"1 to {history.game.rules.cards}"


class LeducBoard(GameBoard):
    """Leduc hold'em: six cards, two rounds, a public card between them."""

    rules = (
        "Six cards: jack, queen and king in two suits. Each of you antes one chip and gets one.",
        "Two rounds of betting, bets of 2 and then of 4, two bets a round at most.",
        "After the first round a public card is dealt. A pair with it wins; else the higher card.",
    )

    def view(self, history: History, seat: int) -> dict[str, Any]:
        cards, rounds = self._cards_and_rounds(history)
        paid = history.game.rules.chips(history.state.words)
        showdown = history.over and not rounds[-1].endswith("f")
        log = self.log(history, seat)
        if len(rounds) > 1:
            log.insert(len(rounds[0]), {"who": "table", "text": f"the {cards[2]} is dealt"})
        return {
            "kind": "cards",
            "own": cards[seat],
            "other": cards[1 - seat] if showdown else None,
            "public": cards[2] if len(cards) > 2 else None,
            "paid": [paid[seat], paid[1 - seat]],
            "deck": "J J Q Q K K",
            "log": log,
        }

    def choices(self, history: History) -> list[Choice]:
        choices = []
        for child, name in enumerate(history.labels()):
            verb, _, rest = self.move_text(history, child).partition(" ")
            choices.append(Choice(f"{verb.capitalize()[:-1]} {rest}".strip(), name[0]))
        return choices

    def move_text(self, history: History, child: int) -> str:
        rounds, name = self._cards_and_rounds(history)[1], history.labels()[child]
        facing, size = rounds[-1].endswith("r"), BET_SIZE[len(rounds) - 1]
        if name[0] == "r":
            return f"raises {size}" if facing else f"bets {size}"
        if name[0] == "f":
            return "folds"
        return "calls" if facing else "checks"

    def held_text(self, history: History, seat: int) -> str:
        return f"the {self._cards_and_rounds(history)[0][seat]}"

    def _cards_and_rounds(self, history: History) -> tuple[list[str], list[str]]:
        """The cards so far, and the letters of each round of betting."""
        cards, rounds = history.game.rules.cards_and_bets(history.state.words)
        return cards, rounds


class BluffBoard(GameBoard):
    """Bluff: the player's dice and the bids so far."""

    rules = (
        "Each of you rolls dice under a cup and sees only those. The highest face is wild.",
        "Bid how many of a face lie under both cups together; every bid must be higher.",
        "If you do not believe a bid, call it: the player who was wrong loses.",
    )

    def view(self, history: History, seat: int) -> dict[str, Any]:
        rules, dice = history.game.rules, self._dice(history)
        bids = []
        for player, _, action in history.moves[1:]:
            if action != "call":
                quantity, face = map(int, action.split("x"))
                bids.append({"who": who(player, seat), "quantity": quantity, "face": face})
        return {
            "kind": "dice",
            "faces": rules.faces,
            "own": dice[seat],
            "other": dice[1 - seat] if history.over else None,
            "others": rules.dice[1 - seat],
            "total": sum(rules.dice),
            "bids": bids,
            "log": self.log(history, seat),
        }

    def choices(self, history: History) -> list[Choice]:
        choices: list[Choice] = []
        for name in history.labels():
            if name == "call":
                choices.append(Choice("Call bluff", "c"))
                continue
            key = BID_KEYS[len(choices)] if len(choices) < len(BID_KEYS) else ""
            choices.append(Choice(_bid_text(name), key))
        return choices

    def move_text(self, history: History, child: int) -> str:
        name = history.labels()[child]
        return "calls bluff" if name == "call" else f"bids {_bid_text(name)}"

    def held_text(self, history: History, seat: int) -> str:
        return " and ".join(f"a {die}" for die in self._dice(history)[seat])

    def _dice(self, history: History) -> tuple[list[int], list[int]]:
        rules, roll = history.game.rules, int(history.moves[0].action)
        faces: list[int] = []
        for _ in range(sum(rules.dice)):
            roll, die = divmod(roll, rules.faces)
            faces.insert(0, die + 1)
        return sorted(faces[: rules.dice[0]]), sorted(faces[rules.dice[0] :])


def _bid_text(label: str) -> str:
    """A bid in words: `2x6` is `two 6s`."""
    quantity, face = map(int, label.split("x"))
    count = NUMBERS[quantity] if quantity < len(NUMBERS) else str(quantity)
    return f"{count} {face}{'s' if quantity > 1 else ''}"


class GoofspielBoard(GameBoard):
    """Goofspiel: the hand, the prize and the results of earlier bids; all bids at the end."""

    rules = (
        "Both of you hold the same cards. Point cards are turned up, the highest first.",
        "Each bids one card in secret; the higher bid takes the points, equal bids take none.",
        "You learn who won, not with which card. More points at the end win the game.",
    )

    def view(self, history: History, seat: int) -> dict[str, Any]:
        n, bids = history.game.rules.cards, self._bids(history)
        rounds, points = [], [0, 0]
        for k, (one, two) in enumerate(zip(*bids, strict=False)):
            own, other = (one, two) if seat == 0 else (two, one)
            result = 1 + (own > other) - (own < other)
            points[0] += (n - k) * (result == 2)
            points[1] += (n - k) * (result == 0)
            rounds.append(
                {
                    "prize": n - k,
                    "own": own,
                    "other": other if history.over else None,
                    "result": BID_RESULTS[result],
                }
            )
        return {
            "kind": "bids",
            "cards": n,
            "hand": [card for card in range(1, n + 1) if card not in bids[seat][: len(rounds)]],
            "prize": None if history.over else n - len(rounds),
            "rounds": rounds,
            "points": points,
            "log": [],
        }

    def choices(self, history: History) -> list[Choice]:
        return [Choice(name, name if len(name) == 1 else "") for name in history.labels()]

    def move_text(self, history: History, child: int) -> str:
        return f"bids {history.labels()[child]}"

    def held_text(self, history: History, seat: int) -> str:
        return "the same cards as you"

    def _bids(self, history: History) -> tuple[list[int], list[int]]:
        bids: tuple[list[int], list[int]] = ([], [])
        for player, _, action in history.moves:
            bids[player].append(int(action))
        return bids


class PamBoard(GameBoard):
    """Princess and Monster: the grid, the own path and the moves left; both paths at the end."""

    rules = (
        "The room is dark. The princess runs, the monster hunts; neither sees or hears the other.",
        "You move in turns, one step up, down, left or right.",
        "The princess wins a point for every move made before she is caught.",
    )

    def view(self, history: History, seat: int) -> dict[str, Any]:
        rules, paths = history.game.rules, self._paths(history)
        made = len(history.moves) - 1
        return {
            "kind": "room",
            "rows": rules.rows,
            "columns": rules.columns,
            "me": "princess" if seat == PRINCESS else "monster",
            "way": paths[seat],
            "other": paths[1 - seat] if history.over else None,
            "caught": bool(history.over and history.state.words[CAUGHT]),
            "made": made,
            "moves": rules.moves,
            "log": [],
        }

    def choices(self, history: History) -> list[Choice]:
        return [Choice(name.capitalize(), STEP_KEYS[name]) for name in history.labels()]

    def move_text(self, history: History, child: int) -> str:
        name = history.labels()[child]
        return "stays" if name == "stay" else f"goes {name}"

    def held_text(self, history: History, seat: int) -> str:
        row, column = divmod(self._paths(history)[seat][0], history.game.rules.columns)
        return f"a start in row {row + 1}, column {column + 1}"

    def _paths(self, history: History) -> tuple[list[int], list[int]]:
        """The cells of each player, from its start on."""
        rules = history.game.rules
        start = rules.starts[history.moves[0].child]
        paths = [int(start[0])], [int(start[1])]
        for player, _, action in history.moves[1:]:
            paths[player].append(int(rules.step[paths[player][-1], STEP_LABELS.index(action)]))
        return paths


BOARDS: dict[str, type[GameBoard]] = {
    "kuhn": KuhnBoard,
    "ocp": OneCardBoard,
    "leduc": LeducBoard,
    "bluff": BluffBoard,
    "goofspiel": GoofspielBoard,
    "pam": PamBoard,
}
