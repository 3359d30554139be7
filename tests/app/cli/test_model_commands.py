"""The commands `model` and `respond --confidence`, typed as a user would; responses to a model
in hold'em."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Inside, facts_of
from support.hands import random_hands
from support.holdem import NAME as GAME
from support.models import NAME, timid_shares, weak_hands, weak_strategy

import counterplay as cp
from counterplay.core.forms import registry
from counterplay.core.games.locks import read_locks
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.models.model import OpponentModel, learn_model, load_model, save_model
from counterplay.poker.models.observe import observe


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return cp.load(GAME)


@pytest.fixture(scope="module")
def small(game: cp.Game) -> OpponentModel:
    return learn_model(observe(weak_hands(500, 6, "a"), NAME), game, NAME, "frequency")


@pytest.fixture(autouse=True)
def _loaded_once(game: cp.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game's tables take two seconds; commands inside this process share them."""
    load = registry.load

    def again(name: Any) -> cp.Game:
        return game if name == GAME else load(name)

    monkeypatch.setattr(registry, "load", again)


def test_stopped_while_it_is_judged(
    tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is there, and that is said."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterplay.app.cli.models._estimate", stop)
    write_parquet(tmp_path / "h.parquet", weak_hands(500, 6, "a")[:60])
    words = ("model", "h.parquet", "--player", NAME, "--kind", "frequency", "--out", "m.json")
    done = inside(tmp_path, *words)
    assert done.returncode == 130
    assert "the model is saved in m.json" in done.stderr
    assert load_model(tmp_path / "m.json").player == NAME


@pytest.mark.usefixtures("estimated")
def test_the_model_command(tmp_path: Path, inside: Inside) -> None:
    """From a match to a model to a response, as a user types it."""
    match = (
        "match",
        "probe",
        "always-call",
        "-n",
        "2000",
        "--log",
        "h.parquet",
        "--observer",
        "a",
        "--json",
    )
    assert facts_of(inside(tmp_path, *match))["hands"] == 2000
    learn = ("model", "h.parquet", "--player", "always-call", "--locks", "calls.toml", "--json")
    facts = facts_of(inside(tmp_path, *learn))
    assert {lock.play["call"] for lock in read_locks(tmp_path / "calls.toml")} == {1.0}
    assert (facts["player"], facts["hands"], facts["skipped"]) == ("always-call", 2000, 0)
    assert facts["cards_seen"] == 1.0
    assert facts["accuracy"] == 1.0
    assert facts["log_loss"] < 0.01
    # whose cards do not matter: nothing to add to plain frequencies, and much to win
    assert (facts["verdict"], facts["advice"]) == ("same", "respond")
    assert facts["a_response_would_win"] > 0.2
    assert facts["saved_in"] == "always-call-tree.json"
    model = load_model(tmp_path / "always-call-tree.json")
    assert model.strategy.at("start bucket 5")["call"] > 0.99
    text = inside(
        tmp_path, "model", "h.parquet", "--player", "always-call", "--text", "--out", "sub/t.json"
    )
    assert text.returncode == 0
    for words in ("preflop", "river", ": call (", "Number of leaves: 1", "log loss", "sub/t.json"):
        assert words in text.stdout
    counted = facts_of(
        inside(tmp_path, "model", "h.parquet", "--player", "probe", "--kind", "frequency", "--json")
    )
    assert counted["saved_in"] == "probe-frequency.json"
    assert counted["log_loss"] == pytest.approx(np.log(2), abs=0.1)
    assert load_model(tmp_path / "probe-frequency.json").kind == "frequency"

    respond = (
        "respond",
        "always-call-tree.json",
        "-a",
        "mcdbr",
        "--confidence",
        "0-10-linear",
        "-n",
        "2000",
    )
    facts = facts_of(inside(tmp_path, *respond, "--game", GAME, "--out", "answer", "--json"))
    assert (facts["iterations"], facts["p"]) == (2000, "by observations")
    lib = cp.respond(
        GAME,
        model.strategy,
        None,
        cp.confidence(model.observed, "0-10-linear", 0.75),
        "mcdbr",
        iterations=2000,
    )
    assert np.array_equal(
        cp.Strategy.load(tmp_path / "answer").probabilities, lib.strategy.probabilities
    )
    assert (
        facts_of(inside(tmp_path, "respond", "--resume", "answer", "-n", "3000", "--json"))[
            "saved_in"
        ]
        == "answer"
    )
    assert (
        facts_of(
            inside(tmp_path, "match", "answer", "always-call-tree.json", "-n", "100", "--json")
        )["hands"]
        == 100
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["model", "h.parquet", "--player", "bob"],
            "no decision of 'bob' in these hands; probe, weak played",
        ),
        (["model", "nothing.parquet", "--player", NAME], "nothing.parquet: no such file"),
        (["model", "noise.parquet", "--player", NAME], "noise.parquet: not a Parquet file"),
        (
            ["model", "four.parquet", "--player", NAME],
            "'weak' decides in 4 of these hands, too few",
        ),
        (
            ["model", "one.parquet", "--player", "probe"],
            "'probe' decides in 1 of these hands, too few",
        ),
        (["model", "none.parquet", "--player", NAME], "none.parquet: no hand to learn from"),
        (["model", "empty.log", "--player", NAME], "empty.log: no hand to learn from"),
        (["model", "empty.phhs", "--player", NAME], "empty.phhs: no hand to learn from"),
        (["model", "empty", "--player", NAME], "empty: no hand history that Counterplay knows"),
        (["model", "folder", "--player", NAME], "folder: no .phh, .phhs, .log or .parquet file"),
        (["model", "twins.log", "--player", "Ann"], "twins.log:1: the dealer won 0.5 small bets"),
        (
            ["model", "folds.parquet", "--player", "big"],
            "the player was dealt 20 of them and never had to act",
        ),
        (["model", "folds.parquet", "--player", ""], "no decision of ''"),
        (["model", "folds.parquet", "--player", "dealer", "--out", "folder"], "folder is a folder"),
        (
            ["model", "folds.parquet", "--player", "dealer", "--out", "folds.parquet"],
            "holds the hands",
        ),
        (["model", "folds.parquet", "--player", "dealer", "--out", "n" * 300], "cannot write"),
        (
            ["model", "folds.parquet", "--player", "dealer", "--game", "holdem(buckets=0)"],
            "buckets",
        ),
        (
            ["model", "folds.parquet", "--player", "dealer", "--kind", "frequency", "--no-laplace"],
            "has none",
        ),
        (
            ["model", "h.parquet", "--player", NAME, "--kind", "forest"],
            "tree, frequency, not 'forest'",
        ),
        (
            ["model", "h.parquet", "--player", NAME, "--unseen", "x"],
            "inferred, fractional, not 'x'",
        ),
        (["model", "h.parquet", "--player", NAME, "--on-error", "x"], "'refuse' or 'skip'"),
        (["model", "h.parquet", "--player", NAME, "--game", "kuhn"], "not for kuhn"),
        (["model", "h.parquet", "--player", NAME, "--out", "h.parquet/m.json"], "cannot write"),
        (["respond", "m.json", "-a", "mcdbr", "-n", "10", "--confidence", "often"], "0-10-linear"),
        (["respond", "m.json", "-a", "mcrnr", "-n", "10", "--confidence", "1-step"], "mcdbr"),
        (
            ["respond", "m.json", "-a", "mcdbr", "-n", "10", "--game", "holdem(buckets=9)"],
            "not for holdem(buckets=9)",
        ),
        (["respond", "noise.json", "-a", "mcdbr", "-n", "10"], "noise.json: not valid JSON"),
        (
            [
                "respond",
                "always-call",
                "--game",
                GAME,
                "-a",
                "mcdbr",
                "-n",
                "10",
                "--confidence",
                "1-step",
            ],
            "counterplay model",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_get_one_sentence(
    arguments: list[str],
    words: str,
    inside: Inside,
    small: OpponentModel,
    tmp_path: Path,
) -> None:
    write_parquet(tmp_path / "h.parquet", weak_hands(500, 6, "a")[:50])
    write_parquet(tmp_path / "four.parquet", weak_hands(500, 6, "a")[:4])
    write_parquet(tmp_path / "one.parquet", weak_hands(500, 6, "a")[:1])
    write_parquet(tmp_path / "none.parquet", [])
    write_parquet(tmp_path / "folds.parquet", folds("dealer"))
    for name in ("empty", "empty.log", "empty.phhs"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "twins.log").write_text("STATE:0:f:KhTc|Qd9d:-5|5:Ann|Ann\n")
    save_model(small, tmp_path / "m.json")
    for name in ("noise.parquet", "noise.json"):
        (tmp_path / name).write_bytes(np.random.default_rng(1).bytes(200))
    before = contents(tmp_path)
    done = inside(tmp_path, *arguments)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() if path.is_file() else b"" for path in folder.iterdir()}


def folds(dealer: str) -> list[HandRecord]:
    """Twenty hands that the dealer gives up at once."""
    return [HandRecord(k, dealer, "big", "f", (), (0, 1), None, -0.5) for k in range(20)]


@pytest.mark.parametrize("kind", ["tree", "frequency"])
@pytest.mark.parametrize("unseen", ["inferred", "fractional"])
def test_one_who_only_folds(kind: str, unseen: str, tmp_path: Path, inside: Inside) -> None:
    write_parquet(tmp_path / "h.parquet", folds("dealer"))
    options = ("--kind", kind, "--unseen", unseen, "--json")
    facts = facts_of(inside(tmp_path, "model", "h.parquet", "--player", "dealer", *options))
    assert (facts["hands"], facts["decisions"], facts["accuracy"]) == (20, 20, 1.0)
    model = load_model(tmp_path / facts["saved_in"])
    assert model.strategy.at("start bucket 5")["fold"] > 0.8  # a pair of twos
    assert model.strategy.at("start bucket 9")["fold" if kind == "tree" else "call"] > 0.8


@pytest.mark.parametrize(
    "name",
    ["n" * 300, "é" * 200, "\N{GRINNING FACE}" * 100, ".", "-x", "a b\\c:d"],
    ids=lambda name: ascii(name[:5]),
)
def test_any_name_gives_the_name_of_a_file(name: str, tmp_path: Path, inside: Inside) -> None:
    """A file system takes 255 bytes."""
    write_parquet(tmp_path / "h.parquet", folds(name))
    done = inside(
        tmp_path, "model", "h.parquet", f"--player={name}", "--kind", "frequency", "--json"
    )
    saved = facts_of(done)["saved_in"]
    assert {path.name for path in tmp_path.iterdir()} == {"h.parquet", saved}
    assert load_model(tmp_path / saved).player == name


def test_skipping_all_hands_leaves_none(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "h.log").write_text(2 * "STATE:0:f:KhTc|Qd9d:-5|5:Ann|Ann\n")
    done = inside(tmp_path, "model", "h.log", "--player", "Ann", "--on-error", "skip")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == "error: h.log: no hand to learn from, 2 skipped"


def test_hands_of_which_only_the_fifth_has_a_decision(tmp_path: Path, inside: Inside) -> None:
    hands = [HandRecord(k, "a", "b", "f", (), (0, 1), None, -0.5) for k in range(4)]
    write_parquet(
        tmp_path / "h.parquet", [*hands, HandRecord(4, "a", "b", "rf", (), (0, 1), None, 1.0)]
    )
    done = inside(tmp_path, "model", "h.parquet", "--player", "b")
    assert done.returncode == 2
    assert "too few" in done.stderr


def test_text_and_json_together(tmp_path: Path, inside: Inside) -> None:
    write_parquet(tmp_path / "h.parquet", weak_hands(500, 6, "a")[:50])
    facts_of(inside(tmp_path, "model", "h.parquet", "--player", NAME, "--json", "--text"))


@pytest.mark.parametrize(
    "extra",
    [["--max-exploitability", "0.1"], ["--resume", "x"]],
    ids=["max-exploitability", "resume"],
)
def test_confidence_is_not_ignored(extra: list[str], tmp_path: Path, inside: Inside) -> None:
    facts_of(
        inside(
            tmp_path,
            "respond",
            "uniform",
            "--game",
            "kuhn",
            "-a",
            "dbr",
            "--p",
            "0.5",
            "-n",
            "5",
            "--out",
            "x",
            "--json",
        )
    )
    model = [] if extra[0] == "--resume" else ["uniform", "--game", "kuhn", "-a", "dbr"]
    done = inside(tmp_path, "respond", *model, "-n", "10", "--confidence", "1-step", *extra)
    assert done.returncode == 2


def test_a_response_beats_the_model(game: cp.Game) -> None:
    """mcdbr with p = 0.75, the paper's MCRNR in poker, against one who gives up all but good
    hands."""
    timid = weak_strategy(game, timid_shares)
    answer = cp.respond(game, timid, None, 0.75, "mcdbr", iterations=20_000, seed=1)
    against = cp.play_match(game, answer.strategy, timid, 20_000, 1)
    assert against.interval[0] > 0.3
    careless = cp.solve(game, "mccfr", iterations=20_000, seed=1)
    assert against.mean > cp.play_match(game, careless.strategy, timid, 20_000, 1).mean


def test_without_confidence_the_model_does_not_matter(game: cp.Game) -> None:
    """Pconf = 0 everywhere is the unrestricted game: whoever the model is, the same bits; and p
    = 0 says the same."""
    models = cp.Strategy.uniform(game), weak_strategy(game)
    nothing = cp.confidence(np.zeros(game.n_infosets))
    runs = [
        cp.respond(game, model, 0, nothing, "mcdbr", iterations=5_000, seed=2) for model in models
    ]
    runs.append(cp.respond(game, models[1], 0, 0.0, "mcdbr", iterations=5_000, seed=2))
    own = [run.strategy.probabilities[game.slots(0)] for run in runs]
    assert np.array_equal(own[0], own[1])
    assert np.array_equal(own[0], own[2])
    trusting = cp.respond(game, models[1], 0, 0.75, "mcdbr", iterations=5_000, seed=2)
    assert not np.array_equal(own[0], trusting.strategy.probabilities[game.slots(0)])


def test_a_name_is_not_a_path(tmp_path: Path, inside: Inside) -> None:
    name, folder = "../up/x", tmp_path / "here"
    folder.mkdir()
    hands = [replace(hand, dealer=name, big_blind="other") for hand in random_hands(1, 20)]
    write_parquet(folder / "h.parquet", hands)
    facts_of(inside(folder, "model", "h.parquet", "--player", name, "--json"))
    assert not (tmp_path / "up").exists()
