"""The garbage collector is paused while a kernel is compiled, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numba
import pytest
from numba.core import event
from numba.core.errors import TypingError

import counterplay.core.kernels.jit  # noqa: F401  registers the pause


class _Watch(event.Listener):
    """Whether the collector is at work in each compilation."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: Any) -> None:
        self.seen.append(gc.isenabled())

    def on_end(self, event: Any) -> None:
        pass


@pytest.fixture
def watch() -> Iterator[_Watch]:
    listener = _Watch()
    with event.install_listener("numba:compile", listener):
        yield listener
    gc.enable()


@pytest.mark.parametrize("at_work", [True, False])
def test_it_is_afterwards_as_it_was(at_work: bool, watch: _Watch) -> None:
    @numba.njit  # not kept on disk
    def inner(x: float) -> float:
        return x + 1.0

    @numba.njit  # not kept on disk
    def outer(x: float) -> float:
        return inner(x) * 2.0

    if not at_work:
        gc.disable()
    assert outer(1.0) == 4.0
    assert watch.seen == [False, False]
    assert gc.isenabled() == at_work


def test_also_after_a_mistake(watch: _Watch) -> None:
    @numba.njit  # not kept on disk
    def wrong(x: float) -> float:
        return x + "a"  # type: ignore[operator,no-any-return]

    with pytest.raises(TypingError):
        wrong(1.0)
    assert watch.seen == [False]
    assert gc.isenabled()
