"""The 27 claims in one table: what this run found, and, where it leaves a claim open, the verdict
of the committed run at paper scale.

`paper_scale.json` has the committed verdicts; tools/make_results.py writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files as resources
from typing import NamedTuple

from counterplay.app.reproduction.harness.base import Outcome
from counterplay.app.reproduction.harness.judge import (
    ARTICLE,
    Claim,
    Verdict,
    claim,
    count_verdicts,
)

NOT_RUN = "not run"
COMMITTED = "paper_scale.json"


class SummaryRow(NamedTuple):
    figure: str
    experiment: str
    claim: Claim
    at_paper_scale: str = ""  # the committed verdict and number, where this run leaves it open


def summary(outcomes: Iterable[Outcome]) -> list[SummaryRow]:
    """A row for each of the article's claims, in order."""
    ran = list(outcomes)
    found = {one.number: one for outcome in ran for one in outcome.claims}
    large = {one.number for outcome in ran if outcome.scale == "paper" for one in outcome.claims}
    rows = []
    for number, what in ARTICLE.items():
        judged = found.get(number) or claim(number, NOT_RUN, Verdict.OPEN, "")
        known = committed().get(number, "") if number not in large else ""
        later = known if judged.verdict is Verdict.OPEN else ""
        rows.append(SummaryRow(what.figure, what.experiment, judged, later))
    return rows


def headline(rows: Iterable[SummaryRow]) -> str:
    """For example: 27 claims: 18 hold, 4 in part, 3 fail, 2 open."""
    judged = [row.claim for row in rows]
    return f"{len(judged)} claims: {count_verdicts(judged)}"


@cache
def committed() -> Mapping[int, str]:
    """The verdicts of the committed run at paper scale, as text, by number of the claim."""
    text = (resources(__package__ or "") / COMMITTED).read_text("utf-8")
    return {int(number): said for number, said in json.loads(text).items()}


def committed_text(outcomes: Iterable[Outcome]) -> str:
    """The contents of `paper_scale.json`."""
    said = {
        str(one.number): f"{one.verdict}: {one.measured}"
        for outcome in outcomes
        for one in outcome.claims
        if one.number
    }
    return json.dumps(dict(sorted(said.items(), key=lambda pair: int(pair[0]))), indent=0) + "\n"
