"""The rule of the bots beside published figures."""

from __future__ import annotations

from support.rules import Cases, says_all_three

from counterplay.app.reproduction import bots
from counterplay.app.reproduction.harness.judge import around

CASES: Cases = {}
CASES[bots.reached] = (
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.65, 0.005), 9, True),
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.7, 0.005), 9, False),
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.66, 0.005), 9, False),
)


def test_each_rule_can_say_all_three() -> None:
    says_all_three(bots, CASES)
