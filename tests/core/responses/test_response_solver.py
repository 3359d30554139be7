"""One path for responses: trust and discounts, names as data, run folders and limits
of one kind."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import typed

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.restricted import data_biased_form
from counterplay.core.responses.algorithms import RESPONSES, ResponseAlgorithm
from counterplay.core.responses.solver import ResponseSolver, engines_of
from counterplay.core.solvers.algorithms import ALGORITHMS, new_solver
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.folder import config_of
from counterplay.core.solvers.limits import Limits, pop_limits

SOURCE = Path(__file__).parents[3] / "src" / "counterplay"
KUHN = cp.load("kuhn")
OLD, NEW = cp.Strategy.random(KUHN, 1), cp.Strategy.random(KUHN, 2)
TRUST = np.arange(12) / 12.0
CASES = [
    (name, engine)
    for name, spec in RESPONSES.items()
    for engine in engines_of(spec)
    if (name, engine) != ("dbr", "egt") and ALGORITHMS[engine].plays(KUHN)
]
SAMPLED = [case for case in CASES if RESPONSES[case[0]].sampled]


def response(algorithm: str, engine: str, model: cp.Strategy, p: Any = 0.6) -> ResponseSolver:
    return ResponseSolver(KUHN, model, 0, p, algorithm, engine, 7)


@pytest.mark.parametrize(
    ("algorithm", "engine"),
    [
        pytest.param(*case, marks=pytest.mark.slow) if case[1] in ("mccfr-chance", "mcts") else case
        for case in CASES
    ],
)
def test_who_believes_another_model_responds_to_that_one(algorithm: str, engine: str) -> None:
    """Before anything was learnt: the same bits, measure, strategy and run folder as of a new
    solver."""
    p = 0.3 if RESPONSES[algorithm].once else TRUST
    changed, fresh = response(algorithm, engine, OLD), response(algorithm, engine, NEW, p)
    changed.replace_model(NEW, p)
    for one in (changed, fresh):
        one.engine.step(1 if engine == "lp" else 50)
    for name, array in fresh.engine.arrays().items():
        assert np.array_equal(changed.engine.arrays()[name], array), name
    policy = fresh.engine.policy()
    assert changed.engine.measure(policy) == fresh.engine.measure(policy)
    assert np.array_equal(changed.strategy().probabilities, fresh.strategy().probabilities)
    assert np.array_equal(
        changed.strategy().probabilities[KUHN.slots(1)], NEW.probabilities[KUHN.slots(1)]
    )
    assert config_of(changed.engine) == config_of(fresh.engine)


@pytest.mark.parametrize(("algorithm", "engine"), SAMPLED)
def test_what_was_learnt_by_sampling_stays(algorithm: str, engine: str) -> None:
    solver = response(algorithm, engine, OLD)
    solver.engine.step(200)
    before = {name: array.copy() for name, array in solver.engine.arrays().items()}
    solver.replace_model(NEW, 0.9)
    assert solver.engine.iterations == 200
    for name, array in solver.engine.arrays().items():
        assert np.array_equal(array, before[name]), name


@pytest.mark.parametrize("engine", [case[1] for case in CASES if case[0] == "mcdbr"])
def test_believing_is_changing_the_model_in_the_middle_of_a_form(engine: str) -> None:
    """A form whose arrays are written over plays as one that is replaced."""
    fixed, trust = OLD.probabilities.copy(), TRUST[::-1].copy()
    shown = fixed.view()
    shown.setflags(write=False)  # as a strategy's are: the same kernel
    form = data_biased_form(KUHN.form, shown, 1, trust)
    plain = new_solver(KUHN, engine, 7, {}, Problem(KUHN, form))
    solver = response("mcdbr", engine, OLD, TRUST[::-1])
    for one in (plain, solver.engine):
        one.step(200)
    fixed[:], trust[:] = NEW.probabilities, TRUST
    plain.discount(0.5)
    solver.replace_model(NEW, TRUST)
    solver.discount(0.5)
    for one in (plain, solver.engine):
        one.step(200)
    assert np.array_equal(plain.policy(), solver.engine.policy())


def test_a_model_of_another_game_is_not_believed() -> None:
    solver = response("rnr", "cfr+", OLD)
    with pytest.raises(cp.CounterplayError, match="cannot play kuhn"):
        solver.replace_model(cp.Strategy.uniform(cp.load("leduc")), 0.5)
    with pytest.raises(BadParameter, match="p must be from 0 to 1"):
        solver.replace_model(NEW, 1.5)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "egt" else [])
        for name, kind in ALGORITHMS.items()
        if not kind.sampled
    ],
)
def test_full_width_solvers_fade_or_say_that_they_cannot(name: str) -> None:
    solver = new_solver(KUHN, name, 0, {})
    solver.step(1 if name == "lp" else 30)
    if name in ("lp", "egt", "cfr-br"):
        with pytest.raises(BadParameter, match=f"{name} cannot discount"):
            solver.discount(0.5)
        return
    weights, policy = solver.weights().copy(), solver.policy()
    solver.discount(0.25)
    assert solver.weights() == pytest.approx(0.25 * weights)
    assert solver.policy() == pytest.approx(policy)
    straight = new_solver(KUHN, name, 0, {})
    straight.step(30)
    for one in (solver, straight):
        one.step(1)
    assert not np.array_equal(solver.policy(), straight.policy())  # what is new weighs more


# --- a name is what its row says


def test_a_name_means_what_its_row_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`mcwhole` does not sample, for all its letters, and `plain` throws a coin at each
    information set."""
    for spec in (
        ResponseAlgorithm("mcwhole", False, True, "cfr", "full width"),
        ResponseAlgorithm("plainrnr", True, False, "mccfr-external", "sampled"),
    ):
        monkeypatch.setitem(RESPONSES._installed, spec.name, spec)
    pairs = (("mcwhole", "rnr", "cfr", 0.6), ("plainrnr", "mcdbr", "mccfr-external", TRUST))
    for new, known, engine, p in pairs:
        mine = cp.respond(KUHN, OLD, 0, p, new, iterations=40)
        same = cp.respond(KUHN, OLD, 0, p, known, engine=engine, iterations=40)
        assert (mine.algorithm, mine.engine) == (new, engine)
        assert np.array_equal(mine.strategy.probabilities, same.strategy.probabilities)
    with pytest.raises(BadParameter, match="mcwhole needs one of the engines cfr, "):
        cp.respond(KUHN, OLD, 0, 0.6, "mcwhole", engine="mccfr", iterations=5)
    words = ("respond", "uniform", "--game", "kuhn", "-n", "5", "--seed", "1", "-a")
    assert "mcwhole draws nothing at random" in typed(tmp_path, *words, "mcwhole").stderr
    assert typed(tmp_path, *words, "plainrnr").code == 0


# --- one kind of run folder, one kind of limits


@pytest.mark.parametrize(
    ("algorithm", "p"), [("rnr", 0.6), ("mcrnr", 0.6), ("dbr", TRUST), ("mcdbr", TRUST)]
)
def test_a_run_of_a_response_that_is_saved_can_go_on(
    algorithm: str, p: Any, tmp_path: Path
) -> None:
    """`Run.save` writes what `respond(folder=...)` writes."""
    done = cp.respond(KUHN, OLD, 1, p, algorithm, iterations=100)
    done.runs[0].save(tmp_path / "saved")
    cp.respond(KUHN, OLD, 1, p, algorithm, iterations=100, folder=tmp_path / "kept")
    names = [sorted(path.name for path in (tmp_path / n).iterdir()) for n in ("saved", "kept")]
    assert names[0] == names[1]
    further = cp.resume_response(tmp_path / "saved", iterations=200)
    whole = cp.respond(KUHN, OLD, 1, p, algorithm, iterations=200)
    assert np.array_equal(further.strategy.probabilities, whole.strategy.probabilities)


def test_limits_are_checked_wherever_they_are_made() -> None:
    for wrong in ({"iterations": 0}, {"seconds": -1.0}, {"target": 0}, {"measure_every": 1.5}):
        with pytest.raises(BadParameter, match=next(iter(wrong))):
            Limits(**wrong)
    arguments = {"iterations": 5, "on_chunk": print, "epsilon": 0.6}
    limits = pop_limits(arguments)
    assert (limits.iterations, limits.on_chunk, limits.bounded) == (5, print, True)
    assert arguments == {"epsilon": 0.6}
    assert not Limits(measure_every=3).bounded


def test_inside_the_package_limits_travel_together() -> None:
    """Only what users call takes them one by one."""
    names = set(Limits.__dataclass_fields__)
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                own = [*node.args.args, *node.args.kwonlyargs]
                if len(names & {argument.arg for argument in own}) > 3:
                    found.add(node.name)
    assert found == {"solve", "resume", "respond"}


def test_a_frontier_takes_the_arguments_of_respond() -> None:
    seen: list[int] = []
    arguments: dict[str, Any] = {
        "algorithm": "mcrnr",
        "engine": "mccfr",
        "seed": 4,
        "iterations": 30,
        "on_chunk": lambda progress: seen.append(progress.iterations),
        "averaging": "stochastic",
    }
    found = cp.frontier(KUHN, OLD, [0.5], **arguments).points[0].response
    assert max(seen) == 30
    one = cp.respond(KUHN, OLD, None, 0.5, **arguments)
    assert np.array_equal(found.strategy.probabilities, one.strategy.probabilities)
