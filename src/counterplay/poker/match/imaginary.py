"""AIVAT with imaginary observations, for a player that is a program against one that is a table.

A hand is evaluated for every holding that the table could have held: with the weight of its actions
(reach probability), its own payoff, and its own correction for cards and actions
(`luck_adjustment.py`). The mean over them is unbiased, since the program would have played the same
way: it does not see the holding before the end of the hand (Burch et al. 2018; the averaging is
that of Bowling et al. 2008).

The program's own actions are corrected where it says its probabilities at each decision.

u is that of two tables of few buckets: a projection of the table, and a model of the program from
the hands before; on the river, where most is won and lost, that of the table itself against the
model (`river.py`). Any u that does not depend on the hand leaves the mean as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.poker.betting.betting import NO_FOLD, PublicNodes, row_of
from counterplay.poker.cards.deal import (
    N_DEALT,
    Deal,
    bucket_of,
    compare,
    draw,
    find_board,
    new_deal,
)
from counterplay.poker.holdem.bucket_pairs import STREETS, matchups, pair_values
from counterplay.poker.holdem.table import Table, code_counts
from counterplay.poker.match.deals import reach_street
from counterplay.poker.match.luck_adjustment import (
    DEEPEST,
    NOBODY,
    PARTS,
    REACH,
    LuckWorkspace,
    PairGame,
    PlayerValues,
    exact_first,
    hand_correction,
)
from counterplay.poker.match.river import RiverPlay, river_play

PROJECTED, SEED = 60_000, 34  # deals of a projection
PRIOR = 3.0  # observations that the prior of a model is worth


@jit
def count_codes(
    cards: Any, table: Table, deals: int, rng: np.ndarray, chance: Deal, code: np.ndarray,
    counts: np.ndarray,
) -> None:  # fmt: skip
    """Adds sampled deals to `counts` (float64[street, bucket, code])."""
    for _ in range(deals):
        draw(chance, rng)
        code[0] = code[1] = 0
        before = 0
        for street in range(STREETS):
            board = find_board(cards, chance, street)
            before = int(bucket_of(cards, chance, board, 0, street, before))
            reach_street(table, chance, board, 0, street, code)
            counts[index(street), index(before), index(code[0])] += 1.0


def projected(view: Game, table: Table) -> np.ndarray:
    """Returns float64[rows, 3]: the mean play of a table in the buckets of another game."""
    tree, abstraction = view.rules.tree, view.rules.abstraction
    codes = code_counts(table, tree)
    counts = np.zeros((STREETS, max(abstraction.counts), max(codes)))
    rng, code = new_state(SEED), np.zeros(2, dtype=np.int64)
    count_codes(view.form.cards, table, PROJECTED, rng, new_deal(), code, counts)
    counts += 1e-9  # for a bucket without deals: the mean of all codes
    policy = np.zeros((len(view.rules.slots()), 3))
    for node in tree.nodes.node.tolist():
        street, first = int(tree.nodes.street[node]), int(table.first_row[node])
        weight = counts[street, : abstraction.counts[street], : codes[street]]
        here = weight @ table.policy[first : first + codes[street]]
        start = int(view.form.first_row[node])
        policy[start : start + len(here)] = here / here.sum(axis=1)[:, None]
    return policy


@jit
def imagine_deals(
    pairs: PairGame, opponent: Table, values: PlayerValues, river: RiverPlay, cards: np.ndarray,
    ends: np.ndarray, won: np.ndarray, tells: bool, told: np.ndarray, workspace: LuckWorkspace,
    parts: np.ndarray, mean: np.ndarray,
) -> None:  # fmt: skip
    """Fills `mean` (float64[n, 2, PARTS]) with the mean of the parts of corrections, and of the
    payoff of the program in the place of the reach, over the holdings of the opponent. `told`
    (float64[n, 2, decisions, 3]): the program's probabilities, if it `tells` them."""
    nodes, chance = pairs.nodes, workspace.chance
    for k in range(index(len(cards))):
        for side in range(index(2)):
            if won[k, side] != won[k, side]:
                continue
            for j in range(index(N_DEALT)):
                chance.deck[j] = cards[k, j]
            end = index(ends[k, side])
            teller = int(side) if tells else NOBODY
            place = index(2) * (ONE - side)  # of the opponent's cards in the deck
            seen = seen_cards(nodes, end)
            weight = 0.0
            for j in range(REACH + ONE):
                mean[k, side, j] = 0.0
            for high in range(52):
                if held(cards[k], high, place, seen):
                    continue
                for low in range(high):
                    if held(cards[k], low, place, seen):
                        continue
                    chance.deck[place], chance.deck[place + ONE] = low, high
                    hand_correction(
                        pairs, opponent, opponent, values, river, int(side), int(end), teller,
                        told[k, side], workspace, parts,
                    )  # fmt: skip
                    if parts[REACH] <= 0.0:
                        continue
                    folded = nodes.folded[end]
                    if folded != NO_FOLD:
                        payoff = float(nodes.stake[end] * (-1 if folded == 0 else 1))
                    else:
                        compare(chance)
                        payoff = float(nodes.stake[end] * chance.winner[ZERO])
                    weight += parts[REACH]
                    for j in range(REACH):
                        mean[k, side, j] += parts[REACH] * parts[j]
                    mean[k, side, REACH] += parts[REACH] * payoff
            scale = 0.0 if weight == 0.0 else 1.0 / weight if side == ZERO else -1.0 / weight
            for j in range(REACH + ONE):
                mean[k, side, j] *= scale


@jit(inner=True)
def seen_cards(nodes: PublicNodes, end: int) -> int:
    """How many cards of the deck were dealt when a hand ended."""
    street = int(nodes.street[end])
    return 4 if street == 0 else 6 + street


@jit(inner=True)
def held(cards: np.ndarray, card: int, place: int, seen: int) -> bool:
    """Whether a card is on the board or held by the program."""
    found = False
    for j in range(index(seen)):
        if j != place and j != place + ONE:
            found = found or cards[j] == card
    return found


@jit
def count_actions(
    pairs: PairGame, first_row: np.ndarray, cards: np.ndarray, ends: np.ndarray, won: np.ndarray,
    tells: bool, told: np.ndarray, workspace: LuckWorkspace, seen: np.ndarray,
) -> None:  # fmt: skip
    """Adds the actions of `a` to `seen` (float64[rows, 3]), or its probabilities, `told` as in
    `imagine_deals`."""
    nodes, chance, path = pairs.nodes, workspace.chance, workspace.path
    for k in range(index(len(cards))):
        for side in range(index(2)):
            if won[k, side] != won[k, side]:
                continue
            for j in range(index(N_DEALT)):
                chance.deck[j] = cards[k, j]
            length, node = ZERO, int(ends[k, side])
            while node > 0:
                path[length] = node
                length += ONE
                node = int(pairs.parent[index(node)])
            street, bucket, step = -1, 0, length
            node, decision = 0, ZERO
            while step > ZERO:
                if nodes.street[index(node)] != street:
                    street = int(nodes.street[index(node)])
                    board = find_board(pairs.cards, chance, street)
                    bucket = int(bucket_of(pairs.cards, chance, board, int(side), street, bucket))
                step -= ONE
                below = int(path[step])
                if nodes.player[index(node)] == int(side):
                    facing = nodes.passive[index(nodes.decision[index(node)])] == 1
                    action = below - int(nodes.first_child[index(node)]) + (0 if facing else 1)
                    row = index(row_of(first_row, index(node), bucket))
                    if tells:
                        for j in range(index(3)):
                            seen[row, j] += told[k, side, decision, j]
                    else:
                        seen[row, index(action)] += 1.0
                    decision += ONE
                node = below


class ImaginaryLuckAdjustment:
    """Luck-adjusted payoffs of a program, or of a table that is played as one, against a table.
    `view`: a game of few buckets, for u, which is that of the hands that `learn` was given
    before."""

    def __init__(
        self, view: Game, program: Any, opponent: Table, progress: ProgressCallback = no_progress
    ) -> None:
        self._view, self._opponent = view, opponent
        self._against = self._prior = projected(view, opponent)
        own = getattr(program, "table", None)
        self._learns = not isinstance(own, Table)
        if isinstance(own, Table):
            self._prior = projected(view, own)
        self._seen = np.zeros_like(self._prior)
        tree, cards = view.rules.tree, view.form.cards
        self._workspace = LuckWorkspace(
            new_deal(), np.zeros(DEEPEST, dtype=np.int64), np.zeros(2, dtype=np.int64)
        )
        flops = matchups(view.rules.abstraction, cards, True, progress)
        self._first = exact_first(view)
        buckets = index(max(view.rules.abstraction.counts))
        self._pairs = PairGame(tree.nodes, tree.parent, cards, flops, buckets)
        self._river = river_play(tree, opponent, view.form.first_row, self._model())
        self._values = self._new_values()

    def _model(self) -> np.ndarray:
        """float64[rows, 3]: what the program does, as far as it was seen."""
        model = self._seen + PRIOR * self._prior
        shares: np.ndarray = model / np.maximum(model.sum(axis=1), 1e-300)[:, None]
        return shares

    def _new_values(self) -> PlayerValues:
        legal = self._view.rules.slots() >= 0
        one, two = self._river.model[legal], self._against[legal]
        sides = [pair_values(self._view, *pair) for pair in ((one, two), (two, one))]
        return PlayerValues(
            np.stack([side.value for side in sides]),
            np.stack([side.before for side in sides]),
            np.array([float(self._first @ side.value[0]) for side in sides]),
            np.array([False, True]),
            np.stack([side.shown for side in sides]),
            sides[0].chance.showdown,
        )

    def learn(self, raw: PlayedDeals, told: np.ndarray | None = None) -> None:
        """Takes hands that were adjusted, as in `parts`, into the model of a program."""
        if not self._learns:
            return
        assert raw.cards is not None
        count_actions(
            self._pairs, self._view.form.first_row, raw.cards, raw.ends, raw.won,
            told is not None, _given(raw, told), self._workspace, self._seen,
        )  # fmt: skip
        self._river = self._river._replace(model=self._model())
        self._values = self._new_values()

    def parts(self, raw: PlayedDeals, told: np.ndarray | None = None) -> np.ndarray:
        """float64[n, 2, PARTS]: corrections, each of mean 0, and last the payoff of the program,
        which sum to the luck-adjusted payoff; NaN where it was not played. `told`: its
        probabilities, float64[n, 2, decisions, 3]."""
        assert raw.cards is not None
        mean = np.full((*raw.won.shape, PARTS), np.nan)
        imagine_deals(
            self._pairs, self._opponent, self._values, self._river, raw.cards, raw.ends, raw.won,
            told is not None, _given(raw, told), self._workspace, np.zeros(PARTS), mean,
        )  # fmt: skip
        return mean


def _given(raw: PlayedDeals, told: np.ndarray | None) -> np.ndarray:
    """An array in the place of probabilities that nobody told."""
    return np.zeros((*raw.won.shape, 0, 3)) if told is None else told
