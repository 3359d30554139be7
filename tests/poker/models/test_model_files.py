"""Model files: there and back, and every kind of damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.holdem import NAME as GAME
from support.models import NAME, weak_hands

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.poker.models.model import (
    KINDS,
    OpponentModel,
    learn_model,
    load_model,
    save_model,
)
from counterplay.poker.models.observe import observe

Content = dict[str, Any]


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return cp.load(GAME)


@pytest.fixture(scope="module")
def saved(game: cp.Game, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small model of each kind in a file."""
    folder = tmp_path_factory.mktemp("models")
    observed = observe(weak_hands(500, 6, "a"), NAME)
    for kind in KINDS:
        save_model(learn_model(observed, game, NAME, kind), folder / f"{kind}.json")
    return {kind: folder / f"{kind}.json" for kind in KINDS}


@cache
def learnt(kind: str) -> OpponentModel:
    """What 2,000 hands say, of which many end unseen."""
    observed = observe(weak_hands(2_000, 3, "a"), NAME)
    return learn_model(observed, cp.load(GAME), NAME, kind, unseen="inferred")


def there_and_back(kind: str, game: cp.Game, path: Path) -> float:
    """The largest difference between the strategies before and after."""
    model = learnt(kind)
    save_model(model, path)
    back = load_model(path, game)
    assert (back.kind, back.player, back.hands, back.decisions) == (
        kind,
        NAME,
        model.hands,
        model.decisions,
    )
    assert back.text() == model.text()
    assert np.abs(back.counts - model.counts).max() <= 5e-7
    return float(np.abs(back.strategy.probabilities - model.strategy.probabilities).max())


def test_a_tree_comes_back_exactly(game: cp.Game, tmp_path: Path) -> None:
    assert there_and_back("tree", game, tmp_path / "m.json") == 0.0


def test_frequencies_come_back(game: cp.Game, tmp_path: Path) -> None:
    assert there_and_back("frequency", game, tmp_path / "m.json") < 1e-6


def test_the_game_is_found_by_its_name(saved: dict[str, Path], game: cp.Game) -> None:
    result = load_model(saved["tree"])
    assert result.game.name == GAME
    assert np.array_equal(
        result.strategy.probabilities, load_model(saved["tree"], game).strategy.probabilities
    )


def test_well_observed_frequencies_come_back(game: cp.Game, tmp_path: Path) -> None:
    there_and_back("frequency", game, tmp_path / "m.json")
    model, back = learnt("frequency"), load_model(tmp_path / "m.json", game)
    often = np.repeat(model.observed >= 1.0, np.diff(game.form.first))
    assert often.sum() > 1_000
    assert np.abs(model.strategy.probabilities - back.strategy.probabilities)[often].max() < 1e-5


def refusal(path: Path, game: cp.Game | None) -> str | None:
    """The message of `BadFile`, None if the file was read. Any other error is a failure."""
    try:
        strategy = load_model(path, game).strategy
    except BadFile as error:
        return (
            str(error)
            if str(error).startswith(f"{path}: ")
            else pytest.fail(f"does not name the file: {error}")
        )
    assert np.allclose(np.add.reduceat(strategy.probabilities, strategy.game.form.first[:-1]), 1.0)
    return None


def test_other_bytes_are_refused(game: cp.Game, saved: dict[str, Path], tmp_path: Path) -> None:
    path, rng = tmp_path / "m.json", np.random.default_rng(1)
    assert "no such file" in str(refusal(path, game))
    assert "is a folder" in str(refusal(tmp_path, game))
    whole = saved["tree"].read_bytes()
    for data in (
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"model"',
        b"\xff\xfe\x00",
        rng.bytes(300),
        b'{"counterplay": "c45"}',
    ):
        path.write_bytes(data)
        assert refusal(path, game) is not None
    for end in rng.integers(1, len(whole) - 2, 40):
        path.write_bytes(whole[:end])
        assert "not valid JSON" in str(refusal(path, game))


def test_deep_json_is_refused(game: cp.Game, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"counterplay": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert refusal(path, game) is not None


CHANGES: list[tuple[Callable[[Content], Any], str]] = [
    (lambda c: c.update(counterplay="strategy"), "not a model"),
    (lambda c: c.update(format=2), "format 2"),
    (lambda c: c.update(format="1"), "format '1'"),
    (lambda c: c.update(kind="forest"), "forest"),
    (lambda c: c.update(kind=["tree"]), "tree"),
    (lambda c: c.update(kind="frequency"), "4 trees"),
    (lambda c: c.update(fingerprint="x"), "a model for"),
    (lambda c: c.update(hands="many"), "damaged"),
    (lambda c: c.update(hands=None), "damaged"),
    (lambda c: c.update(decisions=float("inf")), "damaged"),
    (lambda c: c.update(counts=7), "damaged"),
    (lambda c: c.update(counts=[3]), "damaged"),
    (lambda c: c.update(counts=[[0, -1.0]]), "count -1.0 at slot 0"),
    (lambda c: c.update(counts=[[0, float("nan")]]), "count nan"),
    (lambda c: c.update(counts=[[0, 10**400]]), "damaged"),
    (lambda c: c.update(counts=[[-1, 1.0]]), "slot -1"),
    (lambda c: c.update(counts=[[165_830, 1.0]]), "slot 165830"),
    (lambda c: c.update(counts=[[0.0, 1.0]]), "slot 0.0"),
    (lambda c: c.update(counts=[[True, 1.0]]), "slot True"),
    (lambda c: c.update(trees=c["trees"][:3]), "3 trees"),
    (lambda c: c.update(trees=None), "damaged"),
    (lambda c: c.update(trees=[1, 2, 3, 4]), "not a decision tree"),
    (lambda c: c["trees"][0].update(nodes=[]), "no nodes"),
    (lambda c: c["trees"][0]["attributes"].pop(), "damaged"),
    (lambda c: c["trees"][3]["classes"].append("pass"), "damaged"),
    (lambda c: c["trees"][0]["nodes"][0].update(counts=[1, 2, float("nan")]), "counts of node 0"),
]


@pytest.mark.parametrize(
    ("change", "words"), CHANGES, ids=[f"{k}-{words}" for k, (_, words) in enumerate(CHANGES)]
)
def test_changed_fields_are_refused(
    change: Callable[[Content], Any],
    words: str,
    game: cp.Game,
    saved: dict[str, Path],
    tmp_path: Path,
) -> None:
    content, path = json.loads(saved["tree"].read_text()), tmp_path / "m.json"
    change(content)
    files.write_json(path, content)
    assert words in str(refusal(path, game))


def test_missing_fields_and_wrong_games_are_refused(
    game: cp.Game, saved: dict[str, Path], tmp_path: Path
) -> None:
    content, path = json.loads(saved["tree"].read_text()), tmp_path / "m.json"
    for field in content.keys() - {"game", files.CHECKSUM}:
        files.write_json(path, {name: value for name, value in content.items() if name != field})
        assert refusal(path, game) is not None
    for name in (
        None,
        7,
        [1],
        "",
        "(((",
        "holdm",
        "kuhn",
        "holdem(buckets=9)",
        "holdem(buckets=99999)",
    ):
        files.write_json(path, content | {"game": name})
        assert refusal(path, None) is not None
    assert "not for kuhn" in str(refusal(saved["tree"], cp.load("kuhn")))
    assert "not for holdem(buckets=9)" in str(refusal(saved["tree"], cp.load("holdem(buckets=9)")))


def reverse(name: str) -> Callable[[Content], Any]:
    return lambda content: [tree[name].reverse() for tree in content["trees"]]


@pytest.mark.parametrize(
    "change",
    [
        reverse("classes"),
        reverse("attributes"),
        lambda c: c.update(hands=-3),
        lambda c: c.update(player=[1]),
        lambda c: c.update(counts=[[0, 1.0], [0, 5.0]]),
        lambda c: c.update(counts={}),
        lambda c: c.update(counts=[[0, "3"]]),
    ],
    ids=["classes", "attributes", "hands", "player", "slot twice", "no list", "text"],
)
def test_changes_that_mean_something_else(
    change: Callable[[Content], Any], game: cp.Game, saved: dict[str, Path], tmp_path: Path
) -> None:
    content, path = json.loads(saved["tree"].read_text()), tmp_path / "m.json"
    change(content)
    files.write_json(path, content)
    assert refusal(path, game) is not None


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a JSON value, of long lists only the ends."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )
    keys = keys if len(keys) < 8 else keys[:4] + keys[-4:]
    return [pair for key in keys for pair in [(value, key), *places(value[key])]]


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_json_is_read_or_refused(
    kind: str, game: cp.Game, saved: dict[str, Path], tmp_path: Path
) -> None:
    rng, path = np.random.default_rng(7), tmp_path / "m.json"
    odd = [
        None,
        True,
        -1,
        0,
        3,
        1e300,
        float("nan"),
        float("inf"),
        10**30,
        10**400,
        "",
        "x",
        [],
        [0],
        [[]],
        {},
        {"a": [1]},
    ]
    text, refused = saved[kind].read_text(), 0
    for _ in range(120):
        content = json.loads(text)
        result = places(content)
        container, key = result[rng.integers(len(result))]
        if rng.random() < 0.25:
            del container[key]
        else:
            container[key] = odd[rng.integers(len(odd))]
        files.write_json(path, content)
        refused += refusal(path, game if rng.random() < 0.97 else None) is not None
    assert refused > 60
