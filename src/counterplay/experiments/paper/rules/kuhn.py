"""Figure 4, left: MCCFR and MCTS in Kuhn poker, over seeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    Range,
    above,
    below,
    every,
    median,
    only_if,
    over_seeds,
)

SMALL, FALL = 0.01, 0.5  # errors at the end; their share of those at a tenth
TIMES = 10.0  # further off than MCCFR
LITTLE = 0.01  # antes per hand
ENOUGH = 1_000_000  # iterations, a hundred of the paper's measurements


class Errors(NamedTuple):
    """One number for each seed at a tenth of the run and at its end."""

    tenth: np.ndarray
    end: np.ndarray

    @property
    def now(self) -> Range:
        return over_seeds(self.end)

    @property
    def falls(self) -> np.ndarray:
        """What is left at the end of what there was at a tenth."""
        return np.asarray(self.end / np.maximum(self.tenth, 1e-15))

    @property
    def fall(self) -> Range:
        return over_seeds(self.falls)


def claims(
    mccfr: dict[str, Errors], mcts: dict[str, Errors], loss: np.ndarray, iterations: int
) -> list[Claim]:
    """`loss`: what MCTS loses to an equilibrium, antes per hand, for each seed."""
    return [
        learns(mccfr, iterations),
        off(mccfr, mcts, "SQR-E", "MCTS settles slightly off the equilibrium."),
        off(mccfr, mcts, "DOM-E", "MCTS still plays dominated actions."),
        unlearns(mcts["DOM-E"]),
        loses_little(over_seeds(loss), iterations),
    ]


def learns(mccfr: dict[str, Errors], iterations: int) -> Claim:
    found = every(
        [
            x
            for one in mccfr.values()
            for x in (below(median(one.end), SMALL), below(median(one.falls), FALL))
        ]
    )
    each = every(
        [x for one in mccfr.values() for x in (below(one.now, SMALL), below(one.fall, FALL))]
    )
    medians = [float(np.median(one.end)) for one in mccfr.values()]
    tenths = [float(np.median(one.tenth)) for one in mccfr.values()]
    old = all(a < FALL * b and a < SMALL for a, b in zip(medians, tenths, strict=True))
    return Claim(
        "MCCFR learns a Nash equilibrium: both errors go to zero.",
        f"the medians over seeds of SQR-E, DOM-E and exploitability end below {SMALL:g}, and of "
        f"what is left since a tenth of the run below half, with their whole 95% intervals; no "
        f"verdict against it under {ENOUGH:,} iterations",
        "medians at the end: "
        + ", ".join(f"{name} {median:.2g}" for name, median in zip(mccfr, medians, strict=True)),
        found or only_if(iterations >= ENOUGH, found),
        Reading("the medians, as they are", "see above", old),
        (Reading("in every seed, by the rule before the last", "", each),),
    )


def off(mccfr: dict[str, Errors], mcts: dict[str, Errors], measure: str, text: str) -> Claim:
    median, found = float(np.median(mccfr[measure].end)), mcts[measure].end
    return Claim(
        text,
        f"in every seed MCTS ends with more than ten times MCCFR's median {measure}; it fails "
        f"where none does",
        f"{measure} of MCTS from {found.min():.2g} to {found.max():.2g}, median of MCCFR "
        f"{median:.2g}",
        above(mcts[measure].now, TIMES * median),
    )


def unlearns(dominated: Errors) -> Claim:
    return Claim(
        "MCTS is still unlearning the dominated actions.",
        "in every seed DOM-E ends below what it was at a tenth of the run; it fails where in none",
        f"medians {np.median(dominated.tenth):.2g} at a tenth, {np.median(dominated.end):.2g} at "
        f"the end",
        below(over_seeds(dominated.end - dominated.tenth), 0.0),
        Reading(
            "the same for the medians",
            "see above",
            bool(np.median(dominated.end) < np.median(dominated.tenth)),
        ),
    )


def loses_little(loss: Range, iterations: int) -> Claim:
    found = below(loss, LITTLE)
    return Claim(
        "MCTS does not lose much to an equilibrium strategy.",
        f"in every seed it loses less than {LITTLE:g} antes per hand, mean of both seats, to the "
        f"equilibrium that wins the most from it; not against it under {ENOUGH:,} iterations",
        f"median {loss.value:.2g}, from {loss.low:.2g} to {loss.high:.2g} antes per hand",
        found or only_if(iterations >= ENOUGH, found),
    )
