"""Matches by spawned processes, as on macOS and Windows: the same result as by one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import run_python
from support.user_files import BOTS

import counterplay as cp
from counterplay.core.parallel.processes import start_method
from counterplay.poker.match.match import player_sources

SCRIPT = """
import counterplay as cp

class Here:
    def act(self, view):
        return "call"

print("started")  # once: a spawned process does not run this script again
one = cp.play_match("holdem(buckets=2)", "bots.py:Caller", "uniform", hands=12_000, processes={n})
print(one.mean, one.standard_error, one.hands)
if {n} == 2:
    alone = cp.play_match("holdem(buckets=2)", Here(), "uniform", hands=12_000, processes=2)
    print(alone.mean == one.mean)
"""


def play(folder: Path, processes: int, start: str) -> list[str]:
    script = SCRIPT.replace("{n}", str(processes))
    done = run_python(folder, script, COUNTERPLAY_START=start)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_result_does_not_depend_on_how_processes_start(tmp_path: Path) -> None:
    """A bot of a file is made anew there; a class of the script plays here, alone."""
    (tmp_path / "bots.py").write_text(BOTS)
    by_one = play(tmp_path, 1, "spawn")
    by_two = play(tmp_path, 2, "spawn")
    assert by_two == [*by_one, "True"]
    assert by_one[0] == "started"


@pytest.mark.slow
def test_a_bot_by_its_name_in_spawned_processes() -> None:
    """Poki, in two processes of their own. Experiments: tests/app/reproduction/test_jobs.py."""
    code = (
        "import counterplay as cp; r = cp.play_match('holdem(buckets=2)', 'poki', 'always-call', "
        "12_000, processes={}); print(r.mean)"
    )
    result = [
        subprocess.run(
            [sys.executable, "-c", code.format(n)],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
            env={**os.environ, "COUNTERPLAY_START": "spawn"},
        ).stdout
        for n in (1, 2)
    ]
    assert result[0] == result[1]


class Sent:
    name = "sent"

    def act(self, view: Any) -> str:
        return "call"


def test_who_can_be_made_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "bots.py").write_text(BOTS)
    own = cp.bot(f"{tmp_path}/bots.py:Caller")
    named = cp.bot("always-call")
    sources = player_sources((own, named))
    assert sources is not None
    assert sources == (f"{tmp_path}/bots.py:Caller", "always-call")
    assert [cp.bot(source).name for source in sources] == ["caller", "always-call"]
    strategy = cp.bot(cp.Strategy.uniform("holdem(buckets=2)"))
    sources = player_sources((Sent(), strategy))
    assert sources is not None
    assert [cp.bot(source) is source for source in sources] == [True, True]
    Local = type("Local", (Sent,), {"__module__": "__main__"})
    assert player_sources((Local(), named)) is None
    stuck = Sent()
    stuck.lock = open(os.devnull)  # type: ignore[attr-defined]  # noqa: SIM115
    assert player_sources((stuck, named)) is None
    stuck.lock.close()  # type: ignore[attr-defined]


def test_how_processes_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERPLAY_START", raising=False)
    for system, method in (("linux", "fork"), ("darwin", "spawn"), ("win32", "spawn")):
        monkeypatch.setattr(sys, "platform", system)
        assert start_method() == method
    monkeypatch.setenv("COUNTERPLAY_START", "spawn")
    assert start_method() == "spawn"
    monkeypatch.setenv("COUNTERPLAY_START", "thread")
    with pytest.raises(cp.CounterplayError, match="fork or spawn, not 'thread'"):
        start_method()
