"""Hold'em that ends on the flop: buckets, values, solvers."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.ehs import SquaredAbstraction
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import cards, holding
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.cards.strength import count_flops
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules


def test_one_game_has_one_name() -> None:
    names = {
        "flop_holdem": "flop_holdem(buckets=10)",
        "flop_holdem(5,kind=nested)": "flop_holdem(buckets=5,kind=nested)",
        "flop_holdem(buckets=20,kind=classes)": "flop_holdem(buckets=20,kind=classes)",
        "flop_holdem(preflop=3,flop=4,bets=2)": "flop_holdem(preflop=3,flop=4,bets=2)",
    }
    for name, canonical in names.items():
        assert cp.load(name).name == canonical
        assert cp.load(canonical).fingerprint == cp.load(name).fingerprint
    assert len({cp.load(name).fingerprint for name in names}) == len(names)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [("kind=odd", "unknown kind"), ("preflop=5,kind=classes", "169"), ("bets=0", "bets must be"),
     ("buckets=101,kind=nested", "from 1 to 100"), ("turn=3", "write it like")],
)  # fmt: skip
def test_impossible_games_are_refused(arguments: str, reason: str) -> None:
    with pytest.raises(cp.CounterplayError, match=reason):
        cp.load(f"flop_holdem({arguments})")


def test_strengths_are_those_of_five_cards() -> None:
    counts, masks = count_flops(), boards(3).masks
    rng = np.random.default_rng(1)
    for row in rng.integers(len(masks), size=5).tolist():
        flop = [4 * r + s for s in range(4) for r in range(13) if masks[row, s] >> r & 1]
        live = [card for card in range(52) if card not in flop]
        own = rng.choice(live, 2, replace=False).tolist()
        rest = [card for card in live if card not in own]
        mine, total = strength([*own, *flop]), 0
        for i, a in enumerate(rest):
            for b in rest[:i]:
                other = strength([a, b, *flop])
                total += 2 * (mine > other) + (mine == other)
        assert counts[row, holding(own)] == total


def test_nested_buckets_remember_those_before_the_flop() -> None:
    buckets = SquaredAbstraction((5, 4), "nested").buckets()
    assert np.array_equal(np.unique(buckets.preflop), np.arange(5))
    assert np.array_equal(np.unique(buckets.flop), np.arange(20))
    assert (buckets.flop // 4 == buckets.preflop).all()
    assert buckets.preflop[holding(cards("AcAd"))] == 4
    assert buckets.preflop[holding(cards("2c3d"))] == 0


def test_it_is_solved_and_measured() -> None:
    """Sampled and played it is in tests/poker/abstraction/test_kinds.py."""
    game = cp.load("flop_holdem(buckets=3,bets=2)")
    before = cp.exploitability(game, cp.Strategy.uniform(game))
    run = cp.solve(game, "cfr-br", iterations=60, seed=1, measure_every=60)
    learnt = run.strategy
    best = [cp.best_response(game, learnt, player).value for player in (0, 1)]
    assert sum(best) == pytest.approx(run.exploitability)
    assert run.exploitability < before / 2
    value = cp.expected_value(game, learnt)
    assert value.sum() == 0.0
    assert -best[1] - 1e-9 <= value[0] <= best[0] + 1e-9


class SuitedAbstraction(SquaredAbstraction):
    """Tells the first suit apart."""

    @property
    def key(self) -> str:
        return "suits"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        every = super().buckets(progress)
        other = every.preflop.copy()
        other[holding(cards("AcKc"))] = 0
        return every._replace(preflop=other)


def test_an_abstraction_that_tells_suits_apart_is_refused() -> None:
    game = Game("suits", FlopHoldemRules(SuitedAbstraction((5, 5), "squared")))
    with pytest.raises(cp.CounterplayError, match="tells suits apart"):
        cp.solve(game, "cfr-br", iterations=1)
    with pytest.raises(cp.CounterplayError, match="tells suits apart"):
        cp.exploitability(game, cp.Strategy.uniform(game))


def test_a_mixture_is_measured() -> None:
    game = cp.load("flop_holdem(buckets=3,bets=2)")
    one, other = (cp.Strategy.random(game, seed) for seed in (1, 2))
    mixture = cp.Mixture(one, other, 0.25)
    parts = [cp.exploitability(game, strategy) for strategy in (one, other)]
    assert cp.exploitability(game, mixture) < 0.25 * parts[0] + 0.75 * parts[1]
    same = cp.Mixture(one, one, 0.25)
    assert cp.exploitability(game, same) == pytest.approx(parts[0], abs=1e-9)
    np.testing.assert_allclose(
        cp.expected_value(game, same), cp.expected_value(game, one), atol=1e-9
    )
