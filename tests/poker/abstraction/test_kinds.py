"""Every kind of the registry: one name, buckets that are filled and do not tell suits apart, and a
game that is solved, measured, saved and played."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from support.holdem import bucket_of, random_deals

import counterplay as cp
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import ABSTRACTIONS, Buckets
from counterplay.poker.abstraction.ehs import EhsAbstraction
from counterplay.poker.abstraction.emd import (
    EmdAbstraction,
    live_holdings,
    ochs_points,
    opponent_groups,
)
from counterplay.poker.abstraction.histograms import final_flop_histograms, preflop_histograms
from counterplay.poker.abstraction.numbered import N_CLASSES, final_flop_strengths
from counterplay.poker.cards.cards import cards, holding
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules
from counterplay.poker.holdem.game import HoldemRules
from counterplay.poker.vector.suit_permutations import check_suits

KINDS = [*ABSTRACTIONS.built_in()]
NESTED = ("nested", "nested-emd", "nested-percentile")
#: Kinds whose buckets may be empty: equal parts of all strengths, of which some do not occur.
UNUSED = ("equal-width",)
SLOW = ("sparbot",)
NUMBERS = {"sparbot": ""}  # has numbers of its own
FULL = [kind for kind in KINDS if kind != "nested-emd"]


def slowly(kinds: list[str], slow: tuple[str, ...]) -> list[object]:
    marks = {kind: [pytest.mark.slow] if kind in slow else [] for kind in kinds}
    return [pytest.param(kind, marks=marks[kind]) for kind in kinds]


@cache
def game_of(kind: str, name: str = "flop_holdem", more: str = "") -> cp.Game:
    return cp.load(f"{name}({NUMBERS.get(kind, 'buckets=6,')}kind={kind}{more})")


def check_buckets(game: cp.Game, sizes: tuple[int, ...], unused: bool) -> None:
    buckets, counts = game.rules.buckets, game.rules.abstraction.counts
    tables = (buckets.preflop, buckets.flop, buckets.turn, buckets.river_entry)
    for street, size in enumerate(sizes):
        table = np.asarray(tables[street])
        if size:
            table = table[live_holdings(size, np.arange(len(table)))]
        if size == 5:
            table = buckets.river[..., np.unique(table)]
        elif size == 4 and buckets.turn_after.ndim == 2:
            table = buckets.turn_after[:, np.unique(table)]
        used = np.unique(table)
        assert used.max() < counts[street]
        assert unused or np.array_equal(used, np.arange(counts[street]))
    for dealt in random_deals(9, 30).tolist():
        for size in sizes:
            own, board = dealt[:2], dealt[4 : 4 + size]
            found = {
                bucket_of(
                    buckets, *([c // 4 * 4 + order[c % 4] for c in part] for part in (own, board))
                )
                for order in permutations(range(4))
            }
            assert len(found) == 1
    check_suits(game.form.cards)


@pytest.mark.parametrize("kind", slowly(KINDS, SLOW))
def test_buckets_are_filled_and_do_not_tell_suits_apart(kind: str) -> None:
    check_buckets(game_of(kind), (0, 3), kind in UNUSED)


@pytest.mark.parametrize("kind", slowly(KINDS, SLOW))
def test_a_game_is_solved_measured_saved_and_played(kind: str, tmp_path: Path) -> None:
    game = game_of(kind, more=",bets=2")
    assert cp.load(game.name).fingerprint == game.fingerprint
    before = cp.exploitability(game, cp.Strategy.uniform(game))
    sampled = cp.solve(game, "mccfr-external", iterations=20_000, seed=1, measure_every=20_000)
    robust = cp.solve(game, "cfr-br", iterations=40, seed=1, measure_every=40)
    assert max(sampled.exploitability, robust.exploitability) < before / 2
    robust.strategy.save(tmp_path / "mine.npz")
    again = cp.Strategy.load(tmp_path / "mine.npz")
    assert again.game.name == game.name
    match = cp.play_match(game, again, cp.Strategy.uniform(game), 2_000, seed=1)
    assert match.mean > 0.2


def test_kinds_have_different_keys() -> None:
    games = [game_of(kind, name) for name in ("flop_holdem",) for kind in KINDS]
    games += [game_of(kind, "holdem") for kind in FULL]
    assert len({game.fingerprint for game in games}) == len(games)


@pytest.mark.parametrize("kind", NESTED)
def test_nested_kinds_have_perfect_recall(kind: str) -> None:
    buckets = game_of(kind).rules.buckets
    assert game_of(kind).rules.abstraction.counts == (6, 36, 1, 1)
    assert (buckets.flop // 6 == buckets.preflop).all()


@pytest.mark.parametrize("kind", ["classes", "emd", "squared"])
def test_every_class_of_starting_hands_is_a_bucket(kind: str) -> None:
    buckets = game_of(kind).rules.buckets
    assert len(np.unique(buckets.preflop)) == N_CLASSES
    assert buckets.preflop[holding(cards("AsKs"))] == buckets.preflop[holding(cards("AdKd"))]
    assert buckets.preflop[holding(cards("AsKs"))] != buckets.preflop[holding(cards("AdKs"))]


@pytest.mark.parametrize("kind", ["emd", "nested-emd"])
def test_one_thread_makes_the_same_buckets_as_two(kind: str) -> None:
    abstraction = EmdAbstraction((4, 7), kind)
    one, two, again = (abstraction.make(threads=threads) for threads in (1, 2, 2))
    for tables in zip(one, two, again, strict=True):
        assert np.array_equal(tables[0], tables[1])
        assert np.array_equal(tables[1], tables[2])


def test_buckets_by_k_means_tell_ochs_vectors_better_apart() -> None:
    """What k-means lowers on a sample is lower for all hands: than with fewer buckets, and than
    with as many percentiles."""
    rows = np.arange(0, 1755, 5)
    group = opponent_groups(preflop_histograms(final_flop_histograms(final_flop_strengths())))
    live = live_holdings(3, rows)
    points = ochs_points(3, group)(rows)[live].astype(float)

    def spread(flop: np.ndarray) -> float:
        label = flop[rows][live]
        count = np.maximum(np.bincount(label), 1)
        means = [np.bincount(label, column) / count for column in points.T]
        return sum(
            float(np.sum((column - mean[label]) ** 2))
            for column, mean in zip(points.T, means, strict=True)
        )

    few, many = (spread(EmdAbstraction((169, n), "emd").buckets().flop) for n in (5, 50))
    percentiles = spread(EhsAbstraction((50, 50), "percentile").buckets().flop)
    assert many < few
    assert many < percentiles


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("flop_holdem(preflop=170,flop=5,kind=emd)", "at most 169 buckets before the flop"),
        ("flop_holdem(preflop=200,flop=5,kind=squared)", "at most 169 buckets before the flop"),
        ("holdem(preflop=1326,kind=emd)", "at most 169 buckets before the flop"),
        ("holdem(buckets=16,kind=nested)", "65,536 sequences of buckets"),
        ("holdem(buckets=5,kind=nested-emd)", "for games that end on the flop"),
        ("flop_holdem(buckets=101,kind=nested-emd)", "from 1 to 100"),
        ("holdem(buckets=5,kind=emb)", "unknown kind 'emb'; did you mean 'emd'"),
    ],
)
def test_impossible_numbers_are_refused(arguments: str, reason: str) -> None:
    with pytest.raises(cp.CounterplayError, match=reason) as error:
        cp.load(arguments)
    assert str(error.value).count("\n") == 0


def test_an_unknown_kind_lists_all() -> None:
    with pytest.raises(cp.CounterplayError) as error:
        cp.load("holdem(kind=odd)")
    for kind in KINDS:
        assert kind in str(error.value)


def test_buckets_that_cannot_be_filled_are_refused() -> None:
    with pytest.raises(cp.CounterplayError, match="of 600 buckets on the flop are empty"):
        _ = cp.load("flop_holdem(buckets=600,kind=squared)").form


def test_more_buckets_than_different_hands_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """k-means of a small sample: more buckets than it has vectors."""
    monkeypatch.setattr("counterplay.poker.abstraction.emd.SAMPLE_BOARDS", 2)
    monkeypatch.setattr("counterplay.poker.abstraction.emd.PER_BUCKET", 1)
    with pytest.raises(cp.CounterplayError, match="150 buckets on the flop cannot be filled"):
        EmdAbstraction((169, 150), "emd").make()


@cache
def filled(numbers: tuple[int, ...], kind: str) -> Buckets:
    return EhsAbstraction(numbers, kind).buckets()


class TooManyBuckets(EhsAbstraction):
    """Has buckets that it does not count."""

    @property
    def key(self) -> str:
        return "too many"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        every = filled(self.numbers, self.kind)
        return every._replace(flop=np.where(every.flop == 3, np.uint16(900), every.flop))


class NoRiver(TooManyBuckets):
    """Has entries on the river without a bucket."""

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        return filled(self.numbers, self.kind)._replace(river=np.zeros(5, np.uint16))


@pytest.mark.parametrize("algorithm", ["mccfr", "mccfr-external", "cfr-br"])
def test_unfilled_buckets_are_refused_by_every_solver(algorithm: str) -> None:
    """Sampling kernels would write beside the rows of a decision."""
    game = Game("too many", FlopHoldemRules(TooManyBuckets((5, 5), "percentile")))
    with pytest.raises(
        cp.CounterplayError, match="not filled: on the flop a holding has bucket 900"
    ):
        cp.solve(game, algorithm, iterations=1)
    game = Game("no river", HoldemRules(NoRiver((5, 5, 5, 5), "equal-width")))
    with pytest.raises(cp.CounterplayError, match="not filled: on the river a holding has entry"):
        cp.solve(game, algorithm, iterations=1)


# --- four streets


@pytest.mark.parametrize("kind", slowly(FULL, ("sparbot", "squared", "emd", *NESTED)))
def test_four_streets(kind: str) -> None:
    """Kernels of every family, a bot, and a model learnt from hands."""
    from support.models import NAME, weak_hands

    from counterplay.poker.models.model import learn_model
    from counterplay.poker.models.observe import observe

    game = game_of(kind, "holdem")
    check_buckets(game, (0, 3, 4, 5), kind in (*UNUSED, *NESTED, "percentile"))
    for algorithm, n in (("mccfr", 200), ("mccfr-external", 40), ("mccfr-public", 2)):
        run = cp.solve(game, algorithm, iterations=n, seed=1)
        assert cp.play_match(game, run.strategy, "always-call", 400, seed=2).hands == 400
    observed = observe(weak_hands(500, 6, "a"), NAME)
    observed = observed.part(observed.hand < 20)
    model = learn_model(observed, game, NAME, "frequency")
    assert model.observed.sum() == pytest.approx(len(observed.node))


@pytest.mark.slow
def test_cfr_br_on_four_streets() -> None:
    game = game_of("emd", "holdem")
    assert cp.solve(game, "cfr-br", iterations=2, seed=1).iterations == 2
