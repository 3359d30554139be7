"""Measurements that a CUDA device still owes, as calls of some minutes on a machine that keeps
nothing between two calls.

    python tools/device_session.py                          lists the calls and their commands
    python tools/device_session.py CALL --out OUT [--seconds 530]

A call runs its commands one after the other, each with what is expected of it; one that would not
end within the seconds is left out, and said. What they write lies in OUT: strategies, and the rows
of benchmarks/cfr_br.csv, public_threads.csv, real_frontier.csv, dbr_frontier.csv, spots.csv and
policy_network.csv, which are to be added to those in the tree. `python tools/ship_strategy.py NAME
FILE` then makes the exploitability of a shipped strategy a certified one, and `python -m
tools.train_members --ship OUT` ships members of the portfolio.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
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
    """The words behind `python -m`; OUT is the folder."""

    words: str
    seconds: float  # expected


#: Exact values take 162 s with ten buckets and 281 s with a hundred at most (benchmarks/exact.csv).
CALLS: dict[str, tuple[Command, ...]] = {
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
    "members": (
        Command("tools.train_members --ps 0.5,0.75 --seconds 10 --out OUT", 370),
        Command("tools.train_members --measure --flops 48 --out OUT", 140),
    ),
    "others": (
        Command("benchmarks.policy_network --device cuda", 150),
        Command("benchmarks.spots --device --minutes 5 --out OUT/spots.csv", 330),
    ),
}
WRITTEN = ("cfr_br.csv", "public_threads.csv", "policy_network.csv")  # by these in benchmarks/


def run(call: str, out: Path, seconds: float) -> list[str]:
    """Runs the commands of a call that fit; returns those that failed or were left out."""
    begun, missing = time.monotonic(), []
    out.mkdir(parents=True, exist_ok=True)
    for command in CALLS[call]:
        words = [word.replace("OUT", str(out)) for word in shlex.split(command.words)]
        left = seconds - (time.monotonic() - begun)
        if left < command.seconds:
            print(f"left out, {left:.0f} s are left: {shlex.join(words)}", flush=True)
            missing.append(shlex.join(words))
            continue
        print(f"$ python -m {shlex.join(words)}", flush=True)
        try:
            done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, timeout=left)
            failed = done.returncode != 0
        except subprocess.TimeoutExpired:
            failed = True
        if failed:
            missing.append(shlex.join(words))
    for name in WRITTEN:
        if (ROOT / "benchmarks" / name).exists():
            shutil.copy(ROOT / "benchmarks" / name, out / name)
    return missing


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python tools/device_session.py", description=summary)
    parser.add_argument("call", nargs="?", choices=CALLS)
    parser.add_argument("--out", type=Path, help="a folder")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args(arguments)
    if given.call is None:
        for call, commands in CALLS.items():
            print(f"{call}, about {sum(one.seconds for one in commands):.0f} s")
            for command in commands:
                print(f"  python -m {command.words}")
    elif given.out is None:
        parser.error("say where the results go: --out FOLDER")
    elif missing := run(given.call, given.out.resolve(), given.seconds):
        sys.exit(f"{len(missing)} of {len(CALLS[given.call])} commands were not done")


if __name__ == "__main__":
    main()
