"""p, how far a model is trusted, as one number per information set."""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.algorithms import RESPONSES, ResponseAlgorithm
from counterplay.core.solvers.base import probability

Trust = float | np.ndarray


def trust_rows(model: Strategy) -> int:
    """Entries of an array of trust: information sets; of a model by key those it has, and one for
    all others."""
    return len(model.keys) + 1 if isinstance(model, HashStrategy) else model.game.n_infosets


def trust_array(model: Strategy, p: Trust, algorithm: ResponseAlgorithm) -> np.ndarray:
    """float64[rows]: p everywhere, or a copy of the array that was given."""
    rows = trust_rows(model)
    if isinstance(p, int | float | np.number | str) or p is None:
        return np.full(rows, probability(p, "p"))
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
    if isinstance(model, HashStrategy) and trust.shape == (rows - 1,):
        trust = np.append(trust, 0.0)  # elsewhere nothing is known of him
    if trust.shape != (rows,):
        raise BadParameter(
            f"p needs one number for each of the {rows} information sets; got shape {trust.shape}"
        )
    if not np.all((trust >= 0.0) & (trust <= 1.0)):
        raise BadParameter("p must be from 0 to 1 at every information set")
    return trust
