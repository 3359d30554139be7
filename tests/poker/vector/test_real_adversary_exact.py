"""The curve against an adversary without a card abstraction equals linear programs to 1e-6: on
Leduc hold'em with an abstraction, and on hold'em to the flop with a short deck."""

from __future__ import annotations

import ast
import itertools
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from support.cutting_planes import best_by_cuts, table_places
from support.flop_game import flop
from support.response_lp import AbstractPlans, abstract_plans, best_objective
from support.single_card import LABELS
from support.vector_games import GroupRows, Vector, single_card

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import player_infosets
from counterplay.poker.betting.betting import BettingTree, betting_tree
from counterplay.poker.cards.cards import holding
from counterplay.poker.holdem.table import code_counts, form_table
from counterplay.poker.vector.cfr_br import VectorCfrBr
from counterplay.poker.vector.chance import Chance, HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, RowMap, table_blocks
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.traversal import FixedSeat

PS = (0.0, 0.3, 0.6, 0.9, 1.0)
EXACT = 1e-6


class Abstracted(NamedTuple):
    """A game twice: for the traversal, with rows for the learner, and as a tree."""

    chance: Chance
    streets: tuple[Street, ...]
    rows: RowMap
    betting: BettingTree
    models: dict[int, FixedSeat]  # of both players
    tree: Game
    model: cp.Strategy  # the same on the tree
    infosets: list[tuple[str, int]]  # what the learner distinguishes at each set of the tree

    def plans(self, player: int) -> AbstractPlans:
        low, high = player_infosets(self.tree.form, player)
        return abstract_plans(self.tree, player, self.infosets[low:high])

    def strategy(self, plan: np.ndarray, player: int) -> cp.Strategy:
        """A plan of the abstraction on the tree; the model in the other seat."""
        weights = self.model.probabilities.copy()
        number, first = self.plans(player).number, self.tree.form.first
        low, high = player_infosets(self.tree.form, player)
        for i in range(low, high):
            for a, slot in enumerate(range(first[i], first[i + 1])):
                weights[slot] = plan[number[self.infosets[i], a]]
        return self.model.replace(cp.Strategy.from_weights(self.tree, weights), player)


@cache
def leduc() -> Abstracted:
    """Queens and kings are one group."""
    vector, tree = single_card("leduc"), cp.load("leduc")
    policy, abstract = vector.random_policy(5), Vector(*vector[:3], GroupRows())

    def row(label: str) -> tuple[str, int]:
        history, public, private = LABELS["leduc"](label)
        group = min(private // 2, 1)
        return history, 3 * group + public // 2 if "|" in label else group

    models, on_tree = vector.seats(policy), vector.on_tree(tree, policy, LABELS["leduc"])
    return Abstracted(
        vector.chance, vector.streets, abstract.rows, betting_tree(vector.rules),
        dict(enumerate(models)), tree, on_tree, [row(label) for label in tree.labels.infoset],
    )  # fmt: skip


@cache
def short_flop() -> Abstracted:
    """Buckets are the ranks of a holding."""
    game, tree, _, model = flop()
    betting, cards = game.rules.tree, game.form.cards
    streets, table = streets_of(betting), form_table(model)
    chance = HoldemChance(tuple(cards.deck.tolist()), game.rules.betting.board, symmetric=False)
    rows = BucketRows(cards, game.rules.abstraction.counts)
    codes = BucketRows(table.cards, code_counts(table, betting), table.carry)
    policy = table_blocks(betting, streets, table)
    models = {j: FixedSeat(chance, streets, j, codes, policy) for j in (0, 1)}
    infosets = []
    for label in tree.labels.infoset:
        held, _, _, history = ast.literal_eval(label)
        infosets.append((history, int(game.rules.buckets.preflop[holding(held)])))
    on_tree = flop().on_tree(model)
    return Abstracted(chance, streets, rows, betting, models, tree, on_tree, infosets)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("name", "ps"),
    [
        ("leduc", PS[3:]),
        pytest.param("leduc", PS[:3], marks=pytest.mark.slow),
        pytest.param("short_flop", PS, marks=pytest.mark.slow),
    ],
)
def test_the_curve_equals_linear_programs(name: str, ps: tuple[float, ...], seat: int) -> None:
    game: Abstracted = {"leduc": leduc, "short_flop": short_flop}[name]()
    plans, payoffs, risks = game.plans(seat), [], []
    places = table_places(game.betting, game.streets, plans)
    for p in ps:
        solver = VectorCfrBr(
            game.chance, game.streets, game.rows, cut=0, seats=(seat,),
            models={1 - seat: game.models[1 - seat]}, p=p,
        )  # fmt: skip
        found = best_by_cuts(solver, seat, plans, places, EXACT / 10)
        most, _ = best_objective(game.tree, game.model, seat, p, plans)
        assert found.value == pytest.approx(most, abs=EXACT)
        strategy = game.strategy(found.plan, seat)
        payoffs.append(float(cp.expected_value(game.tree, strategy)[seat]))
        risks.append(cp.best_response(game.tree, strategy, 1 - seat).value)
        value = p * payoffs[-1] - (1.0 - p) * risks[-1]
        assert value == pytest.approx(most, abs=EXACT)
    for values in (payoffs, risks):
        assert all(b > a - EXACT for a, b in itertools.pairwise(values))
    if name == "leduc":
        assert payoffs[-1] > payoffs[0] + 1e-3
        assert risks[-1] > risks[0] + 1e-3
