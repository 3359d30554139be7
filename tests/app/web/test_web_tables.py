"""Tables: the same after a kill at any moment, no move twice, nothing hidden sent, a whole log."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.web import ask

from counterplay.app.web.app import make_app
from counterplay.app.web.catalog import Catalog
from counterplay.app.web.play.table import StaleVersion, per_hand, winnings
from counterplay.app.web.play.tables import TableStore, append_log, log_name, repair_log
from counterplay.app.web.play.tree_games import History, board_of, luck_adjusted, review
from counterplay.core.evaluation.exact import best_response
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.kernels import tally
from counterplay.core.match.result import estimate, half_width
from counterplay.poker.cards.cards import card_text
from counterplay.poker.histories.phh import read_phh

GAMES = (
    ("holdem(buckets=10)", "bot:uniform"),
    ("kuhn", "uniform"),
    ("leduc", "uniform"),
    ("ocp(13)", "uniform"),
    ("bluff(1,1,6)", "uniform"),
    ("goofspiel(4)", "uniform"),
    ("pam(2,2,4)", "uniform"),
)


def _tables(folder: Path) -> TableStore:
    return TableStore(folder, Catalog([]))


def _play(table: Any, hands: int, rng: random.Random) -> list[str]:
    """Play on; every state that was sent."""
    sent = []
    while len(table.done) < hands:
        if table.hand is None or table.hand.over:
            table.next_hand(table.version)
        else:
            table.act(table.version, rng.randrange(len(table.hand.choices())))
        sent.append(json.dumps(table.state()))
        if table.hand.over:
            append_log(table)
    return sent


@pytest.mark.parametrize(("game", "opponent"), GAMES)
def test_a_table_goes_on_after_a_kill(game: str, opponent: str, tmp_path: Path) -> None:
    table = _tables(tmp_path).new(game, opponent)
    _play(table, 6, random.Random(1))
    table.next_hand(table.version)
    again = _tables(tmp_path).find(table.name)
    assert again.state() == table.state()
    assert [hand.won for hand in again.done] == [hand.won for hand in table.done]
    _play(again, 8, random.Random(2))
    assert len(again.done) == 8


@pytest.mark.parametrize(("game", "opponent"), [GAMES[0], GAMES[2]])
def test_a_kill_in_the_middle_of_a_write_loses_that_write_only(
    game: str, opponent: str, tmp_path: Path
) -> None:
    table = _tables(tmp_path).new(game, opponent)
    _play(table, 3, random.Random(3))
    moves = table.journal.folder / "moves.jsonl"
    log = table.journal.folder / log_name(table)
    whole, lines = moves.read_bytes(), moves.read_bytes().splitlines(keepends=True)
    for cut in range(0, len(whole), max(1, len(whole) // 40)):
        moves.write_bytes(whole[:cut])
        log.write_bytes(log.read_bytes()[: cut // 2])
        again = _tables(tmp_path).find(table.name)
        stored = len(whole[:cut].splitlines(keepends=True))
        if cut and not whole[:cut].endswith(b"\n"):
            stored -= 1
        assert again.version == stored <= len(lines)
        if again.done and log.suffix == ".phhs":
            assert len(read_phh(log)) == len(again.done)


def test_two_tabs_after_a_restart_get_the_same_table(tmp_path: Path) -> None:
    table = _tables(tmp_path).new("leduc", "uniform")
    _play(table, 2, random.Random(4))
    tables = _tables(tmp_path)
    with ThreadPoolExecutor(8) as many:
        result = list(many.map(lambda _: tables.find(table.name), range(16)))
    assert len({id(one) for one in result}) == 1


def test_a_move_at_an_old_version_changes_nothing(tmp_path: Path) -> None:
    """Two tabs: whoever comes second is told how the table stands."""
    table = _tables(tmp_path).new("leduc", "uniform")
    table.next_hand(0)
    before = table.version
    table.act(before, 0)
    state = table.state()
    for stale in (0, before, before + 5):
        with pytest.raises(StaleVersion):
            table.act(stale, 0)
    with pytest.raises(StaleVersion):
        table.next_hand(before)
    assert table.state() == state


def test_requests_at_an_old_version_get_the_state_and_409(tmp_path: Path) -> None:
    app = make_app([], tmp_path)[0]
    name = ask(app, "/api/tables", {"game": "kuhn", "opponent": "uniform"}).data["table"]
    first = ask(app, f"/api/tables/{name}/deal", {"version": 0})
    assert first.status == 200
    again = ask(app, f"/api/tables/{name}/deal", {"version": 0})
    assert again.status == 409
    assert again.data == first.data
    bad = ask(app, f"/api/tables/{name}/act", {"version": first.data["version"], "choice": 9})
    assert bad.status == 400
    for body in ({"version": "x"}, {}, {"version": 1, "choice": 0.5}, [1], b"{"):
        assert ask(app, f"/api/tables/{name}/act", body).status == 400


def test_no_card_of_the_other_is_sent_before_it_is_shown(tmp_path: Path) -> None:
    table = _tables(tmp_path).new("holdem(buckets=10)", "bot:uniform")
    rng, shown = random.Random(5), 0
    while len(table.done) < 150 or not shown:  # the deals are nobody's to know
        if table.hand is None or table.hand.over:
            table.next_hand(table.version)
        else:
            table.act(table.version, rng.randrange(len(table.hand.choices())))
        text, hand = json.dumps(table.state()), table.hand
        if hand.over and hand.showdown:
            shown += 1
            continue
        hidden = [*hand.holding(1 - hand.seat), *hand.cards[4 + hand.state.on_board :]]
        for card in hidden:
            assert f'"{card_text(card)}"' not in text
    assert 0 < shown < len(table.done)


def test_the_downloaded_log_is_as_the_player_saw_it(tmp_path: Path) -> None:
    app = make_app([], tmp_path)[0]
    made = ask(app, "/api/tables", {"game": "holdem(buckets=10)", "opponent": "bot:uniform"}).data
    name, state, rng = made["table"], made, random.Random(6)
    while state["winnings"]["hands"] < 20:
        if state["over"]:
            body, where = {"version": state["version"]}, "deal"
        else:
            choice = rng.randrange(len(state["choices"]))
            body, where = {"version": state["version"], "choice": choice}, "act"
        state = ask(app, f"/api/tables/{name}/{where}", body).data
    reply = ask(app, f"/api/tables/{name}/hands")
    assert "attachment" in reply.headers["content-disposition"]
    (tmp_path / "got.phhs").write_bytes(reply.body)
    hands = read_phh(tmp_path / "got.phhs").hands
    assert len(hands) == 20
    assert reply.body == (tmp_path / name / "hands.phhs").read_bytes()
    for hand in hands:
        other = hand.cards("uniform")
        assert (other is not None) == hand.showdown
    total = sum(hand.won("you") for hand in hands)
    assert state["winnings"]["total"] == pytest.approx(total)


def test_a_log_that_was_changed_is_put_right(tmp_path: Path) -> None:
    table = _tables(tmp_path).new("kuhn", "uniform")
    _play(table, 4, random.Random(7))
    log = table.journal.folder / log_name(table)
    right = log.read_bytes()
    assert [json.loads(line)["hand"] for line in right.splitlines()] == [1, 2, 3, 4]
    log.write_bytes(b"nonsense")
    repair_log(table)
    assert log.read_bytes() == right


def test_a_damaged_table_says_so_in_one_sentence(tmp_path: Path) -> None:
    app = make_app([], tmp_path)[0]
    name = ask(app, "/api/tables", {"game": "kuhn", "opponent": "uniform"}).data["table"]
    ask(app, f"/api/tables/{name}/deal", {"version": 0})
    for text in (b'{"hand":0,"seat":7,"m":[]}\n', b'{"m":[99]}\n', b'{"hand":0,"seat":0}\n'):
        (tmp_path / name / "moves.jsonl").write_bytes(text)
        reply = ask(make_app([], tmp_path)[0], f"/api/tables/{name}")
        assert reply.status == 400
        assert "damaged" in reply.data["error"]


def _ends(game: Any, history: History, policy: np.ndarray) -> list[tuple[History, float]]:
    """Every end below, and how likely it is."""
    if history.over:
        return [(history, 1.0)]
    result = []
    shares = history.probabilities(policy)
    for k in range(history.n_children):
        if shares[k] > 0:
            below = History(game, [*(move.child for move in history.moves), k])
            result += [(end, shares[k] * p) for end, p in _ends(game, below, policy)]
    return result


def test_winnings_per_hand_are_those_of_a_match_where_seats_are_even() -> None:
    rng = np.random.default_rng(5)
    by_seat = np.full((40, 2), np.nan)
    by_seat[np.arange(40), np.arange(40) % 2] = rng.normal(0.3, 3.0, 40)
    won = [(k % 2, float(by_seat[k, k % 2])) for k in range(40)]
    right, found = estimate([tally(by_seat)]), winnings(won, [None] * 40)
    assert right is not None
    assert found["mean"] == pytest.approx(right.mean)
    assert found["mean"] == pytest.approx(found["total"] / 40)
    assert found["within"] == pytest.approx(half_width(right.standard_error, right.degrees))
    odd = winnings(won[:37], [None] * 37)
    assert odd["mean"] == pytest.approx(odd["total"] / 37)
    assert per_hand(won[:3])["within"] is None  # one hand in a seat


def test_intervals_of_winnings_cover_unlike_seats() -> None:
    """An odd number of hands, seats with other means and spreads; 95% within four standard
    errors."""
    rng, covered, n, runs = np.random.default_rng(6), 0, 35, 2_000
    seat = np.arange(n) % 2
    mean, spread = np.array([0.4, -0.7]), np.array([2.0, 4.0])
    truth = float(mean[seat].mean())
    for _ in range(runs):
        gains = rng.normal(mean[seat], spread[seat])
        found = per_hand(list(zip(seat.tolist(), gains.tolist(), strict=True)))
        covered += abs(found["mean"] - truth) < found["within"]  # type: ignore[operator]
    assert abs(covered / runs - 0.95) < 4 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("seat", [0, 1])
def test_taking_luck_out_keeps_the_mean_and_takes_spread(seat: int) -> None:
    """Whatever the person plays, by enumeration on Kuhn."""
    game = load("kuhn")
    bot, person = Strategy.random(game, 1), Strategy.random(game, 2)
    policy = bot.replace(person, seat).probabilities
    ends = _ends(game, History(game), policy)
    weight = np.array([p for _, p in ends])
    raw = np.array([end.payoff(seat) for end, _ in ends])
    clean = np.array([luck_adjusted(end, bot, seat) for end, _ in ends])
    assert weight.sum() == pytest.approx(1.0)
    assert weight @ clean == pytest.approx(weight @ raw, abs=1e-12)
    spread = [weight @ (x - weight @ x) ** 2 for x in (raw, clean)]
    assert spread[1] < 0.6 * spread[0]


@pytest.mark.parametrize("seat", [0, 1])
def test_costs_of_moves_add_up_to_what_a_best_response_has_more(seat: int) -> None:
    """E[cost of a hand] = value of the best response - value of the person's play (Kuhn)."""
    game = load("kuhn")
    bot, person = Strategy.random(game, 3), Strategy.random(game, 4)
    best = best_response(game, bot, seat).value
    policy = bot.replace(person, seat).probabilities
    ends = _ends(game, History(game), policy)
    reviews = [(review(end, bot, board_of(game), seat), p) for end, p in ends]
    cost = sum(one["cost"] * p for one, p in reviews)
    won = sum(end.payoff(seat) * p for end, p in ends)
    assert cost == pytest.approx(best - won, abs=1e-9)
    for one, _ in reviews:
        for step in one["steps"]:
            if step["who"] == "other":
                assert sum(step["shares"]) == pytest.approx(1.0)
