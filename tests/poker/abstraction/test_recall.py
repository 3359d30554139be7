"""Perfect recall in hold'em with four streets: look-ups that depend on the bucket before give what
tables of boards in the order of dealing give, in every kernel; and the nested percentiles are what
they say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice
from support.small_holdem import CARDS, random_strategy

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.lossless import LosslessAbstraction
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.vector import cfr_br, flop_values
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery

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


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
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
