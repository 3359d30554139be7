"""One hand in the poker hand history format (PHH): from its fields to a `HandRecord` and back.

Read is what fits the rules of `holdem.betting`: `variant = "FT"`, two players, no antes, blinds of
a half and one small bet, no all-in. Players are listed in the order of the deal, so heads-up p1 has
the big blind and p2 the button. The specification lists blinds heads-up as if reversed ([1, 2], p1
paying 2), others list them as paid; so either order is taken, and the dealer is who acts first
before the flop. A bet (`cbr`) gives all that the player has put in on this street. A showdown with
unknown cards is decided by `winnings`, `finishing_stacks` or a muck; where a rake was taken, the
result is that of the rules. A `hand` that is no number is replaced by the hand's place in the
reading. `_observer` is Counterplay's own field.
"""

from __future__ import annotations

import re
from math import inf, isfinite
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.poker.betting.betting import CALL, FOLD, LIMIT, RAISE
from counterplay.poker.histories import records as rules
from counterplay.poker.histories.records import (
    DEALER,
    TOLERANCE,
    HandRecord,
    Holding,
    cards_text,
    parse_cards,
    parse_holding,
)

ACTION = {"f": FOLD, "cc": CALL, "cbr": RAISE}
SMALL_BET = 2  # chips, in what is written: the small blind is 1
STACK = 24 * SMALL_BET  # four bets on every street
NUMBER = (int, float)
LARGEST = 1e15  # chips

Fields = dict[str, Any]


class BadHand(CounterplayError):
    """A hand that cannot be read: in which field, and in which of the actions."""

    def __init__(self, what: str, field: str = "actions", action: int | None = None) -> None:
        super().__init__(what)
        self.field, self.action = field, action


def hand_from(fields: Fields, place: int) -> HandRecord:
    """The record of a hand, or `BadHand`."""
    play = _Play(_unit(fields))
    for k, action in enumerate(_list(fields, "actions", (str,), None)):
        try:
            play.step(action.split("#")[0].split())
        except CounterplayError as error:
            raise BadHand(f"action {action[:60]!r}: {error}", action=k) from None
    if not play.state.over:
        raise BadHand(f"the hand is not finished (betting {play.state.history!r})")
    names = _list(fields, "players", (str,)) if "players" in fields else ["", ""]
    names = [name or f"p{k + 1}" for k, name in enumerate(names)]
    holes, board, button = play.holdings(), tuple(play.board), play.button
    number = fields.get("hand")
    if isinstance(number, str) and re.fullmatch("[0-9]{1,18}", number):
        number = int(number)
    return HandRecord(
        number=number if type(number) is int and 0 <= number <= rules.MAX_NUMBER else place,
        dealer=names[button],
        big_blind=names[1 - button],
        betting=play.state.history,
        board=board,
        dealer_cards=holes[button],
        big_blind_cards=holes[1 - button],
        dealer_won=_result(
            play, fields, rules.settle(play.state.history, board, holes[button], holes[1 - button])
        ),
        observer=fields.get("_observer"),
    )


def _list(fields: Fields, key: str, kinds: tuple[type, ...], size: int | None = 2) -> list[Any]:
    value = fields.get(key)
    good = isinstance(value, list) and (size is None or len(value) == size)
    if not good or not all(
        isinstance(item, kinds) and not isinstance(item, bool) for item in value or ()
    ):
        what = f"{'' if size is None else size} {'strings' if str in kinds else 'numbers'}".strip()
        raise BadHand(f"{key} must be a list of {what}, got {str(value)[:60]}", key)
    if kinds == NUMBER and not all(0 <= item <= LARGEST or item == inf for item in value or ()):
        raise BadHand(f"{key} holds a number out of range", key)
    return list(value or ())


def _unit(fields: Fields) -> float:
    """Chips of a small bet, after a look at the game."""
    if fields.get("variant") != "FT":
        raise BadHand(
            f"variant {str(fields.get('variant'))[:20]!r}: only fixed-limit hold'em ('FT') can be "
            f"read",
            "variant",
        )
    small, big = _list(
        {"small_bet": [fields.get("small_bet"), fields.get("big_bet")]}, "small_bet", NUMBER
    )
    if (
        not 0 < small < inf
        or big != 2 * small
        or sorted(_list(fields, "blinds_or_straddles", NUMBER)) != [small / 2, small]
    ):
        raise BadHand(
            "only blinds of a half and one small bet, and a big bet of two, can be read",
            "blinds_or_straddles",
        )
    if "antes" in fields and any(_list(fields, "antes", NUMBER)):
        raise BadHand("hands with antes cannot be read", "antes")
    return float(small)


def _result(play: _Play, fields: Fields, by_rules: float | None) -> float:
    """What the dealer won, in small bets: by the rules, or by who collected chips. Both must
    agree."""
    stake = min(play.state.paid)
    collected = _collected(play, fields)
    if collected is not None and any(collected):
        said = stake * (int(collected[play.button]) - int(collected[1 - play.button]))
        if by_rules is not None and said != by_rules:
            raise BadHand(
                f"the dealer won {said:g} small bets by the chips, {by_rules:g} by the rules"
            )
        return said
    if by_rules is None:
        raise BadHand("it is not known who won: cards are missing, and no winnings are given")
    return by_rules


def _collected(play: _Play, fields: Fields) -> list[bool] | None:
    """Whether p1 and p2 took chips from the pot, if the fields say."""
    paid = [play.state.paid[(player + play.button) % 2] * play.unit for player in (0, 1)]
    least = TOLERANCE * play.unit
    final, stacks = (
        None,
        _list(fields, "starting_stacks", NUMBER) if "starting_stacks" in fields else [inf, inf],
    )
    if any(stack < amount - least for stack, amount in zip(stacks, paid, strict=True)):
        raise BadHand(
            f"a player pays more than he has; all-in hands cannot be read (stacks {stacks})",
            "starting_stacks",
        )
    if "finishing_stacks" in fields and all(map(isfinite, stacks)):
        final = _list(fields, "finishing_stacks", NUMBER)
    if "winnings" in fields:
        return [amount > least for amount in _list(fields, "winnings", NUMBER)]
    if final is not None:
        return [
            last - first + amount > least
            for last, first, amount in zip(final, stacks, paid, strict=True)
        ]
    return [player not in play.mucked for player in (0, 1)] if len(play.mucked) == 1 else None


class _Play:
    """A hand while its actions are read. Players are 0 for p1 and 1 for p2."""

    def __init__(self, unit: float) -> None:
        self.unit, self.state, self.street = (
            unit,
            LIMIT.start(),
            0.0,
        )  # what each had paid when this street began
        self.button = -1  # the player with the dealer's seat, known when he acts
        self.board: list[int] = []
        self.holes = ["", ""]
        self.mucked: set[int] = set()

    def step(self, words: list[str]) -> None:
        """One action; raises with what is wrong about it."""
        if not words:
            return
        actor, verb, *rest = [*words, ""] if len(words) == 1 else words
        if actor == "d" and verb == "db" and len(rest) == 1:
            self.board += parse_cards(rest[0])
        elif actor == "d" and verb == "dh" and len(rest) == 2 and rest[0] in ("p1", "p2"):
            self.holes[int(rest[0][1]) - 1] += rest[1]
        elif actor in ("p1", "p2") and verb in ACTION and len(rest) == (verb == "cbr"):
            self._act(int(actor[1]) - 1, ACTION[verb], rest)
        elif actor in ("p1", "p2") and verb == "sm" and len(rest) <= 1:
            self._show(int(actor[1]) - 1, rest)
        else:
            raise BadParameter("not an action of two-player hold'em")

    def _act(self, player: int, action: str, amount: list[str]) -> None:
        state = self.state
        if state.over:
            raise BadParameter("the hand is over")
        self.button = player if self.button < 0 else self.button
        if len(self.board) != state.on_board:
            raise BadParameter(
                f"{len(self.board)} cards on the board, this round has {state.on_board}"
            )
        seat = (player + self.button) % 2
        if seat != state.player():
            raise BadParameter("the other player has to act")
        if action not in state.actions():
            raise BadParameter(f"no {action} here; legal: {', '.join(state.actions())}")
        self.state = state.child(action)
        if action == RAISE:
            right = (self.state.paid[seat] - self.street) * self.unit
            if not _is_number(amount[0], right):
                raise BadParameter(f"the fixed limit makes it {right:g}")
        if self.state.round > state.round:
            self.street = self.state.paid[0]

    def _show(self, player: int, shown: list[str]) -> None:
        if not self.state.over:
            raise BadParameter("cards are shown before the hand is over")
        if not shown:
            self.mucked.add(player)
        elif "?" not in shown[0] and shown[0] != "-":
            known = self.holes[player]
            if known and "?" not in known and set(parse_cards(known)) != set(parse_cards(shown[0])):
                raise BadParameter(f"he was dealt {known}")
            self.holes[player] = known if known and "?" not in known else shown[0]

    def holdings(self) -> list[Holding | None]:
        return [parse_holding(hole) if hole.strip("?") else None for hole in self.holes]


def _is_number(text: str, right: float) -> bool:
    try:
        return abs(float(text) - right) <= TOLERANCE * right
    except ValueError:
        return False


def fields_of(hand: HandRecord) -> Fields:
    """What to write for a hand; p1 has the big blind."""
    stake = min(hand.end.paid)
    winnings = [(stake - hand.dealer_won) * SMALL_BET, (stake + hand.dealer_won) * SMALL_BET]
    fields = {
        "variant": "FT",
        "antes": [0, 0],
        "blinds_or_straddles": [SMALL_BET // 2, SMALL_BET],
        "small_bet": SMALL_BET,
        "big_bet": 2 * SMALL_BET,
        "starting_stacks": [STACK, STACK],
        "actions": _actions(hand),
        "hand": hand.number,
        "players": [hand.big_blind, hand.dealer],
        "winnings": [round(amount) for amount in winnings],
    }
    return fields if hand.observer is None else fields | {"_observer": hand.observer}


def _actions(hand: HandRecord) -> list[str]:
    holes = {"p1": hand.big_blind_cards, "p2": hand.dealer_cards}
    lines = [
        f"d dh {player} {cards_text(hole) if hole else '????'}" for player, hole in holes.items()
    ]
    state, street, first = LIMIT.start(), 0.0, "p1"
    for letter in hand.betting.replace("/", ""):
        action, seat = {"f": FOLD, "c": CALL, "r": RAISE}[letter], state.player()
        player = "p2" if seat == DEALER else "p1"
        child = state.child(action)
        verb = {
            FOLD: "f",
            CALL: "cc",
            RAISE: f"cbr {round((child.paid[seat] - street) * SMALL_BET)}",
        }[action]
        lines.append(f"{player} {verb}")
        first = player if action == RAISE else first
        if child.round > state.round:
            lines.append(f"d db {cards_text(hand.board[state.on_board : child.on_board])}")
            street, first = child.paid[0], "p1"
        state = child
    if hand.showdown:  # the last to bet shows first
        for player in (first, "p1" if first == "p2" else "p2"):
            hole, lost = (
                holes[player],
                (hand.dealer_won < 0) == (player == "p2") and hand.dealer_won != 0,
            )
            lines.append(
                f"{player} sm {cards_text(hole)}"
                if hole
                else f"{player} sm"
                if lost
                else f"{player} sm ????"
            )
    return lines
