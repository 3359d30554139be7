"""What every game must satisfy. A game added to the registry is picked up with its examples;
nothing here names it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GAMES as REGISTRY
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import CHANCE, NO_ACTION, TERMINAL, level_bounds, parents

MORE = [
    *[
        "kuhn",
        "kuhn(players=3)",
        "kuhn(players=4)",
        "leduc",
        "leduc(suits=False)",
        "ocp(2)",
        "ocp(3)",
        "ocp(10)",
    ],
    *[f"goofspiel({n})" for n in range(1, 6)],
    *[
        "bluff(1,1,1)",
        "bluff(1,1,2)",
        "bluff(1,1,3)",
        "bluff(1,1,6)",
        "bluff(2,1,2)",
        "bluff(1,2,2)",
        "bluff(2,2,2)",
    ],
    *[
        "pam(2,2,4)",
        "pam(2,3,6)",
        "pam(3,3,6)",
        "pam(1,2,1)",
        "pam(2,3,5,stay=True)",
        "pam(2,3,5,same_start=False)",
    ],
    *[
        "pam(2,3,5,capture=either)",
        "pam(2,3,5,first=monster)",
        "pam(2,2,5,stay=True,capture=either,first=monster)",
    ],
]
#: Examples above this size are for showing off, and too slow to check node by node here.
LARGEST = 500_000


def _small_examples() -> list[str]:
    names = []
    for spec in REGISTRY.values():
        for example in spec.examples:
            if not load(example).has_tree:
                continue  # a form of its own, with tests of its own
            count = getattr(load(example).rules, "count_nodes", None)
            if count is None or count() <= LARGEST:
                names.append(example)
    return names


GAMES = list(dict.fromkeys([*MORE, *_small_examples()]))
#: Sizes and options whose rules are compiled for these tests alone; the others have each of them.
SLOW = {
    *("bluff(1,2,2)", "bluff(2,2,2)", "pam(2,3,6)", "pam(1,2,1)"),
    *(f"pam(2,3,5,{one})" for one in ("stay=True", "capture=either", "first=monster")),
    "pam(2,3,5,same_start=False)",
}


@cache
def built(name: str) -> Game:
    return load(name)


@pytest.fixture(
    params=[pytest.param(g, marks=[pytest.mark.slow] if g in SLOW else []) for g in GAMES]
)
def game(request: pytest.FixtureRequest) -> Game:
    return built(request.param)


def test_every_registered_game_is_covered() -> None:
    """A game all of whose examples are large would slip through: it needs a small example, or a
    line in MORE."""
    with_trees = {name for name, spec in REGISTRY.items() if load(spec.examples[0]).has_tree}
    assert {name.split("(")[0] for name in GAMES} == with_trees


def test_dtypes_and_shapes(game: Game) -> None:
    tree = game.tree
    n, m = tree.n_nodes, tree.n_infosets
    n_chance, n_entries = len(tree.chance_first) - 1, int(tree.chance_first[-1])
    expected = {
        "player": (np.int8, (n,)),
        "first_child": (np.int32, (n + 1,)),
        "row": (np.int32, (n,)),
        "first": (np.int32, (m + 1,)),
        "owner": (np.int8, (m,)),
        "passive": (np.int16, (m,)),
        "chance_first": (np.int32, (n_chance + 1,)),
        "chance_probability": (np.float64, (n_entries,)),
        "chance_cumulative": (np.float64, (n_entries,)),
        "chance_uniform": (np.bool_, (n_chance,)),
        "payoff": (np.float64, (len(tree.payoff), game.n_players)),
    }
    assert set(expected) == set(tree._fields)
    for name, (dtype, shape) in expected.items():
        array = getattr(tree, name)
        assert (array.dtype, array.shape) == (np.dtype(dtype), shape), name
        assert array.flags.c_contiguous, name


def test_children_partition_the_nodes_and_follow_their_parents(game: Game) -> None:
    tree = game.tree
    assert tree.first_child[0] == 1
    assert tree.first_child[-1] == tree.n_nodes
    counts = np.diff(tree.first_child)
    assert np.all(counts >= 0)
    assert np.all(tree.first_child[:-1][counts > 0] > np.flatnonzero(counts > 0))
    seen = np.concatenate(
        [
            [0],
            *[
                np.arange(tree.first_child[h], tree.first_child[h + 1])
                for h in np.flatnonzero(counts)
            ],
        ]
    )
    np.testing.assert_array_equal(seen, np.arange(tree.n_nodes))
    nodes = np.arange(1, tree.n_nodes)
    np.testing.assert_array_equal(parents(tree, nodes), np.repeat(np.arange(tree.n_nodes), counts))


def test_levels(game: Game) -> None:
    """A level is one move further from the root than the one before."""
    tree = game.tree
    depth = np.zeros(tree.n_nodes, dtype=int)
    for node, above in enumerate(parents(tree, np.arange(1, tree.n_nodes)), start=1):
        depth[node] = depth[above] + 1
    np.testing.assert_array_equal(level_bounds(tree)[1:-1], 1 + np.flatnonzero(np.diff(depth)))
    assert game.depth == depth.max()


def test_kinds_of_nodes(game: Game) -> None:
    tree = game.tree
    counts = np.diff(tree.first_child)
    assert set(np.unique(tree.player)) <= {TERMINAL, CHANCE, *range(game.n_players)}
    np.testing.assert_array_equal(counts == 0, tree.player == TERMINAL)
    terminal, chance = tree.row[tree.player == TERMINAL], tree.row[tree.player == CHANCE]
    assert terminal.min() >= 0
    assert terminal.max() < len(tree.payoff)
    chance_sizes = np.diff(tree.chance_first)
    np.testing.assert_array_equal(chance_sizes[chance], counts[tree.player == CHANCE])
    assert set(chance) == set(range(len(chance_sizes)))


def test_chance_sums_to_one(game: Game) -> None:
    tree = game.tree
    for d in range(len(tree.chance_first) - 1):
        part = slice(tree.chance_first[d], tree.chance_first[d + 1])
        probability, cumulative = tree.chance_probability[part], tree.chance_cumulative[part]
        assert np.all(probability > 0)
        assert probability.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(cumulative, np.cumsum(probability), atol=1e-12)
        assert cumulative[-1] == 1.0
        assert tree.chance_uniform[d] == (np.ptp(probability) == 0)


def test_information_sets(game: Game) -> None:
    """One owner, one number of actions, dense ids, player by player, in order of depth."""
    tree = game.tree
    acting = np.flatnonzero(tree.player >= 0)
    infoset = tree.row[acting]
    np.testing.assert_array_equal(np.unique(infoset), np.arange(tree.n_infosets))
    np.testing.assert_array_equal(tree.owner[infoset], tree.player[acting])
    np.testing.assert_array_equal(np.diff(tree.first)[infoset], np.diff(tree.first_child)[acting])
    assert tree.first[0] == 0
    assert np.all(np.diff(tree.first) >= 1)
    assert np.all(np.diff(tree.owner) >= 0)
    assert set(tree.owner) <= set(range(game.n_players))
    assert np.all(
        (tree.passive == NO_ACTION) | ((tree.passive >= 0) & (tree.passive < np.diff(tree.first)))
    )
    slots = [game.slots(player) for player in range(game.n_players)]
    assert [s.start for s in slots] + [slots[-1].stop] == [0, *[s.stop for s in slots]]
    assert game.n_slots == slots[-1].stop
    assert game.max_actions == np.diff(tree.first_child)[acting].max()


def _own_past(game: Game) -> list[dict[int, set[tuple[tuple[int, int], ...]]]]:
    """For each player and information set: every (information set, action) list of the player that
    leads there."""
    tree = game.tree
    past: list[tuple[tuple[tuple[int, int], ...], ...]] = [((),) * game.n_players]
    pasts_of: list[dict[int, set[tuple[tuple[int, int], ...]]]] = [
        defaultdict(set) for _ in range(game.n_players)
    ]
    for node in range(tree.n_nodes):
        here, player = past[node], int(tree.player[node])
        past[node] = ()  # no longer needed
        if player >= 0:
            pasts_of[player][int(tree.row[node])].add(here[player])
        for action in range(tree.first_child[node + 1] - tree.first_child[node]):
            own = (*here[player], (int(tree.row[node]), action)) if player >= 0 else ()
            past.append((*here[:player], own, *here[player + 1 :]) if player >= 0 else here)
    return pasts_of


def test_perfect_recall_and_parents_first(game: Game) -> None:
    """Found from the tree alone, and compared with what the treeplexes say."""
    assert game.perfect_recall
    for player, pasts_of in enumerate(_own_past(game)):
        low, base = min(pasts_of, default=0), game.slots(player).start
        for infoset, pasts in pasts_of.items():
            assert len(pasts) == 1, f"player {player + 1} forgets at information set {infoset}"
            (past,) = pasts
            assert all(earlier < infoset for earlier, _ in past)
            sequence = game.tree.first[past[-1][0]] + past[-1][1] - base + 1 if past else 0
            assert game.treeplexes[player].parent[infoset - low] == sequence


def test_zero_sum(game: Game) -> None:
    used = game.tree.payoff[np.unique(game.tree.row[game.tree.player == TERMINAL])]
    assert game.zero_sum == np.allclose(used.sum(axis=1), 0.0, rtol=0.0, atol=1e-12)
    assert np.all(np.isfinite(used))
    assert len(np.unique(game.tree.payoff, axis=0)) == len(game.tree.payoff)


def test_labels(game: Game) -> None:
    tree, labels = game.tree, game.labels
    assert (len(labels.infoset), len(labels.action)) == (game.n_infosets, game.n_slots)
    assert all(labels.infoset)
    assert all(label == label.strip() for label in labels.infoset)
    assert all(labels.action)
    assert len(set(zip(tree.owner.tolist(), labels.infoset, strict=True))) == game.n_infosets
    for i in range(game.n_infosets):
        actions = labels.action[tree.first[i] : tree.first[i + 1]]
        assert len(set(actions)) == len(actions), labels.infoset[i]
    assert sorted(game.infoset_by_name.values()) == list(range(game.n_infosets))


def test_count_nodes_is_exact(game: Game) -> None:
    if hasattr(game.rules, "count_nodes"):
        assert game.rules.count_nodes() == game.n_nodes


def test_canonical_name_loads_the_same_game(game: Game) -> None:
    again = load(game.name)
    assert again.name == game.name
    assert again.fingerprint == game.fingerprint
    for name, array in game.tree._asdict().items():
        np.testing.assert_array_equal(getattr(again.tree, name), array, err_msg=name)


def test_games_differ_in_fingerprint() -> None:
    quick = [name for name in GAMES if name not in SLOW]
    prints = {built(name).name: built(name).fingerprint for name in quick}
    assert len(set(prints.values())) == len(prints)


def test_uniform_strategy_is_readable(game: Game) -> None:
    table = Strategy.uniform(game).table()
    assert len(table) == game.n_infosets
    counts = np.diff(game.tree.first)
    for i, row in enumerate(table):
        assert row.player == game.tree.owner[i]
        assert row.infoset.endswith(game.labels.infoset[i])
        assert len(row.probabilities) == counts[i]
        assert set(row.probabilities.values()) == {1.0 / counts[i]}
    assert table[0].infoset.removeprefix("player 1: ") in str(
        table[0]
    )  # the player stands before it anyway
