"""Our exact values beside published ones: the value of small games, and the exploitability of Leduc
strategies after 1,000 iterations, in mA/g: thousandths of the ante per game, the mean of both seats
(half of b1 + b2). Writes benchmarks/standing.csv; `python tools/make_results.py` then writes the
page docs/results/standing.md. Run: python -m benchmarks.standing"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows

OUT = Path(__file__).parent / "standing.csv"
ITERATIONS = 1_000
#: Names in the table, and options.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "cfr": {},
    "cfr, alternating": {"alternating": True},
    "cfr+": {},
    "dcfr": {},
    "pcfr+": {},
}
VALUES = ("kuhn", "leduc", "bluff(1,1,6)")


def main() -> None:
    rows: list[tuple[object, ...]] = []
    leduc = cp.load("leduc")
    for name, options in ALGORITHMS.items():
        run = cp.solve(leduc, name.partition(",")[0], iterations=ITERATIONS, **options)
        value = 1000 * cp.exploitability(leduc, run.strategy) / 2
        rows.append(("leduc", "exploitability", name, value, "mA/g", run.seconds))
    for name in VALUES:
        rows.append((name, "value to player 1", "", cp.game_value(name), "per game", ""))
    for row in rows:
        print(*row)
    write_rows(OUT, ["game", "measure", "method", "value", "unit", "seconds"], rows)


if __name__ == "__main__":
    main()
