"""A real Ray cluster of two nodes on this machine, of which workers and a node are killed.

What a cluster computes is compared, bit for bit, with the same workers in this process.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compiled import WideAuction

import counterplay as cp
from counterplay.app.reproduction.harness.reproduce import jobs_on_cluster
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.progress import no_progress
from counterplay.core.parallel import ray_cluster as clusters
from counterplay.core.parallel.jobs import Job, run_jobs
from counterplay.core.parallel.ray_cluster import Cluster, on_ray
from counterplay.core.parallel.ray_workers import RayWorkers
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.cards import strength
from counterplay.poker.vector import evaluation as boards

ray = pytest.importorskip("ray")
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # which workers do not have
pytestmark = pytest.mark.cluster
FAST = {  # a dead node is noticed within two seconds
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 3,
}
MB = 1_000_000


@pytest.mark.parametrize("address", ["nowhere", "host:", ":1", "host:port", "host:70000"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadParameter, match="the address of a Ray cluster is host:port"):
        clusters.connect(address)


def test_an_address_nobody_answers_at() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # no server listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(BadParameter, match=f"no server answers at {address}; start a cluster"):
            clusters.connect(address)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    from ray.cluster_utils import Cluster as Nodes

    head = {"num_cpus": 2, "object_store_memory": 100 * MB, "include_dashboard": False}
    made = Nodes(initialize_head=True, head_node_args={**head, "_system_config": FAST})
    made.second = made.add_node(num_cpus=2, object_store_memory=100 * MB)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def here(nodes: Any) -> Iterator[Cluster]:
    with on_ray() as found:
        yield found


def _same(one: Any, other: Any) -> bool:
    arrays = other.arrays()
    return all(np.array_equal(array, arrays[key]) for key, array in one.arrays().items())


def _pair(name: str, game: str = "leduc", **options: Any) -> tuple[Any, Any]:
    """On the cluster, and in this process."""
    return tuple(  # type: ignore[return-value]
        new_solver(cp.load(game), name, 1, {"pool": pool, "workers": 2, **options})
        for pool in ("ray", "local")
    )


def _first_on(node: Any) -> Any:
    """Ray's own spreading puts two workers on one node while the other is still busy with what an
    earlier test left."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node.node_id, soft=True)


def test_tree_search_has_the_same_bits_as_in_one_process(here: Cluster) -> None:
    remote, local = _pair("mcts", c=13.0)
    for solver in (remote, local):
        solver.step(3_000)
        solver.step(1_000)
    assert _same(remote, local)
    assert np.array_equal(remote.weights(), local.weights())
    remote._pool.stop()


def test_stopped_and_resumed(here: Cluster, tmp_path: Path) -> None:
    options: dict[str, Any] = {"workers": 2, "seed": 1}
    local = cp.solve("leduc", "mccfr", iterations=5_000, pool="local", **options)
    cp.solve("leduc", "mccfr", iterations=3_200, pool="ray", folder=tmp_path / "run", **options)
    remote = cp.resume(tmp_path / "run", iterations=5_000)
    assert remote.parameters["pool"] == "ray"
    assert _same(remote._solver, local._solver)
    assert np.array_equal(remote.strategy.probabilities, local.strategy.probabilities)
    remote._solver._pool.stop()


def test_responses(here: Cluster) -> None:
    game = cp.load("leduc")
    model = cp.Strategy.uniform(game)
    found = [
        cp.respond(
            game, model, player=0, p=0.5, algorithm="mcrnr", iterations=4_000, pool=pool, workers=2
        )
        for pool in ("ray", "local")
    ]
    one, two = (response.strategy.probabilities for response in found)
    assert np.array_equal(one, two)


@pytest.mark.parametrize("name", ["mccfr", "mccfr-external", "mcts"])
def test_what_is_found_while_playing_is_put_together_by_key(here: Cluster, name: str) -> None:
    """In a game without a tree; a worker is killed in the middle of a round."""
    remote, local = _pair(name, "goofspiel(4,tree=False)")
    n = 700 if name == "mccfr-external" else 7_000
    for solver in (remote, local):
        solver.step(n)
    assert remote._pool._sync[1] == 0
    assert remote.iterations > remote._pool._sync[2]  # in a round
    os.kill(ray.get(remote._pool.remote.actors[1].pid.remote()), signal.SIGKILL)
    for solver in (remote, local):
        solver.step(n)
    assert remote._pool.remote.replaced == 1
    assert _same(remote, local)
    assert remote.strategy().table() == local.strategy().table()
    remote._pool.stop()


def test_rules_of_ones_own_go_to_the_workers(here: Cluster) -> None:
    """With keys that are hashed, against a model by key; and a match of it."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[WideAuction.__module__])
    game = cp.Game("auction", WideAuction())
    model = cp.solve(game, "mccfr", iterations=300, seed=1).strategy
    found = [
        cp.respond(
            game, model, player=0, p=0.5, algorithm="mcrnr", iterations=4_000, pool=pool, workers=2
        ).strategy
        for pool in ("ray", "local")
    ]
    assert found[0].table() == found[1].table()
    remote = cp.play_match(game, found[0], model, 4_000, 3).mean
    here_now = clusters._CURRENT.pop()
    try:
        assert cp.play_match(game, found[0], model, 4_000, 3).mean == remote
    finally:
        clusters._CURRENT.append(here_now)


def test_matches_and_frontiers(here: Cluster) -> None:
    leduc = cp.load("leduc")
    strategy, uniform = cp.solve(leduc, "cfr+", iterations=20).strategy, cp.Strategy.uniform(leduc)

    def results() -> dict[str, Any]:
        curve = cp.frontier(leduc, uniform, [0.0, 0.5], player=0, iterations=20)
        return {
            "strategies": cp.play_match(leduc, strategy, uniform, 4_000, 3).mean,
            "bots": cp.play_match("holdem(buckets=10)", "probe", "always-raise", 4_000).mean,
            "frontier": [(point.exploitation, point.exploitability) for point in curve.points],
        }

    remote = results()
    here_now = clusters._CURRENT.pop()
    try:
        assert results() == remote
    finally:
        clusters._CURRENT.append(here_now)


def _slow_or_lost(place: Path, piece: int) -> int:
    """Kills its process the first time it is asked for the third piece."""
    if piece == 2 and not place.exists():
        place.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece * piece


def test_a_piece_that_is_lost_is_done_elsewhere(here: Cluster, tmp_path: Path) -> None:
    assert list(here.spread(_slow_or_lost, range(5), tmp_path / "mark")) == [0, 1, 4, 9, 16]


def test_pieces_of_the_rivers_table(here: Cluster) -> None:
    rows = strength.rivers_of(None, (100, 104))
    assert np.array_equal(next(iter(here.spread(strength.rivers_of, [(100, 104)]))), rows)
    assert rows.any()


def test_flops_by_workers(here: Cluster) -> None:
    """What a worker needs is made there from the strategy; traversing a flop takes long."""
    game = cp.load("holdem(buckets=10)")
    table, _ = boards.tables_of(cp.Strategy.uniform(game))
    asked = [boards.ValueQuery(0, table)]
    assert boards._can_be_sent(game, asked[0])
    light = [boards._with_cards(one, None) for one in asked]
    again = boards._prepare_remotely((game, light))[0]
    direct = boards._prepare(game, asked)[0]
    assert again.query.against.cards is direct.query.against.cards
    sent = here.spread(_starts, [0], (game, light), boards._prepare_remotely)
    assert np.array_equal(next(iter(sent)), direct.opponent.path[0])


def _starts(prepared: Any, _: int) -> np.ndarray:
    found: np.ndarray = prepared[0].opponent.path[0]
    return found


def test_jobs_of_experiments(here: Cluster, tmp_path: Path) -> None:
    first = Job("first", lambda progress: (tmp_path / "first").write_text("made"))
    second = Job(
        "second",
        lambda progress: (tmp_path / "second").write_text(
            (tmp_path / "first").read_text() + " twice"
        ),
        after=("first",),
    )
    wrong = Job("wrong", lambda progress: 1 / 0)
    lacking = run_jobs([second, wrong, first], 1, no_progress, cluster=here)
    assert (tmp_path / "second").read_text() == "made twice"
    assert list(lacking) == ["wrong"]
    assert "ZeroDivisionError" in lacking["wrong"]
    unseen = partial(jobs_on_cluster, str(tmp_path / "nowhere"), partial(list, [first]))
    with pytest.raises(BadParameter, match=r"does not see .*; put the results"):
        run_jobs([first], 1, no_progress, remake=unseen, cluster=here)


def test_another_version_is_refused(here: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "version", lambda: "9.9.9")
    with pytest.raises(BadParameter, match=r"has Counterplay .* and this is Counterplay 9\.9\.9"):
        list(here.spread(_slow_or_lost, [0], None))
    remote, _ = _pair("mccfr-external")
    with pytest.raises(BadParameter, match="install the same on all machines"):
        remote.step(0)
    remote._pool.stop()


def test_too_small_an_object_store(here: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadParameter, match=r"take 1,000 MB and Ray's object store .* holds 100 MB"):
        here.check_room(1_000 * MB, "the tables")
    seen = []
    monkeypatch.setattr(Cluster, "check_room", lambda self, size, what: seen.append(size))
    new_solver(cp.load("leduc"), "mccfr-external", 1, {"pool": "ray", "workers": 2})
    assert seen == [2 * (16 * cp.load("leduc").n_slots)]


def test_errors_come_back_as_sentences(here: Cluster) -> None:
    def fail(_: None, piece: int) -> None:
        raise BadParameter("too odd") if piece else ValueError("no")

    with pytest.raises(BadParameter, match="too odd"):
        list(here.spread(fail, [1]))
    with pytest.raises(CounterplayError, match="failed on the cluster: ValueError: no"):
        list(here.spread(fail, [0]))


def test_a_worker_and_a_node_killed_in_the_middle_of_rounds(
    here: Cluster, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last test, since the node stays dead."""
    places = iter([nodes.head_node, nodes.second])
    placing = property(lambda _: _first_on(next(places, nodes.head_node)))
    monkeypatch.setattr(RayWorkers, "placing", placing)
    remote, local = _pair("mccfr-external")
    for solver in (remote, local):
        solver.step(4_000)
    assert remote.iterations > remote._pool._sync[2]  # in a round
    assert _same(remote, local)
    workers = remote._pool.remote
    where = ray.get([actor.node.remote() for actor in workers.actors])
    assert where == [nodes.head_node.node_id, nodes.second.node_id]
    os.kill(ray.get(workers.actors[0].pid.remote()), signal.SIGKILL)
    for solver in (remote, local):
        solver.step(3_000)
    assert workers.replaced == 1
    assert _same(remote, local)
    nodes.remove_node(nodes.second, allow_graceful=False)
    for solver in (remote, local):
        solver.step(3_000)
    assert workers.replaced >= 2
    assert _same(remote, local)
    assert np.array_equal(remote.weights(), local.weights())
