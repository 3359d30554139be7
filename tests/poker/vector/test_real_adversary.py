"""Responses against an adversary without a card abstraction: on the device as on processors, and
the curve of linear programs over the abstraction's strategies."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.emulate import COMPILER, CountingDevice, EmulatedDevice
from support.flop_game import flop
from support.response_lp import best_objective, dbr_value
from support.small_holdem import CARDS, ForgetfulAbstraction, RanksAbstraction, random_strategy

import counterplay as cp
from counterplay.core.forms.game import Game, Payoff
from counterplay.core.forms.sequence import best_reply, gradient
from counterplay.core.responses.algorithms import response_algorithm
from counterplay.core.responses.solver import ResponseSolver, RestrictedGame
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.run import run_solver
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.holdem.table import code_counts, form_table
from counterplay.poker.vector import cfr_br, cfr_br_street
from counterplay.poker.vector.cfr_br import VectorCfrBr
from counterplay.poker.vector.cfr_br_cuda import DeviceCfrBr
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import BucketRows, table_blocks
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.traversal import FixedSeat, Step

BETTING = BettingRules(most_bets=(2, 1, 1, 1))
SEED = 5  # of the boards
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")


def small_game(abstraction: type[RanksAbstraction] = RanksAbstraction) -> Game:
    return Game("short-deck hold'em", HoldemRules(abstraction(Deck(CARDS)), BETTING))


def trainers(
    own_rows: bool, seat: int, biased: bool, kind: type[EmulatedDevice] = EmulatedDevice
) -> tuple[VectorCfrBr, DeviceCfrBr]:
    """The same on the processor and on an emulated device. `own_rows`: the model has another card
    abstraction. `biased`: data-biased, with a trust of each information set of the model."""
    game = small_game()
    cards, counts = game.form.cards, game.rules.abstraction.counts
    rows = BucketRows(cards, counts)
    chance = HoldemChance(CARDS, BETTING.board, True)
    streets, tree = streets_of(game.rules.tree), game.rules.tree
    model = random_strategy(small_game(ForgetfulAbstraction) if own_rows else game, 7)
    table, p = form_table(model), None if biased else 0.6
    if biased:
        trust = np.random.default_rng(6).random(len(table.policy))
        table = table._replace(policy=table.policy * trust[:, None])
    codes = BucketRows(table.cards, code_counts(table, tree), table.carry)
    fixed = FixedSeat(chance, streets, 1 - seat, codes, table_blocks(tree, streets, table))
    processor = VectorCfrBr(
        chance, streets, rows, cut=2, seats=(seat,), models={1 - seat: fixed}, p=p
    )
    device = DeviceCfrBr(chance, streets, rows, cut=2, seed=SEED, device=kind(), model=fixed, p=p)
    return processor, device


@needs_compiler
@pytest.mark.parametrize(("biased", "parts"), [(False, 2), (False, 1), (True, 2)])
@pytest.mark.parametrize("own_rows", [True, False])
@pytest.mark.parametrize("seat", [0, 1])
def test_an_iteration_on_the_device_equals_one_on_the_processor(
    parts: int, own_rows: bool, seat: int, biased: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From random positive regrets."""
    monkeypatch.setattr(cfr_br_street, "PARTS", parts)
    processor, device = trainers(own_rows, seat, biased)
    rng = np.random.default_rng(2)
    for tables, on_device in (
        (processor.tables, device.regret),
        (processor.trunk, device.trunk_regret),
    ):
        for k, (regret, out) in enumerate(zip(tables.regret, on_device, strict=False)):
            regret[:] = rng.random(regret.shape)
            street = (device._learner if tables is processor.tables else device._adversary)[k]
            for block, copy in zip(regret, out, strict=True):
                copy[:] = street.from_block(block)
    before = [regret.copy() for regret in processor.tables.regret]
    processor.iterate(np.random.default_rng((SEED, 1)), Step(prior=0.5))  # the same board
    device.iterate(1, Step(prior=0.5))
    for k, (start, regret) in enumerate(zip(before, processor.tables.regret, strict=True)):
        street = device._learner[k]
        expected = street.from_block(regret[0]) - street.from_block(start[0])
        found = device.regret[k][0] - street.from_block(start[0])
        assert np.abs(expected).max() > 1e-3
        if parts == 2:
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        else:  # half precision may turn a near tie of the best response
            assert np.linalg.norm(found - expected) < 0.02 * np.linalg.norm(expected)


@needs_compiler
@pytest.mark.parametrize("biased", [False, True])
def test_a_model_takes_as_much_memory_as_is_announced(biased: bool) -> None:
    _, device = trainers(True, 0, biased, CountingDevice)
    emulated, iterations = device.device, 2
    for t in range(1, iterations + 1):
        device.iterate(t, Step(prior=0.5))
    classes = [listed.class_of.max() + 1 for *_, listed in device._in_use]
    announced = device.n_bytes(int(max(classes)), iterations)
    assert emulated.held == pytest.approx(announced, rel=0.02)
    assert emulated.most <= device.n_bytes()


@needs_compiler
@pytest.mark.parametrize("algorithm", ["rnr", "dbr"])
def test_a_device_trains_in_a_game_whose_last_street_is_the_cut(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cfr_br, "NEW_DEVICE", EmulatedDevice)
    monkeypatch.setattr(cfr_br_street, "PARTS", 2)
    game, _, _, model = flop()
    trust = np.random.default_rng(1).random(game.n_infosets) if algorithm == "dbr" else 0.5
    how: dict[str, Any] = {"p": trust, "algorithm": algorithm, "adversary": "real", "seed": 1}
    one, other = (
        cp.respond(game, model, iterations=3, **how, **backend).strategy.probabilities
        for backend in ({}, {"backend": "cuda"})
    )
    np.testing.assert_allclose(other, one, atol=1e-5)  # later ties of best responses turn
    assert np.abs(one - cp.Strategy.uniform(game).probabilities).max() > 0.1


PS = (0.0, 0.5, 0.9, 1.0)
#: Iterations, and how far the objective may then be below its maximum, in small bets: about
#: twice what it is, and it falls with the root of the iterations.
SHORT, LONG = (300, 0.02), (3_000, 0.006)


@pytest.mark.parametrize("length", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
def test_the_curve_is_that_of_linear_programs(length: tuple[int, float]) -> None:
    """No strategy of the abstraction has a greater objective, and the responses come near it."""
    game, tree, _, model = flop()
    iterations, slack = length
    curve = cp.frontier(game, model, PS, adversary="real", iterations=iterations, seed=1)
    fixed = flop().on_tree(model)
    for player in (0, 1):
        plans = flop().plans(player)
        for point in curve.points:
            p, found = point.p, point.response
            most, _ = best_objective(tree, fixed, player, p, plans)
            learnt = flop().on_tree(found.strategy)
            payoff = cp.expected_value(tree, fixed.replace(learnt, player))[player]
            worst = -cp.best_response(tree, learnt, 1 - player).value
            assert found.payoffs[player] == pytest.approx(payoff, abs=1e-9)
            assert found.worst_cases[player] == pytest.approx(worst, abs=1e-9)
            assert most - slack < p * payoff + (1.0 - p) * worst < most + 1e-6
    for name in ("exploitation", "exploitability"):
        values = [getattr(point, name) for point in curve.points]
        assert all(b > a - 2 * slack for a, b in itertools.pairwise(values))


def test_the_boards_give_the_best_plans_the_value_of_their_program() -> None:
    game, tree, _, model = flop()
    fixed, payoffs, risks = flop().on_tree(model), [], []
    for player in (0, 1):
        plans = flop().plans(player)
        for p in PS[:3]:
            most, plan = best_objective(tree, fixed, player, p, plans)
            weights = model.probabilities.copy()
            for (row, action), sequence in plans.number.items():
                weights[game.form.first[row] + action] = plan[sequence]
            best = model.replace(cp.Strategy.from_weights(game, weights), player)
            asked = [Payoff(player, model, best), Payoff(1 - player, best)]
            payoff, risk = game.evaluator.payoffs(asked)
            assert p * payoff - (1.0 - p) * risk == pytest.approx(most, abs=1e-6)
            payoffs.append(payoff)
            risks.append(risk)
    for values in (payoffs, risks):
        for curve in (values[:3], values[3:]):
            assert all(b > a - 1e-6 for a, b in itertools.pairwise(curve))


def test_without_trust_it_is_cfr_br() -> None:
    game, _, _, model = flop()
    plain = cp.solve(game, "cfr-br", iterations=40, seed=2).strategy
    for algorithm in ("rnr", "dbr"):
        found = cp.respond(
            game, model, p=0.0, algorithm=algorithm, adversary="real", iterations=40, seed=2
        )
        assert np.array_equal(found.strategy.probabilities, plain.probabilities)


def test_another_trust_starts_from_the_current_strategy() -> None:
    game, _, _, model = flop()
    solver = ResponseSolver(game, model, 1, 0.9, "rnr", "cfr-br", 1, {"current": True})
    learnt = run_solver(solver.engine, Limits(iterations=20)).strategy.probabilities
    solver.replace_model(model, 0.4)
    assert np.abs(learnt - cp.Strategy.uniform(game).probabilities).max() > 0.1
    assert np.array_equal(solver.engine.strategy().probabilities, learnt)
    solver.replace_model(model, 0.0)  # but not without trust
    assert not any(table.any() for table in solver.engine.tables().values())


@pytest.mark.slow
def test_a_search_for_a_limit_finds_the_safest_as_a_run_of_its_own_does() -> None:
    """The search begins with p = 1, whose regrets leave p = 0 a fifth more exploitable."""
    game = small_game()
    model = random_strategy(game, 7)
    how: dict[str, Any] = {"adversary": "real", "iterations": 200, "seed": 2, "measure": {}}
    alone = cp.respond(game, model, p=0.0, **how)
    limit = 1.1 * alone.exploitability
    assert cp.respond(game, model, max_exploitability=limit, **how).exploitability <= limit


@pytest.mark.parametrize("player", [0, 1])
def test_a_data_biased_response_reaches_its_linear_program(player: int) -> None:
    """Trust differs between the model's information sets."""
    game, tree, rows, model = flop()
    trust = np.random.default_rng(1).random(game.n_infosets)
    fixed, plans = flop().on_tree(model), flop().plans(player)
    most = dbr_value(tree, fixed, player, trust[rows], plans)
    options: dict[str, Any] = {"algorithm": "dbr", "adversary": "real", "seed": 1}
    found = cp.respond(game, model, p=trust, iterations=SHORT[0], **options)
    biased = RestrictedGame(tree, fixed, player, trust[rows], response_algorithm("dbr"))
    other = biased.sequence_form[1 - player]
    payoff = np.empty(other.n_sequences)
    gradient(other, flop().on_tree(found.strategy).plan(player), payoff)
    value = -best_reply(other, payoff, np.empty(other.n_sequences - 1))
    assert most - SHORT[1] < value < most + 1e-6


def test_in_a_game_without_abstraction_both_adversaries_are_the_same() -> None:
    model = cp.Strategy.random("kuhn", 4)
    for options in ({}, {"iterations": 50}, {"algorithm": "dbr", "engine": "lp"}):
        one, other = (
            cp.respond("kuhn", model, p=0.6, adversary=adversary, **options).strategy.probabilities
            for adversary in ("abstract", "real")
        )
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("algorithm", "backend"),
    [
        ("rnr", "cpu"),
        ("dbr", "cpu"),
        pytest.param("rnr", "cuda", marks=needs_compiler),
        pytest.param("dbr", "cuda", marks=needs_compiler),
    ],
)
def test_a_run_resumes_bit_for_bit(
    algorithm: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cfr_br, "NEW_DEVICE", EmulatedDevice)
    game = small_game()
    model = random_strategy(game, 7)
    how: dict[str, Any] = {"algorithm": algorithm, "adversary": "real", "seed": 3}
    how |= {"backend": backend} if backend != "cpu" else {}
    whole = cp.respond(game, model, p=0.5, iterations=6, **how)
    cp.respond(game, model, p=0.5, iterations=2, folder=tmp_path / "run", **how)
    resumed = cp.resume_response(tmp_path / "run", game=game, iterations=6)
    assert np.array_equal(resumed.strategy.probabilities, whole.strategy.probabilities)
    for one, other in zip(whole.runs, resumed.runs, strict=True):
        for name, array in one._solver.arrays().items():
            assert np.array_equal(array, other._solver.arrays()[name]), name


def test_the_model_may_have_another_abstraction() -> None:
    game, other = small_game(), small_game(ForgetfulAbstraction)
    model = random_strategy(other, 7)
    how: dict[str, Any] = {"p": 0.8, "adversary": "real", "seed": 1}
    found = cp.respond(game, model, iterations=60, measure={}, **how)
    safe = cp.respond(game, model, iterations=60, measure={}, **how | {"p": 0.0})
    assert found.payoff > safe.payoff + 0.1
    assert found.exploitability > safe.exploitability
    one = cp.respond(game, model, 0, iterations=2, **how).strategy
    assert one.player == 0
    uniform = cp.Strategy.uniform(game).probabilities
    assert np.array_equal(one.probabilities[game.slots(1)], uniform[game.slots(1)])
    with pytest.raises(cp.CounterplayError, match="cannot play"):
        cp.respond(game, model, iterations=2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"adversary": "real", "algorithm": "mcrnr"}, "rnr or dbr, and the engine cfr-br"),
        ({"adversary": "real", "engine": "mccfr"}, "rnr or dbr, and the engine cfr-br"),
        ({"adversary": "both"}, "must be one of abstract, real"),
        ({"algorithm": "rnr", "engine": "cfr-br"}, "no card abstraction; ask for it"),
    ],
)
def test_what_no_real_adversary_is_for_is_refused(options: dict[str, Any], reason: str) -> None:
    game = small_game()
    with pytest.raises(cp.CounterplayError, match=reason):
        cp.respond(game, random_strategy(game, 7), iterations=1, **options)


@pytest.mark.slow
def test_within_a_limit() -> None:
    game = small_game()
    model = random_strategy(game, 7)
    how: dict[str, Any] = {"adversary": "real", "iterations": 8, "seed": 1, "measure": {}}
    ends = [cp.respond(game, model, p=p, **how) for p in (0.0, 1.0)]
    limit = 0.5 * sum(end.exploitability for end in ends)
    found = cp.respond(game, model, max_exploitability=limit, **how)
    assert ends[0].exploitability <= found.exploitability <= limit + 1e-12
    assert ends[0].payoff < found.payoff < ends[1].payoff
    assert isinstance(found.strategy, cp.Mixture)
    assert found.exploitability == pytest.approx(limit)
    assert cp.exploitability(game, found.strategy) <= limit + 1e-9
    assert found.measured().payoff == pytest.approx(found.payoff)


def test_within_a_limit_in_a_game_that_ends_on_the_flop() -> None:
    """Its values are exact and come without being asked for, but it is too large for a tree."""
    game, tree, _, model = flop()
    how: dict[str, Any] = {"adversary": "real", "iterations": 20, "seed": 1}
    safe, risky = (cp.respond(game, model, p=p, **how) for p in (0.0, 1.0))
    limit, told = 0.5 * (safe.exploitability + risky.exploitability), []
    found = cp.respond(
        game, model, max_exploitability=limit, progress=lambda *at: told.append(at), **how
    )
    assert isinstance(found.strategy, cp.Mixture)
    assert found.exploitability == pytest.approx(limit)
    assert safe.exploitation < found.exploitation < risky.exploitation
    ends = [flop().on_tree(one) for one in (found.strategy.one, found.strategy.other)]
    for player in (0, 1):
        worst = [-cp.best_response(tree, end, 1 - player).value for end in ends]
        mean = np.dot([found.strategy.weight, 1.0 - found.strategy.weight], worst)
        assert found.worst_cases[player] == pytest.approx(mean)
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0


def test_of_one_seat_the_payoffs_alone_are_known() -> None:
    """The value of a seat is that of the game, which is too large to be solved."""
    game, tree, _, model = flop()
    how: dict[str, Any] = {"adversary": "real", "iterations": 2, "seed": 1}
    found = cp.respond(game, model, 1, 0.5, **how)
    learnt = flop().on_tree(found.strategy)
    assert found.worst_case == pytest.approx(-cp.best_response(tree, learnt, 0).value)
    assert np.isnan([found.exploitation, found.exploitability]).all()
    with pytest.raises(cp.CounterplayError, match="one seat is relative to the value"):
        cp.respond(game, model, 1, max_exploitability=0.5, **how)


def test_the_commands_know_the_adversary(tmp_path: Path) -> None:
    words = ("respond", "uniform", "--game", "kuhn", "--p", "0.5", "--json")
    one = json.loads(typed(tmp_path, *words, "--out", "one").stdout)
    other = json.loads(typed(tmp_path, *words, "--adversary", "real", "--out", "other").stdout)
    assert one["payoff"] == other["payoff"]
    done = typed(tmp_path, *words[:4], "--max-risk", "100")
    assert one_sentence(done)
    assert "--max-risk is in mb/g" in done.stderr
    holdem = ("always-call", "--game", "holdem(buckets=10)", "--adversary", "real")
    for command in ("respond", "frontier"):
        done = typed(tmp_path, command, *holdem, "-a", "mcdbr")
        assert one_sentence(done)
        assert "rnr or dbr, and the engine cfr-br; got" in done.stderr
