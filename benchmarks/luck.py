"""What taking the luck out saves in hold'em: standard errors of one match of 40,000 hands, plain,
duplicate, luck-adjusted, and both. Writes benchmarks/luck.csv. Run: python -m benchmarks.luck"""

from __future__ import annotations

from pathlib import Path

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.forms.registry import load
from counterplay.poker.adaptive.portfolio import GAME, portfolio

OUT = Path(__file__).parent / "luck.csv"
HANDS, SEED = 40_000, 1
OPPONENTS = ("poki", "sparbot", "always-call")


def main() -> None:
    game = load(GAME)
    safe = portfolio(game, []).equilibrium
    rows = []
    for name in OPPONENTS:
        errors = []
        for duplicate in (False, True):
            found = cp.play_match(
                game, safe, name, HANDS, SEED, duplicate=duplicate, luck_adjusted=True
            )
            assert found.adjusted is not None
            errors += [found.standard_error, found.adjusted.standard_error]
        plain, adjusted, doubled, both = errors
        rows.append((name, HANDS, plain, doubled, adjusted, both, (doubled / both) ** 2))
        print(f"{name:12} duplicate {doubled:.4f}, both {both:.4f}: {rows[-1][-1]:.1f} times fewer")
    header = ["opponent", "hands", "plain", "duplicate", "adjusted", "both", "fewer_hands"]
    write_rows(OUT, header, rows)


if __name__ == "__main__":
    main()
