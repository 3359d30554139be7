"""Models of opponents: what is learnt from hands, how near the truth it comes and how well it
predicts."""

from __future__ import annotations

import numpy as np
import pytest
from support.holdem import TREE
from support.models import (
    ACES,
    KINGS,
    NAME,
    SHOWN,
    distance,
    frequencies,
    learnt,
    naive_slot,
    weak_hands,
    weak_strategy,
)

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.models.model import (
    KINDS,
    OpponentModel,
    learn_model,
    model_strategy,
)
from counterplay.poker.models.observe import ACTIONS, UNSEEN, buckets_of, observe
from counterplay.poker.models.quality import MIN_SHARE, assess, predict, split


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] if k == "tree" else []) for k in KINDS]
)
def test_inferred_models_are_nearer_the_truth_than_fractional_ones(
    kind: str, game: cp.Game
) -> None:
    """J48's missing values assume that cards are missing at random; they are missing when
    somebody folds."""
    truth = weak_strategy(game).probabilities
    played = observe(weak_hands(20_000, 3, None), NAME)  # the same hands with all cards
    rounds = TREE.nodes.street[played.node]
    for chosen, limit in ((played.node == 0, 0.1), (rounds == 0, 0.08), (rounds == 1, 0.05)):
        near, far = (
            distance(learnt(kind, way).strategy.probabilities, truth, game, played, chosen)
            for way in ("inferred", "fractional")
        )
        assert near < limit
        assert near < far / 3


@pytest.mark.parametrize("kind", KINDS)
def test_fractional_models_think_that_strong_hands_fold(kind: str, game: cp.Game) -> None:
    """facts/06: data missing not at random. No fold is ever seen with its cards, so at known
    buckets folds are underestimated."""
    observed = observe(weak_hands(20_000, 3, "a"), NAME)
    fold = observed.action == ACTIONS.index("fold")
    assert fold.sum() > 5_000
    assert np.all(observed.cards[fold] == UNSEEN)

    def folds(way: str, hand: int) -> float:
        return float(learnt(kind, way).strategy.probabilities[naive_slot(game, "r", hand, "fold")])

    assert folds("fractional", 6) > 0.15  # in truth never
    assert folds("inferred", 6) < 0.1
    assert folds("fractional", 4) < 0.7  # in truth 0.9
    assert folds("inferred", 4) == pytest.approx(0.9, abs=0.1)


@pytest.mark.parametrize("unseen", ["inferred", "fractional"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_a_legal_strategy_with_its_observations(
    kind: str, unseen: str, game: cp.Game
) -> None:
    observed, model = observe(weak_hands(20_000, 3, "a"), NAME), learnt(kind, unseen)
    assert (model.kind, model.player, model.hands, model.decisions) == (
        kind,
        NAME,
        len(set(observed.hand.tolist())),
        len(observed.node),
    )
    assert len(model.trees) == (4 if kind == "tree" else 0)
    shares = model.strategy.probabilities
    assert np.allclose(np.add.reduceat(shares, game.form.first[:-1]), 1.0)
    assert shares.min() >= 0.0
    assert model.counts.sum() == pytest.approx(len(observed.node))
    assert model.observed.shape == (game.n_infosets,)
    assert model.observed.sum() == pytest.approx(len(observed.node))
    trust = cp.confidence(model.observed, "0-10-linear", 0.75)
    assert np.allclose(trust, 0.075 * np.minimum(model.observed, 10.0))
    assert ("preflop" in model.text()) == (kind == "tree")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_hands_give_the_same_model(kind: str, game: cp.Game) -> None:
    observed = observe(weak_hands(500, 6, "a"), NAME)
    one, two = (learn_model(observed, game, NAME, kind) for _ in range(2))
    assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)
    assert np.array_equal(one.counts, two.counts)


def test_without_unseen_cards_frequencies_are_plain_counts(game: cp.Game) -> None:
    observed = observe(weak_hands(2_000, 5, None), NAME)
    model = learn_model(observed, game, NAME, "frequency")
    plain = np.zeros(game.n_slots)
    first = TREE.nodes.decision[observed.node].astype(np.int64) * 10 + buckets_of(observed, game)
    np.add.at(plain, game.rules.slots()[first, observed.action], 1.0)
    assert np.array_equal(model.counts, plain)
    was = np.repeat(model.observed > 0, np.diff(game.form.first))
    assert np.allclose(model.strategy.probabilities[was], frequencies(plain, game)[was])
    passive = np.zeros(game.n_slots)
    passive[game.rules.slots()[:, 1]] = 1.0
    assert np.array_equal(model.strategy.probabilities[~was], passive[~was])


def test_laplace_never_says_never(game: cp.Game) -> None:
    assert learnt("tree", "inferred").strategy.probabilities.min() > 0.0
    assert learnt("tree", "fractional").strategy.probabilities.min() > 0.0
    observed = observe(weak_hands(500, 6, "a"), NAME)
    plain = learn_model(observed, game, NAME, laplace=False)
    assert plain.strategy.probabilities.min() == 0.0
    assert plain.counts.sum() <= len(observed.node) + 1e-6


@pytest.mark.parametrize(
    ("kind", "laplace"),
    [
        ("frequency", True),
        ("tree", False),
        ("tree", True),
    ],
)
def test_phases_never_reached_are_called(kind: str, laplace: bool, game: cp.Game) -> None:
    hands = [hand for hand in weak_hands(500, 6, "a") if "/" not in hand.betting]
    strategy = learn_model(observe(hands, NAME), game, NAME, kind, laplace=laplace).strategy
    for letters in ("cc/r", "cc/cc/", "rc/cc/rc/crr"):
        for hand in range(10):
            assert strategy.probabilities[naive_slot(game, letters, hand, "call")] == 1.0


def test_refusals(game: cp.Game) -> None:
    observed = observe([SHOWN], "A")
    with pytest.raises(BadParameter, match="tree, frequency, not 'forest'"):
        learn_model(observed, game, "A", "forest")
    with pytest.raises(BadParameter, match="inferred, fractional, not 'ignored'"):
        learn_model(observed, game, "A", unseen="ignored")
    with pytest.raises(BadParameter, match="not for leduc"):
        learn_model(observed, cp.load("leduc"), "A")


def true_model(game: cp.Game) -> OpponentModel:
    """The weak opponent's own probabilities, as counts."""
    counts = 1e6 * weak_strategy(game).probabilities
    return OpponentModel(
        "frequency", NAME, game, 1, 1, counts, (), model_strategy((), counts, game)
    )


def test_predictions_by_hand(game: cp.Game) -> None:
    observed = observe(weak_hands(2_000, 5, "a"), NAME)
    model, buckets = true_model(game), buckets_of(observed, game)
    shares = predict(model, observed)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.all(shares[~TREE.legal[observed.node]] == 0.0)
    assert np.all(shares[TREE.legal[observed.node]] > 0.0)
    rng, dealt = np.random.default_rng(1), game.rules.bucket_shares()
    for k in rng.choice(len(observed.node), 200, replace=False):
        letters = TREE.histories[observed.node[k]]
        weights = dealt[letters.count("/")] if buckets[k] == UNSEEN else np.eye(10)[buckets[k]]
        raw = np.zeros(3)
        for a, action in enumerate(ACTIONS):
            if TREE.legal[observed.node[k], a]:
                own = [
                    model.strategy.probabilities[naive_slot(game, letters, hand, action)]
                    for hand in range(10)
                ]
                raw[a] = max(float(weights @ own), MIN_SHARE)
        assert shares[k] == pytest.approx(raw / raw.sum())
    for kind in KINDS:
        of_learnt = predict(learnt(kind, "inferred"), observed)
        assert np.allclose(of_learnt.sum(axis=1), 1.0)
        assert np.all((of_learnt > 0.0) == TREE.legal[observed.node])


def test_the_baseline_by_hand(game: cp.Game) -> None:
    """First decisions: a fold, two calls and a raise. A phase that was not trained on is a guess
    among what is legal."""
    ends = [("f", -0.5), ("crf", -1.0), ("crf", -1.0), ("rf", 1.0), ("rf", 1.0)]
    hands = [HandRecord(k, "A", "B", ends[k][0], (), ACES, KINGS, ends[k][1]) for k in range(5)]
    trained, held = split(observe(hands, "A"))
    assert held.hand.tolist() == [4]
    first = trained.part(trained.node == 0)
    assert assess(true_model(game), first, held).baseline == pytest.approx(np.log(4))
    flop = observe([SHOWN], "A").part(np.array([1]))  # a check, where a bet is legal too
    assert assess(true_model(game), first, flop).baseline == pytest.approx(np.log(2))


def test_split_holds_out_every_fifth_hand() -> None:
    observed = observe(weak_hands(2_000, 5, "a"), NAME)
    known, held = split(observed)
    assert set((held.hand % 5).tolist()) == {4}
    assert len(known.node) + len(held.node) == len(observed.node)
    assert not set(known.hand.tolist()) & set(held.hand.tolist())


def test_the_perfect_model_predicts_best(game: cp.Game) -> None:
    """With all cards seen its log loss is the mean entropy of what was done, and learnt models
    come near it."""
    known, held = split(observe(weak_hands(20_000, 3, None), NAME))
    perfect = assess(true_model(game), known, held)
    shares = predict(true_model(game), held)
    assert perfect.log_loss == pytest.approx(
        float(-np.log(shares[np.arange(len(held.node)), held.action]).mean())
    )
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1).mean()
    assert perfect.log_loss == pytest.approx(entropy, abs=0.02)
    assert perfect.gain > 0.3
    assert perfect.accuracy > 0.85
    tree = assess(learn_model(known, game, NAME), known, held)
    assert perfect.log_loss - 1e-3 < tree.log_loss < perfect.log_loss + 0.05
    assert tree.baseline == perfect.baseline > tree.log_loss + 0.3
