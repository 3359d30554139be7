"""Responses against an adversary without a card abstraction: on the device as on processors, and
the curve of linear programs over the abstraction's strategies."""

from __future__ import annotations

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice
from support.small_holdem import CARDS, ForgetfulAbstraction, RanksAbstraction, random_strategy

from counterplay.core.forms.game import Game
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.table import code_counts, form_table
from counterplay.poker.vector import cfr_br_street
from counterplay.poker.vector.cfr_br import VectorCfrBr
from counterplay.poker.vector.cfr_br_cuda import DeviceCfrBr
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, table_blocks
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.traversal import FixedSeat, Step

BETTING = BettingRules(most_bets=(2, 1, 1, 1))
SEED = 5  # of the boards
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")


def small_game(abstraction: type[RanksAbstraction] = RanksAbstraction) -> Game:
    return Game("short-deck hold'em", HoldemRules(abstraction(Deck(CARDS)), BETTING))


@needs_compiler
@pytest.mark.parametrize("parts", [2, 1])
@pytest.mark.parametrize("own_rows", [True, False])
@pytest.mark.parametrize("seat", [0, 1])
def test_an_iteration_on_the_device_equals_one_on_the_processor(
    parts: int, own_rows: bool, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From random positive regrets. `own_rows`: the model has another card abstraction."""
    monkeypatch.setattr(cfr_br_street, "PARTS", parts)
    game = small_game()
    cards, counts = game.form.cards, game.rules.abstraction.counts
    rows = BucketRows(cards, counts)
    chance = HoldemChance(CARDS, BETTING.board, True)
    streets, tree = streets_of(game.rules.tree), game.rules.tree
    model = random_strategy(small_game(ForgetfulAbstraction) if own_rows else game, 7)
    table = form_table(model)
    codes = BucketRows(table.cards, code_counts(table, tree), table.carry)
    fixed = FixedSeat(chance, streets, 1 - seat, codes, table_blocks(tree, streets, table))
    processor = VectorCfrBr(
        chance, streets, rows, cut=2, seats=(seat,), models={1 - seat: fixed}, p=0.6
    )
    device = DeviceCfrBr(
        chance, streets, rows, cut=2, seed=SEED, device=EmulatedDevice(), model=fixed, p=0.6
    )
    rng = np.random.default_rng(2)
    for tables, on_device in (
        (processor.tables, device.regret),
        (processor.trunk, device.trunk_regret),
    ):
        for k, (regret, out) in enumerate(zip(tables.regret, on_device, strict=False)):
            regret[:] = rng.random(regret.shape)
            street = (device._learner if tables is processor.tables else device._adversary)[k]
            for block, copy in zip(regret, out, strict=True):
                copy[:] = street.from_block(block)
    before = [regret.copy() for regret in processor.tables.regret]
    processor.iterate(np.random.default_rng((SEED, 1)), Step(prior=0.5))  # the same board
    device.iterate(1, Step(prior=0.5))
    for k, (start, regret) in enumerate(zip(before, processor.tables.regret, strict=True)):
        street = device._learner[k]
        expected = street.from_block(regret[0]) - street.from_block(start[0])
        found = device.regret[k][0] - street.from_block(start[0])
        assert np.abs(expected).max() > 1e-3
        if parts == 2:
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        else:  # half precision may turn a near tie of the best response
            assert np.linalg.norm(found - expected) < 0.02 * np.linalg.norm(expected)
