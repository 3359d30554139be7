"""Programs of the competition as bots."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.poker.acpc.program import AcpcProgram, player_or_program
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import PlayedHand, play_session

GAME = "holdem(buckets=2)"
#: Answers every state at which it acts by `answer(history, position)`, and keeps what it was sent.
PROGRAM = """
import socket, sys
log = open(sys.argv[1], "a")
connection = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
connection.sendall(b"VERSION:2.0.0\\r\\n")
def acts(history, position):
    first = [1, 0, 0, 0]
    rounds = history.split("/")
    last = rounds[-1]
    over = "f" in history or (len(rounds) == 4 and last.endswith("c") and len(last) > 1)
    return not over and (first[len(rounds) - 1] + len(last)) % 2 == position
for line in connection.makefile():
    line = line.rstrip()
    log.write(line + "\\n"); log.flush()
    _, position, hand, history, cards = line.split(":")
    if acts(history, int(position)):
        ANSWER
        connection.sendall((line + ":" + answer + "\\r\\n").encode())
"""


def program(tmp_path: Path, answer: str, name: str = "bot") -> str:
    path = tmp_path / f"{name}.py"
    path.write_text(PROGRAM.replace("ANSWER", answer))
    return f"{sys.executable} {path} {tmp_path / 'seen.txt'}"


def ends(bot: object, other: str, n: int = 12) -> list[PlayedHand]:
    hands: list[PlayedHand] = []
    play_session((bot, cp.bot(other)), session_deals(3, 0, n), False, hands.append)
    return hands


def test_a_program_plays_as_the_bot_it_is(tmp_path: Path) -> None:
    bot = AcpcProgram(program(tmp_path, "answer = 'c'"))
    try:
        assert ends(bot, "always-raise") == ends(cp.bot("always-call"), "always-raise")
        assert bot.illegal == 0
    finally:
        bot.close()
    last = (tmp_path / "seen.txt").read_text().splitlines()[-1].split(":")
    assert last[3].count("/") == 3
    assert len(last[4].replace("|", "").replace("/", "")) == 2 * 9  # all cards were shown


def test_illegal_answers_are_calls_and_counted(tmp_path: Path) -> None:
    bot = AcpcProgram(program(tmp_path, "answer = 'x' if history == '' else 'c'"))
    try:
        assert ends(bot, "always-raise", 6) == ends(cp.bot("always-call"), "always-raise", 6)
        assert bot.illegal == 3
    finally:
        bot.close()


def test_a_silent_program_is_named(tmp_path: Path) -> None:
    bot = AcpcProgram(program(tmp_path, "import time; time.sleep(9); answer = 'c'"), seconds=0.3)
    with pytest.raises(cp.CounterplayError, match="gave no answer to MATCHSTATE"):
        ends(bot, "always-raise", 1)
    before = time.monotonic()
    bot.close()
    assert time.monotonic() - before < 5.0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("raise SystemExit", "before it ended"),
        ("while True: connection.sendall(b'# thinking\\r\\n' * 1_000)", "within 0.5 seconds"),
        ("while True: connection.sendall(b'MATCHSTATE:0:9::Ad|:c\\r\\n')", "within 0.5 seconds"),
    ],
)
def test_a_program_that_dies_or_writes_without_end_is_named(
    tmp_path: Path, answer: str, says: str
) -> None:
    bot = AcpcProgram(program(tmp_path, answer), seconds=0.5)
    try:
        with pytest.raises(cp.CounterplayError, match=says):
            ends(bot, "always-raise", 1)
    finally:
        bot.close()


def test_a_program_that_ends_or_does_not_speak(tmp_path: Path) -> None:
    for text, says in (
        ("raise SystemExit(3)", "code 3"),
        ("print('hello')", "before it connected"),
    ):
        path = tmp_path / "dead.py"
        path.write_text(text)
        bot = AcpcProgram(f"{sys.executable} {path}", seconds=5.0)
        with pytest.raises(cp.CounterplayError, match=says):
            bot.start(1)
    path.write_text("import time; time.sleep(60)")
    bot = AcpcProgram(f"{sys.executable} {path}", seconds=0.5)
    with pytest.raises(cp.CounterplayError, match=r"did not connect within 0\.5 seconds"):
        bot.start(1)
    for word in ("no-such-program", "always-call"):
        with pytest.raises(cp.CounterplayError):
            AcpcProgram(word)


def test_copies_start_their_own_program(tmp_path: Path) -> None:
    bot = AcpcProgram(program(tmp_path, "answer = 'c'"))
    for twin in (copy.deepcopy(bot), pickle.loads(pickle.dumps(bot))):
        assert twin.name == bot.name
        assert twin._connection is None
    assert player_or_program("always-call") == "always-call"
    word = f"acpc:{program(tmp_path, 'answer = 1')}"
    assert isinstance(player_or_program(word), AcpcProgram)


class Caller:
    def act(self, view: cp.View) -> str:
        return "call"


@pytest.mark.slow
def test_a_match_and_a_model_of_a_program(tmp_path: Path) -> None:
    """What `counterplay match` and `model` do with a program."""
    bot = AcpcProgram(program(tmp_path, "answer = 'c'"))
    log = tmp_path / "hands.parquet"
    result = cp.play_match(GAME, "probe", bot, 400, seed=1, log=log, processes=1)
    same = cp.play_match(GAME, "probe", Caller(), 400, seed=1, processes=1)
    assert result.mean == pytest.approx(same.mean)
    hands = cp.observe(cp.read_hands(log), bot.name)
    model = cp.learn_model(hands, cp.load(GAME), bot.name)
    assert model.strategy.probabilities[cp.load(GAME).form.first[0]] >= 0.0
    bot.close()
