"""Views by name, as in `holdem(view=sparbot)`."""

from __future__ import annotations

from collections.abc import Callable

from counterplay.base.errors import BadParameter, unknown, whole_number
from counterplay.holdem.betting import STREETS
from counterplay.holdem.views.ehs import KINDS, EhsView
from counterplay.holdem.views.sparbot import N_BUCKETS, SparbotView
from counterplay.holdem.views.view import CardView

MOST_BUCKETS = 1000
DEFAULT_BUCKETS = 10
Asked = dict[str, int | None]  # numbers by name: `buckets` for all streets, or a street


def _ehs(asked: Asked, kind: str) -> CardView:
    for name, number in asked.items():
        if number is not None:
            whole_number(number, 1, MOST_BUCKETS, name)
    all_streets = asked["buckets"] if asked["buckets"] is not None else DEFAULT_BUCKETS
    of_street = (asked[street] for street in STREETS)
    return EhsView(tuple(all_streets if n is None else n for n in of_street), kind)


def _sparbot(asked: Asked, kind: str) -> CardView:
    if kind != KINDS[0] or any(number is not None for number in asked.values()):
        raise BadParameter(
            f"view=sparbot has {N_BUCKETS} buckets of its own on every street; "
            "leave out numbers and kind"
        )
    return SparbotView()


VIEWS: dict[str, Callable[[Asked, str], CardView]] = {"ehs": _ehs, "sparbot": _sparbot}


def make_view(name: str, asked: Asked, kind: str) -> CardView:
    """A view by name, with the numbers of buckets that were asked for."""
    if name not in VIEWS:
        raise unknown("view", str(name), VIEWS)
    return VIEWS[name](asked, kind)
