"""Jobs that build tables and compile kernels before the jobs that need them; else one process would
wait for another that builds them, or compile the same."""

from __future__ import annotations

from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.players import bot

GAME = "holdem(buckets=10)"
PUBLIC = "mccfr-public"
SECONDS = {"poki": 35.0, "sparbot": 45.0, PUBLIC: 16.0}  # of the first time, on one processor


def bot_job(name: str) -> Job:
    """Poki's or Sparbot's tables, and the kernels of a match."""

    def work(progress: ProgressCallback) -> None:
        game, opponent = load(GAME), bot(name, progress)
        match = (game, Strategy.uniform(game), opponent, 2, 0)
        play_match(*match, processes=1, luck_adjusted=name == "poki")

    return Job(f"tables of {name.title()}", work, SECONDS[name])


def public_job() -> Job:
    """The kernels of public sampling, which take the longest to compile."""

    def work(progress: ProgressCallback) -> None:
        progress(0.0, "compiling")
        new_solver(load(GAME), PUBLIC, 0, {}).step(1)

    return Job("kernels of public sampling", work, SECONDS[PUBLIC])
