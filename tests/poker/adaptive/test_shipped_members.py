"""Members that come with the package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from support.arena import holdem, strategy

import counterplay as cp
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.adaptive.field import STRENGTHS, TYPES, type_name
from counterplay.poker.adaptive.portfolio import BOT_MODELS, GAME, MOST_MEMBERS
from counterplay.poker.adaptive.portfolio_members import Portfolio, PortfolioPlayer
from counterplay.poker.adaptive.shipped_members import (
    EQUILIBRIUM,
    FOLDER,
    entry_name,
    shipped_members,
)
from counterplay.poker.bots.shipped import (
    MOST_BYTES,
    digest,
    quantised,
    read_quantised,
    write_quantised,
)
from tools import train_members

KNOWN = (*BOT_MODELS, *(type_name(name, share) for name in TYPES for share in STRENGTHS))
NAMES = ("maniac 85%", "probe", "nit 50%")


def prior() -> Portfolio:
    players = tuple(PortfolioPlayer(name, strategy(k)) for k, name in enumerate(NAMES, 1))
    return Portfolio(holdem(), quantised(strategy(9), 255), (), players)


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """What training and measuring leave for two of the players."""
    rows = [",".join(train_members.HEADER)]
    for k, name in ((9, EQUILIBRIUM), *enumerate(NAMES[:2], 11)):
        p = 0.75 * (name != EQUILIBRIUM)
        facts = {"player": name, "p": p, "seed": 1, "iterations": 7, "command": "python"}
        path = train_members.path_of(tmp_path, name, p)
        kept = write_quantised(path, strategy(k), facts | {"algorithm": "rnr"})
        rows.append(f"{name},{p:g},{digest(kept)},48,250.50,20.10")
    (tmp_path / train_members.MEASURED).write_text("\n".join(rows) + "\n")
    return tmp_path


def test_members_that_are_shipped_are_those_of_the_portfolio(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with its player and its risk; an older member goes."""
    to = tmp_path / "members"
    to.mkdir()
    (to / "old.npz").write_bytes(b"")
    assert train_members.ship(prior(), trained, 0.75, "2026-11-19", to) == [
        "equilibrium", "maniac-85", "probe",
    ]  # fmt: skip
    assert sorted(path.name for path in to.iterdir()) == [
        "equilibrium.npz", "index.json", "maniac-85.npz", "probe.npz",
    ]  # fmt: skip
    module = sys.modules["counterplay.poker.adaptive.portfolio"]
    monkeypatch.setattr(module, "shipped_members", lambda game: shipped_members(game, to))
    read = module.read_member
    monkeypatch.setattr(module, "read_member", lambda entry, game: read(entry, game, to))
    found = module._shipped(holdem(), list(prior().players))
    assert [one.name for one in found] == list(NAMES[:2])
    assert found[0].risk == "250 ± 20 mb/g (95%), from 48 flops"
    for k, (member, player) in enumerate(zip(found, prior().players, strict=False), 11):
        assert member.model is player.model
        assert np.array_equal(
            member.strategy.probabilities, quantised(strategy(k), 255).probabilities
        )
    assert module._shipped(holdem(3), list(prior().players)) == []
    (to / "probe.npz").write_bytes((to / "maniac-85.npz").read_bytes())
    with pytest.raises(BadFile, match="damaged"):
        read(shipped_members(holdem(), to)["probe"], cp.load(GAME), to)


def test_the_risk_of_what_is_kept_is_measured_once(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    (trained / train_members.MEASURED).unlink()

    def risks(strategies: list[cp.Strategy], *_: object) -> list[tuple[float, float]]:
        asked.append(len(strategies))
        return [(250.0, 20.0)] * len(strategies)

    monkeypatch.setattr(train_members, "risks_of", risks)
    for _ in range(2):
        train_members.measure(prior(), trained, 48, "cpu")
        assert asked == [3]  # the equilibrium and two members
    rows = train_members.read_rows(trained).values()
    assert [row[0] for row in rows] == ["equilibrium", "maniac 85%", "probe"]
    assert train_members.ship(prior(), trained, 0.75, "2026-11-19", trained / "members")


def test_a_member_without_a_risk_is_not_shipped(trained: Path, tmp_path: Path) -> None:
    (trained / train_members.MEASURED).unlink()
    with pytest.raises(BadParameter, match=r"equilibrium-p0.npz was not measured"):
        train_members.ship(prior(), trained, 0.75, "2026-11-19", tmp_path / "members")


def test_what_is_trained_is_not_trained_again(trained: Path) -> None:
    assert train_members.train(prior(), NAMES[:2], [0.75], 1.0, trained, {}) == []
    with pytest.raises(BadParameter, match="no 'nobody'"):
        train_members.train(prior(), ["nobody"], [0.75], 1.0, trained, {})


def test_the_package_has_members_of_the_default_portfolio() -> None:
    entries = shipped_members(cp.load(GAME))
    assert len(entries) <= 1 + MOST_MEMBERS
    assert set(entries) <= {EQUILIBRIUM, *(entry_name(name) for name in KNOWN)}
    assert len({entry_name(name) for name in KNOWN}) == len(KNOWN)
    for entry in entries.values():
        path = FOLDER / f"{entry.name}.npz"
        assert path.stat().st_size < MOST_BYTES / 20
        assert read_quantised(path).game.name == entry.game
        assert entry.mb_per_game > 0
