"""The explorer shows what a strategy does, in hold'em every holding as the bot plays it."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.web import ask

import counterplay as cp
from counterplay.app.web.app import make_app
from counterplay.app.web.explore import grid_csv, grid_view
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS, card_text, cards
from counterplay.poker.holdem.holdings import canonical_board, strengths_on

LINES = (("", ""), ("r", ""), ("rc/", "AsKd2c"), ("rc/cr", "AsKd2c"), ("rc/cc/r", "AsKd2c7h"),
         ("rc/cc/cc/", "AsKd2c7h9s"), ("cc/rc/rrc/rr", "2c2d2h3sKd"))  # fmt: skip


@pytest.fixture(scope="module")
def holdem() -> Any:
    return cp.Strategy.random("holdem(buckets=10)", 1)


@pytest.mark.parametrize(("betting", "board"), LINES)
def test_every_holding_is_played_as_the_bot_plays_it(holdem: Any, betting: str, board: str) -> None:
    observed, bot = grid_view(holdem, None, betting, board), strategy_bot(holdem)
    free = np.flatnonzero(observed["free"])
    assert len(free) == math.comb(52 - len(board) // 2, 2)
    for k in free[:: len(free) // 25].tolist():
        own = "".join(card_text(int(card)) for card in HOLDING_CARDS[k])
        shares = bot.shares(cp.view(observed["betting"], own, board))
        for a, name in enumerate(("fold", "call", "raise")):
            assert observed["one"]["shares"][a][k] == pytest.approx(shares.get(name, 0.0), abs=6e-4)


def test_reach_is_the_product_of_the_own_actions(holdem: Any) -> None:
    observed = grid_view(
        holdem, None, "rc/cr", "AsKd2c"
    )  # the big blind acts, who called and checked
    bot = strategy_bot(holdem)
    k = int(np.flatnonzero(observed["free"])[700])
    own = "".join(card_text(int(card)) for card in HOLDING_CARDS[k])
    one = bot.shares(cp.view("r", own))["call"]
    two = bot.shares(cp.view("rc/", own, "AsKd2c"))["call"]
    assert observed["one"]["reach"][k] == pytest.approx(one * two, abs=1e-4)


def test_strengths_are_exact_on_a_river() -> None:
    board = tuple(cards("AsKd2c7h9s"))
    canonical = canonical_board(board)
    result = strengths_on(canonical)
    from counterplay.poker.cards.evaluator import strength

    own = cards("AhAd")
    k = next(k for k, pair in enumerate(HOLDING_CARDS.tolist()) if sorted(pair) == sorted(own))
    mine, won, all_ = strength([*own, *board]), 0.0, 0
    for j in np.flatnonzero(canonical.free).tolist():
        pair = HOLDING_CARDS[j].tolist()
        if set(pair) & set(own):
            continue
        theirs = strength([*pair, *board])
        won += 1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
        all_ += 1
    assert all_ == 990
    assert result[k] == pytest.approx(won / 990, abs=1e-12)


def test_tables_hold_what_is_shown(holdem: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(grid_csv(holdem, holdem, "r", ""))))
    assert len(rows) == 1326
    for row in rows[::100]:
        shares = [float(row[name]) for name in ("fold", "call", "raise")]
        assert sum(shares) == pytest.approx(1.0, abs=1e-5)
        assert row["other_call"] == row["call"]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs")
    cp.solve("kuhn", "cfr+", iterations=50, folder=folder / "a<b>&run")
    cp.Strategy.uniform("kuhn").save(folder / "flat.npz")
    return make_app([folder], folder / "tables")[0]


def test_strategies_are_found_searched_and_compared(app: Any) -> None:
    named = {one["name"]: one["key"] for one in ask(app, "/api/strategies").data["strategies"]}
    one, two = named["a<b>&run"], named["flat.npz"]
    observed = ask(app, f"/api/explore?s={one}&t={two}&q=Q&player=2").data
    assert {row["name"] for row in observed["rows"]} == {"Q p", "Q b"}
    assert all(row["player"] == 1 for row in observed["rows"])
    assert observed["rows"][0]["others"] == [0.5, 0.5]
    text = ask(app, f"/api/explore.csv?s={one}&t={two}").body.decode()
    assert len(text.splitlines()) == 25
    assert text.startswith("player,infoset,action,probability,other,difference")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("s=equilibrium:kuhn&t=equilibrium:leduc", "cannot be compared"),
        ("s=nothing", "no such entry"),
        ("s=bot:poki", "program"),
        ("s=bot:always-call&betting=x", "is not legal after"),
        ("s=bot:always-call&betting=rc/&board=AsAs", "twice"),
        ("s=bot:always-call&betting=rc/&board=zz", "not a card"),
        ("s=equilibrium:kuhn&page=-1", "whole number"),
    ],
)
def test_wrong_questions_get_one_sentence(app: Any, query: str, says: str) -> None:
    reply = ask(app, f"/api/explore?{query}")
    assert reply.status in (400, 404)
    assert says in reply.data["error"]
    assert "Traceback" not in reply.body.decode()


def test_a_run_appears_with_its_curve_and_a_report_stays_in_its_box(tmp_path: Path) -> None:
    cp.solve("kuhn", "cfr+", iterations=200, folder=tmp_path / "kuhn")
    (tmp_path / "report.html").write_text("<script>alert(1)</script>")
    (tmp_path / "fig.png").write_bytes(b"x")
    app = make_app([tmp_path], tmp_path / "tables")[0]
    listing = ask(app, "/api/runs").data
    [run], [report] = listing["runs"], listing["reports"]
    assert run["game"] == "kuhn"
    assert run["iterations"] == 200
    points = ask(app, f"/api/runs/{run['key']}").data["points"]
    assert points[-1][2] == pytest.approx(run["exploitability"])
    page = ask(app, f"/api/reports/{report['key']}/report.html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "script-src" not in page.headers["content-security-policy"]
    assert ask(app, f"/api/reports/{report['key']}/fig.png").status == 200
    assert ask(app, f"/api/reports/{report['key']}/kuhn").status == 404
    (tmp_path / "kuhn" / "config.json").write_text("{}")
    app = make_app([tmp_path], tmp_path / "tables")[0]
    assert "damaged" in ask(app, "/api/runs").data["runs"][0]["problem"]


def test_metrics_are_told_while_a_solver_works(tmp_path: Path) -> None:
    """Between checkpoints too, which are 15 seconds apart."""
    observed: list[int] = []

    def look(progress: Any) -> None:
        path = tmp_path / "run" / "metrics.csv"
        observed.append(len(path.read_text().splitlines()) if path.exists() else 0)

    cp.solve("leduc", "mccfr", seconds=2.6, folder=tmp_path / "run", on_chunk=look)
    assert any(n > 1 for n in observed[:-1])


def test_a_game_without_a_tree_is_refused_in_a_sentence_and_its_run_shown(tmp_path: Path) -> None:
    cp.solve("goofspiel(3,tree=False)", "mccfr", iterations=200, folder=tmp_path / "found")
    app = make_app([tmp_path], tmp_path / "tables")[0]
    (run,) = ask(app, "/api/runs").data["runs"]
    assert run["iterations"] == 200
    for path in ("/api/runs", f"/api/runs/{run['key']}"):
        assert b"NaN" not in ask(app, path).body  # which no browser reads
    one = next(s for s in ask(app, "/api/strategies").data["strategies"] if s["name"] == "found")
    for path in (f"/api/explore?s={one['key']}", f"/api/explore.csv?s={one['key']}"):
        reply = ask(app, path)
        assert reply.status == 400
        assert "has no tree; these pages need one" in reply.data["error"]
