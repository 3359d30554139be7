"""Features of hands by enumeration, in plain Python: hand strength, equity histograms, the earth
mover's distance, and OCHS (Johanson et al. 2013). Cards are numbers; ranks are phevaluator's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations

from phevaluator import evaluate_cards


def wins(own: list[int], board: list[int], opponents: Iterable[tuple[int, int]]) -> Fraction | None:
    """Returns the share of wins, ties a half, among opponents who share no card; None without."""
    mine, total, n = evaluate_cards(*own, *board), Fraction(0), 0
    for pair in opponents:
        if not {*pair} & {*own, *board}:
            theirs = evaluate_cards(*pair, *board)
            total += 1 if mine < theirs else Fraction(mine == theirs, 2)
            n += 1
    return total / n if n else None


def strength(own: list[int], board: list[int]) -> Fraction:
    """Returns the hand strength on the board of the showdown."""
    found = wins(own, board, combinations(range(52), 2))
    assert found is not None
    return found


def histogram(
    own: list[int],
    board: list[int],
    on_board: int,
    bins: int,
    strength_at: Callable[[list[int], list[int]], Fraction] = strength,
) -> list[int]:
    """Returns the number of ways to complete the board, by the strength then."""
    counts = [0] * bins
    left = [card for card in range(52) if card not in (*own, *board)]
    for rest in combinations(left, on_board - len(board)):
        counts[min(int(bins * strength_at(own, [*board, *rest])), bins - 1)] += 1
    return counts


def earth_movers_distance(one: list[int], two: list[int]) -> Fraction:
    """Returns the work of moving the first distribution to the second: shares times bins."""
    give = {k: Fraction(n, sum(one)) for k, n in enumerate(one) if n}
    take = {k: Fraction(n, sum(two)) for k, n in enumerate(two) if n}
    work = Fraction(0)
    while give and take:  # on a line the leftmost earth goes to the leftmost hole
        here, there = min(give), min(take)
        moved = min(give[here], take[there])
        work += moved * abs(here - there)
        for pile, k in ((give, here), (take, there)):
            pile[k] -= moved
            if pile[k] == 0:
                del pile[k]
    return work


def ochs(own: list[int], board: list[int], groups: list[list[tuple[int, int]]]) -> list[Fraction]:
    """Returns the strength against each group of opponent holdings."""
    shares = [wins(own, board, group) for group in groups]
    return [Fraction(1, 2) if share is None else share for share in shares]
