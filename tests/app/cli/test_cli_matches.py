"""The commands about hold'em and matches, typed as a user would."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import COMMAND, Inside, facts_of, ok
from support.holdem import NAME

import counterplay as cp
from counterplay.app.cli import learning as cli_learning
from counterplay.app.cli import matches as cli_matches
from counterplay.poker.histories.parquet import read_parquet

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `counterplay solve` left a run called `run`."""
    folder = tmp_path_factory.mktemp("solved")
    text = ok(folder, "solve", NAME, "-a", "mccfr", "-n", "20000", "--seed", "1", "--out", "run")
    assert "20,000 iterations" in text
    assert "counterplay match run always-call" in text  # what to do next
    assert "counterplay show run" in text
    return folder


@pytest.fixture
def folder(solved: Path, tmp_path: Path) -> Path:
    """A fresh folder with that run, whose strategy also stands alone as mine.npz."""
    shutil.copytree(solved / "run", tmp_path / "run")
    shutil.copy(solved / "run" / "strategy.npz", tmp_path / "mine.npz")
    return tmp_path


def test_solve_is_the_library_and_can_be_resumed(folder: Path, inside: Inside) -> None:
    whole = cp.solve(NAME, "mccfr", iterations=20_000, seed=1)
    assert np.array_equal(
        cp.Strategy.load(folder / "run").probabilities, whole.strategy.probabilities
    )
    facts = facts_of(inside(folder, "solve", "--resume", "run", "-n", "25000", "--json"))
    assert facts["iterations"] == 25_000
    assert facts["exploitability"] is None
    assert facts["values"] is None
    further = cp.solve(NAME, "mccfr", iterations=25_000, seed=1)
    assert np.array_equal(
        cp.Strategy.load(folder / "run").probabilities, further.strategy.probabilities
    )


def test_match_of_bots(tmp_path: Path, inside: Inside) -> None:
    done = inside(tmp_path, "match", "always-fold", "always-raise", "-n", "1000")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "always-fold against always-raise: -0.7500 sb/h, 95% interval -0.7500 to -0.7500" in text
    for words in (
        "always-fold as dealer",
        "-0.5",
        "always-fold as big blind",
        "-1",
        "standard error",
        "hands per second",
    ):
        assert words in text
    assert not any(tmp_path.iterdir())


def test_match_of_a_run_and_a_file(folder: Path, inside: Inside) -> None:
    facts = facts_of(inside(folder, "match", "run", "mine.npz", "-n", "2001", "--json"))
    assert (facts["mean"], facts["standard_error"], facts["hands"]) == (0.0, 0.0, 2002)
    assert (facts["a"], facts["b"], facts["unit"], facts["duplicate"]) == (
        "run",
        "mine.npz",
        "sb/h",
        True,
    )
    facts = facts_of(
        inside(
            folder,
            "match",
            "run",
            "always-call",
            "-n",
            "2001",
            "--seed",
            "4",
            "--no-duplicate",
            "--json",
        )
    )
    same = cp.play_match(
        NAME, cp.Strategy.load(folder / "run"), "always-call", 2001, 4, duplicate=False
    )
    assert (facts["mean"], facts["standard_error"], facts["hands"]) == (
        same.mean,
        same.standard_error,
        2001,
    )
    assert facts["interval"] == pytest.approx(same.interval)
    assert facts["by_seat"] == pytest.approx(same.by_seat)


def test_match_writes_what_an_observer_saw(folder: Path, inside: Inside) -> None:
    facts = facts_of(
        inside(
            folder,
            "match",
            "run",
            "probe",
            "-n",
            "200",
            "--log",
            "hands.parquet",
            "--observer",
            "b",
            "--json",
        )
    )
    hands = read_parquet(folder / "hands.parquet").hands
    assert len(hands) == 200
    assert {hand.observer for hand in hands} == {"probe"}
    assert sum(hand.won("run") for hand in hands) / 200 == pytest.approx(facts["mean"])
    assert all((hand.cards("run") is not None) == hand.showdown for hand in hands)


def test_match_of_another_game(tmp_path: Path, inside: Inside) -> None:
    facts = facts_of(
        inside(tmp_path, "match", "uniform", "uniform", "--game", "kuhn", "-n", "500", "--json")
    )
    assert (facts["game"], facts["mean"], facts["unit"]) == ("kuhn", 0.0, "per game")
    cp.solve("kuhn", "cfr+", iterations=200).strategy.save(tmp_path / "kuhn.npz")
    text = inside(tmp_path, "match", "kuhn.npz", "uniform", "-n", "20000").stdout
    assert "kuhn.npz against uniform: +" in text
    assert "kuhn.npz as player 1" in text


def nobody(folder: Path) -> tuple[str, ...]:
    """A learner who starts from uniform play and knows nobody, so that nothing is trained."""
    cp.Strategy.uniform(cp.load("holdem(buckets=3)")).save(folder / "safe.npz")
    return ("--equilibrium", "safe.npz", "--known", "nobody", "--game", "holdem(buckets=3)")


@pytest.mark.parametrize(
    "seed", [pytest.param("0", marks=pytest.mark.slow), "18446744073709551615"]
)
def test_the_ends_of_the_range_of_seeds(seed: str, inside: Inside, tmp_path: Path) -> None:
    facts = facts_of(
        inside(tmp_path, "match", "probe", "uniform", "-n", "100", "--seed", seed, "--json")
    )
    assert facts["seed"] == int(seed)
    arguments = (
        "match",
        "probe",
        "--learn",
        "-n",
        "1002",
        "--seed",
        seed,
        "--json",
    )
    facts = facts_of(inside(tmp_path, *arguments, *nobody(tmp_path)))
    assert [block["hands"] for block in facts["blocks"]] == [1000, 1002]


def test_a_learner_plays_any_game_with_a_tree(inside: Inside, tmp_path: Path) -> None:
    arguments = ("match", "uniform", "--learn", "--game", "kuhn", "-n", "1002")
    facts = facts_of(inside(tmp_path, *arguments, "--memory", "hands.npz", "--json"))
    assert [block["hands"] for block in facts["blocks"]] == [1000, 1002]
    assert (facts["unit"], facts["blocks"][-1]["playing"]) == ("per game", "uniform")
    known = ("--known", "nobody", "--budget", "2", "--memory", "hands.npz")
    text = inside(tmp_path, *arguments, *known).stdout
    assert "now plays: the learnt response" in text
    assert "against anybody" in text
    assert "memory written to hands.npz" in text
    from_uniform = inside(tmp_path, *arguments[:-1], "20", "--equilibrium", "uniform")
    assert "now plays" in from_uniform.stdout, from_uniform.stderr
    few = inside(tmp_path, *arguments[:-1], "2").stdout  # it learns after every hand
    assert "± unknown per game (95%)" in few
    assert "nan" not in few


def test_one_deal_leaves_the_interval_open(inside: Inside, tmp_path: Path) -> None:
    """In JSON, which knows no infinity, as null."""
    facts = facts_of(inside(tmp_path, "match", "probe", "uniform", "-n", "2", "--json"))
    assert (facts["hands"], facts["standard_error"], facts["interval"]) == (2, None, [None, None])
    text = inside(tmp_path, "match", "probe", "uniform", "-n", "2").stdout
    assert "too few deals for an interval" in text
    assert "nan" not in text
    assert "inf" not in text


def test_an_odd_number_of_hands(inside: Inside, tmp_path: Path) -> None:
    for arguments, played in (((), 1002), (("--no-duplicate",), 1001), (("--duplicate",), 1002)):
        facts = facts_of(
            inside(
                tmp_path, "match", "always-fold", "always-raise", "-n", "1001", *arguments, "--json"
            )
        )
        assert (facts["hands"], facts["mean"], facts["interval"]) == (played, -0.75, [-0.75, -0.75])


@pytest.mark.parametrize(
    "observer",
    [
        pytest.param((), marks=pytest.mark.slow),
        pytest.param(("--observer", "a"), marks=pytest.mark.slow),
        pytest.param(("--observer", "b"), marks=pytest.mark.slow),
    ],
)
def test_a_learner_writes_its_log(
    observer: tuple[str, ...], inside: Inside, tmp_path: Path
) -> None:
    arguments = (
        "match",
        "probe",
        "--learn",
        "-n",
        "1100",
        "--log",
        "new/hands.parquet",
        *observer,
    )
    done = inside(tmp_path, *arguments, *nobody(tmp_path), "--memory", "mind.parquet")
    assert done.returncode == 0, done.stderr
    assert "hands written to new/hands.parquet" in done.stdout
    assert "memory written to mind.parquet" in done.stdout
    assert "luck-adjusted" in done.stdout
    assert "now plays: " in done.stdout
    hands = read_parquet(tmp_path / "new" / "hands.parquet").hands
    assert len(hands) == 1100
    observed = {"a": "adaptive", "b": "probe"}
    assert {hand.observer for hand in hands} == {observed[observer[1]] if observer else None}


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as something was played."""

    def report(share: float, what: str) -> None:
        if "hands" in what:
            signal.raise_signal(signal.SIGINT)

    @contextmanager
    def share_progress(name: str) -> Iterator[Callable[[float, str], None]]:
        yield report

    for module in (cli_matches, cli_learning):
        monkeypatch.setattr(module, "share_progress", share_progress)


def test_stopping_prints_what_there_is(inside: Inside, stops: None, tmp_path: Path) -> None:
    arguments = ("match", "probe", "uniform", "-n", "1000000000")
    done = inside(tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (130, "")
    assert "95% interval +" in done.stdout
    assert "stopped" in done.stdout
    done = inside(tmp_path, *arguments, "--log", "hands.parquet", "--json")
    assert done.returncode == 130
    facts = json.loads(done.stdout)
    assert facts["stopped"] is True
    assert len(read_parquet(tmp_path / "hands.parquet").hands) == facts["hands"] < 10**7


def test_stopping_a_learner_prints_what_there_is(
    inside: Inside, stops: None, tmp_path: Path
) -> None:
    arguments = (
        "match",
        "probe",
        "--learn",
        "-n",
        "5000",
        "--log",
        "hands.log",
        *nobody(tmp_path),
    )
    done = inside(tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (130, "")
    assert "1,000 hands" in done.stdout
    assert "stopped" in done.stdout
    done = inside(tmp_path, *arguments, "--json")
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["stopped"], facts["blocks"][-1]["hands"]) == (130, True, 1000)


def test_stopping_before_anything_was_played_says_so(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stop(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterplay.poker.players.game_between", stop)
    done = inside(tmp_path, "match", "probe", "uniform")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "stopped before a hand was played; there is no result"


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_stopping_a_process_of_its_own(number: int, tmp_path: Path) -> None:
    """Whenever the signal comes, there is one sentence or a result, and never a traceback."""
    process = subprocess.Popen(
        [COMMAND, "match", "probe", "uniform", "-n", "1000000000", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    status = Path(f"/proc/{process.pid}/status")
    caught = 0
    while not caught & 1 << (number - 1) or not caught & 1 << (
        signal.SIGTERM - 1
    ):  # until it listens for both
        time.sleep(0.05)
        caught = int(
            next(
                line for line in status.read_text().splitlines() if line.startswith("SigCgt")
            ).split()[1],
            16,
        )
    time.sleep(0.5)
    os.killpg(process.pid, number)
    out, error = process.communicate(timeout=300)
    assert process.returncode == 130
    if not out:  # it came while kernels were loaded
        assert error == "stopped before a hand was played; there is no result\n"
        return
    # where no test before it has compiled the kernels, it says that it does
    assert [line for line in error.splitlines() if not line.startswith("compiling")] == []
    facts = json.loads(out)
    assert facts["stopped"] is True
    assert facts["interval"][0] < facts["mean"] < facts["interval"][1]


def test_show_prints_the_grid_and_saves_the_picture(inside: Inside, folder: Path) -> None:
    text = inside(folder, "show", "run").stdout
    for words in ("AA ", "AKs ", "72o ", "r raise, c call, f fold", "Picture: run/run-preflop.png"):
        assert words in text
    assert (folder / "run" / "run-preflop.png").read_bytes()[:8] == PNG
    text = inside(folder, "show", "mine.npz", "--betting", "r", "--out", "pictures/grid.png").stdout
    assert "Picture: pictures/grid.png" in text
    assert (folder / "pictures" / "grid.png").read_bytes()[:8] == PNG


def test_show_of_a_small_game_is_its_table(inside: Inside, tmp_path: Path) -> None:
    text = inside(tmp_path, "show", "uniform", "--game", "kuhn").stdout
    assert "player 2  Q b" in text
    assert not any(tmp_path.iterdir())


def test_prepare_says_where_and_how_large(tmp_path: Path, inside: Inside) -> None:
    facts = facts_of(inside(tmp_path, "holdem", "prepare", "--tables", "--json"))
    assert facts["tables"] in ("were ready", "built")
    assert 400 < facts["megabytes_on_disk"] < 500
    assert Path(facts["folder"]).is_dir()


def test_respond_in_holdem(tmp_path: Path, inside: Inside) -> None:
    arguments = (
        "respond",
        "always-raise",
        "--game",
        NAME,
        "-a",
        "mcdbr",
        "-n",
        "5000",
        "--out",
        "answer",
    )
    text = inside(tmp_path, *arguments).stdout
    assert "5,000" in text
    assert "mcdbr" in text
    assert "nan" not in text.lower()
    assert cp.Strategy.load(tmp_path / "answer").game.name == NAME
    facts = facts_of(inside(tmp_path, "respond", "--resume", "answer", "-n", "6000", "--json"))
    assert facts["iterations"] == 6000
    assert (
        facts_of(inside(tmp_path, "match", "answer", "always-raise", "-n", "100", "--json"))[
            "hands"
        ]
        == 100
    )


def test_games_describes_holdem(tmp_path: Path, inside: Inside) -> None:
    facts = facts_of(inside(tmp_path, "games", NAME, "--json"))
    assert (facts["information_sets"], facts["action_slots"], facts["longest_history"]) == (
        63_780,
        165_830,
        23,
    )
    assert facts["perfect_recall"] is False
