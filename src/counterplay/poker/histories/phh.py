"""The poker hand history format (PHH): TOML, one hand per .phh file, or tables [1], [2], ... in a
.phhs file.

Hands that fit the rules of `poker/betting/betting.py` are read: `variant = "FT"`, two players, no
antes, blinds of a half and one small bet, no all-in. Players are listed in the order of the deal,
so heads-up p1 has the big blind and p2 the button. The specification lists heads-up blinds as if
reversed ([1, 2], p1 paying 2), other programs as paid; either order is read, and the dealer is the
player who acts first before the flop. A bet (`cbr`) gives the total that the player has put in on
this street. A showdown with unknown cards is decided by `winnings`, `finishing_stacks` or a muck;
where a rake was taken, the result is that of the rules. A `hand` that is no number is replaced by
the position of the hand among those read. `_observer` is a field of Counterplay.

A file is cut at its tables before it is parsed, so that a bad hand does not affect the others and
messages can name the line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from itertools import accumulate
from math import inf, isfinite
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.files import write_text
from counterplay.poker.betting.betting import CALL, FOLD, LETTER, LIMIT, RAISE
from counterplay.poker.histories.records import (
    DEALER,
    MAX_NUMBER,
    TOLERANCE,
    ErrorCallback,
    HandHistories,
    HandRecord,
    Holding,
    ReadErrors,
    add_checksum,
    cards_text,
    file_bytes,
    hand_files,
    parse_cards,
    parse_holding,
    settle,
    suffix_of,
    verify_checksums,
)

MAX_HAND = 20_000  # characters
ONE, MANY = ".phh", ".phhs"
TABLE = re.compile(r"^[ \t]*\[[ \t]*([\w\"'-]+)[ \t]*\][ \t]*(?:#.*)?\r?$", re.MULTILINE)
ACTION = {"f": FOLD, "cc": CALL, "cbr": RAISE}
SMALL_BET = 2  # chips, in written files: the small blind is 1
STACK = 24 * SMALL_BET  # four bets on every street
NUMBER = (int, float)
MAX_CHIPS = 1e15

Fields = dict[str, Any]


class BadHand(CounterplayError):
    """A hand that cannot be read: the field, and the action or the offset in the text."""

    def __init__(
        self, what: str, field: str = "actions", action: int | None = None, at: int | None = None
    ) -> None:
        super().__init__(what)
        self.field, self.action, self.at = field, action, at


def read_phh(
    path: Path | str, on_error: str = "refuse", report: ErrorCallback | None = None
) -> HandHistories:
    """Reads a .phh or .phhs file, or all in a folder and below, sorted by name (2 before 10)."""
    path, errors, hands = Path(path), ReadErrors(on_error, report), list[HandRecord]()
    for file in hand_files(path, (ONE, MANY)) if path.is_dir() else [path]:
        data = file_bytes(file)
        verify_checksums(file, data)
        text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        tables = set[str]()
        for first_line, block in _blocks(text, suffix_of(file) == MANY):
            fields: Fields = {}
            try:
                fields, table = _parse(block)
                if table in tables:
                    raise BadHand(f"table [{table}] stands twice", at=0)
                tables.add(table)
                hands.append(hand_from_fields(fields, len(hands) + len(errors.messages) + 1))
            except CounterplayError as error:
                line = first_line + block.count("\n", 0, _offset(block, fields, error))
                errors.add(f"{file}:{line}: {error}")
    return HandHistories(hands, errors.messages)


def _blocks(text: str, many: bool) -> list[tuple[int, str]]:
    """(first line, text) of each hand. The text before the first table is a hand of its own,
    unless it is only comments."""
    starts = [match.start() for match in TABLE.finditer(text)]
    bounds = zip([0, *starts], [*starts, len(text)], strict=True)
    blocks = [text[start:end] for start, end in bounds]
    first_lines = accumulate((block.count("\n") for block in blocks[:-1]), initial=1)
    numbered = list(zip(first_lines, blocks, strict=True))
    only_comments = all(
        not line.strip() or line.lstrip().startswith("#") for line in blocks[0].splitlines()
    )
    return numbered[1:] if only_comments and (starts or many) else numbered


def _parse(block: str) -> tuple[Fields, str]:
    """The fields of a hand and the name of its table, if it has one."""
    if len(block) > MAX_HAND:  # bounds the time of the TOML parser
        raise BadHand(f"{len(block):,} characters; a hand has less than {MAX_HAND:,}", at=0)
    try:
        block.encode()
        data = tomllib.loads(block)
    except UnicodeEncodeError as error:
        raise BadHand("not UTF-8 text", at=error.start) from None
    except (ValueError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        before = block.split("\n")[: int(line[1]) - 1] if line else []
        what = re.sub(r" \(at [^()]*\)$", "", str(error).splitlines()[0])[:100]
        offset = sum(len(text) + 1 for text in before)
        raise BadHand(f"not valid TOML: {what}", at=offset) from None
    if len(data) == 1:
        [(name, inner)] = data.items()
        if isinstance(inner, dict):
            return inner, name
    return data, ""


def _offset(block: str, fields: Fields, error: CounterplayError) -> int:
    """The offset of an error in the text of a hand: that of its field, or of its action."""
    if isinstance(error, BadHand) and error.at is not None:
        return error.at
    key = error.field if isinstance(error, BadHand) else "actions"
    match = re.search(rf"^[ \t]*{key}[ \t]*=", block, re.MULTILINE)
    at = start = match.start() if match else 0
    if isinstance(error, BadHand) and error.action is not None:
        for action in fields["actions"][: error.action + 1]:
            at = block.find(action, start)
            if at < 0:  # written with escapes
                return start
            start = at + len(action)
    return at


def hand_from_fields(fields: Fields, position: int) -> HandRecord:
    """The record of a hand; raises `BadHand`. `position`: its number, where the file has none."""
    parser = _HandParser(_small_bet(fields))
    for k, action in enumerate(_list(fields, "actions", (str,), None)):
        try:
            parser.apply(action.split("#")[0].split())
        except CounterplayError as error:
            raise BadHand(f"action {action[:60]!r}: {error}", action=k) from None
    if not parser.state.over:
        raise BadHand(f"the hand is not finished (betting {parser.state.history!r})")
    names = _list(fields, "players", (str,)) if "players" in fields else ["", ""]
    names = [name or f"p{k + 1}" for k, name in enumerate(names)]
    holes, board, button = parser.holdings(), tuple(parser.board), parser.button
    by_rules = settle(parser.state.history, board, holes[button], holes[1 - button])
    number = fields.get("hand")
    if isinstance(number, str) and re.fullmatch("[0-9]{1,18}", number):
        number = int(number)
    return HandRecord(
        number=number if type(number) is int and 0 <= number <= MAX_NUMBER else position,
        dealer=names[button],
        big_blind=names[1 - button],
        betting=parser.state.history,
        board=board,
        dealer_cards=holes[button],
        big_blind_cards=holes[1 - button],
        dealer_won=_dealer_won(parser, fields, by_rules),
        observer=fields.get("_observer"),
    )


def _list(fields: Fields, key: str, kinds: tuple[type, ...], size: int | None = 2) -> list[Any]:
    value = fields.get(key)
    if (
        not isinstance(value, list)
        or (size is not None and len(value) != size)
        or not all(isinstance(item, kinds) and not isinstance(item, bool) for item in value)
    ):
        what = f"{'' if size is None else size} {'strings' if str in kinds else 'numbers'}".strip()
        raise BadHand(f"{key} must be a list of {what}, got {str(value)[:60]}", key)
    if kinds == NUMBER and not all(0 <= item <= MAX_CHIPS or item == inf for item in value):
        raise BadHand(f"{key} holds a number out of range", key)
    return list(value)


def _small_bet(fields: Fields) -> float:
    """Chips of a small bet, once the game is checked."""
    if fields.get("variant") != "FT":
        raise BadHand(
            f"variant {str(fields.get('variant'))[:20]!r}: only fixed-limit hold'em ('FT') can be "
            f"read",
            "variant",
        )
    sizes = {"small_bet": [fields.get("small_bet"), fields.get("big_bet")]}
    small, big = _list(sizes, "small_bet", NUMBER)
    blinds = sorted(_list(fields, "blinds_or_straddles", NUMBER)) if 0 < small < inf else []
    if big != 2 * small or blinds != [small / 2, small]:
        raise BadHand(
            "only blinds of a half and one small bet, and a big bet of two, can be read",
            "blinds_or_straddles",
        )
    if "antes" in fields and any(_list(fields, "antes", NUMBER)):
        raise BadHand("hands with antes cannot be read", "antes")
    return float(small)


def _dealer_won(parser: _HandParser, fields: Fields, by_rules: float | None) -> float:
    """The dealer's result in small bets, by the rules or the chips collected, which must agree."""
    stake = min(parser.state.paid)
    collected = _collected(parser, fields)
    if collected is not None and any(collected):
        by_chips = stake * (int(collected[parser.button]) - int(collected[1 - parser.button]))
        if by_rules is not None and by_chips != by_rules:
            raise BadHand(
                f"the dealer won {by_chips:g} small bets by the chips, {by_rules:g} by the rules"
            )
        return by_chips
    if by_rules is None:
        raise BadHand("the winner is unknown: cards are missing, and no winnings are given")
    return by_rules


def _collected(parser: _HandParser, fields: Fields) -> list[bool] | None:
    """Whether p1 and p2 took chips from the pot, where the fields determine it."""
    paid = [parser.state.paid[(p + parser.button) % 2] * parser.small_bet for p in (0, 1)]
    least = TOLERANCE * parser.small_bet
    stacks, final = [inf, inf], None
    if "starting_stacks" in fields:
        stacks = _list(fields, "starting_stacks", NUMBER)
    if any(stack < amount - least for stack, amount in zip(stacks, paid, strict=True)):
        raise BadHand(
            f"a player pays more than its stack; all-in hands cannot be read (stacks {stacks})",
            "starting_stacks",
        )
    if "finishing_stacks" in fields and all(map(isfinite, stacks)):
        final = _list(fields, "finishing_stacks", NUMBER)
    if "winnings" in fields:
        return [amount > least for amount in _list(fields, "winnings", NUMBER)]
    if final is not None:
        changes = zip(final, stacks, paid, strict=True)
        return [last - first + amount > least for last, first, amount in changes]
    mucked = parser.mucked
    return [player not in mucked for player in (0, 1)] if len(mucked) == 1 else None


class _HandParser:
    """The state of a hand while its actions are read. Players are 0 for p1 and 1 for p2."""

    def __init__(self, small_bet: float) -> None:
        self.small_bet, self.state = small_bet, LIMIT.start()
        self.street_start = 0.0  # paid by each player before this street
        self.button = -1  # the player in the dealer's seat, known from the first action
        self.board: list[int] = []
        self.holes = ["", ""]
        self.mucked: set[int] = set()

    def apply(self, words: list[str]) -> None:
        """Applies one action; raises `BadParameter` if it is illegal."""
        if not words:
            return
        actor, verb, *rest = [*words, ""] if len(words) == 1 else words
        if actor == "d" and verb == "db" and len(rest) == 1:
            self.board += parse_cards(rest[0])
        elif actor == "d" and verb == "dh" and len(rest) == 2 and rest[0] in ("p1", "p2"):
            self.holes[int(rest[0][1]) - 1] += rest[1]
        elif actor in ("p1", "p2") and verb in ACTION and len(rest) == (verb == "cbr"):
            self._bet(int(actor[1]) - 1, ACTION[verb], rest)
        elif actor in ("p1", "p2") and verb == "sm" and len(rest) <= 1:
            self._show_or_muck(int(actor[1]) - 1, rest)
        else:
            raise BadParameter("not an action of two-player hold'em")

    def _bet(self, player: int, action: str, amount: list[str]) -> None:
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
            limit = (self.state.paid[seat] - self.street_start) * self.small_bet
            if not _equals(amount[0], limit):
                raise BadParameter(f"the fixed limit makes it {limit:g}")
        if self.state.round > state.round:
            self.street_start = self.state.paid[0]

    def _show_or_muck(self, player: int, shown: list[str]) -> None:
        if not self.state.over:
            raise BadParameter("cards are shown before the hand is over")
        if not shown:
            self.mucked.add(player)
        elif "?" not in shown[0] and shown[0] != "-":
            dealt = self.holes[player] if "?" not in self.holes[player] else ""
            if dealt and set(parse_cards(dealt)) != set(parse_cards(shown[0])):
                raise BadParameter(f"the player was dealt {dealt}")
            self.holes[player] = dealt or shown[0]

    def holdings(self) -> list[Holding | None]:
        return [parse_holding(hole) if hole.strip("?") else None for hole in self.holes]


def _equals(text: str, amount: float) -> bool:
    try:
        return abs(float(text) - amount) <= TOLERANCE * amount
    except ValueError:
        return False


def write_phh(path: Path | str, hands: Iterable[HandRecord]) -> None:
    """Writes a .phh file of one hand or a .phhs file of any number; a small bet is 2 chips."""
    path, hands = Path(path), list(hands)
    many = path.suffix.lower() == MANY
    if not many and len(hands) != 1:
        raise BadParameter(
            f"{path}: a .phh file holds one hand; give {len(hands)} hands a name that ends with "
            f".phhs"
        )
    tables = [f"[{k}]\n" if many else "" for k in range(1, len(hands) + 1)]
    texts = [table + _toml(hand) for table, hand in zip(tables, hands, strict=True)]
    write_text(path, add_checksum("\n".join(texts)))


def phh_block(hand: HandRecord, number: int) -> str:
    """Table [number] of a .phhs file with its checksum; concatenated blocks form a file."""
    return add_checksum(f"[{number}]\n{_toml(hand)}")


def _toml(hand: HandRecord) -> str:
    """JSON values are valid TOML here: names are printable, numbers are whole."""
    stake = min(hand.end.paid)
    winnings = [(stake - hand.dealer_won) * SMALL_BET, (stake + hand.dealer_won) * SMALL_BET]
    fields: Fields = {  # p1 has the big blind
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
    if hand.observer is not None:
        fields["_observer"] = hand.observer
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items()
    )


def _actions(hand: HandRecord) -> list[str]:
    holes = {"p1": hand.big_blind_cards, "p2": hand.dealer_cards}
    texts = {player: cards_text(hole) if hole else "????" for player, hole in holes.items()}
    lines = [f"d dh {player} {text}" for player, text in texts.items()]
    state, street_start, first = LIMIT.start(), 0.0, "p1"  # `first` shows first: the last to bet
    for letter in hand.betting.replace("/", ""):
        action, seat = LETTER[letter], state.player()
        player = "p2" if seat == DEALER else "p1"
        child = state.child(action)
        total = round((child.paid[seat] - street_start) * SMALL_BET)
        lines.append(f"{player} " + {FOLD: "f", CALL: "cc", RAISE: f"cbr {total}"}[action])
        first = player if action == RAISE else first
        if child.round > state.round:
            lines.append(f"d db {cards_text(hand.board[state.on_board : child.on_board])}")
            street_start, first = child.paid[0], "p1"
        state = child
    if hand.showdown:
        for player in (first, "p1" if first == "p2" else "p2"):
            lost = hand.dealer_won < 0 if player == "p2" else hand.dealer_won > 0
            mucks = holes[player] is None and lost
            lines.append(f"{player} sm" if mucks else f"{player} sm {texts[player]}")
    return lines
