"""The response algorithms by name, and p: how far an algorithm trusts the model, one number per
information set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, one_of, positive, probability
from counterplay.core.base.registry import Registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.algorithms import ALGORITHMS, default_sampler
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.lp import is_quick

#: p: one number, or float64[n_infosets].
Trust = float | np.ndarray
#: Functions from observation counts to Pconf.
KINDS = ("1-step", "10-step", "0-10-linear", "s-curve")
#: Whether the adversary has the responder's card abstraction, or none.
ADVERSARIES = ("abstract", "real")
REAL_ENGINE = "cfr-br"
SEVERAL = "mcrnr"  # the algorithm of games of more than two players


@dataclass(frozen=True)
class ResponseAlgorithm:
    """A transform of the game, and the kind of solver that runs on it."""

    name: str
    sampled: bool  # the solver samples; otherwise it is full width
    once: bool  # one coin per game decides whether the model plays; otherwise one per infoset
    engine: str  # the default solver in a game with a tree
    summary: str  # one line for help texts


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
        "mcdbr", True, False, "mccfr", "the same, sampled; what the paper calls MCRNR in hold'em"
    ),
)

RESPONSES: Registry[ResponseAlgorithm] = Registry(
    "response", lambda spec: isinstance(spec, ResponseAlgorithm)
)


def default_response(game: Game) -> str:
    """The default algorithm: rnr, or mcrnr in a game too large for a tree or of several players."""
    full = game.capabilities.full_width or hasattr(game.rules, "regret_minimiser")
    return "rnr" if full and game.n_players == 2 else SEVERAL


def default_engine(game: Game, algorithm: ResponseAlgorithm) -> str:
    """The default solver of `algorithm`: its own, or without a tree that of the game."""
    if algorithm.sampled and not game.capabilities.full_width:
        return default_sampler(game)
    return algorithm.engine


def exact_engine(
    game: Game, algorithm: ResponseAlgorithm, limits: Limits, asked: bool
) -> str | None:
    """The linear program, if it takes about a second at most and nothing that was asked for needs
    iterations: a number of them, a target, a callback, or an option of another engine (`asked`)."""
    iterative = (limits.iterations, limits.target, limits.measure_every, limits.callback)
    if asked or algorithm.sampled or any(limit is not None for limit in iterative):
        return None
    return "lp" if is_quick(game) else None


def faces_real_adversary(game: Game, engine: str | None) -> bool:
    """Whether the adversary of a response by this engine has no card abstraction, and the responder
    has one."""
    return engine == REAL_ENGINE and bool(ALGORITHMS[REAL_ENGINE].draws(game))


def takes_other_models(game: Game, algorithm: str | None, engine: str | None) -> bool:
    """Whether the model may have another card abstraction than the game."""
    if faces_real_adversary(game, engine):
        return True
    chosen = response_algorithm(algorithm or default_response(game))
    if not (chosen.sampled and chosen.once) or game.capabilities.full_width:
        return False
    solver = ALGORITHMS.find(engine or default_engine(game, chosen), "engine")
    return getattr(solver, "other_models", False)


def choose_adversary(
    game: Game, adversary: str, algorithm: str | None, engine: str | None
) -> tuple[str | None, str | None]:
    """The algorithm and the engine for an adversary, where they are not the defaults. In a game
    without a card abstraction both adversaries are the same."""
    real_one = one_of(adversary, ADVERSARIES, "adversary") == ADVERSARIES[1]
    if not real_one and faces_real_adversary(game, engine):
        raise BadParameter(
            f"in {game.name} the adversary of {engine} has no card abstraction; ask for it: "
            f"adversary='real', in a command --adversary real"
        )
    if not real_one or not faces_real_adversary(game, REAL_ENGINE):
        return algorithm, engine
    chosen = response_algorithm(algorithm or "rnr")
    if chosen.sampled or engine not in (None, REAL_ENGINE):
        full = " or ".join(name for name, spec in RESPONSES.items() if not spec.sampled)
        raise BadParameter(
            f"against an adversary without a card abstraction the algorithm is {full}, and the "
            f"engine {REAL_ENGINE}; got {engine if not chosen.sampled else chosen.name}"
        )
    return chosen.name, REAL_ENGINE


def response_algorithm(name: Any) -> ResponseAlgorithm:
    """The algorithm called `name`; otherwise an error that lists the known names."""
    return RESPONSES.find(name, "response algorithm")


def confidence(
    counts: np.ndarray, kind: str = "0-10-linear", p_max: float = 1.0, s: float = 1.0
) -> np.ndarray:
    """Pconf(I) from n_I, the number of observations of information set I (Johanson & Bowling
    2009): `counts` float64[n_infosets] -> Pconf float64[n_infosets], at most `p_max`.

    1-step: p_max once seen. 10-step: p_max once seen ten times. 0-10-linear: p_max · min(n, 10) /
    10. s-curve: p_max · n / (s + n).
    """
    try:
        n = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter("counts must be one non-negative number per information set") from None
    if n.ndim != 1 or not np.all(np.isfinite(n)) or np.any(n < 0):
        raise BadParameter("counts must be one non-negative number per information set")
    probability(p_max, "p_max")
    positive(s, "s")
    if kind == "1-step":
        return p_max * (n >= 1)
    if kind == "10-step":
        return p_max * (n >= 10)
    if kind == "0-10-linear":
        return p_max * np.minimum(n, 10.0) / 10.0
    if kind == "s-curve":
        return p_max * n / (s + n)
    raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")


def trust_length(model: Strategy) -> int:
    """The length of a trust array: the number of information sets; for a hash-table model, the
    number of its entries and one for all other information sets."""
    return len(model.keys) + 1 if isinstance(model, HashStrategy) else model.game.n_infosets


def trust_array(model: Strategy, p: Trust, algorithm: ResponseAlgorithm) -> np.ndarray:
    """float64[trust_length]: p at every information set, or a checked copy of the given array."""
    length = trust_length(model)
    if isinstance(p, int | float | np.number | str) or p is None:
        return np.full(length, probability(p, "p"))
    if algorithm.once:
        others = " and ".join(name for name, spec in RESPONSES.items() if not spec.once)
        raise BadParameter(
            f"{algorithm.name} takes one number p; an array per information set is for {others}"
        )
    try:
        trust = np.asarray(p)
        if trust.dtype.kind not in "fiu":
            raise ValueError("not real numbers")
        trust = trust.astype(np.float64)
    except (TypeError, ValueError):
        raise BadParameter("p must be a number, or one number per information set") from None
    if isinstance(model, HashStrategy) and trust.shape == (length - 1,):
        trust = np.append(trust, 0.0)  # the model has no data for the other information sets
    if trust.shape != (length,):
        raise BadParameter(
            f"p needs one number for each of the {length} information sets; got shape {trust.shape}"
        )
    if not np.all((trust >= 0.0) & (trust <= 1.0)):
        raise BadParameter("p must be from 0 to 1 at every information set")
    return trust
