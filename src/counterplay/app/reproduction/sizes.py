"""Training lengths and match lengths of the players in the tables.

The rates behind the sizes are those of benchmarks/RESULTS.md on two cores, in iterations a second
with 10 and with 100 buckets: outcome sampling 3.7 and 2.6 million, external 139 and 47 thousand,
public about 150 and 35. Compiling public sampling takes most of a minute, so quick scale leaves it
out. Hands a second: 10,000 against Poki, 4 million against Sparbot or a strategy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

EPSILON = 0.6
#: Engines of MCCFR and MCRNR: the paper's first, then ours.
ENGINES: dict[str, tuple[str, dict[str, Any]]] = {
    "outcome": ("mccfr", {"epsilon": EPSILON}),
    "external": ("mccfr-external", {}),
    "public": ("mccfr-public", {}),
}
#: Iterations a second of two threads, with 10 and with 100 buckets.
RATES = {"outcome": (3.7e6, 2.6e6), "external": (139e3, 47e3), "public": (150.0, 35.0)}
MCTS_RATE = 2.8e6
POKI_RATE = 10_000  # hands a second, two cores


def rate(engine: str, buckets: int) -> float:
    """Iterations a second, interpolated in the logarithm of the number of buckets; at most that of
    10 buckets."""
    few, many = RATES[engine]
    return float(few * (many / few) ** max(math.log10(buckets) - 1.0, 0.0))


class Sizes(NamedTuple):
    """Pairs of iterations are those with 10 and with 100 buckets; a response has as many for each
    seat as the equilibrium. 0: not at this scale."""

    mcts: int
    outcome: tuple[int, int]
    external: tuple[int, int]
    public: tuple[int, int]
    respond: tuple[tuple[str, int], ...]  # engine and buckets of the responses of Table 2
    observed: int  # hands
    many: int  # hands with all cards seen, for a nearly perfect model
    poki: int  # hands of a match against Poki
    sparbot: int  # against Sparbot or a strategy
    swept: int  # iterations of external sampling per seat where many responses are compared
    swept_hands: int
    trusts: tuple[float, ...]  # Pconf of responses to Sparbot, beside that of the paper
    trusted: int  # iterations of external sampling for each seat of these

    def of(self, engine: str, buckets: int) -> int:
        """Iterations of an engine with so many buckets."""
        sizes: tuple[int, int] = getattr(self, engine)
        return sizes[0 if buckets == 10 else 1]


SIZES = {
    "quick": Sizes(
        mcts=20_000_000,
        outcome=(10_000_000, 10_000_000),
        external=(1_000_000, 600_000),
        public=(0, 0),
        respond=(("outcome", 10), ("outcome", 100), ("external", 10)),
        observed=20_000,
        many=0,
        poki=60_000,
        sparbot=2_000_000,
        swept=100_000,
        swept_hands=12_000,
        trusts=(),
        trusted=0,
    ),
    "paper": Sizes(
        mcts=200_000_000,
        outcome=(1_000_000_000, 1_000_000_000),
        external=(8_000_000, 4_000_000),
        public=(6_000, 3_000),
        respond=(("outcome", 10), ("outcome", 100), ("public", 10), ("public", 100)),
        observed=20_000,
        many=100_000,
        poki=120_000,
        sparbot=4_000_000,
        swept=400_000,
        swept_hands=240_000,
        trusts=(0.0, 0.25, 0.5),
        trusted=8_000_000,
    ),
}

#: Meaning of the sizes, for the report, in addition to harness/report.py.
MEANING = {
    "MCTS": "its constant of exploration",
    "many": "hands with all cards seen, for a model that is nearly perfect; 0: not at this scale",
    "mcts": "iterations of MCTS",
    "observed": "hands from which the opponent's model was learnt",
    "respond": "engine and buckets of the responses in the table",
    "sparbot": "hands of a match against Sparbot or a strategy",
    "swept_hands": "hands in which these are measured",
    "trusts": "further values of Pconf, against Sparbot",
    "trusted": "iterations of external sampling for each seat of the responses to Sparbot by Pconf",
}


class ModelLimit(NamedTuple):
    """How long a model of Figures 6 and 7 is trained, and how often it is measured."""

    iterations: int  # at most, of outcome sampling
    every: int  # iterations between measurements
    external: int  # at most, of external sampling
    external_every: int


#: Enough for every game to reach an exploitability of 0.1, and of 0.03 and 0.01.
LIMITS = {
    "quick": ModelLimit(80_000_000, 100_000, 4_000_000, 20_000),
    "paper": ModelLimit(400_000_000, 1_000_000, 60_000_000, 100_000),
}
