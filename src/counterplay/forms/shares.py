"""Who does which part of a pass over a form's treeplexes, and the form in that order.

Every thread has whole subtrees, so that it seldom has to meet the others. What lies above them, the
top, is the first thread's; subtrees are as small as keeps the top short. Subtrees of the two
players that meet in many payoffs go to the same thread: a number that another processor has just
written takes long to come. For the same reason the form is numbered anew, the top first and then
thread by thread, so that what a thread writes lies on cache lines of its own.

The entries of a row and the information sets after a sequence keep the order that they have in the
game, so every number is added up as one thread would.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from counterplay.forms.sequence import SequenceForm, Side, Treeplex

#: Entries that take as long as a slot, and as an information set, of a pass (measured).
SLOT, INFOSET = 3, 12
#: The same for what the top needs of a subtree that another thread has.
PIECE = 10
#: Subtrees per thread that are tried.
FINENESS = (1, 2, 4, 8, 16)
#: Of a player; where there are more subtrees, neighbours stay together.
MOST_PIECES = 2048
#: Payoffs that are looked at to see which subtrees meet.
MOST_ENTRIES = 1_000_000
#: Times that the players' subtrees are shared out again, each given the other's.
ROUNDS = 4


class Shares(NamedTuple):
    """Who does what in a treeplex of m information sets and s slots, by t threads."""

    below: np.ndarray  # int32[s + 2]: after sequence q come after[below[q]] .. after[below[q + 1]]
    after: np.ndarray  # int32[m]: information sets, the game's last of a sequence first
    # Rows are the top and what is below it: thread k has low[row, k] .. high[row, k] - 1 of a row.
    low: np.ndarray  # int32[2, t]
    high: np.ndarray  # int32[2, t]
    # Between two stages all meet. Without a top both rows are one stage.
    begins: np.ndarray  # bool[2]: whether a stage begins with the row
    ends: np.ndarray  # bool[2]: whether it ends there


class Order(NamedTuple):
    """Another numbering of a treeplex: the game's numbers, in the new order."""

    infosets: np.ndarray  # int64[m]
    slots: np.ndarray  # int64[s]

    def sequences(self) -> np.ndarray:
        """int64[s + 1]"""
        return np.append(0, self.slots + 1)

    def take(self, array: np.ndarray) -> np.ndarray:
        """A copy, in this order, of an array that is in the game's."""
        found: np.ndarray = array[self._of(array)]
        return found

    def give(self, mine: np.ndarray, out: np.ndarray) -> None:
        """Fill `out`, which is in the game's order, from an array that is in this one."""
        out[self._of(out)] = mine

    def _of(self, array: np.ndarray) -> np.ndarray:
        """The length tells: of as many slots as information sets each set has one, and their
        orders are the same."""
        known = (self.slots, self.sequences(), self.infosets, np.empty(0, dtype=np.int64))
        return next(order for order in known if len(order) == len(array))


class Pieces(NamedTuple):
    """Subtrees of a treeplex, in the order of a walk."""

    of: np.ndarray  # int64[m]: the piece of an information set; -1: the top
    inner: np.ndarray  # bool[m]: whether there is more of its piece above
    work: np.ndarray  # float64[pieces]


def alone(plex: Treeplex | Side) -> Shares:
    """One thread does all."""
    m = len(plex.parent)
    return _shares(plex, np.arange(m), np.array([0, m]))


def arrange(
    form: SequenceForm, threads: int
) -> tuple[SequenceForm, tuple[Shares, Shares], tuple[Order, Order]]:
    """The form in an order for several threads, their shares and that order, of each player."""
    pieces = [pieces_of(side, threads) for side in form]
    coupling = _coupling(form, pieces)
    owners = [np.zeros(len(piece.work), dtype=np.int64) for piece in pieces]
    everything = [np.arange(len(piece.work)) for piece in pieces]
    _share_out(coupling, [piece.work for piece in pieces], everything, range(threads), owners)
    orders, bounds = [], []
    for side, piece, owner in zip(form, pieces, owners, strict=True):
        thread = np.where(piece.of < 0, -1, owner[piece.of])
        orders.append(_order(side, thread, piece.inner))
        bounds.append(np.searchsorted(np.sort(thread), np.arange(threads + 1)))
    one = _renumbered(form.one, orders[0], orders[1])
    two = _renumbered(form.two, orders[1], orders[0])
    shares = (
        _shares(one, orders[0].infosets, bounds[0]),
        _shares(two, orders[1].infosets, bounds[1]),
    )
    return form._replace(one=one, two=two), shares, (orders[0], orders[1])


def stages_of(plex: Treeplex | Side) -> np.ndarray:
    """int64[stages + 1]: bounds of the longest ranges in which nobody is below another."""
    latest = np.maximum.accumulate(_above(plex, -1))  # the last of those above anybody up to here
    bounds = [0]
    while bounds[-1] < len(latest):
        bounds.append(int(np.searchsorted(latest, bounds[-1])))
    return np.array(bounds)


def _above(plex: Treeplex | Side, nobody: int) -> np.ndarray:
    """int64[m]: the player's information set before each."""
    owner = np.repeat(np.arange(len(plex.parent)), np.diff(plex.first))
    return np.where(plex.parent > 0, owner[np.maximum(plex.parent, 1) - 1], nobody)


def pieces_of(side: Side, threads: int) -> Pieces:
    """The subtrees to be shared out: those with which the work takes least time."""
    m, bounds = len(side.parent), stages_of(side)
    stages = [slice(low, high) for low, high in pairwise(bounds.tolist())]
    own = INFOSET + SLOT * np.diff(side.first) + np.diff(side.row[side.first + 1])
    above = _above(side, m)
    total = np.append(own, 0)  # with all below; the last: of everybody
    for stage in reversed(stages):
        np.add.at(total, above[stage], total[stage])
    cuts = [_cut(own, above, total, total[m] // (threads * parts)) for parts in FINENESS]
    top, first = min(cuts, key=lambda cut: _time(own, total, cut, threads))
    roots = _walk(above, top, first)
    middle = np.cumsum(total[roots]) - total[roots] / 2
    if len(roots) > MOST_PIECES:
        _, number = np.unique(
            (middle * MOST_PIECES / total[roots].sum()).astype(np.int64), return_inverse=True
        )
    else:
        number = np.arange(len(roots))
    piece = np.full(m, -1)
    piece[roots] = number
    inner = ~top[:-1] & ~first
    for stage in stages:
        here = np.flatnonzero(inner[stage]) + stage.start
        piece[here] = piece[above[here]]
    return Pieces(piece, inner, np.bincount(number, total[roots]))


def _cut(
    own: np.ndarray, above: np.ndarray, total: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Who has more than `limit` below him, the top (bool[m + 1], the last above everybody), and
    with whom the subtrees under it begin (bool[m])."""
    top = np.append(total[:-1] - own > limit, True)
    return top, ~top[:-1] & top[above]


def _time(
    own: np.ndarray, total: np.ndarray, cut: tuple[np.ndarray, np.ndarray], threads: int
) -> float:
    """The top's, that of an equal share, and what is uneven."""
    top, first = cut
    serial = own[top[:-1]].sum() + PIECE * first.sum() * top[:-1].any()
    return float(serial + (total[-1] - serial) / threads + total[:-1][first].max())


def _walk(above: np.ndarray, top: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The roots of the subtrees as a walk down the top meets them."""
    after: dict[int, list[int]] = {}
    for i in np.flatnonzero(top[above]).tolist()[::-1]:
        after.setdefault(int(above[i]), []).append(i)
    found, waiting = [], after[len(above)]
    while waiting:
        i = waiting.pop()
        if first[i]:
            found.append(i)
        else:
            waiting += after[i]
    return np.array(found)


def _coupling(form: SequenceForm, pieces: list[Pieces]) -> np.ndarray:
    """float32[pieces, pieces]: how many payoffs a subtree of player 1's has with one of 2's."""
    of_one, of_two = (  # of the sequences
        np.append(-1, np.repeat(piece.of, np.diff(side.first)))
        for side, piece in zip(form, pieces, strict=True)
    )
    step = 1 + len(form.one.column) // MOST_ENTRIES
    mine = np.repeat(of_one, np.diff(form.one.row))[::step]
    his = of_two[form.one.column[::step]]
    both = (mine >= 0) & (his >= 0)
    rows, columns = (len(piece.work) for piece in pieces)
    counts = np.bincount(mine[both] * columns + his[both], minlength=rows * columns)
    return counts.reshape(rows, columns).astype(np.float32)


def _share_out(
    coupling: np.ndarray,
    work: list[np.ndarray],
    pieces: list[np.ndarray],
    threads: range,
    owners: list[np.ndarray],
) -> None:
    """Fill `owners` of these pieces of both players: half of the threads, then the other half."""
    if len(threads) == 1:
        for owner, mine in zip(owners, pieces, strict=True):
            owner[mine] = threads[0]
        return
    half = len(threads) // 2
    weights = [weight[mine] for weight, mine in zip(work, pieces, strict=True)]
    found = _halve(coupling[np.ix_(*pieces)], weights, half / len(threads))
    for part, inside in ((threads[:half], True), (threads[half:], False)):
        chosen = [mine[which == inside] for mine, which in zip(pieces, found, strict=True)]
        _share_out(coupling, work, chosen, part, owners)


def _halve(coupling: np.ndarray, work: list[np.ndarray], share: float) -> list[np.ndarray]:
    """Which pieces of each player belong to a part with this share of the work, so that little is
    coupled across: the best of several beginnings."""
    least, best = np.inf, [np.ones(len(weight), dtype=bool) for weight in work]
    for player, between in ((0, coupling), (1, coupling.T)):
        mine, his = work[player], work[1 - player]
        for pull in _beginnings(between, mine):
            for _ in range(ROUNDS):
                inside = _fill(pull, mine, share)
                others = _fill(_times(between.T, _sign(inside)), his, share)
                pull = _times(between, _sign(others))
                across = -float(_sign(inside) @ pull)
                if across < least:
                    least, best = across, [inside, others] if player == 0 else [others, inside]
    return best


def _beginnings(between: np.ndarray, work: np.ndarray) -> list[np.ndarray]:
    """The first in the walk, and those that meet whom the largest piece meets."""
    if not len(work):
        return [work]
    return [-np.arange(len(work)) * work, _times(between, between[np.argmax(work)])]


def _sign(inside: np.ndarray) -> np.ndarray:
    return np.where(inside, np.float32(1.0), np.float32(-1.0))


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Their product by this thread; libraries take several, which lose time on a busy machine."""
    found: np.ndarray = np.einsum("ij,j->i", matrix, vector)
    return found


def _fill(pull: np.ndarray, work: np.ndarray, share: float) -> np.ndarray:
    """bool[pieces]: those that are pulled most for their work, up to a share of all work."""
    order = np.argsort(-pull / work, kind="stable")
    inside = np.empty(len(work), dtype=bool)
    inside[order] = np.cumsum(work[order]) - work[order] / 2 < share * work.sum()
    return inside


def _order(side: Side, thread: np.ndarray, inner: np.ndarray) -> Order:
    """Sorted by thread. What the top needs of a thread, where its pieces begin, comes first."""
    infosets = np.lexsort((inner, thread))
    counts = np.diff(side.first)[infosets]
    first = np.append(0, np.cumsum(counts))
    return Order(infosets, _ranges(side.first[infosets], counts, first))


def _ranges(begin: np.ndarray, counts: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Ranges of so many numbers, one behind the other, the k-th at `place[k]`."""
    return np.repeat(begin - place[:-1], counts) + np.arange(place[-1])


def _renumbered(side: Side, order: Order, other: Order) -> Side:
    """A side in another order of its own and of the other's sequences."""
    sequences = order.sequences()
    sizes = np.diff(side.row)[sequences]
    row = np.append(0, np.cumsum(sizes))
    entries = _ranges(side.row[sequences], sizes, row)
    return Side(
        parent=_inverse(sequences)[side.parent[order.infosets]],
        first=np.append(0, np.cumsum(np.diff(side.first)[order.infosets])).astype(np.int32),
        row=row,
        column=_inverse(other.sequences())[side.column[entries]],
        value=side.value[entries],
        floor=order.take(side.floor),
    )


def _inverse(order: np.ndarray) -> np.ndarray:
    found = np.empty(len(order), dtype=np.int32)
    found[order] = np.arange(len(order))
    return found


def _shares(plex: Treeplex | Side, infosets: np.ndarray, bound: np.ndarray) -> Shares:
    """`infosets`: their numbers in the game. `bound`: int[t + 1], where the shares begin."""
    n_sequences, threads = int(plex.first[-1]) + 1, len(bound) - 1
    below = np.zeros(n_sequences + 1, dtype=np.int32)
    np.cumsum(np.bincount(plex.parent, minlength=n_sequences), out=below[1:])
    after = np.lexsort((-infosets, plex.parent)).astype(np.int32)
    high_top = np.full(threads, bound[0])
    low_top = np.append(0, high_top[1:])
    low = np.array([low_top, bound[:-1]], dtype=np.int32)
    high = np.array([high_top, bound[1:]], dtype=np.int32)
    two_stages = bool(bound[0] > 0)
    return Shares(
        below, after, low, high, np.array([True, two_stages]), np.array([two_stages, True])
    )
