"""The vector-form traversal by seats equals the sequence form and the game tree, and CFR-BR
converges on processors and on an emulated device."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from reference.small_holdem import Hand, SmallHoldem
from support.emulate import COMPILER, CountingDevice, EmulatedDevice, LifetimeDevice
from support.response_lp import abstract_plans, best_objective
from support.single_card import LABELS
from support.small_holdem import CARDS, RanksAbstraction
from support.vector_games import GroupRows, Vector, single_card

import counterplay as cp
from benchmarks.vector_cfr import VectorCfr
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import player_infosets
from counterplay.core.kernels.simd import LANES
from counterplay.poker.abstraction.abstraction import Buckets, cards_of
from counterplay.poker.betting.betting import BettingRules, betting_tree
from counterplay.poker.cards.cards import holding
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.vector import cfr_br, cfr_br_street, public_sampling
from counterplay.poker.vector.cfr_br import VectorCfrBr
from counterplay.poker.vector.cfr_br_cuda import IN_USE, DeviceCfrBr
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, HoldingRows, average_policy
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.traversal import Step


def _tree_values(game: Game, strategy: cp.Strategy) -> list[float]:
    best = [cp.best_response(game, strategy, i).value for i in (0, 1)]
    return [cp.expected_value(game, strategy)[0], *best]


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("seed", [1, 2])
def test_values_equal_those_of_the_sequence_form(name: str, seed: int) -> None:
    vector, game = single_card(name), cp.load(name)
    policy = vector.random_policy(seed)
    strategy = vector.on_tree(game, policy, LABELS[name])
    assert vector.values(policy) == pytest.approx(_tree_values(game, strategy), abs=1e-9)


class FlopHand(Hand):
    """Short-deck hold'em whose showdown is on the flop."""

    def _missing(self) -> int:
        return self.betting.on_board - len(self.board) if self.betting.folded < 0 else 0


class FlopHoldem(SmallHoldem):
    def root(self) -> FlopHand:
        return FlopHand(self.deck, self.betting.start())


@cache
def flop_game(rules: BettingRules) -> Game:
    return Game("hold'em to the flop", FlopHoldem(CARDS, rules))


@pytest.mark.parametrize(
    "rules",
    [
        BettingRules(bets=(1.0, 1.0), most_bets=(1, 1), board=(0, 3)),
        pytest.param(
            BettingRules(bets=(1.0, 2.0), most_bets=(2, 2), board=(0, 3)), marks=pytest.mark.slow
        ),
    ],
    ids=["one bet", "two bets"],
)
@pytest.mark.parametrize("symmetric", [False, True])
def test_values_equal_those_of_the_game_tree(rules: BettingRules, symmetric: bool) -> None:
    chance = HoldemChance(CARDS, (0, 3), symmetric)
    streets = streets_of(betting_tree(rules))
    vector = Vector(rules, chance, streets, HoldingRows(chance, 2))
    root = chance.root()
    flops = {tuple(sorted(board.cards)): board for board, _ in chance.children(1, root)}
    assert (len(flops) < 84) == symmetric
    starting = chance.classes(root)
    suits = chance._card  # images of cards, in the order of `permutations`

    def read_label(label: str) -> tuple[str, int, int]:
        cards, flop, _, history = ast.literal_eval(label)
        if not flop:
            return history, 0, starting[holding(cards)]
        images = [tuple(sorted(card[list(flop)].tolist())) for card in suits]
        which = next(k for k, image in enumerate(images) if image in flops)
        board = flops[images[which]]
        row = chance.classes(board)[chance.permutations[which, holding(cards)]]
        return history, board.number, row

    game, policy = flop_game(rules), vector.random_policy(3)
    strategy = vector.on_tree(game, policy, read_label)
    assert vector.values(policy) == pytest.approx(_tree_values(game, strategy), abs=1e-9)


@pytest.mark.parametrize(("name", "cut", "bound"), [("kuhn", 0, 0.006), ("leduc", 1, 0.12)])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("plus", [False, True])
def test_cfr_br_converges(name: str, cut: int, bound: float, seed: int, plus: bool) -> None:
    vector = single_card(name)
    solver = VectorCfrBr(vector.chance, vector.streets, vector.rows, cut=cut)
    rng = np.random.default_rng(seed)
    for t in range(1, 5001):
        solver.iterate(rng, Step(1.0, float(t), plus))
    assert vector.exploitability(solver.average()) < bound
    game, policy = cp.load(name), solver.average()
    strategy = vector.on_tree(game, policy, LABELS[name])
    assert cp.exploitability(game, strategy) == pytest.approx(vector.exploitability(policy))


@pytest.mark.parametrize(("name", "bound"), [("kuhn", 0.002), ("leduc", 0.05)])
def test_linear_cfr_converges(name: str, bound: float) -> None:
    vector = single_card(name)
    solver = VectorCfr(vector.chance, vector.streets, vector.rows)
    for t in range(1, 401):
        solver.iterate(Step(float(t), float(t)))
    assert vector.exploitability(solver.average()) < bound


def _restricted_value(strategy: cp.Strategy, model: cp.Strategy, player: int, p: float) -> float:
    """The least value of `player` in the restricted game of Kuhn poker: against the model with
    probability p, else against a best response."""
    game = cp.load("kuhn")
    actors = [len(label.partition(" ")[2]) % 2 for label in game.labels.infoset]
    own = np.repeat(np.array(actors) == player, np.diff(game.form.first))
    profile = cp.Strategy(game, np.where(own, strategy.probabilities, model.probabilities))
    worst = -cp.best_response(game, strategy, 1 - player).value
    return float(p * cp.expected_value(game, profile)[player] + (1 - p) * worst)


@pytest.mark.parametrize("p", [0.3, 0.8])
def test_with_a_model_the_value_is_that_of_the_restricted_game(p: float) -> None:
    vector, game = single_card("kuhn"), cp.load("kuhn")
    model = vector.random_policy(5)
    first, second = vector.seats(model)
    models = {0: first, 1: second}
    solver = VectorCfrBr(vector.chance, vector.streets, vector.rows, cut=0, models=models, p=p)
    rng = np.random.default_rng(1)
    for t in range(1, 3001):
        solver.iterate(rng, Step(1.0, float(t)))
    learnt = vector.on_tree(game, solver.average(), LABELS["kuhn"])
    model_strategy = vector.on_tree(game, model, LABELS["kuhn"])
    for player in (0, 1):
        response = cp.respond(game, model_strategy, player, p, engine="lp").strategy
        best = _restricted_value(response, model_strategy, player, p)
        value = _restricted_value(learnt, model_strategy, player, p)
        assert best - 0.01 < value < best + 1e-6


@pytest.mark.parametrize("p", [0.6, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.0, 1.0))])
def test_with_an_abstraction_the_value_is_that_of_a_linear_program(p: float) -> None:
    """Leduc hold'em: the responder has an abstraction of perfect recall, the adversary and the
    model have none."""
    leduc, game = single_card("leduc"), cp.load("leduc")
    abstract = Vector(leduc.rules, leduc.chance, leduc.streets, GroupRows())
    models = dict(enumerate(leduc.seats(leduc.random_policy(5))))
    solver = VectorCfrBr(leduc.chance, leduc.streets, abstract.rows, cut=0, models=models, p=p)
    rng = np.random.default_rng(1)
    for t in range(1, 3001):
        solver.iterate(rng, Step(1.0, float(t)))

    def read_label(label: str) -> tuple[str, int, int]:
        history, public, private = LABELS["leduc"](label)
        group = min(private // 2, 1)
        return history, 0, 3 * group + public // 2 if "|" in label else group

    learnt = abstract.on_tree(game, solver.average(), read_label)
    model = leduc.on_tree(game, leduc.random_policy(5), LABELS["leduc"])
    for player in (0, 1):
        infosets = [read_label(label) for label in game.labels.infoset]
        low, high = player_infosets(game.form, player)
        plans = abstract_plans(game, player, infosets[low:high])
        most, _ = best_objective(game, model, player, p, plans)
        payoff = cp.expected_value(game, model.replace(learnt, player))[player]
        value = p * payoff - (1 - p) * cp.best_response(game, learnt, 1 - player).value
        assert most - (0.05 if p < 1.0 else 1e-4) < value < most + 1e-6


def test_streets_and_traversal_have_one_precision() -> None:
    vector = single_card("kuhn")
    with pytest.raises(BadParameter, match="streets of float64 in a traversal of"):
        VectorCfrBr(vector.chance, vector.streets, vector.rows, cut=0, dtype=np.float32)


SEED = 5  # of the boards
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")


def _both(
    symmetric: bool, emulated: type[EmulatedDevice] = LifetimeDevice
) -> tuple[Vector, VectorCfrBr, DeviceCfrBr]:
    """Short-deck hold'em to the river, on processors and on an emulated device."""
    rules = BettingRules(most_bets=(2, 1, 1, 1))
    abstraction = RanksAbstraction(Deck(CARDS))
    rows = BucketRows(cards_of(abstraction.buckets(), abstraction.deck), abstraction.counts)
    chance = HoldemChance(CARDS, rules.board, symmetric)
    streets = streets_of(betting_tree(rules))
    device = DeviceCfrBr(chance, streets, rows, cut=2, seed=SEED, device=emulated())
    return Vector(rules, chance, streets, rows), VectorCfrBr(chance, streets, rows, cut=2), device


def _as_device_block(street: Street, block: np.ndarray) -> np.ndarray:
    """[nodes - 1, rows, starts] of [groups, rows, nodes * LANES]."""
    groups, rows = block.shape[:2]
    by_node = block.reshape(groups, rows, -1, LANES).transpose(2, 1, 0, 3)
    used = street.public_node[:, 0].reshape(-1) >= 0
    return by_node.reshape(len(by_node), rows, groups * LANES)[1:, :, used]


@needs_compiler
@pytest.mark.parametrize(("parts", "symmetric"), [(2, False), (2, True), (1, True)])
def test_an_iteration_on_the_device_equals_one_on_the_processor(
    parts: int, symmetric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From random positive regrets, where best responses have no ties. `parts` of half precision
    for each number: 2 are about single precision."""
    monkeypatch.setattr(cfr_br_street, "PARTS", parts)
    vector, processor, device = _both(symmetric)
    rng = np.random.default_rng(2)
    for tables, on_device in (
        (processor.tables, device.regret),
        (processor.trunk, device.trunk_regret),
    ):
        for street, regret, out in zip(vector.streets, tables.regret, on_device, strict=False):
            regret[:] = rng.random(regret.shape)
            for block, copy in zip(regret, out, strict=True):
                copy[:] = _as_device_block(street, block)
    processor.iterate(np.random.default_rng((SEED, 1)), Step(prior=0.5))  # the same board
    device.iterate(1, Step(prior=0.5))
    prior = _as_device_block(vector.streets[1], processor.arrays()["prior1"])
    np.testing.assert_allclose(device.prior[1], prior, rtol=0.01, atol=1e-3)
    assert np.abs(prior).max() > 0.1
    river = vector.chance.total(3)  # the device adds the own reach of rivers, with no mean
    for ours, on_device, scale in (
        (processor.tables.regret, device.regret, 1),
        (processor.tables.strategy_sum, device.strategy_sum, river),
        (processor.trunk.regret, device.trunk_regret, 1),
    ):
        for k, (blocks, out) in enumerate(zip(ours, on_device, strict=True)):
            for block, copy in zip(blocks, out, strict=True):
                expected = _as_device_block(vector.streets[k], block) * (scale if k == 3 else 1)
                if parts == 2:
                    np.testing.assert_allclose(copy, expected, rtol=1e-4, atol=1e-4)
                else:  # half precision may turn a near tie of the best response
                    off = np.linalg.norm(copy - expected) / np.linalg.norm(expected)
                    assert off < 1e-2


@needs_compiler
def test_the_device_learns_as_the_processor_does() -> None:
    vector, processor, device = _both(True)
    start = vector.exploitability(processor.average())
    for t in range(1, 61):
        processor.iterate(np.random.default_rng((SEED, t)), Step(1.0, float(t)))
        device.iterate(t, Step(1.0, float(t)))
    sums = zip(vector.streets, device.blocks("strategy_sum"), strict=True)
    on_device = vector.exploitability(tuple(average_policy(s, x[None]) for s, x in sums))
    on_processor = vector.exploitability(processor.average())
    assert max(on_device, on_processor) < start / 2
    assert on_device == pytest.approx(on_processor, rel=0.3)


@needs_compiler
def test_boards_stay_on_the_device_until_its_kernels_have_read_them() -> None:
    """No kernel is known to have run before the solver waits for the device."""
    _, _, device = _both(True)
    for t in range(1, 2 * IN_USE + 3):
        device.iterate(t, Step())
    emulated = device.device
    assert emulated.uploaded > 0
    assert emulated.waits == 2
    assert emulated.lost == 0


@needs_compiler
def test_as_much_memory_is_taken_as_is_announced() -> None:
    """`n_bytes` says it before anything is allocated, but for small arrays: links between streets,
    the reach at the root."""
    _, _, device = _both(True, CountingDevice)
    iterations, emulated = 3, device.device
    for t in range(1, iterations + 1):
        device.iterate(t, Step(prior=0.5))
    classes = [listed.class_of.max() + 1 for *_, listed in device._in_use]
    announced = device.n_bytes(int(max(classes)), iterations)
    assert emulated.held == pytest.approx(announced, rel=0.005)
    assert emulated.most <= device.n_bytes()


def test_tables_of_holdings_end_before_the_turn() -> None:
    chance = HoldemChance(CARDS, (0, 3, 4, 5), True)
    with pytest.raises(BadParameter, match="a block for every board"):
        HoldingRows(chance, 3)


def _small_game(abstraction: type[RanksAbstraction] = RanksAbstraction) -> Game:
    rules = HoldemRules(abstraction(Deck(CARDS)), BettingRules(most_bets=(2, 1, 1, 1)))
    return Game("short-deck hold'em", rules)


def test_the_solver_in_holdem_resumes_bit_for_bit(tmp_path: Path) -> None:
    game = _small_game()
    whole = cp.solve(game, "cfr-br", iterations=12, seed=3)
    cp.solve(game, "cfr-br", iterations=5, seed=3, folder=tmp_path / "run")
    resumed = cp.resume(tmp_path / "run", iterations=12, game=game)
    for name, array in whole._solver.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[name]), name
    two = cp.solve(game, "cfr-br", iterations=12, seed=3, threads=2)
    assert np.array_equal(two.strategy.probabilities, whole.strategy.probabilities)
    current = cp.solve(game, "cfr-br", iterations=12, seed=3, current=True)
    assert not np.array_equal(current.strategy.probabilities, whole.strategy.probabilities)
    uniform = cp.exploitability(game, cp.Strategy.uniform(game))
    longer = cp.resume(tmp_path / "run", iterations=150, game=game)
    assert cp.exploitability(game, longer.strategy) < uniform / 2


@needs_compiler
def test_the_solver_on_a_device_resumes_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cfr_br, "NEW_DEVICE", EmulatedDevice)
    game = _small_game()
    whole = cp.solve(game, "cfr-br", iterations=8, seed=3, backend="cuda")
    cp.solve(game, "cfr-br", iterations=3, seed=3, backend="cuda", folder=tmp_path / "run")
    resumed = cp.resume(tmp_path / "run", iterations=8, game=game)
    for name, array in whole._solver.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[name]), name
    processor = cp.solve(game, "cfr-br", iterations=8, seed=3)
    values = [cp.exploitability(game, run.strategy) for run in (whole, processor)]
    assert values[0] == pytest.approx(values[1], rel=0.1)


class UnfilledAbstraction(RanksAbstraction):
    """Buckets on the turn that were never written."""

    @property
    def key(self) -> str:
        return "unfilled"

    def buckets(self, progress: object = None) -> Buckets:
        every = super().buckets()
        return every._replace(turn=np.full_like(every.turn, 65535))


def test_impossible_abstractions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(cp.CounterplayError, match="are not filled: on the turn"):
        cp.solve(_small_game(UnfilledAbstraction), "cfr-br", iterations=1)
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "0.001")
    with pytest.raises(cp.CounterplayError, match="GB of memory, and"):
        cp.solve(_small_game(), "cfr-br", iterations=1)


@needs_compiler
@pytest.mark.parametrize("algorithm", ["cfr-br", "mccfr-public"])
def test_more_memory_than_the_device_has_is_refused(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is allocated."""

    class FullDevice(CountingDevice):
        def free_bytes(self) -> int:
            assert self.most == 0
            return 10_000

    monkeypatch.setattr(cfr_br, "NEW_DEVICE", FullDevice)
    monkeypatch.setattr(public_sampling, "NEW_DEVICE", FullDevice)
    with pytest.raises(cp.CounterplayError, match=f"{algorithm} takes about .* GB on the device"):
        cp.solve(_small_game(), algorithm, iterations=1, backend="cuda")
