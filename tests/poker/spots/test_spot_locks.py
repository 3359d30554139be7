"""Locks: what a player is believed to do, trusted in part or wholly."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import CounterplayError
from counterplay.core.forms.sequence import best_reply, payoff_gradient, plan_from_policy
from counterplay.core.games.locks import fit_shares, locked, read_locks
from counterplay.poker.cards.cards import cards
from counterplay.poker.spots.engine import SpotTraversal, biased_form, new_tables
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.kernels import BEST
from counterplay.poker.spots.locks import are_of_kind, locked_player
from counterplay.poker.spots.responses import check_locks
from tests.support.spots import naive_game, to_naive

RANGES = ("AhKh,QdQc:0.5,JcTc,7h7s,AsKs:0.3", "AdAc:0.7,QhQc,KdJd,9s8s,AhKh,AsKs")
LOCKS: dict[str, Any] = {
    "lock": [
        {"at": "bet 10", "play": {"fold": 0.7, "call": 0.3}, "trust": 0.8},
        {"at": "bet 10", "hands": "AhKh,KdJd", "play": {"call": 1.0}},
        {"at": "check", "hands": "pairs", "play": {"check": 0.5, "bet 10": 0.5}},
    ],
}


def river(symmetric: bool = False) -> cp.Game:
    return spot("QsJh2c5d8s", 20, 45, RANGES, "50,100", symmetric=symmetric)


@pytest.mark.parametrize("scale", [1.0, 0.6])
def test_the_worst_locked_player_is_that_of_the_sequence_form(scale: float) -> None:
    game = river()
    rows = [row | {"trust": scale * row.get("trust", 1.0)} for row in LOCKS["lock"]]
    naive, player = naive_game(game), locked_player(game.rules, read_locks({"lock": rows}))
    strategy, layout = cp.Strategy.random(game, 4), game.rules.layout
    form = biased_form(layout, player.bound(strategy))
    own = layout.table(0, strategy.probabilities, np.float64)
    tables = (
        new_tables(layout, 0, np.float64)._replace(source=own),
        new_tables(layout, 1, np.float64),
    )
    value = SpotTraversal(layout, "double", 1, form).value(1, tables, BEST, locked=True)
    assert value == pytest.approx(_floored_reply(naive, strategy, scale), abs=1e-9)


def _floored_reply(naive: cp.Game, strategy: cp.Strategy, scale: float) -> float:
    """Player 2's best reply above the floors, by the sequence form, with floors written by hand."""
    floor = np.zeros(naive.n_slots)
    for k, name in enumerate(naive.labels.infoset):
        low, high = int(naive.form.first[k]), int(naive.form.first[k + 1])
        history, _, hand = name.rsplit(" ", 2)
        actions = naive.labels.action[low:high]
        play: dict[str, float] = {}
        trust = 1.0
        if history == "bet 10":
            play, trust = {"fold": 0.7, "call": 0.3}, 0.8
            if hand in ("AhKh", "KdJd"):
                play, trust = {"call": 1.0}, 1.0
        elif history == "check" and hand in ("AcAd", "AdAc", "KdJd"):  # a pair on the board's jack
            play = {"check": 0.5, "bet 10": 0.5}
        floor[low:high] = [scale * trust * play.get(action, 0.0) for action in actions]
    form, same = naive.sequence_form, to_naive(strategy, naive).probabilities
    plan, payoff = (np.empty(int(side.first[-1]) + 1) for side in (form.one, form.two))
    plan_from_policy(form.one, same[naive.slots(0)], plan)
    payoff_gradient(form, 1, plan, payoff)
    side = form.two._replace(floor=floor[naive.slots(1)])
    return float(best_reply(side, payoff, np.empty(len(payoff) - 1)))


def test_a_lock_of_everything_is_answered_by_a_best_response() -> None:
    """All decisions of player 2 are locked: the response is a best response to that strategy."""
    game = river()
    actions = game.rules.layout.named.actions
    nodes = {h: k for h, k in game.rules.nodes().items() if game.rules.layout.tree.player[k] == 1}
    locks = [{"at": h, "play": {actions[k][1]: 1.0}} for h, k in nodes.items()]
    response = cp.respond_to_locks(game, {"lock": locks}, percent=0.05)
    table = {
        name: {actions[k][1]: 1.0}
        for h, k in nodes.items()
        for name in game.labels.infoset
        if name.startswith(f"{h} QsJh")
    }
    model = cp.Strategy.from_table(game, table)
    best = cp.best_response(game, model, 0).value
    assert response.payoff == pytest.approx(best, abs=0.0005 * 20)
    met = cp.expected_value(game, model.replace(response.strategy, 0))[0]
    assert met == pytest.approx(response.payoff, abs=1e-9)


@pytest.mark.parametrize(
    ("board", "stack", "ranges", "bets", "lock"),
    [
        ("3d9d5h9cKs", 20, ("22+,A2s+,KTs+", "99,87s,A5s-A2s,KQ"), "75,allin",
         "check-allin 20 fold 0.2"),
        ("Kc2c8c7c7d", 60, ("99,87s,A5s-A2s,KQ", "random:0.5,AA"), "75,allin",
         "check-allin 60 fold 0.23"),
        ("As3d8cJsJc", 20, ("99,87s,A5s-A2s,KQ", "random:0.5,AA"), "33,100",
         "check-bet 6.6 call 0.01 trust 0.9"),
        ("QsJs2s5d", 20, ("22+,AK", "QQ+,JTs,98s"), "allin", "check-check/allin 20 fold 0.9"),
    ],
)  # fmt: skip
def test_each_trust_has_the_best_response_for_it(
    board: str, stack: float, ranges: tuple[str, str], bets: str, lock: str
) -> None:
    """No response of another trust has more of t · payoff + (1 - t) · worst case; so payoff and
    risk grow. In these spots they do not where the trust is a factor of the locks' own."""
    game, percent = spot(board, 20, stack, ranges, bets, cap=2), 0.05
    trusts, gap = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0), percent / 100 * 20
    found = cp.lock_frontier(game, lock, trusts, percent=percent)
    for one in found:
        values = [one.trust * x.payoff + (1 - one.trust) * x.worst_case for x in found]
        assert values[found.index(one)] >= max(values) - 1.01 * gap
        assert one.exploitability <= gap
    for one, other in pairwise(found):
        slack = 2.02 * gap / (other.trust - one.trust)
        assert other.payoff >= one.payoff - slack
        assert other.risk >= one.risk - slack


def test_payoff_and_risk_grow_with_trust() -> None:
    game, percent = river(symmetric=True), 0.05
    locks = "bet 10 fold 0.8"
    found = cp.lock_frontier(game, locks, (0.0, 0.3, 0.6, 0.9, 1.0), percent=percent)
    slack = percent / 100 * 20
    for one, other in pairwise(found):
        assert other.payoff >= one.payoff - slack
        assert other.risk >= one.risk - slack
    assert found[0].risk <= slack
    assert found[-1].payoff > found[0].payoff + 0.5
    assert found[-1].risk > 1.0
    chosen = cp.respond_to_locks(game, locks, max_risk=0.5, percent=percent)
    assert chosen.risk <= 0.5
    assert 0.0 < chosen.trust < 1.0
    careless = cp.respond_to_locks(game, locks, max_risk=1000.0, percent=percent)
    assert careless.trust == 1.0


@pytest.mark.parametrize("most", [0.02, 0.1, 1.0])
def test_a_limit_on_risk_is_kept(most: float) -> None:
    response = cp.respond_to_locks(river(), "bet 10 fold 0.7", max_risk=most)
    assert response.value - response.worst_case <= most


def test_a_limit_below_what_the_equilibrium_loses_is_refused() -> None:
    """The solution is approximate, and so is its risk."""
    with pytest.raises(CounterplayError, match=r"even the equilibrium found risks .* percent"):
        cp.respond_to_locks(river(), "bet 10 fold 0.7", max_risk=0.0)


def test_without_trust_the_exploitability_is_that_of_the_solution() -> None:
    game = river()
    solution = cp.solve(game, "dcfr", iterations=50).strategy
    (found,) = cp.lock_frontier(game, "bet 10 fold 0.7", (0.0,), solution=solution)
    exact = cp.exploitability(game, solution)
    assert exact > 1e-4
    assert found.exploitability == pytest.approx(exact, abs=1e-9)


@pytest.mark.slow
def test_a_data_biased_response_is_that_of_the_sequence_form() -> None:
    """At a trust of 1 a best response; below, the payoffs of the same game with a tree."""
    game = river()
    naive, model = naive_game(game), cp.Strategy.random(game, 5)
    same = to_naive(model, naive)
    for p in (0.5, 1.0):
        ours = cp.respond(game, model, player=0, algorithm="dbr", p=p, target=0.002)
        theirs = cp.respond(naive, same, player=0, algorithm="dbr", p=p)
        assert ours.payoff == pytest.approx(theirs.payoff, abs=0.05)
        if p < 1.0:
            assert ours.worst_case == pytest.approx(theirs.worst_case, abs=0.2)
    assert ours.payoff == pytest.approx(cp.best_response(game, model, 0).value, abs=0.002)


@pytest.mark.parametrize("player", [0, 1])
def test_a_restricted_nash_response_is_that_of_the_sequence_form(player: int) -> None:
    """It has the largest p · payoff + (1 - p) · worst case; at 0 an equilibrium, at 1 a best
    response to the model."""
    game = river()
    naive, model = naive_game(game), cp.Strategy.random(game, 5)
    same = to_naive(model, naive)
    for p in (0.0, 0.5, 0.9, 1.0):
        ours = cp.respond(game, model, player=player, p=p, target=0.002)
        theirs = cp.respond(naive, same, player=player, p=p)
        assert (ours.algorithm, theirs.algorithm) == ("rnr", "rnr")
        mixed = [p * one.payoff + (1 - p) * one.worst_case for one in (ours, theirs)]
        assert mixed[0] == pytest.approx(mixed[1], abs=0.003)
        met = cp.expected_value(game, model.replace(ours.strategy, player))[player]
        assert met == pytest.approx(ours.payoff, abs=1e-9)


def test_a_frequency_is_reached_and_hands_keep_their_order() -> None:
    policy = np.array([[0.9, 0.1, 0.0], [0.5, 0.4, 0.1], [0.0, 0.5, 0.5]])
    reach = np.array([[1.0, 2.0, 1.0]])
    for share in (0.7, 0.999, 0.001, 1.0, 0.0):
        wanted = np.array([share, 1.0 - share])
        fitted = fit_shares(policy[None], reach, np.array([0, -1, -1]), wanted)[0]
        np.testing.assert_allclose(fitted.sum(axis=1), 1.0)
        assert reach[0] @ fitted[:, 0] / 4.0 == pytest.approx(share, abs=1e-8)
        assert (np.diff(fitted[:, 0]) <= 0).all()
        if share < 1.0:
            assert fitted[1, 1] / fitted[1, 2] == pytest.approx(4.0, rel=0.02)


def test_a_place_is_all_its_histories_and_sizes() -> None:
    """`bet` is every size; a text, a file's part and the hold'em notation say the same."""
    game = river()
    random = cp.Strategy.random(game, 2)
    one = locked(random, "bb river facing nothing bet 0.4")
    for history in ("start", "check-bet 10-fold"):
        if history in game.rules.nodes():
            view = cp.spot_view(one, history)
            assert view.frequency["check"] == pytest.approx(0.6, abs=1e-6)
    assert cp.spot_view(one, "start").frequency["check"] == pytest.approx(0.6, abs=1e-6)
    raised = locked(random, ["dealer river facing bet raise 0.25", "check bet 10 0.5 trust 0.5"])
    after = cp.spot_view(raised, "bet 10")
    assert after.frequency["fold"] + after.frequency["call"] == pytest.approx(0.75, abs=1e-6)
    assert cp.spot_view(raised, "check").frequency["bet 10"] == pytest.approx(0.5, abs=1e-6)
    same = {"lock": [{"at": "in position river facing bet", "frequency": {"raise": 0.25}}]}
    assert cp.spot_view(locked(random, same), "bet 10").frequency == pytest.approx(after.frequency)


@pytest.mark.parametrize(
    ("kind", "hand", "board", "is_one"),
    [
        ("flush draw", "AhKh", "Qh7h2c", True), ("flush draw", "AhKd", "Qh7h2h", True),
        ("flush draw", "AcKd", "Qh7h2h", False), ("flush draw", "AhKh", "Qh7h2c3d4s", False),
        ("flush", "AhKh", "Qh7h2h", True), ("pair", "AhKd", "Ac7h2s", True),
        ("two pair", "AhKd", "AcKh2s", True), ("high card", "AhKd", "Qc7h2s", True),
        ("straight", "AhKd", "QcJhTs", True),
    ],
)  # fmt: skip
def test_kinds_of_hands(kind: str, hand: str, board: str, is_one: bool) -> None:
    assert are_of_kind(kind, np.array([cards(hand)]), cards(board)).tolist() == [is_one]


def test_a_file_about_a_whole_game_has_the_locks_of_a_player_in_a_spot() -> None:
    texts = ("dealer preflop facing bet fold 0.2", "bb river fold 0.5", "dealer river bet 0.4",
             "river facing bet raise 0.1", "flop fold 0.3")  # fmt: skip
    rules, locks = river().rules, read_locks(texts)
    for player, expected in (
        (0, ["bb river", "bb river facing bet"]),
        (1, ["dealer river", "dealer river facing bet"]),
    ):
        found = locked_player(rules, locks, player)
        assert (found.player, [lock.at for lock in found.locks]) == (player, expected)
    with pytest.raises(CounterplayError, match="say who responds"):
        locked_player(rules, locks)
    with pytest.raises(CounterplayError, match="no decision at 'dealer preflop facing bet'"):
        locked_player(rules, locks[:1])
    response = cp.respond_to_locks(river(symmetric=True), texts, player=0, percent=1.0)
    assert response.player == 0


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "locks.toml"
    path.write_text(
        '[[lock]]\nat = "bet 10"\nhands = "22+"\nplay = {call = 1.0}\n'
        'trust = 0.8\n[[lock]]\nat = "check"\nfrequency = {"bet 20" = 0.7}\n'
    )
    locks = read_locks(path)
    assert locks == read_locks(str(path))
    assert (len(locks), locks[0].trust, locked_player(river().rules, locks).player) == (2, 0.8, 1)
    assert (locks[0].in_all, locks[1].in_all) == (False, True)


def test_a_text_has_hands_and_a_trust() -> None:
    text = "bet 10 call 0.5 with QhQc,  KdJd trust 0.8"
    (lock,) = read_locks(text)
    assert (lock.at, lock.play, lock.hands) == ("bet 10", {"call": 0.5}, "QhQc, KdJd")
    assert (lock.trust, lock.in_all) == (0.8, True)
    game = river()
    uniform = cp.Strategy.uniform(game)
    view = cp.spot_view(locked(uniform, text), "bet 10")
    mean = [view.at(hand)["call"] for hand in ("QhQc", "KdJd")]
    assert sum(mean) / 2 == pytest.approx(0.5, abs=1e-6)
    assert view.at("AdAc") == cp.spot_view(uniform, "bet 10").at("AdAc")
    with pytest.raises(CounterplayError, match=r"^lock .*: hands: cannot read ''"):
        locked(uniform, "bet 10 call 0.5 with")
    with pytest.raises(CounterplayError, match="kuhn has no such part of a lock"):
        locked(cp.Strategy.uniform("kuhn"), "K* bet 0.3 with QQ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lock": []}, r"locks: there is no \[\[lock"),
        ({"locks": []}, "locks: no field 'locks'"),
        ({"at": "bet 11"}, "locks: lock 1: no decision after 'bet 11'"),
        ({"at": 3}, "locks: lock 1: at is a text"), ({"at": None}, "locks: lock 1: at is a text"),
        ({"hands": ""}, "locks: lock 1: hands: cannot read ''"),
        ({"hands": "22"}, "locks: lock 1: hands: '22' are none of the holdings"),
        ({"hands": "flush draws"}, "locks: lock 1: hands: 'flush draws' are none"),
        ({"board": "2c5d8sQsJh9h"}, "locks: lock 1: board: .* is not a board of this decision"),
        ({"play": {"raise 1": 1.0}}, "locks: lock 1: no action 'raise 1'"),
        ({"play": {"fold": 0.5}}, "locks: lock 1: the probabilities sum to 0.5"),
        ({"play": {"fold": 2}}, "locks: lock 1: play of fold must be from 0 to 1"),
        ({"play": {}}, "locks: lock 1: play is like"),
        ({"play": None}, "locks: lock 1: play is like"),
        ({"frequency": {"fold": 1}}, "locks: lock 1: give either"),
        ({"hands": "XX"}, "locks: lock 1: hands: cannot read"),
        ({"board": "QsJh2c"}, "locks: lock 1: board: 'QsJh2c' is not a board"),
        ({"trust": 2}, "locks: lock 1: trust must be"),
        ({"trusted": 1}, "locks: lock 1: no field 'trusted'"),
        ({"at": "dealer turn"}, "locks: lock 1: no decision at 'dealer turn' in this spot"),
        ({"at": "dealer river", "play": {"fol": 1.0}}, "locks: lock 1: no action 'fol'"),
        ({"at": "river facing bet"}, "locks: lock 1: it is of player 2, and locks: lock 1"),
    ],
)  # fmt: skip
def test_bad_locks_are_one_sentence(change: dict[str, Any], problem: str) -> None:
    row = {"at": "bet 10", "play": {"fold": 1.0}}
    outer = {key: change[key] for key in change if key in ("lock", "locks")}
    row |= {key: value for key, value in change.items() if key not in outer}
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        cp.respond_to_locks(river(), {"lock": [row]} | outer)


@pytest.mark.parametrize(
    ("locks", "where"),
    [
        (["bet 10 fold 0.7", "bet 10 fold 0.2"], "'bet 10' on QsJh2c5d8s with QhQc"),
        (["bet 10 fold 0.7", "bet 10 fold 0.7 trust 0.5"], "'bet 10' on .* with QhQc"),
        (["bet 10 fold 0.7", "bet 10 call 0.4"], "'bet 10' on .* with QhQc"),
        (["bet 10 fold 0.7", "dealer river facing bet fold 0.2"], "'bet 10' on .* with QhQc"),
        (["bet 10 fold 0 with AsKs", "bet 10 fold 0.5"], "'bet 10' on .* with AsKs"),
        (["bet 10 fold 0 with AhKh,AsKs", "bet 10 fold 1 with AdAc,AsKs"], ".* with AsKs"),
        (["bet 10 fold 0.7", "bet 10 fold 0 with pairs", "bet 10 fold 0.7"], ".* with KdJd"),
        ([LOCKS["lock"][1] | {"play": {"fold": 1.0}}, LOCKS["lock"][1]], "'bet 10' .* with KdJd"),
    ],
)  # fmt: skip
def test_locks_that_contradict_each_other_are_refused(locks: list[Any], where: str) -> None:
    """At once, by the decision and the hand."""
    given = {"lock": locks} if isinstance(locks[0], dict) else locks
    problem = rf".*lock .*: it contradicts .*lock .* at {where}; an exception is of fewer decisions"
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        check_locks(river(), given)
    with pytest.raises(CounterplayError, match=f"^{problem}"):
        locked(cp.Strategy.random(river(), 3), given)


@pytest.mark.parametrize(
    "locks",
    [
        ["bet 10 fold 0.7", "bet 10 fold 0.7"],
        ["bet 10 fold 0.7", "dealer river facing bet fold 0.7"],
        ["bet 10 fold 1 with AhKh,AsKs", "bet 10 fold 1 with AdAc,AsKs"],
        ["bet 10 fold 0.7 with AhKh", "bet 10 fold 0.2 with AdAc"],
        ["bet 10 fold 0.7", "bet 20 fold 0.2"],
        ["bet 10 fold 0.7", "bet 10 fold 0 with AsKs", "bet 10 fold 0 with AdAc,AsKs"],
        ["dealer river facing bet fold 0.7", "bet 10 fold 0.2"],
        ["bet 10 fold 0.2", "bet 10 call 0.5"],
    ],
)
def test_locks_that_agree_or_are_exceptions_are_allowed(locks: list[str]) -> None:
    assert check_locks(river(), locks).player == 1


def test_locks_of_one_decision_for_different_actions_all_hold() -> None:
    """However they are given."""
    game = river()
    random = cp.Strategy.random(game, 3)
    apart = locked(random, ["bet 10 fold 0.2", "bet 10 call 0.5", "bet 10 fold 0 with AdAc"])
    both = {"at": "bet 10", "frequency": {"fold": 0.2, "call": 0.5}}
    hand = {"at": "bet 10", "hands": "AdAc", "frequency": {"fold": 0.0}}
    np.testing.assert_allclose(
        apart.probabilities, locked(random, {"lock": [both, hand]}).probabilities, atol=1e-12
    )
    found = cp.spot_view(locked(random, ["bet 10 fold 0.2", "bet 10 call 0.5"]), "bet 10").frequency
    assert (found["fold"], found["call"]) == pytest.approx((0.2, 0.5), abs=1e-6)
    every = [f"bet 10 {action} {share}" for action, share in (("fold", 0.6), ("call", 0.2))]
    with pytest.raises(CounterplayError, match=r"and lock .* of all actions sum to 0.95, not 1"):
        locked(random, [*every, "bet 10 raise 30 0.1", "bet 10 allin 45 0.05"])
    assert locked(random, [*every, "bet 10 raise 30 0.1", "bet 10 allin 45 0.1"]).game is game


def test_bad_questions_are_one_sentence(tmp_path: Path) -> None:
    lock = "bet 10 fold 1"
    with pytest.raises(CounterplayError, match="either trust or max_risk"):
        cp.respond_to_locks(river(), lock, trust=1.0, max_risk=1.0)
    with pytest.raises(CounterplayError, match="locks are of spots"):
        cp.respond_to_locks(cp.load("kuhn"), lock)
    raked = spot("QsJh2c5d8s", 20, 45, RANGES, "50", rake=0.05)
    with pytest.raises(CounterplayError, match="leave out rake"):
        cp.respond_to_locks(raked, lock)
    alike = spot("QsJsTs5s8s", 20, 45, ("22+", "AK"), "50")
    for hands in ("AhKh", "AKs,AhKc", " AHKH", "AKo,AdKd"):
        suits = {"lock": [{"at": "check", "hands": hands, "play": {"check": 1}}]}
        with pytest.raises(CounterplayError, match="tells suits apart"):
            cp.respond_to_locks(alike, suits)
    together = {"at": "check", "hands": "AhKh,AcKc,AdKd", "play": {"check": 1}}
    assert locked(cp.Strategy.uniform(alike), {"lock": [together]}).game is alike
    for none in ([], [[]]):
        with pytest.raises(CounterplayError, match=r"^locks: give at least one, WHERE"):
            cp.respond_to_locks(river(), none)
    half = cp.Strategy.uniform(river()).for_player(0)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"trusts": None}, "trusts: numbers"), ({"trusts": ()}, "trusts: numbers"),
        ({"trusts": 0.5}, "trusts: numbers"), ({"trusts": "0.5"}, "trusts: numbers"),
        ({"solution": cp.Strategy.uniform("kuhn")}, "a strategy for kuhn cannot play"),
        ({"solution": half}, "solution: give a strategy of both"), ({"backend": "tpu"}, "backend"),
    ]  # fmt: skip
    for options, problem in wrong:
        with pytest.raises(CounterplayError, match=f"^{problem}"):
            cp.lock_frontier(river(), lock, **options)
    hands = {"at": "K", "hands": "AA", "play": {"bet": 1}}
    with pytest.raises(CounterplayError, match="hands: kuhn has no such part"):
        locked(cp.Strategy.uniform("kuhn"), {"lock": [hands]})
    damaged = tmp_path / "bad.toml"
    damaged.write_bytes(b"\xff\x00[[lock")
    with pytest.raises(CounterplayError, match=r"bad.toml: not a file of locks"):
        cp.respond_to_locks(river(), damaged)
    with pytest.raises(CounterplayError, match=r"none.toml"):
        cp.respond_to_locks(river(), tmp_path / "none.toml")
