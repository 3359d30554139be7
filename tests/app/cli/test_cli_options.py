"""Options typed together, and at the ends of their ranges: what would do nothing is refused,
what is refused leaves nothing."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.hands import random_hands

import counterplay as cp
from counterplay.app.cli.responses import risk_limit
from counterplay.core.responses import frontier as frontiers
from counterplay.core.responses import respond as searches
from counterplay.poker.histories.parquet import write_parquet

KUHN = cp.load("kuhn")
UNIFORM = cp.Strategy.uniform(KUHN)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a response in one seat, one in both, a strategy file."""
    folder = tmp_path_factory.mktemp("made")
    cp.solve(KUHN, "mccfr", iterations=100, folder=folder / "run")
    cp.respond(KUHN, UNIFORM, 0, 0.5, "mcrnr", iterations=100, folder=folder / "answer")
    cp.respond(KUHN, UNIFORM, None, 0.5, "mcrnr", iterations=100, folder=folder / "both")
    UNIFORM.save(folder / "mine.npz")
    (folder / "file").write_text("precious")
    (folder / "taken" / "frontier.csv").mkdir(parents=True)
    (folder / "dangling").symlink_to("nowhere/at/all")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "here", symlinks=True)


def contents(folder: Path) -> dict[str, bytes | None]:
    result = sorted(folder.rglob("*"))
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in result
    }


def refused(folder: Path, words: list[str], says: str) -> None:
    before = contents(folder)
    done = typed(folder, *words)
    assert one_sentence(done), done
    assert says in done.stderr
    assert contents(folder) == before


RESPOND = ["respond", "uniform", "--game", "kuhn"]
FRONTIER = ["frontier", "uniform", "--game", "kuhn"]
EXTRAS: dict[str, list[str]] = {
    "algorithm": ["-a", "mccfr"],
    "seed": ["--seed", "0"],
    "option": ["-o", "epsilon=0.6"],
    "out": ["--out", "new"],
}
OF_RESPONSES: dict[str, list[str]] = {
    "game": ["--game", "kuhn"],
    "player": ["--player", "both"],
    "p": ["--p", "0.5"],
    "confidence": ["--confidence", "1-step"],
    "limit": ["--max-exploitability", "1"],
    "algorithm": ["-a", "mcrnr"],
    "engine": ["--engine", "mccfr"],
}


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_resumed_run_takes_only_limits(extra: str, folder: Path) -> None:
    """Also what is the default, or what the run has: nobody reads it."""
    refused(folder, ["solve", "--resume", "run", "-n", "200", *EXTRAS[extra]], "leave out --")
    refused(folder, ["solve", "kuhn", "--resume", "run", "-n", "200"], "leave out GAME")


@pytest.mark.parametrize("extra", EXTRAS | OF_RESPONSES)
def test_a_resumed_response_takes_only_limits(extra: str, folder: Path) -> None:
    refused(
        folder,
        ["respond", "--resume", "answer", "-n", "200", *(EXTRAS | OF_RESPONSES)[extra]],
        "leave out --",
    )
    refused(folder, ["respond", "mine.npz", "--resume", "answer", "-n", "200"], "leave out MODEL")


IDLE = [
    (["solve", "kuhn", "-a", "cfr+", "--seed", "1"], "--seed"),
    (["solve", "kuhn", "-a", "lp", "--seed", "0"], "--seed"),
    ([*RESPOND, "--seed", "1"], "--seed"),
    ([*RESPOND, "-a", "dbr", "--seed", "1"], "--seed"),
    ([*FRONTIER, "--seed", "1"], "--seed"),
    ([*RESPOND, "--p", "0.5", "--max-exploitability", "0.1"], "not both"),
    ([*RESPOND, "--confidence", "1-step"], "--confidence needs"),
    (["show", "mine.npz", "--betting", "r"], "--betting"),
    (["show", "mine.npz", "--out", "picture.png"], "--out"),
    (["reproduce", "--scale", "quick"], "--scale"),
    (["reproduce", "--again", "--out", "x"], "--out, --again"),
]


@pytest.mark.parametrize(("words", "says"), IDLE, ids=[" ".join(words) for words, _ in IDLE])
def test_what_would_do_nothing_is_refused(words: list[str], says: str, folder: Path) -> None:
    refused(folder, words, says)


def test_the_list_of_experiments_for_machines(tmp_path: Path) -> None:
    listed = json.loads(typed(tmp_path, "reproduce", "--json").stdout)
    assert {"fig4-kuhn", "fig6"} <= {row["name"] for row in listed}


def test_trees_as_text_for_machines(tmp_path: Path) -> None:
    write_parquet(tmp_path / "h.parquet", random_hands(3, 40))
    words = ["model", "h.parquet", "--player", "Ann", "--json"]
    assert "text" not in json.loads(typed(tmp_path, *words).stdout)
    assert "preflop" in json.loads(typed(tmp_path, *words, "--text").stdout)["text"]


def test_a_risk_in_millibets_is_the_mean_of_the_seats() -> None:
    """200 mb/g of each seat are 0.2 sb/h of each, and b1 + b2 is 0.4."""
    assert risk_limit(cp.load("holdem(buckets=10)"), None, 200.0) == pytest.approx(0.4)


def test_nothing_in_python_is_ignored_either() -> None:
    for extra in ({"p": 0.5}, {"max_exploitability": 0.1}):
        with pytest.raises(cp.CounterplayError, match=next(iter(extra))):
            cp.frontier(KUHN, UNIFORM, iterations=1, **extra)
    for p in (0.5, np.full(12, 0.5)):
        with pytest.raises(cp.CounterplayError, match="max_exploitability"):
            cp.respond(KUHN, UNIFORM, 0, p, "dbr", iterations=1, max_exploitability=0.1)
    with pytest.raises(cp.CounterplayError, match="twice"):
        cp.frontier(KUHN, UNIFORM, (0.5, 0.1, 0.5), iterations=1)
    curve = cp.frontier(KUHN, UNIFORM, (0.5,), iterations=1)
    with pytest.raises(cp.CounterplayError, match="max_exploitability"):
        curve.recommend(math.nan)


@pytest.mark.parametrize(
    ("command", "name"), [("solve", "run"), ("respond", "answer"), ("respond", "both")]
)
@pytest.mark.parametrize(
    "limit", [["-n", "100"], ["-n", "7"], ["-s", "1e-9"], ["-t", "1000"]], ids=" ".join
)
def test_limits_that_are_met_already(
    command: str, name: str, limit: list[str], folder: Path
) -> None:
    """One sentence with how far the run is; for machines the report, with no new iterations."""
    before = cp.Strategy.load(folder / name).probabilities
    done = typed(folder, command, "--resume", name, *limit)
    assert done.code == 0, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1
    assert done.stdout.startswith("nothing to do")
    assert "100 iterations" in done.stdout
    facts = json.loads(typed(folder, command, "--resume", name, *limit, "--json").stdout)
    assert (facts["iterations"], facts["new_iterations"]) == (100, 0)
    assert np.array_equal(cp.Strategy.load(folder / name).probabilities, before)
    more = json.loads(typed(folder, command, "--resume", name, "-n", "130", "--json").stdout)
    assert (more["iterations"], more["new_iterations"]) == (130, 30)


def test_a_resumed_run_knows_where_it_began(folder: Path) -> None:
    again = cp.resume(folder / "run", iterations=50)
    assert (again.started_at, again.iterations, again.stopped_by) == (100, 100, "iterations")
    assert cp.resume(folder / "run", target=1000.0).stopped_by == "target"
    more = cp.resume(folder / "run", iterations=150)
    assert (more.started_at, more.iterations) == (100, 150)
    assert cp.solve(KUHN, "mccfr", iterations=5).started_at == 0


def test_a_solved_run_says_so(folder: Path) -> None:
    cp.solve(KUHN, "lp", iterations=1, folder=folder / "exact")
    assert "is solved" in typed(folder, "solve", "--resume", "exact", "-n", "5").stdout


TARGETS = {
    "a file": "file",
    "in a file": "file/new",
    "a dangling link": "dangling",
    "too long a name": "x" * 300 + "/new",
}
STARTS = {
    "solve": ["solve", "kuhn"],
    "respond": RESPOND,
    "search": [*RESPOND, "--max-exploitability", "0.1"],
    "frontier": FRONTIER,
}


@pytest.mark.parametrize("where", TARGETS)
@pytest.mark.parametrize("command", STARTS)
def test_a_target_is_looked_at_first(
    command: str, where: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the game is even built, and nothing is written over or left behind."""

    def too_soon(*_given: Any) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("counterplay.core.forms.registry.load", too_soon)
    refused(
        folder,
        [*STARTS[command], "--out", TARGETS[where]],
        "cannot write" if where != "a file" else "file",
    )


def test_targets_that_hold_something(folder: Path) -> None:
    for name in ("run", "answer", "both"):
        for command in ("solve", "respond", "search"):
            refused(folder, [*STARTS[command], "--out", name], "already holds")
    refused(folder, [*FRONTIER, "--out", "taken"], "it is a folder")
    search = [*STARTS["search"], "--player", "1", "-n", "300"]
    assert typed(folder, *search, "--out", "found").code == 0
    refused(folder, [*search, "--out", "found"], "already holds a strategy")


def test_no_frontier_where_nobody_says_how_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (frontiers, searches):
        monkeypatch.setattr(module, "compute_response", None)  # never called
    for words in (["frontier"], ["respond", "--max-exploitability", "0.1", "--out", "x"]):
        done = typed(tmp_path, *words, "always-call", "--game", "holdem(buckets=10)", "-a", "mcrnr")
        assert one_sentence(done), done
        assert "measured by traversing its boards" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_frontier_without_advice_is_still_a_frontier(tmp_path: Path) -> None:
    words = [*FRONTIER, "-a", "mcrnr", "-n", "5", "--ps", "0,1", "--max-exploitability", "1e-9"]
    done = typed(tmp_path, *words)
    assert done.code == 0
    assert "No p here risks at most 1e-09" in done.stdout
    assert json.loads(typed(tmp_path, *words, "--json").stdout)["recommended_p"] is None


NUMBERS = ["-0.1", "0", "1", "1.1", "nan", "inf", "-inf", "1e300", "1e-9"]
P = {"0", "1", "1e-9"}
POSITIVE = {"1", "1.1", "1e300", "1e-9"}
WHOLE = ["0", "1", "-1"]
SEEDS = {"-1": False, "0": True, str(2**64 - 1): True, str(2**64): False}
SHORT = ["-n", "2"]
ENDS: list[tuple[list[str], bool]] = [
    *(([*RESPOND, *SHORT, "--p", p], p in P) for p in NUMBERS),
    *(([*RESPOND, *SHORT, "--p", "1", "-s", s], s in POSITIVE) for s in NUMBERS),
    *(([*RESPOND, *SHORT, "-t", t], t in POSITIVE) for t in NUMBERS),
    *(([*RESPOND, "-n", n], n == "1") for n in WHOLE),
    *(
        ([*RESPOND, "--engine", "lp", "--max-exploitability", x], x in {*POSITIVE, "0"})
        for x in NUMBERS
    ),
    *(
        ([*RESPOND, *SHORT, "--player", who], who in ("1", "2", "both"))
        for who in ("0", "1", "2", "3", "both", "", "-1")
    ),
    *(([*RESPOND, *SHORT, "-a", "mcrnr", "--seed", seed], fine) for seed, fine in SEEDS.items()),
    *(
        ([*FRONTIER, *SHORT, "--ps", ps], ps in ("0", "1", "0,1", "1, 0"))
        for ps in ("", ",", "0", "1", "0,1", "1, 0", "0.5,0.5", "0,nan", "2", "-0.1", "half")
    ),
    *(
        ([*FRONTIER, *SHORT, "--ps", "1", "--max-exploitability", x], x in POSITIVE)
        for x in NUMBERS
    ),
    *(([*FRONTIER, "--ps", "1", "-n", n], n == "1") for n in WHOLE),
    *(([*FRONTIER, *SHORT, "--ps", "1", "-s", s], s in POSITIVE) for s in NUMBERS),
    *(
        ([*FRONTIER, *SHORT, "--ps", "1", "--player", who], who in ("1", "2", "both"))
        for who in ("0", "2", "3", "both", "")
    ),
    *(
        ([*FRONTIER, *SHORT, "--ps", "1", "-a", "mcrnr", "--seed", seed], fine)
        for seed, fine in SEEDS.items()
    ),
    *((["solve", "kuhn", "-n", n], n == "1") for n in WHOLE),
    *((["solve", "kuhn", *SHORT, "-s", s], s in POSITIVE) for s in NUMBERS),
    *((["solve", "kuhn", *SHORT, "-t", t], t in POSITIVE) for t in NUMBERS),
    *(
        (["solve", "kuhn", *SHORT, "-a", "mccfr", "--seed", seed], fine)
        for seed, fine in SEEDS.items()
    ),
    (["solve", "", *SHORT], False),
    (["solve", "kuhn", *SHORT, "-a", ""], False),
    (["solve", "kuhn", *SHORT, "-o", "=1"], False),
    (["evaluate", "mine.npz"], True),
    (["evaluate", "mine.npz", "--game", "leduc"], False),
    (["evaluate", ""], False),
    (["evaluate", "mine.npz", "--against", ""], False),
    (["evaluate", "mine.npz", "--against", "answer"], True),
    (["evaluate", "uniform", "--game", ""], False),
    (["evaluate", "file"], False),
    (["evaluate", "mine.npz", "--backend", "cpu"], False),
    (["evaluate", "mine.npz", "--flops", "40"], False),
]


@pytest.mark.parametrize(("words", "fine"), ENDS, ids=[" ".join(words) for words, _ in ENDS])
def test_the_ends_of_every_range(
    words: list[str], fine: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        cp.Frontier, "plot", lambda curve, path: None
    )  # pictures take longer than all the rest
    if not fine:
        before = contents(folder)
        done = typed(folder, *words)
        assert one_sentence(done), done
        assert contents(folder) == before
        return
    done = typed(folder, *words, "--json")
    assert done.code == 0, done
    assert isinstance(json.loads(done.stdout), dict)
    assert "NaN" not in done.stdout
