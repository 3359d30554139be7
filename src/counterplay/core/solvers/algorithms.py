"""The registry of solvers, and `new_solver`, which makes one by name with its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from counterplay.core.base.errors import BadParameter, UnknownName, real, shown
from counterplay.core.base.registry import Registry
from counterplay.core.forms.game import Game
from counterplay.core.parallel.pool import check_threads, most_threads
from counterplay.core.parallel.remote_pool import SYNC_INTERVAL, RemotePool
from counterplay.core.parallel.remote_worker import LocalWorkers, RemoteWorkers
from counterplay.core.solvers.base import Problem, Solver


def _is_solver(spec: Any) -> bool:
    return isinstance(spec, type) and issubclass(spec, Solver) and not inspect.isabstract(spec)


ALGORITHMS: Registry[type[Any]] = Registry("solver", _is_solver)


def solver_names(sampled: bool) -> list[str]:
    """Returns the names of the solvers that sample, or of the full-width ones."""
    return sorted(name for name in ALGORITHMS if ALGORITHMS.fact(name, "sampled", True) == sampled)


def sampling_solvers(game: Game) -> list[str]:
    """Returns the names of the solvers that sample and play this game."""
    return [name for name in solver_names(sampled=True) if ALGORITHMS[name].plays(game)]


def samplers_of(game: Game) -> str:
    """Returns the same as text for an error message."""
    return ", ".join(sampling_solvers(game))


def default_solver(game: Game) -> str:
    """The default solver: the one that the rules name (`solver`); full width if the game allows it,
    else the default sampler."""
    if hasattr(game.rules, "solver"):
        return str(game.rules.solver)
    if game.capabilities.full_width and game.n_players == 2 and game.perfect_recall:
        return "cfr+"
    return default_sampler(game)


def default_sampler(game: Game) -> str:
    """The default sampling solver: the one that the rules name (`sampler`); outcome sampling for a
    game without a tree, which may be too deep for traversals of external sampling; otherwise
    external sampling."""
    usual = "mccfr" if game.discovers_infosets else "mccfr-external"
    return str(getattr(game.rules, "sampler", usual))


def find_solver(name: Any) -> type[Any]:
    """The solver called `name`, in any case; the name of a response gives an error that says so."""
    try:
        return ALGORITHMS.find(name, "algorithm")
    except UnknownName as error:
        response = str(name).lower()
        if response not in Registry("response"):
            raise
        raise UnknownName(
            f"{response} responds to a model of an opponent and solves no game; "
            f"counterplay respond MODEL -a {response}, in Python cp.respond"
        ) from error


#: The options of every sampling solver that choose a worker pool. `workers` 0: as many as the
#: cluster has processors for, and the game takes. `sync_interval`: see
#: `core/parallel/remote_pool.py`.
POOL: dict[str, Any] = {"pool": "threads", "workers": 0, "sync_interval": SYNC_INTERVAL}
#: Remote workers other than Ray's, by the name of their pool.
REMOTE: dict[str, Callable[[], RemoteWorkers]] = {"local": LocalWorkers}
MOST_WORKERS = 10_000  # and threads of all of them together


def options_of(algorithm: str) -> dict[str, Any]:
    """Returns the options of an algorithm with their defaults."""
    solver = find_solver(algorithm)
    parameters = list(inspect.signature(solver).parameters.values())[2:]  # after problem and seed
    own = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    return own | dict(solver.shared_options) | (POOL if solver.sampled else {})


def new_solver(
    game: Game, algorithm: str, seed: int, options: dict[str, Any], problem: Problem | None = None
) -> Solver:
    """Returns a solver at iteration 0. `problem` None: an equilibrium of the game."""
    defaults = options_of(algorithm)
    if "pool" in options and not find_solver(algorithm).sampled:
        raise BadParameter(
            f"{algorithm} traverses the whole game, and a worker pool is for solvers that sample: "
            f"{samplers_of(game)}"
        )
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        takes = f"its options are {', '.join(defaults)}" if defaults else "it has no options"
        raise BadParameter(f"{algorithm} has no option {unknown[0]!r}; {takes}")
    own = {name: options[name] for name in options if name not in POOL}
    pool = {name: options[name] for name in POOL if name in options}
    if pool:
        return _with_pool(game, algorithm, seed, own, problem, **(POOL | pool))
    solver: Solver = find_solver(algorithm)(problem or Problem(game), seed, **own)
    return solver


def _with_pool(
    game: Game,
    algorithm: str,
    seed: int,
    options: dict[str, Any],
    problem: Problem | None,
    *,
    pool: Any,
    workers: Any,
    sync_interval: Any,
) -> Solver:
    """Returns a solver whose iterations a pool of remote workers plays, or threads."""
    if not isinstance(pool, str) or pool not in ("threads", "ray", *REMOTE):
        raise BadParameter(f"pool must be threads or ray, not {shown(pool)}")
    is_int = isinstance(workers, int) and not isinstance(workers, bool)
    if not is_int or not 0 <= workers <= MOST_WORKERS:
        raise BadParameter(
            f"workers must be a whole number from 1 to {MOST_WORKERS:,}, or 0 for as many as there "
            f"are processors, not {shown(workers)}"
        )
    if not 0.0 < real(sync_interval, "sync_interval") <= 1.0:
        raise BadParameter(
            f"sync_interval must be above 0 and at most 1, not {shown(sync_interval)}"
        )
    if pool == "threads":
        if workers != 0 or sync_interval != SYNC_INTERVAL:
            raise BadParameter(
                "workers and sync_interval are for pool=ray; threads play in this process"
            )
        return new_solver(game, algorithm, seed, options, problem)
    if options.get("backend", "cpu") != "cpu":
        raise BadParameter("pool=ray plays on processors; leave out backend")
    threads = check_threads(options.pop("threads", 1), game)
    solver: Any = new_solver(game, algorithm, seed, options, problem)
    remote, workers = _remote_workers(pool, workers, threads, solver)
    check_threads(threads * workers, game, MOST_WORKERS)
    named: dict[str, Any] = {"pool": pool, "workers": workers}
    if sync_interval != SYNC_INTERVAL:
        named["sync_interval"] = sync_interval
    if threads != 1:
        named["threads"] = threads
    interval = float(sync_interval)
    solver.join(RemotePool(solver, _on_form, remote, workers, threads, interval), named)
    return cast(Solver, solver)


def _on_form(game: Game, algorithm: str, seed: int, options: dict[str, Any], form: Any) -> Solver:
    """Returns the solver of a remote worker; `form` None: the game's own."""
    problem = None if form is None else Problem(game, form)
    return new_solver(game, algorithm, seed, options, problem)


def _remote_workers(
    pool: str, workers: int, threads: int, solver: Solver
) -> tuple[RemoteWorkers, int]:
    """Returns the remote workers of a pool, and their number."""
    if pool in REMOTE:
        return REMOTE[pool](), workers or 1
    from counterplay.core.parallel.ray_cluster import connect
    from counterplay.core.parallel.ray_workers import RayWorkers

    cluster = connect()
    processors = min(cluster.processors, most_threads(solver.game, MOST_WORKERS))
    workers = workers or max(1, processors // threads)
    size = sum(array.nbytes for array in solver.tables().values())
    cluster.check_room(2 * size, "the tables of this run, sent back and forth,")
    return RayWorkers(cluster), workers
