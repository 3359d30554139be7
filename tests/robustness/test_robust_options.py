"""Boundary values of every option of every algorithm: a run with probabilities, or one sentence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.solvers.algorithms import ALGORITHMS, options_of

VALUES: list[Any] = [
    0,
    1,
    -1,
    2,
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.5,
    1e-300,
    1e300,
    5e-324,
    math.nan,
    math.inf,
    -math.inf,
    10**30,
    -(10**30),
    10**400,
    2**63,
    "",
    "x",
    "1",
    "nan",
    True,
    False,
    None,
    [],
    {},
    [1],
    (),
    1j,
    b"x",
    np.float64(0.5),
    np.int64(3),
]
KUHN = cp.load("kuhn")
OPTIONS = [
    (algorithm, option)
    for algorithm in ALGORITHMS
    if ALGORITHMS[algorithm].plays(KUHN)
    for option in options_of(algorithm)
]


@pytest.mark.parametrize(("algorithm", "option"), OPTIONS)
def test_a_run_or_a_sentence(algorithm: str, option: str) -> None:
    ran, refusals = 0, list[str]()
    for value in [*VALUES, options_of(algorithm)[option]]:
        arguments: dict[str, Any] = {option: value}
        try:
            run = cp.solve(KUHN, algorithm, iterations=20, seed=1, **arguments)
        except BadParameter as error:
            refusals.append(str(error))
            continue
        probabilities = run.strategy.probabilities
        assert np.all(np.isfinite(probabilities)), value
        assert np.all(probabilities >= 0.0), value
        assert np.allclose(np.add.reduceat(probabilities, KUHN.form.first[:-1]), 1.0), value
        assert math.isfinite(run.exploitability), value
        ran += 1
    assert ran > 0  # at least by default
    assert refusals
    assert all(option in words and len(words) < 600 for words in refusals), refusals


TEXTS = [
    "123456789012345678901234567890",
    "9" * 400,
    "9" * 5000,
    "nan",
    "1e999",
    "-inf",
    "",
    "[",
    "True",
    "'",
    "1_0",
    "(" * 3000,
]


@pytest.mark.parametrize("option", ["epsilon", "threads"])
def test_as_they_are_typed(option: str, tmp_path: Path) -> None:
    """`-o epsilon=…` with what no epsilon can be."""
    for k, text in enumerate(TEXTS):
        solve = f"solve kuhn -a mccfr -n 5 --out {k}".split()
        done = typed(tmp_path, *solve, "-o", f"{option}={text}")
        assert one_sentence(done) or done.code == 0, done


def test_limits_and_seeds_as_they_are_typed(tmp_path: Path) -> None:
    for name in ("iterations", "seconds", "target", "seed"):
        for text in ("0", "-1", "nan", "inf", "-inf", "1e400", "9" * 30, "9" * 5000, "x", ""):
            arguments = (
                ("-n", "5")
                if name == "seed"
                else ("-t", "0.5")
                if name == "iterations"
                else ("-n", "5")
            )
            done = typed(
                tmp_path,
                "solve",
                "kuhn",
                "--out",
                f"{name}{text[:40]}",
                *arguments,
                f"--{name}={text}",
            )
            assert done.code in (0, 2), (name, text, done)
            assert "Traceback" not in done.stderr
