"""Compiled rules: the same game as the tree, with information sets discovered one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.common import Dice
from reference.discovering_sampling import DiscoveringSampling
from reference.rules import TWINS, Rules
from support.compiled import Auction, WideAuction

import counterplay as cp
from counterplay.core.forms.hash_strategy import HashStrategy, keys_in_tree
from counterplay.core.forms.infoset_table import keys_of, owners_of, table_from_keys
from counterplay.core.forms.states import build_states
from counterplay.core.forms.tree import level_bounds
from counterplay.core.games.goofspiel import Goofspiel
from counterplay.core.solvers.algorithms import new_solver

COMPILED = ("bluff(1,1,2)", "goofspiel(3)", "pam(2,2,4)", "leduc")


def without_tree(name: str) -> cp.Game:
    return cp.load(name.rstrip(")") + ("," if "(" in name else "(") + "tree=False)")


@pytest.mark.parametrize("name", COMPILED)
def test_the_rules_are_those_of_the_tree(name: str) -> None:
    """Players, actions, probabilities, payoffs and keys, in every history; and in plain Python."""
    report = cp.check(name)
    assert report.with_tree
    assert "the same as the tree" in str(report)


@pytest.mark.parametrize("name", TWINS)
def test_the_tree_is_that_of_rules_in_plain_python(name: str) -> None:
    """Of its naive twin, and of the compiled rules themselves expanded a state at a time: but for
    the numbers of information sets and outcomes."""
    game = cp.load(name)
    one = game.tree
    assert game.rules.count_nodes() == game.n_nodes
    for rules in (Rules(TWINS[name]), game.rules):
        two, labels = build_states(rules, name)
        assert np.array_equal(one.player, two.player)
        assert np.array_equal(one.first_child, two.first_child)
        over, acts, chance = one.player == cp.TERMINAL, one.player >= 0, one.player == cp.CHANCE
        assert np.array_equal(one.payoff[one.row[over]], two.payoff[two.row[over]])
        assert np.array_equal(one.row[chance], two.row[chance])
        assert np.array_equal(one.chance_probability, two.chance_probability)
        assert np.array_equal(one.passive[one.row[acts]], two.passive[two.row[acts]])
        pairs = set(zip(one.row[acts].tolist(), two.row[acts].tolist(), strict=True))
        assert len(pairs) == one.n_infosets == two.n_infosets
        for mine, theirs in pairs:
            assert game.labels.infoset[mine] == labels.infoset[theirs]
            slots = slice(*one.first[mine : mine + 2]), slice(*two.first[theirs : theirs + 2])
            assert game.labels.action[slots[0]] == labels.action[slots[1]]


class Uncounted(Goofspiel):
    count_nodes = property()  # the number of nodes is unknown


class ManyDraws(cp.CompiledRules):
    """Each of 1,500 draws is followed by a second one with chances of its own, then player 1 says
    one of two things: 1,500 distributions and 6,000 payoffs. State: stage, draws, what was said."""

    state_size = 4
    max_actions = 2
    depth = 1

    @staticmethod
    def player(c: Any, state: Any) -> int:
        return cp.CHANCE if state[0] < 2 else 0 if state[0] == 2 else cp.TERMINAL

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        return 1500 if state[0] == 0 else 2

    @staticmethod
    def chance(c: Any, state: Any, action: int) -> float:
        first = (state[1] + 1) / 1502.0
        return 1.0 / 1500 if state[0] == 0 else first if action == 0 else 1.0 - first

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        state[0] += 1
        state[state[0]] = action

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        known[0] = state[1]

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = 0.5 * state[1] + 1000.0 * state[2] + 10_000.0 * state[3]
        payoff[1] = -payoff[0]


@pytest.mark.parametrize(
    "rules",
    [
        Uncounted(5),
        *(pytest.param(r, marks=pytest.mark.slow) for r in (ManyDraws(), Auction(), WideAuction())),
    ],
)
def test_trees_of_unknown_size_grow(rules: Any) -> None:
    """To those of the same rules expanded a state at a time."""
    game = cp.Game("mine", rules, tree=True)
    one, (two, labels) = game.tree, build_states(rules, "mine")
    if rules.sorted_infosets:
        two, labels = cp.load("goofspiel(5)").tree, cp.load("goofspiel(5)").labels
    for field in one._fields:
        assert np.array_equal(getattr(one, field), getattr(two, field)), field
        assert getattr(one, field).dtype == getattr(two, field).dtype, field
    assert game.labels == labels


@pytest.mark.parametrize("name", ["bluff(2,1,2)", "goofspiel(4)", "pam(2,3,6)", "ocp(7)"])
def test_information_sets_are_numbered_by_depth_actions_and_key(name: str) -> None:
    expanded = cp.load(name).expanded
    tree = expanded.tree
    acts = np.flatnonzero(tree.player >= 0)
    bounds = np.array(level_bounds(tree))
    depth = np.zeros(tree.n_infosets, dtype=int)
    depth[tree.row[acts]] = np.searchsorted(bounds, acts, side="right")
    columns = (tree.owner, depth, np.diff(tree.first), expanded.known[:, 0])
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == sorted(set(rows))


@pytest.mark.parametrize("name", COMPILED)
def test_labels_are_those_of_the_tree(name: str) -> None:
    tree, sampled = cp.load(name), without_tree(name)
    strategy = cp.Strategy.random(tree, 1)
    discovered = strategy.on(sampled)
    assert isinstance(discovered, HashStrategy)
    for i, row in enumerate(discovered.table()):
        label = tree.labels.infoset[i]
        assert row.infoset == f"player {tree.form.owner[i] + 1}: {label}"
        assert row.probabilities == strategy.row(i).probabilities


@pytest.mark.parametrize("algorithm", ["mccfr", "mccfr-external", "mcts"])
@pytest.mark.parametrize("name", ["bluff(1,1,2)", "goofspiel(3)"])
def test_the_same_bits_as_on_the_tree(name: str, algorithm: str) -> None:
    """The same random numbers meet the same histories, wherever information sets are kept."""
    tree, sampled = cp.load(name), without_tree(name)
    one = cp.solve(tree, algorithm, iterations=3_000, seed=5)
    two = cp.solve(sampled, algorithm, iterations=3_000, seed=5)
    assert np.array_equal(two.strategy.on(tree).probabilities, one.strategy.probabilities)
    assert one.strategy.on(sampled).on(tree).probabilities.tolist() == (
        one.strategy.probabilities.tolist()
    )


def test_everybody_calls_in_simulations() -> None:
    """Where the rules say which action that is: in the first game all do."""
    game = cp.load("leduc(tree=False)")
    run = cp.solve(game, "mcts", iterations=1, simulation="call")
    assert len(run.strategy) == 4
    assert all(row.probabilities["call"] == 1.0 for row in run.strategy.table())
    tree = cp.load("leduc").tree
    twin = build_states(Rules(TWINS["leduc"]), "leduc")[0]
    assert np.array_equal(np.bincount(tree.passive), np.bincount(twin.passive))
    with pytest.raises(cp.CounterplayError, match="no check or call"):
        cp.solve("goofspiel(3,tree=False)", "mcts", iterations=1, simulation="call")


@pytest.mark.parametrize("rules", [Auction(), WideAuction()])
def test_a_game_of_ones_own_and_its_tree(rules: Any) -> None:
    """With chance that is not uniform, and keys that are hashed."""
    sampled, tree = cp.Game("auction", rules), cp.Game("auction", rules, tree=True)
    assert not sampled.has_tree
    assert tree.perfect_recall
    cp.check(tree)
    one = cp.solve(tree, "mccfr", iterations=5_000, seed=2).strategy
    two = cp.solve(sampled, "mccfr", iterations=5_000, seed=2).strategy
    assert np.array_equal(two.on(tree).probabilities, one.probabilities)


def test_outcome_sampling_is_its_naive_twin() -> None:
    """Dicts and lists, on the same random numbers; slots in order of discovery. The twin learns at
    forced moves too, which changes nothing elsewhere: the kernel has no tables for them."""
    sampled = without_tree("bluff(1,1,2)")
    solver = new_solver(sampled, "mccfr", 7, {})
    twin, dice = DiscoveringSampling(sampled.rules), Dice(7)
    for done in range(400):
        solver.step(1)
        twin.iterate(done + 1, dice)
    assert np.array_equal(solver.rng, dice.state)
    tables = solver.tables()
    known = [
        (player, (key - player) >> 4)
        for key in tables["keys"][:, 0].tolist()
        for player in [key & 15]
    ]
    forced = [key for key, values in twin.regret.items() if len(values) == 1]
    assert forced
    assert not any(any(twin.regret[key]) for key in forced)
    assert known == [key for key in twin.regret if key not in forced]
    for name in ("regret", "strategy_sum"):
        mine = np.concatenate([getattr(twin, name)[key] for key in known])
        np.testing.assert_allclose(tables[name], mine, rtol=0, atol=1e-10 * np.abs(mine).max())
    assert tables["last_visit"].tolist() == [twin.last_visit[key] for key in known]


def test_strategies_are_looked_up_by_what_a_player_knows() -> None:
    game = cp.Game("auction", Auction())
    strategy = cp.solve(game, "mccfr", iterations=2_000, seed=1).strategy
    first = strategy.at(0, (2 * 5 + 0) * 81)
    assert set(first) == {"0", "1", "2"}
    assert first == strategy.at(f"player 1: {2 * 5 * 81}") == strategy.at(f"{2 * 5 * 81}")
    for wrong in ((0,), (0, 1, 2), (2, 0), ("nowhere",), (0, 80), (0, 2**70)):
        with pytest.raises(cp.CounterplayError):
            strategy.at(*wrong)
    bluff = cp.solve(without_tree("bluff(1,1,2)"), "mccfr", iterations=500, seed=1).strategy
    assert set(bluff.at("player 2: 1 1x1")) == {"1x2", "2x1", "2x2", "call"}


def test_strategies_are_shown() -> None:
    strategy = cp.solve("goofspiel(3,tree=False)", "mccfr", iterations=200, seed=1).strategy
    columns = strategy.columns()
    assert len(columns["action"]) == len(strategy.probabilities)
    assert set(columns["player"]) == {0, 1}
    assert "information sets" in strategy._repr_html_()
    assert "discovered" in repr(strategy)
    for impossible in (strategy.to_openspiel, lambda: strategy.plan(0)):
        with pytest.raises(cp.CounterplayError, match="without a tree"):
            impossible()
    for made in ("random", "from_weights", "from_table"):
        arguments = [strategy.game] + ([] if made == "random" else [{}])
        with pytest.raises(cp.CounterplayError, match="come from solve"):
            getattr(cp.Strategy, made)(*arguments)


def test_keys_of_players_and_of_a_tree_are_told_apart() -> None:
    tree = cp.load("goofspiel(3)")
    keys = keys_in_tree(tree, without_tree("goofspiel(3)"))
    assert np.array_equal(owners_of(keys), tree.tree.owner)
    assert len(np.unique(keys)) == tree.n_infosets
    with pytest.raises(cp.CounterplayError, match="cannot play"):
        keys_in_tree(tree, without_tree("goofspiel(4)"))


@pytest.mark.parametrize("words", [1, 2])
def test_tables_find_what_was_put_in(words: int) -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 2**63, size=(5_000, words), dtype=np.uint64)
    keys[:2_000, 0] = np.arange(2_000)  # some that are alike
    table = table_from_keys(keys, rng.integers(1, 9, size=5_000))
    assert np.array_equal(keys_of(table), keys)


def test_files_of_strategies(tmp_path: Any) -> None:
    n = 120_000  # a strategy of a tree with so many slots would be compressed
    keys = np.arange(n, dtype=np.uint64)[:, None] << np.uint64(4)
    large = HashStrategy(without_tree("bluff(1,1,2)"), keys, np.ones(n, dtype=int), np.ones(n))
    large.save(tmp_path / "large.npz")
    assert len(cp.Strategy.load(tmp_path / "large.npz").probabilities) == n
    strategy = cp.solve("bluff(1,1,2,tree=False)", "mccfr", iterations=500, seed=1).strategy
    strategy.save(tmp_path / "one.npz")
    again = cp.Strategy.load(tmp_path / "one.npz")
    assert again.game.name == "bluff(1,1,2,tree=False)"
    assert again.table() == strategy.table()
    with pytest.raises(cp.CounterplayError, match="a strategy for bluff"):
        cp.Strategy.load(tmp_path / "one.npz", cp.load("goofspiel(3,tree=False)"))


def test_large_games_are_played_without_a_tree_unasked() -> None:
    for name in ("bluff(2,2,6)", "goofspiel(10)", "goofspiel(13)", "pam(5,5,30)", "bluff(5,5,6)"):
        assert not cp.load(name).has_tree, name
    for name in ("bluff(1,1,6)", "goofspiel(6)", "pam(3,3,8)", "leduc"):
        assert cp.load(name).has_tree, name
    assert cp.load("goofspiel(4,tree=False)").name == "goofspiel(4,tree=False)"
    assert cp.load("goofspiel(4,tree=True)").name == "goofspiel(4)"
    assert not cp.load("kuhn(tree=False)").has_tree
    with pytest.raises(cp.CounterplayError, match="never played with a tree"):
        cp.load("holdem(buckets=10,tree=True)")
    with pytest.raises(cp.CounterplayError, match="True or False"):
        cp.load("goofspiel(4,tree=3)")
