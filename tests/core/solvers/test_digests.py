"""The bits of every solver and response on one thread: what the kernels computed when these digests
were recorded.

`python tests/core/solvers/test_digests.py` records them anew, which is right only where a change of
the numbers is meant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.solvers.algorithms import ALGORITHMS

RECORDED = Path(__file__).parent.parent.parent / "data" / "digests.json"
GAMES = ("kuhn", "leduc", "bluff(1,1,3)", "goofspiel(3)", "holdem(buckets=10)")
SAMPLED = [
    name for name, solver in ALGORITHMS.items() if solver.sampled and solver.plays(cp.load("kuhn"))
]  # hold'em's own are younger than the record
FULL_WIDTH = [
    name for name, solver in ALGORITHMS.items() if not solver.sampled and name != "lp"
]  # `lp` is another library's
RESPONSES = {
    "rnr": FULL_WIDTH,
    "dbr": [n for n in FULL_WIDTH if n != "egt"],
    "mcrnr": SAMPLED,
    "mcdbr": SAMPLED,
}


def cases() -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Name and computation of every case."""
    for game in GAMES:
        sampled_only = game.startswith("holdem")
        for name in SAMPLED if sampled_only else SAMPLED + FULL_WIDTH:
            yield f"{game} {name}", lambda game=game, name=name: solved(game, name)
        for response, engines in RESPONSES.items():
            for name in engines:
                if name in SAMPLED or not sampled_only:
                    yield (
                        f"{game} {response} {name}",
                        lambda g=game, r=response, n=name: answered(g, r, n),
                    )


def iterations(game: str, name: str) -> int:
    if name not in SAMPLED:
        return 40
    if name == "mccfr-chance":
        return 3 if game.startswith("holdem") else 300
    return 3_000


def solved(game: str, name: str) -> np.ndarray:
    return cp.solve(game, name, iterations=iterations(game, name), seed=7).strategy.probabilities


def answered(name: str, response: str, engine: str) -> np.ndarray:
    game = cp.load(name)
    model = cp.Strategy.random(game, 3)
    n = iterations(name, engine)
    response = cp.respond(game, model, None, 0.6, response, engine=engine, iterations=n, seed=7)
    return response.strategy.probabilities


def digest(probabilities: np.ndarray) -> str:
    return hashlib.sha256(probabilities.tobytes()).hexdigest()[:16]


CASES = dict(cases())


def marks_of(case: str) -> list[pytest.MarkDecorator]:
    if "holdem" in case and ("mccfr-chance" in case or "mcdbr" in case):  # to compile
        return [pytest.mark.slow]
    return [pytest.mark.first] if case in ("leduc cfr+", "leduc mccfr") else []


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks_of(case)) for case in CASES])
def test_the_same_bits_as_when_they_were_recorded(case: str) -> None:
    assert digest(CASES[case]()) == json.loads(RECORDED.read_text())[case]


if __name__ == "__main__":
    digests = {case: digest(compute()) for case, compute in CASES.items()}
    RECORDED.write_text(json.dumps(digests, indent=1) + "\n")
