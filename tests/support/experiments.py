"""Every experiment at toy size: a hold'em with three buckets, simple stand-ins for bots and
models, no pictures drawn."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.app.reproduction import (
    bots,
    buckets,
    by_size,
    fig4_holdem,
    fig4_kuhn,
    fig6,
    fig7,
    fig8,
    holdem_runs,
    holdem_time,
    players,
    size_run,
    table1,
)
from counterplay.app.reproduction.harness.reproduce import experiments
from counterplay.core.base import files
from counterplay.poker.adaptive import response
from counterplay.poker.bots.simple import simple_bot
from counterplay.poker.bots.table import TableBot
from counterplay.poker.players import bot as real_bot
from support.tables import small_games

NAMES = tuple(experiments())
STAND_INS = {"poki": "uniform", "sparbot": "always-call"}
CLOCKED = ("seconds", "build_seconds", "peak_gb", "walk_seconds_per_node")  # no two runs share them


@cache
def stand_in(name: str, progress: Any = None) -> Any:
    """A simple bot under the name of a real one."""
    return (
        TableBot(name, simple_bot(STAND_INS[name]).table) if name in STAND_INS else real_bot(name)
    )


@cache
def toy_game(name: str) -> cp.Game:
    return cp.load("holdem(buckets=3)" if name.startswith("holdem") else name)


def toy_model(seen: Any, game: cp.Game, player: str, kind: str = "tree", **options: Any) -> Any:
    """A strategy that depends on all that a model depends on, without the work."""
    seed = len(seen.node) + 1_000 * len(kind) + 100_000 * len(str(options))
    observed = np.random.default_rng(seed).integers(0, 20, game.n_infosets).astype(float)
    return SimpleNamespace(strategy=cp.Strategy.random(game, seed), observed=observed)


def make_small(patch: pytest.MonkeyPatch) -> None:
    """Toy sizes everywhere."""
    small_games(patch)
    for module in (players, bots, buckets):
        patch.setattr(module, "bot", stand_in)
    for module in (players, bots, buckets, fig4_holdem, holdem_runs, holdem_time):
        patch.setattr(module, "load", toy_game)
    for module in (players, response):
        patch.setattr(module, "learn_model", toy_model)
    for some in (bots.FEW, bots.MANY):
        patch.setitem(some, "quick", 60)
    patch.setitem(
        fig4_holdem.SCALES,
        "quick",
        fig4_holdem.Fig4HoldemScale(2_000, 1_000, 100, 1_000, 2, 3, 1, 60, 200),
    )
    patch.setattr(fig4_holdem, "SWEEP", (2.0, 17.0))
    patch.setattr(fig4_holdem, "FIRST", 500)
    patch.setitem(holdem_time.SCALES, "quick", holdem_time.HoldemTimeScale(2, 50, 2))
    public = ("public", holdem_time.EXTERNAL)  # the walk takes long to compile
    patch.setitem(holdem_time.VARIANTS, *public)
    patch.setattr(holdem_time, "vanilla_seconds", lambda game: 1.0)
    patch.setattr(holdem_time, "histories", lambda game: 1)
    patch.setitem(fig4_kuhn.SCALES, "quick", (20_000, 2))
    patch.setattr(fig4_kuhn, "SWEEP", (1.0, 2.0))
    patch.setattr(buckets, "BUCKETS", (10, 100, 200))
    size = buckets.BucketsScale("mccfr-external", (120, 80, 60), 2, 60, 1.0)
    patch.setitem(buckets.SCALES, "quick", size)
    families = {"Goof(N)": ["goofspiel(3)"], "PAM(2,2,H)": ["pam(2,2,4)"]}
    patch.setitem(by_size.SCALES, "quick", by_size.BySizeScale(families, 1e9))
    patch.setattr(
        size_run, "measure_in_process", lambda tasks, progress: [size_run.measure(t) for t in tasks]
    )
    patch.setattr(size_run, "HANDS", 200)
    patch.setattr(by_size, "picture", _no_picture)
    patch.setattr(table1, "picture", _no_picture)
    for module in (buckets, fig4_holdem, fig4_kuhn, holdem_time, fig6, fig7, fig8):
        patch.setattr(module, "_picture", _no_picture)


def _no_picture(*arguments: Any, **named: Any) -> None:
    path = next(one for one in (*named.values(), *arguments) if isinstance(one, Path))
    files.write_bytes(path, b"a picture, drawn without the wait")


def numbers(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of an experiment's CSV without the columns of seconds and memory."""
    rows = csv.DictReader((folder / f"{name}.csv").read_text().splitlines())
    return [{key: value for key, value in row.items() if key not in CLOCKED} for row in rows]
