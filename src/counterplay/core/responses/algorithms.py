"""Every response algorithm by name. A name means what its row says; nothing is read out of its
letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterplay.core.base.registry import Registry
from counterplay.core.forms.game import Game
from counterplay.core.solvers.algorithms import default_sampler


@dataclass(frozen=True)
class ResponseAlgorithm:
    """A transform of the game, and which solvers run on it."""

    name: str
    sampled: bool  # its engines sample; otherwise they are full width
    once: bool  # one coin per game says whether the model plays; otherwise one per information set
    engine: str  # in a game with a tree, unless another is asked for
    summary: str  # one line for people


RESPONSE = (
    ResponseAlgorithm(
        "rnr", False, True, "cfr+", "restricted Nash response: the model plays whole games"
    ),
    ResponseAlgorithm("mcrnr", True, True, "mccfr", "the same, sampled: Algorithm 2"),
    ResponseAlgorithm(
        "dbr",
        False,
        False,
        "cfr+",
        "data-biased response: the model is trusted at each information set by itself",
    ),
    ResponseAlgorithm(
        "mcdbr",
        True,
        False,
        "mccfr",
        "the same, sampled; what the paper calls MCRNR in hold'em",
    ),
)

RESPONSES: Registry[ResponseAlgorithm] = Registry(
    "response", lambda spec: isinstance(spec, ResponseAlgorithm)
)


def default_response(game: Game) -> str:
    """What is used where nobody names one: rnr, or mcrnr where the game is too large for that."""
    return "rnr" if game.capabilities.full_width else "mcrnr"


def default_engine(game: Game, algorithm: ResponseAlgorithm) -> str:
    """The solver inside where nobody names one: the algorithm's own, or in a game too large for a
    tree the sampler that solves it best."""
    if algorithm.sampled and not game.capabilities.full_width:
        return default_sampler(game)
    return algorithm.engine


def response_algorithm(name: Any) -> ResponseAlgorithm:
    """The algorithm called `name`, or a sentence with those there are."""
    return RESPONSES.find(name, "response algorithm")
