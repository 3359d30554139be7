"""Hold'em as a game by name: sizes, refusals, board classes, the pre-flop grid."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.holdem import NAME, TREE, bucket, class_of, random_deals, seldom_folding

import counterplay as cp
from counterplay.core.base.errors import BadFile, BadGame, BadParameter, BadStrategy
from counterplay.core.forms.access import child, infoset_at, new_chance, player_at, start
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import new_state
from counterplay.poker.bots.simple import SIMPLE, simple_strategy
from counterplay.poker.cards.canonical import SIZES, flop_number, permute_suit
from counterplay.poker.cards.cards import card_text, cards
from counterplay.poker.cards.deal import bucket_of, find_board, new_deal
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.grid import grid_label, plot_grid, preflop_grid


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return cp.load(NAME)


def check_probabilities(strategy: cp.Strategy) -> None:
    sums = np.add.reduceat(strategy.probabilities, strategy.game.form.first[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-9)
    assert strategy.probabilities.min() >= 0.0


def test_sizes_and_properties(game: cp.Game) -> None:
    """facts/02: 6,378 decisions, 63,780 information sets with ten buckets."""
    assert game.name == NAME
    assert cp.load("holdem").name == cp.load("holdem(10)").name == NAME
    assert (game.n_infosets, game.n_slots) == (63_780, 165_830)
    assert game.n_infosets == 10 * int((TREE.nodes.player >= 0).sum()) == 10 * 6_378
    assert (game.n_players, game.max_actions) == (2, 3)
    assert game.zero_sum
    assert not game.perfect_recall
    assert not game.has_tree
    owners = game.form.owner
    assert (int((owners == 0).sum()), int((owners == 1).sum())) == tuple(
        10 * int((TREE.nodes.player == player).sum()) for player in (0, 1)
    )
    assert (game.slots(0).start, game.slots(0).stop, game.slots(1).stop) == (
        0,
        game.slots(1).start,
        game.n_slots,
    )


def test_depth_is_the_longest_hand(game: cp.Game) -> None:
    """c r r r c before the flop, c r r r r c in each later round."""
    lengths = [len(letters.replace("/", "")) for letters in TREE.histories]
    assert game.depth == max(lengths) == 23


def test_labels_name_betting_and_bucket(game: cp.Game) -> None:
    assert game.labels.infoset[:2] == ["start bucket 0", "start bucket 1"]
    assert len(set(game.infoset_names)) == game.n_infosets
    assert len(game.labels.action) == game.n_slots
    rows = cp.Strategy.uniform(game)
    assert rows.at("start bucket 7") == pytest.approx(
        {"fold": 1 / 3, "call": 1 / 3, "raise": 1 / 3}
    )
    assert rows.at("c bucket 3") == {"call": 0.5, "raise": 0.5}
    assert rows.at("rrr bucket 0") == {"fold": 0.5, "call": 0.5}
    for name in ("rc/cr bucket 9", "crrrc/rrrrc/cc/c bucket 0"):
        infoset = game.infoset_by_name[name]
        node = TREE.histories.index(name.split()[0])
        assert infoset == int(TREE.nodes.decision[node]) * 10 + int(name.split()[-1])
    strategy = cp.Strategy.from_table(game, {"start bucket 8": {"raise": 1.0}})
    assert strategy.at("start bucket 8") == {"fold": 0.0, "call": 0.0, "raise": 1.0}
    with pytest.raises(BadStrategy, match="no action 'bet'"):
        cp.Strategy.from_table(game, {"start bucket 8": {"bet": 1.0}})


def test_fingerprints_tell_the_games_apart() -> None:
    """Without building anything: a strategy must not be read as one of another kind of buckets."""
    names = [NAME, "holdem(buckets=9)", "holdem(buckets=100)", "holdem(buckets=10,kind=percentile)"]
    games = [cp.load(name) for name in names]
    assert [loaded.name for loaded in games] == names
    assert len({loaded.fingerprint for loaded in games}) == len(names)
    assert cp.load(NAME).fingerprint == games[0].fingerprint


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("holdem(buckets=0)", "from 1 to"),
        ("holdem(buckets=10001)", "from 1 to"),
        ("holdem(buckets=2.5)", "whole number"),
        ("holdem(buckets=True)", "whole number"),
        ("holdem(kind=odd)", "Known kinds: classes, emd, equal-width"),
        ("holdem(bucket=3)", "write it like"),
        ("holdme(10)", "did you mean 'holdem'"),
    ],
)
def test_bad_parameters(name: str, words: str) -> None:
    with pytest.raises(cp.CounterplayError, match=words.replace("(", r"\(")):
        cp.load(name)


def _solve(name: str) -> Callable[[cp.Game, cp.Strategy], Any]:
    return lambda game, uniform: cp.solve(game, name, iterations=1)


def _respond(name: str) -> Callable[[cp.Game, cp.Strategy], Any]:
    return lambda game, uniform: cp.respond(game, uniform, 0, algorithm=name, iterations=1)


TOO_LARGE: dict[str, Callable[[cp.Game, cp.Strategy], Any]] = {
    "tree": lambda game, uniform: game.tree,
    "sequence form": lambda game, uniform: game.sequence_form,
    "game value": lambda game, uniform: cp.game_value(game),
    "plan": lambda game, uniform: uniform.plan(0),
    "mix": lambda game, uniform: uniform.mix(uniform, 0.5),
    "frontier": cp.frontier,
    "search for p": lambda game, uniform: cp.respond(
        game, uniform, 0, max_exploitability=0.1, algorithm="mcrnr", iterations=10
    ),
    **{name: _solve(name) for name in ("cfr", "cfr+", "dcfr", "pcfr+", "lp", "egt")},
    **{name: _respond(name) for name in ("rnr", "dbr")},
}


@pytest.mark.parametrize("attempt", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_needs_a_tree_says_so(
    attempt: Callable[[cp.Game, cp.Strategy], Any], game: cp.Game
) -> None:
    uniform = cp.Strategy.uniform(game)
    with pytest.raises(
        (BadGame, BadParameter), match=r"too large|perfect recall|traversing its boards"
    ) as error:
        attempt(game, uniform)
    assert NAME in str(error.value)


class StillRunning(Exception):
    """Raised by a test to leave a run that would go on forever."""


def _give_up(progress: Any) -> None:
    if progress.seconds > 0.3:
        raise StillRunning


def test_a_search_for_p_is_refused_before_it_runs(game: cp.Game) -> None:
    """It needs exploitability, so nothing it could compute would help: not after a minute of
    solving."""
    messages: list[int] = []
    with pytest.raises((BadParameter, BadGame)):
        cp.respond(
            game,
            cp.Strategy.uniform(game),
            0,
            algorithm="mcrnr",
            max_exploitability=0.1,
            iterations=5_000,
            on_chunk=lambda progress: messages.append(progress.iterations),
        )
    assert not messages


def test_a_target_that_can_never_be_measured_is_refused(game: cp.Game) -> None:
    """Exploitability is not known in hold'em, so `target` alone would never stop."""
    with pytest.raises((BadParameter, BadGame), match="target"):
        cp.solve(game, "mccfr", target=0.1, on_chunk=_give_up)
    with pytest.raises((BadParameter, BadGame), match="target"):
        cp.respond(
            game, cp.Strategy.uniform(game), 0, algorithm="mcrnr", target=0.1, on_chunk=_give_up
        )


def test_links_lead_to_the_canonical_board(game: cp.Game) -> None:
    """Canonical board and suit permutation by links agree with those of the whole board, up to its
    symmetries.

    Where two suits of a board have the same cards, more than one permutation is correct; each must
    map the board to the canonical one.
    """
    form = game.form
    offsets = {3: 0, 4: SIZES[3], 5: SIZES[3] + SIZES[4]}
    chance = new_deal()
    for dealt in random_deals(1, 4_000).tolist():
        chance.deck[:9] = dealt
        for street, size in ((1, 3), (2, 4), (3, 5)):
            result = find_board(form.cards, chance, street)
            row, suit_to = class_of(dealt[4 : 4 + size])
            assert result == chance.board[0] == offsets[size] + row
            images = [permute_suit(suit, int(chance.permutation[0])) for suit in range(4)]
            assert sorted(images) == [0, 1, 2, 3]
            ours = sorted(c // 4 * 4 + images[c % 4] for c in dealt[4 : 4 + size])
            assert ours == sorted(c // 4 * 4 + suit_to[c % 4] for c in dealt[4 : 4 + size])


@pytest.mark.parametrize("n", [10, 100, 300])
def test_buckets_by_links_are_those_of_whole_boards(n: int) -> None:
    form = cp.load(f"holdem(buckets={n})").form
    chance = new_deal()
    for dealt in random_deals(2, 1_500).tolist():
        chance.deck[:9] = dealt
        for street in range(4):
            board = find_board(form.cards, chance, street)
            for player in (0, 1):
                own = dealt[2 * player : 2 * player + 2]
                ours = int(bucket_of(form.cards, chance, board, player, street, 0))
                assert ours == bucket(own, dealt[4 : (4, 7, 8, 9)[street]], n)


def test_flops_are_numbered_without_gaps() -> None:
    numbers = [int(flop_number(a, b, c)) for c in range(52) for b in range(c) for a in range(b)]
    assert numbers == list(range(22_100))
    for order in ((7, 30, 51), (51, 7, 30), (30, 51, 7), (7, 51, 30), (30, 7, 51), (51, 30, 7)):
        assert flop_number(*order) == flop_number(7, 30, 51)


@pytest.mark.parametrize("n", [1, 10, 100, 300])
def test_information_sets_of_random_hands(n: int) -> None:
    """Imperfect recall: the betting and the bucket of now, nothing else. Rounds may be skipped
    over only in order."""
    form = cp.load(f"holdem(buckets={n})").form
    tree, rng, choice = TREE.nodes, new_state(5), np.random.default_rng(5)
    hand = new_chance(form)
    reached = set()
    for _ in range(200):
        node = start(form, hand, rng)
        dealt = hand.deck[:9].tolist()
        while (player := int(player_at(form, hand, node))) >= 0:
            street = int(tree.street[int(node)])
            reached.add(street)
            own, board = dealt[2 * player : 2 * player + 2], dealt[4 : (4, 7, 8, 9)[street]]
            expected = int(tree.decision[int(node)]) * n + bucket(own, board, n)
            assert infoset_at(form, hand, node) == expected
            assert infoset_at(form, hand, node) == expected  # asking twice changes nothing
            count = int(form.first[expected + 1] - form.first[expected])
            facing = int(form.passive[expected])
            node = child(
                form, hand, node, index(int(choice.integers(facing, count))), rng
            )  # never a fold
    assert reached == {0, 1, 2, 3}


def test_percentile_buckets() -> None:
    """The option's name, its file key, and that pre-flop hands are shared out evenly and in
    order of strength."""
    frequent = cp.load("holdem(buckets=5,kind=percentile)")
    assert isinstance(frequent.rules, HoldemRules)
    assert frequent.n_infosets == 5 * 6_378
    shares = np.bincount(frequent.rules.buckets.preflop, minlength=5) / 1326
    np.testing.assert_allclose(
        shares, 0.2, atol=0.02
    )  # the largest group of equal hands has 12 of 1,326
    grid = dict.fromkeys(("AA", "32o"), 0)
    for row in range(13):
        for column in range(13):
            if grid_label(row, column) in grid:
                high, low = 12 - min(row, column), 12 - max(row, column)
                pair = sorted((4 * high, 4 * low + 1))
                grid[grid_label(row, column)] = int(
                    frequent.rules.buckets.preflop[pair[1] * (pair[1] - 1) // 2 + pair[0]]
                )
    assert grid == {"AA": 4, "32o": 0}
    form = frequent.form
    chance = new_deal()
    counts = np.zeros((4, 5))
    for dealt in random_deals(3, 4_000).tolist():
        chance.deck[:9] = dealt
        for street in range(4):
            board = find_board(form.cards, chance, street)
            counts[street, int(bucket_of(form.cards, chance, board, 0, street, 0))] += 1
    # 4,000 deals: a share of 0.2 has a standard deviation of 0.0063; six of them, and 0.02 for
    # hands of equal strength
    assert np.abs(counts / 4_000 - 0.2).max() < 0.06
    run = cp.solve(frequent, "mccfr", iterations=500, seed=1)
    check_probabilities(run.strategy)


def test_strategy_files_are_small_and_quick(game: cp.Game, tmp_path: Path) -> None:
    strategy = seldom_folding(game, 3)
    path = tmp_path / "one.npz"
    strategy.save(path)
    assert path.stat().st_size < 4_000_000
    before = time.process_time()  # whatever else the machine does
    loaded = cp.Strategy.load(path, game)
    assert time.process_time() - before < 2.0
    assert np.array_equal(loaded.probabilities, strategy.probabilities)
    assert cp.Strategy.load(path).game.name == NAME
    with pytest.raises(BadStrategy, match=r"buckets=9"):
        cp.Strategy.load(path, cp.load("holdem(buckets=9)"))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadFile, match=r"one\.npz"):
        cp.Strategy.load(path, game)


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_opponents_are_strategies(name: str, game: cp.Game) -> None:
    strategy = simple_strategy(name, game)
    check_probabilities(strategy)
    first, free, capped = (strategy.at(f"{at} bucket 4") for at in ("start", "c", "rrr"))
    if name == "always-fold":
        assert (first["fold"], free["call"], capped["fold"]) == (1.0, 1.0, 1.0)
    if name == "always-raise":
        assert (first["raise"], free["raise"], capped["call"]) == (1.0, 1.0, 1.0)
    if name == "always-call":
        assert (first["call"], free["call"], capped["call"]) == (1.0, 1.0, 1.0)
    if name == "probe":
        assert (first["fold"], first["raise"], capped["call"]) == (0.0, 0.5, 1.0)


def test_grid_labels() -> None:
    assert [
        grid_label(*cell) for cell in ((0, 0), (0, 1), (1, 0), (12, 12), (11, 12), (12, 11))
    ] == [
        "AA",
        "AKs",
        "AKo",
        "22",
        "32s",
        "32o",
    ]
    assert len({grid_label(row, column) for row in range(13) for column in range(13)}) == 169


@pytest.mark.parametrize("betting", ["", "c", "r", "cr", "rr", "rrr", "crr", "crrr"])
def test_grid_against_hands_one_by_one(betting: str, game: cp.Game) -> None:
    strategy = seldom_folding(game, 5)
    grid = preflop_grid(strategy, betting)
    assert grid.shape == (13, 13, 3)
    np.testing.assert_allclose(grid.sum(axis=2), 1.0, atol=1e-9)
    for row in range(13):
        for column in range(13):
            label = grid_label(row, column)
            own = cards(f"{label[0]}s{label[1]}{'s' if label.endswith('s') else 'd'}")
            assert [card_text(c)[0] for c in own] == list(label[:2])
            shares = strategy.at(f"{betting or 'start'} bucket {bucket(own, [], 10)}")
            assert grid[row, column].tolist() == [
                shares.get(action, 0.0) for action in ("fold", "call", "raise")
            ]


def test_grid_picture_and_refusals(game: cp.Game, tmp_path: Path) -> None:
    strategy = seldom_folding(game, 5)
    plot_grid(strategy, tmp_path / "grid.png", "r")
    assert (tmp_path / "grid.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(BadParameter, match="'rrr'"):
        preflop_grid(strategy, "rrrr")
    with pytest.raises(BadParameter, match="cc/"):
        preflop_grid(strategy, "cc/")
    with pytest.raises(BadParameter, match="kuhn"):
        preflop_grid(cp.Strategy.uniform(cp.load("kuhn")))
