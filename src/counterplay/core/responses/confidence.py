"""Pconf(I) from n_I, how often information set I was observed (Johanson & Bowling 2009)."""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.solvers.base import probability, real

KINDS = ("1-step", "10-step", "0-10-linear", "s-curve")


def confidence(
    counts: np.ndarray, kind: str = "0-10-linear", p_max: float = 1.0, s: float = 1.0
) -> np.ndarray:
    """`counts` observations per information set -> Pconf, one number per information set, at most
    `p_max`.

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
    if real(s, "s") <= 0:
        raise BadParameter(f"s must be above 0, not {s!r}")
    if kind == "1-step":
        return p_max * (n >= 1)
    if kind == "10-step":
        return p_max * (n >= 10)
    if kind == "0-10-linear":
        return p_max * np.minimum(n, 10.0) / 10.0
    if kind == "s-curve":
        return p_max * n / (s + n)
    raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
