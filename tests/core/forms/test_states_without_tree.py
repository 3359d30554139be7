"""Plain Python and OpenSpiel games that are sampled without a tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from support.discovered import SOLVERS, same

import counterplay as cp
from counterplay.core.base.errors import BadGame, BadParameter, BadStrategy
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.state_form import MOST_STATES, StateStep
from counterplay.core.solvers import lower_bound
from counterplay.core.solvers.algorithms import new_solver


class Kuhn:
    """Kuhn poker in plain Python, with a biased deal."""

    n_players = 2

    def root(self) -> KuhnState:
        return KuhnState()


DEALS = [one + two for one in "JQK" for two in "JQK" if one != two]
ODDS = [0.1, 0.2, 0.1, 0.2, 0.3, 0.1]


@dataclass(frozen=True)
class KuhnState:
    cards: str = ""
    bets: str = ""

    def player(self) -> int:
        if not self.cards:
            return cp.CHANCE
        over = self.bets in ("pp", "pbp", "pbb", "bp", "bb")
        return cp.TERMINAL if over else len(self.bets) % 2

    def actions(self) -> list[str]:
        return ["p", "b"] if self.cards else DEALS

    def child(self, action: str) -> KuhnState:
        return KuhnState(self.cards, self.bets + action) if self.cards else KuhnState(action)

    def infoset(self) -> Any:
        return f"{self.cards[self.player()]} {self.bets}".strip()

    def chance(self) -> list[float]:
        return ODDS

    def passive(self) -> str:
        return "b" if self.bets.endswith("b") else "p"

    def payoffs(self) -> list[float]:
        wins = 1 if "JQK".index(self.cards[0]) > "JQK".index(self.cards[1]) else -1
        if self.bets.endswith("bp"):
            wins = 1 if len(self.bets) == 2 else -1
        won = wins * (2 if self.bets.endswith("bb") else 1)
        return [won, -won]


def pair() -> tuple[cp.Game, cp.Game]:
    """The game without a tree, and with one."""
    return cp.Game("mine", Kuhn(), tree=False), cp.Game("mine", Kuhn(), tree=True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_bits_as_with_a_tree(solver: str) -> None:
    without, tree = pair()
    one, two = (cp.solve(game, solver, iterations=700, seed=3).strategy for game in (without, tree))
    assert isinstance(one, HashStrategy)
    assert len(one) == 12
    assert np.array_equal(one.on(tree).probabilities, two.probabilities)
    back = two.on(without)
    assert back.at("player 1: K") == two.at("K")


def test_call_roll_outs() -> None:
    game = pair()[0]
    assert len(cp.solve(game, "mcts", iterations=300, simulation="call").strategy) > 6
    assert game.has_passive_actions


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=2)"])
def test_openspiel_same_bits_as_with_a_tree(name: str) -> None:
    pytest.importorskip("pyspiel")
    comma = name.removesuffix(")") + ("," if "(" in name else "(")
    without, tree = (cp.load(f"open_spiel:{text}") for text in (f"{comma}tree=False)", name))
    assert without.name == f"open_spiel:{comma}tree=False)"
    assert (without.has_tree, tree.has_tree) == (False, True)
    one, two = (
        cp.solve(game, "mccfr", iterations=400, seed=1).strategy for game in (without, tree)
    )
    assert np.array_equal(one.on(tree).probabilities, two.probabilities)
    assert cp.load(f"open_spiel:{comma}tree=True)").name == f"open_spiel:{name}"


def test_interleaved_and_threads() -> None:
    without, tree = pair()
    options: dict[str, Any] = {"iterations": 480, "seed": 2, "interleave": 4}
    one, two = (cp.solve(game, "mccfr", **options).strategy for game in (without, tree))
    assert np.array_equal(one.on(tree).probabilities, two.probabilities)
    several = cp.solve(without, "mccfr", iterations=20_000, seed=2, threads=2).strategy
    assert cp.exploitability(tree, several.on(tree)) < 0.2


@pytest.mark.parametrize("solver", SOLVERS)
def test_resume_bit_for_bit(solver: str, tmp_path: Path) -> None:
    """Also in mid-traversal, in another process whose states are replayed."""
    whole, first, second = (new_solver(pair()[0], solver, 5, {}) for _ in range(3))
    whole.step(150)
    first.step(70)
    second.restore({name: array.copy() for name, array in first.arrays().items()}, "x")
    second.step(80)
    same(whole, second)


def test_run_folder_and_strategy_file(tmp_path: Path) -> None:
    game = pair()[0]
    run = cp.solve(game, "mccfr", iterations=200, seed=1, folder=tmp_path / "run")
    again = cp.resume(tmp_path / "run", iterations=400, game=pair()[0])
    straight = cp.solve(game, "mccfr", iterations=400, seed=1)
    assert np.array_equal(again.strategy.probabilities, straight.strategy.probabilities)
    run.strategy.save(tmp_path / "one.npz")
    loaded = cp.Strategy.load(tmp_path / "one.npz", game=pair()[0])
    assert loaded.at("J") == run.strategy.at("J")
    assert {row.infoset for row in loaded.table()} == {row.infoset for row in run.strategy.table()}
    assert set(loaded.at("J p")) == {"p", "b"}

    class Other(Kuhn):
        def root(self) -> KuhnState:
            return KuhnState("JQ")

    with pytest.raises(cp.CounterplayError, match="changed since"):
        cp.Strategy.load(tmp_path / "one.npz", game=cp.Game("mine", Other(), tree=False))


@pytest.mark.slow
def test_match_and_lower_bound() -> None:
    without, tree = pair()
    strong = cp.solve(without, "mccfr", iterations=5_000, seed=1).strategy
    result = cp.play_match(without, strong, "uniform", hands=4_000, seed=2)
    exact = [
        cp.expected_value(tree, one.on(tree).replace(two.on(tree), 1))[0]
        for one, two in ((strong, cp.Strategy.uniform(without)),)
    ]
    assert result.by_seat[0] == pytest.approx(exact[0], abs=0.15)
    assert cp.play_match(without, strong, strong, hands=500).mean == 0.0
    bound = cp.exploitability(without, strong, "play", iterations=3_000, games=4_000, seeds=1)
    assert float(bound) < cp.exploitability(tree, strong.on(tree)) + 0.1
    with pytest.raises(BadParameter, match="without a tree"):
        cp.exploitability(without, strong)


@pytest.mark.slow
def test_a_lower_bound_plays_no_longer_than_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules in Python play thousands of games a second, where compiled ones play millions."""
    without, tree = pair()
    monkeypatch.setattr(lower_bound, "SECONDS", 0.05)
    bound: Any = cp.exploitability(without, cp.Strategy.uniform(without), "play", seconds=0.05)
    assert 1_000 <= bound.games < 100_000
    monkeypatch.undo()
    bound = cp.exploitability(tree, cp.Strategy.uniform(tree), "play", seconds=0.05)
    assert bound.games == 200_000


def test_phantom_tic_tac_toe_is_played_without_a_tree(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    game = cp.load("open_spiel:phantom_ttt")
    assert not game.has_tree
    assert game.zero_sum
    run = cp.solve(game, "mccfr", iterations=150, seed=1, folder=tmp_path / "run")
    again = cp.resume(tmp_path / "run", iterations=300)
    straight = cp.solve("open_spiel:phantom_ttt", "mccfr", iterations=300, seed=1).strategy
    assert np.array_equal(again.strategy.probabilities, straight.probabilities)
    assert len(run.strategy) > 100
    assert "x(0,0)" in straight.table()[0].probabilities
    cp.play_match(game, straight, "uniform", hands=20, seed=1)
    assert not cp.load("open_spiel:dark_hex").has_tree
    assert cp.load("open_spiel:dark_hex(num_rows=2,num_cols=2)").has_tree


def test_large_games_choose_to_have_no_tree() -> None:
    class Long(Kuhn):
        def root(self) -> Any:
            return Guess()

    @dataclass(frozen=True)
    class Guess:
        done: str = ""

        def player(self) -> int:
            return len(self.done) % 2 if len(self.done) < 40 else cp.TERMINAL

        def actions(self) -> list[str]:
            return list("abc")

        def child(self, action: str) -> Guess:
            return Guess(self.done + action)

        def infoset(self) -> str:
            return self.done[len(self.done) % 2 :: 2]

        chance: ClassVar[Any] = list

        def payoffs(self) -> list[float]:
            won = float(self.done.count("a"))
            return [won, -won]

    game = cp.Game("long", Long())
    assert not game.has_tree
    assert len(cp.solve(game, "mccfr", iterations=20).strategy) > 100
    with pytest.raises(BadGame, match="played without a tree"):
        _ = game.tree


class Broken(KuhnState):
    """States that go wrong after a bet, a pass and a bet."""

    fault: ClassVar[str] = ""

    def child(self, action: str) -> Any:
        return type(self)(self.cards, self.bets + action) if self.cards else type(self)(action)

    def payoffs(self) -> list[float]:
        if self.fault == "raises" and self.cards == "KQ" and self.bets == "pbb":
            raise ZeroDivisionError("no chips left")
        return [float("nan"), 0.0] if self.fault == "nan" else super().payoffs()

    def infoset(self) -> Any:
        return object() if self.fault == "object" else super().infoset()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raises", r"payoffs\(\) failed in the state .*no chips left"),
        ("nan", "must give 2 finite numbers"),
        ("object", "by their text"),
    ],
)
def test_errors_in_the_rules_are_raised(
    fault: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rules(Kuhn):
        def root(self) -> Any:
            return Broken()

    monkeypatch.setattr(Broken, "fault", fault)
    with pytest.raises(BadGame, match=said):
        cp.solve(cp.Game("broken", Rules(), tree=False), "mccfr-external", iterations=500)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_while_kernels_play(error: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the random histories that precede a run."""
    game = pair()[0]
    assert game.form.shape.depth == 1_000
    solver = new_solver(game, "mccfr", 1, {})
    solver.step(50)
    monkeypatch.setattr(StateStep, "_at", lambda self, history: (_ for _ in ()).throw(error))
    with pytest.raises(error):
        solver.step(50)
    with pytest.raises(error):
        cp.play_match(game, "uniform", "uniform", hands=10, processes=1)
    monkeypatch.undo()
    cp.play_match(game, "uniform", "uniform", hands=10)


def test_sizes_are_checked() -> None:
    class Short(Kuhn):
        depth = 2

    class Narrow(Kuhn):
        max_actions = 1

    class Odd(Kuhn):
        depth = 0

    for rules, said in ((Short, "more than 2 decisions"), (Narrow, "max_actions"), (Odd, "depth")):
        with pytest.raises(BadGame, match=said):
            cp.solve(cp.Game("mine", rules(), tree=False), "mccfr", iterations=100)


def test_states_are_replayed_when_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_STATES > 1_000
    monkeypatch.setattr("counterplay.core.forms.state_form.MOST_STATES", 3)
    without, tree = pair()
    one, two = (
        cp.solve(game, "mccfr-external", iterations=100, seed=1).strategy
        for game in (without, tree)
    )
    assert np.array_equal(one.on(tree).probabilities, two.probabilities)


def test_labels_and_errors_of_a_strategy() -> None:
    game = pair()[0]
    strategy = cp.solve(game, "mccfr", iterations=300, seed=1).strategy
    row = strategy.table()[0]
    assert strategy.at(row.infoset) == row.probabilities
    with pytest.raises(BadStrategy, match="was discovered"):
        strategy.at("nowhere")
    assert str(cp.check(game)).startswith("mine: 300 histories (drawn at random) with 12 ")


def test_imperfect_recall_is_found() -> None:
    class Forgetful(KuhnState):
        def child(self, action: str) -> Any:
            cards = self.cards or action
            return Forgetful(cards, self.bets + action if self.cards else "")

        def infoset(self) -> Any:
            return "?"

    class Rules(Kuhn):
        def root(self) -> Any:
            return Forgetful()

    game = cp.Game("forgetful", Rules(), tree=False)
    with pytest.raises(BadGame, match=r"information set '\?' of player 1"):
        cp.check(game)
    with pytest.warns(UserWarning, match=r"'\?' of player 1: mccfr need not converge"):
        cp.solve(game, "mccfr", iterations=10)
