"""Ray where there is none: one sentence each. `tests/core/cluster/` has one."""

from __future__ import annotations

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
