"""Perfect recall in hold'em with four streets: look-ups that depend on the bucket before give what
tables of boards in the order of dealing give, in every kernel; and the nested percentiles are what
they say."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice
from support.holdem import bucket_of, class_of, random_deals
from support.small_holdem import CARDS, random_strategy

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction import recall
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.histograms import SQUARES
from counterplay.poker.abstraction.lossless import LosslessAbstraction
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS, holding
from counterplay.poker.cards.decks import Deck
from counterplay.poker.cards.strength import board_links, strengths
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.holdings import bucket_codes, canonical_board
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.vector import cfr_br, flop_values
from counterplay.poker.vector.chance import DealtBoard
from counterplay.poker.vector.flop_boards import LAST, new_flop_boards, new_listing_workspace
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.learner_tables import BucketRows

BETTING = BettingRules(most_bets=(1, 1, 1, 1))
ENTRIES = 5


class RecallAbstraction(LosslessAbstraction):
    """Random buckets of a short deck with perfect recall: 2, 4, 8 and 16."""

    @property
    def counts(self) -> tuple[int, ...]:
        return 2, 4, 8, 16

    @property
    def key(self) -> str:
        return "random, perfect recall"

    def buckets(self, progress: object = None) -> Buckets:
        every, rng = super().buckets(), np.random.default_rng(4)
        tables = every.preflop, every.flop, every.turn, every.river_entry
        bits = [rng.integers(0, n, t.shape) for n, t in zip((2, 2, 5, 5), tables, strict=True)]
        first, flop, turn, river = (table.astype(np.uint16) for table in bits)
        after = [
            (2 * np.arange(n)[:, None] + rng.integers(0, 2, (n, ENTRIES))).astype(np.uint16)
            for n in (4, 8)
        ]
        return Buckets(first, 2 * first + flop, turn, after[1], river, after[0])


class ListedAbstraction(RecallAbstraction):
    """The same buckets without look-ups: a short deck has a table row for each order of dealing."""

    @property
    def key(self) -> str:
        return "random, listed"

    def buckets(self, progress: object = None) -> Buckets:
        every, links = super().buckets(), self.deck.links()
        holding = np.arange(every.flop.shape[1])
        known = list(every.flop)
        tables = np.concatenate([every.turn, every.river_entry])
        for row, cards in enumerate(links.next_boards):
            after = every.turn_after if row < len(every.flop) else every.river
            for number in np.sort(cards[cards >= 0]) >> 8:
                assert number == len(known)
                known.append(after[known[row], tables[number - len(every.flop), holding]])
        turn, river = np.split(np.array(known[len(every.flop) :]), [len(every.turn)])
        return Buckets(every.preflop, every.flop, turn, np.arange(16, dtype=np.uint16), river)


@cache
def games() -> tuple[Game, Game]:
    """The same game by look-ups and by lists."""
    made = [
        HoldemRules(kind(Deck(CARDS)), BETTING) for kind in (RecallAbstraction, ListedAbstraction)
    ]
    return Game("recall", made[0]), Game("listed", made[1])


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.slow)])
def test_cfr_br_and_exact_values(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if backend == "cuda" and COMPILER is None:
        pytest.skip("needs g++, and there is none")
    monkeypatch.setattr(cfr_br, "NEW_DEVICE", EmulatedDevice)
    ours, listed = (cp.solve(g, "cfr-br", iterations=6, seed=3, backend=backend) for g in games())
    assert np.array_equal(ours.strategy.probabilities, listed.strategy.probabilities)
    values = [
        [*cp.expected_value(g, r.strategy), cp.exploitability(g, r.strategy)]
        for g, r in zip(games(), (ours, listed), strict=True)
    ]
    assert values[0] == values[1]


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")
@pytest.mark.parametrize("best", [False, True])
def test_exact_values_on_a_device(best: bool) -> None:
    game = games()[0]
    table = strategy_table(random_strategy(game, 6))
    query = ValueQuery(1, table, None if best else table)
    asked = [PreparedQuery(query, game.rules.tree, game.rules.abstraction.deck)]
    ((_, (wanted,)),) = flop_values.values_on_cpu(asked, [5], 1)
    ((_, (found,)),) = flop_values.values_on_device(asked, [5], 1, EmulatedDevice())
    np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "algorithm",
    [
        "mccfr-external",
        *(pytest.param(a, marks=pytest.mark.slow) for a in ("mccfr", "mccfr-public", "mcts")),
    ],
)
def test_sampling(algorithm: str) -> None:
    ours, listed = (cp.solve(g, algorithm, iterations=300, seed=3).strategy for g in games())
    assert np.array_equal(ours.probabilities, listed.probabilities)
    assert not np.array_equal(ours.probabilities, cp.Strategy.uniform(games()[0]).probabilities)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"turn": 5}, "on the turn a holding has entry 5, and there are buckets for 5"),
        ({"river_entry": 7}, "on the river a holding has entry 7"),
        ({"turn_after": 8}, "on the turn a holding has bucket 8, and there are 8"),
        ({"river": 16}, "on the river a holding has bucket 16"),
    ],
)
def test_unfilled_tables_are_refused(change: dict[str, int], sentence: str) -> None:
    class Unfilled(RecallAbstraction):
        @property
        def key(self) -> str:
            return f"unfilled {change}"

        def buckets(self, progress: object = None) -> Buckets:
            every = super().buckets()
            wrong = {k: np.full_like(getattr(every, k), n) for k, n in change.items()}
            return every._replace(**wrong)

    with pytest.raises(cp.CounterplayError, match=sentence):
        cp.solve(Game("unfilled", HoldemRules(Unfilled(Deck(CARDS)), BETTING)), "mccfr-external")


# --- the full deck


@pytest.mark.slow
def test_deals_are_counted_in_all_orders() -> None:
    """A piece of two boards, by brute force."""
    rng, low = np.random.default_rng(3), 4321
    flop, turn = (
        rng.integers(0, n, (b, 1326)).astype(np.uint16) for n, b in ((3, 1755), (7, 16432))
    )
    after = rng.integers(0, 5, (3, 7)).astype(np.uint16)
    tables = recall._Tables(board_links(), flop, turn, after, strengths().river)
    found = np.zeros((3, 7), np.int64), np.zeros((5, 1981), np.int64)
    every = boards(4)
    for kernel, out in zip((recall._count_turns, recall._count_rivers), found, strict=True):
        kernel(tables, every.masks, every.weight, low, low + 2, recall._new_board(), out)
    wanted = np.zeros_like(found[0]), np.zeros_like(found[1])
    for k in (low, low + 1):
        board = [4 * r + s for s in range(4) for r in range(13) if every.masks[k, s] >> r & 1]
        rest = [c for c in range(52) if c not in board]
        flops = [class_of([c for c in board if c != last]) for last in board]
        rivers = [class_of([*board, c]) for c in rest]
        for h, own in enumerate(HOLDING_CARDS.tolist()):
            if set(own) & set(board):
                continue
            on_flop = [int(flop[row, _image(own, suits)]) for row, suits in flops]
            for bucket in on_flop:
                wanted[0][bucket, turn[k, h]] += every.weight[k]
            for card, (row, suits) in zip(rest, rivers, strict=True):
                if card not in own:
                    entry = strengths().river[row, _image(own, suits)]
                    for bucket in on_flop:
                        wanted[1][after[bucket, turn[k, h]], entry] += every.weight[k]
    assert all(np.array_equal(*both) for both in zip(found, wanted, strict=True))


def _image(own: list[int], suits: list[int]) -> int:
    return holding([c // 4 * 4 + suits[c % 4] for c in own])


def test_borders_are_percentiles_within_each_bucket() -> None:
    deals = np.array([[1, 1, 1, 1, 2, 0], [0, 0, 6, 0, 0, 0], [0] * 6])
    assert recall._borders(deals, 3).tolist() == [[0, 0, 1, 1, 2, 2], [3, 3, 3, 5, 5, 5], [6] * 6]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nested", "nested-percentile"])
def test_nested_percentiles(kind: str) -> None:
    """In sampled deals: perfect recall, stronger hands in higher buckets of a sequence, equal
    shares, and suits do not matter."""
    game = cp.load(f"holdem(preflop=2,flop=3,turn=2,river=2,kind={kind})")
    assert game.rules.abstraction.counts == (2, 6, 12, 24)
    buckets = game.rules.buckets
    tables = SQUARES.get() if kind == "nested" else strengths()[:3]
    deals = random_deals(5, 20_000).tolist()
    sizes, numbers = (0, 3, 4, 5), (2, 3, 2, 2)
    code = np.array([[bucket_of(buckets, d[:2], d[4 : 4 + n]) for n in sizes] for d in deals])
    for dealt, wanted in zip(deals[:20], code, strict=False):
        for order in permutations(range(4)):
            own, board = ([c // 4 * 4 + order[c % 4] for c in p] for p in (dealt[:2], dealt[4:]))
            assert [bucket_of(buckets, own, board[:n]) for n in sizes] == wanted.tolist()
    for street, (size, n) in enumerate(zip(sizes, numbers, strict=True)):
        before = code[:, street - 1] if street else np.zeros(len(deals), dtype=np.int64)
        assert np.array_equal(code[:, street] // n, before)
        strength = []
        for dealt in deals:
            if not size:
                strength.append(int(tables[0][holding(dealt[:2])]))
                continue
            row, suits = class_of(dealt[4 : 4 + size])
            table = strengths().river if size == 5 else tables[street]
            strength.append(int(table[row, _image(dealt[:2], suits)]))
        by_strength = np.array(strength, dtype=np.uint64)
        for sequence in np.unique(before):
            here = before == sequence
            parts = [by_strength[here & (code[:, street] % n == b)] for b in range(n)]
            for weaker, stronger in pairwise(parts):
                assert weaker.max() < stronger.min()
            share = np.array([len(part) for part in parts]) / here.sum()
            assert np.abs(share - 1 / n).max() < 5 * np.sqrt(0.25 / here.sum()) + 0.01


@pytest.mark.slow
def test_codes_are_the_same_in_every_kernel(tmp_path: Path) -> None:
    game = cp.load("holdem(buckets=2,kind=nested)")
    assert game.n_infosets == 96_056  # as published for two buckets
    table, rows = (
        strategy_table(random_strategy(game, 1)),
        BucketRows(game.form.cards, (2, 4, 8, 16)),
    )
    buckets = game.rules.buckets
    for dealt in random_deals(6, 10).tolist():
        board = tuple(dealt[4:])
        for street, size in enumerate((0, 3, 4, 5)):
            code, out = bucket_codes(table, board, street), np.zeros(1326, dtype=np.int64)
            rows.fill(street, DealtBoard(board[:size], -1, np.zeros(1)), out)
            free = canonical_board(board[:size]).free
            assert np.array_equal(out[free], code[free])
            own = dealt[:2]
            assert code[holding(own)] == bucket_of(buckets, own, dealt[4 : 4 + size])
    query = PreparedQuery(ValueQuery(0, table), game.rules.tree)
    listed = new_flop_boards()
    query.list_boards(700, new_listing_workspace(), listed)
    flop = tuple(query.flops[700].tolist())
    turn = int(listed.size[0]) - 1
    (card,) = set(range(52)) - set(flop) - _cards_of(listed.turn_holding[turn], 1128)
    free = canonical_board((*flop, card)).free
    assert np.array_equal(
        listed.turn_code[0, turn, free], bucket_codes(table, (*flop, card), 2)[free]
    )
    river = int(listed.size[1]) - 1
    held = listed.river_holding[river, :1081] % LAST
    (last,) = set(range(52)) - {*flop, card} - _cards_of(held, 1081)
    codes = bucket_codes(table, (*flop, card, last), 3)
    assert np.array_equal(listed.river_code[0, river, :1081], codes[held])
    strategy = random_strategy(game, 1)
    strategy.save(tmp_path / "mine.npz")
    again = cp.Strategy.load(tmp_path / "mine.npz")
    assert again.game.name == game.name == "holdem(buckets=2,kind=nested)"
    assert np.allclose(again.probabilities, strategy.probabilities)
    shares = game.rules.bucket_shares()
    assert np.abs(shares[2] - 1 / 8).max() < 0.01
    match = cp.play_match(game, again, cp.Strategy.uniform(game), 2_000, seed=1, luck_adjusted=True)
    assert match.hands == 2_000


def _cards_of(holdings: np.ndarray, n: int) -> set[int]:
    return set(HOLDING_CARDS[holdings[:n]].ravel().tolist())
