"""The protocol: states of a match, responses of players, and the cards of a seed.

A state is `MATCHSTATE:<position>:<hand>:<betting>:<cards>`; `<cards>` are
`<big blind's>|<dealer's>/flop/turn/river`, as far as the reader may see them. A finished round ends
in / with the next cards already there, a finished hand does not. Responses are judged as by the
competition's dealer: one to another state is ignored, an illegal action is a call.

Cards are those of that dealer with the same seed. Its generator is MT19937 with
`init_genrand(seed)`, whose 32-bit words are those of NumPy's `RandomState`. Every hand takes nine
words and a new deck ordered by suits: word k modulo the number of cards left is the index of the
card dealt, and the last card left moves into its place. The big blind gets the first two, the
dealer the next two, then come flop, turn and river.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.poker.betting.betting import LETTER, LIMIT, NO_FOLD, Betting, betting_tree
from counterplay.poker.bots.bot import nodes_by_history
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.deal import N_DEALT
from counterplay.poker.histories.records import Holding, cards_text, parse_cards, parse_holding

VERSION = "VERSION:2.0.0"
STATE = "MATCHSTATE"
_HEAD = re.compile(rf"{STATE}:(\d{{1,9}}):(\d{{1,18}}):([^:]*):([^:]*)", re.ASCII)
UNREADABLE = "WARNING: bad state format in response"
NOT_REQUESTED = "WARNING: ignoring un-requested response"
NO_ACTION = "WARNING: bad action format in response, changed to call"
ILLEGAL = "WARNING: invalid action, changed to call"
ACTION_LETTERS = {b"f": "f", b"c": "c", b"k": "c", b"r": "r", b"b": "r"}
_CARD = rb"(?:[2-9TJQKAtjqka][CDHScdhs])"
_NUMBER = rb"\s*([+-]?\d+)"
_RESPONSE = re.compile(rb"MATCHSTATE:%b:%b:([^:]*):?" % (_NUMBER, _NUMBER))
_HOLES = re.compile(rb"(%b{0,2})\|?(%b{0,2})" % (_CARD, _CARD))
_STREETS = [rb"/?(%b{3})" % _CARD, rb"/?(%b)" % _CARD, rb"/?(%b)" % _CARD]
_BOARDS = [re.compile(b"".join(_STREETS[:street])) for street in range(4)]
MOST_SEED = 2**32
MOST_READ = 2**64 - 1  # a larger number in a response is read as this one
_SIZED = re.compile(r"[rb]\d")
CHUNK = 2_000  # hands dealt at once
_ORDERED = np.array([4 * (k % 13) + k // 13 for k in range(N_CARDS)], dtype=np.uint8)
_OUR_ORDER = [2, 3, 0, 1, 4, 5, 6, 7, 8]  # the dealer's cards before the big blind's


class MatchState(NamedTuple):
    """A state as a player sees it."""

    position: int  # 0: big blind, 1: dealer
    hand: int
    node: int  # of the betting tree
    cards: tuple[Holding | None, Holding | None]  # by position
    board: tuple[int, ...]

    @property
    def seat(self) -> int:
        """Our number of the seat: 0 the dealer, 1 the big blind."""
        return 1 - self.position

    @property
    def betting(self) -> Betting:
        return _states()[self.node]


@cache
def _states() -> list[Betting]:
    return betting_tree(LIMIT).states


def parse_state(line: str) -> MatchState:
    """A line of the dealer as a state; `BadParameter` for any other line."""
    parts = _HEAD.fullmatch(line)
    if parts is None:
        raise BadParameter(f"not a state of a match: {line[:60]!r}")
    position, hand, betting, cards = parts.groups()
    node = nodes_by_history().get(betting)
    if node is None or position not in ("0", "1") or cards.count("|") != 1:
        game = "a bet of no-limit hold'em" if _SIZED.search(betting) else "a state of another game"
        raise BadParameter(f"{game}; only two-player limit hold'em is supported: {line[:60]!r}")
    private, _, board = cards.partition("/")
    blind, _, dealer = private.partition("|")
    holes = (parse_holding(blind) if blind else None, parse_holding(dealer) if dealer else None)
    shown, end = parse_cards(board.replace("/", "")), _states()[node]
    unseen = None in holes if end.over and end.folded == NO_FOLD else not holes[int(position)]
    if unseen or len(shown) != end.on_board:
        raise BadParameter(f"cards are missing in the state {line[:60]!r}")
    check_cards([*(holes[0] or ()), *(holes[1] or ()), *shown])
    return MatchState(int(position), int(hand), node, holes, shown)


def check_cards(cards: list[int]) -> None:
    """`BadParameter` if a card occurs twice."""
    if len(set(cards)) < len(cards):
        twice = next(card for card in cards if cards.count(card) > 1)
        raise BadParameter(f"the state of the dealer has the card {cards_text([twice])} twice")


class PublicState(NamedTuple):
    """A node of the betting tree with the texts of the protocol."""

    history: str
    street: int
    position: int  # of the player to act, -1 if the hand is over
    showdown: bool
    after: dict[str, int]  # by the letter of an action


@cache
def public_states() -> list[PublicState]:
    tree = betting_tree(LIMIT)
    letters = {action: letter for letter, action in LETTER.items()}
    return [
        PublicState(
            state.history,
            state.round,
            -1 if state.over else 1 - state.player(),
            state.over and state.folded == NO_FOLD,
            {letters[action]: after for action, after in moves.items()},
        )
        for state, moves in zip(tree.states, tree.moves, strict=True)
    ]


class HandTexts(NamedTuple):
    """The cards of a deal as text, by street: as each position sees them, and all of them."""

    by_position: tuple[list[str], list[str]]
    all: list[str]


def hand_texts(cards: list[int]) -> HandTexts:
    """`cards`: the dealer's two, the big blind's two, the board."""
    text = cards_text(cards)
    dealer, blind = text[:4], text[4:8]
    boards = ["", f"/{text[8:14]}"]
    boards += [f"{boards[1]}/{text[14:16]}", f"{boards[1]}/{text[14:16]}/{text[16:18]}"]
    return HandTexts(
        ([f"{blind}|{board}" for board in boards], [f"|{dealer}{board}" for board in boards]),
        [f"{blind}|{dealer}{board}" for board in boards],
    )


class Request(NamedTuple):
    """The state that a player has to respond to."""

    line: bytes  # as sent to the player, without its end
    position: int
    hand: int
    node: int
    cards: str  # as the player sees them


class JudgedResponse(NamedTuple):
    """The letter of the action, None if the line is ignored, and the dealer's warning."""

    letter: str | None
    warning: str | None = None


def judge(line: bytes, request: Request) -> JudgedResponse:
    """Judges a line of a player as a response to a request.

    As the competition's dealer reads it: up to a NUL; numbers as C's `sscanf` does, modulo 2⁸ and
    2³²; separators of rounds, players and streets may be missing; as many cards as the betting
    needs. Without the player's own cards that dealer compares whatever is in its memory; here such
    a line is ignored.
    """
    if line.startswith(request.line) and line[len(request.line) :][:1] == b":":  # the usual case
        return _action(line[len(request.line) :], request.node)
    line = line.partition(b"\0")[0]
    head = _RESPONSE.match(line)
    position = -1 if head is None else _number(head[1], 2**8)
    node = None if head is None or position > 1 else _follow(head[3])
    if head is None or node is None:
        return JudgedResponse(None, UNREADABLE)
    holes = _HOLES.match(line, head.end())
    assert holes is not None  # it may be empty
    board = _BOARDS[public_states()[node].street].match(line, holes.end())
    if board is None or any(len(hole) == 2 for hole in holes.groups()):
        return JudgedResponse(None, UNREADABLE)
    cards = b"".join([holes[1 + position], *board.groups()]).lower().decode()
    given = position, _number(head[2], 2**32), node, cards
    expected = request.cards.replace("|", "").replace("/", "").lower()
    if given != (request.position, request.hand, request.node, expected):
        return JudgedResponse(None, NOT_REQUESTED)
    return _action(line[board.end() :], request.node)


def _number(text: bytes, modulus: int) -> int:
    value = int(text)
    return (value if abs(value) <= MOST_READ else MOST_READ) % modulus


def _action(rest: bytes, node: int) -> JudgedResponse:
    """The action behind the state: `:` and a letter; further characters are ignored."""
    if rest[:1] != b":":
        return JudgedResponse("c", NO_ACTION)
    letter = ACTION_LETTERS.get(rest[1:2].lower())
    legal = letter in public_states()[node].after
    return JudgedResponse(letter) if legal else JudgedResponse("c", ILLEGAL)


def _follow(betting: bytes) -> int | None:
    """The node of a betting history; separators of rounds are ignored."""
    node, states = 0, public_states()
    for k in range(len(betting)):
        letter = betting[k : k + 1].lower()
        if letter != b"/":
            after = states[node].after.get(ACTION_LETTERS.get(letter, ""))
            if after is None:
                return None
            node = after
    return node


def states_until(position: int, hand: int, history: str, cards: str) -> list[str]:
    """The states of a hand as a position sees them, up to that of `history` with `cards`."""
    holes, *streets = cards.split("/")
    own = holes.split("|")[position]
    seen = [f"{own}|" if position == 0 else f"|{own}", *streets]
    node, states, lines = 0, public_states(), list[str]()
    for letter in history.replace("/", ""):
        public = states[node]
        shown = "/".join(seen[: 1 + public.street])
        lines.append(f"{STATE}:{position}:{hand}:{public.history}:{shown}")
        node = public.after[letter]
    return [*lines, f"{STATE}:{position}:{hand}:{history}:{cards}"]


def acpc_cards(seed: int, hands: int) -> np.ndarray:
    """uint8[hands, 9]: the dealer's two cards, the big blind's two, the board, as dealt by the
    competition's dealer with that seed; for `cards` of `play_match`."""
    whole_number(hands, 1, None, "hands")
    return np.concatenate(list(_chunks(seed, hands)))


def deals_of(seed: int, hands: int) -> Iterator[list[int]]:
    """The cards of `acpc_cards`, deal by deal."""
    for chunk in _chunks(seed, hands):
        yield from chunk.tolist()


def _chunks(seed: int, hands: int) -> Iterator[np.ndarray]:
    words = np.random.RandomState(check_acpc_seed(seed))
    for done in range(0, hands, CHUNK):
        n = min(CHUNK, hands - done)
        yield _deal(words.randint(0, 2**32, (n, N_DEALT), dtype=np.uint32))


def _deal(words: np.ndarray) -> np.ndarray:
    """Cards uint8[n, 9] from random words uint32[n, 9]."""
    n = len(words)
    row, decks = np.arange(n), np.tile(_ORDERED, (n, 1))
    dealt = np.empty((n, N_DEALT), dtype=np.uint8)
    for k in range(N_DEALT):
        left = N_CARDS - k
        place = words[:, k] % np.uint32(left)
        dealt[:, k] = decks[row, place]
        decks[row, place] = decks[:, left - 1]
    return dealt[:, _OUR_ORDER]


def check_acpc_seed(seed: int) -> int:
    """The seed modulo 2³², as that dealer reads it; `BadParameter` if invalid."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadParameter(f"seed must be a whole number from 0, not {seed!r}")
    return int(seed) % MOST_SEED
