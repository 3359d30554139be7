"""Every constant of Poki.

A re-creation from published descriptions: Papp 1998 (Loki-1), Peña 1999 (Loki-2), Davidson 2002 and
Billings 2006 (Poki). [published] values name their source; [guess] values were never published. Of
the guesses, [fitted] ones were chosen so that Poki wins from Always Call and Always Raise what the
authors report (0.51 to 0.54 and 2.14 to 2.29 small bets a hand; Billings 2003, 2004). A threshold
(low, high) is smoothed: never below `low`, always above `high`, linear between.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterplay.core.base.errors import BadParameter

Threshold = tuple[float, float]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class PokiSettings:
    """The constants of the formulas."""

    # Pre-flop: (base, increment) in IR_2. [published] Papp 1998, appendix B: two players, loose,
    # the default of Loki.
    make1: tuple[float, float] = (-50.0, 50.0)
    make2: tuple[float, float] = (0.0, 0.0)
    make4: tuple[float, float] = (300.0, 0.0)

    # Own decisions after the flop, on the weighted EHS.
    # [published] Papp's smoothing of his 0.50 to bet: 0 % at 0.40, 100 % at 0.60.
    bet: Threshold = (0.40, 0.60)
    # [guess, fitted] Papp and Davidson: always above 0.85.
    raise_once: Threshold = (0.60, 0.75)
    # [guess, fitted] Loki-1 never put in a third bet; Poki does.
    raise_again: Threshold = (0.65, 0.80)
    # [guess] Davidson: almost always folds below 0.25; Papp: 0.50 calls a bet.
    call_one: Threshold = (0.25, 0.50)
    # [guess] Papp's Make(1) calls with 0.50 once it has bet.
    call_more: Threshold = (0.40, 0.60)
    # [published] smallest and largest probability of a triple in play, Peña 1999.
    least: float = 0.01
    # [published] how often a raising hand only calls, or checks in last place: Davidson's example
    # (0, .05, .95).
    slow_play: float = 0.05
    # [guess, fitted] how often a raising hand checks in first place: "some check-raises".
    check_raise: float = 0.45
    # [published] how often a semi-bluff that the odds allow is tried; Papp: always.
    semi_bluff: float = 1.0
    # [guess, fitted] how often a hand below the threshold bets an unopened river: "pure bluffs" of
    # unpublished frequency.
    river_bluff: float = 0.15
    # [published] expected cost of reaching the showdown, in bets of the round, on the flop and the
    # turn: Papp 1998, Fig. 6.3.
    showdown_bets: tuple[float, float] = (4.0, 1.0)

    # The model of the opponent.
    # [published] Davidson 2002, Section 3.3.3: best heads-up.
    noise: float = 0.4
    # [published] smallest weight of a possible holding.
    floor: float = 0.01
    # [published] prior triples for 0, 1 and 2 or more bets faced.
    defaults: tuple[Triple, Triple, Triple] = ((0.0, 0.5, 0.5), (0.5, 0.3, 0.2), (0.7, 0.2, 0.1))
    # [published] observations below which a context borrows from the round before it.
    enough: int = 20
    # [published] actions of each context that are remembered: Davidson's Statistics II.
    memory: int = 40
    # [published] half width of the opponent's threshold mu after the flop: Papp's sigma =
    # 0.4 · (1 - mu).
    sigma: float = 0.4
    # [guess] added to it, so that a threshold at 1 is not a step.
    least_sigma: float = 0.02
    # [guess] half width before the flop, in IR_2: Papp's sigma, published for IR_7.
    preflop_sigma: float = 330.0

    def __post_init__(self) -> None:
        for name in ("bet", "raise_once", "raise_again", "call_one", "call_more"):
            low, high = getattr(self, name)
            if not 0.0 <= low < high <= 1.0:
                raise BadParameter(
                    f"{name} must be two rising numbers from 0 to 1, not {(low, high)}"
                )
        bluffs = ("slow_play", "check_raise", "semi_bluff", "river_bluff")
        for name in ("least", *bluffs, "noise", "floor"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise BadParameter(f"{name} must lie in [0, 1], not {getattr(self, name)}")
        for shares in self.defaults:
            if min(shares) < 0.0 or abs(sum(shares) - 1.0) > 1e-9:
                raise BadParameter(f"defaults must be shares that add up to 1, not {shares}")
        if self.enough < 1 or self.memory < self.enough:
            raise BadParameter(
                f"memory must be at least enough >= 1, not {self.memory} and {self.enough}"
            )
        if self.sigma < 0.0 or min(self.least_sigma, self.preflop_sigma, self.floor) <= 0.0:
            raise BadParameter(
                "least_sigma, preflop_sigma and floor must be positive, sigma not negative"
            )
