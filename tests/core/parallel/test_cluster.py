"""Ray where there is none: one sentence each. `tests/cluster/` has a cluster."""

from __future__ import annotations

import socket
import sys

import pytest

import counterplay as cp
from counterplay.app.cli.options import with_address
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.ray_cluster import connect, current, identity


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadParameter, match=r"needs Ray: pip install '\.\[ray\]'"):
        connect()
    with pytest.raises(BadParameter, match="pip install"):
        cp.solve("leduc", "mccfr", iterations=1, pool="ray")


@pytest.mark.parametrize("address", ["nowhere", "host:", ":1", "host:port", "host:70000"])
def test_what_is_no_address_is_refused(address: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(BadParameter, match="the address of a Ray cluster is host:port"):
        connect(address)


def test_an_address_nobody_answers_at() -> None:
    pytest.importorskip("ray")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # no server listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(BadParameter, match=f"no server answers at {address}; start a cluster"):
            connect(address)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["solve", "kuhn", "--ray"], ["solve", "kuhn", "--ray=local"]),
        (["solve", "--ray", "kuhn"], ["solve", "--ray=local", "kuhn"]),
        (["solve", "--ray", "10.0.0.1:6379", "kuhn"], ["solve", "--ray", "10.0.0.1:6379", "kuhn"]),
        (["solve", "--ray", "ray://h:10001"], ["solve", "--ray", "ray://h:10001"]),
        (["match", "--ray", "--seed", "1"], ["match", "--ray=local", "--seed", "1"]),
        (["solve", "kuhn"], ["solve", "kuhn"]),
        (["show", "--", "--ray"], ["show", "--", "--ray"]),
    ],
)
def test_the_address_may_be_left_out(typed: list[str], meant: list[str]) -> None:
    assert with_address(typed) == meant


def test_nothing_is_spread_unless_asked_for() -> None:
    assert current() is None
    assert "Counterplay" in identity()
