"""The time of sampling in hold'em: what vanilla CFR would visit. Its rule is tested with those of
Figure 4."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.app.reproduction import fig4_holdem, holdem_time
from counterplay.poker.holdem.bucket_pairs import pair_chance


def test_the_bucketed_game_has_so_many_histories() -> None:
    """Street by street no more than all pairs of bucket sequences, and with one street less, less
    by a factor of tens."""
    game = cp.load("holdem(buckets=3)")
    nodes = game.rules.tree.nodes
    most = sum(9 ** (street + 1) * int((nodes.street == street).sum()) for street in range(4))
    found = holdem_time.histories(game)
    assert most / 100 < found <= most
    assert np.all(pair_chance(game).first >= 0)


def test_the_runs_of_figure_4_are_used_again() -> None:
    """The same variants, seeds and points, so the same pieces."""
    for scale in ("quick", "paper"):
        drawn = [
            (one.label, seed, when)
            for one, seed, when in fig4_holdem._plan(fig4_holdem.SCALES[scale])
        ]
        mine = [(one.label, seed, when) for one, seed, when in holdem_time._plan(scale)]
        shared = [one for one in mine if one[0] in ("MCCFR, ε = 0.6", "MCCFR, external sampling")]
        assert shared
        assert all(one in drawn for one in shared)


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_no_job_takes_longer_than_seven_minutes(scale: str, tmp_path: object) -> None:
    jobs = holdem_time._jobs(scale, None)  # type: ignore[arg-type]
    assert max(job.seconds for job in jobs) < 420
