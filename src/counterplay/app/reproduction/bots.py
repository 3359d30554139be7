"""Winnings of the re-created bots beside the published ones of the originals (Billings et al. 2003;
2004 results)."""

from __future__ import annotations

from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import (
    Claim,
    Interval,
    RuleVariant,
    around,
    within,
)
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.players import (
    RECREATED,
    THREADS,
    PlayerFactory,
    as_text,
    half_interval,
)
from counterplay.app.reproduction.sizes import POKI_RATE
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job

#: player, opponent, published band in sb/h, source
BANDS = (
    ("poki", "always-call", 0.510, 0.537, "2004 and IJCAI 2003"),
    ("poki", "always-raise", 2.139, 2.285, "2004 and IJCAI 2003"),
    ("sparbot", "always-call", 0.474, 0.474, "Sparbot 2004; PsOpti2 +.505, PsOpti1 +.546"),
    ("sparbot", "always-raise", 1.354, 1.354, "Sparbot 2004; PsOpti2 +.319, PsOpti1 +.635"),
    ("sparbot", "poki", 0.045, 0.093, "PsOpti2 2003, Sparbot 2004"),
)
FITTED = ("always-call", "always-raise")  # Poki's constants were chosen by its winnings from them
#: Duplicate hands of each match, enough for ± 0.02, and for ± 0.03, the published noise, of Poki
#: against always-raise.
SCALES = {
    "quick": (80_000, 240_000, 2_000_000, 2_000_000, 120_000),
    "paper": (400_000, 600_000, 20_000_000, 20_000_000, 600_000),
}
HEADER = "player opponent low high sb_per_hand standard_error hands difference fitted"

# the rule

NOISE = 0.03  # published standard deviation
FITTED_NOTE = (
    "; fitted: Poki's guessed constants were chosen by this band, so it is no evidence for the rest"
)


def band(low: float, high: float) -> str:
    return f"{low:+.3f}" if low == high else f"{low:+.3f} to {high:+.3f}"


def off_by(won: float, low: float, high: float) -> float:
    """Distance from the band; 0 inside."""
    return won - min(max(won, low), high)


def reached(
    player: str, opponent: str, low: float, high: float, won: Interval, hands: int, fitted: bool
) -> Claim:
    off, room = off_by(won.value, low, high), 2 * NOISE
    return Claim(
        f"{player} wins {band(low, high)} sb/h from {opponent}{' (fitted)' if fitted else ''}.",
        f"ours, with its whole 95% interval, is within two published standard deviations "
        f"({room:.2f}) of the band" + (FITTED_NOTE if fitted else ""),
        f"{won} sb/h over {hands:,} duplicate hands; off by {off:+.3f}",
        within(won, low - room, high + room),
        RuleVariant(
            f"our mean is within {room:.2f} of the band", f"off by {off:+.3f}", abs(off) <= room
        ),
    )


# the matches


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    rows, claims, lines = [], [], []
    players = PlayerFactory(scale, store, progress)
    for k, (player, opponent, low, high, source) in enumerate(BANDS):
        players.progress = stage_progress(progress, k, len(BANDS))
        result = players.match(player, player, opponent, SCALES[scale][k])
        off = off_by(result.mean, low, high)
        fitted = player == "poki" and opponent in FITTED
        published = band(low, high) + (" (fitted)" if fitted else "")
        rows.append([player, opponent, published, as_text(result), f"{off:+.3f}", source])
        won = around(result.mean, half_interval(result))
        numbers = (won.value, result.standard_error, result.hands, off, fitted)
        lines.append((player, opponent, low, high, *numbers))
        claims.append(reached(player, opponent, low, high, won, result.hands, fitted))
    header = ["player", "opponent", "published", "ours (95%)", "off by", "source"]
    table = ResultTable("sb/h", header, rows)
    setting = {"hands": list(SCALES[scale])}
    shown = ([table], [RECREATED])
    return EXPERIMENT.outcome(scale, store.folder, [], setting, HEADER, lines, *shown)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    def job(player: str, opponent: str, hands: int) -> Job:
        def work(progress: ProgressCallback) -> None:
            PlayerFactory(scale, store, progress).match(player, player, opponent, hands)

        rate = POKI_RATE if "poki" in (player, opponent) else 100 * POKI_RATE
        return Job(f"{player} against {opponent}", work, hands / rate, THREADS)

    return [job(*band[:2], hands) for band, hands in zip(BANDS, SCALES[scale], strict=True)]


TITLE = "The re-created bots beside the published figures"
SECONDS = {"quick": 80, "paper": 180}  # on two cores
EXPERIMENT = Experiment("bots", TITLE, run, SECONDS, _jobs, order=3, priority=7)
