"""RNR against MCRNR on Goof(7), as in Figure 7 but with one seed and a model trained by CFR+,
which is faster. Ten minutes, 7 GB.

python -m benchmarks.goof7_responses
"""

from __future__ import annotations

from counterplay import load, solve
from counterplay.app.reproduction.fig7 import METHODS, UNITS, trace
from counterplay.app.reproduction.models import TARGET, FixedProfile

UNITS_EACH = 40  # of about a second, for each seat


def main() -> None:
    game = load("goofspiel(7)")
    run = solve(game, "cfr+", target=TARGET)
    model = FixedProfile("CFR+", run.strategy, run.exploitability)
    print(f"model exploitable by {model.exploitability:.3f}", flush=True)
    for method, unit in zip(METHODS, UNITS[game.name], strict=True):
        for row in trace(game, model, method, 0, UNITS_EACH * unit):
            print(
                f"{method.label:<26} {row.nodes:>15,} nodes {row.seconds:8.2f} s   gap "
                f"{row.gap:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
