"""The change detector: false alarms as rare as promised, by enumeration and by simulation, and real
changes noticed and dated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from counterplay.core.responses import changes
from counterplay.core.responses.changes import ChangeDetector, Stream, log_mixture


def direct_e(sequence: list[int], categories: int) -> float:
    """E of one stream from its definition, by sequential prediction."""

    def mixture(part: list[int]) -> float:
        counts, probability = np.full(categories, 0.5), 1.0
        for x in part:
            probability *= counts[x] / counts.sum()
            counts[x] += 1.0
        return probability

    n = len(sequence)
    counts = np.bincount(sequence, minlength=categories)
    most = np.prod([(c / n) ** c for c in counts])
    total = 0.0
    for tau in range(1, n):
        weight = 1.0 / (changes._TOTAL * (tau + 1) * np.log(tau + 1) ** 2)
        total += weight * mixture(sequence[:tau]) * mixture(sequence[tau:])
    return float(total / most)


def evidence(sequence: list[int], categories: int) -> Stream:
    stream = Stream(categories)
    for hand, x in enumerate(sequence):
        stream.add(hand, x)
    return stream


def test_it_is_what_the_definition_says() -> None:
    rng = np.random.default_rng(1)
    for categories in (2, 3):
        for _ in range(20):
            sequence = rng.integers(0, categories, 12).tolist()
            found = np.exp(evidence(sequence, categories).log_e)
            assert found == pytest.approx(direct_e(sequence, categories), rel=1e-12)


def test_weights_and_mixtures_are_probabilities() -> None:
    """Of all sequences of a length together, and of all moments."""
    counts = np.array([np.bincount(x, minlength=3) for x in product(range(3), repeat=6)])
    assert np.exp(log_mixture(counts)).sum() == pytest.approx(1.0)
    t = np.arange(2, 2_000_000)
    assert (1.0 / (changes._TOTAL * t * np.log(t) ** 2)).sum() + 1 / np.log(t[-1]) / 2.11 <= 1.0


@pytest.mark.parametrize("p", [0.03, 0.3, 0.5])
def test_its_expectation_is_at_most_one_under_any_distribution(p: float) -> None:
    """Exactly, over all sequences of ten."""
    total = 0.0
    for x in product((0, 1), repeat=10):
        probability = p ** sum(x) * (1 - p) ** (10 - sum(x))
        total += probability * np.exp(evidence(list(x), 2).log_e)
    assert total <= 1.0


def test_thinned_candidates_only_lower_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    sequence = np.random.default_rng(2).integers(0, 2, 100).tolist()
    whole = evidence(sequence, 2).log_e
    monkeypatch.setattr(changes, "CANDIDATES", 16)
    stream = evidence(sequence, 2)
    assert len(stream._first) <= 17
    assert stream.log_e < whole


def alarms(seed: int, hands: int, limit: float, streams: int) -> bool:
    """Whether a player who does not change is said to have changed."""
    rng = np.random.default_rng(seed)
    detector = ChangeDetector(limit)
    shares = rng.dirichlet(np.full(3, 0.5), streams)
    for hand in range(hands):
        for k in range(streams):
            if rng.random() < 0.3:
                category = int(rng.choice(3, p=shares[k]))
                detector.add(hand, k, 1 / streams, category, 3)
        if detector.changed_at is not None:
            return True
    return False


def test_false_alarms_are_rarer_than_the_parameter() -> None:
    assert sum(alarms(seed, 60, 0.2, 2) for seed in range(20)) <= 4


@pytest.mark.slow
def test_no_alarm_in_a_hundred_thousand_hands() -> None:
    assert not any(alarms(seed, 25_000, changes.FALSE_ALARMS, 6) for seed in range(4))


@pytest.mark.parametrize(("before", "after", "most"), [(0.0, 1.0, 25), (0.35, 0.85, 120)])
def test_a_change_is_noticed_and_dated(before: float, after: float, most: int) -> None:
    rng, detector = np.random.default_rng(3), ChangeDetector()
    for hand in range(600):
        detector.add(hand, "fold", 0.01, int(rng.random() < before), 2)
        assert detector.changed_at is None
    while detector.changed_at is None:
        hand += 1
        detector.add(hand, "fold", 0.01, int(rng.random() < after), 2)
    assert hand - 600 < most
    assert abs(detector.changed_at - 600) < 15
