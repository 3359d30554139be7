"""The commands `acpc ...`, typed as a user would."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.acpc import Lined, served
from support.command import Inside, facts_of

from counterplay.core.base.errors import CounterplayError
from counterplay.poker.acpc import server
from counterplay.poker.acpc.server import AcpcSeat
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.histories.acpc import read_acpc

#: A program of somebody else's: calls whenever it could be asked, or does what it is told.
PROGRAM = """#!{python}
import socket, sys
if "die" in sys.argv:
    sys.exit("no tables here")
connection = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
file = connection.makefile("rwb")
file.write(b"VERSION:2.0.0\\r\\n")
file.flush()
while line := file.readline().strip():
    if "leave" in sys.argv and b":3:" in line:
        break
    position, betting = int(line[11:12]), line.split(b":")[3]
    first = 0 if b"/" in betting else 1
    if position == (first + len(betting.rpartition(b"/")[2])) % 2 and betting.count(b"c") < 8:
        file.write(line + b":c\\r\\n")
        file.flush()
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "their_bot.py"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    return "./their_bot.py"


def test_dealing_to_programs_of_others(program: str, tmp_path: Path, inside: Inside) -> None:
    """Cards of the seed, a log that can be read, the score, the result; as JSON and for people."""
    deal = ("acpc", "deal", "-n", "20", "--seed", "1", program, f"{sys.executable} {program}")
    done = inside(tmp_path, *deal, "--log", "m.log", "--json", "--start-timeout", "20000")
    facts = facts_of(done)
    assert (facts["a"], facts["b"]) == ("their_bot.1", "their_bot.2")
    assert (facts["hands"], facts["stopped"], facts["log"]) == (20, False, "m.log")
    hands = read_acpc(tmp_path / "m.log").hands
    assert {hand.betting for hand in hands} == {"cc/cc/cc/cc"}
    assert facts["mean"] == pytest.approx(sum(hand.won("their_bot.1") for hand in hands) / 20)
    assert facts["interval"][0] < facts["mean"] < facts["interval"][1]
    more = inside(tmp_path, *deal, "--names", "Ann,Bob", "--log", "m.log", "--append")
    ports, score, result, *_ = more.stdout.splitlines()
    assert all(0 < int(port) < 2**16 for port in ports.split())
    assert (score[:6], result[:17]) == ("SCORE:", "Ann against Bob: ")
    assert len(read_acpc(tmp_path / "m.log").hands) == 40


@pytest.mark.parametrize(
    ("players", "words", "code"),
    [
        (["{} die", "wait"], "their_bot ended with code 1 before it connected: no tables here", 2),
        (["{}", "{} leave"], "ERROR: could not get action from seat 2", 1),
        (["wait", "wait"], "ERROR: timed out waiting for seat 1 to connect", 1),
    ],
)
def test_programs_that_fail(
    players: list[str], words: str, code: int, program: str, tmp_path: Path, inside: Inside
) -> None:
    """Nobody hangs, whatever the other does."""
    before = time.monotonic()
    options = ("-n", "50", "--log", "m.log", "--start-timeout", "1000")
    called = [player.format(program) for player in players]
    done = inside(tmp_path, "acpc", "deal", *called, *options)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "SCORE" not in done.stdout
    assert time.monotonic() - before < 10


@pytest.mark.skipif(os.name != "posix", reason="a script of the shell")
def test_what_a_program_has_started_ends_with_it(
    tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script of the shell that waits for a player that hangs."""
    monkeypatch.setattr(server.Program.end, "__defaults__", (0.1,))
    script = tmp_path / "hangs.sh"
    script.write_text(
        "#!/bin/sh\n(for k in $(seq 200); do echo x >> beats; sleep 0.05; done) &\nwait\n"
    )
    script.chmod(0o755)
    done = inside(tmp_path, "acpc", "deal", "./hangs.sh", "always-call", "--start-timeout", "500")
    assert "hangs was ended by the dealer" in done.stderr
    beats = (tmp_path / "beats").read_text()
    time.sleep(0.5)
    assert (tmp_path / "beats").read_text() == beats


def test_our_players_sit_in_the_dealers_process(
    tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless they shall have their own; bots of a user's own file always do."""
    started: list[str] = []

    def start(who: AcpcSeat, *more: object) -> None:
        started.append(who.name)
        raise CounterplayError("nothing is started here")

    monkeypatch.setattr(server, "Program", start)
    (tmp_path / "mine.py").write_text("class Mine:\n    def act(self, view):\n        pass\n")
    deal = ("acpc", "deal", "-n", "20", "--seed", "1", "always-call")
    facts = facts_of(inside(tmp_path, *deal, "always-raise", "--json", "--log", "m.log"))
    assert (facts["hands"], facts["stopped"], started) == (20, False, [])
    assert len(read_acpc(tmp_path / "m.log").hands) == 20
    for more in (["always-raise", "--own-processes"], ["mine.py:Mine"]):
        done = inside(tmp_path, *deal, *more)
        assert (done.returncode, "nothing is started here" in done.stderr) == (2, True)
    assert started == ["always-call", "Mine"]


def test_playing_for_a_dealer(tmp_path: Path, inside: Inside) -> None:
    def deal(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.read()
        seat.say("MATCHSTATE:1:0::|2hAc")
        assert seat.read() == "MATCHSTATE:1:0::|2hAc:c\r\n"
        seat.say("MATCHSTATE:1:0:cc/rf:|2hAc/5sKs7s")

    play = ("--player", "always-call", "--json")
    done = served(
        deal, lambda port: inside(tmp_path, "acpc", "play", "localhost", str(port), *play)
    )
    facts = facts_of(done)
    assert (facts["hands"], facts["won"], facts["stopped"]) == (1, -1.0, False)


def test_a_dealer_that_vanishes_leaves_the_result_so_far(tmp_path: Path, inside: Inside) -> None:
    def deal(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.read()
        seat.say("MATCHSTATE:1:0:cc/rf:|2hAc/5sKs7s")
        seat.say("MATCHSTATE:0:1::7d3d|")

    play = ("--player", "always-call", "--json")
    done = served(
        deal, lambda port: inside(tmp_path, "acpc", "play", "localhost", str(port), *play)
    )
    facts = json.loads(done.stdout)
    assert (facts["hands"], facts["won"], facts["stopped"]) == (1, -1.0, True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "in the middle of hand 1; 1 hands were finished" in done.stderr


#: Remembers the hands it has played, and leaves in its eighth if it is asked to.
OWN = """import os, sys
class Mine:
    hands = 0
    def new_hand(self, seat):
        self.hands += 1
    def act(self, view):
        if self.hands == 8 and os.path.exists("leave"):
            print("I have had enough", file=sys.stderr, flush=True)
            os._exit(3)
        wanted = "raise" if self.hands % 3 == 0 else "call"
        return wanted if wanted in view.betting.actions() else "call"
"""


def test_an_aborted_match_is_resumed(tmp_path: Path, inside: Inside) -> None:
    """A player's last words are shown and kept; resumed, it remembers what it had seen."""
    (tmp_path / "mine.py").write_text(OWN)
    deal = ("acpc", "deal", "mine.py:Mine", "uniform", "-n", "12", "--seed", "5")
    whole = facts_of(inside(tmp_path, *deal, "--log", "whole.log", "--json"))
    (tmp_path / "leave").touch()
    done = inside(tmp_path, *deal, "--log", "m.log")
    assert done.returncode == 1
    words, *error = done.stderr.strip().splitlines()
    assert words == "Mine ended with code 3: I have had enough"
    assert error[0] == "ERROR: could not get action from seat 1"
    assert (tmp_path / "m.player1.err").read_text() == "I have had enough\n"
    assert len(read_acpc(tmp_path / "m.log").hands) == 7
    (tmp_path / "leave").unlink()
    again = facts_of(inside(tmp_path, *deal, "--log", "m.log", "--resume", "--json"))
    one, two = (read_acpc(tmp_path / name).hands for name in ("whole.log", "m.log"))
    assert one == two
    assert {name: again[name] for name in ("mean", "hands", "stopped")} == {
        name: whole[name] for name in ("mean", "hands", "stopped")
    }
    assert not (tmp_path / "m.player2.err").exists()
    over = inside(tmp_path, *deal, "--log", "m.log", "--resume")
    assert (over.returncode, "the match is over" in over.stderr) == (2, True)


def test_a_dealer_that_is_killed_has_written_all_hands(tmp_path: Path, inside: Inside) -> None:
    """Whenever it is killed; and the match is resumed."""
    deal = ("acpc", "deal", "uniform", "probe", "-n", "1500", "--seed", "3", "--log", "m.log")
    deal = (*deal, "--transcript", "m.err")
    dealer = subprocess.Popen(
        [sys.executable, "-m", "counterplay.app.cli", *deal], cwd=tmp_path, stdout=subprocess.PIPE
    )
    log = tmp_path / "m.log"
    while dealer.poll() is None and (not log.exists() or log.read_bytes().count(b"\n") < 100):
        time.sleep(0.005)
    dealer.kill()
    dealer.communicate()
    sent = [line for line in (tmp_path / "m.err").read_text().splitlines() if line[:4] == "TO 1"]
    last = int(sent[-1].split(":")[2])
    assert last <= len(read_acpc(log).hands) <= last + 1
    assert len(read_acpc(log).hands) < 1500
    facts = facts_of(inside(tmp_path, *deal, "--resume", "--json"))
    assert facts["hands"] == 1500
    inside(tmp_path, *deal[:-4], "--log", "whole.log")
    assert read_acpc(log).hands == read_acpc(tmp_path / "whole.log").hands


def test_bots_as_programs(tmp_path: Path, inside: Inside) -> None:
    """A script for each, which a dealer starts with host and port."""
    written = facts_of(inside(tmp_path, "acpc", "bots", "--json"))
    assert set(written) == {*BOTS, "adaptive"}
    for player, place in written.items():
        script = tmp_path / place
        assert os.access(script, os.X_OK)
        assert f"--player {player} " in script.read_text()
    # some dealers pass a position too
    command = [tmp_path / written["always-call"], "127.0.0.1", "0", "1", "--loud"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr[:14]) == (2, "error: a port ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["deal", "poki", "nobody"], "unknown player 'nobody'"),
        (["deal", "poki", ""], "unknown player ''"),
        (["deal", "poki", "'"], "cannot read the command"),
        (["deal", "wait", "wait", "--ports", "1"], "two numbers"),
        (["deal", "wait", "wait", "--ports", "1,99999"], "from 0 to 65535"),
        (["deal", "wait", "wait", "--names", "a"], "two different names"),
        (["deal", "wait", "wait", "--names", "a b,c"], "no colon"),
        (["deal", "wait", "wait", "--append"], "needs the log to append to: --log"),
        (["deal", "wait", "wait", "--resume"], "resumed from its log: --log FILE"),
        (["deal", "wait", "wait", "--resume", "--log", "no.log"], "no.log: no such file"),
        (["deal", "wait", "wait", "--resume", "--append", "--log", "m.log"], "leave out --append"),
        (["deal", "wait", "wait", "--log", "/dev/null/m.log"], "cannot write /dev/null/m.log"),
        (["play", "localhost", "1", "--player", "poki", "--resume", "m.log"], "go together"),
        (["play", "localhost", "1", "--player", "poki", "--name", "me"], "go together"),
        (["deal", "wait", "wait", "--own-processes"], "neither player is one"),
        (["deal", "wait", "wait", "-n", "0"], "hands must be"),
        (["deal", "wait", "wait", "--seed", "-1"], "seed must be"),
        (["deal", "wait", "wait", "--t-hand", "0"], "milliseconds above 0"),
        (["deal", "wait", "wait", "--host", "256.1.1.1"], "cannot listen at 256.1.1.1"),
        (["play", "localhost", "70000", "--player", "always-call"], "a port must be"),
        (["play", "localhost", "1", "--player", "nobody"], "unknown player 'nobody'"),
        (["play", "localhost", "1", "--player", "poki", "--game", "kuhn"], "does not learn"),
        (["bots", "wait"], "is not built in"),
        (["bots", "nobody"], "unknown player 'nobody'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_acpc_mistakes_get_one_sentence(
    arguments: list[str], words: str, tmp_path: Path, inside: Inside
) -> None:
    done = inside(tmp_path, "acpc", *arguments)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_json_has_names_for_machines(tmp_path: Path, inside: Inside) -> None:
    written = inside(tmp_path, "acpc", "bots", "probe", "--json", "--out", "p")
    assert json.loads(written.stdout) == {"probe": "p/probe.sh"}
