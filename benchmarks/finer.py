"""Winnings of MCCFR100, trained for some minutes, and of MCCFR10: python -m benchmarks.finer
[seconds]"""

from __future__ import annotations

import sys

from counterplay.core.forms.registry import load
from counterplay.core.match.play import play_match
from counterplay.core.solvers.run import solve
from counterplay.poker.players import bot

TEN = 2_000_000  # iterations of external sampling with 10 buckets


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 280.0
    coarse = solve("holdem(buckets=10)", "mccfr-external", iterations=TEN, seed=1, threads=2)
    fine = solve("holdem(buckets=100)", "mccfr-external", seconds=seconds, seed=1, threads=2)
    print(f"MCCFR10 {coarse.iterations:,} iterations, MCCFR100 {fine.iterations:,}", flush=True)
    game = load("holdem(buckets=10)")
    for name, run in (("MCCFR10", coarse), ("MCCFR100", fine)):
        for opponent, hands in (("sparbot", 1_000_000), ("poki", 80_000)):
            result = play_match(game, run.strategy, bot(opponent), hands, 11)
            print(
                f"{name} against {opponent}: {result.mean:+.3f} ± "
                f"{1.96 * result.standard_error:.3f} sb/h",
                flush=True,
            )
    result = play_match(game, fine.strategy, coarse.strategy, 1_000_000, 11)
    print(f"MCCFR100 against MCCFR10: {result.mean:+.3f} ± {1.96 * result.standard_error:.3f} sb/h")


if __name__ == "__main__":
    main()
