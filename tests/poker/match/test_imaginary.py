"""Imaginary observations in hold'em, against their definition one holding at a time, and their
mean."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.kernels.jit import jit
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.poker.betting.betting import ACTIONS, LETTER, LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.bot import Bot, View
from counterplay.poker.bots.table import TableBot
from counterplay.poker.exam.candidate import two_of
from counterplay.poker.exam.holdem import played_blocks
from counterplay.poker.histories.records import settle_deal
from counterplay.poker.match.imaginary import ImaginaryLuckAdjustment, projected
from counterplay.poker.match.luck_adjustment import PARTS, adjust_deals
from counterplay.poker.match.river import RiverPlay, fill_river, river_play

pytestmark = pytest.mark.slow  # kernels and tables
TREE = betting_tree(LIMIT)


class Mixing(Bot):
    """Calls or raises evenly: `probe` as a program."""

    name = "mixing"

    def seed(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> str:
        actions = [action for action in view.betting.actions() if action != "fold"]
        return str(self._rng.choice(actions))


def played(
    program: Any, opponent: TableBot, n: int, seed: int = 5
) -> tuple[PlayedDeals, np.ndarray | None]:
    """The deals, and the probabilities that the program told."""
    return next(played_blocks(two_of(program), opponent, n, seed))


def reach_of(
    opponent: TableBot, seat: int, holding: tuple[int, int], board: Any, end: int
) -> float:
    """The probability of the opponent's actions with a holding."""
    letters = TREE.states[end].history
    node, reach = 0, 1.0
    for letter in letters.replace("/", ""):
        state = TREE.states[node]
        if state.player() == seat:
            view = View(seat, holding, tuple(board[: state.on_board]), state, node)
            reach *= opponent.shares(view)[LETTER[letter]]
        node = TREE.moves[node][LETTER[letter]]
    return reach


@pytest.mark.parametrize("tells", [False, True])
def test_it_is_the_mean_over_holdings_one_at_a_time(tells: bool) -> None:
    """A player that tells its probabilities is corrected as one whose table is known."""
    view = cp.load("holdem(buckets=10)")
    opponent = cp.bot(cp.Strategy.random(view, 8))
    program = cp.bot(cp.Strategy.random(view, 2)) if tells else Mixing()
    adjuster = ImaginaryLuckAdjustment(view, program, opponent.table)
    raw, told = played(program, opponent, 3)
    assert (told is not None) == tells
    adjuster.learn(played(program, opponent, 40, seed=9)[0])
    values = adjuster._values._replace(known=np.array([tells, True]))
    one = program.table if tells else opponent.table
    found = adjuster.parts(raw, told).sum(axis=2)
    assert raw.cards is not None
    for k, side in ((0, 0), (1, 1), (2, 0)):
        cards, end = raw.cards[k].tolist(), int(raw.ends[k, side])
        state, seat = TREE.states[end], 1 - side  # of the opponent
        seen = {*cards[2 * side : 2 * side + 2], *cards[4 : 4 + state.on_board]}
        total = weight = 0.0
        for holding in combinations([card for card in range(52) if card not in seen], 2):
            reach = reach_of(opponent, seat, holding, cards[4:], end)
            if reach == 0.0:
                continue
            dealt = list(cards)
            dealt[2 * seat : 2 * seat + 2] = holding
            payoff = settle_deal(state, dealt) * (1 if side == 0 else -1)
            won = np.full((1, 2), np.nan)
            won[0, side] = payoff
            deal = np.array([dealt], dtype=np.uint8)
            adjust_deals(
                adjuster._pairs, one, opponent.table, values, adjuster._river, deal,
                raw.ends[k : k + 1], won, adjuster._workspace, np.zeros(PARTS),
            )  # fmt: skip
            total, weight = total + reach * float(won[0, side]), weight + reach
        assert found[k, side] == pytest.approx(total / weight, abs=1e-9)


def test_the_mean_stays_and_the_variance_shrinks() -> None:
    """`probe` as a program against `probe` as a table: the true value is 0."""
    view, opponent, program = cp.load("holdem(buckets=10)"), cp.bot("probe"), Mixing()
    adjuster = ImaginaryLuckAdjustment(view, program, opponent.table)
    samples, plain = [], []
    for seed in range(12):
        raw, told = played(program, opponent, 50, seed)
        assert told is None
        samples.append(adjuster.parts(raw).sum(axis=2).mean(axis=1))
        plain.append(raw.won.mean(axis=1))
        adjuster.learn(raw)
    deals = np.concatenate(samples)
    assert abs(deals.mean()) <= 4.0 * deals.std() / np.sqrt(len(deals))
    assert deals.std() < np.concatenate(plain).std()


def test_a_projection_is_the_mean_play_of_a_table() -> None:
    view = cp.load("holdem(buckets=10)")
    same = projected(view, cp.bot("always-raise").table)
    rows = np.flatnonzero(same.sum(axis=1) > 0)
    assert len(rows) == len(same)
    legal = view.rules.slots() >= 0
    assert np.allclose(same[legal[:, 2], ACTIONS.index("raise")], 1.0)
    strategy = cp.Strategy.random(view, 3)
    bot = cp.bot(strategy)
    later = np.concatenate(  # before the flop the lowest buckets of equal width are empty
        [
            np.arange(view.form.first_row[node], view.form.first_row[node] + 10)
            for node in TREE.nodes.node.tolist()
            if TREE.nodes.street[node] > 1
        ]
    )
    assert np.allclose(projected(view, bot.table)[later], bot.table.policy[later], atol=1e-6)


def test_told_probabilities_take_out_the_luck_of_the_draw() -> None:
    view = cp.load("holdem(buckets=10)")
    bot, other = (cp.bot(cp.Strategy.random(view, 4)) for _ in range(2))
    adjuster = ImaginaryLuckAdjustment(view, bot, other.table)
    raw, told = played(bot, other, 50)
    deals = adjuster.parts(raw, told).sum(axis=2).mean(axis=1)
    assert np.isfinite(deals).all()
    assert deals.std() < 0.7 * raw.won.std()
    assert deals.std() < 0.8 * adjuster.parts(raw).sum(axis=2).mean(axis=1).std()
    adjuster.learn(raw)  # nothing to learn of a table
    assert np.array_equal(adjuster.parts(raw, told).sum(axis=2).mean(axis=1), deals)


@jit
def value_of(
    nodes: Any, river: RiverPlay, node: int, side: int, bucket: int, code: int, winner: int
) -> float:
    return float(fill_river(nodes, river, node, side, bucket, code, winner))


def test_a_river_is_walked_whole() -> None:
    """Against a walk in Python, from nodes that open the river."""
    view = cp.load("holdem(buckets=10)")
    opponent, rng = cp.bot(cp.Strategy.random(view, 8)).table, np.random.default_rng(4)
    model = rng.dirichlet(np.ones(3), size=len(view.rules.slots()))
    river = river_play(TREE, opponent, view.form.first_row, model)

    def naive(node: int, side: int, bucket: int, code: int, winner: int) -> float:
        state = TREE.states[node]
        if state.over:
            share = winner if state.folded == NO_FOLD else -1 if state.folded == 0 else 1
            return share * min(state.paid)
        rows = view.form.first_row[node] + bucket, opponent.first_row[node] + code
        shares = model[rows[0]] if state.player() == side else opponent.policy[rows[1]]
        return sum(
            float(shares[ACTIONS.index(action)]) * naive(child, side, bucket, code, winner)
            for action, child in TREE.moves[node].items()
        )

    opening = [node for node, text in enumerate(TREE.histories) if text.count("/") == 3]
    opening = [node for node in opening if TREE.histories[node].endswith("/")]
    assert np.flatnonzero(np.diff(river.first)).tolist() == opening
    for node in opening[:: len(opening) // 7]:
        for side, winner in ((0, 1), (1, -1), (0, 0)):
            given = node, side, int(rng.integers(10)), int(rng.integers(10)), winner
            assert value_of(TREE.nodes, river, *given) == pytest.approx(naive(*given), abs=1e-12)


def test_nothing_is_luck_on_the_river_between_tables_that_are_known() -> None:
    """Two tables of the view itself: what follows a turn has a value, whatever the river brings."""
    view = cp.load("holdem(buckets=10)")
    bot, other = (cp.bot(cp.Strategy.random(view, 4)) for _ in range(2))
    adjuster = ImaginaryLuckAdjustment(view, bot, other.table)
    adjuster._river = adjuster._river._replace(model=bot.table.policy)  # without the sampling
    raw, _ = played(bot, other, 12)
    assert raw.cards is not None
    values = adjuster._values._replace(known=np.array([True, True]))
    tables = bot.table, other.table
    found = []
    for cards, ends in zip(raw.cards, raw.ends, strict=True):
        if TREE.states[int(ends[0])].round < 3:
            continue
        turn = TREE.histories[int(ends[0])].rpartition("/")[0]
        seen = []
        for end in (k for k, text in enumerate(TREE.histories) if text.startswith(turn + "/")):
            if not TREE.states[end].over:
                continue
            for card in range(0, 52, 9):
                if card in cards[:8]:
                    continue
                deal = cards.copy()
                deal[8] = card
                won = np.array([[settle_deal(TREE.states[end], deal.tolist()), np.nan]])
                adjust_deals(
                    adjuster._pairs, *tables, values, adjuster._river, deal[None],
                    np.array([[end, 0]], dtype=np.int32), won, adjuster._workspace,
                    np.zeros(PARTS),
                )  # fmt: skip
                seen.append(won[0, 0])
        found.append(np.ptp(seen))
    assert found
    assert max(found) < 1e-9
