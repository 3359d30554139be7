"""How near the re-created bots come to the published figures of the originals (Billings et al.
2003; 2004 results)."""

from __future__ import annotations

import time

from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import RECREATED, Company, cell, staged

#: player, opponent, published band in sb/h, where it comes from
BANDS = (
    ("poki", "always-call", 0.510, 0.537, "2004 and IJCAI 2003"),
    ("poki", "always-raise", 2.139, 2.285, "2004 and IJCAI 2003"),
    ("sparbot", "always-call", 0.474, 0.474, "Sparbot 2004; PsOpti2 +.505, PsOpti1 +.546"),
    ("sparbot", "always-raise", 1.354, 1.354, "Sparbot 2004; PsOpti2 +.319, PsOpti1 +.635"),
    ("sparbot", "poki", 0.045, 0.093, "PsOpti2 2003, Sparbot 2004"),
)
NOISE = 0.03  # published standard deviation
#: Duplicate hands of each, enough for ± 0.02, and ± 0.03 where Poki meets always-raise (the
#: published noise).
HANDS = {
    "quick": (80_000, 300_000, 2_000_000, 2_000_000, 120_000),
    "paper": (1_000_000, 1_000_000, 20_000_000, 20_000_000, 1_000_000),
}


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    rows, claims, lines = [], [], []
    company = Company(scale, store, tell)
    for k, (player, opponent, low, high, source) in enumerate(BANDS):
        company.tell = staged(tell, k, len(BANDS))
        result = company.match(player, player, opponent, HANDS[scale][k])
        nearest = min(max(result.mean, low), high)
        off = result.mean - nearest
        band = f"{low:+.3f}" if low == high else f"{low:+.3f} to {high:+.3f}"
        rows.append([player, opponent, band, cell(result), f"{off:+.3f}", source])
        lines.append(
            (player, opponent, low, high, result.mean, result.standard_error, result.hands, off)
        )
        claims.append(
            Claim(
                f"{player} wins {band} sb/h from {opponent}.",
                f"ours is within two published standard deviations ({2 * NOISE:.2f}) of the band",
                f"{cell(result)} sb/h over {result.hands:,} duplicate hands; off by {off:+.3f}",
                abs(off) <= 2 * NOISE,
            )
        )
    write_csv(
        store.folder / "bots.csv",
        (
            "player",
            "opponent",
            "low",
            "high",
            "sb_per_hand",
            "standard_error",
            "hands",
            "difference",
        ),
        lines,
    )
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        claims,
        {"hands": list(HANDS[scale])},
        time.perf_counter() - started,
        ["bots.csv"],
        [
            Sheet(
                "sb/h", ["player", "opponent", "published", "ours (95%)", "off by", "source"], rows
            )
        ],
        [RECREATED],
    )


EXPERIMENT = Experiment(
    "bots", "The re-created bots beside the published figures", run, {"quick": 95, "paper": 900}
)
