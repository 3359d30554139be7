"""Experiments at paper scale in instalments, on a machine that keeps nothing between two calls.

    python tools/paper_scale.py run OUT NAME... [--earlier FOLDER] [--seconds S] [--processes N]
    python tools/paper_scale.py unpack FOLDER RESULTS

`run` continues the experiments NAME, the most important first, from the archives in FOLDER, which
an earlier call left, and leaves the archives of all that is finished in OUT, at most `PARTS` of
`PART_BYTES` each. It ends within some 40 seconds after S seconds. Only the same tree and numerical
libraries can continue.
`unpack` gives the results that `tools/make_results.py paper RESULTS` takes.
"""

from __future__ import annotations

import argparse
import time
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

from counterplay.app.reproduction.harness.base import finished_outcome
from counterplay.app.reproduction.harness.reproduce import SCALES, JobRunner, experiments
from counterplay.app.reproduction.harness.store import PieceStore, result_version
from counterplay.app.reproduction.holdem_runs import bot_job, public_job
from counterplay.core.parallel.jobs import Job, run_jobs
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.strength import strengths

PARTS, PART_BYTES = 4, 15 << 20
LINE_SECONDS = 15.0  # between two lines of progress
STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", flush=True)


class Lines:
    """Progress as a line now and then."""

    def __init__(self) -> None:
        self.last = -LINE_SECONDS

    def __call__(self, share: float, what: str) -> None:
        if time.monotonic() - self.last > LINE_SECONDS:
            say(f"{share:4.0%}  {what}")
            self.last = time.monotonic()


def prepare() -> None:
    """Tables and the kernels that compile longest, on all processors."""
    first = Job("tables of hold'em", lambda progress: strengths(progress) and None, threads=0)
    others = [bot_job("poki"), bot_job("sparbot"), public_job()]
    jobs = [first, *(job._replace(threads=0, after=(first.name,)) for job in others)]
    for name, error in run_jobs(jobs, len(jobs), Lines()).items():
        say(f"not prepared: {name}: {error}")


def run(
    out: Path, names: list[str], folder: Path, scale: str, seconds: float, processes: int
) -> None:
    prepare()
    say("prepared")
    store = PieceStore(folder)
    planned = [replace(experiments()[name], priority=k) for k, name in enumerate(names)]
    todo = [
        one
        for one in planned
        if finished_outcome(one.name, scale, folder, result_version(one.run)) is None
    ]
    left = max(seconds - (time.monotonic() - STARTED), 1.0)
    late = JobRunner.create(left, processes).run(todo, scale, store, Lines(), outcomes=True)
    for one in planned:
        made = finished_outcome(one.name, scale, folder, result_version(one.run))
        missing = "not finished" if one.name in late else "failed"
        say(f"{one.name}: {f'finished {made.counts}' if made else missing}")
    pack(folder, out, store)


def pack(folder: Path, out: Path, store: PieceStore) -> None:
    """The files of `folder`, small ones first, as far as there is room."""
    paths = [p for p in (*folder.glob("*.*"), *store.work.glob("*.*")) if p.suffix != ".lock"]
    paths = sorted((p for p in paths if p.is_file()), key=lambda path: path.stat().st_size)
    part, room, left_out = 0, 0, 0
    archive: zipfile.ZipFile | None = None
    for path in paths:
        data = path.read_bytes()
        size = len(zlib.compress(data, 1)) + 1_000
        if size > room:
            if archive is not None:
                archive.close()
            if part == PARTS or size > PART_BYTES:
                left_out += 1
                archive, room = None, 0
                continue
            archive = zipfile.ZipFile(out / f"part{part}.zip", "w", zipfile.ZIP_DEFLATED)
            part, room = part + 1, PART_BYTES
        assert archive is not None
        archive.writestr(str(path.relative_to(folder)), data, compresslevel=1)
        room -= size
    if archive is not None:
        archive.close()
    say(f"{len(paths) - left_out} files packed in {part} archives, {left_out} left out")


def unpack(archives: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for part in sorted(archives.glob("part*.zip")):
        with zipfile.ZipFile(part) as archive:
            names += archive.namelist()
            archive.extractall(folder)
    pieces = [name for name in names if name.endswith(".piece")]
    usable = [name for name in pieces if Path(name).parent.name == PieceStore(folder).code]
    say(f"{len(names)} files unpacked; {len(usable)} of {len(pieces)} pieces are by this code")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    of_run, of_unpack = commands.add_parser("run"), commands.add_parser("unpack")
    of_run.add_argument("out", type=Path)
    of_run.add_argument("names", nargs="+", choices=experiments())
    of_run.add_argument("--earlier", type=Path)
    of_run.add_argument("--seconds", type=float, default=510.0)
    of_run.add_argument("--processes", type=int, default=cores())
    of_run.add_argument("--folder", type=Path, default=Path("build/paper"))
    of_run.add_argument("--scale", choices=SCALES, default="paper")
    of_unpack.add_argument("archives", type=Path)
    of_unpack.add_argument("folder", type=Path)
    given = parser.parse_args()
    if given.command == "unpack":
        unpack(given.archives, given.folder)
        return
    if given.earlier:
        unpack(given.earlier, given.folder)
    run(given.out, given.names, given.folder, given.scale, given.seconds, given.processes)


if __name__ == "__main__":
    main()
