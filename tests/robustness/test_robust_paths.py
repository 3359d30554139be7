"""Every path that a command takes, given as what is no such path: one sentence and code 2, at
once."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from support.command import COMMAND, Done, one_sentence, typed
from support.hands import random_hands

import counterplay as cp
from counterplay.app.cli import commands as cli
from counterplay.app.cli import display
from counterplay.app.reproduction.harness import reproduce
from counterplay.app.reproduction.harness.base import Experiment, Outcome
from counterplay.core.base import files
from counterplay.poker.histories.parquet import write_parquet

HANDS = random_hands(11, 40)
PATH = "PATH"  # stands for the bad one
SPOT = ("spot", "QsJh2c5d8s", "--pot", "20", "--stacks", "90", "-1", "AA", "-2", "KK")

READ = {
    "evaluate": ("evaluate", PATH),
    "evaluate in kuhn": ("evaluate", PATH, "--game", "kuhn"),
    "against": ("evaluate", "uniform", "--game", "kuhn", "--against", PATH),
    "show": ("show", PATH),
    "resume": ("solve", "--resume", PATH, "-n", "5"),
    "respond": ("respond", PATH, "--game", "kuhn", "-n", "5", "--out", "new"),
    "respond, resume": ("respond", "--resume", PATH, "-n", "5"),
    "frontier": ("frontier", PATH, "--game", "kuhn"),
    "frontier, resume": ("frontier", "--resume", PATH),
    "exam": ("exam", PATH, "--game", "kuhn"),
    "spot, lock": (*SPOT, "--lock", PATH),
    "spot, resume": ("spot", "--resume", PATH),
    "match, first": ("match", PATH, "always-call", "-n", "10"),
    "match, second": ("match", "always-call", PATH, "-n", "10"),
    "match, learn": ("match", PATH, "--learn", "-n", "10"),
    "model": ("model", PATH, "--player", "A"),
    "equilibrium": ("match", "always-call", "--learn", "--equilibrium", PATH, "-n", "10"),
    "memory": ("match", "always-call", "--learn", "--memory", PATH, "-n", "10"),
}
MODEL = (
    "model",
    "hands.parquet",
    "--player",
    HANDS[0].dealer,
    "--kind",
    "frequency",
    "--game",
    "holdem(buckets=3)",
)
WRITTEN = {
    "solve": ("solve", "kuhn", "-n", "5", "--out", PATH),
    "respond": ("respond", "uniform", "--game", "kuhn", "--player", "1", "-n", "5", "--out", PATH),
    "risk": (
        "respond",
        "uniform",
        "--game",
        "kuhn",
        "--max-exploitability",
        "0.5",
        "-n",
        "5",
        "--out",
        PATH,
    ),
    "frontier": ("frontier", "uniform", "--game", "kuhn", "--ps", "0.5", "-n", "5", "--out", PATH),
    "exam": ("exam", "uniform", "--game", "kuhn", "--out", PATH),
    "spot": (*SPOT, "-n", "5", "--out", PATH),
    "reproduce": ("reproduce", "one", "--out", PATH),
    "reproduce all": ("reproduce", "all", "--out", PATH),
    "log": ("match", "always-call", "always-fold", "-n", "10", "--log", PATH),
    "model": (*MODEL, "--out", PATH),
    "model, locks": (*MODEL, "--locks", PATH),
    "show": ("show", "holdem.npz", "--out", PATH),
}
BAD = {
    "long": "n" * 300,
    "long folder": "n" * 300 + "/x",
    "zero byte": "a\0b",
    "below a file": "file/below",
    "loop": "loop",
    "folder": "folder",
    "pipe": "pipe",
    "device": "device",
    "endless": "endless",
    "no text": "\udcff/x",
}
SLOW = ("model", "model, locks", "show")
SUFFIX = {
    "spot, lock": ".toml",
    "evaluate": ".npz",
    "show": ".json",
    "model": ".parquet",
    "log": ".parquet",
}


def _tried(command: str, bad: str) -> bool:
    """Commands that compute for a second before they write get a few."""
    return command not in SLOW or bad in ("long", "device")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the commands need beside the bad one."""
    made = tmp_path_factory.mktemp("good")
    write_parquet(made / "hands.parquet", HANDS)
    cp.Strategy.uniform(cp.load("holdem(buckets=3)")).save(made / "holdem.npz")
    return made


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """Things that are no files, with every suffix; nothing here may be lost."""
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    for suffix in ("", ".npz", ".json", ".parquet"):
        (tmp_path / f"file{suffix}").write_text("precious")
        (tmp_path / f"loop{suffix}").symlink_to(f"loop{suffix}")
        (tmp_path / f"folder{suffix}").mkdir()
        os.mkfifo(tmp_path / f"pipe{suffix}")
        (tmp_path / f"device{suffix}").symlink_to("/dev/full")
        (tmp_path / f"endless{suffix}").symlink_to("/dev/zero")
    return tmp_path


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A command that waits for a pipe is a failure, not a hung test."""

    def late(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused_at_once(done: Done, bad: str) -> bool:
    """A zero byte, which no shell can pass on, is a wrong use of the command."""
    return (
        bad == "zero byte"
        and done.code == 2
        and "embedded null byte" in done.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("command", READ)
def test_what_is_read(command: str, bad: str, folder: Path) -> None:
    for path in {BAD[bad], BAD[bad] + SUFFIX.get(command, "")}:
        done = typed(folder, *(path if word == PATH else word for word in READ[command]))
        assert one_sentence(done) or refused_at_once(done, bad), done
    assert (folder / "file").read_text() == "precious"


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(scale: str, store: Any, progress: Any) -> Outcome:
        files.write_text(store.folder / "one.csv", "a,b\n1,2\n")
        return Outcome("one", "One", scale, [], {}, 1.0, ["one.csv"])

    monkeypatch.setattr(reproduce, "experiments", lambda: {"one": Experiment("one", "One", run)})


@pytest.mark.parametrize(
    ("command", "bad"),
    [(command, bad) for command in WRITTEN for bad in BAD if _tried(command, bad)],
)
def test_what_is_written(command: str, bad: str, folder: Path, experiment: None) -> None:
    device = os.stat("/dev/full").st_mode, os.stat("/dev/zero").st_mode
    for path in {BAD[bad], BAD[bad] + SUFFIX.get(command, "")}:
        done = typed(folder, *(path if word == PATH else word for word in WRITTEN[command]))
        fine = done.code == 0 and bad in ("folder", "no text")
        assert fine or one_sentence(done) or refused_at_once(done, bad), done
    assert (folder / "file").read_text() == "precious"
    assert (os.stat("/dev/full").st_mode, os.stat("/dev/zero").st_mode) == device
    assert not [path for path in folder.rglob(".*") if path.suffix == ".tmp"]


def test_every_option_that_is_a_path_is_above() -> None:
    """So that a new one is tried too. A strategy, which may be a path or a word, is a text."""
    known = {
        "solve": {"folder", "resume"},
        "respond": {"folder", "resume"},
        "frontier": {"folder", "resume"},
        "exam": {"folder"},
        "spot": {"folder", "resume"},
        "match": {"log", "equilibrium", "memory"},
        "serve": {"keep"},  # tests/app/web/test_serve.py
    }
    known |= {
        "model": {"hands", "target", "locks"},
        "show": {"picture", "table"},
        "reproduce": {"folder"},
    }
    for command in cli.app.registered_commands:
        assert command.callback is not None
        hints = get_type_hints(command.callback)
        paths = {name for name, hint in hints.items() if Path in (hint, *get_args(hint))}
        assert paths == known.get(command.callback.__name__, set()), command.callback


class Full(io.StringIO):
    """A device without room."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "arguments",
    [["games"], ["games", "kuhn"], ["games", "--json"], ["solve", "kuhn", "-n", "5"], []],
)
def test_no_room_for_what_is_said(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["counterplay", *arguments])
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    assert "No space left on device" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    display.out.print()  # what was not written is not left to the next command of this process


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_device_and_a_closed_pipe() -> None:
    """The real ones: what fails only when Python ends must be silent too."""
    lines = [
        f"{COMMAND} games > /dev/full; echo $?",
        f"{COMMAND} games 2>&1 | head -1",
        f"{COMMAND} evaluate nothing.npz 2> /dev/full; echo $?",
    ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120
    )
    assert done.stderr == "error: No space left on device\n"
    first, table, last = done.stdout.splitlines()
    assert (first, table.split()[0], last) == ("2", "game", "2")


@pytest.mark.parametrize("path", ["n" * 300, "a\0b", "file/below", "loop", "pipe"])
def test_the_library_says_bad_file(path: str, folder: Path) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.Strategy.load(folder / path)
    with pytest.raises(cp.CounterplayError):
        cp.Strategy.uniform(cp.load("kuhn")).save(
            folder / path / "x" if path == "loop" else folder / path
        )


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    """Its temporary file must not be longer."""
    for name in ("n" * 251 + ".npz", "é" * 125 + ".npz"):
        cp.Strategy.uniform(cp.load("kuhn")).save(tmp_path / name)
        assert cp.Strategy.load(tmp_path / name).game.name == "kuhn"
