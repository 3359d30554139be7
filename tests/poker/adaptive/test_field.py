"""The field of weak opponents, the choice of members from it, and the posterior over it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from support.arena import holdem, strategy

import counterplay as cp
from counterplay.core.base.errors import CounterplayError
from counterplay.poker.adaptive.field import (
    CALL,
    FOLD,
    RAISE,
    STRENGTHS,
    TYPES,
    TiltingBot,
    TypeBot,
    type_name,
    type_strategy,
)
from counterplay.poker.adaptive.portfolio_members import PortfolioMember, PortfolioPlayer
from counterplay.poker.adaptive.posterior import (
    EQUILIBRIUM_SHARE,
    POWER,
    OpponentPosterior,
    unexplained_deviation,
)
from counterplay.poker.bots.bot import ending, view
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.models.model import by_action


@pytest.mark.parametrize("name", TYPES)
def test_a_type_moves_probability_between_legal_actions(name: str) -> None:
    """Row by row, as the moves say it; what no move mentions stays."""
    base = strategy(1)
    game = base.game
    before, legal = by_action(base.probabilities, game), game.rules.slots() >= 0
    after = by_action(type_strategy(base, name, 0.5).probabilities, game)
    assert after.sum(axis=1) == pytest.approx(1.0)
    assert (after[~legal] == 0.0).all()
    assert (after >= 0.0).all()
    sources = {move.source for move in TYPES[name]}
    for action in {FOLD, CALL, RAISE} - sources:
        assert (after[:, action] >= before[:, action] - 1e-12).all()
    assert not np.array_equal(before, after)
    none = type_strategy(base, name, 0.0).probabilities
    assert np.array_equal(none, base.probabilities)


def test_a_type_of_full_strength_never_takes_what_it_gives_away() -> None:
    base = strategy(1)
    after = by_action(type_strategy(base, "calling-station", 1.0).probabilities, base.game)
    tree, slots = base.game.rules.tree, base.game.rules.slots()
    nodes = np.repeat(tree.nodes.node, 10)  # ten buckets at every decision
    folds = (slots[:, FOLD] >= 0) & (tree.nodes.street[nodes] > 0)
    assert folds.any()
    assert (after[folds, FOLD] == 0.0).all()


@pytest.mark.parametrize("name", ["too-tight", "over-bluffs", "nit"])
def test_the_bot_plays_the_strategy_of_its_type(name: str) -> None:
    base = strategy(2)
    bot = TypeBot(strategy_bot(base), name, 0.5)
    table = strategy_bot(type_strategy(base, name, 0.5))
    spots = [("", "AhKd", ""), ("r", "7h2d", ""), ("cc/r", "Qs3c", "Qh8d2c")]
    for history, cards, board in (*spots, ("rc/cc/cr", "9s9c", "Ah8d2c5s")):
        seen = view(history, cards, board)
        assert bot.shares(seen) == pytest.approx(table.shares(seen))
        bot.seed(1)
        assert bot.act(seen) in table.shares(seen)


def test_losses_tilt_for_some_hands() -> None:
    base = strategy_bot(strategy(2))
    bot, seen = TiltingBot(base, 1.0), view("r", "7h2d")
    bot.start(1)
    assert bot.shares(seen) == base.shares(seen)
    bot.end_hand(ending("rrrc/cc/cc/cc", 0, "7h2d", "QhJdTc4s5c", "AsAh"))
    assert bot.shares(seen) == pytest.approx({"fold": 0.0, "call": 0.0, "raise": 1.0})
    for _ in range(15):
        bot.end_hand(ending("f", 0, "7h2d"))
    assert bot.shares(seen) == base.shares(seen)


def field_portfolio(gains: np.ndarray) -> cp.Portfolio:
    """A portfolio with these gains and one strategy for everybody."""
    one, names = strategy(1), [type_name(name, 0.5) for name in TYPES]
    known = tuple(PortfolioPlayer(name, one) for name in names[: gains.shape[1] - 1])
    members = tuple(PortfolioMember(one.name, one.model, one.model) for one in known[: len(gains)])
    return cp.Portfolio(holdem(), one, members, known, gains)


def test_members_are_chosen_by_what_they_win_together() -> None:
    """At least 1 - 1/e of the best choice, by trying all."""
    gains = np.random.default_rng(1).normal(0.2, 1.0, (7, 10))
    every = field_portfolio(gains)
    won = np.maximum(gains[:, 1:], 0.0)
    won = won / np.sqrt(np.maximum(won.max(axis=0), 0.01))
    for most in (1, 3, 5):
        chosen = every.pruned(most)
        rows = [every.members.index(member) for member in chosen.members]
        assert len(rows) == most
        assert np.array_equal(chosen.gains, gains[rows])
        assert chosen.players == every.players
        best = max(won[list(some)].max(axis=0).sum() for some in combinations(range(7), most))
        assert won[rows].max(axis=0).sum() >= (1.0 - 1.0 / np.e) * best


def test_a_type_is_left_out_with_all_its_strengths() -> None:
    gains = np.arange(12.0).reshape(3, 4)
    every = field_portfolio(gains)
    name, family = every.players[1].name, list(TYPES)[1]
    for word in (name, family):
        without = every.without(word)
        assert name not in [player.name for player in without.players]
        assert np.array_equal(without.gains, gains[[0, 2]][:, [0, 1, 3]])
    with pytest.raises(CounterplayError, match="unknown player"):
        every.without("too-lose")
    with pytest.raises(CounterplayError, match="did you mean 'nit'"):
        type_strategy(strategy(1), "nitt", 0.5)
    assert len({type_name(name, strength) for name in TYPES for strength in STRENGTHS}) == 45


def test_the_posterior_is_bayes_rule() -> None:
    """With likelihoods to a power; what is learnt later starts from the weight of all others."""
    posterior = OpponentPosterior(2)
    assert posterior.weights[0] == pytest.approx(EQUILIBRIUM_SHARE / 0.9)  # nothing learnt yet
    first, second = np.log([0.2, 0.4, 0.1]), np.log([0.5, 0.1, 0.3])
    posterior.add(first, None)
    prior = np.array([0.5, 0.2, 0.2])
    after = prior * np.exp(first) ** POWER
    learnt = 0.1 * after.sum() / prior.sum()
    assert posterior.weights == pytest.approx([*after / after.sum(), 0.0])
    posterior.learnt_from(100)
    posterior.add(second, float(np.log(0.9)))
    right = np.array([*(after * np.exp(second) ** POWER), learnt * 0.9**POWER])
    assert posterior.weights == pytest.approx(right / right.sum())
    assert posterior.best == int(right[:3].argmax())


def test_a_gain_is_believed_as_far_as_the_deviation_is_explained() -> None:
    posterior = OpponentPosterior(1)
    posterior.add(np.array([-200.0, 0.0]), None)  # certainly the known player
    gains = np.array([[0.0, 0.0, 0.0], [-0.2, 1.0, 0.0]])
    fixed = np.zeros(2, dtype=np.bool_)
    for unexplained, sure in ((0.1, True), (1.0, False)):
        mean, error = posterior.mean_gains(gains, np.array([1.0, unexplained]), fixed)
        assert mean == pytest.approx([0.0, 1.0])
        assert (mean[1] > error[1]) == sure
    posterior.learnt_from(100)
    sure_of = [
        posterior.mean_gains(gains, np.zeros(2), np.full(2, one))[1][1] for one in (False, True)
    ]
    assert sure_of[1] < sure_of[0]  # a soft reply to the model, and another arm
    taken = np.array([[8.0, 2.0]])
    expected = np.array([[[5.0, 5.0]], [[8.0, 2.0]], [[6.5, 3.5]]])
    assert unexplained_deviation(taken, expected) == pytest.approx([1.0, 0.0, 0.5])
