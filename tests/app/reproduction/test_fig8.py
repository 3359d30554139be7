"""The rules of Figure 8."""

from __future__ import annotations

from support.rules import Cases, says_all_three

from counterplay.app.reproduction import fig8
from counterplay.app.reproduction.harness.judge import Winnings, around

CASES: Cases = {}


def learnt(*won: float, half: float = 0.02) -> list[fig8.FrozenPolicy]:
    return [
        fig8.FrozenPolicy(1000.0 * (k + 1), 6e6 * k, around(x, half)) for k, x in enumerate(won)
    ]


MCCFR = around(0.1, 0.02)
CASES[fig8.exploits] = (
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.3), MCCFR),
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.01), MCCFR),
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.11), MCCFR),
)
CASES[fig8.improves] = (
    lambda: fig8.improves(learnt(-1, 0.1, 0.2, 0.3)),
    lambda: fig8.improves(learnt(-1, 0.3, 0.2, 0.1)),
    lambda: fig8.improves(learnt(-1, 0.3, 0.2, 0.31)),
)
CASES[fig8.from_nothing] = (
    lambda: fig8.from_nothing(learnt(-1, 0.1, 0.2, 0.3), MCCFR),
    lambda: fig8.from_nothing(learnt(-1, -0.5, 0.0, 0.0), MCCFR),
    lambda: fig8.from_nothing(learnt(-1, 0.2, 0.21, 0.2), MCCFR),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(fig8, CASES)


def test_claims_that_name_mccfr10_also_say_what_they_are_without_the_cut_off() -> None:
    fast = Winnings(around(-0.5, 0.005), around(0.06, 0.001))
    found = fig8.claims(learnt(-1, 0.1, 0.2, 0.3), learnt(-1, 0.1, 0.2, 0.3), fast)
    assert [len(claim.also) for claim in found] == [1, 0, 1]
