"""The partition of a form's treeplexes among threads, and the renumbering of the form for it.

Every thread has whole subtrees, so threads rarely wait for each other. The information sets above
the subtrees, the top, belong to the first thread; subtrees are as small as a short top allows.
Subtrees of the two players that have many payoffs in common are assigned to the same thread,
because reading a number that another processor has just written is slow. For the same reason the
form is renumbered, the top first and then thread by thread, so that each thread writes to its own
cache lines.

The entries of a row, the slots of an information set and the information sets after a sequence keep
their order in the game, so every sum is added as one thread would add it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.sequence import SequenceForm, Side, Treeplex

#: The measured time of a slot and of an information set in a pass, in entries.
SLOT, INFOSET = 3, 12
#: The same for a top, which needs two barriers, and for a payoff that couples two threads.
TOP, ACROSS = 3_000, 1
#: Numbers of subtrees per thread that are tried.
SUBTREES_PER_THREAD = (1, 4, 16)
#: Of a player; beyond that, neighbouring subtrees are treated as one.
MOST_SUBTREES = 2048
#: Payoffs that are sampled to find which subtrees are coupled.
MOST_ENTRIES = 200_000
#: Alternating assignments of the players' subtrees, each given the other's.
ROUNDS = 4


class Renumbering(NamedTuple):
    """A renumbering of a treeplex: the game's numbers, in the new order."""

    infosets: np.ndarray  # int64[m]
    slots: np.ndarray  # int64[s]

    def sequences(self) -> np.ndarray:
        """int64[s + 1]"""
        return np.append(0, self.slots + 1)

    def apply(self, array: np.ndarray) -> np.ndarray:
        """Returns a copy, in this order, of an array in the game's order."""
        copy: np.ndarray = array[self._of(array)]
        return copy

    def restore(self, mine: np.ndarray, out: np.ndarray) -> None:
        """Fills `out`, in the game's order, from an array in this order."""
        out[self._of(out)] = mine

    def _of(self, array: np.ndarray) -> np.ndarray:
        """Returns the numbers that index an array of this length. If there are as many slots as
        information sets, each set has one slot and both orders are equal."""
        orders = (self.slots, self.sequences(), self.infosets, np.empty(0, dtype=np.int64))
        return next(order for order in orders if len(order) == len(array))


class Partition(NamedTuple):
    """The parts of t threads in a treeplex with m information sets and s slots."""

    below: np.ndarray  # int32[s + 2]: after sequence q come after[below[q]] .. after[below[q + 1]]
    after: np.ndarray  # int32[m]: information sets, the game's last of a sequence first
    # The rows are the top and the subtrees: thread k has low[row, k] .. high[row, k] - 1 of a row.
    low: np.ndarray  # int32[2, t]
    high: np.ndarray  # int32[2, t]
    # There is a barrier between two stages. Without a top both rows are one stage.
    begins: np.ndarray  # bool[2]: whether a stage begins with the row
    ends: np.ndarray  # bool[2]: whether it ends there


class InfosetWork(NamedTuple):
    """The work of each information set of a treeplex, in entries, and its parent."""

    own: np.ndarray  # int64[m]
    total: np.ndarray  # int64[m + 1]: of its subtree; the last: of the whole treeplex
    above: np.ndarray  # int64[m]: the player's previous information set; m: none
    stages: list[slice]


class Subtrees(NamedTuple):
    """Subtrees of a treeplex, in depth-first order."""

    of: np.ndarray  # int64[m]: the subtree of an information set; -1: the top
    inner: np.ndarray  # bool[m]: whether it is below the root of its subtree
    work: np.ndarray  # float64[subtrees]
    top: float  # the work above them


class PartitionSplit(NamedTuple):
    """Subtrees of both players and the thread of each."""

    time: float  # of an iteration, in entries
    subtrees: list[Subtrees]
    owners: list[np.ndarray]  # int64[subtrees]


def single_partition(plex: Treeplex | Side) -> Partition:
    """Returns the partition of a treeplex for one thread."""
    m = len(plex.parent)
    return _partition_of(plex, np.arange(m), np.array([0, m]))


def partition_form(
    form: SequenceForm, threads: int
) -> tuple[SequenceForm, tuple[Partition, Partition], tuple[Renumbering, Renumbering]]:
    """Returns the form renumbered for threads, and each player's partition and numbering."""
    work = [work_of_infosets(side) for side in form]
    splits = [_split(form, work, threads, parts) for parts in SUBTREES_PER_THREAD]
    _, subtrees, owners = min(splits, key=lambda split: split.time)
    orders, bounds = [], []
    for side, subtree, owner in zip(form, subtrees, owners, strict=True):
        thread = np.where(subtree.of < 0, -1, owner[subtree.of])
        # the roots of a thread's subtrees, which the top reads, come first
        infosets = np.lexsort((subtree.inner, thread))
        counts = np.diff(side.first)[infosets]
        place = np.append(0, np.cumsum(counts))
        orders.append(Renumbering(infosets, _ranges(side.first[infosets], counts, place)))
        bounds.append(np.searchsorted(np.sort(thread), np.arange(threads + 1)))
    one = renumbered(form.one, orders[0], orders[1])
    two = renumbered(form.two, orders[1], orders[0])
    partitions = (
        _partition_of(one, orders[0].infosets, bounds[0]),
        _partition_of(two, orders[1].infosets, bounds[1]),
    )
    return form._replace(one=one, two=two), partitions, (orders[0], orders[1])


def stages_of(plex: Treeplex | Side) -> np.ndarray:
    """int64[stages + 1]: bounds of the longest ranges in which no set is below another."""
    latest = np.maximum.accumulate(_above(plex, -1))  # the last that is above any up to here
    bounds = [0]
    while bounds[-1] < len(latest):
        bounds.append(int(np.searchsorted(latest, bounds[-1])))
    return np.array(bounds)


def _above(plex: Treeplex | Side, none: int) -> np.ndarray:
    """Returns int64[m]: the player's previous information set of each, or `none`."""
    owner = np.repeat(np.arange(len(plex.parent)), np.diff(plex.first))
    return np.where(plex.parent > 0, owner[np.maximum(plex.parent, 1) - 1], none)


def work_of_infosets(side: Side) -> InfosetWork:
    m, bounds = len(side.parent), stages_of(side)
    stages = [slice(low, high) for low, high in pairwise(bounds.tolist())]
    own = INFOSET + SLOT * np.diff(side.first) + np.diff(side.row[side.first + 1])
    above = _above(side, m)
    total = np.append(own, 0)
    for stage in reversed(stages):
        np.add.at(total, above[stage], total[stage])
    return InfosetWork(own, total, above, stages)


def _split(form: SequenceForm, work: list[InfosetWork], threads: int, parts: int) -> PartitionSplit:
    """Returns an assignment of subtrees, about `parts` of them to each thread."""
    subtrees = [subtrees_of(mine, int(mine.total[-1]) // (threads * parts)) for mine in work]
    coupling = _coupling(form, subtrees)
    owners = [np.zeros(len(subtree.work), dtype=np.int64) for subtree in subtrees]
    everything = [np.arange(len(subtree.work)) for subtree in subtrees]
    _assign(coupling, [subtree.work for subtree in subtrees], everything, range(threads), owners)
    inside = coupling[owners[0][:, None] == owners[1]].sum() / max(coupling.sum(), 1.0)
    time = ACROSS * len(form.one.value) * float(1.0 - inside)
    for subtree, owner in zip(subtrees, owners, strict=True):
        longest = np.bincount(owner, subtree.work).max()
        time += subtree.top + TOP * (subtree.top > 0) + float(longest)
    return PartitionSplit(time, subtrees, owners)


def subtrees_of(work: InfosetWork, limit: int) -> Subtrees:
    """The subtrees below the top: the sets with more than `limit` work below them."""
    top = np.append(work.total[:-1] - work.own > limit, True)  # the last is above all
    first = ~top[:-1] & top[work.above]
    roots = _roots(work.above, top, first)
    size = work.total[roots]
    number = np.arange(len(roots))
    if len(roots) > MOST_SUBTREES:
        middle = np.cumsum(size) - size / 2
        _, number = np.unique(
            (middle * MOST_SUBTREES / size.sum()).astype(np.int64), return_inverse=True
        )
    subtree = np.full(len(first), -1)
    subtree[roots] = number
    inner = ~top[:-1] & ~first
    for stage in work.stages:
        here = np.flatnonzero(inner[stage]) + stage.start
        subtree[here] = subtree[work.above[here]]
    return Subtrees(subtree, inner, np.bincount(number, size), float(work.own[top[:-1]].sum()))


def _roots(above: np.ndarray, top: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Returns int64[...]: the roots of the subtrees, in depth-first order."""
    after: dict[int, list[int]] = {}
    for i in np.flatnonzero(top[above]).tolist()[::-1]:
        after.setdefault(int(above[i]), []).append(i)
    roots, stack = [], after[len(above)]
    while stack:
        i = stack.pop()
        if first[i]:
            roots.append(i)
        else:
            stack += after[i]
    return np.array(roots)


def _coupling(form: SequenceForm, subtrees: list[Subtrees]) -> np.ndarray:
    """Returns float32[subtrees, subtrees]: the payoffs of a subtree of player 1 with one of 2."""
    of_one, of_two = (  # of the sequences
        np.append(-1, np.repeat(subtree.of, np.diff(side.first)))
        for side, subtree in zip(form, subtrees, strict=True)
    )
    step = 1 + len(form.one.column) // MOST_ENTRIES
    mine = np.repeat(of_one, np.diff(form.one.row))[::step]
    theirs = of_two[form.one.column[::step]]
    both = (mine >= 0) & (theirs >= 0)
    rows, columns = (len(subtree.work) for subtree in subtrees)
    counts = np.bincount(mine[both] * columns + theirs[both], minlength=rows * columns)
    return counts.reshape(rows, columns).astype(np.float32)


def _assign(
    coupling: np.ndarray,
    work: list[np.ndarray],
    subtrees: list[np.ndarray],
    threads: range,
    owners: list[np.ndarray],
) -> None:
    """Fills `owners` of these subtrees of both players, by recursive bisection of the threads."""
    if len(threads) == 1:
        for owner, mine in zip(owners, subtrees, strict=True):
            owner[mine] = threads[0]
        return
    half = len(threads) // 2
    weights = [weight[mine] for weight, mine in zip(work, subtrees, strict=True)]
    halves = _bisect(coupling[np.ix_(*subtrees)], weights, half / len(threads))
    for part, inside in ((threads[:half], True), (threads[half:], False)):
        chosen = [mine[which == inside] for mine, which in zip(subtrees, halves, strict=True)]
        _assign(coupling, work, chosen, part, owners)


def _bisect(coupling: np.ndarray, work: list[np.ndarray], share: float) -> list[np.ndarray]:
    """Returns which subtrees of each player are in a part with this share of the work, such that
    little is coupled to the other part: the best of several starts."""
    least, best = np.inf, [np.ones(len(weight), dtype=bool) for weight in work]
    for player, between in ((0, coupling), (1, coupling.T)):
        mine, theirs = work[player], work[1 - player]
        for pull in _starts(between, mine):
            for _ in range(ROUNDS):
                inside = _select(pull, mine, share)
                others = _select(_times(between.T, _sign(inside)), theirs, share)
                pull = _times(between, _sign(others))
                across = -float(_sign(inside) @ pull)
                if across < least:
                    least, best = across, [inside, others] if player == 0 else [others, inside]
    return best


def _starts(between: np.ndarray, work: np.ndarray) -> list[np.ndarray]:
    """Subtrees in depth-first order, and by their coupling to the largest one."""
    if not len(work):
        return [work]
    return [-np.arange(len(work)) * work, _times(between, between[np.argmax(work)])]


def _sign(inside: np.ndarray) -> np.ndarray:
    return np.where(inside, np.float32(1.0), np.float32(-1.0))


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Returns their product, by one thread; BLAS uses several, which is slow on a busy machine."""
    product: np.ndarray = np.einsum("ij,j->i", matrix, vector)
    return product


def _select(pull: np.ndarray, work: np.ndarray, share: float) -> np.ndarray:
    """Returns bool[subtrees]: those with the most pull per work, up to a share of all work."""
    order = np.argsort(-pull / work, kind="stable")
    inside = np.empty(len(work), dtype=bool)
    inside[order] = np.cumsum(work[order]) - work[order] / 2 < share * work.sum()
    return inside


def _partition_of(plex: Treeplex | Side, infosets: np.ndarray, bound: np.ndarray) -> Partition:
    """`infosets`: their numbers in the game. `bound`: int[t + 1]: where threads' parts begin."""
    n_sequences, threads = int(plex.first[-1]) + 1, len(bound) - 1
    below = np.zeros(n_sequences + 1, dtype=np.int32)
    np.cumsum(np.bincount(plex.parent, minlength=n_sequences), out=below[1:])
    after = np.lexsort((-infosets, plex.parent)).astype(np.int32)
    high_top = np.full(threads, bound[0])
    low_top = np.append(0, high_top[1:])
    low = np.array([low_top, bound[:-1]], dtype=np.int32)
    high = np.array([high_top, bound[1:]], dtype=np.int32)
    two_stages = bool(bound[0] > 0)
    return Partition(
        below, after, low, high, np.array([True, two_stages]), np.array([two_stages, True])
    )


def _ranges(begin: np.ndarray, counts: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Returns the ranges begin[k] .. begin[k] + counts[k] - 1, the k-th at `place[k]`."""
    return np.repeat(begin - place[:-1], counts) + np.arange(place[-1])


def renumbered(side: Side, order: Renumbering, other: Renumbering) -> Side:
    """Returns a side with the sequences of both players renumbered."""
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
        floor=order.apply(side.floor),
    )


def _inverse(order: np.ndarray) -> np.ndarray:
    inverse = np.empty(len(order), dtype=np.int32)
    inverse[order] = np.arange(len(order))
    return inverse
