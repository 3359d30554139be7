"""How near the re-created bots come to published figures."""

from __future__ import annotations

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import Range, within

NOISE = 0.03  # published standard deviation
FITTED = (
    "; fitted: Poki's guessed constants were chosen by this band, so it is no evidence for the rest"
)


def band(low: float, high: float) -> str:
    return f"{low:+.3f}" if low == high else f"{low:+.3f} to {high:+.3f}"


def off_by(won: float, low: float, high: float) -> float:
    """How far outside the band."""
    return won - min(max(won, low), high)


def reached(
    player: str, opponent: str, low: float, high: float, won: Range, hands: int, fitted: bool
) -> Claim:
    off, room = off_by(won.value, low, high), 2 * NOISE
    return Claim(
        f"{player} wins {band(low, high)} sb/h from {opponent}{' (fitted)' if fitted else ''}.",
        f"ours, with its whole 95% interval, is within two published standard deviations "
        f"({room:.2f}) of the band" + (FITTED if fitted else ""),
        f"{won} sb/h over {hands:,} duplicate hands; off by {off:+.3f}",
        within(won, low - room, high + room),
        Reading(
            f"our mean is within {room:.2f} of the band", f"off by {off:+.3f}", abs(off) <= room
        ),
    )
