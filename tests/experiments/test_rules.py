"""Every rule on made-up numbers: where the claim holds, where it fails, and where nobody can
tell."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from counterplay.experiments import paper
from counterplay.experiments.harness.judge import Claim, Range, Winnings, around, median
from counterplay.experiments.paper import (
    bots,
    buckets,
    by_size,
    fig4_holdem,
    fig4_kuhn,
    fig6,
    fig7,
    fig8,
    own_process,
    players,
    table1,
    table2,
)

BOTS = players.BOTS
Case = Callable[[], Claim]
CASES: dict[Any, tuple[Case, Case, Case]] = {}  # holds, fails, undecided
EXACT = (fig4_holdem.smaller,)  # of numbers that are known: nothing is undecided


def row(won: float, half: float = 0.005, gained: float = -0.01) -> Winnings:
    return Winnings(around(won, half), around(gained, 0.001))


def table(**changes: Winnings) -> dict[table1.Key, Winnings]:
    """The paper's own numbers, well measured, for every engine; `changes` by player_bot."""
    found = {}
    for bot in BOTS:
        for player, won in table2.PAPER[bot].items():
            engines = ("mcts",) if player == "MCTS10" else ("outcome", "external", "public")
            for engine in engines:
                found[player, engine, bot] = changes.get(f"{player}_{bot}", row(won))
    for model in (table2.LITERAL, table2.SEEN):
        for engine in ("outcome", "external", "public"):
            mine = found["MCRNR10", engine, "poki"]
            found[table2.named("MCRNR10", model), engine, "poki"] = mine
    return found


def on(rule: Any, good: dict[str, Any], bad: dict[str, Any], *arguments: Any) -> None:
    """A rule of the tables: numbers on which it holds and fails; noise leaves it open."""
    noisy = {name: Winnings(around(r.now.value, 0.5), r.gained) for name, r in bad.items()}
    CASES[rule] = tuple(  # type: ignore[assignment]
        (lambda given=given: rule(table(**given), *arguments)) for given in (good, bad, noisy)
    )


on(table1.finer, {}, {"MCCFR100_poki": row(0.02)}, "outcome")
on(table1.wins, {}, {"MCCFR10_poki": row(-0.02)}, "outcome")
on(table1.loses, {}, {"MCCFR10_sparbot": row(0.02)}, "outcome")
on(table1.wins_convincingly, {}, {"MCCFR100_sparbot": row(-0.02)}, "outcome")
on(table1.level, {}, {"MCTS10_poki": row(0.5)}, table1.APART, "x")
on(table1.cells, {}, {"MCCFR10_poki": row(0.3)}, table1.PAPER, "MCTS10", "MCCFR10", "MCCFR100")
on(table2.exploits, {}, {"MCRNR10_poki": row(0.1)}, 10, "outcome", table2.PLAIN)
on(table2.coarse, {}, {"MCRNR10_poki": row(0.1)}, "outcome")
on(table2.finer, {}, {"MCRNR100_poki": row(0.1)}, "outcome")
on(table2.safe, {}, {"MCRNR10_sparbot": row(-0.4)}, 10, "outcome", table1.APART, "x")
CASES[table2.improves] = (
    lambda: table2.improves(row(0.05), row(0.0), "x"),
    lambda: table2.improves(row(-0.05), row(0.0), "x"),
    lambda: table2.improves(row(-0.05, half=0.1), row(0.0), "x"),
)
CASES[table2.more_games] = (
    lambda: table2.more_games(around(0.1, 0.02), around(0.2, 0.02), (10, 20)),
    lambda: table2.more_games(around(0.1, 0.02), around(0.0, 0.02), (10, 20)),
    lambda: table2.more_games(around(0.1, 0.02), around(0.11, 0.02), (10, 20)),
)
CASES[table2.one_coin] = (
    lambda: table2.one_coin(around(0.4, 0.01), around(0.41, 0.01)),
    lambda: table2.one_coin(around(0.4, 0.01), around(0.5, 0.01)),
    lambda: table2.one_coin(around(0.4, 0.1), around(0.41, 0.1)),
)
CASES[bots.reached] = (
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.65, 0.005), 9, True),
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.7, 0.005), 9, False),
    lambda: bots.reached("a", "b", 0.5, 0.6, around(0.66, 0.005), 9, False),
)


def learnt(*won: float, half: float = 0.02) -> list[fig8.FrozenPolicy]:
    return [
        fig8.FrozenPolicy(1000.0 * (k + 1), 6e6 * k, around(x, half)) for k, x in enumerate(won)
    ]


MCCFR = around(0.1, 0.02)
CASES[fig8.exploits] = (
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.3), MCCFR),
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.01), MCCFR),
    lambda: fig8.exploits(learnt(-1, 0.1, 0.2, 0.11), MCCFR),
)
CASES[fig8.improves] = (
    lambda: fig8.improves(learnt(-1, 0.1, 0.2, 0.3)),
    lambda: fig8.improves(learnt(-1, 0.3, 0.2, 0.1)),
    lambda: fig8.improves(learnt(-1, 0.3, 0.2, 0.31)),
)
CASES[fig8.from_nothing] = (
    lambda: fig8.from_nothing(learnt(-1, 0.1, 0.2, 0.3), MCCFR),
    lambda: fig8.from_nothing(learnt(-1, -0.5, 0.0, 0.0), MCCFR),
    lambda: fig8.from_nothing(learnt(-1, 0.2, 0.21, 0.2), MCCFR),
)

GOOD = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.full(3, 0.001))
BAD = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.full(3, 0.02))
MIXED = fig4_kuhn.SeedErrors(np.full(3, 0.02), np.array([0.001, 0.002, 0.03]))
CASES[fig4_kuhn.learns] = (
    lambda: fig4_kuhn.learns({"SQR-E": GOOD}, 10**6),
    lambda: fig4_kuhn.learns({"SQR-E": BAD}, 10**6),
    lambda: fig4_kuhn.learns({"SQR-E": MIXED}, 10**6),
)
CASES[fig4_kuhn.off] = (
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": BAD}, "x", "text"),
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": GOOD}, "x", "text"),
    lambda: fig4_kuhn.off({"x": GOOD}, {"x": MIXED}, "x", "text"),
)
CASES[fig4_kuhn.unlearns] = (
    lambda: fig4_kuhn.unlearns(GOOD),
    lambda: fig4_kuhn.unlearns(fig4_kuhn.SeedErrors(GOOD.end, GOOD.tenth)),
    lambda: fig4_kuhn.unlearns(MIXED),
)
CASES[fig4_kuhn.loses_little] = (
    lambda: fig4_kuhn.loses_little(Range(0.003, 0.001, 0.005), 10**6),
    lambda: fig4_kuhn.loses_little(Range(0.03, 0.02, 0.05), 10**6),
    lambda: fig4_kuhn.loses_little(Range(0.009, 0.005, 0.02), 10**6),
)

HIGH, LOW, WIDE = [0.1, 0.11, 0.12], [-0.1, -0.11, -0.12], [-0.3, 0.0, 0.3]
CASES[fig4_holdem.fast] = (
    lambda: fig4_holdem.fast(HIGH, LOW, 1),
    lambda: fig4_holdem.fast(LOW, HIGH, 1),
    lambda: fig4_holdem.fast(WIDE, LOW, 1),
)
CASES[fig4_holdem.surpasses] = (
    lambda: fig4_holdem.surpasses(HIGH, LOW, 1, 0.01),
    lambda: fig4_holdem.surpasses(LOW, HIGH, fig4_holdem.LONG, 0.01),
    lambda: fig4_holdem.surpasses(LOW, HIGH, fig4_holdem.LONG - 1, 0.01),
)
CASES[fig4_holdem.quicker] = (
    lambda: fig4_holdem.quicker([0.8, 0.9]),
    lambda: fig4_holdem.quicker([1.1, 1.2]),
    lambda: fig4_holdem.quicker([0.9, 1.2]),
)
CASES[fig4_holdem.smaller] = (
    lambda: fig4_holdem.smaller(9, 10),
    lambda: fig4_holdem.smaller(11, 10),
)  # type: ignore[assignment]
CASES[fig4_holdem.external] = (
    lambda: fig4_holdem.external(HIGH, LOW, 1),
    lambda: fig4_holdem.external(LOW, HIGH, 1),
    lambda: fig4_holdem.external(WIDE, LOW, 1),
)
CASES[fig4_holdem.constant] = (
    lambda: fig4_holdem.constant({17.0: HIGH, 5.0: LOW}, fig4_holdem.SWEPT, "small bets"),
    lambda: fig4_holdem.constant({17.0: LOW, 5.0: HIGH}, fig4_holdem.SWEPT, "small bets"),
    lambda: fig4_holdem.constant({17.0: LOW, 5.0: HIGH}, fig4_holdem.SWEPT - 1, "small bets"),
)


def curve(*risks: float, gap: float = 0.001, gains: Any = (0, 0.05, 0.08, 0.09, 0.1)) -> Any:
    ps = (0.0, 0.5, 0.8, 0.97, 1.0)
    points = [fig6.ResponsePoint(p, g, r, gap) for p, g, r in zip(ps, gains, risks, strict=True)]
    return fig6.ResponseCurve(points, 0.1)


LATE, EVEN = (0, 0.01, 0.02, 0.3, 1.0), (0, 0.01, 0.02, 0.9, 1.0)  # when the risk comes
GAMES = {"ocp": curve(*LATE), "bluff": curve(*EVEN)}
FALLING = {"ocp": curve(*LATE[::-1])}
ROUGH = {"ocp": curve(*LATE, gap=0.05), "bluff": curve(*EVEN)}
RISKY = {"ocp": curve(0, 0.5, 0.9, 0.95, 1.0)}
CASES[fig6.grow] = (
    lambda: fig6.grow(GAMES, GAMES, "m"),
    lambda: fig6.grow(FALLING, FALLING, "m"),
    lambda: fig6.grow(ROUGH, ROUGH, "m"),
)
CASES[fig6.boost] = (
    lambda: fig6.boost(GAMES, GAMES, "m"),
    lambda: fig6.boost(RISKY, RISKY, "m"),
    lambda: fig6.boost(ROUGH, GAMES, "m"),
)
CASES[fig6.jump] = (
    lambda: fig6.jump(GAMES, GAMES, "m"),
    lambda: fig6.jump({"ocp": curve(*LATE), "bluff": curve(*LATE)}, GAMES, "m"),
    lambda: fig6.jump(ROUGH, GAMES, "m"),
)
CASES[fig6.similar] = (
    lambda: fig6.similar(GAMES, GAMES, "m"),
    lambda: fig6.similar({"ocp": curve(*LATE)}, {"ocp": curve(*EVEN)}, "m"),
    lambda: fig6.similar(ROUGH, ROUGH, "m"),
)


def race_of(nodes: float, start: float = 1.0) -> list[fig7.Measurement]:
    """The gap halves with every measurement, each of so many nodes and seconds."""
    return [
        fig7.Measurement(k + 1, nodes * (k + 1), nodes * (k + 1), start / 2**k, start / 2**k)
        for k in range(8)
    ]


FULL, SOON, SLOW = race_of(100), race_of(1), race_of(10_000)
CASES[fig7.ahead] = (
    lambda: fig7.ahead({"g": (FULL, [SOON, SOON])}, "gap", "nodes", "t", fig7.EARLY),
    lambda: fig7.ahead({"g": (FULL, [SLOW, SLOW])}, "gap", "nodes", "t", fig7.EARLY),
    lambda: fig7.ahead({"g": (FULL, [SOON, SLOW])}, "gap", "nodes", "t", fig7.EARLY),
)


def trained(*wins: float) -> list[list[buckets.TrainingPoint]]:
    return [
        [buckets.TrainingPoint(t, t * 5, x - 1 / t) for t in (1.0, 2.0, 4.0, 8.0)] for x in wins
    ]


CASES[buckets.finer] = tuple(  # type: ignore[assignment]
    (
        lambda fine=fine: buckets.finer(
            {10: trained(0.1, 0.11, 0.12), 100: trained(*fine)}, 100, 10, "seconds", "x"
        )
    )
    for fine in ((0.2, 0.21, 0.22), (0.0, 0.01, 0.02), (0.0, 0.1, 0.3))
)
CASES[buckets.finer_in_the_end] = tuple(  # type: ignore[assignment]
    (lambda fine=fine: buckets.finer_in_the_end({10: HIGH, 100: fine}, 100, 10, "x", False))
    for fine in ([0.2, 0.21], LOW, WIDE)
)


def sized(
    seconds: float, peak: float = 1.0, note: str = own_process.REACHED, nodes: int = by_size.LARGE
) -> own_process.SizeRun:
    return own_process.SizeRun(note, seconds, 10, 0.01, 0.0, peak, nodes)


def races(sampled: own_process.SizeRun, full: own_process.SizeRun) -> by_size.Runs:
    """The last game has no tree, so that the one before is the largest that both can do."""
    none = own_process.SizeRun(own_process.NO_TREE)
    last = {by_size.CFR: none, by_size.OUTCOME_ALONE: WON}
    small = {by_size.CFR: FULL_SIZED, by_size.OUTCOME_ALONE: FULL_SIZED}
    return {"f": {"a": small, "b": {by_size.CFR: full, by_size.OUTCOME_ALONE: sampled}, "c": last}}


def sooner(sampled: own_process.SizeRun, full: own_process.SizeRun) -> Claim:
    return by_size.sooner(races(sampled, full), by_size.OUTCOME_ALONE, by_size.CFR)


def alone(won: float, note: str = own_process.NO_TREE) -> Claim:
    last = {by_size.CFR: own_process.SizeRun(note), by_size.OUTCOME_ALONE: WON._replace(won=won)}
    return by_size.goes_on({"f": {"c": last}})


FULL_SIZED = sized(10.0)
WON = sized(10.0, note="seconds")._replace(won=0.3, won_error=0.1)
CASES[by_size.sooner] = (
    lambda: sooner(sized(4.0), FULL_SIZED),
    lambda: sooner(sized(21.0), FULL_SIZED),
    lambda: sooner(sized(12.0), FULL_SIZED),
)
CASES[by_size.smaller] = (
    lambda: by_size.smaller(races(sized(1.0, 0.5), FULL_SIZED)),
    lambda: by_size.smaller(races(sized(1.0, 1.5), FULL_SIZED)),
    lambda: by_size.smaller(races(sized(1.0, 1.05), FULL_SIZED)),
)
CASES[by_size.goes_on] = (lambda: alone(0.3), lambda: alone(-0.3), lambda: alone(0.05))


def _rules() -> list[Any]:
    """Every function of the rules that makes a claim."""
    found = []
    for module in pkgutil.iter_modules(paper.__path__, f"{paper.__name__}."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if (
                one.__module__ == module.name
                and one.__annotations__.get("return") == "Claim"
                and one.__name__[0] != "_"
            ):
                found.append(one)
    return found


@pytest.mark.parametrize("rule", _rules(), ids=lambda rule: f"{rule.__module__}.{rule.__name__}")
def test_each_rule_can_say_all_three(rule: Any) -> None:
    claims = [case() for case in CASES[rule]]
    wanted = [True, False] if rule in EXACT else [True, False, None]
    assert [claim.holds for claim in claims] == wanted
    assert all(claim.text and claim.rule and claim.measured for claim in claims[:2])


@pytest.mark.parametrize(
    "rule", [rule for rule in CASES if rule.__module__.endswith(("table1", "table2"))]
)
def test_nothing_fails_for_want_of_training(rule: Any) -> None:
    """The same numbers of players who still learn fast: nothing is held against them."""
    if rule in (table2.improves, table2.more_games, table2.one_coin, table1.level, table1.cells):
        return
    short = {
        f"{player}_{bot}": Winnings(around(-0.3, 0.005), around(0.2, 0.005))
        for bot in BOTS
        for player in table2.PAPER[bot]
    }
    arguments = {
        table2.exploits: (10, "outcome", table2.PLAIN),
        table2.safe: (10, "outcome", table1.APART, "x"),
    }.get(rule, ("outcome",))
    assert rule(table(**short), *arguments).holds is None


def test_claims_of_the_tables_are_those_of_the_rows_there_are() -> None:
    whole = table()
    texts = [claim.text for claim in table1.claims(whole)]
    assert len(texts) == len(set(texts))
    texts = [claim.text for claim in table2.claims(whole)]
    assert len(texts) == len(set(texts))
    for model in (table2.LITERAL, table2.PLAIN, table2.SEEN):
        assert any(f"model: {model} (outcome sampling, as in the paper)" in text for text in texts)
    paper = {key: one for key, one in whole.items() if key[1] in ("outcome", "mcts")}
    assert all("ours" not in claim.text for claim in table1.claims(paper))
    assert {claim.holds for claim in table1.claims(paper)} >= {True}


def test_a_player_who_gains_much_may_still_win() -> None:
    slow = Winnings(around(-0.02, 0.001), around(0.02, 0.001))
    done = Winnings(around(-0.02, 0.001), around(0.001, 0.0005))
    for one, verdict in ((slow, None), (done, False)):
        given = table(MCCFR10_poki=one)
        assert table1.wins(given, "outcome").holds is verdict
        assert table1.wins(given, "outcome").before is not None


def test_bluff_is_tested_too_and_must_be_there() -> None:
    only = {"ocp": curve(*LATE)}
    assert fig6.jump(only, only, "m").holds is None
    high = {"ocp": curve(*LATE), "bluff": curve(*LATE)}
    found = fig6.jump(high, high, "m")
    assert found.holds is False
    assert found.before is not None
    assert found.before.holds is True


def test_points_that_have_not_converged_decide_nothing() -> None:
    rough = {name: one._replace(available=0.001) for name, one in GAMES.items()}
    for claim in fig6.claims({"m": rough}, {"m": rough}):
        assert claim.holds is None
        assert "not converged: ocp, bluff" in claim.measured


def test_sizes_decide_nothing_for_want_of_time_or_size() -> None:
    """Small games, runs that were stopped, and games that nobody could do."""
    stopped = sized(30.0, note="seconds")
    assert sooner(stopped, stopped).holds is None
    assert sooner(stopped, FULL_SIZED).holds is False  # RNR was there in less than half of it
    assert sooner(sized(12.0, note="seconds"), FULL_SIZED).holds is None
    assert sooner(sized(4.0), stopped).holds is True
    assert sooner(sized(30.0), sized(10.0, note="seconds")).holds is None
    for one in (sized(1.0), sized(90.0)):
        few = FULL_SIZED._replace(nodes=by_size.LARGE - 1)
        assert sooner(one, few).holds is None
        assert by_size.smaller(races(one._replace(peak_gb=9.0), few)).holds is None
    assert by_size.goes_on({"f": {}}).holds is None
    assert alone(0.3, own_process.NO_ROOM).holds is True
    nobody = {by_size.CFR: own_process.SizeRun(own_process.NO_TREE)}
    for claim in by_size.claims({"f": {"c": nobody}}):
        assert claim.holds is None
        assert claim.measured
        assert claim.text.endswith("(beyond the paper).")


def test_no_method_is_compared_before_its_first_iteration() -> None:
    """MCRNR that ends above what RNR has after one iteration has nothing to be compared with."""
    never = [fig7.Measurement(k, k, k, 5.0, 5.0) for k in range(1, 5)]
    assert fig7.ratio(FULL, [never, never], "gap", fig7.EARLY, "nodes") is None
    claim = fig7.ahead({"g": (FULL, [never, never])}, "gap", "nodes", "t", fig7.EARLY)
    assert claim.holds is None
    assert "nothing to compare" in claim.measured
    for left in (fig7.EARLY, fig7.LATE):
        where = fig7.level(FULL, [SOON], "gap", left)
        assert where is not None
        assert FULL[0].gap > where >= FULL[-1].gap


def test_the_models_nodes_are_counted_as_a_factor_of_two() -> None:
    near = race_of(80)  # fewer nodes than RNR, but not by a factor of two
    runs = {"g": (FULL, [near, near])}
    assert fig7.ahead(runs, "gap", "nodes", "t", fig7.EARLY).holds is None
    assert fig7.ahead(runs, "gap", "seconds", "t", fig7.EARLY).holds is True


def test_finer_buckets_that_catch_up_do_not_fail() -> None:
    flat = [[buckets.TrainingPoint(t, t, 0.0) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    rising = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    given = {10: flat, 100: rising}
    assert buckets.closing(given, 100, 10, "seconds")
    assert buckets.finer(given, 100, 10, "seconds", "x").holds is None
    assert buckets.finer({10: rising, 100: flat}, 100, 10, "seconds", "x").holds is True
    assert buckets.finer_in_the_end({10: HIGH, 100: LOW}, 100, 10, "x", True).holds is None


def test_where_curves_cross() -> None:
    slow = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0, 16.0)]] * 2
    flat = [[buckets.TrainingPoint(t, t, -0.25) for t in (1.0, 2.0, 4.0, 8.0, 16.0)]] * 2
    found = buckets.crossing({10: flat, 100: slow}, 100, 10, "seconds")
    assert found == pytest.approx(4.0, rel=0.1)
    assert buckets.crossing({10: slow, 100: flat}, 100, 10, "seconds") is None
    assert buckets.at(slow[0], "seconds", 0.5) != buckets.at(slow[0], "seconds", 0.5)  # NaN


def test_each_claim_of_the_tables_also_says_what_it_is_without_the_cut_off() -> None:
    """Who gained more than the cut-off in the second half: nothing is known of his end with it,
    and 4.33 times as much at most without."""
    fast = Winnings(around(-0.5, 0.005), around(0.06, 0.001))
    changes = {"MCCFR10_poki": fast, "MCRNR10_sparbot": fast}
    found = {c.text: c for c in [*table1.claims(table(**changes)), *table2.claims(table())]}
    assert all(claim.also for claim in found.values())
    wins = next(c for text, c in found.items() if text.startswith("MCCFR10 wins a little"))
    assert wins.holds is None
    assert [one.holds for one in wins.also] == [False]  # -0.5 + 4.33 · 0.06 is below zero
    one = table2.by_trust({"control": row(0.1), "x": fast})
    assert [claim.holds for claim in one] == [None]
    assert [claim.also[0].holds for claim in one] == [False]
    assert table2.by_trust({}) == []
    online_claims = fig8.claims(learnt(-1, 0.1, 0.2, 0.3), learnt(-1, 0.1, 0.2, 0.3), fast)
    assert [len(claim.also) for claim in online_claims] == [1, 0, 1]


def test_buckets_also_say_what_they_are_whether_or_not_they_catch_up() -> None:
    flat = [[buckets.TrainingPoint(t, t, 0.0) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    rising = [[buckets.TrainingPoint(t, t, -1 / t) for t in (1.0, 2.0, 4.0, 8.0)]] * 2
    found = buckets.finer({10: flat, 100: rising}, 100, 10, "seconds", "x")
    assert (found.holds, found.also[0].holds) == (None, False)
    ends = buckets.finer_in_the_end({10: HIGH, 100: LOW}, 100, 10, "x", True)
    assert (ends.holds, ends.also[0].holds) == (None, False)


def test_more_seeds_do_not_make_it_harder_to_learn() -> None:
    """One seed in twenty that is off says little of the median; all were asked for before."""
    end = np.full(20, 0.001)
    end[7] = 0.015
    found = fig4_kuhn.learns({"SQR-E": fig4_kuhn.SeedErrors(np.full(20, 0.02), end)}, 10**6)
    assert found.holds is True
    assert found.also[0].holds is None
    half = np.where(np.arange(20) % 2, 0.001, 0.02)
    assert (
        fig4_kuhn.learns({"SQR-E": fig4_kuhn.SeedErrors(np.full(20, 0.02), half)}, 10**6).holds
        is None
    )


def test_the_interval_of_a_median_holds_it_at_least_so_often() -> None:
    """By enumeration of ranks: the chance that the true median lies outside is 5% at most."""
    for n in (6, 8, 20, 45):
        values = [float(k) for k in range(n)]
        found = median(values)
        low, high = values.index(found.low), n - 1 - values.index(found.high)
        assert low == high
        outside = 2 * sum(math.comb(n, k) for k in range(low + 1)) / 2**n
        assert outside <= 0.05
        next_one = 2 * sum(math.comb(n, k) for k in range(low + 2)) / 2**n
        assert next_one > 0.05  # and it is no wider than that asks for
    assert median([3.0, 1.0]) == Range(2.0, 1.0, 3.0)
