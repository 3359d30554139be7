"""Solvers whose iterations are played elsewhere: `team="ray"`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterplay.base.errors import BadParameter, shown
from counterplay.forms.game import Game
from counterplay.solvers.algorithms import new_solver
from counterplay.solvers.base import Solver, real
from counterplay.solvers.far_team import NEWS, FarTeam, NearPlayers, Players
from counterplay.solvers.problem import Problem
from counterplay.solvers.sampling import SamplingSolver
from counterplay.solvers.teams import check_threads

MOST_WORKERS = 10_000
SEATED: dict[str, Callable[[], Players]] = {"near": NearPlayers}  # besides Ray, for tests


def solver_apart(
    game: Game,
    algorithm: str,
    seed: int,
    options: dict[str, Any],
    problem: Problem | None,
    *,
    team: Any,
    workers: Any,
    news: Any,
) -> Solver:
    """A solver with such a team; "threads" is none."""
    if not isinstance(team, str) or team not in ("threads", "ray", *SEATED):
        raise BadParameter(f"team must be threads or ray, not {shown(team)}")
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if not whole or not 0 <= workers <= MOST_WORKERS:
        raise BadParameter(
            f"workers must be a whole number from 1 to {MOST_WORKERS:,}, or 0 for as many as there "
            f"are processors, not {shown(workers)}"
        )
    if not 0.0 < real(news, "news") <= 1.0:
        raise BadParameter(f"news must be above 0 and at most 1, not {shown(news)}")
    if team == "threads":
        if workers != 0 or news != NEWS:
            raise BadParameter("workers and news are for team=ray; threads play in this process")
        return new_solver(game, algorithm, seed, options, problem)
    if options.get("backend", "cpu") != "cpu":
        raise BadParameter("team=ray plays on processors; leave out backend")
    threads = options.pop("threads", 1)
    solver = new_solver(game, algorithm, seed, options, problem)
    assert isinstance(solver, SamplingSolver)
    players, workers = _players(team, workers, threads, solver)
    check_threads(threads * workers, game)
    who = {"team": team, "workers": workers, **({} if news == NEWS else {"news": news})}
    if threads != 1:
        who["threads"] = threads
    solver.join(FarTeam(solver, players, workers, threads, float(news)), who)
    return solver


def _players(team: str, workers: int, threads: int, solver: Any) -> tuple[Players, int]:
    if team in SEATED:
        return SEATED[team](), workers or 1
    from counterplay.parallel.ray_cluster import connect
    from counterplay.solvers.ray_players import RayPlayers

    cluster = connect()
    workers = workers or max(1, cluster.processors // threads)
    size = sum(array.nbytes for array in solver.tables().values())
    cluster.check_room(2 * size, "the tables of this run, sent back and forth,")
    return RayPlayers(cluster), workers
