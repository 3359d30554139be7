"""Every rule of an experiment on made-up numbers: where the claim holds, fails, holds in part, and
is open."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from counterplay.app.reproduction.harness.judge import ARTICLE, Claim, Verdict

HOLDS, IN_PART, FAILS, OPEN = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN
Cases = Mapping[Any, Mapping[Verdict, Callable[[], Claim]]]  # by rule


def rules_of(module: ModuleType) -> list[Any]:
    """Every public function of a module that makes a claim."""
    return [
        one
        for name, one in inspect.getmembers(module, inspect.isfunction)
        if one.__module__ == module.__name__
        and one.__annotations__.get("return") == "Claim"
        and not name.startswith("_")
    ]


def check_rules(module: ModuleType, cases: Cases, never: Mapping[Any, set[Verdict]]) -> None:
    """Each rule gives each verdict on its numbers. `never`: verdicts that a rule cannot give."""
    assert rules_of(module)
    for rule in rules_of(module):
        assert set(cases[rule]) == set(Verdict) - never.get(rule, set()), rule.__name__
        for verdict, case in cases[rule].items():
            made = case()
            assert made.verdict is verdict, (rule.__name__, verdict, made.measured)
            assert made.text == ARTICLE[made.number].text
            assert made.rule
            assert made.measured
