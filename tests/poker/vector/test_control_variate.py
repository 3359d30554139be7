"""Exploitability on a sample of flops beside a known player: on a short deck, where the truth over
all flops is known. Intervals are narrower than without it and cover as often as they say."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.small_holdem import RIVER_BETS, random_strategy, walked_game

import counterplay as cp
from counterplay.core.responses.result import Response
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.players import HoldemResolver
from counterplay.poker.vector import evaluation, flop_values
from counterplay.poker.vector.evaluation import (
    KnownPlayer,
    best_response_values,
    known_samples,
)
from counterplay.poker.vector.flop_sums import (
    FlopSample,
    control_variate,
    draw_flops,
    flop_sample,
)
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery

GAME = walked_game(RIVER_BETS, True)
FLOPS = 24


def near(strategy: cp.Strategy) -> cp.Strategy:
    other = random_strategy(GAME, 2)
    return cp.Strategy(GAME, 0.8 * strategy.probabilities + 0.2 * other.probabilities)


class OnAllFlops:
    """Best responses to a strategy of both seats on every flop, and their exact sum."""

    def __init__(self, strategy: cp.Strategy) -> None:
        table, deck = strategy_table(strategy), GAME.rules.abstraction.deck
        self.queries = [PreparedQuery(ValueQuery(k, table), GAME.rules.tree, deck) for k in (0, 1)]
        every = range(len(self.queries[0].flops))
        rows = [values for _, values in flop_values.values_on_cpu(self.queries, every, 1)]
        self.values = [np.array([row[k] for row in rows]) for k in (0, 1)]
        self.exact = cp.exploitability(GAME, strategy)

    def samples(self, seed: int) -> list[FlopSample]:
        drawn = draw_flops(self.queries[0], FLOPS, seed)
        return [
            flop_sample(query, [(values[members], share) for members, share in drawn])
            for query, values in zip(self.queries, self.values, strict=True)
        ]


def coverage(one: OnAllFlops, known: OnAllFlops, seeds: int) -> tuple[float, float]:
    """How often the interval covers the truth, and its width over that without the known one."""
    covered, width = [], []
    for seed in range(seeds):
        samples = one.samples(seed)
        found = control_variate(samples, known.samples(seed), known.exact)
        covered.append(abs(found - one.exact) <= found.error)
        width.append(found.error / samples[0].plus(samples[1]).estimate().error)
    return float(np.mean(covered)), float(np.mean(width))


def test_a_similar_player_makes_the_interval_narrow() -> None:
    known = random_strategy(GAME, 1)
    covered, width = coverage(OnAllFlops(near(known)), OnAllFlops(known), 40)
    assert covered >= 0.86  # 95% of 40, less than three standard deviations
    assert width < 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "widest"),
    [
        (near(random_strategy(GAME, 1)), 0.3),
        (random_strategy(GAME, 3), 1.0),
        (cp.Strategy.uniform(GAME), 1.0),
    ],
    ids=["near", "another", "uniform"],
)
def test_intervals_cover_for_unlike_players(strategy: cp.Strategy, widest: float) -> None:
    known = OnAllFlops(random_strategy(GAME, 1))
    covered, width = coverage(OnAllFlops(strategy), known, 300)
    assert covered >= 0.91  # 95% of 300, less than four standard deviations
    assert width < widest


def test_the_known_player_itself_has_its_exact_value() -> None:
    known = OnAllFlops(random_strategy(GAME, 1))
    found = control_variate(known.samples(7), known.samples(7), known.exact)
    assert found == pytest.approx(known.exact, abs=1e-12)
    assert found.error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_seats_that_are_corrected_one_by_one_have_the_sum_and_its_interval() -> None:
    """A regression is linear, and a sum over the same flops has the interval of the sums."""
    one, known = OnAllFlops(random_strategy(GAME, 3)), OnAllFlops(random_strategy(GAME, 1))
    samples, beside = one.samples(5), known.samples(5)
    total = control_variate(samples, beside, known.exact)
    seats = [control_variate([sample], beside, known.exact) for sample in samples]
    together: Any = sum(seats)
    assert together == pytest.approx(total, abs=1e-12)
    assert together.error == pytest.approx(total.error, abs=1e-12)
    assert together.error < sum(seat.error for seat in seats)
    unlike = sum(one.samples(6)[0]._replace(drawn=b"6").estimate() for _ in (0, 1))
    other = seats[0] + unlike  # another sample: errors are added
    assert other.error == pytest.approx(seats[0].error + unlike.error)
    assert (-(2.0 * together)).error == pytest.approx(2.0 * total.error)
    copied = pickle.loads(pickle.dumps(seats))
    assert sum(copied).error == pytest.approx(total.error, abs=1e-12)


def test_every_way_to_ask_measures_beside_the_known_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`exploitability`, and the payoffs of responses and frontiers."""
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    strategy = random_strategy(GAME, 1)
    known = KnownPlayer("known", strategy_table(strategy), cp.exploitability(GAME, strategy))
    monkeypatch.setattr(HoldemResolver, "known_player", lambda *_: known)
    other, options = near(strategy), {"backend": "cpu", "flops": FLOPS, "seed": 3}
    right: Any = sum(best_response_values(GAME, other, known=known, **options))
    found: Any = cp.exploitability(GAME, other, **options)
    assert (found, found.error) == pytest.approx((right, right.error), abs=1e-12)
    response = Response(GAME, "", "", None, 0.5, other, (), (), (), strategy)
    measured: Any = response.measured(**options).exploitability
    assert (measured, measured.error) == pytest.approx((right, right.error), abs=1e-12)


def test_the_correction_is_the_regression_of_a_stratified_sample() -> None:
    """Written out for two strata: Σ (share² / n) cov over Σ (share² / n) var."""
    x, y = np.array([1.0, 4.0, 2.0]), np.array([2.0, 5.0, 1.0])
    u, v = np.array([3.0, 8.0]), np.array([1.0, 3.0])
    shares = (0.75, 0.25)

    def sample(first: np.ndarray, second: np.ndarray) -> FlopSample:
        value = 0.75 * first.mean() + 0.25 * second.mean()
        return FlopSample(value, 0.0, [(first, shares[0]), (second, shares[1])])

    top = 0.75**2 / 3 * np.cov(x, y)[0, 1] + 0.25**2 / 2 * np.cov(u, v)[0, 1]
    bottom = 0.75**2 / 3 * np.var(y, ddof=1) + 0.25**2 / 2 * np.var(v, ddof=1)
    one, other = sample(x, u), sample(y, v)
    found = control_variate([one], [other], 2.5)
    assert found == pytest.approx(one.value - top / bottom * (other.value - 2.5))
    assert found.flops == 5
    level = sample(np.ones(3), np.ones(2))  # tells nothing
    assert control_variate([one], [level], 1.0) == pytest.approx(one.value)


def test_values_of_the_known_player_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    strategy = random_strategy(GAME, 1)
    known = KnownPlayer("known", strategy_table(strategy), cp.exploitability(GAME, strategy))
    other = near(strategy)
    shares: list[float] = []
    options: dict[str, Any] = {"backend": "cpu", "flops": FLOPS, "seed": 3}
    alone = sum(best_response_values(GAME, other, **options))
    options |= {"known": known, "progress": shares.append}
    found: Any = sum(best_response_values(GAME, other, **options))
    assert abs(found - cp.exploitability(GAME, other)) < 3 * found.error
    assert found.error < 0.5 * alone.error
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    traversed: list[int] = []
    traverse = evaluation._traverse

    def counted(prepared: Any, device: bool, flops: list[int]) -> Any:
        traversed.extend(flops)
        return traverse(prepared, device, flops)

    monkeypatch.setattr(evaluation, "_traverse", counted)
    first = known_samples(GAME, known, FLOPS, "cpu", 3)
    assert traversed == []
    (damaged, *_) = sorted(tmp_path.rglob("flop-*.piece"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    again = known_samples(GAME, known, FLOPS, "cpu", 3)
    assert len(traversed) == 1
    for one, two in zip(first, again, strict=True):
        assert one.value == pytest.approx(two.value, abs=1e-12)
