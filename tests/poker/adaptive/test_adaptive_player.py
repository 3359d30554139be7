"""The adaptive player: safe at first, sure before it leaves, the same for the same seed."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.acpc import between
from support.arena import holdem
from support.rule_bots import rule_bot

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.responses.evidence import Deviation
from counterplay.poker.adaptive.bandit import ArmStatistics, choose
from counterplay.poker.adaptive.belief import (
    EQUILIBRIUM,
    LEARNT,
    LEARNT_MODEL,
    OPENING,
    arm_text,
    finding_text,
    spot_actions,
    spot_of,
    spot_text,
)
from counterplay.poker.adaptive.tracker import never_folding
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots


@cache
def small_portfolio() -> cp.Portfolio:
    """Two known players, with what always checks and calls instead of an equilibrium, and rough
    responses, made in no time."""
    game = holdem(3)
    models = {name: simple_strategy(name, game) for name in ("always-raise", "always-call")}
    safe = simple_strategy("uniform", game)
    members = [
        cp.respond(
            game, model, p=0.9, algorithm="mcdbr", engine="mccfr-external", iterations=4_000, seed=1
        ).strategy
        for model in models.values()
    ]
    from counterplay.poker.adaptive.portfolio_members import PortfolioMember

    return cp.Portfolio(
        game,
        safe,
        tuple(
            PortfolioMember(name, model, strategy)
            for (name, model), strategy in zip(models.items(), members, strict=True)
        ),
    )


def player(**options: Any) -> cp.Adaptive:
    return cp.Adaptive(portfolio=small_portfolio(), **{"every": 500, **options})


def play(me: Any, foe: Any, hands: int, seed: int = 1) -> np.ndarray:
    start_bots((me, foe), (1, 2))
    return play_hands((me, foe), session_deals(seed, 0, hands, hands))


class Switcher(Bot):
    """Checks and calls, then bets and raises."""

    def __init__(self, at: int) -> None:
        self.at, self.hands = at, 0

    def new_hand(self, seat: int) -> None:
        self.hands += 1

    def act(self, view: View) -> str:
        raising = self.hands > self.at and "raise" in view.betting.actions()
        return "raise" if raising else "call"


@pytest.mark.slow
def test_it_starts_safe_and_leaves_when_it_is_sure() -> None:
    me = player()
    assert me.standing().playing == EQUILIBRIUM
    play(me, cp.bot("always-raise"), 150)
    standing = me.standing()
    assert standing.playing in ("always-raise", LEARNT)
    assert "more than the equilibrium" in standing.why
    assert standing.estimates[0].gain == 0.0
    assert any("raises" in text and "100%" in text for text in standing.confirmed)


@pytest.mark.slow
def test_it_stays_against_somebody_who_plays_as_expected() -> None:
    me = player()
    play(me, cp.bot("uniform"), 300)
    standing = me.standing()
    assert standing.confirmed == ()
    assert me.tracker.model is small_portfolio().equilibrium


def test_without_a_budget_it_never_leaves() -> None:
    me = player(budget=0.0)
    play(me, cp.bot("always-raise"), 150)
    assert me.standing().playing == EQUILIBRIUM
    assert "budget" in me.standing().why
    assert me.standing().budget == 0.0


@pytest.mark.parametrize("probing", [0.0, 0.3])
def test_deviating_never_loses_more_than_the_budget(probing: float) -> None:
    """Hand by hand, for certain, to one who keeps switching, and also when the player believes in
    changes: the budget is that of the whole match."""
    budget, deviating, lowest = 40.0, 0.0, 0.0
    me = player(budget=budget, probing=probing)
    foes = [cp.bot("always-raise"), rule_bot("nit"), cp.bot("probe")]
    start_bots((me, foes[0]), (1, 2))
    kept = []

    class Watched(Bot):
        act, end_hand = staticmethod(me.act), staticmethod(me.end_hand)

        def new_hand(self, seat: int) -> None:
            me.new_hand(seat)
            kept.append(me.tracker.mix[0] < 1.0)

    for k in range(6):
        foes[k % 3].start(k)
        won = play_hands((Watched(), foes[k % 3]), session_deals(k, 0, 130, 130))
        for gained, left in zip(won, kept, strict=True):
            deviating += float(gained) if left else 0.0
            lowest = min(lowest, deviating)
        kept.clear()
        if k % 2:
            me.tracker.restart_at(60)
        assert me.tracker.budget_left == pytest.approx(budget + deviating)
    assert deviating != 0.0
    assert lowest >= -budget


@pytest.mark.parametrize("p_max", [0.0, 1.0])
def test_the_ends_of_the_trust_in_models(p_max: float) -> None:
    """Without any the response is one to the equilibrium; with all it exploits what it has seen."""
    me = player(p_max=p_max)
    play(me, cp.bot("always-raise"), 130)
    raises = simple_strategy("always-raise", me.game)
    response, safe = me.tracker.response, small_portfolio().equilibrium
    assert np.isfinite(response.probabilities).all()
    values = me.tracker.portfolio.values(raises)
    won = value_against(me.game, response.probabilities, raises.probabilities)
    if p_max == 1.0:
        assert won > values["equilibrium"] + 0.2
    else:
        alone = value_against(me.game, safe.probabilities, safe.probabilities)
        assert value_against(me.game, response.probabilities, safe.probabilities) > alone


def test_the_same_seed_gives_the_same_hands_and_thoughts() -> None:
    found = []
    for _ in range(2):
        me = player(probing=0.1, seed=3)
        won = play(me, cp.bot("always-raise"), 200)
        found.append((won, me.strategy.probabilities, me.standing().estimates))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    assert found[0][2] == found[1][2]


def test_somebody_who_changes_is_noticed_by_evidence_alone() -> None:
    """The change is dated to within a few hands, and nothing is forgotten before it."""
    me = player()
    play(me, Switcher(520), 600)
    assert len(me.tracker.changes) == 1
    assert abs(me.tracker.changes[0] - 520) <= 5
    assert me.tracker.hands == 600 - me.tracker.changes[0]
    assert me.standing().playing != EQUILIBRIUM
    same = player()
    play(same, cp.bot("always-call"), 600)
    assert same.tracker.changes == []


@pytest.mark.parametrize("name", ["river-folder", "nit", "pair-raiser"])
def test_a_model_that_fits_badly_is_no_change(name: str) -> None:
    """Nothing is forgotten, and what is learnt predicts better than what was known before."""
    me = player()
    play(me, rule_bot(name), 1_000)
    assert me.tracker.changes == []
    assert me.tracker.hands == 1_000
    assert me.tracker.likely[0][0] == LEARNT_MODEL


def test_memory_is_taken_to_the_next_match(tmp_path: Path) -> None:
    me = player()
    with pytest.raises(BadParameter, match="no hands to save"):
        me.save(tmp_path / "mind.parquet")
    play(me, cp.bot("always-raise"), 130)
    me.save(tmp_path / "mind.parquet")
    again = player(memory=tmp_path / "mind.parquet")
    assert again.standing().hands == 130
    assert again.standing().playing != EQUILIBRIUM
    again.start(1)
    assert again.standing().hands == 130
    cp.play_match(small_portfolio().game, "uniform", "probe", 4, log=tmp_path / "x.parquet")
    with pytest.raises(BadParameter, match="no memory"):
        player(memory=tmp_path / "x.parquet")


def test_over_the_protocol_and_in_matches() -> None:
    me = player()
    result = between(cp.MatchPlan(("one", "two"), 70, 1), me, "always-raise")
    assert result.hands == len(me.memory) == 70
    match = cp.play_match(small_portfolio().game, player(), "always-raise", 80, 1, processes=1)
    assert match.hands == 80


@pytest.mark.slow
def test_blocks_say_what_it_thinks() -> None:
    found = list(cp.play_adaptive("always-raise", 120, 1, player=player(), every=60))
    assert [block.hands for block in found] == [60, 120]
    assert found[-1].adjusted.standard_error < found[-1].standard_error
    assert found[-1].standing.hands == 120


def test_a_bandit_needs_to_be_sure() -> None:
    arms = [
        ArmStatistics(EQUILIBRIUM),
        ArmStatistics("one", gain=0.5, error=0.6),
        ArmStatistics("two", gain=0.05, error=0.1),
        ArmStatistics("three", gain=1.0),  # nothing is known of its error
    ]
    assert choose(arms, 0)[0] == 0
    arms[1].error = 0.1
    assert choose(arms, 0)[0] == 1
    rng = np.random.default_rng(1)
    for gain in rng.normal(-2.0, 1.0, 20_000):  # what hands say outweighs the hypotheses
        arms[1].add(gain)
    assert choose(arms, 1)[0] == 0


def test_noise_does_not_outvote_the_hypotheses() -> None:
    """The same mean over hands: above 0 by two standard deviations, and by many."""
    for gain, hands, plays in ((0.5, 1_000.0, 1), (-0.5, 1_000.0, 0), (-0.5, 20_000.0, 1)):
        one = ArmStatistics("one", gain, 2.0, hands, 1.0, hands * 15.0**2)
        assert choose([ArmStatistics(EQUILIBRIUM), one], 0)[0] == plays


def test_words() -> None:
    river = Deviation(3 * 4 + 3, 0, 0.612, 0.05, 0.341, 900)
    assert finding_text(river) == "folds the river to a bet 61% ± 5% (95%), an equilibrium 34%"
    first = Deviation(3, 2, 0.5, 0.1, 0.2, 50)
    assert (
        finding_text(first)
        == "raises before the flop to a raise 50% ± 10% (95%), an equilibrium 20%"
    )
    opening = Deviation(OPENING, 0, 0.5, 0.1, 0.2, 50)
    assert finding_text(opening) == "open-folds before the flop 50% ± 10% (95%), an equilibrium 20%"
    option = Deviation(1, 1, 0.9, 0.1, 0.5, 50)
    assert finding_text(option) == (
        "checks before the flop when nobody has raised 90% ± 10% (95%), an equilibrium 50%"
    )
    wide = Deviation(3 * 4 + 3, 0, 0.66, 0.38, 0.1, 12)
    assert finding_text(wide) == (
        "folds the river to a bet more often than an equilibrium (10%); too few hands to say how "
        "often"
    )
    assert arm_text("always-call") == "the response to always-call"
    assert arm_text(LEARNT) == "the learnt response"


def test_spots_keep_opening_apart_from_facing_a_raise() -> None:
    tree = holdem(3).rules.tree
    spots = spot_of(tree)
    assert (spots == OPENING).sum() == 1
    for node, (state, spot) in enumerate(zip(tree.states, spots.tolist(), strict=True)):
        if state.over:
            continue
        names = [name for name in spot_actions(spot) if name]
        assert len(names) == len(tree.actions[node])
        facing = max(state.paid) > state.paid[state.player()]
        assert ("fold" in names) == facing
        raised = spot_text(spot).endswith(("facing a raise", "facing a raise, no raise left"))
        assert raised == (state.round == 0 and "r" in state.history)


def test_too_few_hands_are_said_and_never_an_infinite_interval() -> None:
    me = player()
    play(me, cp.bot("uniform"), 30)  # the first update comes after 60 hands
    standing = me.standing()
    assert "too few hands" in standing.why
    assert "inf" not in standing.why


def test_its_belief_is_its_model_and_its_counts_are_what_was_played() -> None:
    """Counts are exact; the model's probabilities are the equilibrium's until it has learnt, and
    then those of the strategy it responds to."""
    me = player()
    play(me, cp.bot("always-raise"), 40)
    early = me.belief()
    assert early is not None
    assert (early.prior, early.learnt_from, early.next_update) == (EQUILIBRIUM, 0, 60)
    for spot in early.spots:
        assert spot.believed == spot.expected
    play(me, cp.bot("always-raise"), 70)
    late = me.belief()
    assert late is not None
    assert late.model is me.tracker.model
    assert late.learnt_from == 60
    opening = next(spot for spot in late.spots if spot.spot == OPENING)
    assert opening.taken == (0, 0, 35)  # the button alternates
    assert opening.expected == pytest.approx((1 / 3, 1 / 3, 1 / 3))  # uniform play
    rows = me.game.rules.slots()[: me.game.rules.abstraction.counts[0]]
    assert opening.believed[2] > 0.9
    exact = late.model.probabilities[rows]
    assert exact.min(axis=0)[2] - 1e-9 <= opening.believed[2] <= exact.max(axis=0)[2] + 1e-9


def test_probing_never_folds() -> None:
    found = never_folding(small_portfolio().equilibrium)
    slots = holdem(3).rules.slots()
    folds = slots[slots[:, 0] >= 0, 0]
    assert (found.probabilities[folds] == 0).all()


def test_a_portfolio_is_made_once(tmp_path: Path) -> None:
    game, safe = holdem(3), small_portfolio().equilibrium
    asked: dict[str, Any] = {"equilibrium": safe, "iterations": 50, "folder": tmp_path}
    first = cp.portfolio(game, ("always-call", "probe"), **asked)
    files = sorted(tmp_path.rglob("*.piece"))
    assert len(files) == 2
    before = [path.stat().st_mtime_ns for path in files]
    files[0].write_bytes(b"damaged")
    again = cp.portfolio(game, ("always-call", "probe"), **asked)
    for one, other in zip(first.members, again.members, strict=True):
        assert np.array_equal(one.strategy.probabilities, other.strategy.probabilities)
    assert [path.stat().st_mtime_ns for path in files][1] == before[1]
    assert [member.name for member in again.without("probe").members] == ["always-call"]
    assert set(again.values(safe)) == {"equilibrium", "always-call", "probe"}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: player(budget=-1.0), "budget"),
        (lambda: player(p_max=2.0), "p_max"),
        (lambda: player(probing=1.0), "probing"),
        (lambda: player(every=0), "every"),
        (lambda: player(iterations=10), "those of a learner"),
        (lambda: player(seconds=1.0), "those of a learner"),
        (lambda: cp.portfolio("kuhn", members=2), "hold'em"),
        (lambda: cp.portfolio(holdem(3), ("pokl",)), "did you mean 'poki'"),
        (lambda: cp.portfolio(holdem(3), ("adaptive",)), "unknown model"),
        (lambda: small_portfolio().without("nobody"), "unknown player"),
        (lambda: list(cp.play_adaptive("probe", 10, player=player(), every=11)), "one block"),
    ],
)
def test_mistakes(make: Any, words: str) -> None:
    with pytest.raises(cp.CounterplayError, match=words):
        make()


def test_an_ending_is_what_the_record_says() -> None:
    me = player()
    stored: list[Ending] = []
    respond = me.end_hand
    me.end_hand = lambda ending: (stored.append(ending), respond(ending))[1]  # type: ignore[method-assign]
    play(me, cp.bot("probe"), 20)
    from counterplay.poker.adaptive.player import ending_of

    assert [ending_of(record) for record in me.memory] == stored


def test_a_portfolio_starts_from_a_shipped_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its game, if there is one; nothing is trained."""
    module = sys.modules["counterplay.poker.adaptive.portfolio"]
    game, shipped = holdem(3), small_portfolio().equilibrium
    monkeypatch.setattr(
        module, "least_exploitable", lambda asked: shipped if asked is game else None
    )
    monkeypatch.setattr(module, "solve", None)
    assert cp.portfolio(game, []).equilibrium is shipped
