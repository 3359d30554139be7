"""Sizes of Tables 1 and 2 and Figure 8: training, observation, matches, and how long they take.

Public chance sampling is the engine that decides: MCCFR10 and MCCFR100 of it are within about
0.01 sb/h of where they settle. Outcome sampling, the article's engine, is shown beside it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

EPSILON = 0.6
#: Engines of MCCFR and MCRNR.
ENGINES: dict[str, tuple[str, dict[str, Any]]] = {
    "outcome": ("mccfr", {"epsilon": EPSILON}),
    "external": ("mccfr-external", {}),
    "public": ("mccfr-public", {}),
}
#: Iterations a second of one thread, with 10 and with 100 buckets.
RATES = {"outcome": (1.9e6, 1.6e6), "external": (70e3, 24e3), "public": (88.0, 31.0)}
MCTS_RATE = 1.6e6
POKI_RATE = 3_800  # hands a second of one process


def rate(engine: str, buckets: int) -> float:
    """Iterations a second of one thread, interpolated in the logarithm of the number of buckets;
    at most that of 10 buckets."""
    few, many = (MCTS_RATE, MCTS_RATE) if engine == "mcts" else RATES[engine]
    return float(few * (many / few) ** max(math.log10(buckets) - 1.0, 0.0))


class Sizes(NamedTuple):
    """Pairs are for 10 and for 100 buckets; hands are those of each seed."""

    seeds: int
    mcts: int  # iterations
    public: tuple[int, int]  # iterations of MCCFR
    respond: tuple[int, int]  # iterations of MCRNR for each seat
    outcome: int  # iterations of outcome sampling, for each seat of a response
    observed: int  # games
    games: tuple[int, ...]  # observed games that are compared
    poki: int  # hands of the players that are judged
    beside: int  # hands against Poki of all others
    sparbot: int
    further: bool  # whether there are rows beyond those that the rules need


SIZES = {
    "quick": Sizes(
        seeds=3,
        mcts=10_000_000,
        public=(1_500, 800),
        respond=(250, 150),
        outcome=5_000_000,
        observed=20_000,
        games=(2_000, 20_000),
        poki=16_000,
        beside=6_000,
        sparbot=2_000_000,
        further=False,
    ),
    "paper": Sizes(
        seeds=5,
        mcts=150_000_000,
        public=(5_000, 2_500),
        respond=(2_000, 1_000),
        outcome=50_000_000,
        observed=20_000,
        games=(2_000, 20_000, 100_000),
        poki=400_000,
        beside=60_000,
        sparbot=4_000_000,
        further=True,
    ),
}

#: Meaning of the sizes, for the report, in addition to harness/report.py.
MEANING = {
    "beside": "hands against Poki, in each seed, of players that are not judged",
    "further": "whether there are rows beyond those that the rules need",
    "games": "numbers of observed games that are compared",
    "MCTS": "the constant of MCTS that the article gives",
    "intervals": "what they cover",
    "mcts": "iterations of MCTS",
    "observed": "hands from which the opponent's model was learnt",
    "outcome": "iterations of outcome sampling, for each seat of a response",
    "poki": "hands against Poki in each seed",
    "public": "iterations of MCCFR by public sampling, with 10 and with 100 buckets",
    "respond": "iterations of MCRNR by public sampling for each seat, likewise",
    "sparbot": "hands against Sparbot in each seed",
}
