"""The bots beside published figures: bands and distances."""

from __future__ import annotations

import pytest

from counterplay.app.reproduction.bots import BANDS, Band


def test_the_distance_from_a_band_is_zero_inside() -> None:
    band = Band("a", "b", 0.5, 0.6, "", {}, True)
    assert [band.off_by(won) for won in (0.4, 0.55, 0.7)] == pytest.approx([-0.1, 0.0, 0.1])
    assert band.published() == "+0.500 to +0.600 (fitted)"
    assert Band("a", "b", 0.5, 0.5, "", {}).published() == "+0.500"
    assert [one.player for one in BANDS if one.fitted] == ["poki", "poki"]
