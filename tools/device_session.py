"""Measurements that a CUDA device still owes, as calls of some minutes on a machine that keeps
nothing between two calls.

    python tools/device_session.py                          lists the calls and their commands
    python tools/device_session.py CALL --out OUT [--seconds 530]

A call runs its commands one after the other, those of a group side by side, each with what is
expected of it; one that would not end within the seconds is left out, and said. What they write
lies in OUT: strategies, and the rows of benchmarks/cfr_br.csv, public_threads.csv,
real_frontier.csv, dbr_frontier.csv, spots.csv, policy_network.csv and tilted.csv, which are to be
added to those in the tree. Large files are in WORK, a folder of this machine; a second call goes on
with them while the machine is the same. `python tools/ship_strategy.py NAME
FILE` then makes the exploitability of a shipped strategy a certified one.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
STRATEGIES = "src/counterplay/poker/bots/strategies"
SMALL = "'holdem(buckets=10,kind=classes)'"
PS = "0,0.1,0.2,0.3,0.4,0.45,0.5,0.55,0.6,0.66,0.75,0.9,1"  # thirteen
DBR_PS = "0.25,0.4,0.5,0.6,0.75"
SECONDS = 530.0


class Command(NamedTuple):
    """The words behind `python -m`. OUT is the folder, WORK one for large files, LEFT the seconds
    after which a command ends by itself."""

    words: str
    seconds: float  # expected


Group = tuple[Command, ...]  # side by side


#: Exact values take 162 s with ten buckets and 281 s with a hundred at most (benchmarks/exact.csv).
CALLS: dict[str, tuple[Command | Group, ...]] = {
    "ladder": (
        Command(f"benchmarks.cfr_br --exact {STRATEGIES}/mcts10.npz --out OUT", 190),
        Command(f"benchmarks.cfr_br --exact {STRATEGIES}/small.npz --out OUT", 190),
        Command("benchmarks.public_threads --threads 16 --buckets 10,100 --seconds 4", 120),
    ),
    "small": (  # CFR-BR for long enough
        Command(f"benchmarks.cfr_br {SMALL} --seconds 200 --points 2 --out OUT", 280),
        Command(
            "benchmarks.cfr_br --exact OUT/holdem-buckets-10-kind-classes-cfr-br.npz --out OUT", 190
        ),
    ),
    "poki": (Command(f"benchmarks.real_frontier poki --ps {PS} --seconds 25 --out OUT", 500),),
    "sparbot": (
        Command(f"benchmarks.real_frontier sparbot --ps {PS} --seconds 25 --out OUT", 500),
    ),
    "dbr": (
        Command(
            f"benchmarks.real_frontier poki --algorithm dbr --ps {DBR_PS} --seconds 75 --out OUT",
            480,
        ),
    ),
    "tilted": (  # what is not done is done by a second call
        Command("benchmarks.tilted tables --work WORK", 40),
        (
            Command("benchmarks.tilted opponent --threads 11 --work WORK --seconds LEFT", 480),
            Command("benchmarks.tilted responses --seat 0 --work WORK --seconds LEFT", 480),
            Command("benchmarks.tilted responses --seat 1 --work WORK --seconds LEFT", 480),
            Command("benchmarks.tilted measure --work WORK --out OUT --seconds LEFT", 480),
        ),
    ),
    "others": (
        Command("benchmarks.policy_network --device cuda", 150),
        Command("benchmarks.spots --device --minutes 5 --out OUT/spots.csv", 330),
    ),
}
WORK = Path(tempfile.gettempdir()) / "counterplay-device"
MARGIN = 20.0  # seconds in which a command ends after LEFT
WRITTEN = ("cfr_br.csv", "public_threads.csv", "policy_network.csv")  # by these in benchmarks/


def run(call: str, out: Path, seconds: float) -> list[str]:
    """Runs the commands of a call that fit; returns those that failed or were left out."""
    begun, missing = time.monotonic(), []
    out.mkdir(parents=True, exist_ok=True)
    for group in map(group_of, CALLS[call]):
        left = seconds - (time.monotonic() - begun)
        named = {"OUT": str(out), "WORK": str(WORK), "LEFT": f"{max(left - MARGIN, 1):.0f}"}
        commands = []
        for command in group:
            for name, value in named.items():
                command = command._replace(words=command.words.replace(name, value))
            commands.append(shlex.split(command.words))
        if left < longest(group):
            for words in commands:
                print(f"left out, {left:.0f} s are left: {shlex.join(words)}", flush=True)
            missing += map(shlex.join, commands)
            continue
        missing += map(shlex.join, run_side_by_side(commands, left))
    for name in WRITTEN:
        if (ROOT / "benchmarks" / name).exists():
            shutil.copy(ROOT / "benchmarks" / name, out / name)
    return missing


def group_of(one: Command | Group) -> Group:
    """A command by itself is a group of one."""
    return (one,) if isinstance(one, Command) else one


def longest(one: Command | Group) -> float:
    """The seconds expected of the commands of a group."""
    return max(command.seconds for command in group_of(one))


def run_side_by_side(commands: Sequence[Sequence[str]], seconds: float) -> list[Sequence[str]]:
    """Runs commands at the same time; returns those that failed or did not end in time."""
    end, failed = time.monotonic() + seconds, []
    started = []
    for words in commands:
        print(f"$ python -m {shlex.join(words)}", flush=True)
        started.append(subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT))
    for words, process in zip(commands, started, strict=True):
        try:
            process.wait(max(end - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode != 0:
            failed.append(words)
    return failed


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python tools/device_session.py", description=summary)
    parser.add_argument("call", nargs="?", choices=CALLS)
    parser.add_argument("--out", type=Path, help="a folder")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args(arguments)
    if given.call is None:
        for call, commands in CALLS.items():
            print(f"{call}, about {sum(map(longest, commands)):.0f} s")
            for group in map(group_of, commands):
                for command in group:
                    print(f"  python -m {command.words}{' &' if len(group) > 1 else ''}")
    elif given.out is None:
        parser.error("say where the results go: --out FOLDER")
    elif missing := run(given.call, given.out.resolve(), given.seconds):
        every = sum(len(group_of(one)) for one in CALLS[given.call])
        sys.exit(f"{len(missing)} of {every} commands were not done")


if __name__ == "__main__":
    main()
