"""Hold'em is betting × cards: other limits, other card abstractions, numbers of buckets by
street."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.holdem import TREE, bucket, class_of, random_deals

import counterplay as cp
from counterplay.core.base.errors import BadParameter, BadStrategy, UnknownName
from counterplay.core.forms.access import (
    chance_buffer,
    chance_workspace,
    child,
    infoset_at,
    player_at,
    start,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import restricted_form
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import new_state
from counterplay.poker.abstraction.abstraction import Buckets, Cards, cards_of
from counterplay.poker.abstraction.ehs import EhsAbstraction
from counterplay.poker.abstraction.sparbot import N_BUCKETS
from counterplay.poker.betting.betting import (
    LIMIT,
    BettingRules,
    betting_tree,
    nodes_and_buckets,
    row_of,
)
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, holding
from counterplay.poker.cards.deal import bucket_of, find_board, new_deal
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.grid import preflop_grid

UNEVEN = "holdem(preflop=7,flop=20,turn=13,river=5)"
SPARBOT = "holdem(kind=sparbot)"
BOARD = (0, 3, 4, 5)


def rules_of(game: cp.Game) -> HoldemRules:
    assert isinstance(game.rules, HoldemRules)
    return game.rules


def long_way(buckets: Buckets, own: list[int], board: list[int]) -> int:
    """Returns the bucket of a holding by the canonical board of the whole board."""
    if not board:
        return int(buckets.preflop[holding(own)])
    row, suit_to = class_of(board)
    permuted = holding([c // 4 * 4 + suit_to[c % 4] for c in own])
    if len(board) == 5:
        return int(buckets.river[buckets.river_entry[row, permuted]])
    return int((buckets.flop if len(board) == 3 else buckets.turn)[row, permuted])


def by_links(cards: Cards, dealt: list[int]) -> list[list[int]]:
    """Returns the buckets of both players on each street, as kernels find them."""
    chance = new_deal()
    chance.deck[:9] = dealt
    found = []
    for street in range(4):
        board = find_board(cards, chance, street)
        found.append([int(bucket_of(cards, chance, board, player, street, 0)) for player in (0, 1)])
    return found


# --- betting is a value


@pytest.mark.parametrize(
    ("rules", "decisions", "ends", "most"),
    [
        (LIMIT, 6_378, 10_206, 24.0),
        (BettingRules((1.0, 1.0), (1.0,), (1,), (0,)), 4, 5, 2.0),  # Kuhn's
        (BettingRules((1.0, 1.0), (2.0, 4.0), (2, 2), (0, 1)), 36, 49, 13.0),  # Leduc's
        (BettingRules((0.5, 1.0), (1.0,), (1,), (0,)), 2, 2, 1.0),  # fold or complete, then check
    ],
    ids=["limit", "kuhn", "leduc", "blinds only"],
)
def test_trees_of_other_limits(rules: BettingRules, decisions: int, ends: int, most: float) -> None:
    """Known sizes. Leduc's: 6 decisions a street and 5 ways on; 4 folds a street and 5 showdowns
    after each."""
    tree = betting_tree(rules)
    assert len(tree.nodes.node) == decisions
    assert int((tree.nodes.player < 0).sum()) == ends
    assert tree.nodes.stake.max() == most
    assert tree is betting_tree(
        BettingRules(*(getattr(rules, name) for name in rules.__match_args__))
    )
    assert {state.rules for state in tree.states} == {rules}


@pytest.mark.parametrize(
    "wrong",
    [
        {"bets": (1.0, 2.0)},
        {"bets": (1.0, 1.0, 2.0, 0.0)},
        {"blinds": (1.0, 0.5)},
        {"most_bets": (0, 4, 4, 4)},
        {"bets": (), "most_bets": (), "board": ()},
        {"first": (0, 1, 1)},
        {"first": (0, 1, 2, 1)},
    ],
)
def test_impossible_betting_is_refused(wrong: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(BadParameter, match="got"):
        BettingRules(**wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_hold_em_with_other_limits_is_solved_and_played() -> None:
    few = BettingRules(most_bets=(2, 1, 1, 1))
    rules = HoldemRules(EhsAbstraction((10,) * 4, "equal-width"), few)
    game = Game("few bets", rules)
    assert game.n_infosets == 10 * len(betting_tree(few).nodes.node) < 10_000
    assert game.fingerprint != cp.load("holdem").fingerprint
    run = cp.solve(game, "mccfr", iterations=2_000, seed=1)
    uniform = cp.Strategy.uniform(game)
    result = cp.play_match(game, run.strategy, uniform, 2_000, seed=1)
    assert result.hands == 2_000
    again = cp.play_match(game, strategy_bot(run.strategy), uniform, 2_000, seed=1)
    assert again.mean == result.mean
    with pytest.raises(BadStrategy, match="other betting"):
        cp.play_match(game, run.strategy, "always-call", 100)
    with pytest.raises(BadParameter, match="usual limit betting"):
        cp.play_match(game, run.strategy, uniform, 100, log="hands.parquet")
    with pytest.raises(BadParameter, match="usual limit betting"):
        cp.Adaptive(game, learner={})
    with pytest.raises(BadParameter, match="boards"):
        HoldemRules(EhsAbstraction((10,) * 4, "equal-width"), BettingRules(board=(0, 1, 2, 3)))


# --- streets with numbers of their own


def test_one_game_has_one_name() -> None:
    names = {
        "holdem(preflop=10,flop=10,turn=10,river=10)": "holdem(buckets=10)",
        "holdem(river=10)": "holdem(buckets=10)",
        "holdem(buckets=5,river=7)": "holdem(preflop=5,flop=5,turn=5,river=7)",
        "holdem(buckets=10,kind=equal-width)": "holdem(buckets=10)",
        "holdem(20,river=7,kind=percentile)": (
            "holdem(preflop=20,flop=20,turn=20,river=7,kind=percentile)"
        ),
        "holdem(kind=equal-width)": "holdem(buckets=10)",
        UNEVEN: UNEVEN,
        SPARBOT: SPARBOT,
    }
    for name, canonical in names.items():
        assert cp.load(name).name == canonical
        assert cp.load(canonical).fingerprint == cp.load(name).fingerprint
    different = {cp.load(name).fingerprint for name in names.values()}
    assert len(different) == len(set(names.values()))
    assert rules_of(cp.load("holdem")).key() == b"holdem 10 width ehs 2"  # as in files of 0.1.0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("holdem(turn=0)", "turn must be a whole number from 1"),
        ("holdem(river=10001)", "river must be"),
        ("holdem(kind=sparbot,buckets=6)", "buckets of its own"),
        ("holdem(kind=sparbot,river=6)", "buckets of its own"),
        ("holdem(turn=6,kind=sparbot)", "buckets of its own"),
        ("holdem(kind=sparebot)", "did you mean"),
        ("holdem(street=3)", "write it like"),
    ],
)
def test_impossible_abstractions(name: str, reason: str) -> None:
    with pytest.raises((BadParameter, UnknownName), match=reason):
        cp.load(name)


@pytest.mark.parametrize("counts", [(7, 20, 13, 5), (300, 4, 5, 6), (3, 4, 5, 300)])
def test_each_street_has_its_own_buckets(counts: tuple[int, ...]) -> None:
    """The second and the third have more than a byte holds on one street only."""
    cards = cards_of(EhsAbstraction(counts, "equal-width").buckets())
    for dealt in random_deals(4, 300).tolist():
        for street, found in enumerate(by_links(cards, dealt)):
            board = dealt[4 : 4 + BOARD[street]]
            expected = [bucket(dealt[2 * p : 2 * p + 2], board, counts[street]) for p in (0, 1)]
            assert found == expected


@pytest.mark.parametrize("name", [UNEVEN, pytest.param(SPARBOT, marks=pytest.mark.slow)])
def test_rows_of_random_hands(name: str) -> None:
    """Each information set is named once, by its betting and its bucket."""
    game = cp.load(name)
    form, rules = game.form, rules_of(game)
    counts, buckets = rules.abstraction.counts, rules.buckets
    at_street = [int((TREE.nodes.street[TREE.nodes.node] == k).sum()) for k in range(4)]
    assert game.n_infosets == sum(n * d for n, d in zip(counts, at_street, strict=True))
    node_of, bucket_in = nodes_and_buckets(TREE, counts)
    assert np.array_equal(row_of(form.first_row, node_of, bucket_in), np.arange(len(node_of)))
    rng, choice, hand = (
        new_state(5),
        np.random.default_rng(5),
        chance_workspace(form, chance_buffer(form)),
    )
    for _ in range(100):
        node = start(form, hand, rng)
        dealt = hand.deck[:9].tolist()
        while (player := int(player_at(form, hand, node))) >= 0:
            board = dealt[4 : 4 + BOARD[int(TREE.nodes.street[int(node)])]]
            observed = long_way(buckets, dealt[2 * player : 2 * player + 2], board)
            row = int(infoset_at(form, hand, node))
            letters = TREE.histories[int(node)] or "start"
            assert game.infoset_names[row] == f"{letters} bucket {observed}"
            count, facing = int(form.first[row + 1] - form.first[row]), int(form.passive[row])
            node = child(form, hand, node, index(int(choice.integers(facing, count))), rng)


@pytest.mark.parametrize("name", [UNEVEN, pytest.param(SPARBOT, marks=pytest.mark.slow)])
def test_solved_saved_and_played(name: str, tmp_path: Path) -> None:
    game = cp.load(name)
    run = cp.solve(game, "mccfr-external", iterations=40, seed=1)
    run.strategy.save(tmp_path / "mine.npz")
    again = cp.Strategy.load(tmp_path / "mine.npz")
    assert again.game.name == name
    assert np.array_equal(again.probabilities, run.strategy.probabilities)
    raises = cp.Strategy.from_weights(game, (np.array(game.labels.action) == "raise") + 1e-9)
    result = cp.play_match(game, raises, "always-fold", 2_000, seed=3)
    assert 0.5 < result.mean < 1.5  # the blinds, and a bet where the big blind is checked to
    assert cp.play_match(game, again, tmp_path / "mine.npz", 400, seed=2).mean == 0.0
    assert preflop_grid(again).sum() == pytest.approx(169.0)


def test_models_are_learnt_with_any_abstraction() -> None:
    """Every decision is counted once, cards seen or not."""
    from support.models import NAME, weak_hands

    from counterplay.poker.models.model import learn_model
    from counterplay.poker.models.observe import observe
    from counterplay.poker.models.quality import predict

    observed = observe(weak_hands(500, 6, "a"), NAME)
    observed = observed.part(observed.hand < 40)
    for unseen in ("inferred", "fractional"):
        model = learn_model(observed, cp.load(UNEVEN), NAME, "frequency", unseen=unseen)
        assert model.observed.sum() == pytest.approx(len(observed.node))
        np.testing.assert_allclose(predict(model, observed).sum(axis=1), 1.0)


# --- abstractions other than EHS


def test_any_abstraction_of_the_river() -> None:
    """Buckets of the river by the ranks of the holding alone: entries that no count of wins
    could give."""
    low, high = (HOLDING_CARDS.astype(np.uint16) // 4).T
    entry = np.broadcast_to(
        (3 * np.minimum(low, high) + np.maximum(low, high)) % 7, (134_459, N_HOLDINGS)
    )
    even = EhsAbstraction((3,) * 4, "equal-width").buckets()
    river = np.array([6, 0, 2, 4, 1, 5, 3], dtype=np.uint16)
    buckets = even._replace(river=river, river_entry=entry)
    cards = cards_of(buckets)
    for dealt in random_deals(6, 100).tolist():
        for player, found in enumerate(by_links(cards, dealt)[3]):
            assert found == long_way(buckets, dealt[2 * player : 2 * player + 2], dealt[4:])
    wide = cards_of(even._replace(river=np.arange(7, dtype=np.uint16) + 300, river_entry=entry))
    assert np.array_equal(wide.river[wide.river_entry[5]], 300 + entry[5])


@pytest.mark.slow
def test_sparbots_buckets_by_the_long_way() -> None:
    rules = rules_of(cp.load(SPARBOT))
    assert rules.abstraction.counts == (N_BUCKETS,) * 4
    shares = rules.bucket_shares()
    assert [len(street) for street in shares] == [N_BUCKETS] * 4
    assert min(float(street.min()) for street in shares) > 0.01
    cards = cp.load(SPARBOT).form.cards
    for dealt in random_deals(7, 200).tolist():
        for street, found in enumerate(by_links(cards, dealt)):
            board = dealt[4 : 4 + BOARD[street]]
            assert found == [
                long_way(rules.buckets, dealt[2 * p : 2 * p + 2], board) for p in (0, 1)
            ]


# --- the array of a deal


def test_a_deal_lies_in_one_array_as_files_keep_it() -> None:
    """Positions as in 0.1.0: deck, buckets by street and player, winner, masks, board, permutation,
    holdings; then the coin."""
    game = cp.load("holdem")
    form = restricted_form(game.form, cp.Strategy.uniform(game).probabilities, 1, 0.5)
    buffer = chance_buffer(form)
    assert (buffer.shape, buffer.dtype) == ((70,), np.int64)
    chance = chance_workspace(form, buffer)
    assert buffer[:52].tolist() == list(range(52))
    buffer[:] = np.arange(70)
    deal = chance.inner
    assert deal.bucket.tolist() == [[52, 53], [54, 55], [56, 57], [58, 59]]
    assert [part.tolist() for part in deal[2:]] == [[60], [61, 62, 63, 64], [65], [66], [67, 68]]
    assert chance.coin.tolist() == [69]
