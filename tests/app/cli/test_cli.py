"""The command line, typed as a user would: what works, and every mistake gets one sentence and
exit code 2."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.command import COMMAND, Inside, facts_of, ok, run

import counterplay as cp


def test_no_arguments_teach(tmp_path: Path) -> None:
    done = run(tmp_path)
    text = done.stdout + done.stderr
    for word in (
        "solve",
        "respond",
        "match",
        "model",
        "reproduce",
        "Start with: counterplay solve kuhn",
    ):
        assert word in text


@pytest.mark.parametrize("command", [[], ["solve"], ["acpc", "deal"]])
def test_help_is_asked_for_in_short_too(command: list[str], inside: Inside, tmp_path: Path) -> None:
    assert inside(tmp_path, *command, "-h").stdout == inside(tmp_path, *command, "--help").stdout


def test_games_lists_and_describes(inside: Inside, tmp_path: Path) -> None:
    listed = facts_of(inside(tmp_path, "games", "--json"))
    assert {"kuhn", "leduc", "ocp", "goofspiel", "bluff", "pam", "open_spiel"} <= {
        game["name"] for game in listed
    }
    facts = facts_of(inside(tmp_path, "games", "bluff(1,1,3)", "--json"))
    assert facts["information_sets"] == 192
    assert "kuhn(players=3)" in inside(tmp_path, "games").stdout


def test_solve_evaluate_resume(inside: Inside, tmp_path: Path) -> None:
    """A process for each of the first two, as users start them."""
    command = "solve kuhn -a mccfr -n 2000 --seed 4 -o epsilon=0.5 --json"
    first = json.loads(ok(tmp_path, *command.split()))
    assert first["iterations"] == 2000
    assert first["options"]["epsilon"] == 0.5
    second = json.loads(ok(tmp_path, "solve", "--resume", first["folder"], "-n", "5000", "--json"))
    whole = cp.solve("kuhn", "mccfr", iterations=5000, seed=4, epsilon=0.5)
    assert np.array_equal(
        cp.Strategy.load(tmp_path / second["folder"]).probabilities, whole.strategy.probabilities
    )
    facts = facts_of(inside(tmp_path, "evaluate", first["folder"], "--json"))
    assert facts["exploitability"] == pytest.approx(second["exploitability"])
    assert {"sqr_e", "dom_e"} <= set(facts)
    done = inside(tmp_path, "evaluate", first["folder"], "--against", "uniform")
    assert "value as player 2 against uniform" in done.stdout


def test_solve_says_what_it_found_and_numbers_new_folders(inside: Inside, tmp_path: Path) -> None:
    text = inside(tmp_path, "solve", "kuhn").stdout
    assert "exploitability (b1 + b2) = " in text
    assert "player 2  Q b" in text
    assert "saved in runs/kuhn-cfr+-seed0\n" in text
    assert "saved in runs/kuhn-cfr+-seed0-2\n" in inside(tmp_path, "solve", "kuhn").stdout


MISTAKES = [
    (["solve", "khun"], "did you mean 'kuhn'"),
    (["solve", "ocp(1)"], "whole number from 2"),
    (["solve", "bluff(1,1,0)"], "faces"),
    (["solve", "kuhn", "-a", "ccfr"], "did you mean"),
    (["solve", "kuhn", "-n", "-3"], "at least 1"),
    (["solve", "kuhn", "-o", "epsilon"], "name=value"),
    (["solve", "kuhn", "-a", "mccfr", "-o", "epsilon=7"], "from 0 to 1"),
    (["solve", "goofspiel(8,tree=True)"], "more than"),
    (["solve"], "which game"),
    (["solve", "kuhn", "--resume", "x"], "leave out GAME"),
    (["solve", "--resume", "nowhere"], "no such run folder"),
    (["solve", "kuhn(", "-n", "3"], "cannot read"),
    (["evaluate", "nothing.npz"], "no such file"),
    (["evaluate", "noise.npz"], "not a Counterplay file"),
    (["evaluate", "uniform"], "--game"),
    (["games", "goof"], "did you mean 'goofspiel'"),
    (["reproduce", "fig5"], "unknown experiment"),
    (["reproduce", "fig4-kuhn", "--scale", "huge"], "quick or paper"),
]


@pytest.mark.parametrize(
    ("arguments", "words"),
    MISTAKES,
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_get_one_sentence_and_code_2(
    arguments: list[str], words: str, inside: Inside, tmp_path: Path
) -> None:
    (tmp_path / "noise.npz").write_bytes(bytes(random.Random(1).randrange(256) for _ in range(500)))
    done = inside(tmp_path, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"noise.npz"}


def test_too_large_for_memory_is_said_before_building(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "2")
    before = time.monotonic()
    done = inside(tmp_path, "solve", "goofspiel(7)")
    assert done.returncode == 2
    assert "98,309,835 histories" in done.stderr
    assert time.monotonic() - before < 20


def test_a_folder_that_cannot_be_written(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    done = inside(tmp_path, "solve", "kuhn", "--out", "file/run")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert (tmp_path / "file").read_text() == "precious"


def _start_long_run(folder: Path) -> subprocess.Popen[str]:
    arguments = ["solve", "leduc", "-a", "mccfr", "-s", "600", "--out", "run"]
    process = subprocess.Popen(
        [COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not (folder / "run" / "config.json").exists():
        assert time.monotonic() < deadline, "the run never started"
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_ctrl_c_saves_and_says_how_to_go_on(number: signal.Signals, tmp_path: Path) -> None:
    process = _start_long_run(tmp_path)
    time.sleep(1.0)
    process.send_signal(number)
    _, complaint = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "counterplay solve --resume run" in complaint
    assert "Traceback" not in complaint
    saved = cp.resume(
        tmp_path / "run", iterations=1
    )  # past it, so only loaded; unless the machine was slow to start
    assert saved.iterations >= 1
    whole = cp.solve("leduc", "mccfr", iterations=saved.iterations)
    assert np.array_equal(whole.strategy.probabilities, saved.strategy.probabilities)


@pytest.mark.slow
def test_kill_9_leaves_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import counterplay as cp\n"
        "import counterplay.core.solvers.run as run\n"
        "run.CHECKPOINT_SECONDS = 0.0\n"
        "run.CHUNK_SECONDS = 0.01\n"
        "cp.solve('leduc', 'mccfr', seconds=600, folder='run')\n"
    )
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        process = subprocess.Popen([sys.executable, "-c", script], cwd=folder)
        deadline = time.monotonic() + 120
        while not (folder / "run" / "strategy.npz").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3 + 0.05 * attempt)
        process.kill()
        process.wait()
        saved = cp.resume(folder / "run", iterations=1)
        whole = cp.solve("leduc", "mccfr", iterations=saved.iterations)
        assert np.array_equal(whole.strategy.probabilities, saved.strategy.probabilities)
        cp.Strategy.load(folder / "run" / "strategy.npz")
