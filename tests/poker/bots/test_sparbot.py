"""Sparbot: published sizes of its models, factored payoffs against a traversal of all states and
HiGHS, the table it becomes."""

from itertools import product

import numpy as np
import pytest
from support.holdem import TREE
from support.sparbot import random_chance

from counterplay.core.base.store import Store
from counterplay.core.evaluation.exact import form_exploitability
from counterplay.core.forms.sequence import (
    SequenceForm,
    payoff_gradient,
    plan_from_policy,
    side_from_entries,
)
from counterplay.core.solvers.lp import safest_plan
from counterplay.poker.abstraction import sparbot as abstraction
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.sparbot import (
    POTENTIAL,
    Borders,
    _borders,
    _by_strength,
    _count_outs,
    _with_potential,
)
from counterplay.poker.betting.betting import NO_FOLD, Betting
from counterplay.poker.bots.sparbot import build, model
from counterplay.poker.bots.sparbot.model import (
    chance_from_counts,
    count_deals,
    make_model,
    model_actions,
    solve,
)
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS, cards, holding
from counterplay.poker.cards.strength import TURN_TOTAL, strengths

FLOP = Betting().child("call").child("call")


def plexes(made):
    return made.form.one, made.form.two


def random_policy(made, seed):
    rng = np.random.default_rng(seed)
    policy = []
    for plex in plexes(made):
        weights = rng.random(int(plex.first[-1])) ** 3
        counts = np.diff(plex.first)
        policy.append(weights / np.repeat(np.add.reduceat(weights, plex.first[:-1]), counts))
    return tuple(policy)


def naive_value(made, chance, prior, policy, start):
    """What the first seat wins when both follow `policy`: a plain traversal over public states and
    both bucket paths."""
    n = len(prior)

    def traverse(state, paths, last):
        if state.folded != NO_FOLD:
            return min(state.paid) * (1 if state.folded == 1 else -1)
        if state.over or state.round == start.round + 3:
            return state.paid[0] * chance.value[start.round + 2][last]
        at = made.decision[state.history]
        total = 0.0
        for k, action in enumerate(model_actions(state)):
            share = policy[at.player][at.first + paths[at.player] * len(at.actions) + k]
            child = state.child(action)
            if child.round == state.round or child.round == start.round + 3 or child.over:
                total += share * traverse(child, paths, last)
                continue
            step = chance.transition[state.round][last]
            for pair in product(range(n), repeat=2):
                total += (
                    share
                    * step[pair]
                    * traverse(child, (paths[0] * n + pair[0], paths[1] * n + pair[1]), pair)
                )
        return total

    return sum(prior[pair] * traverse(start, pair, pair) for pair in product(range(n), repeat=2))


def sequence_sides(made):
    """The model as a sequence form."""
    one, two, value = [], [], []
    for ends in made.form.terminals:
        paths = len(ends.weight[0])
        one.append(np.repeat(ends.sequence[0], paths, axis=1).ravel())
        two.append(np.tile(ends.sequence[1], (1, paths)).ravel())
        value.append((ends.stake[:, None] * ends.weight[0].T.ravel()).ravel())
    one, two, value = np.concatenate(one), np.concatenate(two), np.concatenate(value)
    n = [int(plex.first[-1]) + 1 for plex in plexes(made)]
    return SequenceForm(
        side_from_entries(made.form.one, one, two, value, n[1]),
        side_from_entries(made.form.two, two, one, -value, n[0]),
    )


@pytest.mark.parametrize(("n", "infosets", "millions"), [(6, 43_368, 29.7), (7, 68_628, 74.9)])
def test_model_has_the_published_size(n, infosets, millions):
    made = make_model(FLOP, np.full((n, n), 1 / n**2), random_chance(n))
    assert [len(plex.parent) for plex in plexes(made)] == [infosets, infosets]
    last = [ends for ends in made.form.terminals if len(ends.weight[0]) == n**3]
    assert sum(len(ends.stake) for ends in last) == 49 * 13
    assert sum(len(ends.stake) for ends in last) * n**6 / 1e6 == pytest.approx(millions, abs=0.1)


def test_pots_of_the_seven_ways_to_the_flop():
    assert [sum(start.paid) for start in build.flop_starts()] == [2, 4, 4, 6, 6, 8, 8]


@pytest.mark.parametrize("start", [Betting(), FLOP], ids=["pre-flop", "post-flop"])
def test_payoffs_agree_with_a_plain_walk(start):
    chance = random_chance(2)
    prior = chance.first
    made = make_model(start, prior, chance)
    policy = random_policy(made, 3)
    wanted = naive_value(made, chance, prior, policy, start)
    for player in (0, 1):
        plans = []
        for plex, own in zip(plexes(made), policy, strict=True):
            plans.append(np.empty(len(own) + 1))
            plan_from_policy(plex, own, plans[-1])
        earned = np.empty(len(plans[player]))
        payoff_gradient(made.form, player, plans[1 - player], earned)
        assert earned @ plans[player] == pytest.approx(
            wanted if player == 0 else -wanted, abs=1e-12
        )


def test_payoffs_of_three_buckets_agree_with_the_sequence_form():
    """27 paths: the kernel's last rows do not come in fours."""
    made = make_model(FLOP, random_chance(3).first, random_chance(3))
    for player, side in enumerate(sequence_sides(made)):
        plan = np.random.default_rng(player).random(int(plexes(made)[1 - player].first[-1]) + 1)
        earned = np.empty(side.n_sequences)
        payoff_gradient(made.form, player, plan, earned)
        rows = np.repeat(np.arange(side.n_sequences), np.diff(side.row))
        wanted = np.bincount(
            rows, weights=side.value * plan[side.column], minlength=side.n_sequences
        )
        np.testing.assert_allclose(earned, wanted, atol=1e-12)


def test_leaves_of_the_preflop_model_can_carry_bets(monkeypatch):
    chance = random_chance(2)
    plain = make_model(Betting(), chance.first, chance)
    monkeypatch.setattr(model, "LEAF_BETS", 1.0)
    more = make_model(Betting(), chance.first, chance)
    for before, after in zip(plain.form.terminals, more.form.terminals, strict=True):
        rolled_out = len(before.stake) == 49 * 7
        np.testing.assert_allclose(
            after.stake - before.stake, TREE.rules.bets[3] if rolled_out else 0.0
        )


def test_solution_agrees_with_the_linear_program():
    chance = random_chance(2)
    made = make_model(FLOP, chance.first, chance)
    one, two = sequence_sides(made)
    value, _ = safest_plan(one, two)
    answer = solve(made, target=1e-3, most=2_000)
    assert answer.exploitability <= 1e-3 * 2.0
    sparse = form_exploitability(SequenceForm(one, two), answer.policy)
    assert answer.exploitability == pytest.approx(sparse, abs=1e-12)
    own = np.split(answer.policy, [int(one.first[-1])])
    assert naive_value(made, chance, chance.first, own, FLOP) == pytest.approx(value, abs=2e-3)


def borders_by_sorting(counts, weight, shares):
    """The least count of every class but the first, from all deals in order."""
    order = np.argsort(counts, kind="stable")
    share = np.cumsum(np.where(counts[order] > 0, weight[order], 0))
    return counts[order][np.searchsorted(share, np.cumsum(shares)[:-1] * share[-1])]


@pytest.mark.parametrize(("n", "top"), [(1_000, 50), (50_000, 100_000), (1_326, 2_000)])
def test_borders_are_those_of_sorted_deals(n, top):
    rng = np.random.default_rng(n)
    counts, weight = rng.integers(0, top, n).astype(np.uint32), rng.integers(1, 25, n)
    for shares in (abstraction.SHARES_SIX, abstraction.SHARES_FIVE, (0.8, 0.2)):
        found = abstraction._borders(counts, weight, shares)
        assert found.tolist() == borders_by_sorting(counts, weight, shares).tolist()
    assert np.array_equal(np.argsort(abstraction.ranks(weight)), np.argsort(weight))


def place(board, pair):
    """Class of a board and number of a holding with its suits renamed, the slow way."""
    masks = [sum(1 << c // 4 for c in board if c % 4 == s) for s in range(4)]
    order = sorted(range(4), key=lambda s: -masks[s])
    row = boards(len(board)).masks.tolist().index([masks[s] for s in order])
    return row, holding([4 * (c // 4) + order.index(c % 4) for c in pair])


def test_outs_are_the_cards_that_make_a_hand_strong():
    turn, strong = strengths().turn, int(0.75 * TURN_TOTAL)
    flop = cards("KhTh7c")
    row, _ = place(flop, flop[:2])
    out = np.zeros((1, 1326), dtype=np.uint8)
    _count_outs(
        boards(3).masks[row : row + 1],
        boards(4),
        HOLDING_CARDS,
        turn,
        strong,
        np.zeros(4, dtype=np.int64),
        out,
    )
    for text in ("4h2h", "QsJs", "Kd2c", "3c2d"):
        pair = cards(text)
        later = set(range(52)) - set(flop) - set(pair)
        assert out[0, place(flop, pair)[1]] == sum(
            turn[place([*flop, card], pair)] >= strong for card in later
        ), text


def test_borders_and_potential():
    counts, weight = np.arange(101), np.ones(101)
    assert _borders(counts, weight, (0.5, 0.3, 0.2)).tolist() == [50, 80]
    by_strength = _by_strength(counts, weight, (0.5, 0.3, 0.2))
    assert by_strength[[1, 49, 50, 79, 80, 100]].tolist() == [0, 0, 1, 1, 2, 2]
    assert _with_potential(
        np.array([0, 1, 2, 0], dtype=np.uint16), np.array([7, 20, 20, 6])
    ).tolist() == [5, 5, 2, 0]
    seven = Borders(shares_six=(1 / 7,) * 7, shares_five=(1 / 6,) * 6, weak_classes=1)
    assert seven.n_buckets == 7
    result = _with_potential(np.array([0, 1], dtype=np.uint16), np.array([7, 20]), seven)
    assert result.tolist() == [6, 1]  # the last bucket; one weak class only


def two_buckets():
    """Above or below the middle, which is quick to look up."""
    result = strengths()
    early = [
        (np.asarray(t) > int(t.max()) // 2).astype(np.uint16)
        for t in (result.preflop, result.flop, result.turn)
    ]
    return Buckets(*early, (np.arange(1981) > 990).astype(np.uint16), result.river)


def test_chance_is_counted_on_real_deals():
    buckets = two_buckets()
    counts = count_deals(buckets, 40_000, 2)
    again = count_deals(buckets, 40_000, 2)
    for one, other in zip(counts, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert counts.first.sum() == counts.step[2].sum() == 80_000
    chance = chance_from_counts(counts)
    np.testing.assert_allclose(chance.first, chance.first.T)
    for step in chance.transition:
        np.testing.assert_allclose(step.sum(axis=(2, 3)), 1.0)
        np.testing.assert_allclose(step, step.transpose(1, 0, 3, 2))
    for value in chance.value:
        np.testing.assert_allclose(value, -value.T, atol=1e-12)
    # own bucket before the flop; 80,000 half-independent hands
    exact = np.bincount(buckets.preflop) / 1326
    np.testing.assert_allclose(chance.first.sum(axis=1), exact, atol=0.01)
    assert chance.value[3][1, 0] > 0.9  # the stronger half wins
    assert (
        0.05 < chance.value[0][1, 0] < chance.value[1][1, 0] < chance.value[2][1, 0]
    )  # and the sooner it is known the better


def test_small_bot_keeps_the_rules_at_every_real_node(monkeypatch):
    monkeypatch.setattr(build, "solve", lambda made, target, progress=None: solve(made, 0.02))
    policies, played = build.solve_models(random_chance(2))
    assert len(played) == 8
    assert all(row.exploitability <= 0.02 * row.pot for row in played)
    check_rows(*build.full_rows(policies, 2), 2)


def check_rows(first_row, policy, n):
    """Legal at every node, no fold before the flop, the fourth bet called and never made."""
    tree = TREE.nodes
    np.testing.assert_allclose(policy.sum(axis=1), 1.0, atol=1e-9)
    assert (policy >= 0.0).all()
    for node, (state, actions) in enumerate(zip(TREE.states, TREE.actions, strict=True)):
        if tree.decision[node] < 0:
            continue
        paths = n if state.round == 0 else n**state.round
        rows = policy[first_row[node] : first_row[node] + paths]
        assert len(rows) == paths
        illegal = [k for k, name in enumerate(("fold", "call", "raise")) if name not in actions]
        assert not rows[:, illegal].any(), state.history
        if state.round == 0:
            assert not rows[:, 0].any()
        elif state.bets == TREE.rules.most_bets[0]:
            assert (rows[:, 1] == 1.0).all()
        elif state.bets == TREE.rules.most_bets[0] - 1:
            assert not rows[:, 2].any()


def test_prior_follows_the_preflop_policies():
    """Only the strong raise: then both hands of a raised and re-raised pot were strong, but for
    the tremble."""
    chance = random_chance(2)
    rows = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    prior = build.flop_prior(
        "rrc/", {"": rows, "r": rows, "rr": np.array([[0.0, 1.0, 0.0]] * 2)}, chance
    )
    low = build.TREMBLE
    weight = chance.first * np.outer([low, 1.0], [low, 1.0])
    np.testing.assert_allclose(
        prior, np.einsum("ab,abcd->cd", weight, chance.transition[0]) / weight.sum(), atol=1e-12
    )


@pytest.fixture
def fake_build(monkeypatch, tmp_path):
    """A bot that is quick to build, and a count of how often it was."""
    calls = []

    def quick(progress):
        calls.append(1)
        policy = np.tile([0.0, 1.0, 0.0], (216, 1))
        return (np.zeros(len(TREE.nodes.player), dtype=np.int64), policy), two_buckets(), []

    monkeypatch.setattr(build, "build_sparbot", quick)
    place = Store(tmp_path / "cache", "code")
    monkeypatch.setattr(build.TABLE, "slot", lambda: place.slot("sparbot", build.parameters()))
    monkeypatch.setattr(build.BUCKETS, "get", lambda *_: two_buckets())
    monkeypatch.setattr(build.TABLE, "_held", {})
    return calls


def test_saved_once_and_read_again(fake_build, monkeypatch):
    calls = fake_build
    reports = []
    built = build.sparbot_table(lambda share, what: reports.append(share))
    monkeypatch.setattr(build.TABLE, "_held", {})
    read = build.sparbot_table()
    assert len(calls) == 1
    assert reports[-1] == 1.0
    for one, other in zip((*built.cards, *built[1:]), (*read.cards, *read[1:]), strict=True):
        assert (one is None) == (other is None)  # arrays of perfect recall, which it has not
        if one is None:
            continue
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one[:1000], other[:1000])


@pytest.mark.parametrize(
    "damage",
    [pytest.param(name, marks=pytest.mark.slow) for name in ("flip", "cut", "parameters")],
)
def test_damaged_file_is_built_again(fake_build, monkeypatch, damage):
    calls = fake_build
    build.sparbot_table()
    path = build.TABLE.slot().path
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    if damage == "parameters":
        monkeypatch.setattr(build, "TREMBLE", 0.5)
    path.write_bytes(data[: len(data) // 2] if damage == "cut" else data)
    assert build.TABLE.read() is None
    monkeypatch.setattr(build.TABLE, "_held", {})
    build.sparbot_table()
    assert len(calls) == 2
    assert build.TABLE.read() is not None


def test_unwritable_folder_keeps_it_in_memory(fake_build, tmp_path):
    calls = fake_build
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.warns(UserWarning, match="stays in memory"):
        build.sparbot_table()
    assert build.sparbot_table().policy.shape == (216, 3)
    assert len(calls) == 1


@pytest.mark.slow
def test_the_bot_itself():
    (first_row, policy), buckets, played = build.build_sparbot()
    check_rows(first_row, policy, 6)
    assert [row.pot for row in played[1:]] == [2, 4, 4, 6, 6, 8, 8]
    assert all(row.exploitability <= 1e-3 * row.pot for row in played)
    assert buckets.flop[place(cards("KhTh7c"), cards("4h2h"))] == POTENTIAL
