"""The barrier where threads wait for each other."""

from __future__ import annotations

import threading

import pytest

from counterplay.core.parallel.barrier import ThreadBarrier


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_nobody_passes_the_gate_before_all_are_there(threads: int) -> None:
    """The last thread calls the action before the others continue, every time."""
    rounds, here, done = 50, [0] * threads, []
    barrier = ThreadBarrier(threads, lambda: done.append(min(here)))

    def walk(k: int) -> None:
        for number in range(1, rounds + 1):
            here[k] = number
            barrier.wait(k)
            assert min(here) >= number
            assert done[number - 1] == number

    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
            walk(k)
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads_ = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(threads)]
    for one in threads_:
        one.start()
    for one in threads_:
        one.join(60)
    assert not any(one.is_alive() for one in threads_)
    assert not errors
    assert done == list(range(1, rounds + 1))


def test_a_gate_given_up_lets_nobody_wait() -> None:
    barrier = ThreadBarrier(3)
    errors: list[type[BaseException]] = []

    def run(k: int) -> None:
        try:
            barrier.wait(k)
        except threading.BrokenBarrierError as error:
            errors.append(type(error))

    one = threading.Thread(target=run, args=(0,), daemon=True)
    one.start()
    barrier.abort()
    for k in (1, 2):  # whoever comes later, the last of them too
        run(k)
    one.join(60)
    assert errors == [threading.BrokenBarrierError] * 3
