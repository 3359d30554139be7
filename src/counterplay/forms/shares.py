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

from counterplay.forms.order import Order, order_of, renumbered
from counterplay.forms.sequence import SequenceForm, Side, Treeplex

#: Entries that take as long as a slot, and as an information set, of a pass (measured).
SLOT, INFOSET = 3, 12
#: The same for a top, above which all meet twice, and for a payoff that couples two threads.
TOP, ACROSS = 3_000, 1
#: Subtrees per thread that are tried.
FINENESS = (1, 4, 16)
#: Of a player; where there are more subtrees, neighbours stay together.
MOST_PIECES = 2048
#: Payoffs that are looked at to see which subtrees meet.
MOST_ENTRIES = 200_000
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


class Load(NamedTuple):
    """What a treeplex takes, in entries, and how it hangs together."""

    own: np.ndarray  # int64[m]
    total: np.ndarray  # int64[m + 1]: with all below; the last: of everybody
    above: np.ndarray  # int64[m]: the information set before; m: none
    stages: list[slice]


class Pieces(NamedTuple):
    """Subtrees of a treeplex, in the order of a walk."""

    of: np.ndarray  # int64[m]: the piece of an information set; -1: the top
    inner: np.ndarray  # bool[m]: whether there is more of its piece above
    work: np.ndarray  # float64[pieces]
    top: float  # work above them


class Split(NamedTuple):
    """Pieces of both players and the threads that have them."""

    time: float  # that an iteration takes, in entries
    pieces: list[Pieces]
    owners: list[np.ndarray]  # int64[pieces]


def alone(plex: Treeplex | Side) -> Shares:
    """One thread does all."""
    m = len(plex.parent)
    return _shares(plex, np.arange(m), np.array([0, m]))


def arrange(
    form: SequenceForm, threads: int
) -> tuple[SequenceForm, tuple[Shares, Shares], tuple[Order, Order]]:
    """The form in an order for several threads, their shares and that order, of each player."""
    work = [load_of(side) for side in form]
    splits = [_split(form, work, threads, parts) for parts in FINENESS]
    _, pieces, owners = min(splits, key=lambda split: split.time)
    orders, bounds = [], []
    for side, piece, owner in zip(form, pieces, owners, strict=True):
        thread = np.where(piece.of < 0, -1, owner[piece.of])
        # what the top needs of a thread, where its pieces begin, comes first
        orders.append(order_of(side, np.lexsort((piece.inner, thread))))
        bounds.append(np.searchsorted(np.sort(thread), np.arange(threads + 1)))
    one = renumbered(form.one, orders[0], orders[1])
    two = renumbered(form.two, orders[1], orders[0])
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


def load_of(side: Side) -> Load:
    m, bounds = len(side.parent), stages_of(side)
    stages = [slice(low, high) for low, high in pairwise(bounds.tolist())]
    own = INFOSET + SLOT * np.diff(side.first) + np.diff(side.row[side.first + 1])
    above = _above(side, m)
    total = np.append(own, 0)
    for stage in reversed(stages):
        np.add.at(total, above[stage], total[stage])
    return Load(own, total, above, stages)


def _split(form: SequenceForm, work: list[Load], threads: int, parts: int) -> Split:
    """Subtrees of so many parts of a thread's work, shared out."""
    pieces = [pieces_of(mine, int(mine.total[-1]) // (threads * parts)) for mine in work]
    coupling = _coupling(form, pieces)
    owners = [np.zeros(len(piece.work), dtype=np.int64) for piece in pieces]
    everything = [np.arange(len(piece.work)) for piece in pieces]
    _share_out(coupling, [piece.work for piece in pieces], everything, range(threads), owners)
    together = coupling[owners[0][:, None] == owners[1]].sum() / max(coupling.sum(), 1.0)
    time = ACROSS * len(form.one.value) * float(1.0 - together)
    for piece, owner in zip(pieces, owners, strict=True):
        longest = np.bincount(owner, piece.work).max()
        time += piece.top + TOP * (piece.top > 0) + float(longest)
    return Split(time, pieces, owners)


def pieces_of(work: Load, limit: int) -> Pieces:
    """Who has more than `limit` below him is in the top; everybody else is in a piece."""
    top = np.append(work.total[:-1] - work.own > limit, True)  # the last is above everybody
    first = ~top[:-1] & top[work.above]
    roots = _walk(work.above, top, first)
    size = work.total[roots]
    number = np.arange(len(roots))
    if len(roots) > MOST_PIECES:
        middle = np.cumsum(size) - size / 2
        _, number = np.unique(
            (middle * MOST_PIECES / size.sum()).astype(np.int64), return_inverse=True
        )
    piece = np.full(len(first), -1)
    piece[roots] = number
    inner = ~top[:-1] & ~first
    for stage in work.stages:
        here = np.flatnonzero(inner[stage]) + stage.start
        piece[here] = piece[work.above[here]]
    return Pieces(piece, inner, np.bincount(number, size), float(work.own[top[:-1]].sum()))


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
