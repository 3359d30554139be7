"""What a player was seen to do, and what cards that were not shown may have been: by hand and by
naive twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.hands import random_hands
from support.holdem import TREE, bucket, seldom_folding
from support.models import (
    ACES,
    BOARD,
    FOLDED,
    KINGS,
    NAME,
    NODE,
    SHOWN,
    frequencies,
    long_way,
    naive_expectation,
    naive_slot,
    seen_likelihood,
    weak_hands,
    weak_strategy,
)

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.histories.records import HandRecord, observed_by
from counterplay.poker.models.observe import (
    ACTIONS,
    UNSEEN,
    Observations,
    buckets_of,
    infer_counts,
    node_features,
    observe,
)


def listed(seen: Observations) -> list[tuple[str, str]]:
    return [
        (TREE.histories[node], ACTIONS[action])
        for node, action in zip(seen.node, seen.action, strict=True)
    ]


def test_decisions_of_each_seat_by_hand() -> None:
    of_a, of_b = observe([FOLDED], "A"), observe([FOLDED], "B")
    assert listed(of_a) == [
        ("", "call"),
        ("cr", "call"),
        ("crc/r", "raise"),
        ("crc/rrc/c", "call"),
        ("crc/rrc/cc/c", "raise"),
    ]
    assert listed(of_b) == [
        ("c", "raise"),
        ("crc/", "raise"),
        ("crc/rr", "call"),
        ("crc/rrc/", "call"),
        ("crc/rrc/cc/", "call"),
        ("crc/rrc/cc/cr", "fold"),
    ]
    assert of_a.cards.tolist() == [list(ACES)] * 5
    assert of_b.cards.tolist() == [list(KINGS)] * 6
    assert of_a.board.tolist() == [list(BOARD)] * 5
    assert listed(observe([SHOWN], "A")) == [
        ("c", "call"),
        ("cc/", "call"),
        ("cc/cc/", "call"),
        ("cc/cc/cc/", "call"),
    ]


def test_what_the_observer_could_not_see_is_unseen() -> None:
    observed = observe([observed_by(FOLDED, "A"), replace(SHOWN, observer="A")], "B")
    assert observed.cards[observed.hand == 0].tolist() == [[UNSEEN, UNSEEN]] * 6
    assert observed.cards[observed.hand == 1].tolist() == [list(ACES)] * 4
    early = replace(FOLDED, betting="rf", board=(), dealer_won=1.0)
    assert observe([early], "B").board.tolist() == [[UNSEEN] * 5]


def test_hands_of_others_do_not_count() -> None:
    others = replace(FOLDED, dealer="C", big_blind="D")
    walk = replace(FOLDED, betting="f", board=(), dealer_won=-0.5)  # B had no decision, but played
    observed = observe([others, FOLDED, others, walk, SHOWN], "B")
    assert observed.hand.tolist() == [0] * 6 + [2] * 4
    assert listed(observed) == listed(observe([FOLDED], "B")) + listed(observe([SHOWN], "B"))
    with pytest.raises(BadParameter, match="no decision of 'E' in these hands; A, B, C, D played"):
        observe([others, FOLDED], "E")
    with pytest.raises(
        BadParameter,
        match="no decision of 'B' in these hands; the player was dealt 1 of them and never had to "
        "act",
    ):
        observe([walk], "B")
    crowd = [replace(FOLDED, dealer=f"P{k:04}", big_blind="D") for k in range(2000)]
    with pytest.raises(
        BadParameter,
        match=r"; D, P0000, P0001, P0002, P0003, P0004, P0005, P0006 and 1,993 more played$",
    ):
        observe(crowd, "E")
    with pytest.raises(BadParameter, match="no player played"):
        observe([], "B")


def test_observe_is_a_walk_through_the_rules() -> None:
    hands = random_hands(4, 300)
    for player in ("Ann", 'Bób "x"'):
        assert listed(observe(hands, player)) == [
            step for hand in hands for step in long_way(hand, player)
        ]


@pytest.mark.parametrize(
    ("letters", "seat", "bets", "in_phase", "own"),
    [
        ("", 0, 0, 0, 0),
        ("r", 1, 1, 1, 0),
        ("rr", 0, 2, 2, 1),
        ("rrr", 1, 3, 3, 1),
        ("crc/", 1, 1, 0, 1),
        ("crc/c", 0, 1, 0, 0),
        ("rrc/rr", 1, 4, 2, 2),
        ("rrc/rrr", 0, 5, 3, 2),
        ("rrc/rrrc/rc/crr", 0, 8, 2, 3),
        ("rrrc/rrrrc/rrrrc/rrr", 0, 14, 3, 7),
    ],
)
def test_features_by_hand(letters: str, seat: int, bets: int, in_phase: int, own: int) -> None:
    assert node_features(TREE)[NODE[letters]].tolist() == [seat, bets, in_phase, own]


def test_legal_actions() -> None:
    for letters, allowed in {
        "": "fcr",
        "c": "cr",
        "rrr": "fc",
        "cc/": "cr",
        "cc/r": "fcr",
        "cc/rrrr": "fc",
    }.items():
        assert TREE.legal[NODE[letters]].tolist() == [action[0] in allowed for action in ACTIONS]
    assert [int(n) for n in TREE.legal.sum(axis=1)] == [len(actions) for actions in TREE.actions]


def test_buckets_are_the_naive_ones_in_all_rounds(game: cp.Game) -> None:
    observed = observe(random_hands(8, 150), "Ann")
    rounds = TREE.nodes.street[observed.node]
    assert set(rounds.tolist()) == {0, 1, 2, 3}
    expected = [
        bucket(own, board[: TREE.rules.board[r]], 10)
        for own, board, r in zip(
            observed.cards.tolist(), observed.board.tolist(), rounds, strict=True
        )
    ]
    assert buckets_of(observed, game).tolist() == expected
    hidden = observed._replace(
        cards=np.where(observed.hand[:, None] % 2 == 0, np.int16(UNSEEN), observed.cards)
    )
    assert (
        buckets_of(hidden, game).tolist()
        == np.where(observed.hand % 2 == 0, UNSEEN, expected).tolist()
    )
    with pytest.raises(BadParameter, match="not for kuhn"):
        buckets_of(observed, cp.load("kuhn"))


def test_slots_are_those_of_the_labels(game: cp.Game) -> None:
    table = game.rules.slots()
    for letters in ("", "c", "rrr", "cc/", "cc/cr", "rrrc/rrrrc/rrrrc/rrrr"):
        first = int(TREE.nodes.decision[NODE[letters]]) * 10
        for k in (0, 9):
            for a, action in enumerate(ACTIONS):
                wanted = (
                    naive_slot(game, letters, k, action)
                    if action in TREE.actions[NODE[letters]]
                    else -1
                )
                assert table[first + k, a] == wanted
    assert sorted(table[table >= 0].tolist()) == list(range(game.n_slots))


def test_expected_counts_are_bayes_over_all_holdings(game: cp.Game) -> None:
    hands = [observed_by(hand, 'Bób "x"') for hand in random_hands(5, 40)]
    policy = seldom_folding(game, 2).probabilities
    observed = observe(hands, "Ann")
    assert 0.2 < float((observed.cards[:, 0] >= 0).mean()) < 0.8
    counts, likelihood = infer_counts(observed, game, policy)
    naive, other = naive_expectation(hands, "Ann", game, policy)
    expected = np.zeros(game.n_slots)
    expected[list(naive)] = list(naive.values())
    assert np.abs(counts - expected).max() < 1e-9
    assert likelihood == pytest.approx(other, abs=1e-9)
    assert counts.sum() == pytest.approx(len(observed.node), abs=1e-9)


def test_a_fold_is_spread_over_the_holdings_that_fold(game: cp.Game) -> None:
    """By hand: one fold before the flop by a player who folds the buckets below 5 with
    probability 0.9."""
    record = observed_by(HandRecord(0, "B", "A", "f", (), ACES, KINGS, -0.5), "A")
    counts, likelihood = infer_counts(
        observe([record], "B"), game, weak_strategy(game).probabilities
    )
    dealt = np.bincount(game.rules.buckets.preflop, minlength=10)
    result = [counts[naive_slot(game, "", k, "fold")] for k in range(10)]
    assert result[:5] == pytest.approx(dealt[:5] / dealt[:5].sum())
    assert result[5:] == [0.0] * 5
    assert likelihood == pytest.approx(np.log(0.9 * dealt[:5].sum() / N_HOLDINGS))


def test_known_cards_count_once_and_the_impossible_teaches_nothing(game: cp.Game) -> None:
    policy = cp.Strategy.random(game, 3).probabilities.copy()
    counts, likelihood = infer_counts(observe([SHOWN], "A"), game, policy)
    naive, _ = naive_expectation([SHOWN], "A", game, policy)
    assert likelihood == 0.0
    assert {int(k): float(counts[k]) for k in np.flatnonzero(counts)} == naive
    assert sorted(naive.values()) == [1.0] * 4
    never = weak_strategy(game, lambda facing, hand: {"call": 1.0}).probabilities
    both = observe(
        [observed_by(FOLDED, "A"), replace(SHOWN, observer="A")], "B"
    )  # B raised and folded, which `never` does not
    counts, likelihood = infer_counts(both, game, never)
    assert (counts.sum(), likelihood) == (4.0, 0.0)


def test_the_likelihood_of_frequencies_never_falls(game: cp.Game) -> None:
    """EM without smoothing, from uniform play: seen and unseen decisions together."""
    observed = observe(weak_hands(2_000, 5, "a"), NAME)
    policy, values = cp.Strategy.uniform(game).probabilities, []
    for _ in range(8):
        counts, unseen = infer_counts(observed, game, policy)
        values.append(unseen + seen_likelihood(observed, game, policy))
        assert counts.sum() == pytest.approx(len(observed.node))
        policy = frequencies(counts, game)
    assert np.diff(values).min() > -1e-6
    assert values[-1] > values[0] + 100
