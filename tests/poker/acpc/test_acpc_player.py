"""The client: our bots at a table that somebody else deals."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.acpc import DATA, Lined, between, served
from support.arena import Caller, Counter, Says, strategy

import counterplay as cp
from counterplay.poker.acpc import client
from counterplay.poker.acpc.client import AcpcResult, MatchCut, play_acpc
from counterplay.poker.acpc.plan import past_states
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.acpc import read_acpc

RECORDED = [
    line.removesuffix("\\r\\n") for line in (DATA / "seed42-seat1.txt").read_text().splitlines()
]
HEARD = [line[2:] for line in RECORDED if line[0] == ">"]
SAID = [line[2:] for line in RECORDED if line[0] == "<"][1:]
WORDS = {"f": "fold", "c": "call", "r": "raise"}


class Parrot(Counter):
    """Does what somebody did before, and notes what it saw."""

    name = "parrot"

    def __init__(self) -> None:
        super().__init__()
        self._words = iter(WORDS[line[-1]] for line in SAID)

    def act(self, view: View) -> str:
        self.views.append(view)
        return next(self._words)


def test_a_recorded_match_from_one_seat() -> None:
    """Every answer of the transcript, none where it has none, and the result of the log."""
    player = AcpcPlayer(Parrot())
    said = [answer for line in HEARD if (answer := player.respond(line)) is not None]
    assert said == SAID
    assert (player.hands, player.won * 10) == (50, 1360.0)
    hands = read_acpc(DATA / "seed42.log").hands
    for hand, ending in zip(hands, player.bot.endings, strict=True):
        assert ending.seat == hand.seat("Recorded")
        assert ending.won == hand.won("Recorded")
        assert ending.cards == hand.cards("Recorded")
        assert ending.shown == (hand.cards("Example") if hand.showdown else None)
        assert (ending.board, ending.betting.history) == (hand.board, hand.betting)


def test_views_and_endings_from_text_are_those_of_the_table() -> None:
    player = AcpcPlayer(Parrot())
    for line in HEARD:
        player.respond(line)
    for view in player.bot.views[:60]:
        assert cp.view(view.betting.history, _text(view.cards), _text(view.board)) == view
    for ending in player.bot.endings:
        shown = None if ending.shown is None else _text(ending.shown)
        history, board = ending.betting.history, _text(ending.board)
        assert cp.ending(history, ending.seat, _text(ending.cards), board, shown) == ending


def _text(cards: tuple[int, ...]) -> str:
    return "".join("23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in cards)


def test_lines_that_ask_nothing() -> None:
    bot = Counter()
    player = AcpcPlayer(bot)
    first = "MATCHSTATE:1:0::|2hAc"
    for line in ("", "# comment", "; comment", "SCORE:1|-1:a|b", "hello", "MATCHSTATE:0:0::7d3d|"):
        assert AcpcPlayer(Counter()).respond(line) is None
    assert player.respond(f"{first}\r\n") == f"{first}:c"
    assert player.respond(first) == f"{first}:c"  # asked again: the same answer, without a thought
    assert len(bot.views) == 1
    for line in ("MATCHSTATE:1:0:c:|2hAc", "MATCHSTATE:1:0:cc/:|2hAc/5sKs7s"):
        assert player.respond(line) is None
    over = "MATCHSTATE:1:0:cc/rf:|2hAc/5sKs7s"
    assert (player.respond(over), player.respond(over), player.hands) == (None, None, 1)
    # a client that comes in the middle of a hand, as after a dealer was started again
    late = AcpcPlayer(Counter())
    assert late.respond("MATCHSTATE:0:7:rc/cr:7d3d|/5sKs7s") == (
        "MATCHSTATE:0:7:rc/cr:7d3d|/5sKs7s:c"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("MATCHSTATE:0:0:r300:7d3d|", "a bet of no-limit hold'em; only two-player limit"),
        ("MATCHSTATE:2:0::||7d3d", "two-player limit"),
        ("MATCHSTATE:0:0:cc/cc:7d3d|/5sKs7s", "two-player limit"),
        ("MATCHSTATE:0:0:c:|", "cards are missing"),
        ("MATCHSTATE:0:0:cc/:7d3d|", "cards are missing"),
        ("MATCHSTATE:0:0:cc/cc/cc/cc:7d3d|/5sKs7s/9s/6h", "cards are missing"),
        ("MATCHSTATE:0:0:c:7x3d|", "not a card"),
        ("MATCHSTATE:x", "not a state"),
        ("MATCHSTATE:0:0:c:7d7d|", "has the card 7d twice"),
        ("MATCHSTATE:0:0:cc/:7d3d|/5sKs7d", "has the card 7d twice"),
        ("MATCHSTATE:0:0:cc/:7d3d|/5sKs5s", "has the card 5s twice"),
        ("MATCHSTATE:0:0:cc/cc/cc/cc:7d3d|Kc7d/5sKs7s/9s/6h", "has the card 7d twice"),
    ],
)
def test_states_of_another_game_are_refused(line: str, words: str) -> None:
    with pytest.raises(cp.CounterplayError, match=words):
        AcpcPlayer(Caller()).respond(line)


def test_a_card_that_comes_twice_later_in_a_hand_is_refused() -> None:
    player = AcpcPlayer(Caller())
    player.respond("MATCHSTATE:0:0:c:7d3d|")
    player.respond("MATCHSTATE:0:0:cc/:7d3d|/5sKs7s")
    with pytest.raises(cp.CounterplayError, match="has the card Ks twice"):
        player.respond("MATCHSTATE:0:0:cc/cc/:7d3d|/5sKs7s/Ks")


@pytest.mark.parametrize(
    "states",
    [
        ["MATCHSTATE:1:0::|2hAc", "MATCHSTATE:1:0:c:|2hAc"],  # no-limit: a raise without a size
        ["MATCHSTATE:1:0::|2hAc", "MATCHSTATE:1:0:f:|2hAc"],  # the other acts first
        ["MATCHSTATE:0:0:c:7d3d|", "MATCHSTATE:0:0:cc/:7d3d|/5sKs7s"],
        ["MATCHSTATE:0:0:c:7d3d|", "MATCHSTATE:0:0:c:7d3d|", "MATCHSTATE:0:0:cf:7d3d|"],
    ],
)
def test_a_state_without_our_action_is_of_another_game(states: list[str]) -> None:
    """Which is noticed at the first one."""
    player = AcpcPlayer("always-raise")
    for state in states[:-1]:
        assert player.respond(state) == f"{state}:r"
    with pytest.raises(cp.CounterplayError, match=r"after our 'c?r' in hand 0: .*another game"):
        player.respond(states[-1])


def test_the_states_of_a_log_are_those_that_were_sent() -> None:
    """By the competition's dealer, to one of the players."""
    assert past_states(DATA / "seed42.log", "Recorded") == HEARD


def test_a_dealer_of_another_game_is_left_with_the_result_so_far() -> None:
    def deal(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.read()
        for line in ("1:0:f:|2hAc", "1:2::|7d3d"):
            seat.say(f"MATCHSTATE:{line}")
        seat.read()
        seat.say("MATCHSTATE:1:2:r300:|7d3d")
        assert seat.read() == ""

    with pytest.raises(MatchCut, match="the dealer goes on with 'r300' after our 'c'") as cut:
        served(deal, lambda port: play_acpc("localhost", port, Caller()))
    assert cut.value.result[:2] == (1, -0.5)


def test_silence_in_the_first_hand_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the dealer waits for this player, who thinks that it is the other's turn."""
    monkeypatch.setattr(client, "SILENT_AFTER", 0.02)
    told: list[str] = []

    def deal(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.read()
        seat.say("MATCHSTATE:0:0::7d3d|")
        time.sleep(0.1)
        seat.say("MATCHSTATE:0:0:f:7d3d|")
        seat.say("MATCHSTATE:1:1::|7d3d")
        seat.read()
        time.sleep(0.1)
        seat.say("MATCHSTATE:1:1:cc/rf:|7d3d/5sKs7s")

    def play(port: int) -> AcpcResult:
        return play_acpc("localhost", port, Caller(), warn=told.append)

    assert served(deal, play).hands == 2
    assert told == [client.SILENT]


def test_half_a_state_before_the_end_is_none() -> None:
    def deal(connection: socket.socket) -> None:
        Lined(connection).read()
        connection.sendall(b"MATCHSTATE:1:0:f:|2hAc\r\nMATCHSTATE:0:1::7d3")

    assert served(deal, lambda port: play_acpc("localhost", port, Caller())).hands == 1


def test_an_answer_of_a_bot_that_is_not_legal_names_him() -> None:
    with pytest.raises(cp.CounterplayError, match="parrot answered 'sing' after ''"):
        AcpcPlayer(Says("sing")).respond("MATCHSTATE:1:0::|2hAc")


@pytest.mark.parametrize("size", [1, 3, 5000])
def test_lines_in_pieces(size: int) -> None:
    """However the dealer's bytes are cut, and with comments between."""
    said: list[str] = []

    def deal(connection: socket.socket) -> None:
        seat = Lined(connection)
        assert seat.read() == "VERSION:2.0.0\r\n"
        first = next(k for k, line in enumerate(RECORDED) if line.startswith("> MATCHSTATE:1:1:"))
        text = "".join(f"# well\r\n{line[2:]}\r\n" for line in RECORDED[1:first] if line[0] == ">")
        for k in range(0, len(text), size):
            connection.sendall(text[k : k + size].encode())
        said.extend(seat.read() for _ in range(2))

    result = served(deal, lambda port: play_acpc("127.0.0.1", port, Parrot()))
    assert said == [f"{line}\r\n" for line in SAID[:2]]
    assert result[:2] == (1, 3.0)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "closed the connection before a hand was dealt; 0 hands"),
        (["MATCHSTATE:1:7::|2hAc"], "in the middle of hand 7; 0 hands were finished"),
        (["MATCHSTATE:1:0:f:|2hAc", "MATCHSTATE:0:1::7d3d|"], "of hand 1; 1 hands .*, -0.5 small"),
    ],
)
def test_a_dealer_that_goes_away(lines: list[str], words: str) -> None:
    def deal(connection: socket.socket) -> None:
        Lined(connection).read()
        connection.sendall("".join(f"{line}\r\n" for line in lines).encode())

    with pytest.raises(MatchCut, match=words) as cut:
        served(deal, lambda port: play_acpc("localhost", port, Caller()))
    assert cut.value.result.hands == len(lines) // 2


def test_a_dealer_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with pytest.raises(cp.CounterplayError, match=f"no dealer at 127.0.0.1:{port}: "):
        play_acpc("127.0.0.1", port, Caller(), patience=0.0)
    with pytest.raises(cp.CounterplayError, match="port must be a whole number from 1 to 65535"):
        play_acpc("127.0.0.1", 0, Caller())


def test_a_dealer_that_comes_late() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]

    def deal() -> None:
        time.sleep(0.2)
        with socket.create_server(("127.0.0.1", port)) as place:
            connection, _ = place.accept()
            with connection:
                connection.sendall(b"MATCHSTATE:1:0:f:|2hAc\r\n")

    dealer = threading.Thread(target=deal)
    dealer.start()
    played = play_acpc("127.0.0.1", port, Caller())
    dealer.join()
    assert isinstance(played, AcpcResult)
    assert played.hands == 1


def test_a_response_for_one_seat_cannot_sit_down() -> None:
    one = strategy_bot(strategy(1))
    one.player = 0
    with pytest.raises(cp.CounterplayError, match="both seats"):
        AcpcPlayer(one)


# --- the same as play_match


@pytest.mark.parametrize(
    ("one", "two", "hands"),
    [
        ("always-call", "always-raise", 60),
        ("uniform", "probe", 500),
        (lambda: strategy_bot(strategy(1), "a"), lambda: strategy_bot(strategy(2), "b"), 200),
        (Counter, "probe", 200),  # remembers
    ],
    ids=["fixed", "random", "strategies", "memory"],
)
def test_over_the_protocol_as_in_play_match(one: Any, two: Any, hands: int, tmp_path: Path) -> None:
    """On the same cards and with the same seed the same actions, hand by hand. The second player
    deals first, as in the competition."""

    def made(player: Any) -> Any:
        return player() if callable(player) else player

    log, ours = tmp_path / "acpc.log", tmp_path / "ours.log"
    plan = cp.MatchPlan(("one", "two"), hands, 5, log=log)
    result = between(plan, made(one), made(two), 11)
    same = cp.play_match(
        "holdem(buckets=1)",
        made(two),
        made(one),
        seed=11,
        cards=cp.acpc_cards(5, hands),
        duplicate=False,
        log=ours,
    )
    played, again = (read_acpc(path).hands for path in (log, ours))
    assert [hand.betting for hand in played] == [hand.betting for hand in again]
    assert [hand.dealer_won for hand in played] == [hand.dealer_won for hand in again]
    assert result.mean == pytest.approx(-same.mean)
    assert result.standard_error == pytest.approx(same.standard_error)
    assert len({hand.betting for hand in played}) > (1 if hands == 60 else 20)


def test_cards_of_the_caller() -> None:
    """Two seats of every deal; nonsense is refused."""
    cards = cp.acpc_cards(1, 50)
    both = cp.play_match("holdem(buckets=1)", "always-call", "always-raise", cards=cards)
    assert (both.hands, both.duplicate, both.mean) == (100, True, 0.0)
    for bad, words in (
        (cards[:, :8], "deals by 9"),
        (cards[:0], "deals by 9"),
        (cards.astype(float), "deals by 9"),
        (cards.tolist(), "deals by 9"),
        (np.zeros((3, 9), dtype=np.uint8), "different"),
        (cards.astype(np.int64) + 52, "different"),
    ):
        with pytest.raises(cp.CounterplayError, match=words):
            cp.play_match("holdem(buckets=1)", Caller(), Caller(), cards=bad)
    with pytest.raises(cp.CounterplayError, match="100 hands"):
        cp.play_match("holdem(buckets=1)", Caller(), Caller(), 99, cards=cards)
    kuhn = cp.Strategy.uniform(cp.load("kuhn"))
    with pytest.raises(cp.CounterplayError, match="in hold'em"):
        cp.play_match("kuhn", kuhn, kuhn, cards=cards)
