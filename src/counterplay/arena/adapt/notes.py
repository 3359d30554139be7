"""What has been confirmed about an opponent, in words."""

from __future__ import annotations

from counterplay.holdem.betting import STREETS
from counterplay.opponents.models.evidence import Finding

_DOES = {
    True: ("folds", "calls", "raises"),  # facing a bet
    False: ("folds", "checks", "bets"),
}


def kind_words(kind: int) -> str:
    """A pool of decisions: its street, and whether a bet is faced."""
    street, legal = divmod(kind, 4)
    facing, raises = divmod(legal, 2)
    where = f"{STREETS[street]}"
    if facing:
        return f"{where}, facing a bet" + ("" if raises else " at the cap")
    return f"{where}, not facing a bet" if raises else f"{where}, at the cap"


def finding_words(finding: Finding, reference: str = "an equilibrium") -> str:
    """`folds the river to a bet 61% ± 5%, an equilibrium 34%`."""
    street, legal = divmod(finding.group, 4)
    facing = legal >= 2
    does = _DOES[facing][finding.action]
    name = STREETS[street]
    where = name if street == 0 else f"the {name}"
    if facing:
        capped = "" if legal % 2 else ", where no raise is left"
        what = f"{does} {where} to a bet{capped}"
    else:
        what = f"{does} {where} when nobody has bet"
    if street == 0:
        what = what.replace(f" {where}", " before the flop", 1)
    share, half, expected = (
        round(100 * x) for x in (finding.share, finding.half, finding.expected)
    )
    return f"{what} {share}% ± {half}%, {reference} {expected}%"
